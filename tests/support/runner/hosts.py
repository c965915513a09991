"""Running an engine host in a test's thread, and recording its events."""

import threading

from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Failed, Finished
from sotto.engine.contract.requests import CountRequest, GenerateRequest, SamplingOptions
from sotto.errors import SottoError
from sotto.runner.commands import Count, Unload
from sotto.runner.loop import EngineLoop

GREEDY = SamplingOptions(temperature=0)


def thread_loop(emit, settings):
    """Return an engine loop that runs in the test's thread."""
    return EngineLoop(emit, lambda: settings)


class Host:
    """An engine host running on its own thread, and its events so far."""

    def __init__(self, make=thread_loop):
        self.events = []
        self.threads = set()
        self.reactions = []
        self._changed = threading.Condition()
        self.error = None
        self.loop = make(self._receive, EngineSettings())
        self.thread = threading.Thread(target=self._run, name="owner")
        self.thread.start()

    def _run(self):
        try:
            self.loop.run()
        except SottoError as error:
            self.error = error

    def _receive(self, event):
        for reaction in list(self.reactions):
            reaction(event)
        with self._changed:
            self.threads.add(threading.current_thread().name)
            self.events.append(event)
            self._changed.notify_all()

    def react(self, matches, action):
        """Call `action` once, on the owning thread, at the next event that `matches` accepts."""

        def reaction(event):
            if matches(event):
                self.reactions.remove(reaction)
                action()

        self.reactions.append(reaction)

    def wait(self, matches, count=1):
        """Wait for the `count`-th event that `matches` accepts, and return it."""

        def matching():
            return [event for event in self.events if matches(event)]

        with self._changed:
            assert self._changed.wait_for(lambda: len(matching()) >= count, timeout=60), self.events
            return matching()[count - 1]

    def ended(self, request_id):
        """Wait for the end of a request, and return its last event."""
        return self.wait(lambda event: isinstance(event, Finished | Failed) and event.request_id == request_id)

    def start_over(self):
        """Unload the model, wait until all earlier requests have ended, and clear the events."""
        self.loop.send(Unload())
        self.loop.send(Count(CountRequest("last", ())))
        self.ended("last")
        with self._changed:
            self.events.clear()

    def close(self):
        self.loop.close()
        self.thread.join(60)
        assert not self.thread.is_alive()


def is_a(kind):
    """Return a function that accepts the events of a type."""
    return lambda event: isinstance(event, kind)


def request(request_id, prompt="Once upon", **options):
    return GenerateRequest(id=request_id, prompt=prompt, **{"sampling": GREEDY, "num_predict": 5, **options})

"""Hosts of an engine, in tests: the loop in a thread, and the child process."""

import threading

from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Failed, Finished
from sotto.engine.contract.requests import GenerateRequest, SamplingOptions
from sotto.errors import SottoError
from sotto.runner.loop import EngineLoop

GREEDY = SamplingOptions(temperature=0)


def in_a_thread(emit, settings):
    """Make the loop that runs in the thread of a test."""
    return EngineLoop(emit, lambda: settings)


class Host:
    """An engine's host on a thread of its own, and everything it has said."""

    def __init__(self, make=in_a_thread):
        self.events = []
        self.threads = set()
        self.reactions = []
        self._said = threading.Condition()
        self.error = None
        self.loop = make(self._heard, EngineSettings())
        self.thread = threading.Thread(target=self._run, name="owner")
        self.thread.start()

    def _run(self):
        try:
            self.loop.run()
        except SottoError as error:
            self.error = error

    def _heard(self, event):
        for reaction in list(self.reactions):
            reaction(event)
        with self._said:
            self.threads.add(threading.current_thread().name)
            self.events.append(event)
            self._said.notify_all()

    def react(self, matches, action):
        """Call `action` once, on the owning thread, when an event that `matches` comes."""

        def reaction(event):
            if matches(event):
                self.reactions.remove(reaction)
                action()

        self.reactions.append(reaction)

    def wait(self, matches, count=1):
        """Return the `count`-th event that `matches`."""

        def found():
            return [event for event in self.events if matches(event)]

        with self._said:
            assert self._said.wait_for(lambda: len(found()) >= count, timeout=60), self.events
            return found()[count - 1]

    def ended(self, request_id):
        return self.wait(lambda event: isinstance(event, Finished | Failed) and event.request_id == request_id)

    def close(self):
        self.loop.close()
        self.thread.join(60)
        assert not self.thread.is_alive()


def is_a(kind):
    return lambda event: isinstance(event, kind)


def request(request_id, prompt="Once upon", **options):
    return GenerateRequest(id=request_id, prompt=prompt, **{"sampling": GREEDY, "num_predict": 5, **options})

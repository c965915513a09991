"""Downloads one after the other, on a thread of their own.

Importing this costs next to nothing: what speaks HTTP is imported by the thread, when there is something to download.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sotto.errors import InvalidNameError
from sotto.store.printable import printable
from sotto.store.pull.progress import PullProgress
from sotto.store.pull.staging import all_unfinished
from sotto.store.pull.terms import Patience, Terms
from sotto.store.sources.harvest import Judge, everything_runs
from sotto.store.sources.model_names import ModelName, parse_name

if TYPE_CHECKING:
    from sotto.store.pull.worker import Command

# What is asked of the thread to stop must be done in this time.
_END = 1.0


class PullQueue:
    """Downloads one model after the other on a thread of its own.

    What is asked for is done soon after, in the order in which it was asked for. News come as values of `PullProgress`;
    a download of which nothing is left, because it was cancelled, has no further ones.
    """

    def __init__(
        self,
        root: Path,
        tell: Callable[[PullProgress], None],
        *,
        judge: Judge = everything_runs,
        insecure: bool = False,
        patience: Patience | None = None,
    ) -> None:
        """Begin with nothing to do.

        Args:
            root: Sotto's own store.
            tell: Called on that thread with every news.
            judge: Given a model's configuration, returns an empty text or one sentence why the engine cannot run it.
            insecure: Ask registries over HTTP without TLS.
            patience: How long is waited for what.
        """
        self._terms = Terms(root, tell, judge, insecure, patience or Patience())
        self._lock = threading.Lock()
        self._rate: int | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def add(self, name: str) -> None:
        """Download a model after those that were added before.

        Raises:
            InvalidNameError: It is no name, or one that asks for a way that is not secure.
        """
        model = self._parsed(name)
        self._ask(lambda worker: worker.add(model))

    def pause(self, name: str) -> None:
        """Stop a download that runs or waits, and keep what is here of it."""
        model = self._parsed(name)
        self._ask(lambda worker: worker.pause(model))

    def resume(self, name: str) -> None:
        """Go on with a download that was paused, has failed, or was left by an earlier run."""
        self.add(name)

    def cancel(self, name: str) -> None:
        """Stop a download and remove what is here of it, also of one that an earlier run left."""
        model = self._parsed(name)
        self._ask(lambda worker: worker.cancel(model))

    def limit(self, bytes_per_second: int | None) -> None:
        """Let all downloads together be no faster, from now on; None or 0 for as fast as they can be."""
        with self._lock:
            self._rate = bytes_per_second
            if self._thread is None:
                return
        self._ask(lambda worker: worker.limit(bytes_per_second))

    def unfinished(self) -> tuple[PullProgress, ...]:
        """Return the downloads that an earlier run left, as paused ones."""
        return all_unfinished(self._terms.root)

    def close(self) -> None:
        """Stop within a second, and keep what is here; nothing is downloaded any more, whatever is asked for."""
        with self._lock:
            thread = self._thread
            if self._closed or thread is None:
                self._closed = True
                return
            self._closed = True
            self._loop.call_soon_threadsafe(self._commands.put_nowait, None)
        thread.join(_END)

    def _ask(self, command: "Command") -> None:
        with self._lock:
            if self._closed:
                return
            if self._thread is None:
                self._start()
            self._loop.call_soon_threadsafe(self._commands.put_nowait, command)

    def _start(self) -> None:
        import asyncio

        from sotto.store.pull.threads import Loop

        self._loop = Loop()
        self._commands: asyncio.Queue[Command | None] = asyncio.Queue()
        self._thread = threading.Thread(target=self._serve, args=(self._rate,), name="downloads", daemon=True)
        self._thread.start()

    def _serve(self, rate: int | None) -> None:
        import asyncio

        from sotto.store.pull.worker import Worker

        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(Worker(self._terms, rate, self._loop.hang_up).serve(self._commands))

    def _parsed(self, text: str) -> ModelName:
        scheme, separator, _ = text.partition("://")
        if separator and scheme.lower() not in (("http", "https") if self._terms.insecure else ("https",)):
            raise InvalidNameError(
                f"'{printable(text)}' should begin with a host or with https://, so that nobody on the way can change "
                "what comes."
            )
        return parse_name(text)

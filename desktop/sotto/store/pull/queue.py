"""A queue that downloads one model after the other on its own thread.

Importing this module is cheap: only the thread imports the HTTP client, when there is something to download.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sotto.errors import InvalidNameError
from sotto.store.printable import printable
from sotto.store.pull.progress import PullProgress
from sotto.store.pull.staging import unfinished_downloads
from sotto.store.pull.terms import Patience, Terms
from sotto.store.sources.harvest import Judge, everything_runs
from sotto.store.sources.hugging_face_names import parse_wanted
from sotto.store.sources.model_names import ModelName

if TYPE_CHECKING:
    from sotto.store.pull.worker import Command

# How long `close` waits for the thread.
_CLOSE_TIMEOUT_S = 1.0


class PullQueue:
    """Downloads one model after the other on its own thread.

    Methods return at once; the thread executes the commands in the order of the calls. It reports progress as
    `PullProgress` values, except that a successful cancellation is not reported.
    """

    def __init__(
        self,
        root: Path,
        report: Callable[[PullProgress], None],
        *,
        judge: Judge = everything_runs,
        insecure: bool = False,
        room: Callable[[], int | None] = lambda: None,
        patience: Patience | None = None,
    ) -> None:
        """Begin with nothing to do.

        Args:
            root: Sotto's own store.
            report: Called on that thread with every change of progress.
            judge: Given a model's configuration, returns an empty string, or one sentence saying why the engine cannot
                run it.
            insecure: Connect to registries over HTTP without TLS.
            room: Returns how many bytes of weights the memory of this machine holds; None if that is not known.
            patience: Timeouts and numbers of tries; None for the defaults.
        """
        self._terms = Terms(root, report, judge, insecure, room, patience or Patience())
        self._lock = threading.Lock()
        self._rate: int | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def add(self, name: str) -> None:
        """Download a model after those added before it.

        Raises:
            InvalidNameError: The name is invalid, or asks for an insecure connection.
        """
        model = self._parse(name)
        self._send(lambda worker: worker.add(model))

    def pause(self, name: str) -> None:
        """Stop a running or waiting download, and keep the downloaded parts."""
        model = self._parse(name)
        self._send(lambda worker: worker.pause(model))

    def resume(self, name: str) -> None:
        """Continue a download that was paused, has failed, or was left by an earlier run."""
        self.add(name)

    def cancel(self, name: str) -> None:
        """Stop a download and delete the downloaded parts, including those of earlier runs."""
        model = self._parse(name)
        self._send(lambda worker: worker.cancel(model))

    def limit(self, bytes_per_second: int | None) -> None:
        """Limit the speed of all downloads together, from now on; None or 0 for no limit."""
        with self._lock:
            self._rate = bytes_per_second
            if self._thread is None:
                return
        self._send(lambda worker: worker.limit(bytes_per_second))

    def unfinished(self) -> tuple[PullProgress, ...]:
        """Return the unfinished downloads of earlier runs, as paused ones."""
        return unfinished_downloads(self._terms.root)

    def close(self) -> None:
        """Stop within a second, keep the downloaded parts, and ignore all further commands."""
        with self._lock:
            thread = self._thread
            if self._closed or thread is None:
                self._closed = True
                return
            self._closed = True
            self._loop.call_soon_threadsafe(self._commands.put_nowait, None)
        thread.join(_CLOSE_TIMEOUT_S)

    def _send(self, command: "Command") -> None:
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

    def _parse(self, text: str) -> ModelName:
        scheme, separator, _ = text.partition("://")
        if separator and scheme.lower() not in (("http", "https") if self._terms.insecure else ("https",)):
            raise InvalidNameError(
                f"'{printable(text)}' should begin with a host or with https://, so that nobody on the way can change "
                "what comes."
            )
        return parse_wanted(text)

"""Downloads one after the other, on a thread of their own."""

from collections.abc import Callable
from pathlib import Path

from sotto.store.harvest import Judge, everything_runs
from sotto.store.names import parse_name
from sotto.store.pull.progress import PullProgress


class PullQueue:
    """Downloads one model after the other on a thread of its own.

    Args:
        root: Sotto's own store.
        tell: Called on that thread with every news.
        judge: Given a model's configuration, returns an empty text or one sentence why the engine cannot run it.
        insecure: Ask registries over HTTP without TLS.
    """

    def __init__(
        self,
        root: Path,
        tell: Callable[[PullProgress], None],
        *,
        judge: Judge = everything_runs,
        insecure: bool = False,
    ) -> None:
        self._root = root
        self._tell = tell
        self._judge = judge
        self._insecure = insecure

    def add(self, name: str) -> None:
        """Download a model after those that were added before.

        Raises:
            InvalidNameError: It is no name.
        """
        parse_name(name)
        raise NotImplementedError

    def pause(self, name: str) -> None:
        """Stop a download, and keep what is here of it."""
        raise NotImplementedError

    def resume(self, name: str) -> None:
        """Go on with a download that was paused, failed, or was left by an earlier run."""
        raise NotImplementedError

    def cancel(self, name: str) -> None:
        """Stop a download, and remove what is here of it."""
        raise NotImplementedError

    def limit(self, bytes_per_second: int | None) -> None:
        """Let all downloads together be no faster; None for as fast as they can be."""
        raise NotImplementedError

    def unfinished(self) -> tuple[PullProgress, ...]:
        """Return the downloads that an earlier run left, as paused ones."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop within a second, and keep what is here."""
        raise NotImplementedError

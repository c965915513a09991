"""A download queue whose reports come from the test, for states that cannot be provoked with a server."""

from collections.abc import Callable

from sotto.store.pull.progress import PullProgress
from sotto.store.sources.model_names import parse_name


class ScriptedQueue:
    """Records the commands that it gets in `asked`; a test calls `tell` to report progress."""

    def __init__(self, left: tuple[PullProgress, ...] = ()) -> None:
        self.left = left
        self.asked: list[tuple[str, object]] = []
        self.tell: Callable[[PullProgress], None] = lambda progress: None

    def open(self, tell: Callable[[PullProgress], None]) -> "ScriptedQueue":
        """Return itself as the opened queue, which reports to `tell`."""
        self.tell = tell
        return self

    def add(self, name: str) -> None:
        self.asked.append(("add", parse_name(name).short))

    def pause(self, name: str) -> None:
        self.asked.append(("pause", name))

    def resume(self, name: str) -> None:
        self.asked.append(("resume", name))

    def cancel(self, name: str) -> None:
        self.asked.append(("cancel", name))

    def limit(self, bytes_per_second: int | None) -> None:
        self.asked.append(("limit", bytes_per_second))

    def unfinished(self) -> tuple[PullProgress, ...]:
        return self.left

    def close(self) -> None:
        self.asked.append(("close", None))

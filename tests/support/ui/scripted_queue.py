"""A queue of downloads that says what a test lets it say: for states that no server can be made to hold."""

from collections.abc import Callable

from sotto.store.pull.progress import PullProgress
from sotto.store.sources.model_names import parse_name


class ScriptedQueue:
    """Keeps what it is asked for, in order; `tell` says something in its name."""

    def __init__(self, left: tuple[PullProgress, ...] = ()) -> None:
        self.left = left
        self.asked: list[tuple[str, object]] = []
        self.tell: Callable[[PullProgress], None] = lambda progress: None

    def open(self, tell: Callable[[PullProgress], None]) -> "ScriptedQueue":
        """Be the queue that is opened, with `tell` to speak to."""
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

"""A download queue with reports from the test, for states that cannot be provoked with a server."""

from collections.abc import Callable

from sotto.store.pull.progress import PullProgress
from sotto.store.sources.model_names import parse_name


class ScriptedQueue:
    """Records the commands that it receives in `commands`; a test calls `report` to report progress."""

    def __init__(self, left: tuple[PullProgress, ...] = ()) -> None:
        self.left = left
        self.commands: list[tuple[str, object]] = []
        self.report: Callable[[PullProgress], None] = lambda progress: None

    def open(self, report: Callable[[PullProgress], None]) -> "ScriptedQueue":
        """Return itself as the opened queue, which reports to `report`."""
        self.report = report
        return self

    def add(self, name: str) -> None:
        self.commands.append(("add", parse_name(name).short))

    def pause(self, name: str) -> None:
        self.commands.append(("pause", name))

    def resume(self, name: str) -> None:
        self.commands.append(("resume", name))

    def cancel(self, name: str) -> None:
        self.commands.append(("cancel", name))

    def limit(self, bytes_per_second: int | None) -> None:
        self.commands.append(("limit", bytes_per_second))

    def unfinished(self) -> tuple[PullProgress, ...]:
        return self.left

    def close(self) -> None:
        self.commands.append(("close", None))

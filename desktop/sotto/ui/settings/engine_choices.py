"""Reads and writes the engine's settings and its disk cache on a worker thread, and parses sizes and speeds."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from sotto.errors import InvalidRequestError, SottoError
from sotto.ui.preferences.preferences import MAX_DOWNLOAD_SPEED, MIN_DOWNLOAD_SPEED
from sotto.ui.state import wording
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks


@dataclass(frozen=True, slots=True)
class EngineUsage:
    """The engine's settings and the contents of its disk cache.

    Attributes:
        chosen: Chosen settings, by their names in the engine's file; all others have defaults.
        default_disk_budget: Default limit of the disk cache, in bytes.
        disk_bytes: Size of the disk cache in bytes.
        disk_entries: Number of entries in the disk cache.
        total_memory: The machine's memory in bytes.
        folder: Folder of the disk cache.
    """

    chosen: Mapping[str, int]
    default_disk_budget: int
    disk_bytes: int
    disk_entries: int
    total_memory: int
    folder: str


class EngineChoices(QObject):
    """Reads and changes the engine's settings.

    Signals:
        loaded: The settings were read (`EngineUsage`).
        failed: A change or a read failed; the reason, in a sentence.
    """

    loaded = Signal(object)
    failed = Signal(str)

    def __init__(self, tasks: "AsyncTasks", parent: QObject | None = None) -> None:
        """Prepare to read; nothing is read before `refresh`."""
        super().__init__(parent)
        self._tasks = tasks

    def refresh(self) -> None:
        """Read the settings and measure the disk cache."""
        self._tasks.start(self._apply({}, wipes=False))

    def change(self, name: str, value: int | None) -> None:
        """Change a setting; None returns to its default."""
        self._tasks.start(self._apply({name: value}, wipes=False))

    def wipe(self) -> None:
        """Clear the disk cache."""
        self._tasks.start(self._apply({}, wipes=True))

    async def _apply(self, changes: Mapping[str, int | None], *, wipes: bool) -> None:
        try:
            usage, problem = await self._tasks.call(functools.partial(_apply_and_read, changes, wipes=wipes))
        except (SottoError, OSError) as error:
            self.failed.emit(str(error))
            return
        self.loaded.emit(usage)
        if problem:
            self.failed.emit(problem)


def _apply_and_read(changes: Mapping[str, int | None], *, wipes: bool) -> tuple[EngineUsage, str]:
    from sotto.engine.caches import disk_budget
    from sotto.engine.contract import engine_settings
    from sotto.engine.memory.physical_memory import physical_memory

    if changes:
        engine_settings.change_settings(changes)
    root, problem = engine_settings.disk_root(), ""
    if wipes and not disk_budget.wipe(root):
        sentence = tr("Not everything in {folder} could be removed; another Sotto may be using it: close that first.")
        problem = sentence.format(folder=root)
    usage = disk_budget.usage(root)
    found = EngineUsage(
        chosen=engine_settings.chosen_settings(),
        default_disk_budget=engine_settings.usual_disk_budget(),
        disk_bytes=usage.nbytes,
        disk_entries=usage.entries,
        total_memory=physical_memory().total,
        folder=str(root),
    )
    return found, problem


def parse_size(text: str) -> int | None:
    """Return the bytes that `text` stands for, such as `4.5 GB`; None if it is empty.

    Raises:
        InvalidRequestError: The text is not a size.
    """
    from sotto.engine.contract.engine_settings import size_of

    return size_of(text.replace(" ", "").replace(",", ".")) if text else None


def parse_memory_limit(text: str, total: int) -> int | None:
    """Return the memory limit in bytes that `text` stands for on a machine with `total` bytes; None if it is empty.

    Raises:
        InvalidRequestError: The text is not a size, or out of bounds.
    """
    from sotto.engine.contract.engine_settings import LEAST_MEMORY

    limit = parse_size(text)
    if limit is not None and not LEAST_MEMORY <= limit <= total:
        sentence = tr("The limit must be from {least} to the {total} that this machine has, not {size}.")
        raise InvalidRequestError(
            sentence.format(least=wording.size(LEAST_MEMORY), total=wording.size(total), size=wording.size(limit))
        )
    return limit


def parse_speed(text: str) -> int:
    """Return the bytes per second that `text` stands for; 0, which means no limit, if it is empty.

    Raises:
        InvalidRequestError: The text is not a speed, or out of bounds.
    """
    try:
        speed = parse_size(text.replace(" ", "").removesuffix("/s")) or 0
    except InvalidRequestError as error:
        sentence = tr("A speed is a number followed by K, M or G, for example 5 MB, not {typed}.")
        raise InvalidRequestError(sentence.format(typed=repr(text))) from error
    if speed and not MIN_DOWNLOAD_SPEED <= speed <= MAX_DOWNLOAD_SPEED:
        sentence = tr("The speed must be from {least} to {most} a second, not {speed}.")
        least, most = wording.size(MIN_DOWNLOAD_SPEED), wording.size(MAX_DOWNLOAD_SPEED)
        raise InvalidRequestError(sentence.format(least=least, most=most, speed=wording.size(speed)))
    return speed

"""What people chose about the engine and what it keeps, read and written off the window's thread. Draws nothing."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from sotto.errors import InvalidRequestError, SottoError
from sotto.ui.preferences.preferences import MAX_DOWNLOAD_SPEED, MIN_DOWNLOAD_SPEED
from sotto.ui.state import wording

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import AsyncTasks


@dataclass(frozen=True, slots=True)
class EngineUsage:
    """How things stand.

    Attributes:
        chosen: Choices by their names in the engine's file; what is not there follows the machine.
        usual_disk: Bytes that may be kept on the disk where nobody chose.
        nbytes: Bytes that are kept there now.
        entries: In so many pieces.
        total: Bytes of memory that the machine has.
        folder: Where it is kept.
    """

    chosen: Mapping[str, int]
    usual_disk: int
    nbytes: int
    entries: int
    total: int
    folder: str


class EngineChoices(QObject):
    """Reads and changes them.

    Signals:
        known: How things stand (`EngineUsage`).
        failed: Something did not work; why, in a sentence.
    """

    known = Signal(object)
    failed = Signal(str)

    def __init__(self, flows: "AsyncTasks", parent: QObject | None = None) -> None:
        """Read nothing before `look`."""
        super().__init__(parent)
        self._flows = flows

    def look(self) -> None:
        """Find out how things stand."""
        self._flows.start(self._do({}, wipes=False))

    def change(self, name: str, value: int | None) -> None:
        """Choose something; None follows the machine again."""
        self._flows.start(self._do({name: value}, wipes=False))

    def wipe(self) -> None:
        """Remove everything that is kept on the disk."""
        self._flows.start(self._do({}, wipes=True))

    async def _do(self, changes: Mapping[str, int | None], *, wipes: bool) -> None:
        try:
            found, why = await self._flows.call(functools.partial(_work, changes, wipes=wipes))
        except (SottoError, OSError) as error:
            self.failed.emit(str(error))
            return
        self.known.emit(found)
        if why:
            self.failed.emit(why)


def _work(changes: Mapping[str, int | None], *, wipes: bool) -> tuple[EngineUsage, str]:
    import psutil

    from sotto.engine.caches import disk_budget
    from sotto.engine.contract import engine_settings

    if changes:
        engine_settings.change_settings(changes)
    root, why = engine_settings.disk_root(), ""
    if wipes and not disk_budget.wipe(root):
        why = f"Not everything in {root} could be removed; another Sotto may be using it: close that first."
    usage = disk_budget.usage(root)
    total, usual = psutil.virtual_memory().total, engine_settings.usual_disk_budget()
    return EngineUsage(engine_settings.chosen_settings(), usual, usage.nbytes, usage.entries, total, str(root)), why


def parse_size(text: str) -> int | None:
    """Return the bytes that a person means; None for an empty text.

    Raises:
        InvalidRequestError: They mean none.
    """
    from sotto.engine.contract.engine_settings import size_of

    return size_of(text.replace(" ", "").replace(",", ".")) if text else None


def parse_memory_limit(text: str, total: int) -> int | None:
    """Return the bytes of memory that a person allows on a machine with `total` of them; None for an empty text.

    Raises:
        InvalidRequestError: They mean none, or what nothing could be planned with.
    """
    from sotto.engine.contract.engine_settings import LEAST_MEMORY

    limit = parse_size(text)
    if limit is not None and not LEAST_MEMORY <= limit <= total:
        raise InvalidRequestError(
            f"The limit must be from {wording.size(LEAST_MEMORY)} to the {wording.size(total)} that this machine has, "
            f"not {wording.size(limit)}."
        )
    return limit


def parse_speed(text: str) -> int:
    """Return the bytes a second that a person means; 0, which is no limit, for an empty text.

    Raises:
        InvalidRequestError: They mean none, or what nothing could be downloaded with.
    """
    try:
        speed = parse_size(text.replace(" ", "").removesuffix("/s")) or 0
    except InvalidRequestError as error:
        said = f"A speed is a number with K, M or G behind it, for example 5 MB, not {text!r}."
        raise InvalidRequestError(said) from error
    if speed and not MIN_DOWNLOAD_SPEED <= speed <= MAX_DOWNLOAD_SPEED:
        raise InvalidRequestError(
            f"The speed must be from {wording.size(MIN_DOWNLOAD_SPEED)} to {wording.size(MAX_DOWNLOAD_SPEED)} "
            f"a second, not {wording.size(speed)}."
        )
    return speed

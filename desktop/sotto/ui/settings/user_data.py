"""What Sotto keeps on this machine for the user: how much it is, and deleting it."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from sotto.ui.conversation.chat_library import ChatLibrary
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.preferences.presets import PresetStore
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks


@dataclass(frozen=True, slots=True)
class DataSizes:
    """What is on the disk.

    Attributes:
        chats: Number of conversations, including the trash.
        chat_bytes: Size of the file of conversations and of their images.
        cache_bytes: Size of the prompt cache.
    """

    chats: int
    chat_bytes: int
    cache_bytes: int

    @property
    def all_bytes(self) -> int:
        """The size of everything."""
        return self.chat_bytes + self.cache_bytes


class UserData(QObject):
    """Measures and deletes chats, the prompt cache and the settings.

    Signals:
        measured: The sizes are known (`DataSizes`).
        failed: Something could not be deleted; the reason, in a sentence. Empty once something else was tried.
    """

    measured = Signal(object)
    failed = Signal(str)

    def __init__(
        self,
        library: ChatLibrary,
        preferences: PreferenceStore,
        presets: PresetStore,
        tasks: "AsyncTasks",
        parent: QObject | None = None,
    ) -> None:
        """Prepare to measure; nothing is read before `refresh`."""
        super().__init__(parent)
        self._library, self._preferences, self._presets = library, preferences, presets
        self._tasks = tasks
        library.erased.connect(self.refresh)

    def refresh(self) -> None:
        """Measure everything again."""
        self._library.count_all(self._measure)

    def delete_chats(self) -> None:
        """Delete all chats for good."""
        self._library.erase_all()

    def delete_cache(self) -> None:
        """Delete the prompt cache on the disk; nothing but time is lost."""
        self.failed.emit("")
        self._tasks.start(self._delete_cache())

    def reset_settings(self) -> None:
        """Return all settings to their defaults, and delete the presets."""
        self.failed.emit("")
        self._preferences.reset()
        self._presets.clear()
        self._tasks.start(self._reset_engine())

    def delete_all(self) -> None:
        """Delete chats, the prompt cache and the settings; models stay."""
        self.delete_chats()
        self.delete_cache()
        self.reset_settings()

    def _measure(self, chats: int, path: Path) -> None:
        self._tasks.start(self._report(chats, path))

    async def _report(self, chats: int, path: Path) -> None:
        chat_bytes, cache_bytes = await self._tasks.call(functools.partial(_sizes, path))
        self.measured.emit(DataSizes(chats, chat_bytes, cache_bytes))

    async def _delete_cache(self) -> None:
        self.failed.emit(await self._tasks.call(_wipe_cache))
        self.refresh()

    async def _reset_engine(self) -> None:
        try:
            await self._tasks.call(_reset_engine)
        except OSError as error:
            self.failed.emit(tr("The engine’s settings could not be reset: {reason}.").format(reason=error.strerror))


def _sizes(chats: Path) -> tuple[int, int]:
    """Return the bytes of the file of conversations, of the files that belong to it, and of the cache."""
    from sotto.chats.image_store import ImageStore
    from sotto.engine.caches import disk_budget
    from sotto.engine.contract import engine_settings

    beside = (path for path in chats.parent.glob(f"{chats.name}*") if path.is_file())
    images = ImageStore(chats).size()
    return sum(path.stat().st_size for path in beside) + images, disk_budget.usage(engine_settings.disk_root()).nbytes


def _wipe_cache() -> str:
    """Delete the prompt cache on the disk; return why that was not possible, or an empty string."""
    from sotto.engine.caches import disk_budget
    from sotto.engine.contract import engine_settings

    root = engine_settings.disk_root()
    if disk_budget.wipe(root):
        return ""
    sentence = tr("Not everything in {folder} could be removed; another Sotto may be using it: close that first.")
    return sentence.format(folder=root)


def _reset_engine() -> None:
    from sotto.engine.contract import engine_settings

    defaults: Mapping[str, int | None] = dict.fromkeys(engine_settings.chosen_settings())
    if defaults:
        engine_settings.change_settings(defaults)

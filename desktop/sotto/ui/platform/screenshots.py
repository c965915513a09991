"""Pictures of a part of the screen: by the desktop portal on Linux, by `screencapture` on macOS, and nowhere else.

The person chooses the part with what the system has for that.
"""

import logging
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal

from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

_log = logging.getLogger(__name__)

_APP = "app.sotto"
_INTERFACE = "org.freedesktop.portal.Screenshot"
_PERSON_SECONDS = 600.0


class Screenshots(QObject):
    """Takes screenshots where the system can.

    Signals:
        offered: Screenshots can be taken here.
        taken: A screenshot was taken (the `QUrl` of its file).
        failed: None was taken; why, in a sentence.
    """

    offered = Signal()
    taken = Signal(object)
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        """Look for nothing yet."""
        super().__init__(parent)
        self._tasks: AsyncTasks | None = None
        self._busy = False
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def begin(self, tasks: "AsyncTasks") -> None:
        """Find out whether screenshots can be taken here."""
        self._tasks = tasks
        if sys.platform == "darwin":
            self.offered.emit()
        elif sys.platform == "linux":
            tasks.start(self._look())

    def take(self) -> None:
        """Let the person choose a part of the screen."""
        if self._tasks is not None and not self._busy:
            self._busy = True
            self._tasks.start(self._take(self._tasks))

    async def _look(self) -> None:
        from sotto.ui.platform.portal import PortalError, connected

        try:
            async with connected() as portal:
                await portal.version(_INTERFACE)
        except PortalError as error:
            _log.info("No screenshots: %s", error.why.name)
        else:
            self.offered.emit()

    async def _take(self, tasks: "AsyncTasks") -> None:
        try:
            if sys.platform == "darwin":
                if (path := await tasks.call(partial(_capture, self._make_folder()))) is not None:
                    self.taken.emit(QUrl.fromLocalFile(path))
            else:
                await self._ask_portal()
        finally:
            self._busy = False

    async def _ask_portal(self) -> None:
        from sotto.ui.platform.portal import PortalError, Why, connected

        try:
            async with connected() as portal:
                await portal.register(_APP)
                options = {"interactive": ("b", True)}
                results = await portal.request(_INTERFACE, "Screenshot", "sa{sv}", ("",), options, _PERSON_SECONDS)
        except PortalError as error:
            if error.why is not Why.DENIED:
                self._report()
            return
        url = QUrl(str(results.get("uri", ("s", ""))[1]))
        if url.isLocalFile():
            self.taken.emit(url)
        else:
            self._report()

    def _make_folder(self) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory()
        return Path(tempfile.mkdtemp(dir=self._folder.name))

    def _report(self) -> None:
        self.failed.emit(tr("The desktop did not take one: take it with another program, and paste it here."))


def _capture(folder: Path) -> Path | None:
    """Let the person choose a part of the screen on macOS; return None if they cancel."""
    name = tr("Screenshot")
    path = folder / f"{name}.png"
    subprocess.run(["/usr/sbin/screencapture", "-i", "-x", path], check=False)
    return path if path.exists() else None

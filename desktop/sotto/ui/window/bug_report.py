"""Copies what a bug report needs: what `sotto doctor --report` prints, and what is in use in the window."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, qVersion
from PySide6.QtGui import QGuiApplication

from sotto import bounded_process
from sotto.bounded_process import BoundedProcessError, Bounds
from sotto.reports.scrubbing import scrub
from sotto.ui.session.session import Session
from sotto.ui.toolkit.translation import tr
from sotto.ui.transcript.notices import Notices

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

# In a process of its own, as it asks MLX, which belongs to the engine's thread. A disk may be slow to list its models.
_BOUNDS = Bounds(seconds=60, cpu_seconds=60, memory=4 << 30, output=1 << 20)


class BugReport(QObject):
    """Makes a report for the clipboard.

    Attributes:
        tasks: Runs the slow part; None before there is an event loop.
    """

    def __init__(self, session: Session, notices: Notices, parent: QObject) -> None:
        """Report on what `session` has in use; say in `notices` what was done."""
        super().__init__(parent)
        self.tasks: AsyncTasks | None = None
        self._session, self._notices = session, notices

    def copy(self) -> None:
        """Copy the report once it is made."""
        if self.tasks is not None:
            self.tasks.start(self._copy(self.tasks))

    async def _copy(self, tasks: "AsyncTasks") -> None:
        self._notices.show_progress(tr("Writing a report"), tr("It has no messages, keys or names of chats."))
        try:
            found = await tasks.call(bounded_process.run, "doctor", "--report", bounds=_BOUNDS)
            text = found.decode("utf-8", "replace")
        except BoundedProcessError as error:
            text = f"sotto doctor --report did not finish: {error.exceeded.value}\n"
        QGuiApplication.clipboard().setText(f"{scrub(self._in_use())}\n{text}")
        self._notices.show_success(tr("Report copied"), tr("Paste it into your bug report."))

    def _in_use(self) -> str:
        """Return what is in use in the window."""
        state = self._session.state
        lines = [
            f"Qt {qVersion()}, {QGuiApplication.platformName()}, {QGuiApplication.styleHints().colorScheme().name}"
        ]
        if state.record is not None:
            device = f" on {state.info.device}" if state.info is not None else ""
            record = state.record
            lines.append(f"Model {record.name} ({record.architecture}, {record.quantization}){device}")
        return "\n".join(lines) + "\n"

"""Shows errors that nothing caught, wherever they were raised, in one dialog with a report.

They come from slots and virtual functions of Qt, asynchronous tasks, threads, the engine, and from the run before, if
that was ended by a fatal signal. Nothing is sent anywhere.
"""

import logging
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMessageLogContext, QObject, Qt, QtMsgType, Signal, Slot, qInstallMessageHandler, qVersion
from PySide6.QtGui import QGuiApplication

from sotto.reports import fatal, logs, report
from sotto.reports.report import Trouble
from sotto.reports.scrubbing import scrub
from sotto.reports.traces import headline
from sotto.ui.app.report_dialog import ReportDialog
from sotto.ui.session.engine_thread import EngineLost
from sotto.ui.toolkit.translation import tr
from sotto.ui.window.dialogs import open_logs

if TYPE_CHECKING:
    import asyncio

_log = logging.getLogger(__name__)
_qt_log = logging.getLogger("qt")

# Further ones are only written to the log folder.
_MOST_DIALOGS = 3
_TOLD_COUNTS = (10, 100, 1000, 10_000)
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


@dataclass(frozen=True, slots=True)
class _Written:
    """A report.

    Attributes:
        text: All of it.
        path: Its file; None if it could not be written.
        trace: The part that differs from other reports of this run.
    """

    text: str
    path: Path | None
    trace: str = ""


class UncaughtErrors(QObject):
    """Takes uncaught errors on any thread, and shows each once.

    Attributes:
        dialog: The open dialog; None if there is none.
        quiet: Whether the app is about to quit: what happens then is shown at the next start.
    """

    _written = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Show nothing yet."""
        super().__init__(parent)
        self.dialog: ReportDialog | None = None
        self.quiet = False
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        # Reports that nobody has seen, from runs before this one.
        self._from_before: list[Path] = []
        self._dialogs = 0
        self._written.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Take the errors of this process from now on; log them, what Qt says, and where fatal signals happen."""
        logs.begin("window")
        # Threads pass theirs on to this hook, too.
        sys.excepthook = self.take
        qInstallMessageHandler(_log_qt)
        fatal.begin()
        self._from_before = report.unseen()

    def take(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None = None) -> None:
        """Take an error, as `sys.excepthook` does."""
        if issubclass(kind, KeyboardInterrupt):
            logs.log_uncaught(kind, error, trace)
            return
        try:
            self._take(report.trouble_of(error))
        except Exception as other:
            # Not raised again: it would come back here.
            logs.complain(f"An error could not be reported ({headline(error)}) because of another ({headline(other)}).")

    def take_of_loop(self, loop: "asyncio.AbstractEventLoop", context: dict[str, Any]) -> None:
        """Take an error that an event loop reports."""
        error = context.get("exception")
        if isinstance(error, Exception):
            self.take(type(error), error)
        else:
            loop.default_exception_handler(context)

    @Slot(object)
    def take_of_engine(self, event: object) -> None:
        """Take the error that ended the engine's thread, if this event tells of one."""
        if isinstance(event, EngineLost) and event.trouble is not None:
            self._take(event.trouble)

    def show_unseen(self) -> None:
        """Show the last report that nobody has seen, from a run before this one."""
        texts = []
        for path in self._from_before:
            try:
                texts.append(self._see(_Written(path.read_text(encoding="utf-8"), path)))
            except OSError as error:
                _log.warning("A report in the log folder cannot be read: %s", error)
        if texts and self.dialog is None:
            meaning = tr("That was when you last used it. Your chats are saved.")
            self._open(tr("Sotto closed unexpectedly"), meaning, texts[-1])

    def fail(self, error: Exception) -> None:
        """Show the error that keeps the app from running, and wait until the user closes the dialog."""
        written = self._write(report.trouble_of(error))
        if not self.quiet:
            meaning = tr("This error keeps it from running. Your chats are saved.")
            self._open(tr("Sotto cannot start"), meaning, self._see(written)).exec()

    def _take(self, trouble: Trouble) -> None:
        with self._lock:
            count = self._counts[trouble.key] = self._counts.get(trouble.key, 0) + 1
        if count == 1:
            self._written.emit(self._write(trouble))
        elif count in _TOLD_COUNTS:
            _log.error("This has happened %d times: %s", count, trouble.key)

    @staticmethod
    def _write(trouble: Trouble) -> _Written:
        """Write a report to the log folder and a trace to the log."""
        text = report.compose(trouble, [f"Qt {qVersion()}, {QGuiApplication.platformName()}"])
        _log.critical("Nothing caught an error.", extra={"trace": trouble.trace})
        try:
            return _Written(text, report.write(text), scrub(trouble.trace))
        except OSError as error:
            _log.warning("A report cannot be written to the log folder: %s", error)
            return _Written(text, None, scrub(trouble.trace))

    @staticmethod
    def _see(written: _Written) -> str:
        """Note that the user sees a report, and return its text."""
        if written.path is not None:
            try:
                report.mark_seen(written.path)
            except OSError as error:
                _log.warning("A report in the log folder cannot be renamed: %s", error)
        return written.text

    @Slot(object)
    def _show(self, written: _Written) -> None:
        if self.quiet:
            return
        text = self._see(written)
        if self.dialog is not None:
            self.dialog.add(written.trace)
        elif self._dialogs < _MOST_DIALOGS:
            meaning = tr("An error occurred in Sotto. Your chats are saved, and you can go on.")
            self._open(tr("Something went wrong"), meaning, text)

    def _open(self, title: str, meaning: str, text: str) -> ReportDialog:
        self._dialogs += 1
        self.dialog = dialog = ReportDialog(title, meaning, text)
        dialog.logs_wanted.connect(open_logs)
        dialog.finished.connect(self._forget)
        dialog.show()
        dialog.raise_()
        return dialog

    @Slot()
    def _forget(self) -> None:
        self.dialog = None


def _log_qt(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    _qt_log.log(_LEVELS[kind], "%s", message)

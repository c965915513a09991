"""The imports above the list of models."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from sotto.ui.models.download_row import Bar
from sotto.ui.models.model_imports.import_job import STOPPED, ImportJob, JobState, accessible_name, percent, status
from sotto.ui.models.model_imports.running_imports import Imports
from sotto.ui.state.names import model_name, short_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, Label, plain_tip, restyle


class ImportRow(QFrame):
    """Name, progress and state of an import, with buttons to pause or cancel it.

    Signals:
        pause_wanted: The user wants to pause the import; its name.
        resume_wanted: The user wants to resume it; its name.
        cancel_wanted: The user wants to cancel it; its name.
    """

    pause_wanted = Signal(str)
    resume_wanted = Signal(str)
    cancel_wanted = Signal(str)

    def __init__(self, job: ImportJob) -> None:
        """Show `job`."""
        super().__init__()
        self.setObjectName("download")
        self.setToolTip(plain_tip(str(job.source)))
        self.job = job
        self.name = ElidedLabel(short_name(job.name), "strong", where=Qt.TextElideMode.ElideMiddle)
        self.toggle = IconButton("pause", tr("Pause"))
        self.toggle.clicked.connect(self._toggle)
        name = tr("Cancel the import of {name}").format(name=model_name(job.name))
        self.cancel = IconButton("close", name, tip=tr("Cancel"))
        self.cancel.clicked.connect(lambda: self.cancel_wanted.emit(self.job.name))
        self.bar = Bar(tr("Imported"))
        self.status = Label("", "caption", wrap=True)
        self.note = Label("", "caption", wrap=True)
        top = QHBoxLayout()
        top.setSpacing(0)
        top.addSpacing(theme.GAP_8)
        top.addWidget(self.name, 1)
        top.addWidget(self.toggle)
        top.addWidget(self.cancel)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_4, theme.GAP_4, theme.GAP_4, theme.GAP_8)
        layout.setSpacing(theme.GAP_4)
        layout.addLayout(top)
        for item in (self.bar, self.status, self.note):
            line = QHBoxLayout()
            line.setContentsMargins(theme.GAP_8, 0, theme.GAP_8, 0)
            line.addWidget(item)
            layout.addLayout(line)
        self.show_job(job)

    def show_job(self, job: ImportJob) -> None:
        """Show the progress of the import."""
        self.job = job
        stopped, failed = job.state in STOPPED, job.state is JobState.FAILED
        reached = percent(job)
        self.bar.show_share((reached or 0) / 100, reached, "alert" if failed else "others" if stopped else "accent")
        self.status.setText(status(job))
        restyle(self.status, "role", "alert" if failed else "caption")
        self.note.setText(job.note)
        self.note.setVisible(bool(job.note))
        text = tr("Resume the import of {name}") if stopped else tr("Pause the import of {name}")
        tip = tr("Resume") if stopped else tr("Pause")
        self.toggle.set_icon("play" if stopped else "pause", text.format(name=model_name(job.name)), tip)
        # What is measured is imported already: it can be stopped, but there is nothing to go on with.
        self.toggle.setHidden(job.state is JobState.MEASURING)
        self.setAccessibleName(accessible_name(job))

    def _toggle(self) -> None:
        (self.resume_wanted if self.job.state in STOPPED else self.pause_wanted).emit(self.job.name)


class ImportList(QWidget):
    """One row per import; hidden while there are none.

    Signals:
        arranged: Rows were added or removed.
    """

    arranged = Signal()

    def __init__(self, imports: Imports) -> None:
        """Show `imports`."""
        super().__init__()
        self._imports = imports
        self.rows: list[ImportRow] = []
        self.setObjectName("imports")
        self.setAccessibleName(tr("Imports"))
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, theme.GAP_8)
        self._layout.setSpacing(theme.GAP_4)
        imports.changed.connect(self._show)
        self._show(imports.all)

    def _show(self, jobs: tuple[ImportJob, ...]) -> None:
        before, known = self.rows, {row.job.name: row for row in self.rows}
        self.rows = [known[job.name] if job.name in known else self._make_row(job) for job in jobs]
        for row, job in zip(self.rows, jobs, strict=True):
            row.show_job(job)
            row.show()
        for row in (row for row in before if row not in self.rows):
            self._layout.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.setVisible(bool(self.rows))
        if self.rows != before:
            self.arranged.emit()

    def _make_row(self, job: ImportJob) -> ImportRow:
        row = ImportRow(job)
        row.pause_wanted.connect(self._imports.pause)
        row.resume_wanted.connect(self._imports.resume)
        row.cancel_wanted.connect(self._imports.cancel)
        self._layout.addWidget(row)
        return row

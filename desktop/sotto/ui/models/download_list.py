"""The downloads at the top of the list of models."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from sotto.store.pull.progress import PullProgress
from sotto.store.records import ModelRecord
from sotto.ui.models.download_row import DownloadRow
from sotto.ui.models.downloads import Downloads
from sotto.ui.state.names import model_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr


class DownloadList(QWidget):
    """One row per download, in the order in which they were started; hidden while there are none.

    Signals:
        arranged: Rows were added, removed or moved.
        emptied: The last row was removed while it had the focus.
    """

    arranged = Signal()
    emptied = Signal()

    def __init__(self, downloads: Downloads) -> None:
        """Show `downloads`."""
        super().__init__()
        self._downloads = downloads
        self._known: frozenset[str] = frozenset()
        self._filter = ""
        self.rows: list[DownloadRow] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, theme.GAP_8)
        self._layout.setSpacing(theme.GAP_4)
        self.setObjectName("downloads")
        self.setAccessibleName(tr("Downloads"))
        downloads.changed.connect(self._show)
        self._show(downloads.all)

    def show_models(self, records: tuple[ModelRecord, ...]) -> None:
        """Update which models are on the disk, whose downloads are shown as updates."""
        self._known = frozenset(model_name(record.name) for record in records if record.own and record.present)
        self._show(self._downloads.all)

    def row_of(self, name: str) -> DownloadRow | None:
        """Return the row of a download; None if there is none."""
        return next((row for row in self.rows if row.progress.name == name), None)

    def _show(self, downloads: tuple[PullProgress, ...]) -> None:
        before, known = self.rows, {row.progress.name: row for row in self.rows}
        self.rows = [known.get(progress.name) or self._make_row(progress) for progress in downloads]
        gone = [row for row in known.values() if row not in self.rows]
        focused = QApplication.focusWidget()
        for index, (row, progress) in enumerate(zip(self.rows, downloads, strict=True)):
            if self._layout.indexOf(row) != index:
                self._layout.insertWidget(index, row)
            row.show()
            row.show_progress(progress, known=model_name(progress.name) in self._known)
        focus_lost = focused is not None and any(row.isAncestorOf(focused) for row in gone)
        for row in gone:
            self._layout.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.setVisible(bool(self.rows))
        if self.rows != before:
            self.arranged.emit()
        if focus_lost:
            self._move_focus()

    def _move_focus(self) -> None:
        """Focus the first row; without one, `emptied` lets the owner focus something else."""
        if self.rows:
            self.rows[0].toggle.setFocus()
        else:
            self.emptied.emit()

    def _make_row(self, progress: PullProgress) -> DownloadRow:
        row = DownloadRow(progress)
        row.pause_wanted.connect(self._downloads.pause)
        row.resume_wanted.connect(self._downloads.resume)
        row.cancel_wanted.connect(self._downloads.cancel)
        return row

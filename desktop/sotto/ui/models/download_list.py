"""The downloads at the top of the list of models."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from sotto.store.pull.progress import PullProgress
from sotto.store.records import ModelRecord
from sotto.ui.models import download_words
from sotto.ui.models.download_row import DownloadRow
from sotto.ui.models.downloads import Downloads
from sotto.ui.state.names import model_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.announcements import announce


class DownloadList(QWidget):
    """A row for each download, in the order in which they were asked for; nothing where there is none.

    Signals:
        arranged: There are other rows than before.
        emptied: The last row has gone, and the focus was in it.
    """

    arranged = Signal()
    emptied = Signal()

    def __init__(self, downloads: Downloads) -> None:
        """Show `downloads`."""
        super().__init__()
        self._downloads = downloads
        self._known: frozenset[str] = frozenset()
        self._wanted = ""
        self.rows: list[DownloadRow] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, theme.GAP_8)
        self._layout.setSpacing(theme.GAP_4)
        self.setObjectName("downloads")
        self.setAccessibleName("Downloads")
        downloads.changed.connect(self._show)
        downloads.began.connect(lambda name: announce(self, download_words.begun(name)))
        downloads.ended.connect(self._announce_end)
        self._show(downloads.all)

    def show_models(self, records: tuple[ModelRecord, ...]) -> None:
        """Take note of the models that are on the disk, so that no download of one of them says that it is not."""
        self._known = frozenset(model_name(record.name) for record in records if record.own and record.present)
        self._show(self._downloads.all)

    def look_for(self, text: str) -> None:
        """Show only downloads in whose names every word of `text` occurs."""
        self._wanted = text
        self._show(self._downloads.all)

    def row_of(self, name: str) -> DownloadRow | None:
        """Return the row of a download, if there is one."""
        return next((row for row in self.rows if row.progress.name == name), None)

    def _show(self, downloads: tuple[PullProgress, ...]) -> None:
        before, known = self.rows, {row.progress.name: row for row in self.rows}
        self.rows = [known.get(progress.name) or self._row(progress) for progress in downloads]
        gone = [row for row in known.values() if row not in self.rows]
        focused = QApplication.focusWidget()
        for place, (row, progress) in enumerate(zip(self.rows, downloads, strict=True)):
            if self._layout.indexOf(row) != place:
                self._layout.insertWidget(place, row)
            row.show_progress(progress, known=model_name(progress.name) in self._known)
            row.setVisible(all(word in progress.name.lower() for word in self._wanted.lower().split()))
        leaves = focused is not None and any(row.isAncestorOf(focused) for row in gone)
        for row in gone:
            self._layout.removeWidget(row)
            row.hide()
            row.deleteLater()
        shown = [row for row in self.rows if not row.isHidden()]
        self.setVisible(bool(shown))
        if self.rows != before:
            self.arranged.emit()
        if leaves:
            self._leave(shown)

    def _leave(self, shown: list[DownloadRow]) -> None:
        """Take the focus from a row that has gone to the first that is there, or else to what comes behind them."""
        if shown:
            shown[0].toggle.setFocus()
        else:
            self.emptied.emit()

    def _row(self, progress: PullProgress) -> DownloadRow:
        row = DownloadRow(progress)
        row.pause_wanted.connect(self._downloads.pause)
        row.resume_wanted.connect(self._downloads.resume)
        row.cancel_wanted.connect(self._downloads.cancel)
        return row

    def _announce_end(self, progress: PullProgress) -> None:
        title, message = download_words.ended(progress)
        announce(self, f"{title}. {message}")

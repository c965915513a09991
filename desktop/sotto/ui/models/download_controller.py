"""Puts together what belongs to downloads in the window: asking for a model, what is on its way, and what is there."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget

from sotto.errors import InvalidNameError
from sotto.store.pull.progress import PullProgress, PullState
from sotto.ui.models import download_words
from sotto.ui.models.download_form import DownloadForm
from sotto.ui.models.downloads import Downloads
from sotto.ui.models.model_panel import ModelPanel
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.session.session import Session
from sotto.ui.state.names import model_name

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import AsyncTasks

_OFFER_SECONDS = 60.0


class DownloadController(QObject):
    """Connects the card, the rows in the list of models and the queue of downloads.

    Signals:
        left: The person is done; the focus belongs to the conversation.
        load_wanted: A model that has come should be loaded; its record.
        offered: What was done, about what, the words for what can be done about it, what does it, and for how many
            seconds.
    """

    left = Signal()
    load_wanted = Signal(object)
    offered = Signal(str, str, str, object, float)

    def __init__(self, session: Session, preferences: PreferenceStore, parent: QObject | None = None) -> None:
        """Make the card; it belongs nowhere yet."""
        super().__init__(parent)
        self._session = session
        self._by_button = False
        self.downloads = Downloads(session, preferences, self)
        self.card = DownloadForm()

    def furnish(self, centre: QWidget, sidebar: QWidget, panel: ModelPanel) -> None:
        """Show the card over `centre`, beside `sidebar`, which has the list `panel`."""
        self._panel = panel
        self.card.setParent(centre)
        self.card.hide()
        self.card.beside(sidebar, panel.get)
        centre.installEventFilter(self)
        panel.get_wanted.connect(self.open)
        self.card.wanted.connect(self._get)
        self.card.closed.connect(self._close)
        self.downloads.ended.connect(self._offer_load)
        self.downloads.offered.connect(self.offered)
        self._session.library.changed.connect(self.card.show_models)
        QApplication.instance().focusChanged.connect(self._leave)  # type: ignore[union-attr]

    def begin(self, flows: "AsyncTasks") -> None:
        """Look for what an earlier run left."""
        self.card.show_models(self._session.library.models)
        self.downloads.begin(flows)

    def close(self) -> None:
        """Let downloads rest until the next start."""
        self.downloads.close()

    @Slot()
    def open(self) -> None:
        """Let a model be asked for by its name."""
        self._by_button = self._panel.get.hasFocus()
        self.card.open()

    @Slot()
    def _close(self) -> None:
        """Hide the card; the focus goes back to where it was."""
        self.card.hide()
        if self._by_button:
            self._panel.get.setFocus()
        else:
            self.left.emit()

    @Slot(str)
    def _get(self, text: str) -> None:
        """Download a model, and show that."""
        try:
            name = self.downloads.add(text)
        except InvalidNameError as error:
            self.card.refuse(error.message)
            return
        self.card.field.clear()
        self._close()
        row = self._panel.downloads.row_of(name)
        if row is not None:
            self._panel.bring_into_view(row)

    def _leave(self, before: QWidget | None, now: QWidget | None) -> None:
        """Hide the card once the focus is somewhere else in the window."""
        if now is None or now.window() is not self.card.window():
            return
        if now is not self._panel.get and not self.card.isAncestorOf(now):
            self.card.hide()

    @Slot(object)
    def _offer_load(self, progress: PullProgress) -> None:
        """Say that a model is there, and load it if that is wanted."""
        if progress.state is PullState.DONE:
            title, message = download_words.ended(progress)
            self.offered.emit(title, message, "Load", partial(self._load, progress.name), _OFFER_SECONDS)

    def _load(self, name: str) -> None:
        named = model_name(name)
        for record in self._session.library.models:
            if record.own and model_name(record.name) == named:
                self.load_wanted.emit(record)
                return

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the card in its place when the window changes its size."""
        if event.type() == QEvent.Type.Resize:
            self.card.place()
        return super().eventFilter(watched, event)

"""Connects the download form, the list of downloads and the download queue in a window."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from sotto.errors import InvalidNameError
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.sources.hugging_face_names import parse_wanted
from sotto.ui.models import download_words
from sotto.ui.models.download_form import DownloadForm
from sotto.ui.models.downloads import Downloads
from sotto.ui.models.model_panel import ModelPanel
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import Problem
from sotto.ui.state.names import model_name
from sotto.ui.toolkit.announcements import announce
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

_OFFER_SECONDS = 60.0


class DownloadController(QObject):
    """Owns the form and the downloads, and offers to load models that have arrived.

    Signals:
        left: The user is done; the conversation should take the focus.
        load_wanted: A downloaded model should be loaded (`ModelRecord`).
        offered: An action is offered for a while: title, message, label of the action, the action, and for how many
            seconds.
    """

    left = Signal()
    load_wanted = Signal(object)
    offered = Signal(str, str, str, object, float)

    def __init__(self, session: Session, preferences: PreferenceStore, parent: QObject | None = None) -> None:
        """Create the form; `install` puts it into a window."""
        super().__init__(parent)
        self._session = session
        self.downloads = Downloads(session, preferences, self)
        self.form = DownloadForm()

    def install(self, centre: QWidget, sidebar: QWidget, panel: ModelPanel) -> None:
        """Show the form over `centre`, beside `sidebar`, which contains `panel`."""
        self._panel = panel
        self.form.install(centre, sidebar, panel.get)
        self.form.submitted.connect(self._download)
        self.form.left.connect(self.left)
        self.downloads.started.connect(lambda name: announce(panel.downloads, download_words.start_message(name)))
        self.downloads.ended.connect(self._offer_load)
        self.downloads.offered.connect(self.offered)
        self._session.library.changed.connect(self.form.show_models)

    def begin(self, tasks: "AsyncTasks") -> None:
        """List the downloads that an earlier run left unfinished."""
        self.form.show_models(self._session.library.models)
        self.downloads.begin(tasks)

    def close(self) -> None:
        """Pause all downloads until the next start."""
        self.downloads.close()

    def open(self) -> None:
        """Show the form."""
        self.form.open()

    def offer(self, name: str) -> None:
        """Show the form with the name of a model, which the user may submit."""
        self.form.field.setText(name)
        self.form.open()

    def get(self, name: str) -> None:
        """Start the download of a model that was chosen, or say why it does not start."""
        try:
            self._show_row(self.downloads.add(name))
        except InvalidNameError as error:
            self._session.problem.emit(Problem(tr("The model was not downloaded"), error.message))

    def origin(self, text: str) -> str:
        """Return a line on where the model of a name would come from; empty if it is not a name."""
        try:
            return download_words.origin(parse_wanted(text), self._session.library.models)
        except InvalidNameError:
            return ""

    def _show_row(self, name: str) -> None:
        row = self._panel.downloads.row_of(name)
        if row is not None:
            self._panel.bring_into_view(row)

    @Slot(str)
    def _download(self, text: str) -> None:
        """Start the download of the model named `text`, and scroll to its row."""
        try:
            name = self.downloads.add(text)
        except InvalidNameError as error:
            self.form.show_error(error.message)
            return
        self.form.field.clear()
        self.form.close_card()
        self._show_row(name)

    @Slot(object)
    def _offer_load(self, progress: PullProgress) -> None:
        """Announce the end of a download, and offer to load the model."""
        title, message = download_words.end_message(progress)
        announce(self._panel.downloads, f"{title}. {message}")
        if progress.state is PullState.DONE:
            self.offered.emit(title, message, tr("Load"), partial(self._load, progress.name), _OFFER_SECONDS)

    def _load(self, name: str) -> None:
        wanted = model_name(parse_wanted(name).short)
        for record in self._session.library.models:
            if record.own and model_name(record.name) == wanted:
                self.load_wanted.emit(record)
                return

"""Gives models templates that a person has in files, and takes them back."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from sotto.errors import SottoError
from sotto.runner.residents import same
from sotto.store.records import ModelRecord
from sotto.store.user_templates import read_template_file, save_user_template, template_path
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import Phase, Problem
from sotto.ui.state.names import model_name

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import AsyncTasks


class ModelTemplates(QObject):
    """Keeps what prompts of a model are made by; a model that is in use and at rest is loaded anew with it."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Keep templates for models of `session`."""
        super().__init__(parent)
        self._session = session
        self._flows: AsyncTasks | None = None

    def begin(self, flows: "AsyncTasks") -> None:
        """Read and write from now on."""
        self._flows = flows

    @staticmethod
    def has(record: ModelRecord) -> bool:
        """Say whether a person gave a template to a model."""
        return template_path(record.digest).exists()

    def choose(self, record: ModelRecord, over: QWidget) -> None:
        """Let the person choose the file of a template for a model."""
        dialog = QFileDialog(over, f"A template for {model_name(record.name)}: Jinja or Go")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self.give(record, Path(path)))
        dialog.open()

    def give(self, record: ModelRecord, path: Path) -> None:
        """Make prompts of a model by the template in a file, from its next load on."""
        if self._flows is not None:
            self._flows.start(self._change(self._flows, record, path))

    def take_back(self, record: ModelRecord) -> None:
        """Make prompts of a model by what it has itself again."""
        if self._flows is not None:
            self._flows.start(self._change(self._flows, record, None))

    async def _change(self, flows: "AsyncTasks", record: ModelRecord, path: Path | None) -> None:
        name = model_name(record.name)
        try:
            await flows.call(partial(_kept, record.digest, path))
        except SottoError as error:
            self._session.problem.emit(Problem(f"{name} keeps the template it had", error.message))
            return
        state = self._session.state
        mine = state.record is not None and same(state.record, record)
        rests = mine and state.phase is Phase.READY
        when = "from now on" if rests else "from its next load on"
        title = "The template is kept" if path else "The template is taken back"
        makes = "this template" if path else "what it has itself"
        self._session.notice.emit(title, f"The prompts of {name} are made by {makes} {when}.")
        if rests and state.info is not None:
            self._session.reload(state.info.context_length)


def _kept(digest: str, path: Path | None) -> None:
    """Keep the template in a file for a model, if it is one; without a file, keep none."""
    if path is None:
        save_user_template(digest, "")
        return
    from sotto.engine.prompt.templates import ChatTemplate

    text = read_template_file(path)
    ChatTemplate.given(text)
    save_user_template(digest, text)

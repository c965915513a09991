"""Template files that the user assigns to models."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from sotto.errors import SottoError
from sotto.runner.residents import is_same_model
from sotto.store.records import ModelRecord
from sotto.store.user_templates import read_template_file, save_user_template, template_path
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import Phase, Problem
from sotto.ui.state.names import model_name
from sotto.ui.toolkit.file_dialog import FileDialog
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks


class ModelTemplates(QObject):
    """Assigns and removes chat templates; a loaded model is reloaded with its new template when it is idle."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Manage the templates of the models of `session`."""
        super().__init__(parent)
        self._session = session
        self._tasks: AsyncTasks | None = None

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` to read and write files; nothing happens before."""
        self._tasks = tasks

    @staticmethod
    def has(record: ModelRecord) -> bool:
        """Return whether the user has assigned a template to a model."""
        return template_path(record.digest).exists()

    def choose(self, record: ModelRecord, over: QWidget) -> None:
        """Let the user choose a template file for a model."""
        dialog = FileDialog(over, tr("A template for {name}: Jinja or Go").format(name=model_name(record.name)))
        dialog.setFileMode(FileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.assign(record, Path(path)))
        dialog.open()

    def assign(self, record: ModelRecord, path: Path) -> None:
        """Use the template in the file `path` for a model, from its next load on."""
        if self._tasks is not None:
            self._tasks.start(self._change(self._tasks, record, path))

    def remove(self, record: ModelRecord) -> None:
        """Return to the model's own template, from its next load on."""
        if self._tasks is not None:
            self._tasks.start(self._change(self._tasks, record, None))

    async def _change(self, tasks: "AsyncTasks", record: ModelRecord, path: Path | None) -> None:
        name = model_name(record.name)
        try:
            await tasks.call(partial(_save, record.digest, path))
        except SottoError as error:
            self._session.problem.emit(Problem(tr("{name} keeps its template").format(name=name), error.message))
            return
        state = self._session.state
        is_used = state.record is not None and is_same_model(state.record, record)
        reloads = is_used and state.phase is Phase.READY
        if path is not None:
            title, now = tr("Template set"), tr("It makes the prompts of {name} from now on.")
            later = tr("It makes the prompts of {name} from the next load on.")
        else:
            title, now = tr("Template reset"), tr("{name} uses its own template from now on.")
            later = tr("{name} uses its own template from the next load on.")
        self._session.notice.emit(title, (now if reloads else later).format(name=name))
        if reloads and state.info is not None:
            self._session.reload(state.info.context_length)


def _save(digest: str, path: Path | None) -> None:
    """Check and save the template in a file for a model; without a file, remove the saved one."""
    if path is None:
        save_user_template(digest, "")
        return
    from sotto.engine.prompt.templates import ChatTemplate

    text = read_template_file(path)
    ChatTemplate.custom(text)
    save_user_template(digest, text)

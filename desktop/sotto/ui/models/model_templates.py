"""Template files and adapters that the user assigns to models."""

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from sotto.errors import SottoError
from sotto.runner.residents import is_same_model
from sotto.store.adapters.adapter_files import open_adapter
from sotto.store.adapters.user_adapters import read_user_adapter, save_user_adapter
from sotto.store.printable import printable
from sotto.store.records import ModelRecord
from sotto.store.user_templates import read_template_file, save_user_template, template_path
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import Phase, Problem
from sotto.ui.state.names import model_name
from sotto.ui.toolkit.file_dialog import FileDialog
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

_log = logging.getLogger(__name__)


class _Assigned(QObject):
    """Something that a model is loaded with; a loaded model is reloaded when it is idle."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Manage it for the models of `session`."""
        super().__init__(parent)
        self._session = session
        self._tasks: AsyncTasks | None = None

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` to read and write files; nothing happens before."""
        self._tasks = tasks

    def _will_reload(self, record: ModelRecord) -> bool:
        """Return whether a model is in use, so that it is reloaded at once."""
        state = self._session.state
        return state.record is not None and is_same_model(state.record, record) and state.phase is Phase.READY

    def _reload(self) -> None:
        info = self._session.state.info
        if info is not None:
            self._session.reload(info.context_length)


class ModelTemplates(_Assigned):
    """Assigns and removes chat templates."""

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
        reloads = self._will_reload(record)
        if path is not None:
            title, now = tr("Template set"), tr("It makes the prompts of {name} from now on.")
            later = tr("It makes the prompts of {name} from the next load on.")
        else:
            title, now = tr("Template reset"), tr("{name} uses its own template from now on.")
            later = tr("{name} uses its own template from the next load on.")
        self._session.notice.emit(title, (now if reloads else later).format(name=name))
        if reloads:
            self._reload()


class ModelAdapters(_Assigned):
    """Assigns and removes adapters.

    Signals:
        changed: A record has another adapter, or none any more.
    """

    changed = Signal(object)

    @staticmethod
    def name(record: ModelRecord) -> str:
        """Return the name of the adapter that the user chose for a model; empty for none."""
        try:
            chosen = read_user_adapter(record.digest)
        except SottoError as error:
            # Loading the model reports it.
            _log.info("The adapter of a model cannot be told: %s", error)
            return ""
        return printable(chosen.name) if chosen is not None else ""

    def choose(self, record: ModelRecord, over: QWidget) -> None:
        """Let the user choose the folder of an adapter for a model."""
        dialog = FileDialog(over, tr("The folder of a LoRA adapter for {name}").format(name=model_name(record.name)))
        dialog.setFileMode(FileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda path: self.assign(record, Path(path)))
        dialog.open()

    def assign(self, record: ModelRecord, path: Path) -> None:
        """Add the adapter at `path` to a model, from its next load on."""
        if self._tasks is not None:
            self._tasks.start(self._change(self._tasks, record, path))

    def remove(self, record: ModelRecord) -> None:
        """Use a model without an adapter, from its next load on."""
        if self._tasks is not None:
            self._tasks.start(self._change(self._tasks, record, None))

    async def _change(self, tasks: "AsyncTasks", record: ModelRecord, path: Path | None) -> None:
        name = model_name(record.name)
        try:
            await tasks.call(partial(_save_adapter, record.digest, path))
        except SottoError as error:
            self._session.problem.emit(Problem(tr("{name} keeps its adapter").format(name=name), error.message))
            return
        reloads = self._will_reload(record)
        if path is not None:
            title, now = tr("Adapter added"), tr("{name} answers with it from now on.")
            later = tr("{name} answers with it from the next load on.")
        else:
            title, now = tr("Adapter removed"), tr("{name} answers without one from now on.")
            later = tr("{name} answers without one from the next load on.")
        self._session.notice.emit(title, (now if reloads else later).format(name=name))
        if reloads:
            self._reload()
        self.changed.emit(record)


def _save_adapter(digest: str, path: Path | None) -> None:
    """Check and save the choice of an adapter for a model; None for no adapter."""
    if path is not None:
        from sotto.engine.config.adapter_config import read_adapter_config

        read_adapter_config(open_adapter(path))
    save_user_adapter(digest, path)


def _save(digest: str, path: Path | None) -> None:
    """Check and save the template in a file for a model; without a file, remove the saved one."""
    if path is None:
        save_user_template(digest, "")
        return
    from sotto.engine.prompt.templates import ChatTemplate

    text = read_template_file(path)
    ChatTemplate.custom(text)
    save_user_template(digest, text)

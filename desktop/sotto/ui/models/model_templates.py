"""Template files and adapters that the user assigns to models."""

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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


class _Words(NamedTuple):
    """What is said about a change: its title and effect, now or from the next load on; and when there was none."""

    title: str
    now: str
    later: str
    kept: str


class _Assigned(QObject):
    """Something that a model is loaded with; a loaded model is reloaded when it is idle.

    Signals:
        changed: What belongs to a record has changed.
    """

    changed = Signal(object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Manage it for the models of `session`."""
        super().__init__(parent)
        self._session = session
        self._tasks: AsyncTasks | None = None

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` to read and write files; nothing happens before."""
        self._tasks = tasks

    def assign(self, record: ModelRecord, path: Path) -> None:
        """Use what is at `path` with a model, from its next load on."""
        self._start(record, path)

    def remove(self, record: ModelRecord) -> None:
        """Use a model without what was assigned to it, from its next load on."""
        self._start(record, None)

    def _start(self, record: ModelRecord, path: Path | None) -> None:
        if self._tasks is not None:
            self._tasks.start(self._change(self._tasks, record, path))

    async def _change(self, tasks: "AsyncTasks", record: ModelRecord, path: Path | None) -> None:
        name, words = model_name(record.name), self._words(given=path is not None)
        try:
            await tasks.call(partial(self._save, record.digest, path))
        except SottoError as error:
            self._session.problem.emit(Problem(words.kept.format(name=name), error.message))
            return
        reloads = self._will_reload(record)
        self._session.notice.emit(words.title, (words.now if reloads else words.later).format(name=name))
        if reloads:
            self._reload()
        self.changed.emit(record)

    @staticmethod
    def _save(digest: str, path: Path | None) -> None:
        """Check and save what is assigned to a model; None for nothing."""
        raise NotImplementedError

    @staticmethod
    def _words(*, given: bool) -> "_Words":
        """Return what is said when something was assigned, or removed."""
        raise NotImplementedError

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

    @staticmethod
    def _words(*, given: bool) -> _Words:
        kept = tr("{name} keeps its template")
        if given:
            now = tr("It makes the prompts of {name} from now on.")
            return _Words(tr("Template set"), now, tr("It makes the prompts of {name} from the next load on."), kept)
        now = tr("{name} uses its own template from now on.")
        return _Words(tr("Template reset"), now, tr("{name} uses its own template from the next load on."), kept)

    @staticmethod
    def _save(digest: str, path: Path | None) -> None:
        if path is None:
            save_user_template(digest, "")
            return
        from sotto.engine.prompt.templates import ChatTemplate

        text = read_template_file(path)
        ChatTemplate.custom(text)
        save_user_template(digest, text)


class ModelAdapters(_Assigned):
    """Assigns and removes adapters."""

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

    @staticmethod
    def _words(*, given: bool) -> _Words:
        kept = tr("{name} keeps its adapter")
        if given:
            now = tr("{name} answers with it from now on.")
            return _Words(tr("Adapter added"), now, tr("{name} answers with it from the next load on."), kept)
        now = tr("{name} answers without one from now on.")
        return _Words(tr("Adapter removed"), now, tr("{name} answers without one from the next load on."), kept)

    @staticmethod
    def _save(digest: str, path: Path | None) -> None:
        if path is not None:
            from sotto.engine.config.adapter_config import read_adapter_config

            read_adapter_config(open_adapter(path))
        save_user_adapter(digest, path)

"""What happens behind the sheet in which a model is made: reading, rendering on the way, and making it."""

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from sotto.errors import CancelledError, InvalidNameError, SottoError
from sotto.store.files import is_folder
from sotto.store.records import ModelRecord, ModelSource, Source
from sotto.store.sources.model_names import parse_name
from sotto.ui.models.customizing.customize_sheet import CustomizeSheet
from sotto.ui.models.customizing.recipe_form import RecipeForm
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import Problem
from sotto.ui.state.names import model_name, short_name
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.store.creating.modelfile import Modelfile
    from sotto.store.creating.new_model import Step
    from sotto.ui.timing.async_tasks import AsyncTasks


class Customizing(QObject):
    """Opens the sheet for a model, and makes what it describes, as `sotto create` does.

    Signals:
        made: A model was made; its name.
    """

    made = Signal(str)
    _told = Signal(str)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Make models from those of `session`."""
        super().__init__(parent)
        self._session = session
        self._tasks: AsyncTasks | None = None
        self._stop = threading.Event()
        self._renderings = 0
        self.sheet: CustomizeSheet | None = None
        self._told.connect(self._show_step)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` to read and write files; nothing happens before."""
        self._tasks = tasks

    def close(self) -> None:
        """Stop making a model."""
        self._stop.set()

    @staticmethod
    def can(record: ModelRecord) -> bool:
        """Return whether another model can be made from a model."""
        return record.runnable and record.present

    def open(self, record: ModelRecord, over: QWidget) -> None:
        """Open the sheet for a model, once its small files are read."""
        if self._tasks is not None and self.sheet is None:
            self._tasks.start(self._open(self._tasks, record, over))

    async def _open(self, tasks: "AsyncTasks", record: ModelRecord, over: QWidget) -> None:
        from sotto.runner.sample_prompt import own_template
        from sotto.store.opening import open_texts

        try:
            source = await tasks.call(open_texts, record)
            template = await tasks.call(own_template, source)
        except SottoError as error:
            title = tr("{name} cannot be customized").format(name=model_name(record.name))
            self._session.problem.emit(Problem(title, error.message))
            return
        form = RecipeForm(_free_name(record, self._names), source.system, source.params, template)
        title = tr("Customize {name}").format(name=model_name(record.name))
        sheet = self.sheet = CustomizeSheet(over.window(), title, form)
        form.name_changed.connect(self._check_name)
        form.changed.connect(partial(self._render, source))
        sheet.wanted.connect(partial(self._create, record))
        sheet.stopped.connect(self._close)
        sheet.open()
        self._check_name()
        self._render(source)

    @Slot()
    def _close(self) -> None:
        self._stop.set()
        if self.sheet is not None:
            self.sheet.deleteLater()
            self.sheet = None

    @property
    def _names(self) -> set[str]:
        places = (place for record in self._session.library.models for place in record.places)
        return {place.name for place in places if place.source is Source.SOTTO}

    @Slot()
    def _check_name(self) -> None:
        """Say if the name is invalid or taken; only an invalid one cannot be used."""
        sheet = self.sheet
        if sheet is None:
            return
        text = sheet.form.name.text().strip()
        try:
            name = parse_name(text).short if text else ""
        except InvalidNameError as error:
            sheet.form.show_name_note(error.message, wrong=True)
            sheet.make.setEnabled(False)
            return
        taken = tr("There is one of this name; it will be replaced.") if name in self._names else ""
        sheet.form.show_name_note(taken)
        sheet.make.setEnabled(bool(name))

    def _render(self, source: ModelSource) -> None:
        if self._tasks is not None and self.sheet is not None:
            self._renderings += 1
            self._tasks.start(self._show_rendering(self._tasks, source, self._renderings))

    async def _show_rendering(self, tasks: "AsyncTasks", source: ModelSource, number: int) -> None:
        from sotto.runner.sample_prompt import sample_prompt

        assert self.sheet is not None  # it was there when this was started
        form = self.sheet.form
        said = (tr("Hello! Who are you?"), tr("I am here to help."), tr("What is the capital of France?"))
        text, why = "", ""
        try:
            text = await tasks.call(sample_prompt, source, form.system_text, form.template_text or "", said)
        except SottoError as error:
            why = error.message
        # Another may have been begun, or the sheet closed, meanwhile.
        if number == self._renderings and self.sheet is not None and self.sheet.form is form:
            form.show_preview(text, why)

    def _create(self, record: ModelRecord) -> None:
        if self._tasks is not None and self.sheet is not None:
            self._stop = threading.Event()
            self.sheet.show_working(tr("Creating…"))
            self._tasks.start(self._make(self._tasks, record, self.sheet, self._stop))

    async def _make(
        self, tasks: "AsyncTasks", record: ModelRecord, sheet: CustomizeSheet, stop: threading.Event
    ) -> None:
        from sotto.store.creating.modelfile import Modelfile

        form = sheet.form
        name = parse_name(form.name.text().strip()).short
        model = Modelfile(base=record.name, system=form.system_text, template=form.template_text, params=form.params)
        try:
            await tasks.call(_make_model, name, record, model, partial(self._report, stop))
        except CancelledError:
            return
        except SottoError as error:
            if self.sheet is sheet:
                sheet.show_working("")
                sheet.show_error(error.message)
            return
        if self.sheet is sheet:
            sheet.accept()
        self._session.library.rescan()
        self._session.notice.emit(
            tr("{name} was created").format(name=model_name(name)),
            _weights_line(record).format(name=short_name(record.name)),
        )
        self.made.emit(name)

    def _report(self, stop: threading.Event, step: "Step") -> None:
        """Tell of a step, on the thread that works."""
        if stop.is_set():
            raise CancelledError("The sheet was closed.")
        if step.total:
            self._told.emit(f"{100 * step.done // step.total} %")

    @Slot(str)
    def _show_step(self, share: str) -> None:
        if self.sheet is not None and not self.sheet.make.isEnabled():
            self.sheet.line.setText(tr("Copying… {share}").format(share=share))


def _weights_line(record: ModelRecord) -> str:
    # A folder's weights become files of another kind.
    return (
        tr("Its weights were copied from {name}.")
        if is_folder(record.path)
        else tr("It shares its weights with {name}.")
    )


def _make_model(name: str, record: ModelRecord, model: "Modelfile", report: "Callable[[Step], None]") -> None:
    from sotto.runner.model_making import check_options, create_model

    check_options(model)
    create_model(name, model, report, found=record)


def _free_name(record: ModelRecord, taken: set[str]) -> str:
    """Return a name for a new model: that of the old one with a word or a number after it."""
    stem = short_name(record.name).partition("@")[0].partition(":")[0]
    names = (f"my-{stem}", *(f"my-{stem}-{number}" for number in range(2, 1000)))
    return next((name for name in names if f"{name}:latest" not in taken), stem)

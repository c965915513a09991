"""The sheet that asks how a model is imported."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from sotto.errors import InvalidNameError, SottoError
from sotto.store.sources.model_names import parse_name
from sotto.ui.models.model_imports.import_job import ImportJob
from sotto.ui.state import wording
from sotto.ui.state.names import home_path, join_sentences, model_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.announcements import announce
from sotto.ui.toolkit.form_rows import ChoiceButton, FormGroup, FormRow, Switch
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import ElidedLabel, EscapableLineEdit, Label, TextButton, restyle

if TYPE_CHECKING:
    from sotto.store.importing.import_plan import ImportPlan
    from sotto.ui.timing.async_tasks import AsyncTasks

_WIDTH, _FIELD_WIDTH = 460, 230
_NOT_IN_NAMES = re.compile(r"[^a-z0-9._-]+")
_LONGEST_NAME = 80


def suggested_name(source: Path, quantization: str) -> str:
    """Return a name for an imported model, after its folder or file and the quantization."""
    stem = source.stem if source.suffix.lower() == ".gguf" else source.name
    name = _NOT_IN_NAMES.sub("-", stem.lower()).strip("._-")[:_LONGEST_NAME] or "model"
    return f"{name}:{quantization}" if quantization else name


class ImportSheet(QDialog):
    """Asks for the name and the quantization, and shows what they lead to before anything is written.

    Signals:
        submitted: The user wants the import (`ImportJob`).
        open_wanted: The user wants to load the model where it is (its path).
    """

    submitted = Signal(object)
    open_wanted = Signal(object)

    def __init__(
        self,
        parent: QWidget,
        source: Path,
        tasks: "AsyncTasks",
        refuse: Callable[[str], str],
        free: Callable[[], int | None],
    ) -> None:
        """Create the sheet over `parent`, hidden; it is deleted when it is closed.

        Args:
            parent: The window.
            source: The folder or file to import.
            tasks: Runs the prediction.
            refuse: Given a model's name, returns why it cannot be used, in a sentence; empty if it can.
            free: Returns the bytes of memory that are free for a model; None if unknown.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setObjectName("importSheet")
        self.setWindowTitle(tr("Import a model"))
        self._source, self._tasks, self._refuse, self._free = source, tasks, refuse, free
        self._quantization, self._named, self._round = "", False, 0
        self._size = 0
        self.heading = ElidedLabel(
            tr("Import {name}").format(name=source.name), "heading", where=Qt.TextElideMode.ElideMiddle
        )
        self.path = ElidedLabel(home_path(source), "caption", where=Qt.TextElideMode.ElideMiddle)
        self.field = EscapableLineEdit(tr("Name of the model"))
        self.field.setObjectName("value")
        self.field.setText(suggested_name(source, ""))
        self.field.setMinimumWidth(theme.current().scaled(_FIELD_WIDTH))
        self.field.textEdited.connect(self._note_name)
        self.field.textChanged.connect(self._show_error)
        self.field.escaped.connect(self.reject)
        self.quantization = ChoiceButton(tr("Quantization"), self._choices())
        self.quantization.chosen.connect(self.choose)
        self.quantization.show_value("")
        self.measure = Switch(tr("Measure the quality"))
        self.measure.setEnabled(False)
        self.outcome = Label(tr("Reading the model…"), "caption", wrap=True)
        self.memory = Label("", "caption", wrap=True)
        self.error = Label("", "error", wrap=True)
        self.in_place = TextButton(tr("Use where it is"), "outlined")
        self.in_place.clicked.connect(self._open)
        self.stop = TextButton(tr("Cancel"), "outlined")
        self.stop.clicked.connect(self.reject)
        self.accept_button = TextButton(tr("Import"), "primary")
        self.accept_button.clicked.connect(self._submit)
        self.accept_button.setDefault(True)
        self.accept_button.setEnabled(False)
        self._arrange()
        self.field.selectAll()
        self.field.setFocus()
        self._predict()

    def _choices(self) -> Mapping[object, str]:
        eight, four = tr("8 bits ({name})"), tr("4 bits ({name})")
        return {
            "": tr("Keep as it is"),
            **{name: eight.format(name=name) for name in ("int8", "mxfp8")},
            **{name: four.format(name=name) for name in ("int4", "mxfp4", "nvfp4")},
        }

    def _arrange(self) -> None:
        group = FormGroup(tr("Import a model"))
        hint = tr("Against the original, when it is imported")
        for row in (
            FormRow(tr("Name"), control=self.field),
            FormRow(tr("Quantization"), control=self.quantization),
            FormRow(tr("Measure the quality"), hint, self.measure),
        ):
            group.add(row)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.GAP_8)
        buttons.addWidget(self.in_place)
        buttons.addStretch(1)
        buttons.addWidget(self.stop)
        buttons.addWidget(self.accept_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_24, theme.GAP_24, theme.GAP_24, theme.GAP_16)
        layout.setSpacing(theme.GAP_4)
        layout.addWidget(self.heading)
        layout.addWidget(self.path)
        layout.addSpacing(theme.GAP_12)
        layout.addWidget(group)
        layout.addSpacing(theme.GAP_8)
        for label in (self.outcome, self.memory, self.error):
            layout.addWidget(label)
        layout.addStretch(1)
        layout.addSpacing(theme.GAP_12)
        layout.addLayout(buttons)
        self.error.hide()
        self.memory.hide()
        self.setMinimumWidth(theme.current().scaled(_WIDTH))

    def choose(self, quantization: str) -> None:
        """Choose a quantization, and predict what it leads to."""
        self._quantization = quantization
        self.quantization.show_value(quantization)
        self.measure.setEnabled(bool(quantization))
        if not quantization:
            self.measure.setChecked(False)
        if not self._named:
            self.field.setText(suggested_name(self._source, quantization))
        self._predict()

    def _note_name(self) -> None:
        self._named = True

    # Prediction

    def _predict(self) -> None:
        self._round += 1
        self._size = 0
        self.outcome.setText(tr("Reading the model…"))
        restyle(self.outcome, "role", "caption")
        self.memory.hide()
        self._show_error()
        self._tasks.start(self._show_plan(self._round))

    async def _show_plan(self, number: int) -> None:
        try:
            plan = await self._tasks.call(_plan, self._source, self._quantization)
        except SottoError as error:
            if number == self._round:
                self.outcome.setText(error.message)
                restyle(self.outcome, "role", "error")
                announce(self, error.message)
                self._fit()
            return
        # A later choice has its own prediction.
        if number == self._round:
            self._size = plan.size
            self._show_outcome(plan.size, plan.notes)
            self._show_error()

    def _show_outcome(self, size: int, notes: tuple[str, ...]) -> None:
        line = tr("It will take {size} on the disk.").format(size=wording.size(size))
        self.outcome.setText(join_sentences((line, *notes)))
        free = self._free()
        self.memory.setVisible(free is not None)
        if free is not None:
            needs, fits = tr("Its weights need {size} of memory, and {free} are free."), size <= free
            text = needs.format(size=wording.size(size), free=wording.size(free))
            verdict = tr("It fits.") if fits else tr("It does not fit now; fewer bits may help.")
            self.memory.setText(join_sentences((text, verdict)))
            restyle(self.memory, "role", "caption" if fits else "warn")
        announce(self, f"{self.outcome.text()} {self.memory.text()}")
        self._fit()

    def _fit(self) -> None:
        """Make the sheet as high as its texts need; it does not shrink under the pointer."""
        layout = self.layout()
        assert layout is not None
        layout.activate()
        self.resize(self.width(), max(self.height(), layout.totalHeightForWidth(self.width())))

    # Ends

    def _show_error(self) -> None:
        """Show why the name cannot be used, and allow the import only if nothing is wrong."""
        try:
            message = self._refuse(parse_name(self.field.text().strip()).short)
        except InvalidNameError as error:
            message = error.message if self.field.text().strip() else ""
            self.accept_button.setEnabled(False)
        else:
            self.accept_button.setEnabled(not message and self._size > 0)
        self.error.setText(message)
        self.error.setVisible(bool(message))
        self.field.setAccessibleDescription(message)
        self._fit()

    def _submit(self) -> None:
        name = parse_name(self.field.text().strip()).short
        self.submitted.emit(ImportJob(name, self._source, self._quantization, self.measure.isChecked()))
        self.accept()

    def _open(self) -> None:
        self.open_wanted.emit(self._source)
        self.accept()

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the height to the width."""
        super().showEvent(event)
        self._fit()

    def done(self, result: int) -> None:
        """Close the sheet; a prediction that is under way is of no use any more."""
        self._round += 1
        super().done(result)


def _plan(source: Path, quantization: str) -> "ImportPlan":
    from sotto.engine.quantizing.importer import plan_import

    return plan_import(source, quantization)


def name_taken(name: str) -> str:
    """Return why a name cannot be used that a model has already."""
    return tr("There is a model {name} already; choose another name.").format(name=model_name(name))

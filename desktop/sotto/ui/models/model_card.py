"""More about a model: where it is, what it can, how it would lie in memory, and how long its context is to be."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QSlider, QVBoxLayout, QWidget

from sotto.runner.residents import same
from sotto.store.records import ModelRecord
from sotto.ui.models.memory_planner import MemoryPlanner
from sotto.ui.models.model_description import FIT_SIGNS, abilities, model_facts, projection_line, source_names
from sotto.ui.models.model_notes import ModelNotes
from sotto.ui.models.model_row import ABSENT
from sotto.ui.models.state_line import loading_line
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit, MachineMemory, Projection, context_steps
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import home_path, model_name, short_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, IconLabel, Label, TextButton

_WIDTH = 348
_CALM_MS = 250
_SLIDER = 22


class ModelCard(QFrame):
    """A panel beside the list, about one model.

    Signals:
        load_wanted: A record should be loaded, with so many tokens of context (None as the model says), and whether
            even where it does not fit.
        eject_wanted: The model should leave memory.
        stop_wanted: Its load should stop.
        menu_wanted: What else can be done with a record is asked for, at this place on the screen.
        previewed: The projection of the model in view, with its name; None where there is nothing to plan.
        closed: The panel is to go away.
    """

    load_wanted = Signal(object, object, bool)
    eject_wanted = Signal(object)
    stop_wanted = Signal(object)
    menu_wanted = Signal(object, QPoint)
    previewed = Signal(str, object)
    closed = Signal()

    def __init__(self, book: ModelNotes, planner: MemoryPlanner, state_of: Callable[[ModelRecord], ModelState]) -> None:
        """Begin hidden; `state_of` tells how a model stands."""
        super().__init__()
        self.setObjectName("modelCard")
        self._book, self._planner = book, planner
        self._state_of = state_of
        self._steps: tuple[int, ...] = ()
        self._offered: int | None = None
        self.record: ModelRecord | None = None
        self.name = Label("", "strong", wrap=True)
        self.star = IconButton("star", "Favourite")
        self.star.setCheckable(True)
        self.star.clicked.connect(self._mark)
        self.close_button = IconButton("close", "Close the details")
        self.close_button.clicked.connect(self.closed)
        self._pills = QHBoxLayout()
        self._kind = Label("", "caption", wrap=True)
        self._abilities = Label("", "caption", wrap=True)
        self._path = ElidedLabel("", "caption")
        self._sign = IconLabel("unknown", "muted", 18)
        self.verdict = Label("", "strong", wrap=True)
        self.sentence = Label("", "caption", wrap=True)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Context length")
        self.slider.setMinimumHeight(_SLIDER)
        self.slider.valueChanged.connect(self._slide)
        self.tokens = Label("", "caption")
        self.numbers: dict[str, Label] = {}
        self.load = TextButton("Load", "primary")
        self.load.clicked.connect(self._act)
        self.more = IconButton("more", "More about this model", role="")
        self.more.clicked.connect(self._show_menu)
        self.pin = IconButton("pin", "Keep loaded", "Keep loaded", tip="Keep it in memory when it is idle")
        self.pin.setCheckable(True)
        self.pin.clicked.connect(self._pin)
        self._plan_part = self._plan_rows()
        # What its texts need is known once they have been laid out.
        self._settled = QTimer(self, singleShot=True, interval=0)
        self._settled.timeout.connect(self.place)
        self._arrange()
        self._chosen = QTimer(self, singleShot=True, interval=_CALM_MS)
        self._chosen.timeout.connect(self._keep_context)
        planner.planned.connect(self._show)
        planner.memory_changed.connect(self._follow)
        book.changed.connect(self._show)
        theme.current().changed.connect(self._show)
        self.hide()

    def _plan_rows(self) -> QWidget:
        part = QWidget()
        grid = QGridLayout(part)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.GAP_8)
        grid.setVerticalSpacing(theme.GAP_4)
        context = QHBoxLayout()
        context.addWidget(Label("Context", "caption"))
        context.addStretch(1)
        context.addWidget(self.tokens)
        grid.addLayout(context, 0, 0, 1, 2)
        grid.addWidget(self.slider, 1, 0, 1, 2)
        for row, title in enumerate(("Weights", "Context", "While computing", "Together", "Predicted", "Holds now"), 2):
            number = Label("", "caption")
            number.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            label = Label(title, "caption")
            label.setBuddy(number)
            grid.addWidget(label, row, 0)
            grid.addWidget(number, row, 1)
            self.numbers[title] = number
            number.setProperty("title", label)
        grid.setColumnStretch(0, 1)
        return part

    def _arrange(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(0)
        top.addWidget(self.name, 1)
        for button in (self.star, self.close_button):
            top.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        fit = QHBoxLayout()
        fit.setSpacing(theme.GAP_8)
        fit.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        said = QVBoxLayout()
        said.setSpacing(2)
        said.addWidget(self.verdict)
        said.addWidget(self.sentence)
        fit.addLayout(said, 1)
        body = QWidget()
        body.setObjectName("column")
        inside = QVBoxLayout(body)
        inside.setContentsMargins(theme.GAP_16, theme.GAP_8, theme.GAP_12, theme.GAP_8)
        inside.setSpacing(theme.GAP_8)
        inside.addLayout(top)
        self._pills.setSpacing(theme.GAP_4)
        inside.addLayout(self._pills)
        inside.addWidget(self._kind)
        inside.addWidget(self._abilities)
        inside.addWidget(self._path)
        inside.addWidget(_rule())
        inside.addLayout(fit)
        inside.addWidget(self._plan_part)
        self._body = body
        body.installEventFilter(self)
        self._buttons = QWidget()
        bottom = QHBoxLayout(self._buttons)
        bottom.setContentsMargins(theme.GAP_12, theme.GAP_4, theme.GAP_12, theme.GAP_12)
        bottom.addWidget(self.more)
        bottom.addWidget(self.pin)
        bottom.addStretch(1)
        bottom.addWidget(self.load)
        layout = QVBoxLayout(self)
        # What scrolls stays clear of the round corners.
        layout.setContentsMargins(0, theme.GAP_4, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(Scroller(body), 1)
        layout.addWidget(self._buttons)

    # What it is about

    def open(self, record: ModelRecord) -> None:
        """Show a model."""
        if self.isHidden() or self.record is None or not same(self.record, record):
            self._chosen.stop()
            self._offered = None
        self.record = record
        self.show()
        self._show()
        self.raise_()

    def enter(self) -> None:
        """Take the focus, on what can be changed or done."""
        usable = [one for one in (self.slider, self.load, self.close_button) if one.isVisible() and one.isEnabled()]
        usable[0].setFocus(Qt.FocusReason.TabFocusReason)

    def hideEvent(self, event: object) -> None:
        """Plan nothing any more."""
        if self._chosen.isActive():
            self._chosen.stop()
            self._keep_context()
        self.previewed.emit("", None)

    def show_models(self, records: tuple[ModelRecord, ...]) -> None:
        """Follow a model that is known otherwise now; close where it has gone."""
        if self.record is not None and self.isVisible():
            known = next((record for record in records if same(record, self.record)), None)
            if known is None:
                self.closed.emit()
            else:
                self.record = known
                self._show()

    def show_state(self) -> None:
        """Draw the model as it stands now."""
        self._show()

    def _follow(self, memory: MachineMemory) -> None:
        self._show()

    @property
    def _mine(self) -> ModelState:
        return self._state_of(self.record) if self.record is not None else ModelState()

    @property
    def _context(self) -> int | None:
        """The context that the slider stands at; None where there is none to choose."""
        return self._steps[self.slider.value()] if self._steps else None

    def _show(self) -> None:
        record = self.record
        if record is None or self.isHidden():
            return
        self._show_record(record)
        measured = self._planner.measured(record)
        if not self._chosen.isActive():
            projection = self._planner.preview(record, self._book.context_of(record) or self._offered)
            # The slider does not move by itself when memory does.
            self._offered = projection.plan.context if projection.plan else None
            self._steps = context_steps(measured.needs) if measured and measured.needs else ()
            with QSignalBlocker(self.slider):
                self.slider.setRange(0, max(0, len(self._steps) - 1))
                self.slider.setValue(self._step_of(projection))
        else:
            projection = self._planner.preview(record, self._context)
        self._show_projection(record, projection)
        self.place()

    def _step_of(self, projection: Projection) -> int:
        context = projection.plan.context if projection.plan else 0
        return sum(step < context for step in self._steps[:-1])

    def _show_record(self, record: ModelRecord) -> None:
        self.name.setText(model_name(record.name))
        self.setAccessibleName(f"Details of {model_name(record.name)}")
        favourite, pinned = self._book.is_favourite(record), self._book.is_pinned(record)
        self.star.setChecked(favourite)
        self.star.set_icon("star-full" if favourite else "star", "Favourite", "Favourites stand first in the list")
        self.pin.setChecked(pinned)
        self.pin.setText(" Stays loaded" if pinned else " Keep loaded")
        while self._pills.count():
            item = self._pills.takeAt(0)
            if item is not None and (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for name in source_names(record):
            pill = Label(name, "pill")
            self._pills.addWidget(pill)
            # A layout counts what is shown, and would show it later.
            pill.show()
        self._pills.addStretch(1)
        self._kind.setText(model_facts(record))
        self._abilities.setText(abilities(record))
        self._abilities.setVisible(bool(self._abilities.text()))
        self._path.setText(home_path(record.path))
        self._path.setVisible(not record.builtin)

    def _show_projection(self, record: ModelRecord, projection: Projection) -> None:
        mine, plan = self._mine, projection.plan
        usable = record.runnable and record.present
        icon, color = FIT_SIGNS[projection.fit] if usable else ("absent", "muted")
        if mine.loaded:
            icon, color = "fits", "accent_text"
        self._sign.show_icon(icon, color)
        self.verdict.setText(self._headline(record, projection))
        self.sentence.setText(self._explanation(record, projection))
        self.sentence.setVisible(bool(self.sentence.text()))
        shown = usable and plan is not None and bool(self._steps)
        self._plan_part.setVisible(shown)
        if plan is not None and shown:
            self.tokens.setText(f"{wording.count(plan.context)} tokens")
            self.slider.setAccessibleDescription(f"{wording.count(plan.context)} tokens")
            self.slider.setEnabled(not mine.loaded and mine.phase is not Phase.LOADING)
            unknown, budget = "unknown", plan.limits.budget
            together = unknown if plan.needed is None else wording.size(plan.needed)
            self._tell("Weights", wording.size(plan.weights))
            self.numbers["Weights"].setToolTip(f"Held as {plan.repacked}" if plan.repacked else "")
            self._tell("Context", unknown if plan.cache is None else wording.size(plan.cache))
            self._tell("While computing", unknown if plan.work is None else wording.size(plan.work))
            self._tell("Together", together if budget is None else f"{together} of {wording.size(budget)}")
            predicted = self._planner.predicted(record) if mine.actual else 0
            self._tell("Predicted", wording.size(predicted) if predicted else "")
            self._tell("Holds now", wording.size(mine.actual) if mine.actual else "")
        self._show_button(usable, projection)
        planned = projection if shown and not mine.loaded else None
        self.previewed.emit(short_name(record.name), planned)

    def _headline(self, record: ModelRecord, projection: Projection) -> str:
        if not record.present:
            return ABSENT
        if not record.runnable:
            return "Cannot run here"
        if self._mine.loaded:
            return "Loaded"
        return "Not known whether it fits" if projection.fit is Fit.UNKNOWN else projection.fit.value

    def _explanation(self, record: ModelRecord, projection: Projection) -> str:
        if not record.present:
            return "It comes back as soon as its disk does."
        if not record.runnable:
            return record.reason
        if self._mine.loaded:
            return self._mine.info.template_note if self._mine.info else ""
        if self._mine.phase is Phase.LOADING:
            return loading_line(self._mine)
        return projection_line(projection, self._planner.memory)

    def _tell(self, title: str, text: str) -> None:
        number = self.numbers[title]
        number.setText(text)
        number.setVisible(bool(text))
        number.property("title").setVisible(bool(text))

    def _show_button(self, usable: bool, projection: Projection) -> None:
        mine = self._mine
        text = "Load anyway" if projection.needs_confirmation else "Load"
        if mine.loaded:
            text = "Eject"
        elif mine.phase is Phase.LOADING:
            text = "Stop"
        self.load.setText(text)
        self.load.setAccessibleName(f"{text} {self.name.text()}")
        self.load.setProperty("role", "primary" if text == "Load" else "outlined")
        self.load.style().unpolish(self.load)
        self.load.style().polish(self.load)
        self.load.setVisible(usable and mine.phase is not Phase.UNLOADING)
        self.pin.setVisible(usable)

    # What a person does

    def _slide(self) -> None:
        if self.record is not None and self._context is not None:
            self._chosen.start()
            self._show_projection(self.record, self._planner.preview(self.record, self._context))

    def _keep_context(self) -> None:
        if self.record is not None and self._context is not None:
            self._planner.choose_context(self.record, self._context)

    def _act(self) -> None:
        if self.record is None:
            return
        if self._chosen.isActive():
            self._chosen.stop()
            self._keep_context()
        if self._mine.loaded:
            self.eject_wanted.emit(self.record)
        elif self._mine.phase is Phase.LOADING:
            self.stop_wanted.emit(self.record)
        else:
            self.load_wanted.emit(self.record, self._context, self.load.text() == "Load anyway")

    def _mark(self) -> None:
        if self.record is not None:
            self._book.mark_favourite(self.record, favourite=self.star.isChecked())

    def _pin(self) -> None:
        if self.record is not None:
            self._book.pin(self.record, pinned=self.pin.isChecked())

    def _show_menu(self) -> None:
        if self.record is not None:
            self.menu_wanted.emit(self.record, self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go away with Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)

    # Where it stands

    def beside(self, sidebar: QWidget, row: QRect) -> None:
        """Stand beside the sidebar, at the height of a row, from now on."""
        self._sidebar, self._row = sidebar, row
        self.place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the size that the texts need whenever that changes."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._settled.start()
        return super().eventFilter(watched, event)

    def place(self) -> None:
        """Take the place and the size that there is room for."""
        parent = self.parentWidget()
        if parent is None or self.isHidden() or not hasattr(self, "_sidebar"):
            return
        width = min(theme.current().scaled(_WIDTH), parent.width() - self._sidebar.width() - 2 * theme.GAP_8)
        edges = self.size() - self.contentsRect().size()
        inside = self._body.heightForWidth(width - edges.width())
        needed = inside + self._buttons.sizeHint().height() + edges.height() + theme.GAP_4
        height = min(needed, parent.height() - 2 * theme.GAP_8)
        top = max(theme.GAP_8, min(self._row.top(), parent.height() - height - theme.GAP_8))
        left = self._sidebar.geometry().right() + 1 + theme.GAP_8
        if self.isRightToLeft():
            left = self._sidebar.geometry().left() - width - theme.GAP_8
        self.setGeometry(left, top, width, height)


def _rule() -> QFrame:
    rule = QFrame()
    rule.setObjectName("rule")
    rule.setFixedHeight(1)
    return rule

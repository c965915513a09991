"""The model card: a panel with a model's details, its memory plan, and a slider for its context length."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QSlider, QVBoxLayout, QWidget

from sotto.engine.memory.memory_plan import Plan
from sotto.runner.residents import is_same_model
from sotto.store.records import ModelRecord, is_adoptable
from sotto.ui.models.memory_planner import MemoryPlanner
from sotto.ui.models.model_description import abilities, disk_line, model_facts, projection_line, source_names, verdict
from sotto.ui.models.model_notes import ModelNotes
from sotto.ui.models.model_templates import ModelAdapters
from sotto.ui.models.state_line import loading_line
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit, Projection, context_steps
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import home_path, model_name, short_name
from sotto.ui.state.seeing_models import blindness
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, IconLabel, Label, TextButton, restyle

if TYPE_CHECKING:
    from sotto.store.disk_use import DiskUse

_WIDTH = 348
# The context is saved when the slider has not moved for this time.
_SAVE_MS = 250
_SLIDER_HEIGHT = 22
_TITLES = {
    "weights": QT_TR_NOOP("Weights"),
    "context": QT_TR_NOOP("Context"),
    "work": QT_TR_NOOP("While computing"),
    "together": QT_TR_NOOP("Together"),
    "predicted": QT_TR_NOOP("Predicted"),
    "actual": QT_TR_NOOP("In use now"),
}


class ModelCard(QFrame):
    """A panel beside the list, with the details of one model.

    Signals:
        load_wanted: The user wants to load the record, with a context length in tokens (None for the default), and
            whether even if it does not fit.
        eject_wanted: The user wants to unload the record.
        stop_wanted: The user wants to stop loading the record.
        keep_wanted: The user wants to keep a copy of the record, which is another program's.
        menu_wanted: The user wants the menu of the record, at a position on the screen.
        adapter_wanted: The user wants to choose an adapter for the record.
        adapter_unwanted: The user wants the record without its adapter.
        previewed: Name and projection of the model on the card; None if there is nothing to plan.
        closed: The user closed the card.
        hidden: The card has been hidden.
    """

    load_wanted = Signal(object, object, bool)
    eject_wanted = Signal(object)
    stop_wanted = Signal(object)
    keep_wanted = Signal(object)
    menu_wanted = Signal(object, QPoint)
    adapter_wanted = Signal(object)
    adapter_unwanted = Signal(object)
    previewed = Signal(str, object)
    closed = Signal()
    hidden = Signal()

    def __init__(
        self, notes: ModelNotes, planner: MemoryPlanner, state_of: Callable[[ModelRecord], ModelState]
    ) -> None:
        """Create the card, hidden.

        Args:
            notes: The user's choices about models.
            planner: Plans how each model would fit into memory.
            state_of: Returns the state of a model.
        """
        super().__init__()
        self.setObjectName("modelCard")
        self._notes, self._planner = notes, planner
        self._state_of = state_of
        self._steps: tuple[int, ...] = ()
        self.record: ModelRecord | None = None
        self.name = Label("", "strong", wrap=True)
        self.star = IconButton("star", tr("Favourite"))
        self.star.setCheckable(True)
        self.star.clicked.connect(self._toggle_favourite)
        self.close_button = IconButton("close", tr("Close details"))
        self.close_button.clicked.connect(self.closed)
        self.pills = QHBoxLayout()
        self.facts = Label("", "caption", wrap=True)
        self.abilities = Label("", "caption", wrap=True)
        self.blindness = Label("", "caption", wrap=True)
        self._path = ElidedLabel("", "caption")
        self.adapter = Label("", "caption", wrap=True)
        self.adapt = TextButton(tr("Add adapter…"))
        self.adapt.clicked.connect(self._add_or_remove_adapter)
        self._disk_use: DiskUse | None = None
        self.disk = Label("", "caption", wrap=True)
        tip = tr("Keep the model in Sotto’s own store, so that it stays when the other program deletes it")
        self.keep = TextButton(tr("Keep a copy…"))
        self.keep.setToolTip(tip)
        self.keep.clicked.connect(lambda: self.keep_wanted.emit(self.record))
        self._icon = IconLabel("unknown", "muted", 18)
        self.verdict = Label("", "strong", wrap=True)
        self.sentence = Label("", "caption", wrap=True)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(tr("Context length"))
        self.slider.setMinimumHeight(_SLIDER_HEIGHT)
        self.slider.valueChanged.connect(self._slide)
        self.tokens = Label("", "caption")
        self.numbers: dict[str, Label] = {}
        self.load = TextButton(tr("Load"), "primary")
        # Whether the button that loads says that the model may not fit.
        self._warned = False
        self.load.clicked.connect(self._load_or_eject)
        self.more = IconButton("more", tr("More about this model"), role="")
        self.more.clicked.connect(self._show_menu)
        tip = tr("Keep the model in memory when it is idle")
        self.pin = IconButton("pin", tr("Keep loaded"), tr("Keep loaded"), tip=tip)
        self.pin.setCheckable(True)
        self.pin.clicked.connect(self._toggle_pinned)
        self.plan_rows = self._make_plan_rows()
        # The height of the texts is known only after they have been laid out.
        self._layout_timer = QTimer(self, singleShot=True, interval=0)
        self._layout_timer.timeout.connect(self.place)
        self._arrange()
        self._save_timer = QTimer(self, singleShot=True, interval=_SAVE_MS)
        self._save_timer.timeout.connect(self._save_context)
        planner.planned.connect(self._show)
        notes.changed.connect(self._show)
        theme.current().changed.connect(self._show)
        self.hide()

    def _make_plan_rows(self) -> QWidget:
        part = QWidget()
        grid = QGridLayout(part)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.GAP_8)
        grid.setVerticalSpacing(theme.GAP_4)
        context = QHBoxLayout()
        context.addWidget(Label(tr("Context"), "caption"))
        context.addStretch(1)
        context.addWidget(self.tokens)
        grid.addLayout(context, 0, 0, 1, 2)
        grid.addWidget(self.slider, 1, 0, 1, 2)
        for row, (name, title) in enumerate(_TITLES.items(), 2):
            number = Label("", "caption")
            number.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            label = Label(tr(title), "caption")
            label.setBuddy(number)
            grid.addWidget(label, row, 0)
            grid.addWidget(number, row, 1)
            self.numbers[name] = number
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
        fit.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.verdict)
        texts.addWidget(self.sentence)
        fit.addLayout(texts, 1)
        body = QWidget()
        body.setObjectName("column")
        inside = QVBoxLayout(body)
        inside.setContentsMargins(theme.margins(theme.GAP_16, theme.GAP_8, theme.GAP_12, theme.GAP_8))
        inside.setSpacing(theme.GAP_8)
        inside.addLayout(top)
        self.pills.setSpacing(theme.GAP_4)
        inside.addLayout(self.pills)
        inside.addWidget(self.facts)
        inside.addWidget(self.abilities)
        inside.addWidget(self.blindness)
        inside.addWidget(self._path)
        adapter = QHBoxLayout()
        adapter.addWidget(self.adapter, 1)
        adapter.addWidget(self.adapt)
        inside.addLayout(adapter)
        inside.addWidget(self.disk)
        inside.addWidget(self.keep, 0, Qt.AlignmentFlag.AlignLeading)
        inside.addWidget(_make_rule())
        inside.addLayout(fit)
        inside.addWidget(self.plan_rows)
        inside.addStretch(1)
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
        # The scrolled content must not cover the rounded corners.
        layout.setContentsMargins(0, theme.GAP_4, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(Scroller(body), 1)
        layout.addWidget(self._buttons)

    # Model and state

    def open(self, record: ModelRecord) -> None:
        """Show the card of a model."""
        if self.isHidden() or self.record is None or not is_same_model(self.record, record):
            self._end_slide()
        self.record = record
        self.show()
        self._show()
        self.raise_()

    def take_focus(self) -> None:
        """Focus the first usable control."""
        controls = (self.slider, self.load, self.close_button)
        usable = (control for control in controls if control.isVisible() and control.isEnabled())
        next(usable).setFocus(Qt.FocusReason.TabFocusReason)

    def hideEvent(self, event: object) -> None:
        """Save the chosen context, and end the preview."""
        self._end_slide()
        self._planner.release_context()
        self.previewed.emit("", None)
        self.hidden.emit()

    def show_models(self, records: tuple[ModelRecord, ...]) -> None:
        """Update the record of the model; close the card if the model is gone."""
        if self.record is not None and self.isVisible():
            known = next((record for record in records if is_same_model(record, self.record)), None)
            if known is None:
                self.closed.emit()
            else:
                self.record = known
                self._show()

    def show_disk_use(self, use: "DiskUse") -> None:
        """Show the disk space of the model, and what deleting it frees."""
        self._disk_use = use
        self._show()

    def show_state(self) -> None:
        """Show the current state of the model."""
        self._show()

    @property
    def _model_state(self) -> ModelState:
        return self._state_of(self.record) if self.record is not None else ModelState()

    @property
    def _context(self) -> int | None:
        """Context length in tokens at the slider; None if there is nothing to choose."""
        return self._steps[self.slider.value()] if self._steps else None

    def _show(self) -> None:
        record = self.record
        if record is None or self.isHidden():
            return
        self._show_record(record)
        measured = self._planner.measured(record)
        if not self._save_timer.isActive():
            # Held, to keep the slider from moving by itself when free memory changes.
            projection = self._planner.hold_context(record)
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
        self.setAccessibleName(tr("Details of {name}").format(name=model_name(record.name)))
        favourite, pinned = self._notes.is_favourite(record), self._notes.is_pinned(record)
        self.star.setChecked(favourite)
        icon = "star-full" if favourite else "star"
        self.star.set_icon(icon, tr("Favourite"), tr("Favourites come first in the list"))
        self.pin.setChecked(pinned)
        self.pin.setText(" " + (tr("Stays loaded") if pinned else tr("Keep loaded")))
        while self.pills.count():
            item = self.pills.takeAt(0)
            if item is not None and (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for name in source_names(record):
            pill = Label(name, "pill")
            self.pills.addWidget(pill)
            # Shown at once, because the layout ignores hidden widgets when it computes the size.
            pill.show()
        self.pills.addStretch(1)
        self.facts.setText(model_facts(record))
        self.abilities.setText(abilities(record, self._model_state.info))
        self.abilities.setVisible(bool(self.abilities.text()))
        self.blindness.setText(blindness(record, self._model_state.info))
        self.blindness.setVisible(bool(self.blindness.text()))
        self._path.setText(home_path(record.path))
        self._path.setVisible(not record.builtin)
        adapter = ModelAdapters.name(record)
        self.adapter.setText(tr("Adapter: {name}").format(name=adapter) if adapter else tr("No adapter"))
        self.adapt.setText(tr("Remove adapter") if adapter else tr("Add adapter…"))
        self.adapt.setAccessibleName(self.adapt.text())
        for part in (self.adapter, self.adapt):
            part.setVisible(record.runnable and record.present)
        self.disk.setText(disk_line(record, self._disk_use) if self._disk_use else "")
        self.disk.setVisible(bool(self.disk.text()))
        self.keep.setVisible(is_adoptable(record))

    def _show_projection(self, record: ModelRecord, projection: Projection) -> None:
        state, plan = self._model_state, projection.plan
        usable = record.runnable and record.present
        shown = verdict(record, state, projection.fit)
        assert shown is not None
        self._icon.show_icon(shown.icon, shown.color)
        self.verdict.setText(tr("Unknown whether it fits") if shown.fit is Fit.UNKNOWN else shown.word)
        self.sentence.setText(self._explanation(record, projection))
        self.sentence.setVisible(bool(self.sentence.text()))
        planned = usable and plan is not None and bool(self._steps)
        self.plan_rows.setVisible(planned)
        if plan is not None and planned:
            tokens = tr("1 token|{count} tokens", "", plan.context).format(count=wording.count(plan.context))
            self.tokens.setText(tokens)
            self.slider.setAccessibleDescription(tokens)
            self.slider.setEnabled(not state.loaded and state.phase is not Phase.LOADING)
            self._show_plan(plan)
            predicted = self._planner.predicted(record) if state.actual else 0
            self._set_number("predicted", wording.size(predicted) if predicted else "")
            self._set_number("actual", wording.size(state.actual) if state.actual else "")
        self._show_button(usable, projection)
        self.previewed.emit(short_name(record.name), projection if planned and not state.loaded else None)

    def _show_plan(self, plan: Plan) -> None:
        converted = tr("Converted to {format}").format(format=plan.repacked) if plan.repacked else ""
        self.numbers["weights"].setToolTip(converted)
        together, budget = _size(plan.needed), plan.limits.budget
        if plan.needed is not None and budget is not None:
            together = tr("{needed} of {total}").format(needed=together, total=wording.size(budget))
        self._set_number("weights", wording.size(plan.weights))
        self._set_number("context", _size(plan.cache))
        self._set_number("work", _size(plan.work))
        self._set_number("together", together)

    def _explanation(self, record: ModelRecord, projection: Projection) -> str:
        if not record.present:
            return tr("It will be available again once its disk is connected.")
        if not record.runnable:
            return record.reason
        if self._model_state.loaded:
            return self._model_state.info.template_note if self._model_state.info else ""
        if self._model_state.phase is Phase.LOADING:
            return loading_line(self._model_state)
        if self._model_state.phase is Phase.FAILED:
            return self._model_state.reason
        return projection_line(projection, self._planner.memory)

    def _set_number(self, name: str, text: str) -> None:
        number = self.numbers[name]
        number.setText(text)
        number.setVisible(bool(text))
        number.property("title").setVisible(bool(text))

    def _show_button(self, usable: bool, projection: Projection) -> None:
        state = self._model_state
        self._warned, role = projection.needs_confirmation, "outlined"
        if state.loaded:
            text, name = tr("Eject"), tr("Eject {name}")
        elif state.phase is Phase.LOADING:
            text, name = tr("Stop"), tr("Stop loading {name}")
        elif self._warned:
            text, name = tr("Load anyway"), tr("Load {name} anyway")
        else:
            text, name, role = tr("Load"), tr("Load {name}"), "primary"
        self.load.setText(text)
        self.load.setAccessibleName(name.format(name=self.name.text()))
        restyle(self.load, "role", role)
        self.load.setVisible(usable and state.phase is not Phase.UNLOADING)
        self.pin.setVisible(usable)

    # User actions

    def _slide(self) -> None:
        if self.record is not None and self._context is not None:
            self._save_timer.start()
            self._show_projection(self.record, self._planner.preview(self.record, self._context))

    def _end_slide(self) -> None:
        """Save a context that was chosen just now."""
        if self._save_timer.isActive():
            self._save_timer.stop()
            self._save_context()

    def _save_context(self) -> None:
        if self.record is not None and self._context is not None:
            self._planner.choose_context(self.record, self._context)

    def _load_or_eject(self) -> None:
        if self.record is None:
            return
        self._end_slide()
        if self._model_state.loaded:
            self.eject_wanted.emit(self.record)
        elif self._model_state.phase is Phase.LOADING:
            self.stop_wanted.emit(self.record)
        else:
            self.load_wanted.emit(self.record, self._context, self._warned)

    def _add_or_remove_adapter(self) -> None:
        if self.record is not None:
            chosen = ModelAdapters.name(self.record)
            (self.adapter_unwanted if chosen else self.adapter_wanted).emit(self.record)

    def _toggle_favourite(self) -> None:
        if self.record is not None:
            self._notes.mark_favourite(self.record, favourite=self.star.isChecked())

    def _toggle_pinned(self) -> None:
        if self.record is not None:
            self._notes.pin(self.record, pinned=self.pin.isChecked())

    def _show_menu(self) -> None:
        if self.record is not None:
            self.menu_wanted.emit(self.record, self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)

    # Geometry

    def set_anchor(self, sidebar: QWidget, row: QRect) -> None:
        """Place the card beside `sidebar`, at the height of `row` in the parent's coordinates."""
        self._sidebar, self._row = sidebar, row
        self.place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Resize the card when its texts need another height."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._layout_timer.start()
        return super().eventFilter(watched, event)

    def place(self) -> None:
        """Update the position and the size to the room there is."""
        parent = self.parentWidget()
        if parent is None or self.isHidden() or not hasattr(self, "_sidebar"):
            return
        # Beside the sidebar, or at the edge of the window while that is hidden.
        side = self._sidebar.geometry()
        if self._sidebar.isHidden():
            side = QRect(parent.width() if self.isRightToLeft() else 0, 0, 0, parent.height())
        width = min(theme.current().scaled(_WIDTH), parent.width() - side.width() - 2 * theme.GAP_8)
        edges = self.size() - self.contentsRect().size()
        inside = self._body.heightForWidth(width - edges.width())
        needed = inside + self._buttons.sizeHint().height() + edges.height() + theme.GAP_4
        height = min(needed, parent.height() - 2 * theme.GAP_8)
        top = max(theme.GAP_8, min(self._row.top(), parent.height() - height - theme.GAP_8))
        left = side.left() - width - theme.GAP_8 if self.isRightToLeft() else side.right() + 1 + theme.GAP_8
        self.setGeometry(left, top, width, height)


def _size(nbytes: int | None) -> str:
    return tr("unknown") if nbytes is None else wording.size(nbytes)


def _make_rule() -> QFrame:
    rule = QFrame()
    rule.setObjectName("rule")
    rule.setFixedHeight(1)
    return rule

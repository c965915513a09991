"""The list of models that opens below the name of the model in use."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from sotto.store.records import ModelRecord
from sotto.ui.models.memory_planner import MemoryPlanner
from sotto.ui.models.model_notes import ModelNotes
from sotto.ui.models.model_row import ModelRow
from sotto.ui.state.model_state import ModelState
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import EscapableLineEdit, IconButton, Label

_WIDTH, _MOST_ROWS = 380, 8


class ModelPicker(QFrame):
    """A popup with a filter, the models that can run, the loaded ones first, and a button to get another one.

    Signals:
        chosen: The user has chosen a model (`ModelRecord`).
        get_wanted: The user wants to download a model.
        manage_wanted: The user wants to see the page of models.
    """

    chosen = Signal(object)
    get_wanted = Signal()
    manage_wanted = Signal()

    def __init__(
        self,
        notes: ModelNotes,
        planner: MemoryPlanner,
        state_of: Callable[[ModelRecord], ModelState],
        parent: QWidget,
    ) -> None:
        """Create the popup, hidden.

        Args:
            notes: The user's choices about models, including their order.
            planner: Plans how each model would fit into memory.
            state_of: Returns the state of a model.
            parent: The window.
        """
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setObjectName("picker")
        self.setAccessibleName(tr("Choose a model"))
        self._notes, self._planner, self._state_of = notes, planner, state_of
        self.rows: list[ModelRow] = []
        self.filter = EscapableLineEdit(tr("Filter models"), tr("Filter models…"))
        self.filter.setObjectName("search")
        self.filter.textChanged.connect(self._apply_filter)
        self.filter.returnPressed.connect(self._choose_selected)
        self.filter.escaped.connect(self.hide)
        self.filter.installEventFilter(self)
        self.empty = Label(tr("No model matches."), "caption")
        self._body = QWidget()
        self._body.setObjectName("listBody")
        self._rows = QVBoxLayout(self._body)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(2)
        self._rows.addWidget(self.empty)
        self._rows.addStretch(1)
        self._area = Scroller(self._body)
        self.get = IconButton("drop", tr("Get a model"), tr("Get a model…"), tip=tr("Download a model by name"))
        self.get.clicked.connect(self._get)
        tip = tr("Show all models on a page")
        self.manage = IconButton("table", tr("Manage models"), tr("Manage models…"), tip=tip)
        self.manage.clicked.connect(self._manage)
        frame = QFrame()
        frame.setObjectName("pickerFrame")
        foot = QHBoxLayout()
        foot.addWidget(self.get)
        foot.addStretch(1)
        foot.addWidget(self.manage)
        layout = QVBoxLayout(frame)
        layout.setContentsMargins(theme.GAP_8, theme.GAP_8, theme.GAP_8, theme.GAP_4)
        layout.setSpacing(theme.GAP_8)
        layout.addWidget(self.filter)
        layout.addWidget(self._area, 1)
        layout.addLayout(foot)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(frame)

    def open(self, records: Sequence[ModelRecord], below: QWidget) -> None:
        """Show the models that can run below a widget, or above it where the screen ends."""
        self._make_rows(records)
        self.filter.clear()
        self._apply_filter("")
        row_height = self.rows[0].sizeHint().height() + self._rows.spacing() if self.rows else theme.GAP_32
        rows = max(1, min(len(self.rows), _MOST_ROWS))
        edges = self.filter.sizeHint().height() + self.get.sizeHint().height() + 3 * theme.GAP_8 + theme.GAP_4
        size = QSize(theme.current().scaled(_WIDTH), rows * row_height + edges + theme.GAP_4)
        self.resize(size.boundedTo(below.window().size()))
        self.move(self._place(below))
        self.show()
        self.filter.setFocus(Qt.FocusReason.PopupFocusReason)

    def _place(self, below: QWidget) -> QPoint:
        """Return where the popup is to be on the screen."""
        place = below.mapToGlobal(QPoint(below.width() - self.width() if below.isRightToLeft() else 0, 0))
        screen = below.screen().availableGeometry()
        place.setX(max(screen.left(), min(place.x(), screen.right() + 1 - self.width())))
        under = place.y() + below.height() + theme.GAP_4
        fits = under + self.height() <= screen.bottom() + 1
        place.setY(under if fits else max(screen.top(), place.y() - theme.GAP_4 - self.height()))
        return place

    def _make_rows(self, records: Sequence[ModelRecord]) -> None:
        for row in self.rows:
            row.hide()
            row.deleteLater()
        usable = [record for record in records if record.runnable and record.present]
        ordered = self._notes.sort(usable, lambda record: self._planner.projection(record).fit)
        ordered.sort(key=lambda record: not self._state_of(record).loaded)
        self.rows = [self._make_row(record) for record in ordered]
        for index, row in enumerate(self.rows):
            self._rows.insertWidget(index, row)

    def _make_row(self, record: ModelRecord) -> ModelRow:
        row = ModelRow(record, chooses=True)
        row.show_state(self._state_of(record))
        measured = self._planner.measured(record) is not None
        row.show_fit(self._planner.projection(record).fit if measured else None)
        row.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        row.details_wanted.connect(self._choose)
        return row

    @property
    def _shown(self) -> list[ModelRow]:
        return [row for row in self.rows if not row.isHidden()]

    def _apply_filter(self, text: str) -> None:
        for row in self.rows:
            row.setVisible(row.matches(text))
        shown = self._shown
        self.empty.setVisible(not shown)
        self._select(shown[0] if shown else None)

    def _select(self, chosen: ModelRow | None) -> None:
        for row in self.rows:
            row.setChecked(row is chosen)
        if chosen is not None:
            self._area.ensureWidgetVisible(chosen, 0, 0)

    def _step(self, by: int) -> None:
        shown = self._shown
        current = next((index for index, row in enumerate(shown) if row.isChecked()), -1)
        if shown:
            self._select(shown[max(0, min(len(shown) - 1, current + by))])

    def _choose_selected(self) -> None:
        for row in self._shown:
            if row.isChecked():
                self._choose(row.record)
                return

    def _choose(self, record: ModelRecord) -> None:
        self.hide()
        self.chosen.emit(record)

    def _manage(self) -> None:
        self.hide()
        self.manage_wanted.emit()

    def _get(self) -> None:
        self.hide()
        self.get_wanted.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the selection with the arrow keys while the filter has the focus."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step is not None:
                self._step(step)
                return True
        return super().eventFilter(watched, event)

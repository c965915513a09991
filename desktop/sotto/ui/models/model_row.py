"""One row of the list of models."""

from functools import cached_property

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QEnterEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from sotto.runner.residents import is_same_model
from sotto.store.records import ModelRecord
from sotto.ui.models.model_description import (
    ABSENT,
    FIT_NAMES,
    is_embedder,
    marks,
    matches,
    model_details,
    place_names,
    quantization,
    searched_text,
    source_name,
    verdict,
)
from sotto.ui.models.state_line import loading_line
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import join_names, model_name, short_name
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.theme import GAP_4, GAP_8, GAP_12
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import IconButton, draw_bar, draw_pill, plain_tip

_DOT = 7
_BAR = 3
_MARK = 13


class ModelRow(QAbstractButton):
    """Name, size and memory fit of a model, the progress of its load, and a button to eject it or stop the load.

    Signals:
        load_wanted: The user wants to load the model (Enter).
        double_clicked: The user has clicked a second time; the first click may have been on another row.
        eject_wanted: The user wants to unload it.
        stop_wanted: The user wants to stop loading it.
        details_wanted: The user wants to see the model's card (click or Space).
        entered: The user wants to move the focus to the card (the arrow key that points at it).
        menu_wanted: The user wants the context menu of the record, at a position on the screen.
        step: The user moves the selection with the arrow keys, by -1 or 1.

    Attributes:
        line: What is happening to the model, painted below its name; empty for the following instead.
        verdict: Whether it is loaded or fits; None if nothing is known.
        badges: What distinguishes it from models with the same name.
    """

    load_wanted = Signal(object)
    double_clicked = Signal()
    eject_wanted = Signal()
    stop_wanted = Signal()
    details_wanted = Signal(object)
    entered = Signal(object)
    menu_wanted = Signal(object, QPoint)
    step = Signal(int)

    def __init__(self, record: ModelRecord, *, chooses: bool = False) -> None:
        """Show `record`, not loaded; with `chooses`, a click chooses it, and there are no buttons."""
        super().__init__()
        self.record = record
        self._chooses = chooses
        self.state = ModelState(Phase.FOUND, record)
        self.fit: Fit | None = None
        self._favourite = self._pinned = False
        self._note = ""
        self.badges, self._searched = _badges(record), searched_text(record)
        self.setCheckable(True)
        self.setAutoExclusive(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.clicked.connect(lambda: self.details_wanted.emit(self.record))
        theme.current().changed.connect(self._show)
        self._show()

    # Most rows never need a button, so each is created on first use.

    @cached_property
    def eject(self) -> IconButton:
        """The button that unloads the model."""
        name = tr("Eject {name}").format(name=model_name(self.record.name))
        button = self._make_button("eject", name, tr("Eject and free its memory"))
        button.clicked.connect(self.eject_wanted)
        return button

    @cached_property
    def stop(self) -> IconButton:
        """The button that stops loading the model."""
        name = tr("Stop loading {name}").format(name=model_name(self.record.name))
        button = self._make_button("close", name, tr("Stop loading"))
        button.clicked.connect(self.stop_wanted)
        return button

    def _make_button(self, icon: str, name: str, tip: str) -> IconButton:
        button = IconButton(icon, name, tip=tip)
        button.setParent(self)
        # Connected after the button's own slot, so that the button has its new size when it is placed.
        theme.current().changed.connect(self._place_buttons)
        return button

    def _buttons(self) -> list[QAbstractButton]:
        """Return the buttons that have been created."""
        return [self.__dict__[name] for name in ("eject", "stop") if name in self.__dict__]

    def _set_button_visible(self, name: str, visible: bool) -> None:
        if visible or name in self.__dict__:
            getattr(self, name).setVisible(visible)

    def show_state(self, state: ModelState) -> None:
        """Show the state of the model; a state of another model means that this one is not loaded."""
        is_mine = state.record is not None and is_same_model(state.record, self.record)
        new = state if is_mine else ModelState(Phase.FOUND, self.record)
        if new != self.state:
            self.state = new
            self._show()

    def show_fit(self, fit: Fit | None) -> None:
        """Show whether the model fits into memory; None as long as it has not been measured."""
        if fit is not self.fit:
            self.fit = fit
            self._show()

    def show_marks(self, *, favourite: bool, pinned: bool) -> None:
        """Show whether the model is a favourite, and whether it stays loaded."""
        if (favourite, pinned) != (self._favourite, self._pinned):
            self._favourite, self._pinned = favourite, pinned
            self._show()

    def show_note(self, note: str) -> None:
        """Set the note that is shown while the model is loaded."""
        if note != self._note:
            self._note = note
            self._show()

    @property
    def reason(self) -> str:
        """Why the model cannot run or could not be loaded; empty if it can."""
        return ("" if self.record.present else tr(ABSENT)) or self.record.reason or self.state.reason

    @property
    def _usable(self) -> bool:
        return self.record.runnable and self.record.present

    def matches(self, text: str) -> bool:
        """Return whether the row contains every word of `text`."""
        return matches(self._searched, text)

    def _second_line(self) -> str:
        if self.state.phase is Phase.LOADING:
            return loading_line(self.state)
        if self.state.phase is Phase.UNLOADING:
            return tr("Ejecting…")
        if not self.record.present:
            return tr(ABSENT)
        if self.state.phase is Phase.FAILED:
            return tr("Could not be loaded")
        return ""

    @property
    def _shows_load(self) -> bool:
        """Whether a load is in progress that takes more than a moment."""
        return self.state.phase is Phase.LOADING and self.state.pace.shown

    def _show(self) -> None:
        self.line = self._second_line()
        self.verdict = verdict(self.record, self.state, self.fit) if self.record.runnable else None
        self._marks = marks(self.record, favourite=self._favourite, pinned=self._pinned)
        self._set_button_visible("eject", self.state.loaded and not self._chooses)
        self._set_button_visible("stop", self._shows_load and not self._chooses)
        name, source = model_name(self.record.name), source_name(self.record.source)
        meanings = (tr(meaning) for _, meaning, _ in self._marks)
        self.setAccessibleName(", ".join((name, model_details(self.record), source, *self._status(), *meanings)))
        note = self._note if self.state.loaded else ""
        self.setAccessibleDescription(self.reason or note)
        places = join_names(place_names(self.record))
        self.setToolTip(plain_tip(self.reason or "\n".join(filter(None, (self.record.name, places, note)))))
        self.setFont(theme.current().font())
        self.updateGeometry()
        self._place_buttons()
        self.update()

    def _status(self) -> tuple[str, ...]:
        """Return what is said of the state to screen readers."""
        if not self.record.present:
            return (tr(ABSENT),)
        if not self.record.runnable:
            return (tr("cannot run"),)
        if self.state.loaded:
            return (tr("loaded, answering") if self.state.phase is Phase.GENERATING else tr("loaded"),)
        doing = {Phase.LOADING: tr("loading"), Phase.UNLOADING: tr("ejecting")}.get(self.state.phase, tr("not loaded"))
        return (doing,) if self.fit is None else (doing, tr(FIT_NAMES[self.fit]))

    def _text_area(self) -> QRect:
        return self.rect().adjusted(GAP_12 + _DOT + GAP_8, GAP_8, -GAP_8, -GAP_8)

    def sizeHint(self) -> QSize:
        """Return the height of two lines, in every state: no click may move the rows below this one."""
        return QSize(200, minimum_row_height())

    def minimumSizeHint(self) -> QSize:
        """Return the height of the size hint, so that nothing is cut off."""
        return QSize(80, self.sizeHint().height())

    def _place_buttons(self) -> None:
        for button in self._buttons():
            size = button.sizeHint()
            lines = QFontMetrics(self.font()).height() + GAP_4 + QFontMetrics(_small_font()).height()
            left, top = self.width() - size.width() - GAP_8, GAP_8 + (lines - size.height()) // 2
            button.setGeometry(self._mirrored(QRectF(left, top, size.width(), size.height())).toRect())

    def _mirrored(self, rect: QRectF) -> QRectF:
        """Return a rectangle, mirrored in right-to-left layouts."""
        if self.isRightToLeft():
            rect.moveRight(self.width() - rect.left())
        return rect

    def _draw_text(self, painter: QPainter, rect: QRect, text: str) -> None:
        """Draw text, aligned to the side where reading begins."""
        side = Qt.AlignmentFlag.AlignRight if self.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
        painter.drawText(self._mirrored(QRectF(rect)), side.value | Qt.AlignmentFlag.AlignVCenter.value, text)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the row."""
        tokens, painter = theme.current().tokens, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        ground = tokens.selection if self.isChecked() else tokens.hover if self.underMouse() else ""
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if ground:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(ground))
            painter.drawRoundedRect(box, 8, 8)
        if self.hasFocus():
            painter.setPen(QPen(QColor(tokens.accent), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        self._paint_text(painter)

    def _paint_text(self, painter: QPainter) -> None:
        tokens, area = theme.current().tokens, self._text_area()
        name_font = theme.current().font(1.0, QFont.Weight.Medium)
        big, small = QFontMetrics(name_font), QFontMetrics(_small_font())
        if self.state.loaded:
            dot = QRectF(GAP_12, area.top() + (big.height() - _DOT) / 2, _DOT, _DOT)
            draw_bar(painter, self._mirrored(dot), [(1.0, tokens.accent)], tokens.accent)
        button_width = next((button.width() + GAP_8 for button in self._buttons() if not button.isHidden()), 0)
        room = area.width() - button_width
        painter.setFont(name_font)
        painter.setPen(QColor(tokens.text if self._usable else tokens.muted))
        line = QRect(area.left(), area.top(), room, big.height())
        line.setRight(line.right() - self._paint_marks(painter, line))
        name = big.elidedText(short_name(self.record.name), Qt.TextElideMode.ElideMiddle, line.width())
        self._draw_text(painter, line, name)
        painter.setFont(_small_font())
        line = QRect(area.left(), line.bottom() + 1 + GAP_4, room, small.height())
        self._paint_second_line(painter, line, small)
        if self._shows_load:
            bar = QRectF(area.left(), self.height() - GAP_4 - _BAR, area.width(), _BAR)
            draw_bar(painter, self._mirrored(bar), [(self.state.fraction or 0.0, tokens.accent)], tokens.edge)

    def _paint_marks(self, painter: QPainter, line: QRect) -> int:
        """Draw the icons at the end of the first line, and return their width."""
        edge, used = theme.current().scaled(_MARK), 0
        for icon, _, color in self._marks:
            place = QRectF(line.right() - used - edge, line.top() + (line.height() - edge) / 2, edge, edge)
            icons.paint(painter, icon, getattr(theme.current().tokens, color), self._mirrored(place))
            used += edge + GAP_4
        return used

    def _paint_second_line(self, painter: QPainter, line: QRect, metrics: QFontMetrics) -> None:
        """Draw what is happening to the model, or else its memory fit and its badges."""
        tokens = theme.current().tokens
        painter.setPen(QColor(tokens.muted))
        if self.line:
            self._draw_text(painter, line, metrics.elidedText(self.line, Qt.TextElideMode.ElideRight, line.width()))
            return
        x = line.left()
        if (shown := self.verdict) is not None:
            edge, shade = line.height(), getattr(tokens, shown.color)
            icons.paint(painter, shown.icon, shade, self._mirrored(QRectF(x, line.top(), edge, edge)))
            painter.setPen(QColor(shade))
            self._draw_text(painter, line.adjusted(edge + GAP_4, 0, 0, 0), shown.word)
            x += edge + GAP_4 + metrics.horizontalAdvance(shown.word) + GAP_8
        for text in self.badges:
            width = metrics.horizontalAdvance(text) + 2 * GAP_4 + 2
            if x + width > line.right() + 1:
                return
            draw_pill(painter, self._mirrored(QRectF(x, line.top() - 1, width, line.height() + 2)), text)
            x += width + GAP_4

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the buttons at the end of the row."""
        super().resizeEvent(event)
        self._place_buttons()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Highlight the row."""
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Remove the highlight."""
        super().leaveEvent(event)
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Load the model, or rather the model of the row on which the first click was."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.double_clicked.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the context menu."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        place = self.mapToGlobal(self.rect().center()) if by_key else event.globalPos()
        self.menu_wanted.emit(self.record, place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Load on Enter, move with Up and Down, and enter the card with the arrow key that points at the chat."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.load_wanted.emit(self.record)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.step.emit(-1 if event.key() == Qt.Key.Key_Up else 1)
        elif event.key() == (Qt.Key.Key_Left if self.isRightToLeft() else Qt.Key.Key_Right):
            self.entered.emit(self.record)
        else:
            super().keyPressEvent(event)

    def nextCheckState(self) -> None:
        """Select the row; a second click does not deselect it."""
        self.setChecked(True)


def _badges(record: ModelRecord) -> list[str]:
    size = wording.size(record.size) if record.size else ""
    use = tr("vectors") if is_embedder(record) else ""
    return [text for text in (use, quantization(record), size) if text]


def minimum_row_height() -> int:
    """Return the height of a row of two lines, in pixels."""
    return _two_line_height(QFontMetrics(theme.current().font()), QFontMetrics(_small_font()))


def _two_line_height(big: QFontMetrics, small: QFontMetrics) -> int:
    return 2 * GAP_8 + big.height() + GAP_4 + small.height()


def _small_font() -> QFont:
    return theme.current().font(0.88)

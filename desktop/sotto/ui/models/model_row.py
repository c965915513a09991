"""One model in the list."""

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

from sotto.runner.residents import same
from sotto.store.records import ModelRecord
from sotto.ui.models.model_description import (
    FIT_SIGNS,
    FIT_SPOKEN,
    SOURCE_NAMES,
    makes_vectors,
    model_details,
    quantization,
    source_names,
)
from sotto.ui.models.state_line import loading_line
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import join_names, model_name, short_name
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.theme import GAP_4, GAP_8, GAP_12
from sotto.ui.toolkit.widgets import IconButton, draw_bar, draw_pill, plain_tip

_DOT = 7
_BAR = 3
_MARK = 13
ABSENT = "Disk not present"
_WRAP = Qt.TextFlag.TextWordWrap.value | Qt.AlignmentFlag.AlignTop.value


class ModelRow(QAbstractButton):
    """Name, kind and size of a model; whether it fits; how far its load is; and the one thing that can be done with it.

    Signals:
        load_wanted: The model should be loaded (double click or Enter).
        eject_wanted: It should leave memory.
        stop_wanted: Its load should stop.
        details_wanted: More about the model is asked for (a click or Space).
        entered: The same, and the focus is to go there (the arrow key that points there).
        menu_wanted: What else can be done with the model is asked for, at this place on the screen.
        step: The arrow keys move the selection, by -1 or 1.
    """

    load_wanted = Signal(object)
    eject_wanted = Signal()
    stop_wanted = Signal()
    details_wanted = Signal(object)
    entered = Signal(object)
    menu_wanted = Signal(object, QPoint)
    step = Signal(int)

    def __init__(self, record: ModelRecord) -> None:
        """Show `record`."""
        super().__init__()
        self.record = record
        self._state = ModelState(Phase.FOUND, record)
        self._fit: Fit | None = None
        self._favourite = self._pinned = False
        self._note = ""
        self.setCheckable(True)
        self.setAutoExclusive(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.toggled.connect(self._show)
        self.clicked.connect(lambda: self.details_wanted.emit(self.record))
        theme.current().changed.connect(self._show)
        self._show()

    # Most rows never need a button, so none is made before it is wanted.

    @cached_property
    def eject(self) -> IconButton:
        """The button that gives the model's memory back."""
        name = f"Eject {model_name(self.record.name)}"
        button = self._button("eject", name, "Eject: give its memory back")
        button.clicked.connect(self.eject_wanted)
        return button

    @cached_property
    def stop(self) -> IconButton:
        """The button that stops the load."""
        button = self._button("close", f"Stop loading {model_name(self.record.name)}", "Stop loading")
        button.clicked.connect(self.stop_wanted)
        return button

    def _button(self, icon: str, name: str, tip: str) -> IconButton:
        button = IconButton(icon, name, tip=tip)
        button.setParent(self)
        # Behind the button, which takes the new size first.
        theme.current().changed.connect(self._place_buttons)
        return button

    def _buttons(self) -> list[QAbstractButton]:
        """Return the buttons that have been made."""
        return [self.__dict__[name] for name in ("eject", "stop") if name in self.__dict__]

    def _present(self, name: str, wanted: bool) -> None:
        if wanted or name in self.__dict__:
            getattr(self, name).setVisible(wanted)

    def show_state(self, state: ModelState) -> None:
        """Draw the model as it stands; a state of another model means that this one is not loaded."""
        mine = state.record is not None and same(state.record, self.record)
        new = state if mine else ModelState(Phase.FOUND, self.record)
        if new != self._state:
            self._state = new
            self._show()

    def show_fit(self, fit: Fit | None) -> None:
        """Say whether the model fits into memory; None as long as nobody has looked."""
        if fit is not self._fit:
            self._fit = fit
            self._show()

    def show_marks(self, *, favourite: bool, pinned: bool) -> None:
        """Show whether it is a favourite, and whether it stays loaded."""
        if (favourite, pinned) != (self._favourite, self._pinned):
            self._favourite, self._pinned = favourite, pinned
            self._show()

    def show_note(self, note: str) -> None:
        """Say something about the model while it is loaded."""
        if note != self._note:
            self._note = note
            self._show()

    @property
    def reason(self) -> str:
        """Why the model cannot run or could not be loaded; empty when nothing is known against it."""
        return ("" if self.record.present else ABSENT) or self.record.reason or self._state.reason

    @property
    def _usable(self) -> bool:
        return self.record.runnable and self.record.present

    def matches(self, text: str) -> bool:
        """Whether every word of `text` occurs in what the row says."""
        haystack = f"{self.record.name} {self._details()} {SOURCE_NAMES[self.record.source]}".lower()
        return all(word in haystack for word in text.lower().split())

    def _details(self) -> str:
        return model_details(self.record)

    def _second_line(self) -> str:
        if self._state.phase is Phase.LOADING:
            return loading_line(self._state)
        if self._state.phase is Phase.UNLOADING:
            return "Ejecting…"
        if not self.record.present:
            return ABSENT
        if self._state.phase is Phase.FAILED and not self.isChecked():
            return "Could not be loaded"
        return ""

    @property
    def _shows_load(self) -> bool:
        """Whether a load is under way that is not over in a moment."""
        return self._state.phase is Phase.LOADING and self._state.pace.shown

    @property
    def _marks(self) -> list[tuple[str, str, str]]:
        """What stands at the end of the first line: icons, what they mean, and their colours."""
        marks = [("star-full", "favourite", "warn")] if self._favourite else []
        return [*marks, ("pin", "stays loaded", "muted")] if self._pinned else marks

    @property
    def _badges(self) -> list[str]:
        """What tells models of one name apart, in few letters."""
        size = wording.size(self.record.size) if self.record.size else ""
        use = "vectors" if makes_vectors(self.record) else ""
        return [text for text in (use, quantization(self.record), size) if text]

    def _show(self) -> None:
        phase = self._state.phase
        self._present("eject", self._state.loaded)
        self._present("stop", self._shows_load)
        name = f"{model_name(self.record.name)}, {self._details()}, {SOURCE_NAMES[self.record.source]}"
        standing = {
            Phase.READY: "loaded",
            Phase.GENERATING: "loaded, answering",
            Phase.LOADING: "loading",
            Phase.UNLOADING: "ejecting",
        }.get(phase, "not loaded")
        if not self.record.present:
            standing = ABSENT
        elif not self.record.runnable:
            standing = "cannot run"
        elif not self._state.loaded and self._fit is not None:
            standing = f"{standing}, {FIT_SPOKEN[self._fit]}"
        self.setAccessibleName(", ".join((name, standing, *(meaning for _, meaning, _ in self._marks))))
        note = self._note if self._state.loaded else ""
        self.setAccessibleDescription(self.reason or note)
        places = join_names(source_names(self.record))
        self.setToolTip(plain_tip(self.reason or "\n".join(filter(None, (self.record.name, f"In {places}", note)))))
        self.setFont(theme.current().font())
        self.updateGeometry()
        self._place_buttons()
        self.update()

    def _text_area(self) -> QRect:
        return self.rect().adjusted(GAP_12 + _DOT + GAP_8, GAP_8, -GAP_8, -GAP_8)

    def _shown_reason(self) -> str:
        below = self.reason or (self._note if self._state.loaded else "")
        return below if self.isChecked() else ""

    def hasHeightForWidth(self) -> bool:
        """Say that the height depends on the width: the reason takes as many lines as it needs."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return two lines, and those of the reason."""
        small = QFontMetrics(_small())
        height = _two_lines(QFontMetrics(self.font()), small)
        if reason := self._shown_reason():
            room = width - GAP_12 - _DOT - 2 * GAP_8
            height += GAP_4 + small.boundingRect(QRect(0, 0, room, 10_000), _WRAP, reason).height()
        if self._shows_load:
            height += GAP_8 + _BAR
        return height

    def sizeHint(self) -> QSize:
        """Return the size at the sidebar's width."""
        width = max(self.width(), 200)
        return QSize(200, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Return the same: nothing is cut off."""
        return QSize(80, self.sizeHint().height())

    def _place_buttons(self) -> None:
        for button in self._buttons():
            size = button.sizeHint()
            lines = QFontMetrics(self.font()).height() + GAP_4 + QFontMetrics(_small()).height()
            left, top = self.width() - size.width() - GAP_8, GAP_8 + (lines - size.height()) // 2
            button.setGeometry(self._side(QRectF(left, top, size.width(), size.height())).toRect())

    def _side(self, rect: QRectF) -> QRectF:
        """Return where something stands that is measured from the left: on the other side in some languages."""
        if self.isRightToLeft():
            rect.moveRight(self.width() - rect.left())
        return rect

    def _write(self, painter: QPainter, rect: QRect, text: str, *, wrap: bool = False) -> None:
        """Write a line, or several, that begin where the language does."""
        side = Qt.AlignmentFlag.AlignRight if self.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
        flags = side.value | (_WRAP if wrap else Qt.AlignmentFlag.AlignVCenter.value)
        painter.drawText(self._side(QRectF(rect)), flags, text)

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
        big, small = QFontMetrics(name_font), QFontMetrics(_small())
        if self._state.loaded:
            dot = QRectF(GAP_12, area.top() + (big.height() - _DOT) / 2, _DOT, _DOT)
            draw_bar(painter, self._side(dot), [(1.0, tokens.accent)], tokens.accent)
        taken = next((button.width() + GAP_8 for button in self._buttons() if not button.isHidden()), 0)
        room = area.width() - taken
        painter.setFont(name_font)
        painter.setPen(QColor(tokens.text if self._usable else tokens.muted))
        line = QRect(area.left(), area.top(), room, big.height())
        line.setRight(line.right() - self._paint_marks(painter, line))
        name = big.elidedText(short_name(self.record.name), Qt.TextElideMode.ElideMiddle, line.width())
        self._write(painter, line, name)
        painter.setFont(_small())
        line = QRect(area.left(), line.bottom() + 1 + GAP_4, room, small.height())
        self._paint_second(painter, line, small)
        painter.setPen(QColor(tokens.muted))
        bottom = line.bottom()
        if reason := self._shown_reason():
            place = QRect(area.left(), bottom + GAP_4, area.width(), self.height())
            self._write(painter, place, reason, wrap=True)
        if self._shows_load:
            bar = QRectF(area.left(), self.height() - GAP_8 - _BAR, area.width(), _BAR)
            draw_bar(painter, self._side(bar), [(self._state.fraction or 0.0, tokens.accent)], tokens.edge)

    def _paint_marks(self, painter: QPainter, line: QRect) -> int:
        """Draw the signs at the end of the first line, and return the width they took."""
        edge, used = theme.current().scaled(_MARK), 0
        for icon, _, color in self._marks:
            place = QRectF(line.right() - used - edge, line.top() + (line.height() - edge) / 2, edge, edge)
            icons.paint(painter, icon, getattr(theme.current().tokens, color), self._side(place))
            used += edge + GAP_4
        return used

    def _paint_second(self, painter: QPainter, line: QRect, metrics: QFontMetrics) -> None:
        """Draw what happens to the model, or else whether it fits, and its badges."""
        tokens = theme.current().tokens
        painter.setPen(QColor(tokens.muted))
        if text := self._second_line():
            self._write(painter, line, metrics.elidedText(text, Qt.TextElideMode.ElideRight, line.width()))
            return
        at = line.left()
        if self.record.runnable and (self._state.loaded or self._fit is not None):
            icon, color, word = "fits", "accent_text", "Loaded"
            if not self._state.loaded and self._fit is not None:
                (icon, color), word = FIT_SIGNS[self._fit], self._fit.value
            edge, shade = line.height(), getattr(tokens, color)
            icons.paint(painter, icon, shade, self._side(QRectF(at, line.top(), edge, edge)))
            painter.setPen(QColor(shade))
            self._write(painter, line.adjusted(edge + GAP_4, 0, 0, 0), word)
            at += edge + GAP_4 + metrics.horizontalAdvance(word) + GAP_8
        for text in self._badges:
            width = metrics.horizontalAdvance(text) + 2 * GAP_4 + 2
            if at + width > line.right() + 1:
                return
            draw_pill(painter, self._side(QRectF(at, line.top() - 1, width, line.height() + 2)), text)
            at += width + GAP_4

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the button at the end."""
        super().resizeEvent(event)
        self._place_buttons()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Light up."""
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Go dark again."""
        super().leaveEvent(event)
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Load the model."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.load_wanted.emit(self.record)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what else can be done."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        place = self.mapToGlobal(self.rect().center()) if by_key else event.globalPos()
        self.menu_wanted.emit(self.record, place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Load with Enter, move with the arrow keys up and down, tell more with the one that points at the chat."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.load_wanted.emit(self.record)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.step.emit(-1 if event.key() == Qt.Key.Key_Up else 1)
        elif event.key() == (Qt.Key.Key_Left if self.isRightToLeft() else Qt.Key.Key_Right):
            self.entered.emit(self.record)
        else:
            super().keyPressEvent(event)

    def nextCheckState(self) -> None:
        """Choose the row; a second click does not undo it."""
        self.setChecked(True)


def least_height() -> int:
    """Return the height of a row of two lines, in pixels."""
    return _two_lines(QFontMetrics(theme.current().font()), QFontMetrics(_small()))


def _two_lines(big: QFontMetrics, small: QFontMetrics) -> int:
    return 2 * GAP_8 + big.height() + GAP_4 + small.height()


def _small() -> QFont:
    return theme.current().font(0.88)

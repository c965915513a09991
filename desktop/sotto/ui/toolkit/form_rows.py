"""What pages of the settings are made of: groups of rows, switches, fields, and one choice out of several."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from sotto.errors import SottoError
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.widgets import Label

COLUMN = 560
# What the words of a row need beside its control.
_WORDS = 150


class FormPage(Scroller):
    """A page: a title and groups below each other, scrolled where there is no room for them.

    Attributes:
        name: The page's own.
        title: The same for people.
        icon: What stands before it in the list.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    icon: ClassVar[str]

    def __init__(self) -> None:
        """Begin with the title."""
        super().__init__()
        self.setObjectName(f"settings-{self.name}")
        self.setAccessibleName(self.title)
        body = QWidget()
        body.setObjectName("settingsBody")
        self._column = QWidget()
        self._column.setObjectName("column")
        self._rows = QVBoxLayout(self._column)
        self._rows.setContentsMargins(0, theme.GAP_24, 0, theme.GAP_24)
        self._rows.setSpacing(theme.GAP_8)
        heading = Label(self.title, "heading")
        heading.setContentsMargins(0, 0, 0, theme.GAP_4)
        self._rows.addWidget(heading)
        self._rows.addStretch(1)
        across = QHBoxLayout(body)
        across.setContentsMargins(theme.GAP_24, 0, theme.GAP_24, 0)
        across.addStretch(1)
        across.addWidget(self._column, 1000)
        across.addStretch(1)
        self.setWidget(body)
        theme.current().changed.connect(self._measure)
        self._measure()

    def add(self, widget: QWidget) -> None:
        """Put a widget below what is there."""
        self._rows.insertWidget(self._rows.count() - 1, widget)

    def add_group(self, title: str = "") -> "FormGroup":
        """Begin a group of rows."""
        if title:
            label = Label(title, "section", wrap=True)
            label.setContentsMargins(0, theme.GAP_12, 0, 0)
            self.add(label)
        group = FormGroup(title or self.title)
        self.add(group)
        return group

    def add_note(self, text: str = "") -> Label:
        """Put a sentence below what is there."""
        note = Label(text, "caption", wrap=True)
        self.add(note)
        return note

    def arrive(self) -> None:
        """Look again at what may have changed; called each time the page comes into view."""

    def leave(self) -> None:
        """Take what is being typed; called when the window closes."""

    def _measure(self) -> None:
        self._column.setMaximumWidth(theme.current().scaled(COLUMN))


class FormGroup(QFrame):
    """Rows that belong together, with lines between them."""

    def __init__(self, name: str) -> None:
        """Begin empty."""
        super().__init__()
        self.setObjectName("settingsGroup")
        self.setAccessibleName(name)
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(0)

    def add(self, row: QWidget) -> None:
        """Put a row below the others."""
        if self._rows.count():
            line = QFrame()
            line.setObjectName("settingsLine")
            line.setFixedHeight(1)
            self._rows.addWidget(line)
        self._rows.addWidget(row)

    def clear(self) -> None:
        """Take all rows away."""
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()


class FormRow(QWidget):
    """What is chosen, what that means, and the control for it, beside it or below; what was refused, and why."""

    def __init__(self, title: str, hint: str = "", control: QWidget | None = None, *, below: bool = False) -> None:
        """Show `control`, which gets the title for its name where it has none."""
        super().__init__()
        self.title = Label(title, wrap=True)
        self.hint = Label(hint, "caption", wrap=True)
        self.error = Label("", "error", wrap=True)
        self.control = control
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.title)
        texts.addWidget(self.hint)
        texts.addWidget(self.error)
        self.hint.setHidden(not hint)
        self.error.hide()
        self._below = below
        self._across = QBoxLayout(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight, self)
        self._across.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, theme.GAP_12)
        self._across.setSpacing(theme.GAP_8 if below else theme.GAP_16)
        self._across.addLayout(texts, 1)
        if control is not None:
            self._across.addWidget(control, 0)
            if not below:
                self._across.setAlignment(control, Qt.AlignmentFlag.AlignVCenter)
            if not control.accessibleName():
                control.setAccessibleName(title)
            if hint:
                control.setAccessibleDescription(hint)

    def minimumSizeHint(self) -> QSize:
        """Ask for the width of the control, which goes below the words where there is no room beside them."""
        margins = 2 * theme.GAP_16
        least = self.control.minimumSizeHint().width() if self.control is not None else 0
        return QSize(max(least, theme.current().scaled(_WORDS)) + margins, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the control beside the words, or below them."""
        super().resizeEvent(event)
        if self.control is not None and not self._below:
            needed = self.control.sizeHint().width() + theme.current().scaled(_WORDS) + 3 * theme.GAP_16
            beside = event.size().width() >= needed
            to = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
            if self._across.direction() is not to:
                self._across.setDirection(to)
                side = Qt.AlignmentFlag.AlignVCenter if beside else Qt.AlignmentFlag.AlignLeft
                self._across.setAlignment(self.control, side)

    def say(self, hint: str) -> None:
        """Explain it in other words."""
        self.hint.setText(hint)
        self.hint.setVisible(bool(hint))
        if self.control is not None:
            self.control.setAccessibleDescription(hint)

    def refuse(self, why: str) -> None:
        """Say why what was chosen is not taken; nothing where it is."""
        self.error.setText(why)
        self.error.setVisible(bool(why))
        if self.control is not None:
            self.control.setAccessibleDescription(why or self.hint.text())


class Switch(QCheckBox):
    """On or off."""

    def __init__(self, name: str) -> None:
        """Begin off; `name` is what a screen reader says."""
        super().__init__()
        self.setAccessibleName(name)
        theme.current().changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Return the size of the switch."""
        height = theme.current().scaled(20)
        return QSize(round(height * 1.8) + 4, height + 4)

    def minimumSizeHint(self) -> QSize:
        """Return the size of the switch."""
        return self.sizeHint()

    def hitButton(self, place: object) -> bool:
        """Take clicks anywhere."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a knob in a track."""
        tokens, painter = theme.current().tokens, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        if self.hasFocus():
            painter.setPen(QColor(tokens.accent))
            painter.drawRoundedRect(
                track.adjusted(-1.5, -1.5, 1.5, 1.5), track.height() / 2 + 1.5, track.height() / 2 + 1.5
            )
        painter.setPen(Qt.PenStyle.NoPen)
        off = tokens.others if self.isEnabled() else tokens.track
        painter.setBrush(QColor(tokens.accent if self.isChecked() and self.isEnabled() else off))
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        edge = track.height() - 4
        at_right = self.isChecked() != (self.layoutDirection() is Qt.LayoutDirection.RightToLeft)
        x = track.right() - 2 - edge if at_right else track.x() + 2
        painter.setBrush(QColor(tokens.on_accent))
        painter.drawEllipse(QRectF(x, track.y() + 2, edge, edge))


class SegmentedControl(QFrame):
    """One choice out of a few, side by side.

    Signals:
        chosen: The value that was chosen.
    """

    chosen = Signal(object)

    def __init__(self, name: str, choices: Mapping[object, str] | Sequence[tuple[object, str]]) -> None:
        """Show `choices`: values and their words."""
        super().__init__()
        self.setObjectName("segments")
        self.setAccessibleName(name)
        self._group = QButtonGroup(self)
        self.buttons: dict[object, QRadioButton] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.setSpacing(2)
        for value, text in choices.items() if isinstance(choices, Mapping) else choices:
            button = QRadioButton(text)
            button.setProperty("role", "segment")
            button.setAccessibleName(f"{name}: {text}")
            button.clicked.connect(lambda _=False, value=value: self.chosen.emit(value))
            self._group.addButton(button)
            self.buttons[value] = button
            layout.addWidget(button)

    def show_value(self, value: object) -> None:
        """Show what is chosen; nobody is told."""
        self.buttons[value].setChecked(True)


class ValueField(QLineEdit):
    """A text that means a value, taken when it is entered or the field is left.

    Signals:
        chosen: The value that was typed.
        refused: What was typed makes no sense, and why; empty once it is put right.
    """

    chosen = Signal(object)
    refused = Signal(str)

    def __init__(self, name: str, read: Callable[[str], object]) -> None:
        """Read values with `read`, which raises SottoError for what makes no sense."""
        super().__init__()
        self.setObjectName("value")
        self.setAccessibleName(name)
        self.setAcceptDrops(False)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._read = read
        self._shown = ""
        self.editingFinished.connect(self._take)
        self.textEdited.connect(lambda: self.refused.emit(""))
        theme.current().changed.connect(self._measure)
        self._measure()

    def show_text(self, text: str) -> None:
        """Show what is in force, unless something else is being typed."""
        if self.text() == self._shown:
            self.setText(text)
        self._shown = text

    def _take(self) -> None:
        if self.text() == self._shown:
            return
        try:
            value = self._read(self.text().strip())
        except SottoError as error:
            self.refused.emit(error.message)
            return
        self._shown = self.text()
        self.chosen.emit(value)

    def _measure(self) -> None:
        self.setFixedWidth(theme.current().scaled(150))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Let what is typed replace what is there."""
        super().focusInEvent(event)
        self.selectAll()

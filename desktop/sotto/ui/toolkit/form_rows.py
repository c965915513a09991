"""Building blocks of settings pages: pages, groups, rows, switches, segmented controls and text fields."""

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
    QMenu,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from sotto.errors import SottoError
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import Label, TextButton, add_choices, popup

COLUMN = 560
# Width of a row's texts below which the control moves under them, at 13 px text.
_TEXT_WIDTH = 150


class FormPage(Scroller):
    """A page: a title with groups below it, scrolled if there is not enough room.

    Attributes:
        name: Identifier of the page.
        title: Displayed title, marked for translation.
        icon: Name of the icon in the list of pages.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    icon: ClassVar[str]

    def __init__(self) -> None:
        """Create the page with its title."""
        super().__init__()
        self.setObjectName(f"settings-{self.name}")
        self.setAccessibleName(tr(self.title))
        body = QWidget()
        body.setObjectName("settingsBody")
        self._column = QWidget()
        self._column.setObjectName("column")
        self._rows = QVBoxLayout(self._column)
        self._rows.setContentsMargins(0, theme.GAP_24, 0, theme.GAP_24)
        self._rows.setSpacing(theme.GAP_8)
        heading = Label(tr(self.title), "heading")
        heading.setContentsMargins(0, 0, 0, theme.GAP_4)
        self._rows.addWidget(heading)
        self._rows.addStretch(1)
        across = QHBoxLayout(body)
        across.setContentsMargins(theme.GAP_24, 0, theme.GAP_24, 0)
        across.addStretch(1)
        across.addWidget(self._column, 1000)
        across.addStretch(1)
        self.setWidget(body)
        theme.current().changed.connect(self._fit_to_text_size)
        self._fit_to_text_size()

    def add(self, widget: QWidget) -> None:
        """Append a widget."""
        self._rows.insertWidget(self._rows.count() - 1, widget)

    def add_group(self, title: str = "") -> "FormGroup":
        """Append a group of rows, with a heading if there is a title, and return it."""
        if title:
            label = Label(title, "section", wrap=True)
            label.setContentsMargins(0, theme.GAP_12, 0, 0)
            self.add(label)
        group = FormGroup(title or tr(self.title))
        self.add(group)
        return group

    def add_note(self, text: str = "") -> Label:
        """Append a sentence in small print."""
        note = Label(text, "caption", wrap=True)
        self.add(note)
        return note

    def refresh(self) -> None:
        """Reload what may have changed; called each time the page comes into view."""

    def commit(self) -> None:
        """Apply what is being typed; called when the window closes."""

    def _fit_to_text_size(self) -> None:
        self._column.setMaximumWidth(theme.current().scaled(COLUMN))


class FormGroup(QFrame):
    """A frame with rows that belong together, separated by lines."""

    def __init__(self, name: str) -> None:
        """Create an empty group; `name` is for screen readers."""
        super().__init__()
        self.setObjectName("settingsGroup")
        self.setAccessibleName(name)
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(0)

    def add(self, row: QWidget) -> None:
        """Append a row."""
        if self._rows.count():
            line = QFrame()
            line.setObjectName("settingsLine")
            line.setFixedHeight(1)
            self._rows.addWidget(line)
        self._rows.addWidget(row)

    def clear(self) -> None:
        """Remove all rows."""
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()


class FormRow(QWidget):
    """A title and a hint, the control beside or below them, and an error message."""

    def __init__(self, title: str, hint: str = "", control: QWidget | None = None, *, below: bool = False) -> None:
        """Create a row.

        Args:
            title: Name of the setting; also the accessible name of `control` if it has none.
            hint: Explanation below the title.
            control: The control; None for a row of text.
            below: Whether the control is always below the texts, instead of only where there is no room beside them.
        """
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
        self._below = below
        self._across = QBoxLayout(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight, self)
        self._across.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, theme.GAP_12)
        self._across.setSpacing(theme.GAP_8 if below else theme.GAP_16)
        self._across.addLayout(texts, 1)
        # Only now do they have a parent: without one, a widget that is shown is a window of its own.
        self.hint.setVisible(bool(hint))
        self.error.hide()
        if control is not None:
            self._across.addWidget(control, 0)
            if not below:
                self._across.setAlignment(control, Qt.AlignmentFlag.AlignVCenter)
            if not control.accessibleName():
                control.setAccessibleName(title)
            if hint:
                control.setAccessibleDescription(hint)

    def minimumSizeHint(self) -> QSize:
        """Ask for the width of the control alone, which can move below the texts."""
        margins = 2 * theme.GAP_16
        least = self.control.minimumSizeHint().width() if self.control is not None else 0
        return QSize(max(least, theme.current().scaled(_TEXT_WIDTH)) + margins, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the control beside the texts, or below them if there is no room."""
        super().resizeEvent(event)
        if self.control is not None and not self._below:
            needed = self.control.sizeHint().width() + theme.current().scaled(_TEXT_WIDTH) + 3 * theme.GAP_16
            beside = event.size().width() >= needed
            to = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
            if self._across.direction() is not to:
                self._across.setDirection(to)
                side = Qt.AlignmentFlag.AlignVCenter if beside else Qt.AlignmentFlag.AlignLeft
                self._across.setAlignment(self.control, side)

    def set_hint(self, hint: str) -> None:
        """Replace the explanation below the title."""
        self.hint.setText(hint)
        self.hint.setVisible(bool(hint))
        if self.control is not None:
            self.control.setAccessibleDescription(hint)

    def show_error(self, message: str) -> None:
        """Show why the input was rejected; an empty message hides the error."""
        self.error.setText(message)
        self.error.setVisible(bool(message))
        if self.control is not None:
            self.control.setAccessibleDescription(message or self.hint.text())


class Switch(QCheckBox):
    """An on/off switch."""

    def __init__(self, name: str) -> None:
        """Create a switch that is off; `name` is for screen readers."""
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
        """Accept clicks anywhere on the widget."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a knob on a track."""
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
    """A segmented control: one choice out of a few, side by side.

    Signals:
        chosen: The user chose this value.
    """

    chosen = Signal(object)

    def __init__(self, name: str, choices: Mapping[object, str] | Sequence[tuple[object, str]]) -> None:
        """Create the control; `name` is for screen readers, `choices` are values with their labels."""
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
        """Select a value without emitting `chosen`."""
        self.buttons[value].setChecked(True)


class ChoiceButton(TextButton):
    """A button with the current choice, and a menu of all choices, for more of them than a segmented control can show.

    Signals:
        chosen: The user chose this value.
    """

    chosen = Signal(object)

    def __init__(self, name: str, choices: Mapping[object, str]) -> None:
        """Create the button; `name` is for screen readers, `choices` are labels by value."""
        super().__init__("", "outlined", name)
        self._name, self._choices = name, choices
        self._value: object = None
        self.clicked.connect(lambda: popup(self.menu(), self.mapToGlobal(self.rect().bottomLeft())))

    def show_value(self, value: object) -> None:
        """Show the current choice, which may be none of those in the menu."""
        self._value = value
        text = self._choices.get(value, f"{value}")
        self.setText(f"{text} ▾")
        self.setAccessibleName(f"{self._name}: {text}")

    def menu(self) -> QMenu:
        """Return the menu of choices."""
        menu = QMenu(self)
        add_choices(menu, self._choices.items(), lambda value: value == self._value, self.chosen.emit)
        return menu


class ValueField(QLineEdit):
    """A text field for a value, which is read on Enter or when the field loses the focus.

    Signals:
        chosen: The user entered this value.
        refused: The text is invalid; the reason, or an empty text as soon as the user edits it.
    """

    chosen = Signal(object)
    refused = Signal(str)

    def __init__(self, name: str, read: Callable[[str], object]) -> None:
        """Create an empty field; `read` parses the text, and raises SottoError if it is invalid."""
        super().__init__()
        self.setObjectName("value")
        self.setAccessibleName(name)
        self.setAcceptDrops(False)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._read = read
        self._shown = ""
        self.editingFinished.connect(self._commit)
        self.textEdited.connect(lambda: self.refused.emit(""))
        theme.current().changed.connect(self._fit_to_text_size)
        self._fit_to_text_size()

    def show_text(self, text: str) -> None:
        """Show the current value, unless the user is typing another one."""
        if self.text() == self._shown:
            self.setText(text)
        self._shown = text

    def _commit(self) -> None:
        if self.text() == self._shown:
            return
        try:
            value = self._read(self.text().strip())
        except SottoError as error:
            self.refused.emit(error.message)
            return
        self._shown = self.text()
        self.chosen.emit(value)

    def _fit_to_text_size(self) -> None:
        self.setFixedWidth(theme.current().scaled(150))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Select everything, so that typing replaces it."""
        super().focusInEvent(event)
        self.selectAll()

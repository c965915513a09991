"""Checks for all windows: the accessibility tree, widgets without names, and longer texts."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

_STATES = ("disabled", "checked", "expanded", "focused")
_LETTERS = str.maketrans("aeiounycAEIOUNYC", "áéíöüñýçÁÉÍÖÜÑÝÇ")


def tree(node, depth=0):
    """Yield a line for each accessible node: role, object name, name, value and states."""
    owner, state = node.object(), node.state()
    name = owner.objectName() if owner else ""
    if state.invisible:
        return
    if name.startswith("qt_"):
        # Qt's internal parts differ between versions, so only their children are listed.
        for index in range(node.childCount()):
            yield from tree(node.child(index), depth)
        return
    states = ",".join(flag for flag in _STATES if getattr(state, flag))
    texts = [node.text(part) for part in (QAccessible.Text.Name, QAccessible.Text.Value)]
    quoted = [repr(text) for text in texts if text]
    line = " ".join([node.role().name, *([f"#{name}"] if name else []), *quoted, *([f"[{states}]"] if states else [])])
    yield "  " * depth + line
    for index in range(node.childCount()):
        yield from tree(node.child(index), depth + 1)


def tree_of(widget):
    """Return the accessibility tree below a widget, as text."""
    return "\n".join(tree(QAccessible.queryAccessibleInterface(widget))) + "\n"


def nameless(window):
    """Return the buttons and fields that have no name for screen readers."""
    return [
        (type(widget).__name__, widget.objectName())
        for kind in (QAbstractButton, QLineEdit, QPlainTextEdit, QTextEdit, QComboBox)
        for widget in window.findChildren(kind)
        if not widget.objectName().startswith("qt_")
        and not isinstance(widget.parent(), QLineEdit)
        and not (widget.accessibleName() or getattr(widget, "text", str)())
    ]


def stretched(text):
    """Return a text as a translation might be: with accented letters, and 40 % longer."""
    if not text.strip():
        return text
    padding = ("~~~~~ " * len(text))[: max(1, round(len(text) * 0.4))].strip()
    return f"[{text.translate(_LETTERS)} {padding}]"


def stretch(window):
    """Stretch all texts in a window."""
    for widget in window.findChildren(QWidget):
        if isinstance(widget, QLabel | QAbstractButton) and widget.text() and not widget.objectName().startswith("qt_"):
            widget.setText(stretched(widget.text()))
        elif isinstance(widget, QLineEdit | QPlainTextEdit):
            widget.setPlaceholderText(stretched(widget.placeholderText()))
    for action in window.findChildren(QAction):
        action.setText(stretched(action.text()))


class StrayWindows(QObject):
    """An event filter that notes widgets that were shown before they had a parent, as windows of their own.

    Attributes:
        found: Their types and accessible names or texts.
    """

    _SHOWN = "shownAsWindow"

    def __init__(self):
        super().__init__()
        self.found: list[str] = []

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Show and watched.isWidgetType() and watched.isWindow():
            watched.setProperty(self._SHOWN, True)
        elif event.type() == QEvent.Type.ParentAboutToChange and watched.property(self._SHOWN):
            self.found.append(f"{type(watched).__name__} {getattr(watched, 'text', watched.accessibleName)()!r}")
        return False

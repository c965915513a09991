"""What can be asked of any window: its accessible tree, parts without a name, stretched texts."""

from PySide6.QtGui import QAccessible, QAction
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

_STATES = ("disabled", "checked", "expanded", "focused")
_LETTERS = str.maketrans("aeiounycAEIOUNYC", "áéíöüñýçÁÉÍÖÜÑÝÇ")


def tree(node, depth=0):
    """Yield a line for each accessible node: role, name of the object, name, value, states."""
    owner, state = node.object(), node.state()
    name = owner.objectName() if owner else ""
    if state.invisible:
        return
    if name.startswith("qt_"):
        # Parts of Qt's own, which are others in another version: only what lies in them counts.
        for place in range(node.childCount()):
            yield from tree(node.child(place), depth)
        return
    states = ",".join(one for one in _STATES if getattr(state, one))
    texts = [node.text(part) for part in (QAccessible.Text.Name, QAccessible.Text.Value)]
    shown = [repr(text) for text in texts if text]
    line = " ".join([node.role().name, *([f"#{name}"] if name else []), *shown, *([f"[{states}]"] if states else [])])
    yield "  " * depth + line
    for place in range(node.childCount()):
        yield from tree(node.child(place), depth + 1)


def tree_of(widget):
    """Return the accessible tree below a widget, as text."""
    return "\n".join(tree(QAccessible.queryAccessibleInterface(widget))) + "\n"


def nameless(window):
    """Return the buttons and fields that a screen reader would have no name for."""
    return [
        (type(one).__name__, one.objectName())
        for kind in (QAbstractButton, QLineEdit, QPlainTextEdit, QTextEdit, QComboBox)
        for one in window.findChildren(kind)
        if not one.objectName().startswith("qt_")
        and not isinstance(one.parent(), QLineEdit)
        and not (one.accessibleName() or getattr(one, "text", str)())
    ]


def stretched(text):
    """Return a text as another language might have it: with other letters, and longer by two fifths."""
    if not text.strip():
        return text
    more = ("~~~~~ " * len(text))[: max(1, round(len(text) * 0.4))].strip()
    return f"[{text.translate(_LETTERS)} {more}]"


def stretch(window):
    """Put stretched texts in place of all that a window shows."""
    for widget in window.findChildren(QWidget):
        if isinstance(widget, QLabel | QAbstractButton) and widget.text() and not widget.objectName().startswith("qt_"):
            widget.setText(stretched(widget.text()))
        elif isinstance(widget, QLineEdit | QPlainTextEdit):
            widget.setPlaceholderText(stretched(widget.placeholderText()))
    for action in window.findChildren(QAction):
        action.setText(stretched(action.text()))

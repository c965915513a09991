"""Everything that windows show or tell screen readers, with the packages that show it."""

import html
import re

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTableView,
    QTreeView,
    QWidget,
)

_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
_PROPERTIES = ("windowTitle", "toolTip", "statusTip", "accessibleName", "accessibleDescription")
_MORE = (
    (QLabel, "text"),
    (QAbstractButton, "text"),
    (QLineEdit, "placeholderText"),
    (QPlainTextEdit, "placeholderText"),
    (QAbstractSpinBox, "specialValueText"),
    (QAbstractSpinBox, "suffix"),
    (QMenu, "title"),
)


def shown_texts(*windows):
    """Yield the package of `sotto.ui` and the text, for every text in the windows, whether it is visible now or not.

    A widget belongs to the package that defines its class. One of a class of the toolkit or of Qt belongs to the
    nearest widget around it that does not.
    """
    for window in windows:
        for widget in (window, *window.findChildren(QWidget)):
            if not _is_qts(widget):
                package = package_of(widget)
                for text in _texts(widget):
                    if plain := html.unescape(re.sub(r"<[^>]*>", "", text)).strip():
                        yield package, plain


def package_of(widget):
    """Return the package of `sotto.ui` to which a widget belongs."""
    found = "toolkit"
    while widget is not None:
        parts = type(widget).__module__.split(".")
        if parts[:2] == ["sotto", "ui"] and (found := parts[2]) != "toolkit":
            return found
        widget = widget.parentWidget()
    return found


def _is_qts(widget):
    """Return whether a widget is a part of one of Qt's own, which Qt translates; scroll areas hold ours."""
    if widget.objectName().startswith("qt_"):
        return True
    while (widget := widget.parentWidget()) is not None:
        if isinstance(widget, QFileDialog):
            return True
    return False


def _texts(widget):
    yield from (getattr(widget, name)() for name in _PROPERTIES)
    for kind, name in _MORE:
        if isinstance(widget, kind):
            yield getattr(widget, name)()
    for action in widget.actions():
        yield from (action.text(), action.toolTip(), action.statusTip())
    if isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from _item_texts(widget)


def _item_texts(view):
    model, header = view.model(), None
    if isinstance(view, QTableView | QTreeView):
        header = view.horizontalHeader() if isinstance(view, QTableView) else view.header()
    for column in range(header.count() if header is not None else 1):
        yield str(model.headerData(column, Qt.Orientation.Horizontal) or "") if header is not None else ""
        for row in range(model.rowCount(QModelIndex())):
            for role in _ROLES:
                yield str(model.index(row, column).data(role) or "")

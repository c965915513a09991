"""Objects that exist once per application."""

from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QObject

_Kind = TypeVar("_Kind", bound=QObject)


def app_singleton(kind: type[_Kind]) -> _Kind:
    """Return the application's instance of a class; it is created on the first call, as a child of the application."""
    app = QCoreApplication.instance()
    assert app is not None
    known = app.findChild(kind)
    return known if known is not None else kind(app)

"""What the application has one of."""

from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QObject

_Kind = TypeVar("_Kind", bound=QObject)


def app_singleton(kind: type[_Kind]) -> _Kind:
    """Return the application's object of this class, made with it as its parent at the first call."""
    app = QCoreApplication.instance()
    assert app is not None
    known = app.findChild(kind)
    return known if known is not None else kind(app)

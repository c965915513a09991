"""Keeps windows within the screens, at every scale factor and after a screen has gone away."""

from PySide6.QtCore import QMargins, QObject, QRect, QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

# Room for the title bar and the borders that the window manager draws, in pixels.
_FRAME = QMargins(4, 36, 4, 4)


def clamp(geometry: QRect, screens: list[QRect], minimum: QSize) -> QRect:
    """Return the geometry of a window, moved and resized to lie within one screen.

    Args:
        geometry: The wanted geometry.
        screens: The available areas of the screens; the one that shows most of the window is used.
        minimum: The minimum size of the window, which gives way to a smaller screen.
    """

    def overlap(screen: QRect) -> int:
        common = screen.intersected(geometry)
        return common.width() * common.height() if common.isValid() else 0

    screen = max(screens, key=overlap)
    size = geometry.size().expandedTo(minimum).boundedTo(screen.size())
    left = max(screen.left(), min(geometry.left(), screen.right() + 1 - size.width()))
    top = max(screen.top(), min(geometry.top(), screen.bottom() + 1 - size.height()))
    return QRect(left, top, size.width(), size.height())


def fit(window: QWidget, minimum: QSize) -> None:
    """Move and resize a window so that it lies within a screen, unless it is maximized."""
    areas = [screen.availableGeometry() for screen in QGuiApplication.screens()]
    insides = [area.marginsRemoved(_FRAME) for area in areas]
    largest = QSize(max(inside.width() for inside in insides), max(inside.height() for inside in insides))
    window.setMinimumSize(minimum.boundedTo(largest))
    if not window.isMaximized() and not window.isFullScreen():
        wanted = clamp(window.geometry(), areas, window.minimumSize())
        # Where the window is as large as the screen, its frame needs room, too.
        inside = clamp(wanted, insides, window.minimumSize())
        window.setGeometry(wanted if wanted.size() == inside.size() else inside)


def centre(window: QWidget, over: QRect | None = None) -> None:
    """Move a window to the middle of an area, by default that of the main screen."""
    geometry = window.geometry()
    geometry.moveCenter((over or QGuiApplication.primaryScreen().availableGeometry()).center())
    window.setGeometry(geometry)


class ScreenGuard(QObject):
    """Keeps a window within the screens while they come and go."""

    def __init__(self, window: QWidget, minimum: QSize) -> None:
        """Watch the screens for `window`, which owns this object."""
        super().__init__(window)
        self._window, self._minimum = window, minimum
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.screenAdded.connect(self.fit)
        app.screenRemoved.connect(self.fit)

    def fit(self) -> None:
        """Fit the window into the screens that exist now."""
        fit(self._window, self._minimum)

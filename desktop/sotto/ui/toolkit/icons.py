"""The app's icons: drawn on a 20 by 20 grid with round strokes, in any colour, sharp at any scale."""

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from sotto.paths import resources_dir

_SHAPES = {
    "arrow-up": '<path d="M10 16V4.5M5 9.3 10 4.3l5 5"/>',
    "arrow-down": '<path d="M10 4v11.5M5 10.7l5 5 5-5"/>',
    "pause": '<rect x="5.6" y="4.8" width="3" height="10.4" rx="1" fill="{color}" stroke="none"/>'
    '<rect x="11.4" y="4.8" width="3" height="10.4" rx="1" fill="{color}" stroke="none"/>',
    "play": '<path d="M7 5.2v9.6l7.4-4.8z" fill="{color}"/>',
    "stop": '<rect x="5.5" y="5.5" width="9" height="9" rx="1.8" fill="{color}" stroke="none"/>',
    "search": '<circle cx="8.8" cy="8.8" r="4.8"/><path d="m12.4 12.4 4 4"/>',
    "refresh": '<path d="M16 10a6 6 0 1 1-1.9-4.4"/><path d="M16.2 2.9v3.4h-3.4"/>',
    "new": '<path d="M10.2 4H5.6A1.6 1.6 0 0 0 4 5.6v8.8A1.6 1.6 0 0 0 5.6 16h8.8a1.6 1.6 0 0 0 1.6-1.6V9.8"/>'
    '<path d="m8 12 .5-2.3 6.6-6.6a1.25 1.25 0 0 1 1.8 1.8l-6.6 6.6z"/>',
    "eject": '<path d="M10 4.2 15.4 11H4.6z"/><path d="M4.8 15h10.4"/>',
    "close": '<path d="m5.8 5.8 8.4 8.4M14.2 5.8l-8.4 8.4"/>',
    "copy": '<rect x="7.3" y="7.3" width="9" height="9" rx="1.8"/>'
    '<path d="M12.7 4.9A1.6 1.6 0 0 0 11.1 3.7H5.3a1.6 1.6 0 0 0-1.6 1.6v5.8a1.6 1.6 0 0 0 1.2 1.6"/>',
    "command": '<path d="M4.2 5.6 8.6 10l-4.4 4.4"/><path d="M10.4 15h5.4"/>',
    "bolt": '<path d="M11 2.8 4.8 11.4h4.4L8.6 17.2l6.6-8.8h-4.6z"/>',
    "plug": '<path d="M7.2 3v3.6M12.8 3v3.6"/><path d="M4.8 6.6h10.4v2.6a5.2 5.2 0 0 1-10.4 0z"/>'
    '<path d="M10 14.4V17"/>',
    "fit": '<path d="M11.8 4.2h4v4M15.6 4.4l-4.2 4.2M8.2 15.8h-4v-4M4.4 15.6l4.2-4.2"/>',
    "plus": '<path d="M10 4.5v11M4.5 10h11"/>',
    "minus": '<path d="M4.5 10h11"/>',
    "eye": '<path d="M2.6 10S5.4 5 10 5s7.4 5 7.4 5-2.8 5-7.4 5-7.4-5-7.4-5z"/><circle cx="10" cy="10" r="2.2"/>',
    "folder": '<path d="M3.2 6.2a1.6 1.6 0 0 1 1.6-1.6h3l1.8 2h5.6a1.6 1.6 0 0 1 1.6 1.6v5.6a1.6 1.6 0 0 1-1.6 1.6H4.8'
    'a1.6 1.6 0 0 1-1.6-1.6z"/>',
    "speech": '<path d="M5.2 4.2h9.6a1.8 1.8 0 0 1 1.8 1.8v5.6a1.8 1.8 0 0 1-1.8 1.8H9.6L6 16.6v-3.2h-.8'
    'a1.8 1.8 0 0 1-1.8-1.8V6a1.8 1.8 0 0 1 1.8-1.8z"/>',
    "gauge": '<path d="M3.6 14.6a7 7 0 1 1 12.8 0"/><path d="m10 11.6 3-3.6"/>',
    "contrast": '<circle cx="10" cy="10" r="6.6"/><path d="M10 3.4a6.6 6.6 0 0 1 0 13.2z" fill="{color}"/>',
    "wrap": '<path d="M3.5 4.8h13M3.5 15.2h3.2M3.5 10h10.3a2.6 2.6 0 0 1 0 5.2H10"/><path d="m11.8 13.1-2 2.1 2 2.1"/>',
    "check": '<path d="m4.5 10.6 3.6 3.6 7.4-8"/>',
    "alert": '<circle cx="10" cy="10" r="6.8"/><path d="M10 6.6v4"/><path d="M10 13.3v.05"/>',
    "link": '<path d="M8.6 11.4a3 3 0 0 0 4.2 0l2.6-2.6a3 3 0 0 0-4.2-4.2L10 5.8"/>'
    '<path d="M11.4 8.6a3 3 0 0 0-4.2 0l-2.6 2.6a3 3 0 0 0 4.2 4.2l1.2-1.2"/>',
    "sliders": '<path d="M3.5 6.2h8M15 6.2h1.5M3.5 13.8H5M8.5 13.8h8"/><circle cx="13.2" cy="6.2" r="1.8"/>'
    '<circle cx="6.8" cy="13.8" r="1.8"/>',
    "up": '<path d="M4.8 12.2 10 7l5.2 5.2"/>',
    "left": '<path d="M12.2 4.8 7 10l5.2 5.2"/>',
    "right": '<path d="M7.8 4.8 13 10l-5.2 5.2"/>',
    "edit": '<path d="m4 16 .8-3.4 8.6-8.6a1.9 1.9 0 0 1 2.6 2.6l-8.6 8.6z"/><path d="m11.9 5.6 2.6 2.6"/>',
    "pin": '<path d="M7.4 3.6h5.2l-.6 4.6 2.4 2.8H5.6L8 8.2z"/><path d="M10 11v5.4"/>',
    "star": '<path d="M10 3.2l2.1 4.3 4.7.7-3.4 3.3.8 4.7-4.2-2.2-4.2 2.2.8-4.7L3.2 8.2l4.7-.7z"/>',
    "star-full": '<path d="M10 3.2l2.1 4.3 4.7.7-3.4 3.3.8 4.7-4.2-2.2-4.2 2.2.8-4.7L3.2 8.2l4.7-.7z" fill="{color}"/>',
    "sort": '<path d="M4 5.5h12M4 10h8M4 14.5h4"/>',
    "fits": '<circle cx="10" cy="10" r="6.8"/><path d="m7 10.3 2.1 2.1 4-4.5"/>',
    "tight": '<path d="M10 3.8 17 16H3z"/><path d="M10 8.4v3.4"/><path d="M10 13.9v.05"/>',
    "unfit": '<circle cx="10" cy="10" r="6.8"/><path d="m7.6 7.6 4.8 4.8M12.4 7.6l-4.8 4.8"/>',
    "unknown": '<circle cx="10" cy="10" r="6.8"/><path d="M8 8.2a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.3"/>'
    '<path d="M10 13.6v.05"/>',
    "absent": '<path d="M4.2 12.2 6 5.6a1.4 1.4 0 0 1 1.3-1h5.4a1.4 1.4 0 0 1 1.3 1l1.8 6.6v2a1.4 1.4 0 0 1-1.4 1.4'
    'H5.6a1.4 1.4 0 0 1-1.4-1.4z"/><path d="M4.4 12h11.2"/>',
    "more": '<circle cx="5" cy="10" r=".9"/><circle cx="10" cy="10" r=".9"/><circle cx="15" cy="10" r=".9"/>',
    "clip": '<path d="m15.8 9.4-5.9 5.9a3.6 3.6 0 0 1-5.1-5.1l6.2-6.2a2.4 2.4 0 0 1 3.4 3.4l-6.1 6.1a1.2 1.2 0 0 1'
    '-1.7-1.7l5.5-5.5"/>',
    "image": '<rect x="3.2" y="4.2" width="13.6" height="11.6" rx="2"/><circle cx="7.4" cy="8.2" r="1.3"/>'
    '<path d="m3.6 14 3.8-3.4 2.8 2.4 3-2.8 3.4 3"/>',
    "screenshot": '<path d="M3.6 7V5.4a1.8 1.8 0 0 1 1.8-1.8H7M13 3.6h1.6a1.8 1.8 0 0 1 1.8 1.8V7M16.4 13v1.6'
    'a1.8 1.8 0 0 1-1.8 1.8H13M7 16.4H5.4a1.8 1.8 0 0 1-1.8-1.8V13"/><circle cx="10" cy="10" r="2.4"/>',
    "document": '<path d="M11.4 3.2H6.6A1.6 1.6 0 0 0 5 4.8v10.4a1.6 1.6 0 0 0 1.6 1.6h6.8a1.6 1.6 0 0 0 1.6-1.6V6.8z'
    '"/><path d="M11.2 3.4v3.7h3.6M7.8 10.4h4.4M7.8 13.2h4.4"/>',
    "down": '<path d="M4.8 7.8 10 13l5.2-5.2"/>',
    "drop": '<path d="M10 3.6v8.6M6.4 8.8l3.6 3.6 3.6-3.6"/><path d="M3.8 12.6v2.2a1.6 1.6 0 0 0 1.6 1.6h9.2'
    'a1.6 1.6 0 0 0 1.6-1.6v-2.2"/>',
    "thought": '<path d="M10 2.8a5.2 5.2 0 0 0-3 9.4c.6.5 1 1.1 1 1.8h4c0-.7.4-1.3 1-1.8a5.2 5.2 0 0 0-3-9.4z"/>'
    '<path d="M8.3 17h3.4"/>',
    "braces": '<path d="M8 3.8H7a1.8 1.8 0 0 0-1.8 1.8v2.6L3.6 10l1.6 1.8v2.6A1.8 1.8 0 0 0 7 16.2h1"/>'
    '<path d="M12 3.8h1a1.8 1.8 0 0 1 1.8 1.8v2.6l1.6 1.8-1.6 1.8v2.6a1.8 1.8 0 0 1-1.8 1.8h-1"/>',
    "table": '<rect x="3.2" y="4.2" width="13.6" height="11.6" rx="2"/><path d="M3.4 8h13.2M3.4 11.8h13.2M8 8v7.6"/>',
    "card": '<rect x="3.2" y="4.2" width="13.6" height="11.6" rx="2"/><path d="M11.8 4.4v11.2M14 7.4v.05M14 10v.05"/>',
    "sidebar": '<rect x="3.2" y="4.2" width="13.6" height="11.6" rx="2"/><path d="M8.2 4.4v11.2"/>',
    "window": '<rect x="3.2" y="4.2" width="13.6" height="11.6" rx="2"/><path d="M3.4 8h13.2"/>',
    "chip": '<rect x="5" y="5" width="10" height="10" rx="2"/>'
    '<path d="M8 2.6V5M12 2.6V5M8 15v2.4M12 15v2.4M2.6 8H5M2.6 12H5M15 8h2.4M15 12h2.4"/>',
}

# Those that point to where something is, or to where reading goes on.
_DIRECTED = {"left", "right", "sidebar", "card", "sort"}
_FRAME = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><g fill="none" stroke="{color}" stroke-width="1.6"'
    ' stroke-linecap="round" stroke-linejoin="round"{turned}>{shape}</g></svg>'
)


@lru_cache(maxsize=64)
def _renderer(name: str, color: str, *, mirrored: bool) -> QSvgRenderer:
    shape, turned = _SHAPES[name].replace("{color}", color), ' transform="matrix(-1 0 0 1 20 0)"' if mirrored else ""
    return QSvgRenderer(QByteArray(_FRAME.format(color=color, shape=shape, turned=turned).encode()))


def _is_mirrored(name: str) -> bool:
    """Return whether an icon is shown as in a mirror: one with a direction, where reading goes from right to left."""
    return name in _DIRECTED and QGuiApplication.layoutDirection() is Qt.LayoutDirection.RightToLeft


def of_sotto() -> QIcon:
    """Return the icon of Sotto's windows."""
    return QIcon(str(resources_dir() / "icons" / "sotto-256.png"))


def paint(painter: QPainter, name: str, color: str, rect: QRectF) -> None:
    """Paint an icon.

    Args:
        painter: Where to paint.
        name: Name of the shape.
        color: Colour, `#rrggbb`.
        rect: Area of the icon.
    """
    _renderer(name, color, mirrored=_is_mirrored(name)).render(painter, rect)


def icon(name: str, color: str, disabled: str = "", edge: int = 16) -> QIcon:
    """Return an icon.

    Args:
        name: Name of the shape.
        color: Colour, `#rrggbb`.
        disabled: Colour while disabled; empty for the same.
        edge: Width and height at which it is shown, in device-independent pixels.
    """
    return _icon(name, color, disabled, edge, mirrored=_is_mirrored(name))


@lru_cache(maxsize=128)
def _icon(name: str, color: str, disabled: str, edge: int, *, mirrored: bool) -> QIcon:
    result = QIcon()
    for mode, shade in ((QIcon.Mode.Normal, color), (QIcon.Mode.Disabled, disabled or color)):
        for scale in (1, 2, 3):
            pixmap = QPixmap(edge * scale, edge * scale)
            pixmap.fill(QColor(Qt.GlobalColor.transparent))
            painter = QPainter(pixmap)
            _renderer(name, shade, mirrored=mirrored).render(painter, QRectF(0, 0, edge * scale, edge * scale))
            painter.end()
            pixmap.setDevicePixelRatio(scale)
            result.addPixmap(pixmap, mode)
    return result

"""The application's theme: light or dark colours, spacing, fonts and zoom."""

import os

from PySide6.QtCore import QMargins, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPalette
from PySide6.QtWidgets import QApplication

from sotto.ui.toolkit.app_singleton import app_singleton
from sotto.ui.toolkit.colors import DARK, LIGHT, ColorTokens
from sotto.ui.toolkit.style_sheet import mirrored, style_sheet

GAP_4, GAP_8, GAP_12, GAP_16, GAP_24, GAP_32 = 4, 8, 12, 16, 24, 32


class Theme(QObject):
    """The current theme.

    Signals:
        changed: Colours or sizes changed; custom-painted widgets must be repainted.
    """

    changed = Signal()

    def __init__(self, app: QApplication) -> None:
        """Apply the theme to `app`, and follow the system's light or dark setting from now on."""
        super().__init__(app)
        self._app = app
        self._base = QFont(app.font())
        self._forced = os.environ.get("SOTTO_APPEARANCE", "")
        self.zoom = 1.0
        # An X server without a compositor paints black where a window is transparent; `set_transparent` corrects this.
        self.transparent = app.platformName() != "xcb"
        self.tokens = LIGHT
        # WORKAROUND: kept, because PySide6 drops the connection below together with the wrapper.
        self._hints = app.styleHints()
        self._hints.colorSchemeChanged.connect(self._follow_system)
        app.layoutDirectionChanged.connect(self.apply)
        app.setStyle("Fusion")
        self.apply()

    @property
    def base_points(self) -> float:
        """Size of body text in points, zoom included."""
        points = self._base.pointSizeF()
        return (points if points > 0 else self._base.pixelSize() * 0.75) * self.zoom

    def font(self, factor: float = 1.0, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        """Return the interface font at `factor` times the size of body text."""
        font = QFont(self._base)
        font.setPointSizeF(self.base_points * factor)
        font.setWeight(weight)
        return font

    def code_font(self, factor: float = 0.95) -> QFont:
        """Return the monospaced font for code at `factor` times the size of body text."""
        families = ("SF Mono", "Menlo", "JetBrains Mono", "Cascadia Mono", "DejaVu Sans Mono")
        known = QFontDatabase.families()
        family = next((family for family in families if family in known), "")
        font = QFont(family) if family else QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self.base_points * factor)
        return font

    def scaled(self, pixels: float) -> int:
        """Return a length in pixels, designed for 13 px text, scaled to the current text size."""
        return round(pixels * QFontMetricsF(self.font()).height() / 16)

    def set_appearance(self, appearance: str, zoom: float) -> None:
        """Set the appearance, `light`, `dark` or empty to follow the system, and the zoom factor of all text."""
        appearance = os.environ.get("SOTTO_APPEARANCE", "") or appearance
        if (appearance, zoom) != (self._forced, self.zoom):
            self._forced, self.zoom = appearance, zoom
            self.apply()

    def set_transparent(self, transparent: bool) -> None:
        """Set whether windows can be transparent, so that menus can have round corners."""
        if transparent != self.transparent:
            self.transparent = transparent
            self.apply()

    def _follow_system(self) -> None:
        if not self._forced:
            self.apply()

    def apply(self) -> None:
        """Set palette, font and style sheet of the application and emit `changed`."""
        dark = self._forced == "dark" or (not self._forced and self._hints.colorScheme() == Qt.ColorScheme.Dark)
        self.tokens = DARK if dark else LIGHT
        self._app.setPalette(_palette(self.tokens))
        self._app.setFont(self.font())
        sheet = style_sheet(self.tokens, self.base_points, transparent=self.transparent)
        if self._app.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            sheet = mirrored(sheet)
        self._app.setStyleSheet(sheet)
        self.changed.emit()


def margins(start: int, top: int, end: int, bottom: int) -> QMargins:
    """Return the margins of a layout or widget, which Qt does not mirror where reading begins at the right."""
    if QApplication.layoutDirection() is Qt.LayoutDirection.RightToLeft:
        return QMargins(end, top, start, bottom)
    return QMargins(start, top, end, bottom)


def current() -> Theme:
    """Return the application's theme; it is created on the first call."""
    return app_singleton(Theme)


def _palette(tokens: ColorTokens) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    colors = {
        role.Window: tokens.page,
        role.Base: tokens.raised,
        role.AlternateBase: tokens.sidebar,
        role.Button: tokens.raised,
        role.WindowText: tokens.text,
        role.Text: tokens.text,
        role.ButtonText: tokens.text,
        role.BrightText: tokens.on_accent,
        role.PlaceholderText: tokens.muted,
        role.Highlight: tokens.accent,
        role.HighlightedText: tokens.on_accent,
        role.Link: tokens.accent_text,
        role.LinkVisited: tokens.accent_text,
        role.ToolTipBase: tokens.raised,
        role.ToolTipText: tokens.text,
        role.Mid: tokens.line,
        role.Dark: tokens.edge,
        role.Light: tokens.raised,
        role.Shadow: tokens.edge,
    }
    for color_role, color in colors.items():
        palette.setColor(color_role, QColor(color))
    for color_role in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, color_role, QColor(tokens.faint))
    return palette

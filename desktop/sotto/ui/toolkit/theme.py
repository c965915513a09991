"""How the window looks: light or dark, the scales of space and type, and what the application is dressed in."""

import os

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPalette
from PySide6.QtWidgets import QApplication

from sotto.ui.toolkit.app_singleton import app_singleton
from sotto.ui.toolkit.colors import DARK, LIGHT, ColorTokens
from sotto.ui.toolkit.style_sheet import style_sheet

GAP_4, GAP_8, GAP_12, GAP_16, GAP_24, GAP_32 = 4, 8, 12, 16, 24, 32


class Theme(QObject):
    """The appearance in force.

    Signals:
        changed: The tokens or the sizes are others now; what was painted with the old ones must be painted again.
    """

    changed = Signal()

    def __init__(self, app: QApplication) -> None:
        """Dress `app` and follow the system's light or dark from then on."""
        super().__init__(app)
        self._app = app
        self._base = QFont(app.font())
        self._forced = os.environ.get("SOTTO_APPEARANCE", "")
        self.zoom = 1.0
        self.tokens = LIGHT
        self._hints = app.styleHints()  # kept: what hangs on it goes when its wrapper goes
        self._hints.colorSchemeChanged.connect(self._follow_system)
        app.setStyle("Fusion")
        self.apply()

    @property
    def base_points(self) -> float:
        """Size of body text, in points."""
        points = self._base.pointSizeF()
        return (points if points > 0 else self._base.pixelSize() * 0.75) * self.zoom

    def font(self, factor: float = 1.0, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        """Return the interface's font, larger or smaller than body text by `factor`."""
        font = QFont(self._base)
        font.setPointSizeF(self.base_points * factor)
        font.setWeight(weight)
        return font

    def code_font(self, factor: float = 0.95) -> QFont:
        """Return the font of code."""
        families = ("SF Mono", "Menlo", "JetBrains Mono", "Cascadia Mono", "DejaVu Sans Mono")
        known = QFontDatabase.families()
        family = next((family for family in families if family in known), "")
        font = QFont(family) if family else QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self.base_points * factor)
        return font

    def scaled(self, pixels: float) -> int:
        """Return a length that was chosen for 13 px text at the size of the text in force."""
        return round(pixels * QFontMetricsF(self.font()).height() / 16)

    def wear(self, appearance: str, zoom: float) -> None:
        """Choose `light` or `dark`, or follow the system with an empty text, and the size of all text."""
        appearance = os.environ.get("SOTTO_APPEARANCE", "") or appearance
        if (appearance, zoom) != (self._forced, self.zoom):
            self._forced, self.zoom = appearance, zoom
            self.apply()

    def _follow_system(self) -> None:
        if not self._forced:
            self.apply()

    def apply(self) -> None:
        """Hand palette, font and style sheet to the application and tell everyone."""
        dark = self._forced == "dark" or (not self._forced and self._hints.colorScheme() == Qt.ColorScheme.Dark)
        self.tokens = DARK if dark else LIGHT
        self._app.setPalette(_palette(self.tokens))
        self._app.setFont(self.font())
        self._app.setStyleSheet(style_sheet(self.tokens, self.base_points))
        self.changed.emit()


def current() -> Theme:
    """Return the application's theme, made at the first call."""
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
    for which, color in colors.items():
        palette.setColor(which, QColor(color))
    for which in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, QColor(tokens.faint))
    return palette

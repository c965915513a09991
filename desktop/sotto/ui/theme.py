"""How the window looks: colours of light and dark, the scales of space and type, and the style sheet made from them.

The accent has two uses only: the one primary action, and progress or selection. Everything else is neutral.
"""

import os
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPalette
from PySide6.QtWidgets import QApplication

GAP_4, GAP_8, GAP_12, GAP_16, GAP_24, GAP_32 = 4, 8, 12, 16, 24, 32

_SMALLEST_ZOOM, _LARGEST_ZOOM, _ZOOM_STEP = 0.7, 2.5, 1.1


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours of one appearance, each `#rrggbb`.

    Attributes:
        sidebar: Ground of the sidebar and of the menu bar.
        page: Ground of the chat.
        raised: Ground of what lies on the page: composer, menus, search field.
        bubble: Ground of a person's message.
        code: Ground of code.
        line: Hairlines.
        edge: Outlines of fields.
        text: Text.
        muted: Less important text; still easy to read on every ground.
        faint: What is no text: icons at rest, disabled marks.
        accent: The one colour.
        accent_hover: The accent under the pointer.
        on_accent: Text and icons on the accent.
        accent_text: The accent as text on a ground.
        selection: Ground of a chosen row.
        hover: Ground of what is under the pointer.
        pressed: Ground of what is held down.
        alert: Signs of failure.
        alert_ground: Ground of a notice.
        alert_line: Outline of a notice.
        others: Memory that other programs use.
        track: Free memory, and what progress has not reached.
        handle: Handles of scroll bars.
    """

    dark: bool
    sidebar: str
    page: str
    raised: str
    bubble: str
    code: str
    line: str
    edge: str
    text: str
    muted: str
    faint: str
    accent: str
    accent_hover: str
    on_accent: str
    accent_text: str
    selection: str
    hover: str
    pressed: str
    alert: str
    alert_ground: str
    alert_line: str
    others: str
    track: str
    handle: str


LIGHT = Tokens(
    dark=False,
    sidebar="#f6f6f9",
    page="#ffffff",
    raised="#ffffff",
    bubble="#f0f1f6",
    code="#f6f7fa",
    line="#e8e8ee",
    edge="#dcdce4",
    text="#1b1c22",
    muted="#646674",
    faint="#8b8d9a",
    accent="#4660e6",
    accent_hover="#3a52d2",
    on_accent="#ffffff",
    accent_text="#3f58dc",
    selection="#e6e9fa",
    hover="#ecedf2",
    pressed="#e2e3ea",
    alert="#c2362b",
    alert_ground="#fdf3f1",
    alert_line="#f3d5d0",
    others="#b4b7c6",
    track="#e4e5ec",
    handle="#c9cad4",
)

DARK = Tokens(
    dark=True,
    sidebar="#18191d",
    page="#1f2025",
    raised="#282a30",
    bubble="#2d2f37",
    code="#191a1e",
    line="#2d2e35",
    edge="#3a3c45",
    text="#ececf1",
    muted="#a2a4b1",
    faint="#80828f",
    accent="#5069ea",
    accent_hover="#6079f4",
    on_accent="#ffffff",
    accent_text="#93a5ff",
    selection="#2a3050",
    hover="#26272d",
    pressed="#2f3138",
    alert="#ff8377",
    alert_ground="#33221f",
    alert_line="#56342f",
    others="#5d606d",
    track="#33353d",
    handle="#474954",
)


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

    def force(self, appearance: str) -> None:
        """Choose `light` or `dark`; empty follows the system."""
        self._forced = appearance
        self.apply()

    def zoom_in(self) -> None:
        """Make all text larger."""
        self._zoom_to(self.zoom * _ZOOM_STEP)

    def zoom_out(self) -> None:
        """Make all text smaller."""
        self._zoom_to(self.zoom / _ZOOM_STEP)

    def zoom_reset(self) -> None:
        """Give text the size that the system asks for."""
        self._zoom_to(1.0)

    def _zoom_to(self, zoom: float) -> None:
        self.zoom = min(_LARGEST_ZOOM, max(_SMALLEST_ZOOM, zoom))
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
        self._app.setStyleSheet(_style_sheet(self.tokens, self.base_points))
        self.changed.emit()


def current() -> Theme:
    """Return the application's theme, made at the first call."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    known = app.findChild(Theme)
    return known if known is not None else Theme(app)


def _palette(tokens: Tokens) -> QPalette:
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


def _style_sheet(t: Tokens, points: float) -> str:
    def pt(factor: float) -> str:
        return f"font-size: {points * factor:.2f}pt;"

    return f"""
QMainWindow, QDialog, QMessageBox {{ background: {t.page}; }}
QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.edge}; padding: 4px 6px; {pt(0.92)} }}
QMenuBar {{ background: {t.sidebar}; color: {t.muted}; border: none; border-bottom: 1px solid {t.line};
    padding: 1px 8px; {pt(0.95)} }}
QMenuBar::item {{ background: transparent; padding: 4px 8px; border-radius: 5px; }}
QMenuBar::item:selected {{ background: {t.hover}; color: {t.text}; }}
QMenu {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.edge}; padding: 4px; }}
QMenu::item {{ padding: 5px 24px 5px 12px; border-radius: 5px; }}
QMenu::item:selected {{ background: {t.accent}; color: {t.on_accent}; }}
QMenu::item:disabled {{ color: {t.faint}; background: transparent; }}
QMenu::separator {{ height: 1px; background: {t.line}; margin: 4px 8px; }}

QScrollArea, #column, #transcriptBody, #listBody {{ background: transparent; border: none; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 2px; }}
QScrollBar::handle:vertical {{ background: {t.handle}; border-radius: 3px; min-height: 32px; }}
QScrollBar::handle:vertical:hover {{ background: {t.faint}; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 2px; }}
QScrollBar::handle:horizontal {{ background: {t.handle}; border-radius: 3px; min-width: 32px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}

QLabel {{ background: transparent; color: {t.text}; }}
QLabel[role="caption"] {{ color: {t.muted}; {pt(0.88)} }}
QLabel[role="muted"] {{ color: {t.muted}; }}
QLabel[role="section"] {{ color: {t.muted}; {pt(0.85)} font-weight: 600; }}
QLabel[role="strong"] {{ font-weight: 600; }}
QLabel[role="brand"] {{ {pt(1.12)} font-weight: 600; }}
QLabel[role="title"] {{ {pt(1.75)} font-weight: 600; }}
QLabel[role="lead"] {{ color: {t.muted}; {pt(1.08)} }}

#sidebar {{ background: {t.sidebar}; border: none; border-right: 1px solid {t.line}; }}
#gauge {{ border: none; border-top: 1px solid {t.line}; background: transparent; }}
#header {{ background: {t.page}; border: none; border-bottom: 1px solid {t.line}; }}
#chat {{ background: {t.page}; }}

QLineEdit#search {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.edge}; border-radius: 8px;
    padding: 5px 8px 5px 4px; selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
QLineEdit#search:focus {{ border: 2px solid {t.accent}; padding: 4px 7px 4px 3px; }}

QPushButton, QToolButton {{ background: transparent; color: {t.text}; border: 1px solid transparent; border-radius: 7px;
    padding: 5px 10px; }}
QPushButton:hover, QToolButton:hover {{ background: {t.hover}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {t.pressed}; }}
QPushButton:focus, QToolButton:focus {{ border: 1px solid {t.accent}; }}
QPushButton:disabled, QToolButton:disabled {{ color: {t.faint}; }}
QPushButton[role="quiet"], QToolButton[role="quiet"] {{ color: {t.muted}; padding: 3px 7px; {pt(0.88)} }}
QPushButton[role="quiet"]:hover, QToolButton[role="quiet"]:hover {{ color: {t.text}; }}
QToolButton#copyAnswer {{ padding-left: 0; }}
QPushButton[role="outlined"] {{ background: {t.raised}; border: 1px solid {t.edge}; }}
QPushButton[role="outlined"]:hover {{ background: {t.hover}; }}
QPushButton[role="outlined"]:focus {{ border: 1px solid {t.accent}; }}
QPushButton[role="chip"] {{ background: {t.raised}; border: 1px solid {t.edge}; border-radius: 10px; padding: 8px 14px;
    text-align: left; }}
QPushButton[role="chip"]:hover {{ background: {t.hover}; }}
QPushButton[role="chip"]:focus {{ border: 1px solid {t.accent}; }}
QPushButton[role="primary"], QToolButton[role="primary"], QMessageBox QPushButton {{ background: {t.accent};
    color: {t.on_accent}; border: 1px solid {t.accent}; }}
QPushButton[role="primary"]:hover, QToolButton[role="primary"]:hover, QMessageBox QPushButton:hover
    {{ background: {t.accent_hover}; border: 1px solid {t.accent_hover}; }}
QPushButton[role="primary"]:focus, QToolButton[role="primary"]:focus {{ border: 1px solid {t.text}; }}
QToolButton#send {{ padding: 5px; border-radius: 9px; }}
QToolButton#send:disabled {{ background: {t.track}; border-color: {t.track}; }}
QToolButton#newest {{ background: {t.raised}; border: 1px solid {t.edge}; padding: 6px; border-radius: 14px; }}
QToolButton#newest:hover {{ background: {t.hover}; }}
QToolButton#newest:focus {{ border: 1px solid {t.accent}; }}
QPushButton[role="load"] {{ color: {t.accent_text}; background: {t.raised}; border: 1px solid {t.edge};
    padding: 2px 9px; border-radius: 6px; {pt(0.88)} font-weight: 600; }}
QPushButton[role="load"]:hover {{ background: {t.hover}; }}
QPushButton[role="load"]:focus {{ border: 1px solid {t.accent}; }}

#composer {{ background: {t.raised}; border: 1px solid {t.edge}; border-radius: 14px; }}
#composer[focused="true"] {{ border: 1px solid {t.accent}; }}
QPlainTextEdit#draft {{ background: transparent; border: none; color: {t.text}; {pt(1.06)}
    selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
QTextBrowser {{ background: transparent; border: none; color: {t.text};
    selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
#bubble {{ background: {t.bubble}; border: none; border-radius: 14px; }}
#notice {{ background: {t.alert_ground}; border: 1px solid {t.alert_line}; border-radius: 10px; }}
#notice[kind="question"] {{ background: {t.raised}; border: 1px solid {t.edge}; }}
"""

"""The application's style sheet."""

import re

from sotto.ui.toolkit.colors import ColorTokens

_FOUR_SIDES = re.compile(r"((?:padding|margin): [^\s;]+) ([^\s;]+) ([^\s;]+) ([^\s;]+);")
_SIDES = re.compile(r"border-(left|right)|(?<=QSlider::)(sub|add)(?=-page)")
_OTHER = {"left": "right", "right": "left", "sub": "add", "add": "sub"}


def mirrored(sheet: str) -> str:
    """Return a style sheet for windows that are read from right to left, as Qt mirrors only texts and layouts."""
    sheet = _FOUR_SIDES.sub(r"\1 \4 \3 \2;", sheet)
    return _SIDES.sub(lambda found: re.sub("left|right|sub|add", lambda word: _OTHER[word[0]], found[0]), sheet)


def style_sheet(t: ColorTokens, points: float, *, transparent: bool) -> str:
    """Return the style sheet for a theme.

    Args:
        t: The colours; a short name, because nearly every line uses it.
        points: Size of body text in points.
        transparent: Whether windows can be transparent, so that menus and the list of models can have round corners.
    """
    menu_radius, picker_radius = (8, 12) if transparent else (0, 0)

    def pt(factor: float) -> str:
        return f"font-size: {points * factor:.2f}pt;"

    return f"""
QMainWindow, QDialog {{ background: {t.page}; }}
QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.edge}; padding: 4px 6px; {pt(0.92)} }}
QMenuBar {{ background: {t.sidebar}; color: {t.muted}; border: none; border-bottom: 1px solid {t.line};
    padding: 1px 8px; {pt(0.95)} }}
QMenuBar::item {{ background: transparent; padding: 4px 8px; border-radius: 5px; }}
QMenuBar::item:selected {{ background: {t.hover}; color: {t.text}; }}
QMenu {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.edge}; border-radius: {menu_radius}px;
    padding: 4px; }}
QMenu::item {{ padding: 5px 24px 5px 12px; border-radius: 5px; }}
QMenu::item:selected {{ background: {t.accent}; color: {t.on_accent}; }}
QMenu::item:disabled {{ color: {t.faint}; background: transparent; }}
QMenu::separator {{ height: 1px; background: {t.line}; margin: 4px 8px; }}

QScrollArea, #viewer > QWidget, #transcriptBody, #listBody, #sidebarBody {{ background: transparent; border: none; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 2px; }}
QScrollBar::handle:vertical {{ background: {t.handle}; border-radius: 3px; min-height: 32px; }}
QScrollBar::handle:vertical:hover {{ background: {t.faint}; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 2px; }}
QScrollBar::handle:horizontal {{ background: {t.handle}; border-radius: 3px; min-width: 32px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}

QLabel {{ background: transparent; color: {t.text}; }}
QLabel[role="caption"] {{ color: {t.muted}; {pt(0.88)} }}
QLabel[role="good"] {{ color: {t.good}; {pt(0.88)} }}
QLabel[role="warn"] {{ color: {t.warn}; {pt(0.88)} }}
QLabel[role="alert"] {{ color: {t.alert}; {pt(0.88)} }}
QLabel[role="pill"] {{ color: {t.muted}; background: {t.raised}; border: 1px solid {t.edge}; border-radius: 5px;
    padding: 1px 5px; {pt(0.88)} }}
QLabel[role="muted"] {{ color: {t.muted}; }}
QLabel[role="section"] {{ color: {t.muted}; {pt(0.85)} font-weight: 600; }}
QLabel[role="strong"] {{ font-weight: 600; }}
QLabel[role="error"] {{ color: {t.alert}; {pt(0.92)} }}
QLabel[role="heading"] {{ {pt(1.35)} font-weight: 600; }}
QLabel[role="brand"] {{ {pt(1.12)} font-weight: 600; }}
QLabel[role="title"] {{ {pt(1.75)} font-weight: 600; }}
QLabel[role="lead"] {{ color: {t.muted}; {pt(1.08)} }}

#sidebar {{ background: {t.sidebar}; border: none; border-right: 1px solid {t.line}; }}
#chats, #lists {{ background: transparent; border: none; }}
QSplitter#lists::handle {{ background: {t.line}; height: 1px; margin: 0 16px; }}
QListView#chatView, QListView#requests {{ background: transparent; border: none; outline: none; }}
QListView#chatView QLineEdit {{ background: {t.raised}; color: {t.text}; border: 2px solid {t.accent};
    border-radius: 6px; padding: 2px 5px; selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
#foot {{ border: none; border-top: 1px solid {t.line}; background: transparent; }}
#gauge {{ border: none; border-top: 1px solid {t.line}; background: transparent; }}
#find {{ background: {t.page}; border: none; border-bottom: 1px solid {t.line}; }}
#header {{ background: {t.page}; border: none; border-bottom: 1px solid {t.line}; }}
#chat {{ background: {t.page}; }}
#quick {{ background: {t.page}; border: 1px solid {t.edge}; }}
#quick[round="true"] {{ border-radius: 18px; }}
#quick > #composer, #quick > #composer[focused="true"] {{ background: transparent; border: none; }}
#quick > #transcript {{ border-bottom: 1px solid {t.line}; }}

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
QToolButton[role="section"] {{ color: {t.muted}; padding: 3px 6px; {pt(0.85)} font-weight: 600; }}
QToolButton[role="section"]:hover {{ color: {t.text}; }}
QPushButton[role="outlined"], QToolButton[role="outlined"] {{ background: {t.raised}; border: 1px solid {t.edge}; }}
QPushButton[role="outlined"]:hover, QToolButton[role="outlined"]:hover {{ background: {t.hover}; }}
QPushButton[role="outlined"]:focus, QToolButton[role="outlined"]:focus {{ border: 1px solid {t.accent}; }}
QPushButton[role="chip"] {{ background: {t.raised}; border: 1px solid {t.edge}; border-radius: 10px; padding: 8px 14px;
    text-align: left; }}
QPushButton[role="chip"]:hover {{ background: {t.hover}; }}
QPushButton[role="chip"]:focus {{ border: 1px solid {t.accent}; }}
QPushButton[role="primary"], QToolButton[role="primary"] {{ background: {t.accent}; color: {t.on_accent};
    border: 1px solid {t.accent}; }}
QPushButton[role="primary"]:hover, QToolButton[role="primary"]:hover {{ background: {t.accent_hover};
    border: 1px solid {t.accent_hover}; }}
QPushButton[role="primary"]:focus, QToolButton[role="primary"]:focus {{ border: 1px solid {t.text}; }}
QPushButton[role="primary"]:disabled {{ background: {t.track}; border-color: {t.track}; color: {t.faint}; }}
QToolButton#send {{ padding: 5px; border-radius: 9px; }}
QToolButton#send:disabled {{ background: {t.track}; border-color: {t.track}; }}
QToolButton#newest {{ background: {t.raised}; border: 1px solid {t.edge}; padding: 6px; border-radius: 14px; }}
QToolButton#newest:hover {{ background: {t.hover}; }}
QToolButton#newest:focus {{ border: 1px solid {t.accent}; }}

#composer {{ background: {t.raised}; border: 1px solid {t.edge}; border-radius: 14px; }}
#composer[focused="true"] {{ border: 1px solid {t.accent}; }}
#actionPanel {{ background: {t.alert_ground}; border: 1px solid {t.alert_line}; border-radius: 10px; }}
#attachment {{ background: {t.page}; border: 1px solid {t.edge}; border-radius: 9px; }}
QToolButton#attach {{ padding: 4px; }}
QPlainTextEdit#draft, QPlainTextEdit#edited {{ background: transparent; border: none; color: {t.text}; {pt(1.06)}
    selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
QTextBrowser {{ background: transparent; border: none; color: {t.text};
    selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
QTextBrowser[role="thought"] {{ color: {t.muted}; }}
QToolButton#againWith {{ padding: 3px 0; }}
QFileDialog QToolButton {{ padding: 2px; }}
QPushButton#showMore {{ padding: 3px 7px 3px 0; color: {t.accent_text}; text-align: left; }}
QToolButton#unfold {{ padding: 3px 3px 3px 0; }}
#bubble {{ background: {t.bubble}; border: none; border-radius: 14px; }}
#choicesBody {{ background: transparent; }}
#choices {{ background: {t.sidebar}; border: none; border-left: 1px solid {t.line}; }}
QPlainTextEdit#system, QPlainTextEdit#schema, QPlainTextEdit#report, QSpinBox, QDoubleSpinBox, QLineEdit#value {{
    background: {t.page}; color: {t.text}; border: 1px solid {t.edge}; border-radius: 7px; padding: 3px 6px;
    selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
QKeySequenceEdit QLineEdit {{ background: {t.page}; color: {t.text}; border: 1px solid {t.edge}; border-radius: 7px; }}
QLineEdit#value, QKeySequenceEdit QLineEdit {{ padding: 4px 9px 5px 9px; }}
QKeySequenceEdit QLineEdit:focus {{ border: 1px solid {t.accent}; }}
QDoubleSpinBox[unset="true"] {{ color: {t.muted}; }}
QPlainTextEdit#system:focus, QPlainTextEdit#schema:focus, QPlainTextEdit#report:focus, QSpinBox:focus,
QDoubleSpinBox:focus, QLineEdit#value:focus {{ border: 1px solid {t.accent}; }}
QSpinBox::up-button, QDoubleSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::down-button {{ width: 0;
    border: none; }}
#pickerFrame {{ background: {t.raised}; border: 1px solid {t.edge}; border-radius: {picker_radius}px; }}
#palette {{ background: {t.raised}; border: 1px solid {t.edge}; border-radius: 12px; }}
#palette QLineEdit {{ background: transparent; border: none; border-bottom: 1px solid {t.line}; color: {t.text};
    padding: 8px 10px; {pt(1.12)} selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
#palette QListView {{ background: transparent; border: none; outline: none; }}
#settings {{ background: {t.page}; }}
#settingsBody {{ background: {t.page}; }}
QListWidget#pages {{ background: {t.sidebar}; border: none; border-right: 1px solid {t.line}; outline: none;
    padding: 12px 8px; }}
QListWidget#pages::item {{ border-radius: 7px; padding: 6px 8px; color: {t.text}; border: 1px solid transparent; }}
QListWidget#pages::item:hover {{ background: {t.hover}; }}
QListWidget#pages::item:selected {{ background: {t.selection}; color: {t.text}; }}
QListWidget#pages::item:selected:focus {{ border: 1px solid {t.accent}; }}
#settingsGroup {{ background: {t.raised}; border: 1px solid {t.line}; border-radius: 10px; }}
#settingsLine {{ background: {t.line}; border: none; }}
#segments {{ background: {t.track}; border: none; border-radius: 8px; }}
QRadioButton[role="segment"] {{ background: transparent; color: {t.text}; border: 1px solid transparent;
    border-radius: 6px; padding: 3px 10px; spacing: 0; }}
QRadioButton[role="segment"]::indicator {{ width: 0; height: 0; }}
QRadioButton[role="segment"]:hover {{ background: {t.hover}; }}
QRadioButton[role="segment"]:checked {{ background: {t.raised}; border: 1px solid {t.edge}; }}
QRadioButton[role="segment"]:focus {{ border: 1px solid {t.accent}; }}
#finds {{ background: {t.sidebar}; border: 1px solid {t.line}; border-radius: 12px; }}
#modelCard, #getCard, #serverCard {{ background: {t.raised}; border: 1px solid {t.edge}; border-radius: 12px; }}
#modelCard[docked="true"] {{ background: {t.sidebar}; border: none; border-left: 1px solid {t.line};
    border-radius: 0; }}
#modelsPage, #findingPage {{ background: {t.page}; }}
#offerList {{ background: transparent; border: none; outline: none; }}
#offerCard {{ background: {t.sidebar}; border: none; border-left: 1px solid {t.line}; }}
#offerVersion {{ background: {t.raised}; border: 1px solid {t.line}; border-radius: 10px; }}
#modelTable, #modelTableHeader {{ background: transparent; border: none; outline: none; }}
#modelTable {{ selection-background-color: transparent; }}
#download {{ background: {t.raised}; border: 1px solid {t.line}; border-radius: 10px; }}
#modelCard QFrame#rule, #serverCard QFrame#rule {{ background: {t.line}; border: none; max-height: 1px; }}
QSlider::groove:horizontal {{ height: 4px; background: {t.track}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ background: {t.accent}; border-radius: 2px; }}
QSlider::handle:horizontal {{ background: {t.raised}; border: 1px solid {t.faint}; width: 14px; height: 14px;
    margin: -6px 0; border-radius: 8px; }}
QSlider::handle:horizontal:hover {{ border: 1px solid {t.accent}; }}
QSlider::handle:horizontal:focus {{ border: 2px solid {t.accent}; width: 12px; height: 12px; }}
#notice {{ background: {t.alert_ground}; border: 1px solid {t.alert_line}; border-radius: 10px; }}
#notice[kind="question"] {{ background: {t.raised}; border: 1px solid {t.edge}; }}
"""

"""What Markdown looks like: fonts, colours and margins of a document that Qt has read."""

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrame,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)

from sotto.ui.markdown import is_code
from sotto.ui.theme import GAP_4, GAP_8, GAP_12, GAP_16, Theme

CODE_PAD = GAP_12
"""Pixels between code and the edge of its ground."""
CODE_GAP = GAP_8
"""Pixels between the ground of code and the text above and below."""
QUOTE_INDENT = GAP_16
"""Pixels by which a quotation is moved in; its bar stands in them."""
_HEADINGS = {1: 1.45, 2: 1.25, 3: 1.1}
_LINE_PERCENT = 138


def dress(document: QTextDocument, theme: Theme) -> None:
    """Give every block of `document` the theme's looks."""
    cursor = QTextCursor(document)
    block = document.begin()
    while block.isValid():
        _dress_block(cursor, block, theme)
        block = block.next()
    _dress_tables(document.rootFrame(), theme)


def _dress_block(cursor: QTextCursor, block: QTextBlock, theme: Theme) -> None:
    old = block.blockFormat()
    new = QTextBlockFormat()
    new.setLineHeight(_LINE_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    code = is_code(old)
    if code:
        new.setLineHeight(125, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        new.setLeftMargin(CODE_PAD)
        new.setRightMargin(CODE_PAD)
        new.setTopMargin(0 if _code(block.previous()) else CODE_PAD + CODE_GAP)
        new.setBottomMargin(0 if _code(block.next()) else CODE_PAD + CODE_GAP)
        new.setNonBreakableLines(False)
    elif level := old.headingLevel():
        new.setTopMargin(GAP_16 if level < 3 else GAP_12)
        new.setBottomMargin(GAP_8)
    elif QTextCursor(block).currentTable() is None:
        new.setTopMargin(0)
        new.setBottomMargin(GAP_4 if block.textList() else GAP_12)
    if quote := old.intProperty(QTextFormat.Property.BlockQuoteLevel):
        new.setLeftMargin(quote * QUOTE_INDENT)
        new.setRightMargin(0)
    cursor.setPosition(block.position())
    cursor.mergeBlockFormat(new)
    _dress_characters(cursor, block, theme, code)


def _dress_characters(cursor: QTextCursor, block: QTextBlock, theme: Theme, code: bool) -> None:
    level = block.blockFormat().headingLevel()
    tokens = theme.tokens
    if level:
        heading = QTextCharFormat()
        heading.setProperty(QTextFormat.Property.FontSizeAdjustment, 0)
        heading.setFontPointSize(theme.base_points * _HEADINGS.get(level, 1.0))
        heading.setFontWeight(QFont.Weight.DemiBold)
        _merge(cursor, block.position(), block.position() + block.length() - 1, heading)
    if block.blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel):
        quoted = QTextCharFormat()
        quoted.setForeground(QBrush(QColor(tokens.muted)))
        _merge(cursor, block.position(), block.position() + block.length() - 1, quoted)
    spans = []
    fragments = block.begin()
    while not fragments.atEnd():
        fragment = fragments.fragment()
        spans.append((fragment.position(), fragment.length(), fragment.charFormat()))
        fragments += 1
    for start, length, known in spans:
        if code or known.fontFixedPitch():
            mono = QTextCharFormat()
            mono.setFontFamilies(theme.code_font().families())
            mono.setFontPointSize(theme.code_font().pointSizeF())
            if not code:
                mono.setBackground(QBrush(QColor(tokens.bubble)))
            _merge(cursor, start, start + length, mono)
        elif known.isAnchor():
            link = QTextCharFormat()
            link.setForeground(QBrush(QColor(tokens.accent_text)))
            link.setFontUnderline(True)
            _merge(cursor, start, start + length, link)
    if code and not spans:
        empty = QTextCharFormat()
        empty.setFontFamilies(theme.code_font().families())
        empty.setFontPointSize(theme.code_font().pointSizeF())
        cursor.setPosition(block.position())
        cursor.mergeBlockCharFormat(empty)


def _merge(cursor: QTextCursor, start: int, end: int, look: QTextCharFormat) -> None:
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    cursor.mergeCharFormat(look)


def _dress_tables(frame: QTextFrame, theme: Theme) -> None:
    for child in frame.childFrames():
        if isinstance(child, QTextTable):
            look = child.format()
            look.setBorder(1)
            look.setBorderBrush(QBrush(QColor(theme.tokens.edge)))
            look.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
            look.setBorderCollapse(True)
            look.setCellPadding(GAP_4 + 1)
            look.setCellSpacing(0)
            look.setTopMargin(GAP_4)
            look.setBottomMargin(GAP_4)
            look.setAlignment(Qt.AlignmentFlag.AlignLeft)
            look.setWidth(QTextLength())
            child.setFormat(look)
        _dress_tables(child, theme)


def _code(block: QTextBlock) -> bool:
    return block.isValid() and is_code(block.blockFormat())

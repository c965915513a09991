"""Fonts, colours and margins of a document that Qt has read from Markdown."""

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
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

from sotto.ui.markdown.renderer import BEGINS_CODE, is_code
from sotto.ui.toolkit.theme import GAP_4, GAP_8, GAP_12, GAP_16, GAP_24, Theme

CODE_PAD = GAP_12
"""Pixels between code and the edge of its background."""
HEADER = 32
"""Height of the header over code, at 13 px text."""
CODE_GAP = GAP_8
"""Pixels between the background of code and the text above and below it."""
QUOTE_INDENT = GAP_16
"""Pixels by which a quotation is indented; its bar is drawn there."""
_HEADINGS = {1: 1.5, 2: 1.25, 3: 1.1}
TASK_GAP = GAP_8
"""Pixels between a task and its checkbox."""
_CELL_PAD = 8
_WIDEST_WORD = 40
_COLUMN = 200.0
_ITEM_GAP = 6
_LINE_PERCENT = 138
_CODE_PERCENT = 125
# Qt adds the extra height of a line below its text, so the text of a cell would not look centred.
_CELL_PERCENT = 108


def dress(document: QTextDocument, theme: Theme) -> None:
    """Apply the theme to every block of `document`."""
    cursor = QTextCursor(document)
    block = document.begin()
    while block.isValid():
        if is_code(block.blockFormat()):
            block = _dress_code(cursor, block, theme)
        else:
            _dress_block(cursor, block, theme)
        block = block.next()
    _dress_tables(document.rootFrame(), theme)


def _dress_code(cursor: QTextCursor, first: QTextBlock, theme: Theme) -> QTextBlock:
    """Style all lines of a code block at once, and return the last of them."""
    last = first
    language = QTextFormat.Property.BlockCodeLanguage
    while is_code(last.next().blockFormat()) and (
        last.next().blockFormat().property(language) == first.blockFormat().property(language)
    ):
        last = last.next()
    lines = QTextBlockFormat()
    lines.setLineHeight(_CODE_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    lines.setLeftMargin(CODE_PAD + first.blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel) * QUOTE_INDENT)
    lines.setRightMargin(CODE_PAD)
    lines.setTopMargin(0)
    lines.setBottomMargin(0)
    lines.setNonBreakableLines(True)
    lines.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    lines.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute)
    cursor.setPosition(first.position())
    cursor.setPosition(last.position() + last.length() - 1, QTextCursor.MoveMode.KeepAnchor)
    cursor.mergeBlockFormat(lines)
    mono = _mono(theme)
    cursor.mergeCharFormat(mono)
    cursor.mergeBlockCharFormat(mono)
    above, below = QTextBlockFormat(), QTextBlockFormat()
    above.setTopMargin(CODE_GAP + theme.scaled(HEADER) + CODE_PAD)
    above.setProperty(BEGINS_CODE, True)
    below.setBottomMargin(CODE_PAD + CODE_GAP)
    for block, look in ((first, above), (last, below)):
        cursor.setPosition(block.position())
        cursor.mergeBlockFormat(look)
    return last


def _points(block: QTextBlock) -> float:
    """Return the size of the text around a block, in points."""
    return block.document().defaultFont().pointSizeF()


def _mono(theme: Theme) -> QTextCharFormat:
    font = theme.code_font()
    mono = QTextCharFormat()
    mono.setFontFamilies(font.families())
    mono.setFontPointSize(font.pointSizeF())
    return mono


def is_from_right(block: QTextBlock) -> bool:
    """Return whether a paragraph is written from right to left, by its first letter."""
    return block.textDirection() == Qt.LayoutDirection.RightToLeft


def _dress_block(cursor: QTextCursor, block: QTextBlock, theme: Theme) -> None:
    old = block.blockFormat()
    new = QTextBlockFormat()
    in_table = QTextCursor(block).currentTable() is not None
    percent = _CELL_PERCENT if in_table else _LINE_PERCENT
    new.setLineHeight(percent, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    if level := old.headingLevel():
        new.setTopMargin(GAP_24 if level < 3 else GAP_16)
        new.setBottomMargin(GAP_8)
    elif not in_table:
        new.setTopMargin(0)
        # The last item of a list is as far from what follows as a paragraph.
        inside = block.textList() is not None and block.next().textList() is not None
        new.setBottomMargin(_ITEM_GAP if inside else GAP_12)
    if old.hasProperty(QTextFormat.Property.BlockTrailingHorizontalRulerWidth):
        # Of a rule, this is the colour of the line.
        new.setBackground(QBrush(QColor(theme.tokens.edge)))
    if quote := old.intProperty(QTextFormat.Property.BlockQuoteLevel):
        # Qt mirrors indents, but not margins.
        from_right = is_from_right(block)
        new.setLeftMargin(0 if from_right else quote * QUOTE_INDENT)
        new.setRightMargin(quote * QUOTE_INDENT if from_right else 0)
    cursor.setPosition(block.position())
    cursor.mergeBlockFormat(new)
    _dress_characters(cursor, block, theme)


def _dress_characters(cursor: QTextCursor, block: QTextBlock, theme: Theme) -> None:
    level = block.blockFormat().headingLevel()
    quoted = block.blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel)
    size = _points(block) * _HEADINGS.get(level, 1.0)
    tokens = theme.tokens
    spans = []
    fragments = block.begin()
    while not fragments.atEnd():
        fragment = fragments.fragment()
        spans.append((fragment.position(), fragment.length(), fragment.charFormat()))
        fragments += 1
    for start, length, look in spans:
        code = look.fontFixedPitch()
        if not (level or quoted or code or look.isAnchor()):
            continue
        # Qt's own size of a heading overrides every other, even where it is zero.
        look.clearProperty(QTextFormat.Property.FontSizeAdjustment)
        if level:
            look.setFontPointSize(size)
            look.setFontWeight(QFont.Weight.DemiBold)
        if quoted:
            look.setForeground(QBrush(QColor(tokens.muted)))
        if code:
            look.merge(_mono(theme))
            look.setFontPointSize(size)
            look.setBackground(QBrush(QColor(tokens.bubble)))
        elif look.isAnchor():
            look.setForeground(QBrush(QColor(tokens.accent_text)))
            look.setFontUnderline(True)
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.setCharFormat(look)


def _dress_tables(frame: QTextFrame, theme: Theme) -> None:
    for child in frame.childFrames():
        if isinstance(child, QTextTable):
            _dress_table(child, theme)
        _dress_tables(child, theme)


def _dress_table(table: QTextTable, theme: Theme) -> None:
    """Draw lines between the rows of a table, and align its column headings with the cells below them."""
    look = table.format()
    look.setBorder(0)
    look.setBorderCollapse(True)
    look.setCellPadding(_CELL_PAD)
    look.setCellSpacing(0)
    look.setTopMargin(GAP_4)
    look.setBottomMargin(GAP_16)
    # WORKAROUND: Qt has no tables whose first column is at the right. Check the layout direction of a table's format.
    from_right = is_from_right(table.cellAt(0, 0).firstCursorPosition().block())
    look.setAlignment(Qt.AlignmentFlag.AlignRight if from_right else Qt.AlignmentFlag.AlignLeft)
    look.setWidth(QTextLength())
    table.setFormat(look)
    cursor = QTextCursor(table.document())
    for row in range(table.rows()):
        rule = QBrush(QColor(theme.tokens.edge if row == 0 else theme.tokens.line))
        for column in range(table.columns()):
            cell = table.cellAt(row, column)
            shape = cell.format().toTableCellFormat()
            shape.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
            shape.setBottomBorder(1)
            shape.setBottomBorderBrush(rule)
            shape.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
            cell.setFormat(shape)
            if row == 0 and table.rows() > 1:
                below = table.cellAt(1, column).firstCursorPosition().blockFormat()
                head = QTextBlockFormat()
                head.setAlignment(below.alignment())
                cursor.setPosition(cell.firstPosition())
                cursor.setPosition(cell.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
                cursor.mergeBlockFormat(head)


def fit_table(first: QTextBlock, room: float) -> float:
    """Set the widths of a table's columns so that no word is broken.

    A table that fits, if need be by wrapping between words, is at most `room` pixels wide. Otherwise each column gets a
    width that reads well, and the table is scrolled sideways.

    Returns:
        The width of a table that is wider than `room`; 0 for any other.
    """
    table = QTextCursor(first).currentTable()
    if table is None:
        return 0.0
    least, most = [0.0] * table.columns(), [0.0] * table.columns()
    for row in range(table.rows()):
        for column in range(table.columns()):
            cell = table.cellAt(row, column)
            start = cell.firstCursorPosition()
            start.setPosition(cell.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
            metrics = QFontMetricsF(start.charFormat().font())
            text = start.selectedText()
            # Measuring the few longest words is close enough: the others are narrower.
            words = sorted(text.split(), key=len)[-3:]
            widest = max((metrics.horizontalAdvance(word) for word in words), default=0.0)
            limit = _WIDEST_WORD * metrics.averageCharWidth()
            least[column] = max(least[column], min(widest, limit))
            most[column] = max(most[column], metrics.horizontalAdvance(text[:2000]))
    padding = 2 * _CELL_PAD + 2
    least, most = [width + padding for width in least], [width + padding for width in most]
    narrow, wide = sum(least) + 2, sum(most) + 2
    if wide <= room:
        widths: list[float] = []
    elif narrow <= room:
        share = (room - narrow) / max(1.0, wide - narrow)
        widths = [low + (high - low) * share for low, high in zip(least, most, strict=True)]
    else:
        widths = [max(low, min(high, _COLUMN)) for low, high in zip(least, most, strict=True)]
    lengths = [QTextLength(QTextLength.Type.FixedLength, width) for width in widths]
    look = table.format()
    # Qt applies the margin below a block only where another block follows, and a table is none.
    after_code = is_code(first.previous().blockFormat())
    above = float(CODE_GAP + CODE_PAD + GAP_4 if after_code else GAP_4)
    if look.columnWidthConstraints() != lengths or look.topMargin() != above:
        look.setTopMargin(above)
        look.setColumnWidthConstraints(lengths)
        look.setWidth(QTextLength(QTextLength.Type.FixedLength, sum(widths)) if widths else QTextLength())
        table.setFormat(look)
    return sum(widths) if narrow > room else 0.0

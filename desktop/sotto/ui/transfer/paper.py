"""A chat on pages: as PDF, and on a printer; both from the same rich text."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QLocale, QMarginsF, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QImageReader,
    QPagedPaintDevice,
    QPageLayout,
    QPageSize,
    QPainter,
    QPalette,
    QPdfWriter,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextDocumentFragment,
    QTextOption,
)

from sotto import __version__
from sotto.chats.chat_records import Attachment, Chat, Turn
from sotto.errors import SottoError
from sotto.ui.markdown.formula_placer import DrawingRequest, picture_of
from sotto.ui.markdown.math_svg import Formula
from sotto.ui.markdown.renderer import SealedDocument
from sotto.ui.toolkit.colors import LIGHT
from sotto.ui.toolkit.translation import tr
from sotto.ui.transfer.chat_page import MOST_FORMULAS, formula_text, paper_parts, title_of
from sotto.ui.transfer.page_styles import PAPER_STYLE

_POINTS = 10.0
# Pixels of text of that size, at the 96 dots per inch in which rich text is measured.
_PIXELS = _POINTS * 96 / 72
# The resolution of formulas, in dots for each of these pixels.
_SCALE = 4.0
_MARGIN_MM = 18.0
_DPI = 600
_FOOTER_INCHES = 0.4
_SMALL_POINTS = 8.0
_INDENT = 20.0
_BLOCKS = 20
# The longer side of an image, at 96 dots per inch.
_PICTURE_PIXELS = 300


class PrintError(SottoError):
    """A chat cannot be printed."""


def pdf_of(
    chat: Chat,
    turns: Sequence[Turn],
    family: str,
    stopped: Callable[[], bool] = lambda: False,
    *,
    thumbnail_of: Callable[[Attachment], bytes] = lambda image: b"",
) -> bytes:
    """Return a chat as PDF; may take a while, on any thread.

    Args:
        chat: The chat.
        turns: The branch to show.
        family: The font of the text.
        stopped: Polled; returns whether to give up, with an incomplete document.
        thumbnail_of: Returns an image made small, as PNG; empty if it cannot be shown.
    """
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(title_of(chat))
    writer.setCreator(f"Sotto {__version__}")
    writer.setResolution(_DPI)
    writer.setPageLayout(usual_layout())
    print_chat(chat, turns, family, writer, stopped, thumbnail_of=thumbnail_of)
    # It writes the end of the file when it is destroyed.
    del writer
    return bytes(buffer.data().data())


def print_chat(
    chat: Chat,
    turns: Sequence[Turn],
    family: str,
    device: QPagedPaintDevice,
    stopped: Callable[[], bool] = lambda: False,
    pages: tuple[int, int] | None = None,
    *,
    thumbnail_of: Callable[[Attachment], bytes] = lambda image: b"",
) -> None:
    """Print a chat on the pages of a device, which must not be drawn on elsewhere meanwhile; see `pdf_of`.

    Args:
        chat: The chat.
        turns: The branch to show.
        family: The font of the text.
        device: Where to.
        stopped: Polled; returns whether to give up.
        pages: The first and the last page to print; None for all.
        thumbnail_of: Returns an image made small, as PNG; empty if it cannot be shown.

    Raises:
        PrintError: The device cannot be drawn on.
    """
    document = _document_of(chat, turns, family, stopped, thumbnail_of)
    footer = round(device.logicalDpiY() * _FOOTER_INCHES)
    width, height = device.width(), device.height() - footer
    # The document is laid out in the dots of the device, so that no letter is out of place.
    layout = document.documentLayout()
    layout.setPaintDevice(device)
    document.setPageSize(QSizeF(width, height))
    _lay_out(document, stopped)
    painter = QPainter()
    if not painter.begin(device):
        raise PrintError(tr("The printer could not be used: choose another one, or print to a file."))
    count = document.pageCount()
    look = QAbstractTextDocumentLayout.PaintContext()
    look.palette.setColor(QPalette.ColorRole.Text, QColor(LIGHT.text))
    first, last = (max(1, pages[0]), min(count, pages[1])) if pages else (1, count)
    for page in range(first, last + 1):
        if stopped():
            break
        if page > first:
            device.newPage()
        top = (page - 1) * height
        look.clip = QRectF(0, top, width, height)
        painter.save()
        painter.translate(0, -top)
        painter.setClipRect(look.clip)
        layout.draw(painter, look)
        painter.restore()
        painter.setFont(_font(family, _SMALL_POINTS))
        painter.setPen(QColor(LIGHT.muted))
        area = QRectF(0, height, width, footer)
        painter.drawText(area, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignRight, f"{page} / {count}")
    painter.end()


def usual_layout() -> QPageLayout:
    """Return a page of the size that is usual here."""
    metric = QLocale.system().measurementSystem() is QLocale.MeasurementSystem.MetricSystem
    size = QPageSize(QPageSize.PageSizeId.A4 if metric else QPageSize.PageSizeId.Letter)
    margins = QMarginsF(_MARGIN_MM, _MARGIN_MM, _MARGIN_MM, _MARGIN_MM)
    return QPageLayout(size, QPageLayout.Orientation.Portrait, margins, QPageLayout.Unit.Millimeter)


def _document_of(
    chat: Chat,
    turns: Sequence[Turn],
    family: str,
    stopped: Callable[[], bool],
    thumbnail_of: Callable[[Attachment], bytes],
) -> QTextDocument:
    document = SealedDocument()
    font = _font(family, _POINTS)
    document.setDefaultFont(font)
    document.setDocumentMargin(0)
    document.setIndentWidth(_INDENT)
    # A long word must not run off the page.
    wrapping = document.defaultTextOption()
    wrapping.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(wrapping)
    middle = QFontMetricsF(font).xHeight() / 4
    drawn = 0

    def write_formula(formula: Formula) -> str:
        nonlocal drawn
        picture: QImage | None = None
        if drawn < MOST_FORMULAS and not stopped():
            picture = picture_of(DrawingRequest(formula, _PIXELS, middle, LIGHT.text, _SCALE))
        if picture is None:
            return formula_text(formula)
        drawn += 1
        name = f"formula:{drawn}"
        size = picture.deviceIndependentSize()
        picture.setDevicePixelRatio(1.0)
        document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name), picture)
        image = (
            f'<img src="{name}" width="{size.width():.0f}" height="{size.height():.0f}" style="vertical-align: middle">'
        )
        return f"<center>{image}</center>" if formula.display else image

    def write_picture(attachment: Attachment) -> str:
        source = QBuffer()
        source.setData(thumbnail_of(attachment))
        image = QImageReader(source, QByteArray(b"png")).read()
        if image.isNull():
            return ""
        name = f"picture:{attachment.image}"
        document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name), image)
        size = image.size().scaled(_PICTURE_PIXELS, _PICTURE_PIXELS, Qt.AspectRatioMode.KeepAspectRatio)
        size = size.boundedTo(image.size())
        return f'<img src="{name}" width="{size.width()}" height="{size.height()}">'

    document.setLayoutEnabled(False)
    for part in paper_parts(chat, turns, write_formula, write_picture):
        if stopped():
            break
        _append(document, part)
    document.setLayoutEnabled(True)
    return document


def _append(document: QTextDocument, part: str) -> None:
    """Append a piece of HTML: together with the break before it, which has the format of its first block."""
    cursor = QTextCursor(document)
    cursor.movePosition(QTextCursor.MoveOperation.End)
    if cursor.atBlockStart():
        # The empty block at the beginning, or after a table, must take no room.
        thin = QTextBlockFormat()
        thin.setLineHeight(0, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor.setBlockFormat(thin)
    scratch = SealedDocument()
    scratch.setDefaultStyleSheet(PAPER_STYLE)
    scratch.setDefaultFont(document.defaultFont())
    scratch.setHtml(f"<p>x</p>{part}")
    written = QTextCursor(scratch)
    written.setPosition(1)
    written.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
    cursor.insertFragment(QTextDocumentFragment(written))


def _lay_out(document: QTextDocument, stopped: Callable[[], bool]) -> None:
    """Lay out a document step by step: Qt would do it at once, and Python's other threads would wait for that."""
    layout, block = document.documentLayout(), document.begin()
    while block.isValid() and not stopped():
        layout.blockBoundingRect(block)
        block = document.findBlockByNumber(block.blockNumber() + _BLOCKS)


def _font(family: str, points: float) -> QFont:
    font = QFont(family)
    font.setPointSizeF(points)
    return font

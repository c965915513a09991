"""Replaces the LaTeX in a finished text with pictures that are drawn on another thread."""

from collections import OrderedDict
from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, QThreadPool, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QFontInfo,
    QFontMetrics,
    QImage,
    QPainter,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextImageFormat,
)
from PySide6.QtSvg import QSvgRenderer

from sotto.ui.markdown.math_svg import Formula, draw, formula_of
from sotto.ui.markdown.renderer import FORMULA
from sotto.ui.toolkit.app_singleton import app_singleton

_KEPT = 500
_PAUSE_MS = 30
_MARGIN = 40
_LINE_PERCENT = 118
# The x-height of the formulas' font, as a share of its size.
_SMALL_LETTER = 0.473


@dataclass(frozen=True, slots=True)
class DrawingRequest:
    """A formula to draw, and how.

    Attributes:
        formula: What to draw.
        pixels: Font size of the text around it.
        middle: Height above the baseline at which Qt centres a picture, in pixels.
        color: The colour, as `#rrggbb`.
        scale: Device pixels per logical pixel.
    """

    formula: Formula
    pixels: float
    middle: float
    color: str
    scale: float


class Painter(QObject):
    """Draws formulas for all messages, and caches the pictures.

    Signals:
        painted: A formula has been drawn, or has turned out not to be drawable.

    Attributes:
        done: The pictures, those used last at the end; None for formulas that cannot be drawn.
    """

    painted = Signal()

    def __init__(self, parent: QObject) -> None:
        """Start with an empty cache."""
        super().__init__(parent)
        self.done: OrderedDict[DrawingRequest, QImage | None] = OrderedDict()
        self._asked: set[DrawingRequest] = set()
        # A single thread: drawing holds the GIL, and two would take twice the window's time.
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)

    def find(self, order: DrawingRequest) -> tuple[bool, QImage | None]:
        """Return whether a formula has been drawn, and its picture if it could be; request it otherwise."""
        if order in self.done:
            self.done.move_to_end(order)
            return True, self.done[order]
        if order not in self._asked:
            self._asked.add(order)
            self._pool.start(lambda: self._work(order))
        return False, None

    def _work(self, order: DrawingRequest) -> None:
        """Draw a formula; called on the pool's thread."""
        picture = None
        try:
            picture = picture_of(order)
        finally:
            self.done[order] = picture
            if len(self.done) > _KEPT:
                self.done.popitem(last=False)
            self._asked.discard(order)
            self.painted.emit()


def painter() -> Painter:
    """Return the application's painter, created at the first call."""
    return app_singleton(Painter)


def picture_of(order: DrawingRequest) -> QImage | None:
    """Draw a formula, on any thread, so that its baseline is right once Qt centres the picture on the line."""
    drawing = draw(order.formula.latex, order.formula.display, order.pixels, order.color)
    if drawing is None:
        return None
    above = max(drawing.ascent - order.middle, drawing.descent + order.middle)
    size = QRectF(0, 0, drawing.width, 2 * above).size() * order.scale
    picture = QImage(size.toSize().expandedTo(QRectF(0, 0, 1, 1).size().toSize()), QImage.Format.Format_ARGB32)
    picture.fill(Qt.GlobalColor.transparent)
    brush = QPainter(picture)
    brush.scale(order.scale, order.scale)
    top = above + order.middle - drawing.ascent
    area = QRectF(0, top, drawing.width, drawing.ascent + drawing.descent)
    QSvgRenderer(QByteArray(drawing.svg.encode())).render(brush, area)
    brush.end()
    picture.setDevicePixelRatio(order.scale)
    return picture


class Formulas(QObject):
    """Replaces the formulas of one document with pictures.

    Signals:
        changed: Pictures were put into the document.

    Attributes:
        waiting: Whether formulas are being drawn for it.
    """

    changed = Signal()

    def __init__(self, document: QTextDocument) -> None:
        """Serve `document`, which becomes the parent."""
        super().__init__(document)
        self._document = document
        self._painter = painter()
        self._painter.painted.connect(self._soon)
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._timer.timeout.connect(self._put)
        self.waiting = False
        self._look: tuple[str, float] = ("", 1.0)
        # Not asked for again: the painter forgets the oldest of its results, and would draw hundreds of them for ever.
        self._undrawable: set[DrawingRequest] = set()

    def draw(self, color: str, scale: float) -> None:
        """Draw all formulas in a colour, with `scale` device pixels per logical pixel."""
        self._look = (color, scale)
        self._undrawable.clear()
        self.waiting = True
        self._put()

    def forget(self) -> None:
        """Stop waiting for pictures, because the text has changed."""
        self.waiting = False

    def _soon(self) -> None:
        if self.waiting and not self._timer.isActive():
            self._timer.start()

    def _put(self) -> None:
        """Insert the pictures that are ready."""
        if not self.waiting:
            return
        self.waiting, found = False, []
        for start, length, look in _formulas_of(self._document, drawn=False):
            order = self._order(look)
            if order in self._undrawable:
                continue
            known, picture = self._painter.find(order)
            if picture is not None:
                found.append((start, length, look, order, picture))
            elif known:
                self._undrawable.add(order)
            else:
                self.waiting = True
        if not found:
            return
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        # From the end, so that earlier positions stay valid.
        for start, length, look, order, picture in reversed(found):
            self._replace(cursor, start, length, look, order, picture)
        cursor.endEditBlock()
        self.fit(self._document.textWidth())
        self.changed.emit()

    def fit(self, room: float) -> None:
        """Shrink pictures that are wider than `room` pixels."""
        cursor = QTextCursor(self._document)
        for start, length, look in _formulas_of(self._document, drawn=True):
            image = look.toImageFormat()
            kind = QTextDocument.ResourceType.ImageResource.value
            size = self._document.resource(kind, QUrl(image.name())).deviceIndependentSize()
            share = min(1.0, max(1.0, room - _MARGIN) / size.width())
            if abs(image.width() - size.width() * share) > 0.5:
                image.setWidth(size.width() * share)
                image.setHeight(size.height() * share)
                cursor.setPosition(start)
                cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
                cursor.setCharFormat(image)

    def _order(self, look: QTextCharFormat) -> DrawingRequest:
        color, scale = self._look
        font = look.font().resolve(self._document.defaultFont())
        height, pixels = QFontMetrics(font).xHeight(), float(QFontInfo(font).pixelSize())
        # The x-height should match that of the text around.
        pixels = round(min(max(pixels, height / _SMALL_LETTER), 1.25 * pixels), 1)
        return DrawingRequest(formula_of(str(look.property(FORMULA))), pixels, height / 4, color, scale)

    def _replace(
        self,
        cursor: QTextCursor,
        start: int,
        length: int,
        look: QTextCharFormat,
        order: DrawingRequest,
        picture: QImage,
    ) -> None:
        name = f"formula:{hash(order)}"
        self._document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name), picture)
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        alone = order.formula.display and cursor.selectedText() == cursor.block().text()
        image = QTextImageFormat()
        image.setName(name)
        image.setWidth(picture.deviceIndependentSize().width())
        image.setHeight(picture.deviceIndependentSize().height())
        image.setProperty(FORMULA, order.formula.raw)
        image.setProperty(QTextFormat.Property.ImageAltText.value, order.formula.raw)
        image.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
        image.setFont(look.font())
        cursor.insertImage(image)
        # Proportional line height would add far too much space around a tall formula.
        lines = QTextBlockFormat()
        lines.setLineHeight(100 if alone else _LINE_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        if alone:
            lines.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        cursor.mergeBlockFormat(lines)


def _formulas_of(document: QTextDocument, drawn: bool) -> list[tuple[int, int, QTextCharFormat]]:
    """Return position, length and format of the formulas that are pictures (`drawn`), or of those that are text."""
    found: list[tuple[int, int, QTextCharFormat]] = []
    block = document.begin()
    while block.isValid():
        fragments = block.begin()
        while not fragments.atEnd():
            fragment = fragments.fragment()
            look = fragment.charFormat()
            if look.hasProperty(FORMULA) and look.isImageFormat() == drawn:
                found.append((fragment.position(), fragment.length(), look))
            fragments += 1
        block = block.next()
    return found

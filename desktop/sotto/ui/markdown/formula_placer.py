"""Formulas of a text that is complete: drawn on another thread, and put in the place of their LaTeX."""

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
from sotto.ui.toolkit.app_singleton import of_app

_KEPT = 500
_PAUSE_MS = 30
_MARGIN = 40
_LINE_PERCENT = 118
# How tall a small letter of the formulas' font is, for one of its size.
_SMALL_LETTER = 0.473


@dataclass(frozen=True, slots=True)
class Order:
    """A formula to be drawn.

    Attributes:
        formula: The formula.
        pixels: Size of the letters around it.
        middle: How far above the line that letters stand on Qt puts the middle of a picture.
        color: What to draw it in.
        scale: Pixels of the screen for one of the window.
    """

    formula: Formula
    pixels: float
    middle: float
    color: str
    scale: float


class Painter(QObject):
    """Draws formulas for all messages, and keeps what it has drawn.

    Signals:
        painted: Something is drawn, or cannot be.
    """

    painted = Signal()

    def __init__(self, parent: QObject) -> None:
        """Have drawn nothing."""
        super().__init__(parent)
        self._done: OrderedDict[Order, QImage | None] = OrderedDict()
        self._asked: set[Order] = set()
        # One thread: two would take the window's time twice.
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)

    def find(self, order: Order) -> tuple[bool, QImage | None]:
        """Return whether a formula has been drawn, and its picture; have it drawn if it has not."""
        if order in self._done:
            self._done.move_to_end(order)
            return True, self._done[order]
        if order not in self._asked:
            self._asked.add(order)
            self._pool.start(lambda: self._work(order))
        return False, None

    def _work(self, order: Order) -> None:
        """On another thread."""
        picture = None
        try:
            picture = _picture(order)
        finally:
            self._done[order] = picture
            if len(self._done) > _KEPT:
                self._done.popitem(last=False)
            self._asked.discard(order)
            self.painted.emit()


def painter() -> Painter:
    """Return what the application has, made at the first call."""
    return of_app(Painter)


def _picture(order: Order) -> QImage | None:
    """Draw a formula so that it stands on the line of the letters when its middle is put in theirs."""
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
    """Puts pictures in the place of the formulas of one document.

    Signals:
        changed: There are other pictures in the document.
    """

    changed = Signal()

    def __init__(self, document: QTextDocument) -> None:
        """Belong to `document`."""
        super().__init__(document)
        self._document = document
        self._painter = painter()
        self._painter.painted.connect(self._soon)
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._timer.timeout.connect(self._put)
        self._waiting = False
        self._look: tuple[str, float] = ("", 1.0)

    def draw(self, color: str, scale: float) -> None:
        """Have all formulas drawn, in a colour, for a screen of so many pixels for one of the window."""
        self._look = (color, scale)
        self._waiting = True
        self._put()

    def forget(self) -> None:
        """Draw nothing: the text is another one now."""
        self._waiting = False

    def _soon(self) -> None:
        if self._waiting and not self._timer.isActive():
            self._timer.start()

    def _put(self) -> None:
        """Put what has been drawn into the document."""
        if not self._waiting:
            return
        self._waiting, found = False, []
        for start, length, look in _formulas_of(self._document, drawn=False):
            order = self._order(look)
            known, picture = self._painter.find(order)
            self._waiting = self._waiting or not known
            if picture is not None:
                found.append((start, length, look, order, picture))
        if not found:
            return
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        # From the end, so that the places before stay where they are.
        for start, length, look, order, picture in reversed(found):
            self._replace(cursor, start, length, look, order, picture)
        cursor.endEditBlock()
        self.fit(self._document.textWidth())
        self.changed.emit()

    def fit(self, room: float) -> None:
        """Make pictures smaller that are wider than the room for them."""
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

    def _order(self, look: QTextCharFormat) -> Order:
        color, scale = self._look
        font = look.font().resolve(self._document.defaultFont())
        height, pixels = QFontMetrics(font).xHeight(), float(QFontInfo(font).pixelSize())
        # Small letters are as tall as those around them.
        pixels = round(min(max(pixels, height / _SMALL_LETTER), 1.25 * pixels), 1)
        return Order(formula_of(str(look.property(FORMULA))), pixels, height / 4, color, scale)

    def _replace(
        self, cursor: QTextCursor, start: int, length: int, look: QTextCharFormat, order: Order, picture: QImage
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
        # A tall formula needs no more air than a low one.
        lines = QTextBlockFormat()
        lines.setLineHeight(100 if alone else _LINE_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        if alone:
            lines.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        cursor.mergeBlockFormat(lines)


def _formulas_of(document: QTextDocument, drawn: bool) -> list[tuple[int, int, QTextCharFormat]]:
    """Return where formulas stand, as pictures or as text: place, length and format of each."""
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

"""Shows what a person typed as Markdown; of a long text only the beginning, until more is asked for."""

import math
from collections.abc import Callable

from PySide6.QtCore import QMimeData, QTimer, Signal

from sotto.ui.markdown.clipboard import mime_of_text
from sotto.ui.markdown.typed_text import markdown_pieces
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.toolkit import theme

# A text of more characters or lines than this is not shown whole.
_LONG, _LONG_LINES = 6000, 80
# How many characters of it are shown at first, and how many more each time.
_FIRST, _MORE = 2000, 20_000


class TypedText(MarkdownText):
    """A typed text, which is rendered in slices of time if it is long.

    Signals:
        revealed: More of the text is shown.
    """

    revealed = Signal()

    def __init__(self, text: str) -> None:
        """Show `text`, or its beginning."""
        super().__init__()
        self._text = text
        self._pieces = markdown_pieces(text)
        # How many characters are shown, and how many will be.
        self._shown = 0
        is_long = len(text) > _LONG or text.count("\n", 0, _LONG) > _LONG_LINES
        self._wanted = _first_part(text) if is_long else len(text)
        self._then: Callable[[], None] | None = None
        self._slices = QTimer(self, interval=0)
        self._slices.timeout.connect(self._show_piece)
        while self._shown < self._wanted:
            self._append_piece()
        self._draw()

    @property
    def hidden_length(self) -> int:
        """How many characters of the text are not shown."""
        return len(self._text) - self._shown

    def show_more(self) -> None:
        """Show the next part of the text."""
        self._want(self._wanted + _MORE)

    def reveal(self, text: str, index: int, then: Callable[[], None]) -> bool:
        """Show as much as contains the place number `index` of a text, ignoring case, and call `then`.

        Returns:
            False if that much is shown already, so that `then` is not called.
        """
        place, whole = -1, self._text.casefold()
        for _ in range(index + 1):
            found = whole.find(text.casefold(), place + 1)
            if found < 0:
                break
            place = found
        # Folding may have changed the length a little.
        end = min(len(self._text), place + len(text) + _FIRST)
        if place < 0 or end <= self._shown:
            return False
        self._then = then
        self._want(end)
        return True

    def fit(self, room: int) -> None:
        """Make the view as wide as its text, up to `room` pixels."""
        self.document().setTextWidth(room)
        whole = self.hidden_length or any(region.kind != "quote" for region in self.regions.found)
        width = room if whole else math.ceil(self.document().idealWidth()) + 1
        width = max(theme.GAP_32, min(width, room))
        self.setFixedWidth(width)
        # Qt does so only if the width has changed; what is aligned with the right side would be out of view.
        self.document().setTextWidth(width)

    def show_as_typed(self, shown: bool) -> None:
        """Show the text as it was typed, or rendered."""
        self.show_source(self._text[: self._shown] if shown else None)

    def _want(self, end: int) -> None:
        self._wanted = min(len(self._text), max(self._wanted, end))
        self._slices.start()

    def _append_piece(self) -> None:
        piece, self._shown = next(self._pieces)
        self.append_markdown(piece)

    def _draw(self) -> None:
        if self.source_shown:
            self.show_as_typed(True)
        elif self.hidden_length:
            self.render_now()
        else:
            self.finish()

    def _show_piece(self) -> None:
        if self._shown < self._wanted:
            self._append_piece()
            self._draw()
        else:
            self._slices.stop()
            self.revealed.emit()
            then, self._then = self._then, None
            if then is not None:
                then()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the text as it was typed if all of it is selected, or else the selection."""
        cursor = self.textCursor()
        is_whole = cursor.selectionStart() == 0 and cursor.selectionEnd() == self.document().characterCount() - 1
        if is_whole and not self.hidden_length:
            return mime_of_text(self._text)
        return super().createMimeDataFromSelection()


def _first_part(text: str) -> int:
    """Return how many characters of a long text to show at first."""
    end = 0
    for _ in range(_LONG_LINES // 3):
        line_end = text.find("\n", end)
        if not 0 <= line_end < _FIRST:
            return _FIRST
        end = line_end + 1
    return end

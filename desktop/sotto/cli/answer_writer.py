"""An answer in a terminal: its text on stdout, calls of tools there as a line of JSON each, thoughts on stderr."""

import sys
from collections.abc import Iterable

from sotto.cli.printing import printable, write_answer
from sotto.engine.contract.answer_parts import Kind, Piece


class AnswerWriter:
    """Writes one answer as it comes."""

    def __init__(self) -> None:
        """Begin."""
        self._last = ""

    def write(self, pieces: Iterable[Piece]) -> None:
        """Write what is new."""
        for piece in pieces:
            if piece.cut is not None:
                sys.stderr.write(f"{printable(piece.cut.sentence)}\n")
            elif piece.kind is Kind.TEXT:
                self._say(piece.text)
            elif piece.kind is Kind.THOUGHT:
                begin, end = "(thinking)\n" if piece.begins else "", "\n\n" if piece.ends else ""
                sys.stderr.write(f"{begin}{printable(piece.text)}{end}")
                sys.stderr.flush()
            elif piece.call is not None:
                line = "\n" if self._last not in ("", "\n") else ""
                self._say(f"{line}{piece.call.as_json()}\n")

    def end(self) -> None:
        """End the line that the answer ends in."""
        if self._last != "\n":
            self._say("\n")

    def _say(self, text: str) -> None:
        if text:
            write_answer(text)
            self._last = text[-1]

"""Printing an answer: its text and, as lines of JSON, its tool calls to stdout, its thoughts to stderr."""

import sys
from collections.abc import Iterable

from sotto.cli.printing import printable, write_answer
from sotto.engine.contract.answer_parts import Kind, Piece


class AnswerWriter:
    """Prints one answer while it is generated."""

    def __init__(self) -> None:
        """Start with nothing printed."""
        self._last = ""

    def write(self, pieces: Iterable[Piece]) -> None:
        """Print new pieces of the answer."""
        for piece in pieces:
            if piece.cut is not None:
                sys.stderr.write(f"{printable(piece.cut.sentence)}\n")
            elif piece.kind is Kind.TEXT:
                self._print(piece.text)
            elif piece.kind is Kind.THOUGHT:
                begin, end = "(thinking)\n" if piece.begins else "", "\n\n" if piece.ends else ""
                sys.stderr.write(f"{begin}{printable(piece.text)}{end}")
                sys.stderr.flush()
            elif piece.call is not None:
                line = "\n" if self._last not in ("", "\n") else ""
                self._print(f"{line}{piece.call.as_json()}\n")

    def end(self) -> None:
        """End the last line of the answer."""
        if self._last != "\n":
            self._print("\n")

    def _print(self, text: str) -> None:
        if text:
            write_answer(text)
            self._last = text[-1]

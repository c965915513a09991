"""The text of a stored answer without its thoughts and tool calls, to show its source and to edit it."""

from dataclasses import replace

from sotto.engine.contract.answer_parts import Kind, Piece, markup, merge_pieces
from sotto.engine.parsing.answer_parser import parse_answer


def text_parts(stored: str) -> tuple[str, ...]:
    """Return the texts of a stored answer, in order and without white space around them."""
    texts = (piece.text.strip() for piece in merge_pieces(parse_answer(stored)) if piece.kind is Kind.TEXT)
    return tuple(text for text in texts if text)


def answer_text(stored: str) -> str:
    """Return all text of a stored answer."""
    return "\n\n".join(text_parts(stored))


def with_text(stored: str, text: str) -> str:
    """Return a stored answer with another text, which takes the place of its first one.

    Thoughts and tool calls stay as they are, in front of the text or after it.
    """
    parts = merge_pieces(parse_answer(stored))
    first = next((index for index, part in enumerate(parts) if part.kind is Kind.TEXT and part.text.strip()), None)
    if first is None:
        # Text belongs between the thoughts and the calls.
        first = next((index for index, part in enumerate(parts) if part.kind is Kind.TOOL), len(parts))
    # A thought in which the answer was cut off ends before the text.
    before = [replace(part, ends=True) for part in parts[:first] if part.kind is not Kind.TEXT]
    after = [part for part in parts[first:] if part.kind is not Kind.TEXT]
    return markup((*before, Piece(Kind.TEXT, text), *after))

"""What was said as Markdown for other programs, in which nothing stands as only Sotto can read it."""

from collections.abc import Sequence

from sotto.chats.chat_records import Role, Turn
from sotto.engine.contract.answer_parts import Kind, Piece, merged
from sotto.engine.parsing.answer_parser import Parser
from sotto.engine.parsing.families import KEPT
from sotto.ui.conversation.answer_wording import CUT_CALL, is_cut_short, thought_line, thought_seconds, wanted_tool
from sotto.ui.conversation.json_layout import JsonLayout, fenced, shown_json


def to_markdown(turn: Turn) -> str:
    """Return what was said: thoughts as quotations, wanted tools by name with what they are given, JSON as code."""
    if turn.role is not Role.ASSISTANT:
        return turn.content.strip()
    parser = Parser(KEPT, fresh=str)
    begun, rest = parser.feed(turn.text), parser.finish()
    cut = begun_call(rest) if is_cut_short(turn) else ""
    pieces = merged((*begun, *(rest[:-1] if cut else rest)))
    times = iter(thought_seconds(turn))
    parts = (_thought(piece, next(times, 0)) if piece.kind is Kind.THOUGHT else _part(piece, turn) for piece in pieces)
    ends = f"**{CUT_CALL}**\n\n{fenced(cut, '')}" if cut else ""
    return "\n\n".join(part for part in (*parts, ends) if part)


def begun_call(pieces: Sequence[Piece]) -> str:
    """Return what was written of a call in which an answer ends; empty where it ends in none.

    Args:
        pieces: What came of the answer at its end, together.
    """
    if len(pieces) < 2 or pieces[-1].kind is not Kind.TEXT:
        return ""
    failed = pieces[-2].kind is Kind.TOOL and pieces[-2].ends and pieces[-2].call is None
    return pieces[-1].text.strip() if failed else ""


def _part(piece: Piece, turn: Turn) -> str:
    if piece.call is not None:
        return f"**{wanted_tool(piece.call)}**\n\n{fenced(shown_json(piece.call.arguments))}"
    text = piece.text.strip()
    return fenced(JsonLayout().feed(text)) if turn.is_json and text else text


def _thought(piece: Piece, seconds: int) -> str:
    text = piece.text.strip()
    return f"> **{thought_line(seconds)}**\n\n{text}".replace("\n", "\n> ") if text else ""

"""Converts turns to plain Markdown for other programs, without the tags that only Sotto understands."""

from collections.abc import Sequence

from sotto.chats.chat_records import Role, Turn
from sotto.engine.contract.answer_parts import Kind, Piece, merge_pieces
from sotto.engine.parsing.answer_parser import Parser
from sotto.engine.parsing.families import STORED
from sotto.ui.conversation.answer_wording import CUT_CALL, is_cut_short, thought_line, thought_seconds, tool_call_line
from sotto.ui.conversation.json_layout import JsonLayout, fence_code, format_json


def to_markdown(turn: Turn) -> str:
    """Return a turn as Markdown: thoughts as quotations, tool calls with their arguments, JSON as code."""
    if turn.role is not Role.ASSISTANT:
        return turn.content.strip()
    parser = Parser(STORED, fresh=str)
    begun, rest = parser.feed(turn.text), parser.finish()
    cut = unfinished_call(rest) if is_cut_short(turn) else ""
    pieces = merge_pieces((*begun, *(rest[:-1] if cut else rest)))
    times = iter(thought_seconds(turn))
    parts = (_thought(piece, next(times, 0)) if piece.kind is Kind.THOUGHT else _part(piece, turn) for piece in pieces)
    ends = f"**{CUT_CALL}**\n\n{fence_code(cut, '')}" if cut else ""
    return "\n\n".join(part for part in (*parts, ends) if part)


def unfinished_call(pieces: Sequence[Piece]) -> str:
    """Return the text of an incomplete tool call at the end of an answer; empty if there is none.

    Args:
        pieces: The pieces that the parser returned at the end of the answer.
    """
    if len(pieces) < 2 or pieces[-1].kind is not Kind.TEXT:
        return ""
    failed = pieces[-2].kind is Kind.TOOL and pieces[-2].ends and pieces[-2].call is None
    return pieces[-1].text.strip() if failed else ""


def _part(piece: Piece, turn: Turn) -> str:
    if piece.call is not None:
        return f"**{tool_call_line(piece.call)}**\n\n{fence_code(format_json(piece.call.arguments))}"
    text = piece.text.strip()
    return fence_code(JsonLayout().feed(text)) if turn.is_json and text else text


def _thought(piece: Piece, seconds: int) -> str:
    text = piece.text.strip()
    return f"> **{thought_line(seconds)}**\n\n{text}".replace("\n", "\n> ") if text else ""

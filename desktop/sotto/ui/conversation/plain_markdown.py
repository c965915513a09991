"""Converts turns to plain Markdown for other programs, without the tags that only Sotto understands."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sotto.chats.chat_records import Picture, Role, Turn, written_content
from sotto.engine.contract.answer_parts import Kind, Piece, merge_pieces
from sotto.engine.parsing.answer_parser import Parser
from sotto.engine.parsing.families import STORED
from sotto.ui.conversation.answer_wording import CUT_CALL, is_cut_short, thought_line, thought_seconds, tool_call_line
from sotto.ui.conversation.json_layout import JsonLayout, fence_code, format_json
from sotto.ui.toolkit.translation import tr


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A part of an answer as Markdown.

    Attributes:
        kind: Whether it is text, a thought or a call of a tool.
        heading: What to write above it; empty for text.
        markdown: Its text.
    """

    kind: Kind
    heading: str
    markdown: str


def written_parts(turn: Turn) -> tuple[WrittenPart, ...]:
    """Return the parts of an answer, JSON and the arguments of tools as code; empty ones are left out."""
    parser = Parser(STORED, fresh=str)
    begun, rest = parser.feed(turn.text), parser.finish()
    cut = unfinished_call(rest) if is_cut_short(turn) else ""
    pieces = merge_pieces((*begun, *(rest[:-1] if cut else rest)))
    times = iter(thought_seconds(turn))
    parts = [
        WrittenPart(Kind.THOUGHT, thought_line(next(times, 0)), piece.text.strip())
        if piece.kind is Kind.THOUGHT
        else _part(piece, turn)
        for piece in pieces
    ]
    if cut:
        parts.append(WrittenPart(Kind.TOOL, tr(CUT_CALL), fence_code(cut, "")))
    return tuple(part for part in parts if part.markdown)


def to_markdown(turn: Turn, written_image: Callable[[Picture], str] = lambda picture: picture.name) -> str:
    """Return a turn as Markdown: thoughts as quotations, tool calls with their arguments, JSON as code."""
    if turn.role is not Role.ASSISTANT:
        return written_content(turn.content, written_image)
    return "\n\n".join(map(_quoted, written_parts(turn)))


def unfinished_call(pieces: Sequence[Piece]) -> str:
    """Return the text of an incomplete tool call at the end of an answer; empty if there is none.

    Args:
        pieces: The pieces that the parser returned at the end of the answer.
    """
    if len(pieces) < 2 or pieces[-1].kind is not Kind.TEXT:
        return ""
    failed = pieces[-2].kind is Kind.TOOL and pieces[-2].ends and pieces[-2].call is None
    return pieces[-1].text.strip() if failed else ""


def _part(piece: Piece, turn: Turn) -> WrittenPart:
    if piece.call is not None:
        return WrittenPart(Kind.TOOL, tool_call_line(piece.call), fence_code(format_json(piece.call.arguments)))
    text = piece.text.strip()
    return WrittenPart(Kind.TEXT, "", fence_code(JsonLayout().feed(text)) if turn.is_json and text else text)


def _quoted(part: WrittenPart) -> str:
    if not part.heading:
        return part.markdown
    whole = f"**{part.heading}**\n\n{part.markdown}"
    return f"> {whole}".replace("\n", "\n> ") if part.kind is Kind.THOUGHT else whole

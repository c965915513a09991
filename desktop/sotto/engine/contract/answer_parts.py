"""Parts of an answer (text, thoughts, tool calls) as values, and the markup in which answers are stored."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """The kind of a part of an answer."""

    TEXT = "text"
    THOUGHT = "thought"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a model wants to use.

    Attributes:
        name: The tool's name.
        arguments: Its arguments, as a JSON object.
        id: Identifies the call that a tool's result belongs to.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""

    def as_json(self) -> str:
        """Return the call as one line of JSON, `name` and `arguments` first."""
        told = {"name": self.name, "arguments": self.arguments} | ({"id": self.id} if self.id else {})
        return json.dumps(told, ensure_ascii=False)

    def arguments_as_json(self) -> str:
        """Return the arguments as one line of JSON."""
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class CutCall:
    """A tool call that was cut off by the end of the answer.

    Attributes:
        name: The tool's name; empty if it had not been written yet.
        arguments: The arguments so far, as the beginning of a JSON object.
    """

    name: str = ""
    arguments: str = "{"

    @property
    def sentence(self) -> str:
        """A sentence that tells the user about it."""
        which = f"The call of {self.name}" if self.name else "A call of a tool"
        return f"{which} was cut off where the answer ended, and is not complete."

    def written(self) -> str:
        """Return it in the form in which answers are stored."""
        begun = f'{{"name": {json.dumps(self.name, ensure_ascii=False)}, "arguments": {self.arguments}'
        return f"<tool_call>\n{begun if self.name else ''}"


@dataclass(frozen=True, slots=True)
class Piece:
    """A new piece of a streamed answer.

    A thought is one piece that begins it, pieces with text, and one that ends it unless the answer ends first. A call
    is one that begins it, while it is not known yet what it will be, and one that ends it with `call`; without `call`
    it was none, and comes as text. What is neither is text.

    Attributes:
        kind: What it belongs to.
        text: What has come of a text or a thought; without tags.
        begins: Whether another part begins with it.
        ends: Whether its part is complete.
        turned: Whether all text so far was a thought, which ends here: its end was seen, but no beginning.
        call: The call that is complete.
        cut: The call that the answer breaks off in, which `text` is as the model wrote it; nothing follows.
    """

    kind: Kind
    text: str = ""
    begins: bool = False
    ends: bool = False
    turned: bool = False
    call: ToolCall | None = None
    cut: CutCall | None = None


def merge_pieces(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Return whole parts: one piece for each text, thought and call of an answer.

    A thought that the answer ends in does not end.
    """
    parts: list[Piece] = []
    for piece in pieces:
        if piece.turned:
            text = "".join(part.text for part in parts).strip()
            parts = [Piece(Kind.THOUGHT, text, begins=True, ends=True)]
        elif piece.kind is Kind.TOOL:
            if piece.call is not None:
                parts.append(Piece(Kind.TOOL, begins=True, ends=True, call=piece.call))
        elif parts and parts[-1].kind is piece.kind and not (piece.begins or parts[-1].ends or piece.cut):
            parts[-1] = replace(parts[-1], text=parts[-1].text + piece.text, ends=parts[-1].ends or piece.ends)
        else:
            parts.append(piece)
    return tuple(parts)


def plain(text: str) -> tuple[Piece, ...]:
    """Return the pieces of an answer that is only text."""
    return (Piece(Kind.TEXT, text),) if text else ()


def text_of(pieces: Iterable[Piece]) -> str:
    """Return the answer itself, without thoughts and calls."""
    return "".join(piece.text for piece in pieces if piece.kind is Kind.TEXT and piece.cut is None)


def thought_of(pieces: Iterable[Piece]) -> str:
    """Return the thoughts, separated by empty lines."""
    return "\n\n".join(part.text for part in merge_pieces(pieces) if part.kind is Kind.THOUGHT and part.text)


def calls_of(pieces: Iterable[Piece]) -> tuple[ToolCall, ...]:
    """Return the calls that are complete, in order."""
    return tuple(piece.call for piece in pieces if piece.call is not None)


def cut_of(pieces: Iterable[Piece]) -> CutCall | None:
    """Return the call that was cut off by the end of the answer, or None."""
    return next((piece.cut for piece in pieces if piece.cut is not None), None)


def markup(pieces: Iterable[Piece], *, begun: bool = False) -> str:
    """Return pieces in the form in which answers of every model are stored: thoughts and calls between tags.

    `families.STORED` parses it.

    Args:
        pieces: Of one answer, in order.
        begun: Whether other parts of the answer come before them.
    """
    parts: list[str] = []
    for piece in pieces:
        # The tags of thoughts and calls stand on lines of their own.
        line = "\n" if begun or parts else ""
        if piece.kind is Kind.TEXT:
            parts.append(piece.text)
        elif piece.kind is Kind.THOUGHT:
            begin = f"{line}<think>\n" if piece.begins else ""
            parts.append(f"{begin}{piece.text}" + ("\n</think>\n\n" if piece.ends else ""))
        elif piece.call is not None:
            parts.append(f"{line}<tool_call>\n{piece.call.as_json()}\n</tool_call>\n")
    return "".join(parts)

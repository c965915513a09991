"""Answers of OpenAI's Responses API: the output items, and the events that stream them."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import uuid4

from sotto.api.logprob_fields import chat_logprobs_field
from sotto.engine.contract.answer_parts import CutCall, Kind, Piece, ToolCall
from sotto.engine.contract.logprob_values import LogprobEntry
from sotto.engine.parsing.output import fresh_id

_PREFIXES = {Kind.TEXT: "msg", Kind.THOUGHT: "rs", Kind.TOOL: "fc"}
_TYPES = {Kind.TEXT: "message", Kind.THOUGHT: "reasoning", Kind.TOOL: "function_call"}
_PARTS = {Kind.TEXT: "output_text", Kind.THOUGHT: "reasoning_text"}


class Items:
    """Turns the pieces of an answer into output items and events.

    Attributes:
        output: The items, of which the last may still grow.
    """

    def __init__(self) -> None:
        """Begin without items."""
        self.output: list[dict[str, Any]] = []
        self._open: Kind | None = None

    def add(self, piece: Piece, logprobs: Sequence[LogprobEntry] = ()) -> Iterator[dict[str, Any]]:
        """Yield the events for the next piece, with the log-probabilities of its tokens."""
        if self._open is not piece.kind or piece.kind is Kind.TOOL:
            yield from self.end()
            yield from self._begin(piece)
        if piece.call is not None:
            item, arguments = self.output[-1], piece.call.arguments_as_json()
            item["arguments"] = arguments
            yield self._event("response.function_call_arguments.delta", delta=arguments)
            yield self._event("response.function_call_arguments.done", arguments=arguments, name=item["name"])
            yield from self.end()
            return
        part = self.output[-1]["content"][0]
        part["text"] += piece.text
        if piece.kind is Kind.TEXT:
            rows = chat_logprobs_field(logprobs)["content"]
            part["logprobs"] += rows
            yield self._event("response.output_text.delta", content_index=0, delta=piece.text, logprobs=rows)
        else:
            yield self._event("response.reasoning_text.delta", content_index=0, delta=piece.text)

    def break_off(self, cut: CutCall) -> Iterator[dict[str, Any]]:
        """Yield the events of a call in which the answer breaks off; its arguments are incomplete JSON."""
        yield from self.end()
        yield from self._begin(Piece(Kind.TOOL, call=ToolCall(cut.name, id=fresh_id())))
        self.output[-1]["arguments"] = cut.arguments
        yield self._event("response.function_call_arguments.delta", delta=cut.arguments)
        yield from self.end("incomplete")

    def end(self, status: str = "completed") -> Iterator[dict[str, Any]]:
        """Yield the events that end the open item, if there is one."""
        if self._open is None:
            return
        kind, self._open = self._open, None
        item = self.output[-1]
        item["status"] = status
        if kind is not Kind.TOOL:
            part = dict(item["content"][0])
            logprobs = {"logprobs": part["logprobs"]} if kind is Kind.TEXT else {}
            yield self._event(f"response.{_PARTS[kind]}.done", content_index=0, text=part["text"], **logprobs)
            yield self._event("response.content_part.done", content_index=0, part=part)
        yield {"type": "response.output_item.done", "output_index": len(self.output) - 1, "item": _copy(item)}

    def _begin(self, piece: Piece) -> Iterator[dict[str, Any]]:
        self._open = piece.kind
        item: dict[str, Any] = {
            "id": f"{_PREFIXES[piece.kind]}_{uuid4().hex}",
            "type": _TYPES[piece.kind],
            "status": "in_progress",
        }
        if piece.call is not None:
            item |= {"call_id": piece.call.id, "name": piece.call.name, "arguments": ""}
        elif piece.kind is Kind.TEXT:
            item |= {"role": "assistant", "content": []}
        else:
            item |= {"summary": [], "encrypted_content": None, "content": []}
        self.output.append(item)
        yield {"type": "response.output_item.added", "output_index": len(self.output) - 1, "item": _copy(item)}
        if piece.call is None:
            part: dict[str, Any] = {"type": _PARTS[piece.kind], "text": ""}
            part |= {"annotations": [], "logprobs": []} if piece.kind is Kind.TEXT else {}
            item["content"].append(part)
            yield self._event("response.content_part.added", content_index=0, part=_copy(part))

    def _event(self, kind: str, **values: Any) -> dict[str, Any]:
        return {"type": kind, "item_id": self.output[-1]["id"], "output_index": len(self.output) - 1, **values}


def _copy(item: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of an item, as the original may still grow."""
    return {name: list(value) if isinstance(value, list) else value for name, value in item.items()}

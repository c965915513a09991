"""Anthropic's dialect: messages."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sotto.api.answers import SSE, Answer, Dialect, Pieces, Whole, event
from sotto.api.asking import NO_IMAGES, checked_options, request_of, role_of, schema_of, whole_answer
from sotto.api.bodies import fields_of
from sotto.api.desk import Desk
from sotto.api.durations import keep_alive
from sotto.api.errors import ApiError, bad, missing
from sotto.api.fields import Fields
from sotto.engine.types import DoneReason, Finished, GenerateRequest, Grammar, Message, PrefillProgress, TextChunk
from sotto.store.records import ModelRecord

_MOST_TOKENS = 2**31 - 1
_TYPES = {
    HTTPStatus.BAD_REQUEST: "invalid_request_error",
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.NOT_FOUND: "not_found_error",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "request_too_large",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.SERVICE_UNAVAILABLE: "overloaded_error",
}


def _shape(error: ApiError) -> dict[str, Any]:
    kind = _TYPES.get(HTTPStatus(error.status), "api_error")
    return {"type": "error", "error": {"type": kind, "message": error.message}, "request_id": f"req_{uuid4().hex[:24]}"}


DIALECT = Dialect(_shape, lambda error: event(_shape(error), "error"))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request.

    Attributes:
        name: The model, as the client calls it.
        record: The model.
        request: What to answer.
        keep_alive: Seconds that the model is to stay afterwards.
    """

    name: str
    record: ModelRecord
    request: GenerateRequest
    keep_alive: float | None


class Anthropic:
    """Answers as Anthropic does."""

    def __init__(self, desk: Desk) -> None:
        """Ask at `desk`."""
        self._desk = desk

    def routes(self) -> list[Route]:
        """Return what is answered here."""
        return [
            Route("/v1/messages", self._messages, methods=["POST"]),
            Route("/v1/messages/count_tokens", _count_tokens, methods=["POST"]),
        ]

    async def _messages(self, request: Request) -> Answer:
        fields = await fields_of(request)
        if not fields.text("model"):
            raise bad("model is required")
        most = fields.integer("max_tokens", -_MOST_TOKENS, _MOST_TOKENS)
        if most is None or most <= 0:
            raise bad("max_tokens is required and must be positive")
        system = _text(fields, "system")
        messages = [Message(role_of(one), _text(one, "content")) for one in fields.objects("messages")]
        if not messages:
            raise bad("messages is required")
        if fields.list("tools"):
            raise bad(f"{fields.text('model')} does not support tools")
        options = {name: fields.any(name) for name in ("temperature", "top_p", "top_k") if fields.given(name)}
        options |= {"num_predict": most, "stop": list(fields.list("stop_sequences"))}
        checked_options(options)
        grammar = await _output_format(fields.object("output_config").object("format"))
        asked = _Asked(
            name=fields.text("model"),
            record=await self._desk.model(fields.text("model")),
            request=request_of(options, [*([Message("system", system)] if system else []), *messages], grammar=grammar),
            keep_alive=keep_alive(fields.any("keep_alive")),
        )
        if fields.flag("stream", False):
            return Pieces(DIALECT, SSE, self._events(asked))
        return Whole(DIALECT, lambda: self._whole(asked))

    async def _whole(self, asked: _Asked) -> dict[str, Any]:
        async with self._desk.visit(asked.record, keep_alive=asked.keep_alive) as visit:
            end, _ = await whole_answer(self._desk, visit, asked.request)
        return _message(asked.name) | {
            "content": [{"type": "text", "text": end.text}] if end.text else [],
            "stop_reason": _reason(end),
            "usage": _usage(end.prompt_tokens, end.cached_tokens, len(end.token_ids)),
        }

    async def _events(self, asked: _Asked) -> AsyncGenerator[bytes, None]:
        read, begun = PrefillProgress(asked.request.id, 0, 0, 0), False
        async with (
            self._desk.visit(asked.record, keep_alive=asked.keep_alive) as visit,
            aclosing(self._desk.answer(visit, asked.request)) as events,
        ):
            async for one in events:
                if isinstance(one, PrefillProgress):
                    read = one
                    continue
                if not begun:
                    begun = True
                    usage = _usage(read.total, read.cached, 0)
                    yield _event("message_start", message=_message(asked.name) | {"usage": usage})
                    yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
                if isinstance(one, TextChunk):
                    if one.text:
                        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": one.text})
                    continue
                yield _event("content_block_stop", index=0)
                yield _event(
                    "message_delta",
                    delta={"stop_reason": _reason(one), "stop_sequence": None},
                    usage=_usage(one.prompt_tokens, one.cached_tokens, len(one.token_ids)),
                )
                yield _event("message_stop")


async def _output_format(wanted: Fields) -> Grammar | None:
    """Return what the answer must be, if it must be something."""
    if not wanted.values:
        return None
    if wanted.text("type") != "json_schema":
        raise wanted.wrong("type", "json_schema")
    return await schema_of(wanted, "schema")


def _text(fields: Fields, name: str) -> str:
    """Return a content that is a text or a list of blocks that are texts; what was thought is left out."""
    if not isinstance(fields.any(name), list):
        return fields.text(name)
    texts = []
    for block in fields.objects(name):
        kind = block.text("type")
        if kind == "image":
            raise bad(NO_IMAGES)
        if kind in ("tool_use", "tool_result"):
            raise bad(f"{block.path('type')} is {kind}, and tools are not supported yet.")
        if kind in ("thinking", "redacted_thinking"):
            continue
        if kind != "text":
            raise block.wrong("type", "text")
        texts.append(block.text("text"))
    return "".join(texts)


def _message(name: str) -> dict[str, Any]:
    return {
        "id": f"msg_{uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": name,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _reason(end: Finished) -> str:
    return "max_tokens" if end.done_reason in (DoneReason.LENGTH, DoneReason.LOOP) else "end_turn"


def _usage(prompt: int, cached: int, written: int) -> dict[str, int]:
    """Return counts; what was there already is not part of the input here."""
    return {"input_tokens": prompt - cached, "cache_read_input_tokens": cached, "output_tokens": written}


def _event(name: str, **values: Any) -> bytes:
    return event({"type": name, **values}, name)


async def _count_tokens(request: Request) -> Response:
    raise missing("Counting tokens is not supported yet.")

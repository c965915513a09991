"""Anthropic's dialect: messages and token counts."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from starlette.routing import Route

from sotto.api.answers import SSE, Answer, Dialect, Pieces, Whole, event
from sotto.api.asking import (
    OverflowBody,
    SamplingBody,
    check_answerable,
    checked_options,
    collect_answer,
    overflow_of,
    refuse_other_formats,
    request_of,
    sampling_options_of,
    schema_of,
)
from sotto.api.bodies import takes
from sotto.api.content_parts import ContentReader
from sotto.api.desk import Desk
from sotto.api.dialects.anthropic_blocks import (
    BlockStream,
    ConversationBody,
    blocks_of,
    messages_of,
    prompt_options_of,
    text_of,
    visible_pieces,
    warnings_of,
)
from sotto.api.durations import keep_alive
from sotto.api.error_bodies import ApiError, bad_request
from sotto.api.fields import OBJECT, STRING, Body, Flag, List, MaxTokens, Object, Raw, Text
from sotto.api.notes import warning_fields
from sotto.api.tool_fields import bound_warnings, name_tool_results, suit_model
from sotto.engine.contract.events import CUT_SHORT, DoneReason, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.requests import CountRequest, GenerateRequest, Grammar, Message
from sotto.store.records import ModelRecord

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


class FormatBody(Body):
    """The format that an answer must have."""

    type = Text(choices=("json_schema",))
    schema_ = Raw(OBJECT)


class OutputBody(Body):
    """The requirements on the answer."""

    format = Object(FormatBody)


class MessagesBody(ConversationBody, SamplingBody, OverflowBody):
    """A request to `/v1/messages`."""

    max_tokens = MaxTokens(required=True)
    stop_sequences = List(STRING)
    stream = Flag(False)
    output_config = Object(OutputBody)


@dataclass(frozen=True, slots=True)
class _Job:
    """A parsed request.

    Attributes:
        name: The model's name as the client wrote it.
        record: The model.
        request: The request to the engine.
        keep_alive: Seconds for which the model stays loaded afterwards; None for the default.
        warnings: A sentence for each part of the request that is ignored.
    """

    name: str
    record: ModelRecord
    request: GenerateRequest
    keep_alive: float | None
    warnings: tuple[str, ...]


class Anthropic:
    """The endpoints of Anthropic's dialect."""

    def __init__(self, desk: Desk) -> None:
        """Pass requests to the engine through `desk`."""
        self._desk = desk

    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        return [
            Route("/v1/messages", self._messages, methods=["POST"]),
            Route("/v1/messages/count_tokens", self._count_tokens, methods=["POST"]),
        ]

    @takes(MessagesBody, streams=SSE, images=True)
    async def _messages(self, body: MessagesBody) -> Answer:
        _require_model(body)
        if body.raw("max_tokens") in (None, 0):
            raise bad_request("max_tokens is required and must be positive")
        most = body.max_tokens
        messages, notes = await self._desk.read_contents(lambda reader: _conversation(body, reader))
        options, warnings = sampling_options_of(body)
        options |= {"num_predict": most, "stop": list(body.stop_sequences)}
        checked_options(options)
        refuse_other_formats(body, "output_config.format")
        grammar = await _output_format(body.output_config.format)
        job = _Job(
            name=body.model,
            record=await self._desk.model(body.model),
            request=request_of(
                options,
                messages,
                overflow=overflow_of(body),
                grammar=grammar,
                prompt_options=await check_answerable(prompt_options_of(body)),
            ),
            keep_alive=keep_alive(body.keep_alive),
            warnings=(*bound_warnings((*warnings_of(body), *notes)), *warnings),
        )
        if body.stream:
            return Pieces(DIALECT, SSE, self._events(job))
        return Whole(DIALECT, lambda: self._whole(job))

    @takes(ConversationBody, images=True)
    async def _count_tokens(self, body: ConversationBody) -> Answer:
        _require_model(body)
        messages, notes = await self._desk.read_contents(lambda reader: _conversation(body, reader))
        job = _Job(
            name=body.model,
            record=await self._desk.model(body.model),
            request=request_of({}, messages, prompt_options=await check_answerable(prompt_options_of(body))),
            keep_alive=keep_alive(body.keep_alive),
            warnings=tuple(bound_warnings((*warnings_of(body), *notes))),
        )
        return Whole(DIALECT, lambda: self._count(job))

    async def _count(self, job: _Job) -> dict[str, Any]:
        async with self._desk.visit(job.record, keep_alive=job.keep_alive) as visit:
            request, warnings = suit_model(job.name, visit.info, job.request)
            count_request = CountRequest(
                request.id,
                request.messages,
                tools=request.tools,
                tool_choice=request.tool_choice,
                think=request.think,
                think_budget=request.think_budget,
            )
            return {
                "input_tokens": (await self._desk.count(visit, count_request)).tokens,
                **warning_fields((*job.warnings, *warnings)),
            }

    async def _whole(self, job: _Job) -> dict[str, Any]:
        async with self._desk.visit(job.record, keep_alive=job.keep_alive) as visit:
            request, warnings = suit_model(job.name, visit.info, job.request)
            end, _ = await collect_answer(self._desk, visit, request)
        return _message(job) | {
            "content": blocks_of(visible_pieces(end, request)),
            **_reason(end, request),
            "usage": _usage(end.prompt_tokens, end.cached_tokens, len(end.token_ids)),
            **warning_fields((*job.warnings, *warnings), [end]),
        }

    async def _events(self, job: _Job) -> AsyncGenerator[bytes, None]:
        read, begun, blocks = PrefillProgress(job.request.id, 0, 0, 0), False, BlockStream()
        async with self._desk.visit(job.record, keep_alive=job.keep_alive) as visit:
            request, warnings = suit_model(job.name, visit.info, job.request)
            job = replace(job, warnings=(*job.warnings, *warnings))
            async with aclosing(self._desk.answer(visit, request)) as events:
                async for engine_event in events:
                    if isinstance(engine_event, PrefillProgress):
                        read = engine_event
                        continue
                    if not begun:
                        begun = True
                        usage = _usage(read.total, read.cached, 0)
                        yield _event("message_start", message=_message(job) | {"usage": usage})
                    if isinstance(engine_event, TextChunk):
                        for piece in visible_pieces(engine_event, request):
                            for block in blocks.add(piece):
                                yield event(block, block["type"])
                        continue
                    for block in blocks.end():
                        yield event(block, block["type"])
                    yield _event(
                        "message_delta",
                        delta=_reason(engine_event, request),
                        usage=_usage(
                            engine_event.prompt_tokens, engine_event.cached_tokens, len(engine_event.token_ids)
                        ),
                        **warning_fields(job.warnings, [engine_event]),
                    )
                    yield _event("message_stop")


def _require_model(body: ConversationBody) -> None:
    if not body.model:
        raise bad_request("model is required")


def _conversation(body: ConversationBody, reader: ContentReader) -> list[Message]:
    """Return the messages of a conversation, the system prompt first.

    Raises:
        ApiError: There are no messages, or a block has an unknown type.
    """
    system = text_of(body.system)
    messages = name_tool_results(part for message in body.messages for part in messages_of(message, reader))
    if not messages:
        raise bad_request("messages is required")
    return [*([Message("system", system)] if system else []), *messages]


async def _output_format(wanted: FormatBody) -> Grammar | None:
    """Return the grammar of the requested format; None for free text."""
    if not wanted.values:
        return None
    if wanted.type != "json_schema":
        raise wanted.wrong("type", "json_schema")
    return await schema_of(wanted, "schema")


def _message(job: _Job) -> dict[str, Any]:
    return {
        "id": f"msg_{uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": job.name,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        **warning_fields(job.warnings),
    }


def _reason(end: Finished, request: GenerateRequest) -> dict[str, str | None]:
    """Return why an answer ended; only the client's own stop sequences count as `stop_sequence`."""
    if end.stop and end.stop in request.options.get("stop", ()):
        return {"stop_reason": "stop_sequence", "stop_sequence": end.stop}
    reason = "max_tokens" if end.done_reason in CUT_SHORT else "end_turn"
    if end.done_reason is DoneReason.STOP and end.calls and request.tools:
        reason = "tool_use"
    return {"stop_reason": reason, "stop_sequence": None}


def _usage(prompt: int, cached: int, written: int) -> dict[str, int]:
    """Return the token counts; in this dialect, cached tokens are not part of the input."""
    return {"input_tokens": prompt - cached, "cache_read_input_tokens": cached, "output_tokens": written}


def _event(name: str, **values: Any) -> bytes:
    return event({"type": name, **values}, name)

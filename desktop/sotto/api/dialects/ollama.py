"""Ollama's dialect: answers of `/api/generate` and `/api/chat`."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from sotto.api.answers import NDJSON, Answer, Dialect, Pieces, Whole, line
from sotto.api.asking import (
    NO_IMAGES,
    options_of,
    overflow_of,
    reason_of,
    refuse_other_formats,
    request_of,
    role_of,
    schema_of,
    tokens_of,
    usual_of_text,
    whole_answer,
)
from sotto.api.bodies import fields_of
from sotto.api.desk import Desk, Visit
from sotto.api.durations import keep_alive
from sotto.api.error_bodies import ApiError, bad, missing
from sotto.api.fields import Fields
from sotto.api.logprob_fields import asked_of_ollama, of_ollama
from sotto.api.notes import noted
from sotto.api.tool_fields import NOTHING, Told, calls_said, named_by_calls, ollama_manner, ollama_row, suited, told
from sotto.engine.contract.events import Finished, ModelInfo, TextChunk
from sotto.engine.contract.logprob_values import Likelihood
from sotto.engine.contract.requests import GenerateRequest, Grammar, Message
from sotto.engine.grammar.grammar_files import any_object
from sotto.store.records import ModelRecord

_LONGEST_TEMPLATE = 1 << 20


def _shape(error: ApiError) -> dict[str, Any]:
    return {"error": error.message}


DIALECT = Dialect(_shape, lambda error: line(_shape(error)))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What `/api/generate` and `/api/chat` have in common.

    Attributes:
        name: The model, as the client calls it.
        record: The model.
        num_ctx: The context it is to be loaded with.
        keep_alive: Seconds that it is to stay afterwards.
        stream: Whether the answer goes out as it comes.
        request: What to answer, given the loaded model; None where it is only to be loaded or unloaded.
        row: Puts what is told of an answer into a row.
        warnings: What of the request is not followed.
    """

    name: str
    record: ModelRecord
    num_ctx: int | None
    keep_alive: float | None
    stream: bool
    request: Callable[[ModelInfo], GenerateRequest] | None
    row: Callable[[Told], dict[str, Any]]
    warnings: tuple[str, ...]


class OllamaAnswers:
    """Answers as Ollama does."""

    def __init__(self, desk: Desk) -> None:
        """Ask at `desk`."""
        self._desk = desk

    def routes(self) -> list[Route]:
        """Return what is answered here."""
        return [
            Route("/api/generate", self._generate, methods=["POST"]),
            Route("/api/chat", self._chat, methods=["POST"]),
        ]

    async def _generate(self, request: Request) -> Answer:
        fields = await fields_of(request)
        record, options = await self._begin(fields)
        if fields.list("images"):
            raise bad(NO_IMAGES)
        prompt, system = fields.text("prompt"), fields.text("system")
        raw = fields.flag("raw", False)
        if raw and (fields.text("template") or system or fields.any("context")):
            raise bad("raw mode does not support template, system, or context")
        if len(template := fields.text("template")) > _LONGEST_TEMPLATE:
            raise bad(f"template has {len(template):,} characters, and {_LONGEST_TEMPLATE:,} is the most.")
        context = tokens_of(fields, "context", fields.list("context"))
        suffix = fields.text("suffix")
        overflow, grammar = overflow_of(fields, usual_of_text(record)), await _format(fields)
        logprobs, manner = asked_of_ollama(fields), ollama_manner(fields)

        def asked(info: ModelInfo) -> GenerateRequest:
            if suffix:
                # As in Ollama, neither a system prompt nor thoughts have a place there.
                request = request_of(options, (), prompt, overflow, logprobs, grammar)
                return replace(request, suffix=suffix)
            # A model without a template is one that goes on with texts.
            if raw or not (info.has_chat_template or system or template):
                return request_of(options, (), prompt, overflow, logprobs, grammar, manner)
            before = (Message("system", system),) if system else ()
            messages = (*before, Message("user", prompt))
            return request_of(options, messages, None, overflow, logprobs, grammar, manner)

        def going_on(info: ModelInfo) -> GenerateRequest:
            return asked(info) if raw else replace(asked(info), context=context, template=template)

        def row(told: Told) -> dict[str, Any]:
            return {"response": told.text, **ollama_row(told)}

        return self._answer(_asked(fields, record, going_on if prompt or suffix else None, row))

    async def _chat(self, request: Request) -> Answer:
        fields = await fields_of(request)
        if not fields.text("model"):
            raise bad("model is required")
        record, options = await self._begin(fields)
        messages = tuple(named_by_calls(map(_message, fields.objects("messages"))))
        overflow, grammar = overflow_of(fields), await _format(fields)
        logprobs, manner = asked_of_ollama(fields), ollama_manner(fields)

        def asked(info: ModelInfo) -> GenerateRequest:
            return request_of(options, messages, None, overflow, logprobs, grammar, manner)

        def row(told: Told) -> dict[str, Any]:
            return {"message": {"role": "assistant", "content": told.text, **ollama_row(told)}}

        return self._answer(_asked(fields, record, asked if messages else None, row))

    async def _begin(self, fields: Fields) -> tuple[ModelRecord, dict[str, Any]]:
        """Return the model and the options, with everything checked that both requests may ask for."""
        record = await self._desk.model(fields.text("model"))
        options, _, _ = options_of(fields)
        refuse_other_formats(fields, "format")
        if fields.flag("_debug_render_only", False):
            raise missing("_debug_render_only is not supported yet.")
        return record, options

    def _answer(self, asked: _Asked) -> Answer:
        if asked.request is not None and asked.stream:
            return Pieces(DIALECT, NDJSON, self._lines(asked, asked.request))
        return Whole(DIALECT, lambda: self._whole(asked))

    async def _whole(self, asked: _Asked) -> dict[str, Any]:
        if asked.request is None:
            reason = await self._load_or_unload(asked)
            return _row(asked, NOTHING) | {"done": True, "done_reason": reason} | noted(asked.warnings)
        async with self._desk.visit(asked.record, asked.num_ctx, asked.keep_alive) as visit:
            request, warnings = suited(asked.name, visit.info, asked.request(visit.info))
            end, likely = await whole_answer(self._desk, visit, request)
            notes = noted((*asked.warnings, *warnings), [end])
            return _row(asked, told(end, request), likely) | _ended(end, visit) | notes

    async def _load_or_unload(self, asked: _Asked) -> str:
        if asked.keep_alive == 0:
            await self._desk.unload(asked.record)
            return "unload"
        async with self._desk.visit(asked.record, asked.num_ctx, asked.keep_alive):
            return "load"

    async def _lines(
        self, asked: _Asked, request_for: Callable[[ModelInfo], GenerateRequest]
    ) -> AsyncGenerator[bytes, None]:
        async with self._desk.visit(asked.record, asked.num_ctx, asked.keep_alive) as visit:
            request, warnings = suited(asked.name, visit.info, request_for(visit.info))
            async with aclosing(self._desk.answer(visit, request)) as events:
                async for event in events:
                    if isinstance(event, TextChunk) and ((new := told(event, request)) or event.logprobs):
                        yield line(_row(asked, new, event.logprobs) | {"done": False})
                    elif isinstance(event, Finished):
                        notes = noted((*asked.warnings, *warnings), [event])
                        yield line(_row(asked, NOTHING) | _ended(event, visit) | notes)


def _asked(
    fields: Fields,
    record: ModelRecord,
    request: Callable[[ModelInfo], GenerateRequest] | None,
    row: Callable[[Told], dict[str, Any]],
) -> _Asked:
    _, num_ctx, warnings = options_of(fields)
    return _Asked(
        name=fields.text("model"),
        record=record,
        num_ctx=num_ctx,
        keep_alive=keep_alive(fields.any("keep_alive")),
        stream=fields.flag("stream", True),
        request=request,
        row=row,
        warnings=warnings,
    )


def _message(message: Fields) -> Message:
    if message.list("images"):
        raise bad(NO_IMAGES)
    return Message(
        role_of(message),
        message.text("content"),
        message.text("thinking"),
        calls_said(message),
        message.text("tool_name") or message.text("name"),
        message.text("tool_call_id"),
    )


async def _format(fields: Fields) -> Grammar | None:
    """Return what the answer must be, if it must be something."""
    wanted = fields.any("format")
    if wanted in (None, ""):
        return None
    if wanted == "json":
        return any_object("format")
    if not isinstance(wanted, dict):
        raise fields.wrong("format", "'json' or a JSON schema")
    return await schema_of(fields, "format")


def _row(asked: _Asked, new: Told, likely: Sequence[Likelihood] = ()) -> dict[str, Any]:
    logprobs = {"logprobs": of_ollama(likely)} if likely else {}
    return {"model": asked.name, "created_at": timestamp(time.time_ns()), **asked.row(new), **logprobs}


def _ended(end: Finished, visit: Visit) -> dict[str, Any]:
    return {
        "done": True,
        "done_reason": reason_of(end),
        "total_duration": visit.waited + end.total_duration,
        "load_duration": visit.waited,
        "prompt_eval_count": end.prompt_tokens,
        "prompt_eval_cached_count": end.cached_tokens,
        "prompt_eval_duration": end.prompt_duration,
        "eval_count": len(end.token_ids),
        "eval_duration": end.eval_duration,
    } | ({"context": end.context} if end.context else {})


def timestamp(nanoseconds: int) -> str:
    """Return a time as RFC 3339 writes it, in UTC."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"

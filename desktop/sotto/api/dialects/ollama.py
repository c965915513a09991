"""Ollama's dialect: answers of `/api/generate` and `/api/chat`."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from starlette.routing import Route

from sotto.api.answers import NDJSON, Answer, Dialect, Pieces, Whole, line
from sotto.api.asking import (
    MessageBody,
    OptionsBody,
    OverflowBody,
    collect_answer,
    default_text_overflow,
    options_of,
    overflow_of,
    reason_of,
    refuse_other_formats,
    request_of,
    role_of,
    schema_of,
    tokens_of,
)
from sotto.api.bodies import takes
from sotto.api.content_parts import ContentReader
from sotto.api.desk import Desk, Visit
from sotto.api.durations import keep_alive
from sotto.api.error_bodies import ApiError, bad_request, not_implemented
from sotto.api.fields import OBJECT, STRING, Body, Flag, List, Objects, Raw, Text
from sotto.api.logprob_fields import OllamaLogprobs, ollama_logprobs_field, requested_ollama_logprobs
from sotto.api.notes import warning_fields
from sotto.api.tool_fields import (
    NO_CONTENT,
    AnswerContent,
    Called,
    OllamaTools,
    content_of,
    message_calls,
    name_tool_results,
    ollama_prompt_options,
    ollama_row,
    suit_model,
)
from sotto.engine.contract.events import Finished, ModelInfo, TextChunk
from sotto.engine.contract.logprob_values import LogprobEntry
from sotto.engine.contract.message_content import Content, ImagePart, Part, TextPart
from sotto.engine.contract.message_content import content_of as join_parts
from sotto.engine.contract.requests import GenerateRequest, Grammar, Message
from sotto.engine.grammar.grammar_files import any_object
from sotto.store.records import ModelRecord

_MAX_TEMPLATE_LENGTH = 1 << 20


def _shape(error: ApiError) -> dict[str, Any]:
    return {"error": error.message}


DIALECT = Dialect(_shape, lambda error: line(_shape(error)))


class AnswerBody(OptionsBody, OverflowBody, OllamaTools, OllamaLogprobs):
    """The common fields of requests to `/api/generate` and `/api/chat`."""

    stream = Flag(True)
    format = Raw({"enum": ["", "json"]}, OBJECT)


class Illustrated(Body):
    """A text with images."""

    images = List(STRING)


class GenerateBody(AnswerBody, Illustrated):
    """A request to `/api/generate`."""

    prompt = Text()
    suffix = Text()
    system = Text()
    template = Text()
    raw_ = Flag(False)
    context = List({"type": "integer"})


class ChatMessage(MessageBody, Called, Illustrated):
    """A message of a chat."""

    content = Text()
    thinking = Text()
    tool_name = Text()
    name = Text()
    tool_call_id = Text()


class ChatBody(AnswerBody):
    """A request to `/api/chat`."""

    messages = Objects(ChatMessage)


@dataclass(frozen=True, slots=True)
class _Job:
    """A parsed request to `/api/generate` or `/api/chat`.

    Attributes:
        name: The model's name as the client wrote it.
        record: The model.
        num_ctx: The context length in tokens to load it with; None for the default.
        keep_alive: Seconds for which the model stays loaded afterwards; None for the default.
        stream: Whether to stream the answer.
        request: Builds the request to the engine for the loaded model; None if the model is only loaded or unloaded.
        row: Builds the fields that hold the content of an answer.
        warnings: A sentence for each part of the request that is ignored.
    """

    name: str
    record: ModelRecord
    num_ctx: int | None
    keep_alive: float | None
    stream: bool
    request: Callable[[ModelInfo], GenerateRequest] | None
    row: Callable[[AnswerContent], dict[str, Any]]
    warnings: tuple[str, ...]


class OllamaAnswers:
    """The endpoints for answers in Ollama's dialect."""

    def __init__(self, desk: Desk) -> None:
        """Pass requests to the engine through `desk`."""
        self._desk = desk

    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        return [
            Route("/api/generate", self._generate, methods=["POST"]),
            Route("/api/chat", self._chat, methods=["POST"]),
        ]

    @takes(GenerateBody, streams=NDJSON, images=True)
    async def _generate(self, body: GenerateBody) -> Answer:
        record, options = await self._begin(body)
        prompt, system, template, raw = body.prompt, body.system, body.template, body.raw_
        if raw and (template or system or body.raw("context")):
            raise bad_request("raw mode does not support template, system, or context")
        if len(template) > _MAX_TEMPLATE_LENGTH:
            raise bad_request(
                f"template has {len(template):,} characters; at most {_MAX_TEMPLATE_LENGTH:,} are allowed."
            )
        context = tokens_of(body, "context", body.context)
        suffix = body.suffix
        if body.images and (raw or suffix):
            raise bad_request("images cannot be combined with raw or suffix; leave one of them out.")
        content, _ = await self._desk.read_contents(lambda reader: _content(reader, body, prompt))
        overflow, grammar = overflow_of(body, default_text_overflow(record)), await _format(body)
        logprobs, prompt_options = requested_ollama_logprobs(body), ollama_prompt_options(body)

        def build_request(info: ModelInfo) -> GenerateRequest:
            if suffix:
                # As in Ollama, filling a gap uses neither a system prompt nor thinking.
                request = request_of(options, (), prompt, overflow, logprobs, grammar)
                return replace(request, suffix=suffix)
            # A model without a template continues the text.
            if raw or not (body.images or info.has_chat_template or system or template):
                return request_of(options, (), prompt, overflow, logprobs, grammar, prompt_options)
            before = (Message("system", system),) if system else ()
            messages = (*before, Message("user", content))
            return request_of(options, messages, None, overflow, logprobs, grammar, prompt_options)

        def build_continuation(info: ModelInfo) -> GenerateRequest:
            request = build_request(info)
            return request if raw else replace(request, context=context, template=template)

        def row(content: AnswerContent) -> dict[str, Any]:
            return {"response": content.text, **ollama_row(content)}

        return self._answer(_job(body, record, build_continuation if content or suffix else None, row))

    @takes(ChatBody, streams=NDJSON, images=True)
    async def _chat(self, body: ChatBody) -> Answer:
        if not body.model:
            raise bad_request("model is required")
        record, options = await self._begin(body)
        messages, notes = await self._desk.read_contents(
            lambda reader: tuple(name_tool_results(_message(reader, message) for message in body.messages))
        )
        overflow, grammar = overflow_of(body), await _format(body)
        logprobs, prompt_options = requested_ollama_logprobs(body), ollama_prompt_options(body)

        def build_request(info: ModelInfo) -> GenerateRequest:
            return request_of(options, messages, None, overflow, logprobs, grammar, prompt_options)

        def row(content: AnswerContent) -> dict[str, Any]:
            return {"message": {"role": "assistant", "content": content.text, **ollama_row(content)}}

        return self._answer(_job(body, record, build_request if messages else None, row, notes))

    async def _begin(self, body: AnswerBody) -> tuple[ModelRecord, dict[str, Any]]:
        """Return the model and the options; check the fields that both kinds of request have."""
        record = await self._desk.model(body.model)
        options, _, _ = options_of(body)
        refuse_other_formats(body, "format")
        if body.raw("_debug_render_only"):
            raise not_implemented("_debug_render_only is not supported yet.")
        return record, options

    def _answer(self, job: _Job) -> Answer:
        if job.request is not None and job.stream:
            return Pieces(DIALECT, NDJSON, self._lines(job, job.request))
        return Whole(DIALECT, lambda: self._whole(job))

    async def _whole(self, job: _Job) -> dict[str, Any]:
        if job.request is None:
            reason = await self._load_or_unload(job)
            return _row(job, NO_CONTENT) | {"done": True, "done_reason": reason} | warning_fields(job.warnings)
        async with self._desk.visit(job.record, job.num_ctx, job.keep_alive) as visit:
            request, warnings = suit_model(job.name, visit.info, job.request(visit.info))
            end, logprobs = await collect_answer(self._desk, visit, request)
            notes = warning_fields((*job.warnings, *warnings), [end])
            return _row(job, content_of(end, request), logprobs) | _end_fields(end, visit) | notes

    async def _load_or_unload(self, job: _Job) -> str:
        if job.keep_alive == 0:
            await self._desk.unload(job.record)
            return "unload"
        async with self._desk.visit(job.record, job.num_ctx, job.keep_alive):
            return "load"

    async def _lines(
        self, job: _Job, request_for: Callable[[ModelInfo], GenerateRequest]
    ) -> AsyncGenerator[bytes, None]:
        async with self._desk.visit(job.record, job.num_ctx, job.keep_alive) as visit:
            request, warnings = suit_model(job.name, visit.info, request_for(visit.info))
            async with aclosing(self._desk.answer(visit, request)) as events:
                async for event in events:
                    if isinstance(event, TextChunk) and ((new := content_of(event, request)) or event.logprobs):
                        yield line(_row(job, new, event.logprobs) | {"done": False})
                    elif isinstance(event, Finished):
                        notes = warning_fields((*job.warnings, *warnings), [event])
                        yield line(_row(job, NO_CONTENT) | _end_fields(event, visit) | notes)


def _job(
    body: AnswerBody,
    record: ModelRecord,
    request: Callable[[ModelInfo], GenerateRequest] | None,
    row: Callable[[AnswerContent], dict[str, Any]],
    notes: tuple[str, ...] = (),
) -> _Job:
    _, num_ctx, warnings = options_of(body)
    return _Job(
        name=body.model,
        record=record,
        num_ctx=num_ctx,
        keep_alive=keep_alive(body.keep_alive),
        stream=body.stream,
        request=request,
        row=row,
        warnings=(*notes, *warnings),
    )


def _message(reader: ContentReader, message: ChatMessage) -> Message:
    role = role_of(message)
    return Message(
        role,
        _content(reader, message, message.content, of_tool=role == "tool"),
        message.thinking,
        message_calls(message),
        message.tool_name or message.name,
        message.tool_call_id,
    )


def _content(reader: ContentReader, body: Illustrated, text: str, *, of_tool: bool = False) -> Content:
    """Return a text with its images, which stand before it or, as in Ollama, where it has `[img]`."""

    def read(index: int, value: Any) -> ImagePart:
        if not isinstance(value, str):
            raise body.wrong(f"images[{index}]", "an image in base64", value)
        return reader.image(body, f"images[{index}]", value)

    def read_of_tool(index: int, value: Any) -> Part:
        return reader.or_note(body.path(f"images[{index}]"), lambda: read(index, value))

    images = [(read_of_tool if of_tool else read)(index, value) for index, value in enumerate(body.images)]
    first, *rest = text.split("[img]", len(images)) if images else [text]
    placed = zip(images[: len(rest)], rest, strict=True)
    return join_parts(
        (*images[len(rest) :], TextPart(first), *(part for image, after in placed for part in (image, TextPart(after))))
    )


async def _format(body: AnswerBody) -> Grammar | None:
    """Return the grammar of the requested format; None for free text."""
    wanted = body.format
    if wanted in (None, ""):
        return None
    if wanted == "json":
        return any_object("format")
    if not isinstance(wanted, dict):
        raise body.wrong("format", "'json' or a JSON schema")
    return await schema_of(body, "format")


def _row(job: _Job, new: AnswerContent, logprobs: Sequence[LogprobEntry] = ()) -> dict[str, Any]:
    logprob_fields = {"logprobs": ollama_logprobs_field(logprobs)} if logprobs else {}
    return {"model": job.name, "created_at": timestamp(time.time_ns()), **job.row(new), **logprob_fields}


def _end_fields(end: Finished, visit: Visit) -> dict[str, Any]:
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
    """Return a time in nanoseconds since the epoch in RFC 3339 format, in UTC."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"

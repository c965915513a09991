"""OpenAI's dialect: chat completions, completions and models."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sotto.api.answers import SSE, Answer, Dialect, Pieces, Whole, event, unsupported_routes
from sotto.api.asking import (
    MessageBody,
    OverflowBody,
    SamplingBody,
    check_answerable,
    checked_options,
    default_text_overflow,
    interleave,
    overflow_of,
    reason_of,
    refuse_other_formats,
    request_of,
    role_of,
    sampling_options_of,
    schema_of,
    tokens_of,
)
from sotto.api.bodies import takes
from sotto.api.content_parts import ContentPart, ContentReader
from sotto.api.desk import Desk, Visit
from sotto.api.dialects.ollama_models import modified_at
from sotto.api.durations import keep_alive
from sotto.api.error_bodies import ApiError, bad_request
from sotto.api.fields import (
    OBJECT,
    STRING,
    TOKENS,
    Body,
    Flag,
    Integer,
    List,
    MaxTokens,
    Object,
    Objects,
    Raw,
    Text,
    TextOrObjects,
    list_of,
)
from sotto.api.logprob_fields import (
    ChatLogprobs,
    CompletionLogprobs,
    Form,
    chat_logprobs_field,
    requested_chat_logprobs,
)
from sotto.api.notes import warning_fields
from sotto.api.tool_fields import (
    NO_CONTENT,
    AnswerContent,
    Called,
    OpenAITools,
    content_of,
    message_calls,
    name_tool_results,
    openai_prompt_options,
    openai_row,
    suit_model,
)
from sotto.engine.contract.events import DoneReason, Finished, TextChunk
from sotto.engine.contract.logprob_values import MOST_LOGPROBS, LogprobEntry
from sotto.engine.contract.requests import GenerateRequest, Grammar, Message
from sotto.engine.grammar.grammar_files import any_object
from sotto.errors import InvalidNameError
from sotto.store.records import ModelRecord
from sotto.store.sources.model_names import parse_name

MAX_CHOICES = 16
_SEEDS = 2**64
_NO_NOTES: Mapping[str, Any] = {}
_NOT_YET = {
    "/v1/audio/transcriptions": "Audio is not supported yet.",
}
_TYPES = {
    HTTPStatus.BAD_REQUEST: "invalid_request_error",
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.NOT_FOUND: "not_found_error",
}


def _shape(error: ApiError) -> dict[str, Any]:
    kind = _TYPES.get(HTTPStatus(error.status), "api_error")
    return {"error": {"message": error.message, "type": kind, "param": None, "code": None}}


DIALECT = Dialect(_shape, lambda error: event(_shape(error)))


class SchemaBody(Body):
    """A JSON schema with its name."""

    name = Text()
    schema_ = Raw(OBJECT, required=True)


class FormatBody(Body):
    """The format that an answer must have."""

    type = Text("text", choices=("text", "json_object", "json_schema"))
    json_schema = Object(SchemaBody)


class StreamOptions(Body):
    """Options of a streamed answer."""

    include_usage = Flag(False)


class AnswerBody(SamplingBody, OverflowBody):
    """The common fields of requests for chats and for completions."""

    stream = Flag(False)
    stream_options = Object(StreamOptions)
    stop = Raw(STRING, list_of(STRING))
    n = Integer(1, MAX_CHOICES)
    max_tokens = MaxTokens()
    max_completion_tokens = MaxTokens()
    logit_bias = Object(Body)
    response_format = Object(FormatBody)


class ChatMessage(MessageBody, Called):
    """A message of a chat."""

    content = TextOrObjects(ContentPart)
    reasoning = Text()
    reasoning_content = Text()
    name = Text()
    tool_call_id = Text()


class ChatBody(AnswerBody, OpenAITools, ChatLogprobs):
    """A request to `/v1/chat/completions`."""

    messages = Objects(ChatMessage, required=True)
    # The old name of tools, which is refused.
    functions = List()


class CompletionBody(AnswerBody):
    """A request to `/v1/completions`."""

    prompt = Raw(STRING, list_of(STRING), TOKENS, list_of(TOKENS), required=True)
    suffix = Text()
    echo = Flag(False)
    logprobs = Integer(0, MOST_LOGPROBS)
    best_of = Raw({"const": 1})


@dataclass(frozen=True, slots=True)
class _Job:
    """A parsed request for a chat or a completion.

    Attributes:
        record: The model.
        requests: The requests to the engine, one for each choice.
        prompts: The number of prompts that they come from.
        keep_alive: Seconds for which the model stays loaded afterwards; None for the default.
        stream: Whether to stream the answer.
        usage: Whether a stream ends with token counts.
        head: The fields that every object of the answer begins with.
        whole: Builds a choice from its index and its whole content.
        piece: Builds a choice of a stream from its index, its new content, and the number of calls sent before (None
            for its first object).
        last: The last choice of a stream, without its finish reason.
        chunk: The `object` field of a stream's objects.
        logprobs: Builds the form for the `logprobs` field of a choice; None if it was not requested.
        warnings: A sentence for each part of the request that is ignored.
    """

    record: ModelRecord
    requests: Sequence[GenerateRequest]
    prompts: int
    keep_alive: float | None
    stream: bool
    usage: bool
    head: Mapping[str, Any]
    whole: Callable[[int, AnswerContent], dict[str, Any]]
    piece: Callable[[int, AnswerContent, int | None], dict[str, Any]]
    last: Mapping[str, Any] = field(default_factory=dict)
    chunk: str = ""
    logprobs: Callable[[], Form] | None = None
    warnings: tuple[str, ...] = ()


class OpenAI:
    """The endpoints for chats, completions and models in OpenAI's dialect."""

    def __init__(self, desk: Desk) -> None:
        """Pass requests to the engine through `desk`."""
        self._desk = desk

    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        return [
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/completions", self._complete, methods=["POST"]),
            Route("/v1/models", self._models),
            Route("/v1/models/{name:path}", self._model),
            *unsupported_routes(_NOT_YET),
        ]

    async def _models(self, request: Request) -> Response:
        rows = [_model_row(record, record.name) for record in await self._desk.models() if record.runnable]
        return JSONResponse({"object": "list", "data": rows})

    async def _model(self, request: Request) -> Response:
        name = request.path_params["name"]
        return JSONResponse(_model_row(await self._desk.model(name), name))

    @takes(ChatBody, streams=SSE, images=True)
    async def _chat(self, body: ChatBody) -> Answer:
        record, options, count, warnings = await self._begin(body)
        if body.functions:
            raise bad_request("functions is not supported; use tools instead.")
        logprobs, prompt_options = requested_chat_logprobs(body), await check_answerable(openai_prompt_options(body))
        overflow = overflow_of(body)
        messages, notes = await self._desk.read_contents(
            lambda reader: name_tool_results(_message(reader, message) for message in body.messages)
        )
        if not messages:
            raise bad_request("[] is too short - 'messages'")
        grammar = await _response_format(body.response_format)
        return self._answer(
            _Job(
                record=record,
                requests=[
                    request_of(own_options, messages, None, overflow, logprobs, grammar, prompt_options)
                    for own_options in _with_seeds(options, count)
                ],
                prompts=1,
                keep_alive=keep_alive(body.keep_alive),
                stream=body.stream,
                usage=body.stream_options.include_usage,
                head=_head("chatcmpl", "chat.completion", body),
                whole=lambda index, content: {
                    "index": index,
                    "message": {"role": "assistant", "content": content.text, **openai_row(content)},
                },
                piece=_delta,
                last={"delta": {}},
                chunk="chat.completion.chunk",
                logprobs=None if logprobs is None else lambda: chat_logprobs_field,
                warnings=(*notes, *warnings),
            )
        )

    @takes(CompletionBody, streams=SSE)
    async def _complete(self, body: CompletionBody) -> Answer:
        record, options, count, warnings = await self._begin(body)
        suffix = body.suffix or None
        prompts = _prompts(body, empty=suffix is not None)
        logprobs, echo = body.logprobs, body.echo
        if logprobs is not None and echo:
            raise bad_request("echo and logprobs cannot be combined; leave one of them out.")
        if body.best_of not in (None, 1):
            raise body.wrong("best_of", "1")
        if len(prompts) * count > MAX_CHOICES:
            raise bad_request(
                f"prompt and n ask for {len(prompts) * count} choices; at most {MAX_CHOICES} are allowed."
            )
        overflow = overflow_of(body, default_text_overflow(record))
        grammar = await _response_format(body.response_format)
        return self._answer(
            _Job(
                record=record,
                requests=[
                    replace(request_of(own_options, (), prompt, overflow, logprobs, grammar), echo=echo, suffix=suffix)
                    for prompt in prompts
                    for own_options in _with_seeds(options, count)
                ],
                prompts=len(prompts),
                keep_alive=keep_alive(body.keep_alive),
                stream=body.stream,
                usage=body.stream_options.include_usage,
                head=_head("cmpl", "text_completion", body),
                whole=lambda index, content: {"text": content.text, "index": index},
                piece=lambda index, content, calls: {"text": content.text, "index": index},
                last={"text": ""},
                chunk="text_completion",
                logprobs=None if logprobs is None else CompletionLogprobs,
                warnings=warnings,
            )
        )

    async def _begin(self, body: AnswerBody) -> tuple[ModelRecord, dict[str, Any], int, tuple[str, ...]]:
        """Return the model, the options by Ollama's names, the number of choices, and warnings."""
        if not body.model:
            raise bad_request("model is required")
        record = await self._desk.model(body.model)
        # The defaults that clients of this dialect expect.
        options: dict[str, Any] = {"temperature": 1.0, "top_p": 1.0}
        given_options, warnings = sampling_options_of(body)
        options |= given_options
        if body.given("stop"):
            options["stop"] = body.stop
        for most in (body.max_tokens, body.max_completion_tokens):
            if most is not None:
                options["num_predict"] = most
        if biases := body.logit_bias.values:
            options["logit_bias"] = biases
        checked_options(options)
        refuse_other_formats(body, "response_format")
        return record, options, body.n or 1, warnings

    def _answer(self, job: _Job) -> Answer:
        if job.stream:
            return Pieces(DIALECT, SSE, self._events(job))
        return Whole(DIALECT, lambda: self._whole(job))

    async def _whole(self, job: _Job) -> dict[str, Any]:
        async with (
            self._visit(job) as (visit, job),
            aclosing(interleave(self._desk, visit, job.requests)) as events,
        ):
            ends: dict[int, Finished] = {}
            logprobs: dict[int, list[LogprobEntry]] = {}
            async for index, engine_event in events:
                if isinstance(engine_event, TextChunk):
                    logprobs.setdefault(index, []).extend(engine_event.logprobs)
                elif isinstance(engine_event, Finished):
                    ends[index] = engine_event
        choices = [
            job.whole(index, content_of(end, job.requests[index]))
            | {"finish_reason": _reason(end, job)}
            | ({"logprobs": job.logprobs()(logprobs.get(index, ()))} if job.logprobs else {})
            for index, end in sorted(ends.items())
        ]
        notes = warning_fields(job.warnings, ends.values())
        return {**job.head, "choices": choices, "usage": _usage(ends, job.prompts), **notes}

    @asynccontextmanager
    async def _visit(self, job: _Job) -> AsyncIterator[tuple[Visit, _Job]]:
        """Wait until the model is loaded, and yield the visit and the request adapted to the model."""
        async with self._desk.visit(job.record, keep_alive=job.keep_alive) as visit:
            each = [suit_model(job.head["model"], visit.info, request) for request in job.requests]
            warnings = (*job.warnings, *each[0][1])
            yield visit, replace(job, requests=[request for request, _ in each], warnings=warnings)

    async def _events(self, job: _Job) -> AsyncGenerator[bytes, None]:
        head = {**job.head, "object": job.chunk}
        calls: dict[int, int] = {}
        ends: dict[int, Finished] = {}
        forms = [job.logprobs() for _ in job.requests] if job.logprobs else []

        def chunk(choice: dict[str, Any], reason: str | None, notes: Mapping[str, Any] = _NO_NOTES) -> bytes:
            return event({**head, "choices": [choice | {"finish_reason": reason}], **notes})

        async with (
            self._visit(job) as (visit, job),
            aclosing(interleave(self._desk, visit, job.requests)) as events,
        ):
            async for index, engine_event in events:
                new = (
                    content_of(engine_event, job.requests[index]) if isinstance(engine_event, TextChunk) else NO_CONTENT
                )
                logprobs = engine_event.logprobs if isinstance(engine_event, TextChunk) else ()
                if new or logprobs or (isinstance(engine_event, Finished) and index not in calls):
                    logprob_fields = {"logprobs": forms[index](logprobs)} if logprobs else {}
                    yield chunk(job.piece(index, new, calls.get(index)) | logprob_fields, None)
                    calls[index] = calls.get(index, 0) + len(new.calls)
                if isinstance(engine_event, Finished):
                    ends[index] = engine_event
                    is_last = len(ends) == len(job.requests) and not job.usage
                    notes = warning_fields(job.warnings, ends.values()) if is_last else {}
                    yield chunk({"index": index, **job.last}, _reason(engine_event, job), notes)
        if job.usage:
            notes = warning_fields(job.warnings, ends.values())
            yield event({**head, "choices": [], "usage": _usage(ends, job.prompts), **notes})
        yield b"data: [DONE]\n\n"


async def _response_format(wanted: FormatBody) -> Grammar | None:
    """Return the grammar of the requested format; None for free text."""
    kind = wanted.type
    if kind == "text":
        return None
    if kind == "json_object":
        return any_object("response_format")
    if kind != "json_schema":
        raise wanted.wrong("type", "text, json_object or json_schema")
    return await schema_of(wanted.json_schema, "schema")


def _message(reader: ContentReader, message: ChatMessage) -> Message:
    role = role_of(message)
    read = reader.result if role == "tool" else reader.content
    return Message(
        role,
        read(message.content, reader.openai_part),
        message.reasoning or message.reasoning_content,
        message_calls(message),
        message.name if message.role == "tool" else "",
        message.tool_call_id,
    )


def _delta(index: int, content: AnswerContent, calls: int | None) -> dict[str, Any]:
    """Return the next object of a chat's choice; `calls` is the number of calls sent before, None for its first."""
    role = {"role": "assistant"} if calls is None else {}
    text = {"content": content.text} if content.text or not (content.calls or content.thinking or content.cut) else {}
    return {"index": index, "delta": {**role, **text, **openai_row(content, calls or 0)}}


def _reason(end: Finished, job: _Job) -> str:
    """Return the finish reason of a choice."""
    called = bool(end.calls) and any(request.tools for request in job.requests)
    return "tool_calls" if called and end.done_reason is DoneReason.STOP else reason_of(end)


def _prompts(body: CompletionBody, *, empty: bool) -> list[str | tuple[int, ...]]:
    """Return the prompts, each a text or its token ids; the engine checks the ids against the vocabulary.

    Args:
        body: The request.
        empty: Whether a single text may be empty, as the text before a gap may be.
    """
    value = body.prompt
    if empty and value == "":
        return [value]
    if not isinstance(value, str | list):
        raise body.wrong("prompt", "a string, a list of token IDs, or a list of either")
    if not value:
        raise bad_request("prompt is empty; send text or token IDs to continue.")
    if isinstance(value, str) or type(value[0]) is int:
        return [_prompt(body, "prompt", value)]
    if not isinstance(value[0], str | list):
        raise body.wrong("prompt[0]", "a string, a token ID or a list of token IDs", value[0])
    kind = type(value[0])
    for index, item in enumerate(value):
        if not isinstance(item, kind):
            raise body.wrong(f"prompt[{index}]", "a string" if kind is str else "a list of token IDs", item)
    return [_prompt(body, f"prompt[{index}]", item) for index, item in enumerate(value)]


def _prompt(body: CompletionBody, name: str, value: str | list[Any]) -> str | tuple[int, ...]:
    if not value:
        raise bad_request(f"{name} is empty; send text or token IDs to continue.")
    if isinstance(value, str):
        return value
    return tokens_of(body, name, value)


def _with_seeds(options: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the options of each choice; if a seed is given, each choice gets a different one derived from it."""
    seed = int(options.get("seed", -1))
    if seed < 0:
        return [dict(options)] * count
    return [{**options, "seed": (seed + index) % _SEEDS} for index in range(count)]


def _head(prefix: str, kind: str, body: AnswerBody) -> dict[str, Any]:
    return {
        "id": f"{prefix}-{uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": body.model,
        "system_fingerprint": "fp_sotto",
    }


def _usage(ends: Mapping[int, Finished], prompts: int) -> dict[str, Any]:
    """Return the token counts; a prompt that several choices share counts once."""
    each = max(1, len(ends) // prompts)
    firsts = [end for index, end in ends.items() if index % each == 0]
    read, written = sum(end.prompt_tokens for end in firsts), sum(len(end.token_ids) for end in ends.values())
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": sum(end.cached_tokens for end in firsts)},
    }


def _model_row(record: ModelRecord, name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": modified_at(record) // 10**9, "owned_by": owner_of(record)}


def owner_of(record: ModelRecord) -> str:
    """Return the namespace in a model's name, or the store that holds the model if the name has none."""
    try:
        return parse_name(record.name).namespace
    except InvalidNameError:
        return record.source.value

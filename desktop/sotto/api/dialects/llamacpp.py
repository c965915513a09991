"""The part of llama.cpp's dialect that editors use: `/infill`, which fills a gap in a text, and `/health`.

https://github.com/ggml-org/llama.cpp/tree/master/tools/server
"""

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sotto.api.answers import SSE, Answer, Dialect, Pieces, Whole, event
from sotto.api.asking import (
    SamplingBody,
    checked_options,
    refuse_other_formats,
    request_of,
    sampling_options_of,
    schema_of,
)
from sotto.api.bodies import takes
from sotto.api.desk import Desk, Visit
from sotto.api.durations import keep_alive
from sotto.api.error_bodies import ApiError, bad_request
from sotto.api.fields import MAX_TOKENS, OBJECT, STRING, Body, Flag, Integer, List, Objects, Raw, Text, list_of
from sotto.api.notes import warning_fields
from sotto.engine.contract.events import DoneReason, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.requests import GenerateRequest, Overflow
from sotto.store.records import ModelRecord

PATHS = ("/health", "/v1/health", "/infill")
_MAX_FILES = 256
_MAX_MILLISECONDS = 2**31 - 1
_DEFAULT_FILENAME = "tmp"
_MISSING = object()
_TYPES = {
    HTTPStatus.BAD_REQUEST: "invalid_request_error",
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.NOT_FOUND: "not_found_error",
    HTTPStatus.NOT_IMPLEMENTED: "not_supported_error",
    HTTPStatus.SERVICE_UNAVAILABLE: "unavailable_error",
}


def _shape(error: ApiError) -> dict[str, Any]:
    kind = _TYPES.get(HTTPStatus(error.status), "server_error")
    return {"error": {"code": int(error.status), "message": error.message, "type": kind}}


DIALECT = Dialect(_shape, lambda error: event(_shape(error)))


class FileBody(Body):
    """A file that gives context."""

    filename = Text(_DEFAULT_FILENAME)
    text = Text()


class InfillBody(SamplingBody):
    """A request to `/infill`."""

    model = Text()
    input_prefix = Text(required=True)
    input_suffix = Text(required=True)
    input_extra = Objects(FileBody)
    prompt = Text()
    n_predict = Integer(-2, MAX_TOKENS)
    stop = Raw(STRING, list_of(STRING))
    json_schema = Raw(OBJECT)
    ignore_eos = Flag(False)
    t_max_predict_ms = Integer(-1, _MAX_MILLISECONDS)
    response_fields = List(STRING)
    stream = Flag(False)


@dataclass(frozen=True, slots=True)
class _Job:
    """A parsed request to fill a gap.

    Attributes:
        record: The model; None for any that can fill gaps.
        request: The request to the engine.
        keep_alive: Seconds for which the model stays loaded afterwards; None for the default.
        generates: Whether to send text; otherwise the prompt is only computed, to be cached for the next request.
        time_limit: Seconds from the first token after which the answer ends, once it has a line break; 0 for no limit.
        fields: The paths of the fields to send; empty for all.
        warnings: A sentence for each part of the request that is ignored.
    """

    record: ModelRecord | None
    request: GenerateRequest
    keep_alive: float | None
    generates: bool
    time_limit: float
    fields: Sequence[str]
    warnings: tuple[str, ...]


@dataclass(slots=True)
class _Progress:
    """The state of an answer; times are those of `time.monotonic()`.

    Attributes:
        began: The time of the request.
        prompt: The number of prompt tokens.
        cached: The number of prompt tokens taken from the cache.
        first: The time of the first token; 0 before.
        last: The time of the last event.
        text: The text so far.
        tokens: The number of generated tokens so far.
        end: The last event; None if the answer ended at its time limit.
    """

    began: float
    prompt: int = 0
    cached: int = 0
    first: float = 0.0
    last: float = 0.0
    text: str = ""
    tokens: int = 0
    end: Finished | None = None


class LlamaCpp:
    """The endpoints of llama.cpp's dialect."""

    def __init__(self, desk: Desk) -> None:
        """Pass requests to the engine through `desk`."""
        self._desk = desk

    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        return [
            Route("/health", self._health),
            Route("/v1/health", self._health),
            Route("/infill", self._infill, methods=["POST"]),
        ]

    async def _health(self, request: Request) -> Response:
        if self._desk.is_loading_first:
            return DIALECT.response(ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "Loading model"))
        return JSONResponse({"status": "ok"})

    @takes(InfillBody, streams=SSE)
    async def _infill(self, body: InfillBody) -> Answer:
        for name in ("input_prefix", "input_suffix"):
            if not body.given(name):
                raise bad_request(f'"{name}" is required')
        files = tuple((file.filename, file.text) for file in body.input_extra)
        if len(files) > _MAX_FILES:
            raise bad_request(f"input_extra has {len(files)} texts; at most {_MAX_FILES} are allowed.")
        record = await self._desk.model(body.model) if body.model else None
        options, count, warnings = _options(body)
        refuse_other_formats(body, "json_schema")
        grammar = await schema_of(body, "json_schema") if body.given("json_schema") else None
        request = replace(
            request_of(
                options,
                prompt=body.input_prefix + body.prompt,
                overflow=Overflow.TRUNCATE,
                grammar=grammar,
            ),
            suffix=body.input_suffix,
            files=files,
            ignore_eos=body.ignore_eos,
        )
        job = _Job(
            record,
            request,
            keep_alive(body.keep_alive),
            generates=count != 0,
            time_limit=(body.t_max_predict_ms or 0) / 1000,
            fields=_response_fields(body),
            warnings=warnings,
        )
        if body.stream:
            return Pieces(DIALECT, SSE, self._events(job))
        return Whole(DIALECT, lambda: self._whole(job))

    async def _default_model(self) -> ModelRecord:
        """Return the model for a request that names none: a loaded one, or else the only one that can fill gaps.

        Raises:
            ApiError: No model can fill gaps, or several can and none of them is loaded.
        """
        loaded = sorted(self._desk.host.resident_models, key=lambda resident: resident.stays, reverse=True)
        if able := [resident.record for resident in loaded if resident.info.fills_gaps]:
            return able[0]
        records = [record for record in await self._desk.models() if record.runnable]
        profiles = await self._desk.profiles(records)
        able = [record for record, profile in zip(records, profiles, strict=True) if "insert" in profile.capabilities]
        if len(able) == 1:
            return able[0]
        if not able:
            raise ApiError(HTTPStatus.NOT_IMPLEMENTED, "No model on this machine supports infill.")
        names = ", ".join(record.name for record in able[:4])
        raise bad_request(f"model is required, as none that supports infill is loaded; choose from {names}.")

    async def _whole(self, job: _Job) -> dict[str, Any]:
        record = job.record or await self._default_model()
        async with self._desk.visit(record, keep_alive=job.keep_alive) as visit:
            progress = _Progress(time.monotonic())
            async with aclosing(self._chunks(job, visit, progress)) as chunks:
                async for _ in chunks:
                    pass
            return _select_fields(_final(job, visit, progress, progress.text), job.fields)

    async def _events(self, job: _Job) -> AsyncGenerator[bytes, None]:
        record = job.record or await self._default_model()
        async with self._desk.visit(record, keep_alive=job.keep_alive) as visit:
            progress = _Progress(time.monotonic())
            async with aclosing(self._chunks(job, visit, progress)) as chunks:
                async for chunk in chunks:
                    row = {
                        "index": 0,
                        "content": chunk.text,
                        "tokens": list(chunk.token_ids),
                        "stop": False,
                        "tokens_predicted": progress.tokens,
                    }
                    yield event(_select_fields(row, job.fields))
            yield event(_select_fields(_final(job, visit, progress, ""), job.fields))

    async def _chunks(self, job: _Job, visit: Visit, progress: _Progress) -> AsyncGenerator[TextChunk, None]:
        """Yield the chunks of an answer and record its state in `progress`."""
        if not visit.info.fills_gaps:
            raise ApiError(
                HTTPStatus.NOT_IMPLEMENTED,
                f"{visit.info.name} does not support infill: it lacks tokens for it, and a template with a suffix.",
            )
        async with aclosing(self._desk.answer(visit, job.request)) as events:
            async for engine_event in events:
                progress.last = time.monotonic()
                if isinstance(engine_event, Finished):
                    progress.end = engine_event
                elif isinstance(engine_event, PrefillProgress):
                    progress.prompt, progress.cached = engine_event.total, engine_event.cached
                elif job.generates:
                    progress.first = progress.first or progress.last
                    progress.text += engine_event.text
                    progress.tokens += len(engine_event.token_ids)
                    if engine_event.text:
                        yield engine_event
                    if 0 < job.time_limit < progress.last - progress.first and "\n" in progress.text:
                        return


def _options(body: InfillBody) -> tuple[dict[str, Any], int, tuple[str, ...]]:
    """Return the options by Ollama's names, the maximum number of tokens (negative for no limit), and warnings."""
    options, warnings = sampling_options_of(body)
    if body.given("stop"):
        options["stop"] = body.stop
    count = body.n_predict
    if count is not None:
        # For 0, one token is sampled and not sent: it costs nothing beyond computing the prompt.
        options["num_predict"] = count or 1
    checked_options(options)
    return options, -1 if count is None else count, warnings


def _response_fields(body: InfillBody) -> Sequence[str]:
    paths = body.response_fields
    for index, path in enumerate(paths):
        if not isinstance(path, str):
            raise body.wrong(f"response_fields[{index}]", "the path of a field", path)
    return paths


def _final(job: _Job, visit: Visit, progress: _Progress, content: str) -> dict[str, Any]:
    """Return the last object of an answer, in llama.cpp's form."""
    options, end = job.request.options, progress.end
    first = progress.first or progress.last
    prompt_seconds, eval_seconds = first - progress.began, progress.last - first
    if end is not None:
        prompt_seconds, eval_seconds = end.prompt_duration / 1e9, end.eval_duration / 1e9
    computed = progress.prompt - progress.cached
    return {
        "index": 0,
        "content": content,
        "tokens": [],
        "id_slot": 0,
        "stop": True,
        "model": visit.info.name,
        "tokens_predicted": progress.tokens,
        "tokens_evaluated": progress.prompt,
        "generation_settings": {"n_ctx": visit.info.context_length, **options},
        "has_new_line": "\n" in progress.text,
        "truncated": end is not None and end.dropped_tokens > 0,
        **_stop_fields(job, end),
        "tokens_cached": progress.prompt + progress.tokens,
        "timings": {
            "cache_n": progress.cached,
            **_timing("prompt", computed, prompt_seconds),
            **_timing("predicted", progress.tokens, eval_seconds),
        },
        **warning_fields(job.warnings, [end] if end is not None else ()),
    }


def _stop_fields(job: _Job, end: Finished | None) -> dict[str, str]:
    word = end.stop if end is not None else ""
    if word:
        return {"stop_type": "word", "stopping_word": word}
    by_itself = job.generates and end is not None and end.done_reason is DoneReason.STOP
    return {"stop_type": "eos" if by_itself else "limit", "stopping_word": ""}


def _timing(name: str, tokens: int, seconds: float) -> dict[str, float]:
    return {
        f"{name}_n": tokens,
        f"{name}_ms": seconds * 1000,
        f"{name}_per_token_ms": seconds * 1000 / tokens if tokens else 0.0,
        f"{name}_per_second": tokens / seconds if seconds else 0.0,
    }


def _select_fields(row: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    """Return the fields at the paths, keyed by the whole path; paths without a field are left out."""
    if not paths:
        return dict(row)
    found = {}
    for path in paths:
        value: Any = row
        for name in path.split("/"):
            value = value.get(name, _MISSING) if isinstance(value, Mapping) else _MISSING
        if value is not _MISSING:
            found[path] = value
    return found

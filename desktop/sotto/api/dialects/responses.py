"""OpenAI's Responses API. Responses are not stored, so each request must hold the whole conversation."""

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sotto.api.answers import SSE, Answer, Pieces, Whole, as_api_error, event
from sotto.api.asking import check_answerable, checked_options, refuse_other_formats, request_of, sampling_options_of
from sotto.api.bodies import takes
from sotto.api.desk import Desk
from sotto.api.dialects.anthropic_blocks import visible_pieces
from sotto.api.dialects.openai import DIALECT
from sotto.api.dialects.responses_input import (
    ResponsesBody,
    echo_fields,
    format_of,
    messages_of,
    prompt_options_of,
    warnings_of,
)
from sotto.api.dialects.responses_output import Items
from sotto.api.durations import keep_alive
from sotto.api.error_bodies import ApiError, bad_request
from sotto.api.notes import warning_fields
from sotto.api.tool_fields import bound_warnings, suit_model
from sotto.engine.contract.answer_parts import Kind, Piece
from sotto.engine.contract.events import CUT_SHORT, Finished, TextChunk
from sotto.engine.contract.logprob_values import LogprobEntry
from sotto.engine.contract.requests import GenerateRequest, Overflow
from sotto.store.records import ModelRecord

_LOGPROBS = "message.output_text.logprobs"
_NOT_STORED = "Sotto does not store responses: leave {} out, and send the whole conversation as input."


@dataclass(frozen=True, slots=True)
class _Job:
    """A parsed request.

    Attributes:
        record: The model.
        request: The request to the engine.
        keep_alive: Seconds for which the model stays loaded afterwards; None for the default.
        head: The response object as it is at the beginning.
        warnings: A sentence for each part of the request that is ignored.
    """

    record: ModelRecord
    request: GenerateRequest
    keep_alive: float | None
    head: Mapping[str, Any]
    warnings: tuple[str, ...] = ()


class Responses:
    """The endpoints of OpenAI's Responses API."""

    def __init__(self, desk: Desk) -> None:
        """Pass requests to the engine through `desk`."""
        self._desk = desk

    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        return [
            Route("/v1/responses", self._respond, methods=["POST"]),
            Route(
                "/v1/responses/{rest:path}",
                _not_stored,
                methods=["GET", "DELETE", "POST"],
                include_in_schema=False,
            ),
        ]

    @takes(ResponsesBody, streams=SSE, images=True)
    async def _respond(self, body: ResponsesBody) -> Answer:
        if not body.model:
            raise bad_request("model is required")
        for name in ("previous_response_id", "conversation"):
            if body.given(name):
                raise bad_request(_NOT_STORED.format(name))
        if body.background:
            raise bad_request("background must be false: responses cannot be created in the background.")
        if body.given("prompt"):
            raise bad_request(
                "prompt refers to a prompt stored by OpenAI; send its text as instructions and input instead."
            )
        record = await self._desk.model(body.model)
        # The defaults that clients of this dialect expect.
        options: dict[str, Any] = {"temperature": 1.0, "top_p": 1.0}
        given_options, warnings = sampling_options_of(body)
        options |= given_options
        if (most := body.max_output_tokens) is not None:
            options["num_predict"] = most
        checked_options(options)
        refuse_other_formats(body, "text.format")
        messages, notes = await self._desk.read_contents(lambda reader: messages_of(body, reader))
        request = request_of(
            options,
            messages,
            overflow=_overflow(body),
            logprobs=_logprobs(body),
            grammar=await format_of(body.text.format),
            prompt_options=await check_answerable(prompt_options_of(body)),
        )
        warnings = (*bound_warnings((*warnings_of(body), *notes)), *warnings)
        head = _head(body) | warning_fields(warnings)
        job = _Job(record, request, keep_alive(body.keep_alive), head, warnings)
        if body.stream:
            return Pieces(DIALECT, SSE, self._events(job))
        return Whole(DIALECT, lambda: self._whole(job))

    async def _whole(self, job: _Job) -> Any:
        last: dict[str, Any] = {}
        async with aclosing(self._response_events(job)) as events:
            async for response_event in events:
                last = response_event
        return last["response"]

    async def _events(self, job: _Job) -> AsyncGenerator[bytes, None]:
        number = 0
        try:
            async with aclosing(self._response_events(job)) as events:
                async for response_event in events:
                    yield event({**response_event, "sequence_number": number}, response_event["type"])
                    number += 1
        except Exception as error:
            if not number:
                raise
            known = as_api_error(error)
            failed = {**job.head, "status": "failed", "error": {"code": "server_error", "message": known.message}}
            name = "response.failed"
            yield event({"type": name, "response": failed, "sequence_number": number}, name)

    async def _response_events(self, job: _Job) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the events of a response, the last of which holds the whole response."""
        items, begun = Items(), False
        logprobs: Sequence[LogprobEntry] = ()
        async with self._desk.visit(job.record, keep_alive=job.keep_alive) as visit:
            request, warnings = suit_model(job.head["model"], visit.info, job.request)
            async with aclosing(self._desk.answer(visit, request)) as events:
                async for engine_event in events:
                    if not begun:
                        begun = True
                        yield {"type": "response.created", "response": job.head}
                        yield {"type": "response.in_progress", "response": job.head}
                    if isinstance(engine_event, TextChunk):
                        if not engine_event.thinks:
                            # The text of a token may only come with that of a later token.
                            logprobs = (*logprobs, *engine_event.logprobs)
                        for piece in visible_pieces(engine_event, request):
                            of_piece, logprobs = (logprobs, ()) if piece.kind is Kind.TEXT else ((), logprobs)
                            for item_event in items.add(piece, of_piece):
                                yield item_event
                    elif isinstance(engine_event, Finished):
                        for item_event in _ending(items, engine_event):
                            yield item_event
                        response = _final_response(job, items, engine_event) | warning_fields(
                            (*job.warnings, *warnings), [engine_event]
                        )
                        yield {"type": f"response.{response['status']}", "response": response}


def _ending(items: Items, end: Finished) -> list[dict[str, Any]]:
    """Return the events that end the items; without any item, they add an empty one first."""
    cut = list(items.break_off(end.cut)) if end.cut is not None and end.cut.name else []
    begun = [] if items.output else list(items.add(Piece(Kind.TEXT, "")))
    return [*cut, *begun, *items.end("incomplete" if end.done_reason in CUT_SHORT else "completed")]


def _final_response(job: _Job, items: Items, end: Finished) -> dict[str, Any]:
    """Return the whole response object."""
    cut, written = end.done_reason in CUT_SHORT, len(end.token_ids)
    return {
        **job.head,
        "status": "incomplete" if cut else "completed",
        "completed_at": None if cut else int(time.time()),
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": items.output,
        "usage": {
            "input_tokens": end.prompt_tokens,
            "input_tokens_details": {"cached_tokens": end.cached_tokens},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": end.thought_tokens},
            "total_tokens": end.prompt_tokens + written,
        },
    }


def _head(body: ResponsesBody) -> dict[str, Any]:
    """Return the response object as it is at the beginning."""
    return {
        "id": f"resp_{uuid4().hex}",
        "object": "response",
        "created_at": int(time.time()),
        "completed_at": None,
        "status": "in_progress",
        "model": body.model,
        "output": [],
        "usage": None,
        "error": None,
        "incomplete_details": None,
        "background": False,
        "store": False,
        "previous_response_id": None,
        "max_tool_calls": None,
        "frequency_penalty": 0,
        "presence_penalty": 0,
        "prompt_cache_key": None,
        "safety_identifier": None,
        "service_tier": "default",
        **echo_fields(body),
    }


def _overflow(body: ResponsesBody) -> Overflow:
    wanted = body.truncation
    if wanted not in ("auto", "disabled"):
        raise body.wrong("truncation", "auto or disabled")
    return Overflow.TRUNCATE if wanted == "auto" else Overflow.ERROR


def _logprobs(body: ResponsesBody) -> int | None:
    """Return how many alternatives per token to report log-probabilities for; None for no log-probabilities."""
    count = body.top_logprobs
    return count or 0 if count or _LOGPROBS in body.include else None


async def _not_stored(request: Request) -> Response:
    raise ApiError(HTTPStatus.NOT_FOUND, "Sotto does not store responses, so there is none with this ID.")

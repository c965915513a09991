"""The format of completions in the private API: the request, and the lines of the answer."""

import json
from collections.abc import Mapping
from typing import Any

from sotto.engine.contract.events import DoneReason, Failed, Finished, GenerateEvent, PrefillProgress, TextChunk
from sotto.engine.contract.logprob_values import MOST_LOGPROBS, LogprobEntry, TokenLogprob
from sotto.engine.contract.options import request_options
from sotto.engine.contract.requests import GenerateRequest
from sotto.errors import InvalidRequestError

_KNOWN = {"Prompt", "Media", "Options", "Logprobs", "TopLogprobs"}
_REASONS = {DoneReason.STOP: 0, DoneReason.LENGTH: 1, DoneReason.LOOP: 1}


def parse_request(read: Any, request_id: str) -> GenerateRequest:
    """Return the request in a JSON body. Options that are missing default to the model's manifest.

    Raises:
        InvalidRequestError: It is not a valid request.
    """
    if not isinstance(read, dict) or not isinstance(read.get("Prompt"), str):
        raise InvalidRequestError("Bad Request")
    options = read.get("Options") or {}
    if not isinstance(options, Mapping):
        raise InvalidRequestError("Options must be an object of options by name.")
    if read.get("Media"):
        raise InvalidRequestError("this model does not support media input")
    if unknown := sorted(read.keys() - _KNOWN):
        raise InvalidRequestError(
            f"{unknown[0][:60]!r} is not a field of a completion: {', '.join(sorted(_KNOWN))} are."
        )
    request_options({}, options)  # refuses values out of range before anything is sent to the engine
    return GenerateRequest(id=request_id, prompt=read["Prompt"], options=options, logprobs=_logprobs(read))


def encode_event(event: GenerateEvent) -> bytes:
    """Return an event as a line; empty for a text chunk with nothing in it."""
    if isinstance(event, PrefillProgress):
        return _line(Progress={"Done": event.done, "Total": event.total, "Cached": event.cached})
    if isinstance(event, TextChunk):
        if not event.text and not event.logprobs:
            return b""
        return _line(
            Content=event.text, **({"Logprobs": list(map(_logprob_entry, event.logprobs))} if event.logprobs else {})
        )
    if isinstance(event, Failed):
        # The same status as for a failure before the first line.
        error = {"StatusCode": 500 if event.bug else 400, "Status": "", "error": event.message}
        return _line(Done=True, Error=error)
    return _line(
        Done=True,
        DoneReason=_REASONS.get(event.done_reason, 0),
        PromptEvalCount=event.prompt_tokens,
        PromptEvalCachedCount=event.cached_tokens,
        PromptEvalDuration=event.prompt_duration,
        EvalCount=len(event.token_ids),
        EvalDuration=event.eval_duration,
    )


def is_last(event: GenerateEvent) -> bool:
    """Return whether `event` ends an answer."""
    return isinstance(event, Finished | Failed)


def _logprobs(read: Mapping[str, Any]) -> int | None:
    """Return how many top log-probabilities to report for each token; None for no log-probabilities."""
    parse_request, count = read.get("Logprobs"), read.get("TopLogprobs")
    if parse_request is not None and not isinstance(parse_request, bool):
        raise InvalidRequestError("Logprobs must be true or false.")
    whole = isinstance(count, int) and not isinstance(count, bool)
    if count is not None and not (whole and 0 <= count <= MOST_LOGPROBS):
        raise InvalidRequestError(f"TopLogprobs must be a whole number from 0 to {MOST_LOGPROBS}.")
    return count or 0 if parse_request else None


def _logprob_entry(entry: LogprobEntry) -> dict[str, Any]:
    return _token(entry.sampled) | {"top_logprobs": [_token(token) for token in entry.top]}


def _token(token: TokenLogprob) -> dict[str, Any]:
    return {"token": token.data.decode(errors="replace"), "logprob": token.logprob}


def _line(**given: Any) -> bytes:
    usual = {"Content": "", "Done": False, "DoneReason": 0, "Logprobs": None, "Error": None}
    return json.dumps(usual | given).encode("ascii") + b"\n"

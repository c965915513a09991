"""Log-probabilities of tokens: the request fields that ask for them, and their form in each dialect."""

import codecs
from collections.abc import Callable, Sequence
from typing import Any

from sotto.api.error_bodies import bad_request
from sotto.api.fields import Body, Flag, Integer
from sotto.engine.contract.logprob_values import MOST_LOGPROBS, LogprobEntry, TokenLogprob

# Builds the field of one answer from its next tokens; a completion's has state, so each answer needs its own.
Form = Callable[[Sequence[LogprobEntry]], Any]


class ChatLogprobs(Body):
    """The fields that ask for log-probabilities in a chat of OpenAI's dialect."""

    logprobs = Flag(False)
    top_logprobs = Integer(0, MOST_LOGPROBS)


class OllamaLogprobs(Body):
    """The fields that ask for log-probabilities in Ollama's dialect."""

    logprobs = Flag(False)
    # Ollama words the error for its bounds differently, so they are checked later.
    top_logprobs = Integer(-(2**31), 2**31)


def requested_chat_logprobs(body: ChatLogprobs) -> int | None:
    """Return how many alternatives per token OpenAI's `logprobs` and `top_logprobs` ask for; None for no logprobs.

    Raises:
        ApiError: `top_logprobs` is given without `logprobs`, or is out of range.
    """
    count = body.top_logprobs
    if body.logprobs:
        return count or 0
    if count:
        raise bad_request("top_logprobs requires logprobs to be true.")
    return None


def requested_ollama_logprobs(body: OllamaLogprobs) -> int | None:
    """Return how many alternatives per token Ollama's `logprobs` and `top_logprobs` ask for; None for no logprobs.

    Raises:
        ApiError: `top_logprobs` is out of range.
    """
    count = body.top_logprobs
    if count is not None and not 0 <= count <= MOST_LOGPROBS:
        raise bad_request(f"top_logprobs must be between 0 and {MOST_LOGPROBS}")
    return count or 0 if body.logprobs else None


def chat_logprobs_field(tokens: Sequence[LogprobEntry]) -> dict[str, Any]:
    """Return the `logprobs` field of a chat in OpenAI's dialect."""
    content = [_row(token.sampled) | {"top_logprobs": [_row(other) for other in token.top]} for token in tokens]
    return {"content": content, "refusal": None}


def ollama_logprobs_field(tokens: Sequence[LogprobEntry]) -> list[dict[str, Any]]:
    """Return Ollama's `logprobs` field; it has `top_logprobs` only if alternatives were requested."""
    return [
        _row(token.sampled) | ({"top_logprobs": [_row(other) for other in token.top]} if token.top else {})
        for token in tokens
    ]


class CompletionLogprobs:
    """Builds OpenAI's `logprobs` field of one completion, with the offset of each token in its text."""

    def __init__(self) -> None:
        """Begin at the start of the text."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._length = 0

    def __call__(self, tokens: Sequence[LogprobEntry]) -> dict[str, Any]:
        """Return the field for the next tokens."""
        offsets = []
        for token in tokens:
            offsets.append(self._length)
            self._length += len(self._decoder.decode(token.sampled.data))
        return {
            "tokens": [_token_text(token.sampled) for token in tokens],
            "token_logprobs": [token.sampled.logprob for token in tokens],
            "top_logprobs": [{_token_text(other): other.logprob for other in reversed(token.top)} for token in tokens],
            "text_offset": offsets,
        }


def _row(token: TokenLogprob) -> dict[str, Any]:
    return {"token": token.data.decode(errors="replace"), "logprob": token.logprob, "bytes": list(token.data)}


def _token_text(token: TokenLogprob) -> str:
    """Return the text of a token, or a list of its bytes if it holds part of a character; unique for each token."""
    try:
        return token.data.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in token.data)

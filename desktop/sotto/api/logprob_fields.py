"""How likely tokens were, in the form of each dialect."""

import codecs
from collections.abc import Callable, Sequence
from typing import Any

from sotto.api.error_bodies import bad
from sotto.api.fields import Body, Flag, Integer
from sotto.engine.contract.logprob_values import MOST_LOGPROBS, Likelihood, TokenLogprob

# Makes the field of one answer, from its tokens as they come.
Form = Callable[[Sequence[Likelihood]], Any]


class ChatLogprobs(Body):
    """How many log-probabilities are told with a chat's answer, in OpenAI's dialect."""

    logprobs = Flag(False)
    top_logprobs = Integer(0, MOST_LOGPROBS)


class OllamaLogprobs(Body):
    """How many log-probabilities are told with an answer, in Ollama's dialect."""

    logprobs = Flag(False)
    # The bounds have an error of their own.
    top_logprobs = Integer(-(2**31), 2**31)


def asked_in_chat(body: ChatLogprobs) -> int | None:
    """Return how many tokens OpenAI's `logprobs` and `top_logprobs` ask for; None for nothing.

    Raises:
        ApiError: They do not go together, or the number is out of range.
    """
    count = body.top_logprobs
    if body.logprobs:
        return count or 0
    if count:
        raise bad("top_logprobs is only told with logprobs: set that to true, or leave both out.")
    return None


def asked_of_ollama(body: OllamaLogprobs) -> int | None:
    """Return how many tokens Ollama's `logprobs` and `top_logprobs` ask for; None for nothing.

    Raises:
        ApiError: The number is out of range.
    """
    count = body.top_logprobs
    if count is not None and not 0 <= count <= MOST_LOGPROBS:
        raise bad(f"top_logprobs must be between 0 and {MOST_LOGPROBS}")
    return count or 0 if body.logprobs else None


def in_chat(told: Sequence[Likelihood]) -> dict[str, Any]:
    """Return OpenAI's `logprobs` of a chat."""
    content = [
        _row(likelihood.drawn) | {"top_logprobs": [_row(other) for other in likelihood.top]} for likelihood in told
    ]
    return {"content": content, "refusal": None}


def of_ollama(told: Sequence[Likelihood]) -> list[dict[str, Any]]:
    """Return Ollama's `logprobs`, which have the likeliest tokens only where some were asked for."""
    return [
        _row(likelihood.drawn) | ({"top_logprobs": [_row(other) for other in likelihood.top]} if likelihood.top else {})
        for likelihood in told
    ]


class InCompletion:
    """Makes OpenAI's `logprobs` of one completion, which say where in its text each token begins."""

    def __init__(self) -> None:
        """Begin with its first token."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._length = 0

    def __call__(self, told: Sequence[Likelihood]) -> dict[str, Any]:
        """Return the field for the next tokens."""
        offsets = []
        for likelihood in told:
            offsets.append(self._length)
            self._length += len(self._decoder.decode(likelihood.drawn.data))
        return {
            "tokens": [_token_text(likelihood.drawn) for likelihood in told],
            "token_logprobs": [likelihood.drawn.logprob for likelihood in told],
            "top_logprobs": [
                {_token_text(other): other.logprob for other in reversed(likelihood.top)} for likelihood in told
            ],
            "text_offset": offsets,
        }


def _row(token: TokenLogprob) -> dict[str, Any]:
    return {"token": token.data.decode(errors="replace"), "logprob": token.logprob, "bytes": list(token.data)}


def _token_text(token: TokenLogprob) -> str:
    """Return a token as a text that no other has: where it is a part of a character, that names its bytes."""
    try:
        return token.data.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in token.data)

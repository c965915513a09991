"""How likely tokens were, as an answer tells it."""

from dataclasses import dataclass

MOST_LOGPROBS = 20
# What stands for "impossible", which JSON has no number for; it is Ollama's.
LEAST_LOGPROB = -9999.0


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """How likely a token was, to the model itself: before penalties and any restriction of what could be sampled.

    Attributes:
        token_id: The token.
        data: Its bytes, perhaps only a part of a character; those of its name for a special token.
        logprob: The natural logarithm of its probability, at least `LEAST_LOGPROB`.
    """

    token_id: int
    data: bytes
    logprob: float


@dataclass(frozen=True, slots=True)
class Likelihood:
    """How likely a token was that was drawn, and what would have been likelier.

    Attributes:
        drawn: The token.
        top: The likeliest tokens in its place, from the likeliest down, as many as were asked for.
    """

    drawn: TokenLogprob
    top: tuple[TokenLogprob, ...] = ()

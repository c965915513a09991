"""Log-probabilities of the tokens of an answer."""

from dataclasses import dataclass

MOST_LOGPROBS = 20
# Stands for minus infinity, which JSON cannot express; the value is Ollama's.
LEAST_LOGPROB = -9999.0


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """The log-probability of a token by the model itself: before penalties and any restriction of sampling.

    Attributes:
        token_id: The token.
        data: Its bytes, perhaps only a part of a character; those of its name for a special token.
        logprob: The natural logarithm of its probability, at least `LEAST_LOGPROB`.
    """

    token_id: int
    data: bytes
    logprob: float


@dataclass(frozen=True, slots=True)
class LogprobEntry:
    """The log-probabilities of a sampled token and of the most probable ones in its place.

    Attributes:
        sampled: The sampled token.
        top: The most probable tokens in its place, in descending order, as many as were asked for.
    """

    sampled: TokenLogprob
    top: tuple[TokenLogprob, ...] = ()

"""Log-probabilities of the tokens of an answer, as the model itself gives them.

They are the log-softmax of the unchanged logits in float32: before bias, penalties, temperature and all truncation.
They are computed beside the sampling, only for requests that ask for them. A round of speculative decoding has the same
logits as single steps, and so the same log-probabilities.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mlx.core as mx

from sotto.engine.contract.logprob_values import LEAST_LOGPROB, LogprobEntry, TokenLogprob
from sotto.engine.sampling.distribution import best


@dataclass(frozen=True, slots=True)
class PendingLogprobs:
    """Log-probabilities of sampled tokens, not necessarily evaluated yet.

    Attributes:
        tokens: The sampled tokens [R], uint32.
        logprobs: Their log-probabilities [R].
        top_tokens: The most likely tokens [R, n], uint32, in no particular order; None for none.
        top_logprobs: Their log-probabilities [R, n].
    """

    tokens: mx.array
    logprobs: mx.array
    top_tokens: mx.array | None = None
    top_logprobs: mx.array | None = None

    @property
    def arrays(self) -> list[mx.array]:
        """The arrays to evaluate besides the tokens."""
        return [array for array in (self.logprobs, self.top_tokens, self.top_logprobs) if array is not None]

    def read(self, spelled: Callable[[int], bytes]) -> list[LogprobEntry]:
        """Evaluate everything, and return it as values.

        Args:
            spelled: Returns the bytes of a token.
        """

        def value(token: int, logprob: float) -> TokenLogprob:
            return TokenLogprob(token, spelled(token), max(LEAST_LOGPROB, logprob))

        sampled = [value(*pair) for pair in zip(_ints(self.tokens), _floats(self.logprobs), strict=True)]
        if self.top_tokens is None or self.top_logprobs is None:
            return [LogprobEntry(token) for token in sampled]
        rows = zip(sampled, self.top_tokens, self.top_logprobs, strict=True)
        return [
            LogprobEntry(token, tuple(value(other, logprob) for logprob, other in _descending(ids, logprobs)))
            for token, ids, logprobs in rows
        ]


def compute_logprobs(logits: mx.array, tokens: mx.array, count: int) -> PendingLogprobs:
    """Return the log-probabilities of tokens, without evaluating anything.

    Args:
        logits: [R, V], as the model gave them.
        tokens: The token sampled from each row, [R], uint32.
        count: How many of the most likely tokens to report beside each.
    """
    scores = logits.astype(mx.float32)
    total = mx.logsumexp(scores, axis=-1, keepdims=True)
    logprobs = mx.take_along_axis(scores, tokens[:, None], axis=-1) - total
    if not count:
        return PendingLogprobs(tokens, logprobs[:, 0])
    top = best(scores, min(count, scores.shape[-1]))
    return PendingLogprobs(tokens, logprobs[:, 0], top, mx.take_along_axis(scores, top, axis=-1) - total)


def _descending(ids: mx.array, logprobs: mx.array) -> Sequence[tuple[float, int]]:
    """Return pairs in descending order; of equal ones, the lower token id first."""
    return sorted(zip(_floats(logprobs), _ints(ids), strict=True), key=lambda pair: (-pair[0], pair[1]))


def _ints(array: mx.array) -> list[int]:
    return array.tolist()  # type: ignore[return-value]


def _floats(array: mx.array) -> list[float]:
    return array.tolist()  # type: ignore[return-value]

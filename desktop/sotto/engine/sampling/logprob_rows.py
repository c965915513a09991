"""How likely the tokens of an answer were to the model itself.

That is the log-softmax of its logits as they came, in float32: before a bias, penalties, temperature and anything that
cuts off tokens. It is computed beside the draw, for requests that ask for it alone; also for the rows of a round of
speculation, which are the logits that single steps would have.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mlx.core as mx

from sotto.engine.contract.logprob_values import LEAST_LOGPROB, Likelihood, TokenLogprob
from sotto.engine.sampling.distribution import best


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """How likely some tokens were, perhaps not computed yet.

    Attributes:
        tokens: What was drawn, [R], uint32.
        logprobs: Of these, [R].
        top_tokens: The likeliest ones, [R, n], uint32, in no particular order; None for none.
        top_logprobs: Of these, [R, n].
    """

    tokens: mx.array
    logprobs: mx.array
    top_tokens: mx.array | None = None
    top_logprobs: mx.array | None = None

    @property
    def arrays(self) -> list[mx.array]:
        """What to compute besides the tokens."""
        return [array for array in (self.logprobs, self.top_tokens, self.top_logprobs) if array is not None]

    def read(self, spelled: Callable[[int], bytes]) -> list[Likelihood]:
        """Wait for all of it, and return it as values.

        Args:
            spelled: Gives the bytes of a token.
        """

        def value(token: int, logprob: float) -> TokenLogprob:
            return TokenLogprob(token, spelled(token), max(LEAST_LOGPROB, logprob))

        drawn = [value(*pair) for pair in zip(_ints(self.tokens), _floats(self.logprobs), strict=True)]
        if self.top_tokens is None or self.top_logprobs is None:
            return [Likelihood(token) for token in drawn]
        rows = zip(drawn, self.top_tokens, self.top_logprobs, strict=True)
        return [
            Likelihood(drawn_token, tuple(value(token, logprob) for logprob, token in _descending(ids, logprobs)))
            for drawn_token, ids, logprobs in rows
        ]


def likelihoods(logits: mx.array, tokens: mx.array, count: int) -> Likelihoods:
    """Return how likely tokens were, without evaluating anything.

    Args:
        logits: [R, V], as the model gave them.
        tokens: What was drawn from each row, [R], uint32.
        count: How many of the likeliest tokens are told beside each.
    """
    scores = logits.astype(mx.float32)
    total = mx.logsumexp(scores, axis=-1, keepdims=True)
    logprobs = mx.take_along_axis(scores, tokens[:, None], axis=-1) - total
    if not count:
        return Likelihoods(tokens, logprobs[:, 0])
    top = best(scores, min(count, scores.shape[-1]))
    return Likelihoods(tokens, logprobs[:, 0], top, mx.take_along_axis(scores, top, axis=-1) - total)


def _descending(ids: mx.array, logprobs: mx.array) -> Sequence[tuple[float, int]]:
    """Return pairs from the likeliest down; of equals, the token with the lower number first."""
    return sorted(zip(_floats(logprobs), _ints(ids), strict=True), key=lambda pair: (-pair[0], pair[1]))


def _ints(array: mx.array) -> list[int]:
    return array.tolist()  # type: ignore[return-value]


def _floats(array: mx.array) -> list[float]:
    return array.tolist()  # type: ignore[return-value]

"""Embeddings of texts with a loaded model, computed in steps.

`hidden_states` computes the hidden states that `pooling` combines; other requests run between two steps.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import mlx.core as mx

from sotto.engine.config.pooling_config import PoolingConfig
from sotto.engine.contract.events import Embedded, Failed, Finished
from sotto.engine.contract.failure_events import TEXT_TOO_LONG, failure_of
from sotto.engine.contract.requests import EmbedRequest
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.engine.vectors.hidden_states import Reads
from sotto.engine.vectors.pooling import normalise
from sotto.errors import BrokenModelError, EngineError, InvalidRequestError


@dataclass(frozen=True, slots=True)
class PreparedTexts:
    """Tokenized texts.

    Attributes:
        request: The request.
        embedder: The embedder that prepared it, and so for which model.
        texts: The tokens of each text.
        received: `time.perf_counter_ns()` when the request arrived.
    """

    request: EmbedRequest
    embedder: "Embedder"
    texts: tuple[tuple[int, ...], ...]
    received: int


@dataclass(eq=False, slots=True)
class _Task:
    """A request that is being served."""

    prepared: PreparedTexts
    cancelled: Callable[[], bool]
    steps: Iterator[Mapping[int, mx.array]]
    vectors: dict[int, mx.array] = field(default_factory=dict)


class Embedder:
    """Computes embeddings with one loaded model. All but `prepare` belongs to the thread that owns MLX."""

    def __init__(self, reads: Reads, tokenizer: Tokenizer, sentence: PoolingConfig, context: int, rows: int) -> None:
        """Start without requests.

        Args:
            reads: Computes pooled hidden states.
            tokenizer: The model's tokenizer.
            sentence: How hidden states are pooled.
            context: Maximum tokens of a text.
            rows: Size of the model's vocabulary.
        """
        self._reads = reads
        self._tokenizer = tokenizer
        self._sentence = sentence
        self._context = context
        self._rows = rows
        self._running: deque[_Task] = deque()

    def prepare(self, request: EmbedRequest) -> PreparedTexts:
        """Tokenize the texts of a request. May run on any thread.

        Raises:
            InvalidRequestError: A text is empty or too long, a token is not the model's, or another field is invalid.
            BrokenModelError: The tokenizer fails on a text, or produces a token that the model does not have.
        """
        received = time.perf_counter_ns()
        if request.dimensions is not None and request.dimensions < 1:
            raise InvalidRequestError(f"dimensions is {request.dimensions}; it should be a number from 1 on.")
        texts = tuple(self._tokens(text, request) for text in request.texts)
        return PreparedTexts(request, self, texts, received)

    def _tokens(self, text: str | tuple[int, ...], request: EmbedRequest) -> tuple[int, ...]:
        """Return the tokens of an input, which is a text or tokens already."""
        if isinstance(text, str):
            tokens, length = self._tokenizer.encode_with_frame(
                text.lower() if self._sentence.lower else text, most=self._context
            )
        else:
            beyond = next((token for token in text if not 0 <= token < self._rows), None)
            if beyond is not None:
                raise InvalidRequestError(f"input names token {beyond}, and this model's are 0 to {self._rows - 1}.")
            tokens, length = list(text[: self._context]), len(text)
        if length > self._context and not request.truncate:
            raise InvalidRequestError(f"{TEXT_TOO_LONG} ({length} tokens, where {self._context} are the most)")
        if not tokens:
            raise InvalidRequestError("An input is empty: give texts of at least one token.")
        if (largest := max(tokens)) >= self._rows:
            # MLX would read past the end of the embeddings.
            raise BrokenModelError(
                f"The tokenizer cuts this text into token {largest}, but the model has only {self._rows} tokens; "
                "tokenizer.json and the weights should belong together."
            )
        return tuple(tokens)

    @property
    def count(self) -> int:
        """Number of requests in flight."""
        return len(self._running)

    def start(self, prepared: PreparedTexts, cancelled: Callable[[], bool]) -> None:
        """Add a request, on which the next steps will work."""
        steps = self._reads(prepared.texts, self._sentence.pooling)
        self._running.append(_Task(prepared, cancelled, steps))

    def step(self) -> list[Finished | Embedded | Failed]:
        """Compute a step of the request whose turn it is; return its end if it has ended."""
        if not self._running:
            return []
        task = self._running.popleft()
        request = task.prepared.request
        if task.cancelled():
            return [_cancelled(task.prepared)]
        try:
            if len(task.vectors) < len(task.prepared.texts):
                task.vectors.update(next(task.steps))
            if len(task.vectors) == len(task.prepared.texts):
                return [self._ended(task)]
        except Exception as error:
            return [failure_of(request.id, error)]
        self._running.append(task)
        return []

    def close(self) -> None:
        """Drop all requests without events."""
        self._running.clear()

    def _ended(self, task: _Task) -> Embedded:
        prepared = task.prepared
        vectors = tuple(self._vector(task.vectors[index], prepared.request) for index in range(len(prepared.texts)))
        return Embedded(
            prepared.request.id,
            vectors,
            prompt_tokens=sum(map(len, prepared.texts)),
            total_duration=time.perf_counter_ns() - prepared.received,
        )

    def _vector(self, vector: mx.array, request: EmbedRequest) -> tuple[float, ...]:
        """Return a vector with the requested dimensions and length."""
        width = vector.shape[-1]
        if request.dimensions is not None and request.dimensions > width:
            raise InvalidRequestError(
                f"dimensions is {request.dimensions}, and the vectors of this model have {width}; leave it out."
            )
        vector = vector[: request.dimensions]
        if self._sentence.normalise or request.normalise:
            vector = normalise(vector)
        numbers: list[float] = vector.tolist()  # type: ignore[assignment]
        if not all(map(math.isfinite, numbers)):
            raise EngineError("The model computed numbers that are too large for a vector; its weights may be damaged.")
        return tuple(numbers)


def _cancelled(prepared: PreparedTexts) -> Finished:
    return Finished.unserved(prepared.request.id, time.perf_counter_ns() - prepared.received)

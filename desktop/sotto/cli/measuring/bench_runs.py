"""Timing of requests to a model, for `sotto bench`.

Prompts are random words, and answers are sampled at a high temperature, so that nothing repeats itself: neither the
prefix cache nor speculative decoding helps, unless it is what is measured.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sotto.engine.config.prediction_names import as_used
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import (
    DoneReason,
    Failed,
    Finished,
    ModelInfo,
    PrefillProgress,
    RequestEvent,
    TextChunk,
)
from sotto.engine.contract.requests import GenerateRequest, SamplingOptions
from sotto.engine.engine import Engine
from sotto.engine.footprint.model_needs import limits_here, needs_with_draft
from sotto.engine.kernels.native import kernels
from sotto.engine.memory.memory_plan import plan
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import CancelledError, EngineError
from sotto.store.records import ModelSource

GREEDY = SamplingOptions(temperature=0)
_UNRESTRICTED = SamplingOptions(temperature=1, top_k=0, top_p=1, seed=1)
_WORDS = (
    "amber basil cedar delta ember fern garnet harbour iris jasper kettle lantern meadow nettle orchard pebble quarry "
    "river saffron thistle umber valley willow yarrow zephyr acorn bramble clover drizzle fable glacier hollow island "
    "juniper kernel lagoon marble nimbus ochre prairie"
).split()


@dataclass(frozen=True, slots=True)
class Timed:
    """The timing of one request, in seconds since its start.

    Attributes:
        read: Times, and how many tokens of the prompt had been read by then; ascending.
        written: Time of each token of the answer.
        finished: The last event of the request.
    """

    read: tuple[tuple[float, int], ...]
    written: tuple[float, ...]
    finished: Finished

    @property
    def reading(self) -> float:
        """Tokens per second of the prefill."""
        computed = self.read[-1][1] - self.finished.cached_tokens
        return computed / max(self.read[-1][0], 1e-9)

    @property
    def writing(self) -> float:
        """Tokens per second after the first token of the answer."""
        return (len(self.written) - 1) / max(self.written[-1] - self.written[0], 1e-9)

    @property
    def chunk(self) -> int:
        """The largest number of tokens of the prompt that were read in one step."""
        counts = [self.finished.cached_tokens, *(count for _, count in self.read)]
        return max(after - before for before, after in pairwise(counts))


def combined_rate(timed: Sequence[Timed]) -> float:
    """Return tokens per second of all answers combined, from the moment when the last one has begun."""
    begun = max(run.written[0] for run in timed)
    ended = max(run.written[-1] for run in timed)
    return sum(time > begun for run in timed for time in run.written) / max(ended - begun, 1e-9)


class Runs:
    """A model to measure. Belongs to the thread that owns MLX."""

    def __init__(
        self,
        source: ModelSource,
        settings: EngineSettings,
        cancelled: Callable[[], bool],
        draft: ModelSource | None = None,
    ) -> None:
        """Prepare a model; nothing is loaded yet.

        Args:
            source: An opened model.
            settings: Settings of the engine.
            cancelled: Polled once per step; returns whether to give up.
            draft: An opened second model that proposes tokens; None for none.
        """
        self._source, self._draft = as_used(source, draft, prediction=settings.prediction)
        self._settings = settings
        self._cancelled = cancelled
        self._tokenizer = Tokenizer.from_source(source)
        self._engine = Engine(settings)

    def load(self) -> ModelInfo:
        """Load the model.

        Raises:
            SottoError: It cannot be loaded, or `cancelled` returned True.
        """
        self._limits = limits_here()
        return self._engine.load(self._source, cancelled=self._cancelled, draft=self._draft)

    def restart(self) -> ModelInfo:
        """Unload the model and load it again; only caches on the disk remain.

        Raises:
            SottoError: It cannot be loaded, or `cancelled` returned True.
        """
        self._engine.unload()
        return self.load()

    def close(self) -> None:
        """Unload the model and close the engine."""
        self._engine.close()

    def text(self, tokens: int, seed: int) -> str:
        """Return random words of about `tokens` tokens of this model."""
        return self.cut(" ".join(random.Random(seed).choices(_WORDS, k=tokens)), tokens)

    def cut(self, text: str, tokens: int) -> str:
        """Return the beginning of a text, about `tokens` tokens of this model at most."""
        return self._tokenizer.decode(self._tokenizer.encode(text, add_bos=False)[:tokens])

    def ask(self, prompt: str, tokens: int, sampling: SamplingOptions = _UNRESTRICTED) -> Timed:
        """Generate `tokens` tokens after a raw prompt.

        Raises:
            CancelledError: `cancelled` returned True.
            EngineError: It failed.
        """
        return self.ask_all([prompt], tokens, sampling)[0]

    def ask_all(self, prompts: Sequence[str], tokens: int, sampling: SamplingOptions = _UNRESTRICTED) -> list[Timed]:
        """Generate `tokens` tokens after each raw prompt, all at the same time.

        Raises:
            CancelledError: `cancelled` returned True.
            EngineError: One of them failed.
        """
        names = [str(number) for number in range(len(prompts))]
        started = time.perf_counter()
        for name, prompt in zip(names, prompts, strict=True):
            request = GenerateRequest(name, prompt=prompt, sampling=sampling, num_predict=tokens, ignore_eos=True)
            self._engine.start(self._engine.prepare(request), self._cancelled)
        seen: dict[str, list[tuple[float, RequestEvent]]] = {name: [] for name in names}
        while self._engine.running:
            events = self._engine.step()
            now = time.perf_counter() - started
            for event in events:
                seen[event.request_id].append((now, event))
        return [_time(seen[name]) for name in names]

    def planned(self, context: int, chunk: int) -> int | None:
        """Return the planned bytes for `context` tokens, read `chunk` at a time; None if unknown."""
        needs = needs_with_draft(self._source, self._draft, self._limits, kernels(), self._settings.kv_bits)
        return plan(needs, self._limits, context, chunk).needed

    @property
    def weights(self) -> int:
        """Bytes of all loaded weights."""
        return self._engine.memory().weights

    @property
    def peak(self) -> int:
        """Peak bytes held by MLX since the model was loaded."""
        return self._engine.memory().peak


def _time(seen: Sequence[tuple[float, RequestEvent]]) -> Timed:
    read: list[tuple[float, int]] = []
    written: list[float] = []
    for now, event in seen:
        if isinstance(event, Failed):
            raise EngineError(event.message)
        if isinstance(event, PrefillProgress) and not written:
            # The last token of the prompt is fed in the step that samples the first token of the answer.
            read.append((now, min(event.done, event.total - 1)))
        elif isinstance(event, TextChunk):
            written += [now] * len(event.token_ids)
        elif isinstance(event, Finished):
            if event.done_reason is DoneReason.CANCELLED:
                raise CancelledError("The benchmark was stopped.")
            reached = next(index for index, (_, done) in enumerate(read) if done == read[-1][1])
            return Timed(tuple(read[: reached + 1]), tuple(written), event)
    raise AssertionError("a generation ends with Finished or Failed")

"""Runs requests on a model with a clock, for `sotto bench`.

Prompts are words drawn at random, and answers are drawn freely, so that nothing repeats itself: neither what was
computed before nor tokens fed on trial help, unless a measurement is about just that.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

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
_FREELY = SamplingOptions(temperature=1, top_k=0, top_p=1, seed=1)
_WORDS = (
    "amber basil cedar delta ember fern garnet harbour iris jasper kettle lantern meadow nettle orchard pebble quarry "
    "river saffron thistle umber valley willow yarrow zephyr acorn bramble clover drizzle fable glacier hollow island "
    "juniper kernel lagoon marble nimbus ochre prairie"
).split()


@dataclass(frozen=True, slots=True)
class Timed:
    """One request as it went, in seconds since it was started.

    Attributes:
        read: When how many tokens of the prompt were known to the model, ascending.
        written: When each token came.
        finished: What the engine says of it.
    """

    read: tuple[tuple[float, int], ...]
    written: tuple[float, ...]
    finished: Finished

    @property
    def reading(self) -> float:
        """Tokens per second while the prompt was read."""
        computed = self.read[-1][1] - self.finished.cached_tokens
        return computed / max(self.read[-1][0], 1e-9)

    @property
    def writing(self) -> float:
        """Tokens per second after the first token."""
        return (len(self.written) - 1) / max(self.written[-1] - self.written[0], 1e-9)

    @property
    def chunk(self) -> int:
        """The most tokens of the prompt that were read in one step."""
        counts = [self.finished.cached_tokens, *(count for _, count in self.read)]
        return max(after - before for before, after in pairwise(counts))


def together(timed: Sequence[Timed]) -> float:
    """Return tokens per second of all answers, from when the last of them has begun."""
    begun = max(run.written[0] for run in timed)
    ended = max(run.written[-1] for run in timed)
    return sum(time > begun for run in timed for time in run.written) / max(ended - begun, 1e-9)


class Runs:
    """A model that is measured. Belongs to the thread that owns MLX."""

    def __init__(
        self,
        source: ModelSource,
        settings: EngineSettings,
        cancelled: Callable[[], bool],
        draft: ModelSource | None = None,
    ) -> None:
        """Take up a model; nothing is loaded yet.

        Args:
            source: An opened model.
            settings: Of the engine.
            cancelled: Asked once per step whether to give up.
            draft: An opened second model that proposes tokens; None for none.
        """
        self._source = source
        self._draft = draft
        self._settings = settings
        self._cancelled = cancelled
        self._tokenizer = Tokenizer.from_source(source)
        self._engine = Engine(settings)

    def load(self) -> ModelInfo:
        """Load the model.

        Raises:
            SottoError: It cannot be loaded, or the loading was given up.
        """
        self._limits = limits_here()
        return self._engine.load(self._source, cancelled=self._cancelled, draft=self._draft)

    def restart(self) -> ModelInfo:
        """Load the model again, with nothing kept but what is on the disk.

        Raises:
            SottoError: It cannot be loaded, or the loading was given up.
        """
        self._engine.unload()
        return self.load()

    def close(self) -> None:
        """Give everything back."""
        self._engine.close()

    def text(self, tokens: int, seed: int) -> str:
        """Return words that make about as many tokens of this model; another seed gives others."""
        return self.cut(" ".join(random.Random(seed).choices(_WORDS, k=tokens)), tokens)

    def cut(self, text: str, tokens: int) -> str:
        """Return the beginning of a text, at most about so many tokens of this model."""
        return self._tokenizer.decode(self._tokenizer.encode(text, add_bos=False)[:tokens])

    def ask(self, prompt: str, tokens: int, sampling: SamplingOptions = _FREELY) -> Timed:
        """Have so many tokens written after a raw prompt.

        Raises:
            CancelledError: It was given up.
            EngineError: It failed.
        """
        return self.ask_all([prompt], tokens, sampling)[0]

    def ask_all(self, prompts: Sequence[str], tokens: int, sampling: SamplingOptions = _FREELY) -> list[Timed]:
        """Have so many tokens written after each raw prompt, all at once.

        Raises:
            CancelledError: It was given up.
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
        """Return the bytes that were to be planned for so many tokens, read `chunk` at a time; None if not known."""
        needs = needs_with_draft(self._source, self._draft, self._limits, kernels(), self._settings.kv_bits)
        return plan(needs, self._limits, context, chunk).needed

    @property
    def weights(self) -> int:
        """Bytes of all weights that are loaded."""
        return self._engine.memory().weights

    @property
    def peak(self) -> int:
        """The most bytes that MLX held since the model was loaded."""
        return self._engine.memory().peak


def _time(seen: Sequence[tuple[float, RequestEvent]]) -> Timed:
    read: list[tuple[float, int]] = []
    written: list[float] = []
    for now, event in seen:
        if isinstance(event, Failed):
            raise EngineError(event.message)
        if isinstance(event, PrefillProgress) and not written:
            # The last token of a prompt is fed by the step that draws the first of the answer.
            read.append((now, min(event.done, event.total - 1)))
        elif isinstance(event, TextChunk):
            written += [now] * len(event.token_ids)
        elif isinstance(event, Finished):
            if event.done_reason is DoneReason.CANCELLED:
                raise CancelledError("The measurement was stopped.")
            reached = next(index for index, (_, done) in enumerate(read) if done == read[-1][1])
            return Timed(tuple(read[: reached + 1]), tuple(written), event)
    raise AssertionError("a generation ends with Finished or Failed")

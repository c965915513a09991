"""The engine as all hosts use it, with timing."""

import itertools
import random
import string
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import mlx.core as mx

from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Failed, Finished, GenerateEvent, ModelInfo, PrefillProgress, TextChunk
from sotto.engine.contract.requests import GenerateRequest, SamplingOptions
from sotto.engine.engine import Engine
from sotto.store.opening import open_model, record_of
from sotto.store.records import ModelRecord

_SETTLED_AFTER = 4
GREEDY = SamplingOptions(temperature=0)
_numbers = itertools.count(1)


def rate(times: list[float]) -> float:
    """Return tokens per second once decoding has settled; the first tokens are not counted."""
    settled = times[_SETTLED_AFTER:]
    return (len(settled) - 1) / (settled[-1] - settled[0])


def unseen(tokens: int, seed: int | None = None) -> str:
    """Return a text of that many tokens of a benchmark model, which shares no beginning with other such texts."""
    chance = random.Random(next(_numbers) if seed is None else -seed)
    return "".join(chance.choices(string.ascii_letters + string.digits, k=tokens))


class Host:
    """A loaded model, used as a context manager."""

    def __init__(
        self,
        model: Path | ModelRecord,
        settings: EngineSettings | None = None,
        num_ctx: int | None = None,
        *,
        speculates: bool = False,
        draft: Path | None = None,
    ) -> None:
        """Load a model by its folder or its record.

        Args:
            model: The model's folder or record.
            settings: Settings of the engine.
            num_ctx: The context length in tokens.
            speculates: Whether speculative decoding is enabled. Models with random weights soon repeat themselves, so
                every result would otherwise measure speculation.
            draft: The folder of a draft model, or None.
        """
        self.engine = Engine(settings)
        record = record_of(model) if isinstance(model, Path) else model
        self.info: ModelInfo = self.engine.load(
            open_model(record), num_ctx=num_ctx, draft=open_model(record_of(draft)) if draft else None
        )
        if not speculates:
            self.scheduler._speculator = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Do not call `close`, which ends MLX on this thread: other engines follow.
        self.engine.unload()

    @property
    def scheduler(self):
        return self.engine._ready.scheduler

    @property
    def model(self):
        """Return the model that computes decode steps."""
        return self.engine._ready.scheduler._step_model

    def start(self, name: str, prompt: str, tokens: int, sampling: SamplingOptions = GREEDY) -> None:
        """Start a request that generates exactly `tokens` tokens."""
        request = GenerateRequest(id=name, prompt=prompt, sampling=sampling, num_predict=tokens, ignore_eos=True)
        self.engine.start(self.engine.prepare(request))

    def steps(self) -> Iterator[tuple[float, float, list[GenerateEvent]]]:
        """Yield the start time, the end time and the events of each step, until no request runs."""
        while self.engine.running:
            began = time.perf_counter()
            events = self.engine.step()
            ended = time.perf_counter()
            for event in events:
                if isinstance(event, Failed):
                    raise RuntimeError(event.message)
            yield began, ended, events

    def decode(self, tokens: int, prompt: str = "a b c d", sampling: SamplingOptions = GREEDY) -> float:
        """Return tokens per second while an answer is generated."""
        self.start("d", prompt, tokens, sampling)
        times: list[float] = []
        for _, ended, events in self.steps():
            times += [ended for event in events if isinstance(event, TextChunk) for _ in event.token_ids]
        return rate(times)

    def forget(self) -> None:
        """Free the prefix cache, so that the next prompt reuses its memory instead of touching new memory."""
        self.engine._ready.prefix.clear()

    def prefill(self, tokens: int) -> float:
        """Return tokens per second while a new prompt is evaluated."""
        return self.reading(tokens)[0]

    def reading(self, tokens: int) -> tuple[float, int]:
        """Return tokens per second while a new prompt is evaluated, and the largest number of tokens in one step."""
        self.start("p", unseen(tokens), 1)
        began, ended, done, most = time.perf_counter(), 0.0, 0, 0
        for _, now, events in self.steps():
            for event in events:
                if isinstance(event, PrefillProgress) and done < event.done < tokens:
                    most, done, ended = max(most, event.done - done), event.done, now
        return done / (ended - began), most

    def first(self, prompt: str) -> tuple[float, int]:
        """Return the seconds until the first token, and the number of cached prompt tokens."""
        began, taken, cached = time.perf_counter(), 0.0, 0
        self.start("f", prompt, 1)
        for _, ended, events in self.steps():
            for event in events:
                if isinstance(event, TextChunk) and event.token_ids and not taken:
                    taken = ended - began
                elif isinstance(event, Finished):
                    cached = event.cached_tokens
        return taken, cached

    def bare(self, tokens: int) -> float:
        """Decode with the same model in the shortest loop that MLX allows: forward, argmax, one token ahead."""
        prefix = self.engine._ready.prefix
        sequence = prefix.begin([])
        caches = sequence.caches
        token = mx.argmax(self.model(mx.array([[5, 6, 7, 8]]), cache=caches)[:, -1, :], axis=-1)
        mx.async_eval(token)
        times = []
        for _ in range(tokens):
            following = mx.argmax(self.model(token[:, None], cache=caches)[:, -1, :], axis=-1)
            mx.async_eval(following)
            token.item()
            times.append(time.perf_counter())
            token = following
        prefix.drop(sequence)
        return rate(times)

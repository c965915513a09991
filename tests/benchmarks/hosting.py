"""The engine as every host uses it, with a clock."""

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

SETTLED = 4
GREEDY = SamplingOptions(temperature=0)
_numbers = itertools.count(1)


def rate(times: list[float]) -> float:
    """Tokens per second once decoding has settled; the first token is a matter of its own."""
    settled = times[SETTLED:]
    return (len(settled) - 1) / (settled[-1] - settled[0])


def unseen(tokens: int, seed: int | None = None) -> str:
    """Return a text of so many tokens of a benchmark model; no two have a beginning in common."""
    chance = random.Random(next(_numbers) if seed is None else -seed)
    return "".join(chance.choices(string.ascii_letters + string.digits, k=tokens))


class Host:
    """A loaded model. Use it in a `with` statement."""

    def __init__(
        self,
        model: Path | ModelRecord,
        settings: EngineSettings | None = None,
        num_ctx: int | None = None,
        *,
        speculates: bool = False,
        draft: Path | None = None,
    ) -> None:
        """Load a model; its folder or its record.

        Args:
            model: Where it is.
            settings: Of the engine.
            num_ctx: Most tokens that a conversation may hold.
            speculates: Whether drafts are fed. Weights at random soon say the same again and again, which would make
                every figure one of speculation.
            draft: Folder of a second model that proposes tokens; None for none.
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
        # Not `close`, which ends MLX on this thread: others follow.
        self.engine.unload()

    @property
    def scheduler(self):
        return self.engine._ready.scheduler

    @property
    def model(self):
        """What computes decode steps."""
        return self.engine._ready.scheduler._step_model

    def start(self, name: str, prompt: str, tokens: int, sampling: SamplingOptions = GREEDY) -> None:
        """Take up a request that ends after `tokens`, and not before."""
        request = GenerateRequest(id=name, prompt=prompt, sampling=sampling, num_predict=tokens, ignore_eos=True)
        self.engine.start(self.engine.prepare(request))

    def steps(self) -> Iterator[tuple[float, float, list[GenerateEvent]]]:
        """Yield when each step began and ended and what came of it, until nothing runs."""
        while self.engine.running:
            began = time.perf_counter()
            events = self.engine.step()
            ended = time.perf_counter()
            for event in events:
                if isinstance(event, Failed):
                    raise RuntimeError(event.message)
            yield began, ended, events

    def decode(self, tokens: int, prompt: str = "a b c d", sampling: SamplingOptions = GREEDY) -> float:
        """Return tokens per second while an answer is being written."""
        self.start("d", prompt, tokens, sampling)
        times: list[float] = []
        for _, ended, events in self.steps():
            times += [ended for event in events if isinstance(event, TextChunk) for _ in event.token_ids]
        return rate(times)

    def forget(self) -> None:
        """Free what was computed so far, so that what comes next has no need of memory that was never used."""
        self.engine._ready.prefix.clear()

    def prefill(self, tokens: int) -> float:
        """Return tokens per second while a prompt that was never seen is read."""
        return self.reading(tokens)[0]

    def reading(self, tokens: int) -> tuple[float, int]:
        """Return tokens per second while a prompt that was never seen is read, and the most in one step."""
        self.start("p", unseen(tokens), 1)
        began, ended, done, most = time.perf_counter(), 0.0, 0, 0
        for _, now, events in self.steps():
            for event in events:
                if isinstance(event, PrefillProgress) and done < event.done < tokens:
                    most, done, ended = max(most, event.done - done), event.done, now
        return done / (ended - began), most

    def first(self, prompt: str) -> tuple[float, int]:
        """Return the seconds until the first token, and how many tokens of the prompt were known already."""
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

"""The engine as all hosts use it, with timing."""

import itertools
import random
import string
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import mlx.core as mx
from mlx.utils import tree_flatten

from sotto.engine.architectures.cache_types import ArraysCache
from sotto.engine.caches.caches import leaves
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Failed, Finished, GenerateEvent, ModelInfo, PrefillProgress, TextChunk
from sotto.engine.contract.requests import GenerateRequest, SamplingOptions
from sotto.engine.engine import Engine
from sotto.store.opening import open_model, record_of
from sotto.store.records import ModelRecord

_SETTLED_AFTER = 4
_FILL_TOKENS = 512
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
        adapters: Sequence[Path] = (),
    ) -> None:
        """Load a model by its folder or its record.

        Args:
            model: The model's folder or record.
            settings: Settings of the engine.
            num_ctx: The context length in tokens.
            speculates: Whether speculative decoding is enabled. Models with random weights soon repeat themselves, so
                every result would otherwise measure speculation.
            draft: The folder of a draft model, or None.
            adapters: The folders of adapters.
        """
        self.engine = Engine(settings)
        source = open_model(record_of(model) if isinstance(model, Path) else model, adapters)
        self.config = source.config
        self.info: ModelInfo = self.engine.load(
            source, num_ctx=num_ctx, draft=open_model(record_of(draft)) if draft else None
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
        found = self.progress(tokens)
        counts = [0, *(done for done, _ in found)]
        return counts[-1] / found[-1][1], max(later - before for before, later in itertools.pairwise(counts))

    def progress(self, tokens: int) -> list[tuple[int, float]]:
        """Evaluate a new prompt; return the numbers of tokens done after each step, with the seconds until then."""
        self.start("p", unseen(tokens), 1)
        began, found = time.perf_counter(), list[tuple[int, float]]()
        for _, now, events in self.steps():
            for event in events:
                if isinstance(event, PrefillProgress) and (found[-1][0] if found else 0) < event.done < tokens:
                    found.append((event.done, now - began))
        return found

    def fill(self, tokens: int) -> tuple[str, int]:
        """Cache a prompt of about that many tokens with random keys and values, which are read like real ones.

        Returns:
            The prompt, whose answers then begin at once, and the bytes of the keys and values that a token sees.
        """
        tokenizer, prefix = self.engine.tokenizer, self.engine._ready.prefix
        prompt = unseen(tokens + 1)
        while len(ids := tokenizer.encode(prompt)) <= tokens:
            prompt += unseen(tokens + 1 - len(ids))
        sequence = prefix.begin(ids)
        if sequence.stateful:
            # Recurrent layers get the state of the first token.
            mx.eval(self.scheduler._model(mx.array([ids[:1]]), cache=sequence.caches))
            for leaf in sequence.ranged:
                leaf.rewind(0)
        heads, size = self.config["num_key_value_heads"], self.config["head_dim"]
        keys = mx.random.normal((1, heads, _FILL_TOKENS, size))
        seen = 0
        for leaf in leaves(sequence.caches):
            if isinstance(leaf, ArraysCache):
                seen += leaf.nbytes
                continue
            for start in range(0, len(ids) - 1, _FILL_TOKENS):
                part = keys[..., : min(_FILL_TOKENS, len(ids) - 1 - start), :]
                mx.eval(leaf.update_and_fetch(part, part))
            room = (leaf.buffers if hasattr(leaf, "buffers") else leaf.state)[0].shape[2]
            seen += leaf.nbytes // room * min(len(ids) - 1, getattr(leaf, "max_size", None) or len(ids))
        sequence.tokens.extend(ids[:-1])
        prefix.end(sequence)
        return prompt, seen

    @property
    def active_bytes(self) -> int:
        """Return the bytes of the weights that one token of an answer reads."""
        idle = 0.0
        for name, weight in tree_flatten(self.scheduler._model.parameters()):
            if "switch_mlp" in name or ".experts." in name:
                idle += weight.nbytes * (1 - self.config["num_experts_per_tok"] / self.config["num_experts"])
            elif "embed_tokens" in name and not self.config["tie_word_embeddings"]:
                idle += weight.nbytes
        return self.info.weight_bytes - round(idle)

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

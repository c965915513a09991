"""The time to first token of new prompts and of prompts cached in memory or on disk; and the cache lookup alone."""

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import mlx.core as mx
from bench_models import BenchmarkModel, Models
from hosting import Host, unseen
from mlx_lm.models.cache import KVCache, LRUPromptCache
from rows import Row, at_least, at_most

from sotto.engine.architectures.cache_types import FullKVCache
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.contract.engine_settings import EngineSettings

_DISK_BUDGET = 16 << 30
_EXTRA_TOKENS = 16
# The prompt length that the target applies to, and the target.
_TARGET_TOKENS, _TARGET_RATIO = 4000, 10
_LOOKUP_TOKENS, _DIVERGES_AT = 100_000, 200


def first_token_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Compare prompts that continue cached ones with new ones."""
    lengths = (500, 1000) if quick else (1000, 4000, 8000)
    yield from _first_token_rows(models.get("smollm2-135m", "4bit"), lengths)
    if not quick:
        yield from _first_token_rows(models.get("qwen3-0.6b", "4bit"), (_TARGET_TOKENS,))


def _first_token_rows(model: BenchmarkModel, lengths: tuple[int, ...]) -> Iterator[Row]:
    prompts = {length: unseen(length, seed=length) for length in lengths}

    def seconds(host: Host, length: int, *, known: bool) -> float:
        taken, cached = host.first(prompts[length] + unseen(_EXTRA_TOKENS) if known else prompts[length])
        if cached < length - 1 if known else cached > 1:
            raise RuntimeError(f"{cached} of {length} prompt tokens were cached; the prompt should be cached: {known}.")
        return taken

    with tempfile.TemporaryDirectory() as root:
        settings = EngineSettings(disk_root=Path(root), disk_budget=_DISK_BUDGET)
        with Host(model.folder, settings) as host:
            host.prefill(1000)
            cold = {length: seconds(host, length, known=False) for length in lengths}
            warm = {length: seconds(host, length, known=True) for length in lengths}
        with Host(model.folder, settings) as host:
            host.first(unseen(_EXTRA_TOKENS))
            disk = {length: seconds(host, length, known=True) for length in lengths}
    for length in lengths:
        for title, known in (("in memory", warm), ("on disk, after a restart", disk)):
            name = f"{model.name}: time to first token of a prompt of {length} tokens, cold / cached {title}"
            limit = _TARGET_RATIO if length == _TARGET_TOKENS and known is disk else None
            detail = f"{cold[length] * 1e3:.0f} ms vs. {known[length] * 1e3:.0f} ms"
            yield at_least(name, cold[length] / known[length], limit, detail)


def look_up_rows(*, quick: bool) -> Iterator[Row]:
    """Look up a prompt that diverges early from a long cached one, with tiny caches."""
    entry = _LOOKUP_TOKENS // 10 if quick else _LOOKUP_TOKENS
    chance = random.Random(0)
    known = [chance.randrange(100_000) for _ in range(entry)]
    requested = known[:_DIVERGES_AT] + [chance.randrange(100_000) for _ in range(entry - _DIVERGES_AT)]

    def filled(cache: KVCache | FullKVCache) -> KVCache | FullKVCache:
        rows = mx.zeros((1, 1, entry, 8))
        mx.eval(cache.update_and_fetch(rows, rows))
        return cache

    prefix = PrefixCache(lambda: [FullKVCache()], 1 << 30)
    sequence = prefix.begin([*known, 0])
    filled(sequence.caches[0])
    sequence.tokens.extend(known)
    prefix.end(sequence)

    def ours() -> int:
        found = prefix.begin(requested)
        length = len(found.tokens)
        prefix.drop(found)
        return length

    theirs = LRUPromptCache()
    theirs.insert_cache("model", known, [filled(KVCache())])

    def peer() -> int:
        _, rest = theirs.fetch_nearest_cache("model", requested)
        return len(requested) - len(rest)

    mine = statistics.median(_timed(ours) for _ in range(5))
    other = _timed(peer)
    title = f"lookup of {entry:,} tokens that diverge from as many cached ones after {_DIVERGES_AT}"
    yield at_most(f"prefix cache: {title}", mine * 1e3, 20, unit="ms")
    detail = f"{other * 1e3:.0f} ms vs. {mine * 1e3:.2f} ms"
    yield at_least(f"prefix cache: {title}, mlx-lm's LRUPromptCache / ours", other / mine, 1, detail)


def _timed(look_up: Callable[[], int]) -> float:
    started = time.perf_counter()
    found = look_up()
    taken = time.perf_counter() - started
    if found != _DIVERGES_AT:
        raise RuntimeError(f"{found} tokens were found instead of {_DIVERGES_AT}.")
    return taken

"""The first token of a prompt that was never seen, that is known in memory, or from disk; and the look-up by itself."""

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
_MORE = 16
# The length that the target is for.
_AIM, _SOONER = 4000, 10
_ENTRY, _PARTS_AT = 100_000, 200


def first_token_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Compare a prompt that goes on from what was computed before with one that is new."""
    lengths = (500, 1000) if quick else (1000, 4000, 8000)
    yield from _first_token_rows(models.get("smollm2-135m", "4bit"), lengths)
    if not quick:
        yield from _first_token_rows(models.get("qwen3-0.6b", "4bit"), (_AIM,))


def _first_token_rows(model: BenchmarkModel, lengths: tuple[int, ...]) -> Iterator[Row]:
    prompts = {length: unseen(length, seed=length) for length in lengths}

    def seconds(host: Host, length: int, *, known: bool) -> float:
        taken, cached = host.first(prompts[length] + unseen(_MORE) if known else prompts[length])
        if cached < length - 1 if known else cached > 1:
            raise RuntimeError(f"{cached} of {length} tokens were known of a prompt that should be known: {known}.")
        return taken

    with tempfile.TemporaryDirectory() as root:
        settings = EngineSettings(disk_root=Path(root), disk_budget=_DISK_BUDGET)
        with Host(model.folder, settings) as host:
            host.prefill(1000)
            cold = {length: seconds(host, length, known=False) for length in lengths}
            warm = {length: seconds(host, length, known=True) for length in lengths}
        with Host(model.folder, settings) as host:
            host.first(unseen(_MORE))
            disk = {length: seconds(host, length, known=True) for length in lengths}
    for length in lengths:
        for title, known in (("in memory", warm), ("on disk, after a restart", disk)):
            name = f"{model.name}: first token of {length} tokens, cold / known {title}"
            limit = _SOONER if length == _AIM and known is disk else None
            detail = f"{cold[length] * 1e3:.0f} ms against {known[length] * 1e3:.0f} ms"
            yield at_least(name, cold[length] / known[length], limit, detail)


def look_up_rows(*, quick: bool) -> Iterator[Row]:
    """Look up a prompt that parts early from a long one that is known, with caches of next to nothing."""
    entry = _ENTRY // 10 if quick else _ENTRY
    chance = random.Random(0)
    known = [chance.randrange(100_000) for _ in range(entry)]
    asked = known[:_PARTS_AT] + [chance.randrange(100_000) for _ in range(entry - _PARTS_AT)]

    def fed(cache: KVCache | FullKVCache) -> KVCache | FullKVCache:
        rows = mx.zeros((1, 1, entry, 8))
        mx.eval(cache.update_and_fetch(rows, rows))
        return cache

    prefix = PrefixCache(lambda: [FullKVCache()], 1 << 30)
    sequence = prefix.begin([*known, 0])
    fed(sequence.caches[0])
    sequence.tokens.extend(known)
    prefix.end(sequence)

    def ours() -> int:
        found = prefix.begin(asked)
        length = len(found.tokens)
        prefix.drop(found)
        return length

    theirs = LRUPromptCache()
    theirs.insert_cache("model", known, [fed(KVCache())])

    def peer() -> int:
        _, rest = theirs.fetch_nearest_cache("model", asked)
        return len(asked) - len(rest)

    mine = statistics.median(_timed(ours) for _ in range(5))
    other = _timed(peer)
    title = f"look-up of {entry:,} tokens that part from as many known ones at {_PARTS_AT}"
    yield at_most(f"prefix cache: {title}", mine * 1e3, 20, unit="ms")
    detail = f"{other * 1e3:.0f} ms against {mine * 1e3:.2f} ms"
    yield at_least(f"prefix cache: {title}, mlx-lm's LRUPromptCache / ours", other / mine, 1, detail)


def _timed(look_up: Callable[[], int]) -> float:
    started = time.perf_counter()
    found = look_up()
    taken = time.perf_counter() - started
    if found != _PARTS_AT:
        raise RuntimeError(f"{found} tokens were found instead of {_PARTS_AT}.")
    return taken

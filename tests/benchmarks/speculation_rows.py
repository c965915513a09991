"""Answers with speculative decoding, by prompt lookup or with a draft model, compared with the same without it."""

import statistics
from collections.abc import Iterator
from pathlib import Path

from bench_models import Models
from hosting import GREEDY, Host
from rows import Row, ratio, turns

from sotto.engine.contract.events import Finished, TextChunk
from sotto.engine.contract.requests import SamplingOptions
from sotto.runner.catalogue import find
from sotto.store.records import ModelRecord

_LARGE, _LARGE_DRAFT_LAYERS = "llama-3.1-8b", 1
_MIN_GAIN, _MIN_GAIN_FREE = 1.0, 0.95


def speculation_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Compare on repetitive text and on text that does not repeat itself."""
    tokens, rounds = (64, 2) if quick else (192, 5)
    small = models.get("smollm2-135m", "4bit")
    # Greedy answers of random weights soon repeat themselves, and sampled ones never do.
    sampled = SamplingOptions(temperature=1, seed=3)
    yield _row(small.name, small.folder, "repetitive", GREEDY, "a b c d", tokens, rounds)
    yield _row(small.name, small.folder, "free", sampled, "a b c d", tokens, rounds)
    large, draft = models.pair()
    yield _row(
        f"{large.name} with a draft model", large.folder, "free", sampled, "a b c d", tokens, rounds, draft.folder
    )
    built_in = find("sotto")
    free = SamplingOptions(temperature=0.8, seed=3)
    listing = "- file\n" * 4
    yield _row("built-in", built_in, "repetitive", GREEDY, listing, tokens, rounds)
    yield _row("built-in", built_in, "free", free, "Sotto runs models on this machine, and", tokens, rounds)


def draft_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Measure a model of 8B with a draft model of its first layer, which reads as much per token as one of 0.7B."""
    shape, layers, tokens, rounds = ("smollm2-135m", 2, 48, 1) if quick else (_LARGE, _LARGE_DRAFT_LAYERS, 64, 2)
    large, draft = models.pair(shape, layers)
    sampled = SamplingOptions(temperature=1, seed=3)
    name = f"{large.name} with a draft model"
    yield _row(name, large.folder, "free", sampled, "a b c d", tokens, rounds, draft.folder)
    for done in (large, draft):
        models.remove(done)


def _row(
    name: str,
    model: Path | ModelRecord,
    kind: str,
    sampling: SamplingOptions,
    prompt: str,
    tokens: int,
    rounds: int,
    draft: Path | None = None,
) -> Row:
    drafted: list[int] = []
    accepted: list[int] = []
    with Host(model, speculates=True, draft=draft) as host:
        speculator = host.scheduler._speculator

        def measure(*, speculates: bool) -> float:
            host.scheduler._speculator = speculator if speculates else None
            host.start("s", prompt, tokens, sampling)
            times: list[float] = []
            for _, ended, events in host.steps():
                for event in events:
                    if isinstance(event, TextChunk):
                        times += [ended] * len(event.token_ids)
                    elif isinstance(event, Finished) and speculates:
                        drafted.append(event.drafted_tokens)
                        accepted.append(event.accepted_tokens)
            return (len(times) - 1) / (times[-1] - times[0])

        # The speculator learns from the first answers when speculation pays off.
        measure(speculates=True)
        found = turns(rounds, on=lambda: measure(speculates=True), off=lambda: measure(speculates=False))
    limit = _MIN_GAIN_FREE if kind == "free" and draft is None else _MIN_GAIN
    row = ratio(f"{name}: {kind} text, with speculation / without", found["on"], found["off"], limit)
    right, proposed = statistics.median(accepted), statistics.median(drafted)
    drafts = f"{right:.0f} of {proposed:.0f} draft tokens accepted in {tokens} tokens"
    return Row(row.name, row.value, row.unit, row.target, row.met, f"{row.detail}; {drafts}")

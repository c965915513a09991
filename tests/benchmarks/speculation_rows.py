"""Answers with tokens fed on trial, from the text itself or from a draft model, beside the same answers without."""

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

_PAYS, _FREE = 1.0, 0.95


def speculation_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Compare on text that says the same again, and on text that does not."""
    tokens, rounds = (64, 2) if quick else (192, 5)
    small = models.get("smollm2-135m", "4bit")
    # Greedy answers of weights at random soon go round in circles, and drawn ones never say anything twice.
    drawn = SamplingOptions(temperature=1, seed=3)
    yield _row(small.name, small.folder, "repetitive", GREEDY, "a b c d", tokens, rounds)
    yield _row(small.name, small.folder, "free", drawn, "a b c d", tokens, rounds)
    large, draft = models.pair()
    yield _row(f"{large.name} with a draft model", large.folder, "free", drawn, "a b c d", tokens, rounds, draft.folder)
    built_in = find("sotto")
    free = SamplingOptions(temperature=0.8, seed=3)
    listing = "- file\n" * 4
    yield _row("built-in", built_in, "repetitive", GREEDY, listing, tokens, rounds)
    yield _row("built-in", built_in, "free", free, "Sotto runs models on this machine, and", tokens, rounds)


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

        # What pays is learnt over the first answers.
        measure(speculates=True)
        found = turns(rounds, on=lambda: measure(speculates=True), off=lambda: measure(speculates=False))
    limit = _FREE if kind == "free" and draft is None else _PAYS
    row = ratio(f"{name}: {kind} text, with speculation / without", found["on"], found["off"], limit)
    drafts = f"{statistics.median(accepted):.0f} of {statistics.median(drafted):.0f} drafts right in {tokens} tokens"
    return Row(row.name, row.value, row.unit, row.target, row.met, f"{row.detail}; {drafts}")

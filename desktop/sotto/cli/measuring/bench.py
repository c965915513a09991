"""`sotto bench`: speed and memory of a model on this machine, and the gain from its prefix cache."""

import json
import statistics
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sotto import paths
from sotto.cli.interrupts import until_interrupt
from sotto.cli.model_opening import open_draft, open_target, settings_with
from sotto.cli.printing import human_bytes, printable
from sotto.engine.kernels import device
from sotto.errors import StoreError
from sotto.paths import make_folder

if TYPE_CHECKING:
    from sotto.cli.measuring.bench_runs import Runs, Timed

_STREAMS = 4
_CONTINUATION = " and then"
_MAX_PROMPT_TOKENS = 4096
# Tokens by which a prompt may be longer than intended.
_SLACK_TOKENS = 8
_WARM_UP_TOKENS = 64
_DISK_BUDGET = 16 << 30
_REPETITIVE_TEXT = "one two three four five six seven\n"


@dataclass(frozen=True, slots=True)
class _Amounts:
    """How much is measured: tokens of prompts and answers, number of runs, and about how long prefill may take."""

    prompt: int
    answer: int
    runs: int
    seconds: float

    def within(self, context: int) -> "_Amounts":
        """Return these amounts, reduced to what fits into a context."""
        answer = max(2, min(self.answer, context // 4))
        return replace(self, answer=answer, prompt=max(2, min(self.prompt, context - answer - _SLACK_TOKENS)))


_DEFAULT = _Amounts(prompt=512, answer=96, runs=3, seconds=15)
_QUICK = _Amounts(prompt=128, answer=24, runs=1, seconds=2)


def bench(
    target: str,
    draft: str | None = None,
    adapters: Sequence[str] | None = None,
    *,
    as_json: bool,
    quick: bool = False,
) -> int:
    """Measure a model and print the results; return the exit status.

    Args:
        target: A name, a manifest file or a folder.
        draft: A second model that proposes tokens, named like `target`, `own` or `none`; None for none.
        adapters: Adapters, as `open_target` takes them.
        as_json: Print one object.
        quick: Measure less, and less precisely.

    Raises:
        SottoError: The model cannot be found, loaded or run, or Ctrl-C was pressed.
    """
    source = open_target(target, adapters)
    second = open_draft(draft, source)
    device.prepare()
    from sotto.cli.measuring.bench_runs import Runs

    interrupted = threading.Event()
    with until_interrupt(interrupted), _disk_folder() as folder:
        settings = replace(settings_with(draft), disk_root=folder, disk_budget=_DISK_BUDGET)
        runs = Runs(source, settings, interrupted.is_set, second)
        report = _measure(runs, _QUICK if quick else _DEFAULT)
        # Not after an error: closing takes time to write caches to the disk that nobody needs then.
        runs.close()
    if as_json:
        print(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        _print(report)
    return 0


@contextmanager
def _disk_folder() -> Iterator[Path]:
    """Create a temporary folder for prefixes on the same disk as the real cache."""
    place = paths.cache_dir()
    try:
        make_folder(place)
        made = tempfile.TemporaryDirectory(prefix="bench-", dir=place, ignore_cleanup_errors=True)
    except OSError as error:
        raise StoreError(f"{place} cannot be written: {error.strerror}.") from error
    with made as folder:
        yield Path(folder)


def _measure(runs: "Runs", wanted: _Amounts) -> dict[str, Any]:
    _report_step("loading")
    info = runs.load()
    amounts = wanted.within(info.context_length)
    report: dict[str, Any] = {
        "model": info.name,
        "device": info.device,
        "compute_type": info.compute_type,
        "draft": info.draft,
        "adapter": info.adapter,
        "predicts": info.predicts,
        "weight_bytes": runs.weights,
        "load_seconds": round(info.load_duration / 1e9, 3),
    }
    pace = runs.ask(runs.text(min(_WARM_UP_TOKENS, amounts.prompt), seed=0), 2).reading
    room = info.context_length - amounts.answer - 2 * _SLACK_TOKENS
    length = max(2, min(_MAX_PROMPT_TOKENS, room, max(amounts.prompt, int(pace * amounts.seconds))))
    long = runs.text(length, seed=1)
    _report_step(f"a prompt of about {length} tokens, uncached and cached")
    cold = runs.ask(long, amounts.answer)
    peak = runs.peak
    planned = runs.planned(cold.finished.prompt_tokens + amounts.answer, cold.chunk)
    report |= {"planned_bytes": planned, "peak_bytes": peak}
    known = runs.ask(long + _CONTINUATION, 1)
    report |= _speed(runs, amounts)
    report["streams"] = _streams(runs, amounts.answer)
    report["speculation"] = _speculation(runs, amounts)
    _report_step("the same prompt after a restart")
    runs.restart()
    runs.ask(runs.text(2, seed=2), 2)
    stored = runs.ask(long + _CONTINUATION, 1)
    report["first_token"] = {
        "tokens": cold.finished.prompt_tokens,
        "cold_seconds": round(cold.written[0], 4),
        "memory_seconds": round(known.written[0], 4),
        "memory_tokens": known.finished.cached_tokens,
        "disk_seconds": round(stored.written[0], 4),
        "disk_tokens": stored.finished.cached_tokens,
    }
    return report


def _speed(runs: "Runs", amounts: _Amounts) -> dict[str, Any]:
    found: list[Timed] = []
    for number in range(amounts.runs):
        _report_step(f"reading and writing, {number + 1} of {amounts.runs}")
        found.append(runs.ask(runs.text(amounts.prompt, seed=10 + number), amounts.answer))
    return {
        "prompt_tokens": found[-1].finished.prompt_tokens,
        "prefill_tokens_per_second": round(statistics.median(run.reading for run in found), 1),
        "decode_tokens_per_second": round(statistics.median(run.writing for run in found), 1),
        "runs": len(found),
        "drafted_tokens": sum(run.finished.drafted_tokens for run in found),
        "accepted_tokens": sum(run.finished.accepted_tokens for run in found),
    }


def _streams(runs: "Runs", tokens: int) -> dict[str, Any]:
    from sotto.cli.measuring.bench_runs import combined_rate

    _report_step(f"{_STREAMS} answers at once")
    prompts = [runs.text(8, seed=20 + number) for number in range(_STREAMS)]
    run = combined_rate(runs.ask_all(prompts[:1], tokens))
    four = combined_rate(runs.ask_all(prompts, tokens))
    return {"count": _STREAMS, "tokens_per_second": round(four, 1), "ratio": round(four / run, 2)}


def _speculation(runs: "Runs", amounts: _Amounts) -> dict[str, Any]:
    from sotto.cli.measuring.bench_runs import GREEDY

    _report_step("repetitive text")
    refrain = runs.ask(runs.cut(_REPETITIVE_TEXT * 8, amounts.prompt), amounts.answer, GREEDY)
    return {
        "tokens_per_second": round(refrain.writing, 1),
        "drafted_tokens": refrain.finished.drafted_tokens,
        "accepted_tokens": refrain.finished.accepted_tokens,
    }


def _report_step(step: str) -> None:
    print(f"{step} ...", file=sys.stderr, flush=True)


def _print(report: dict[str, Any]) -> None:
    first, streams, drafts = report["first_token"], report["streams"], report["speculation"]
    planned = "unknown" if report["planned_bytes"] is None else human_bytes(report["planned_bytes"])
    rows = [
        ("weights", f"{human_bytes(report['weight_bytes'])}, loaded in {report['load_seconds']} s"),
        ("memory", f"{planned} planned, {human_bytes(report['peak_bytes'])} at peak"),
        ("reading", f"{report['prefill_tokens_per_second']} tokens/s (prompt of {report['prompt_tokens']} tokens)"),
        ("writing", f"{report['decode_tokens_per_second']} tokens/s{_proposed(report)}"),
        ("first token", f"after {first['cold_seconds']:.2f} s for a new prompt of {first['tokens']} tokens"),
        ("", _known(first, "memory", "in memory")),
        ("", _known(first, "disk", "on disk, after a restart")),
        (
            f"{streams['count']} answers",
            f"{streams['tokens_per_second']} tokens/s in total, {streams['ratio']} times one answer",
        ),
        (
            "repetition",
            f"{drafts['tokens_per_second']} tokens/s on repetitive text "
            f"({drafts['accepted_tokens']} of {drafts['drafted_tokens']} drafted tokens accepted)",
        ),
    ]
    print(f"{printable(report['model'])} on {report['device']}, computing in {report['compute_type']}")
    for label, text in rows:
        print(f"  {label:<11}  {text}")


def _proposed(report: dict[str, Any]) -> str:
    """Return how often the draft model or the model's own head was right, or an empty text if there is neither."""
    if not report["draft"] and not report["predicts"]:
        return ""
    name, right, guesses = (
        printable(report["draft"]) or "its own head",
        report["accepted_tokens"],
        report["drafted_tokens"],
    )
    return f" with drafts by {name} ({right} of {guesses} tokens accepted)"


def _known(first: dict[str, Any], where: str, title: str) -> str:
    seconds, tokens = first[f"{where}_seconds"], first[f"{where}_tokens"]
    sooner = f", {first['cold_seconds'] / max(seconds, 1e-9):.1f} times as fast" if tokens else ""
    return f"after {seconds:.2f} s with {tokens} cached {title}{sooner}"

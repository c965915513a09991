"""`sotto bench`: how fast a model reads and writes on this machine."""

import json
import statistics
import sys
from dataclasses import dataclass
from typing import Any

from sotto.cli.main import INTERRUPTED
from sotto.cli.output import human_bytes, printable
from sotto.cli.session import Session
from sotto.engine.types import DoneReason, Failed, Finished
from sotto.errors import EngineError

_PROMPT_TOKENS = 512
_ANSWER_TOKENS = 128
_RUNS = 3
_FILLER = "The quick brown fox jumps over the lazy dog while seven wizards mix vivid potions. "


@dataclass(frozen=True, slots=True)
class _Rates:
    prefill: float
    decode: float


def bench(target: str, *, as_json: bool) -> int:
    """Measure loading, reading a prompt and writing an answer, and print the medians; return the exit status.

    Raises:
        SottoError: The model cannot be found, loaded or run.
    """
    session = Session(target, {"temperature": 0.0, "num_predict": _ANSWER_TOKENS})
    with session:
        info = session.load()
        prompt_tokens = max(8, min(_PROMPT_TOKENS, info.context_length - _ANSWER_TOKENS - 1))
        filler = session.cut(_FILLER * prompt_tokens, prompt_tokens - 2)
        runs: list[_Rates] = []
        for number in range(_RUNS):
            print(f"run {number + 1} of {_RUNS} ...", file=sys.stderr)
            finished = _measure(session, f"{number} {filler}")
            if finished.done_reason is DoneReason.CANCELLED:
                return INTERRUPTED
            runs.append(_rates(finished))
        report: dict[str, Any] = {
            "model": info.name,
            "device": info.device,
            "compute_type": info.compute_type,
            "weight_bytes": info.weight_bytes,
            "load_seconds": round(info.load_duration / 1e9, 3),
            "prompt_tokens": finished.prompt_tokens,
            "prefill_tokens_per_second": round(statistics.median(run.prefill for run in runs), 1),
            "decode_tokens_per_second": round(statistics.median(run.decode for run in runs), 1),
            "runs": len(runs),
        }
    if as_json:
        print(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        print(f"{printable(info.name)} on {info.device}, computing in {info.compute_type}")
        print(f"  weights  {human_bytes(info.weight_bytes)}, loaded in {report['load_seconds']} s")
        print(f"  reading  {report['prefill_tokens_per_second']} tokens/s ({report['prompt_tokens']} tokens of prompt)")
        print(f"  writing  {report['decode_tokens_per_second']} tokens/s")
    return 0


def _measure(session: Session, prompt: str) -> Finished:
    """Run one request; its prompt differs from the others at its first token, so that no cache helps."""
    for event in session.ask(prompt=prompt, ignore_eos=True):
        if isinstance(event, Failed):
            raise EngineError(event.message)
        if isinstance(event, Finished):
            return event
    raise AssertionError("a generation ends with Finished or Failed")


def _rates(finished: Finished) -> _Rates:
    computed = finished.prompt_tokens - finished.cached_tokens
    return _Rates(
        prefill=computed / (max(finished.prompt_duration, 1) / 1e9),
        decode=len(finished.token_ids) / (max(finished.eval_duration, 1) / 1e9),
    )

"""`sotto measure`: what quantization costs a model, beside what it saves."""

import json
import sys
import threading
from typing import TYPE_CHECKING, Any

from sotto.cli.interrupts import until_interrupt
from sotto.cli.loading import clear_progress
from sotto.cli.model_opening import open_target
from sotto.cli.printing import human_bytes, printable
from sotto.engine.contract.engine_settings import read_settings
from sotto.engine.kernels import device
from sotto.store.records import ModelRecord, ModelSource

if TYPE_CHECKING:
    from sotto.engine.quality.comparison import Estimate, Quality


def measure(target: str, against: str, *, as_json: bool) -> int:
    """Compare a model with its original, print what was found, and return 0.

    Args:
        target: A name, a manifest file or a folder.
        against: The original, named in the same way.
        as_json: Print one object.

    Raises:
        SottoError: There is no such model, they cannot be compared, or Ctrl-C was pressed.
    """
    other, original = open_target(target), open_target(against)
    quality = compare(original, other)
    if as_json:
        print(json.dumps(as_object(original.record, other.record, quality), indent=2, ensure_ascii=False))
    else:
        print_quality(original.record, other.record, quality)
    return 0


def compare(original: ModelSource, other: ModelSource) -> "Quality":
    """Compare two models, with the progress on a terminal.

    Raises:
        SottoError: They cannot be compared, or Ctrl-C was pressed.
    """
    device.prepare()
    from sotto.engine.quality.text_reading import measure as measure_models

    interrupted = threading.Event()
    try:
        with until_interrupt(interrupted):
            return measure_models(
                original,
                other,
                memory_limit=read_settings().memory_limit,
                progress=_show_progress,
                cancelled=interrupted.is_set,
            )
    finally:
        clear_progress()


def as_object(original: ModelRecord, other: ModelRecord, quality: "Quality") -> dict[str, Any]:
    """Return what was measured as JSON values."""
    return {
        "model": other.name,
        "size": other.size,
        "original": original.name,
        "original_size": original.size,
        **quality.as_json(),
    }


def print_quality(original: ModelRecord, other: ModelRecord, quality: "Quality") -> None:
    """Print what was measured: sizes and perplexities of both, and how far the predictions are from each other."""
    print(f"{printable(other.name)} beside {printable(original.name)}, by {quality.tokens:,} predictions:")
    saved = f", {other.size / original.size:.0%} of {human_bytes(original.size)}" if original.size else ""
    ratio = f"{_with_error(quality.ratio, 3)} times the original's {_with_error(quality.original_perplexity, 2)}"
    high = f"{quality.median_divergence:.5f} median, {quality.high_divergence:.5f} at the 99th percentile"
    same = quality.same_token
    rows = (
        ("size", f"{human_bytes(other.size)}{saved}"),
        ("perplexity", f"{_with_error(quality.perplexity, 2)}, {ratio}"),
        ("KL divergence", f"{_with_error(quality.divergence, 5)} on average, {high}"),
        ("same token", f"{100 * same.value:.2f} ± {100 * same.error:.2f} %"),
    )
    for label, text in rows:
        print(f"  {label:<13}  {text}")


def _with_error(estimate: "Estimate", digits: int) -> str:
    return f"{estimate.value:.{digits}f} ± {estimate.error:.{digits}f}"


def _show_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\rmeasuring: {done / total:4.0%} of {total:,} tokens")
        sys.stderr.flush()

"""`sotto plan`: whether a model fits into memory here, and what it needs, without loading it."""

import json
from collections.abc import Sequence
from typing import Any

from sotto.cli.model_opening import open_draft, open_target, settings_with
from sotto.cli.printing import human_bytes, printable
from sotto.engine.config.prediction_names import as_used
from sotto.engine.kernels import device
from sotto.engine.memory.memory_plan import Plan


def plan(
    target: str,
    num_ctx: int | None,
    kv_bits: int | None = None,
    draft: str | None = None,
    adapters: Sequence[str] | None = None,
    *,
    as_json: bool,
) -> int:
    """Print the memory plan of a model; return 0, or 1 if it does not fit.

    Args:
        target: A name, a manifest file or a folder.
        num_ctx: Tokens of context; None for that of its own options or, without one, the longest that it supports.
        kv_bits: Bits of keys and values, 16, 8 or 4; None for the setting or, without one, as computed.
        draft: A draft model, named like `target`, `own` or `none`; None for none.
        adapters: Adapters, as `open_target` takes them.
        as_json: Print one object.

    Raises:
        SottoError: There is no such model, it cannot run here, or the draft model does not match it.
    """
    source = open_target(target, adapters)
    second = open_draft(draft, source)
    device.prepare()
    from sotto.engine.footprint.load_planning import usual_context
    from sotto.engine.footprint.model_needs import plan_here
    from sotto.engine.generation.draft_loading import check_draft
    from sotto.engine.tokens.tokenizer import Tokenizer

    if second is not None:
        check_draft(source, Tokenizer.from_source(source), second)
    settings = settings_with(draft)
    source, second = as_used(source, second, prediction=settings.prediction)
    bits = kv_bits or settings.kv_bits
    wanted = num_ctx if num_ctx is not None else usual_context(source)
    made = plan_here(source, wanted, bits, second, settings.memory_limit)
    name, drafting = source.record.name, second.record.name if second else ""
    adapter = source.adapter_names
    if as_json:
        print(
            json.dumps(
                {"name": name, "draft": drafting, "adapter": adapter, **_report(made)}, indent=2, ensure_ascii=False
            )
        )
    else:
        beside = " and ".join(filter(None, (adapter, drafting)))
        print(f"{printable(name)}{' with ' + printable(beside) if beside else ''}: {made.sentence}")
        _print(made)
    return 1 if made.verdict == "will not fit" else 0


def _report(made: Plan) -> dict[str, Any]:
    return {
        "verdict": made.verdict.value,
        "sentence": made.sentence,
        "context": made.context,
        "largest_context": made.largest_context,
        "largest_image": made.largest_image,
        "chunk": made.chunk,
        "weight_bytes": made.weights,
        "repacked": made.repacked,
        "loading_bytes": made.loading,
        "cache_bytes": made.cache,
        "work_bytes": made.work,
        "needed_bytes": made.needed,
        "prefix_budget_bytes": made.prefix_budget,
        "budget_bytes": made.limits.budget,
        "total_bytes": made.limits.total,
        "source": made.limits.source,
        "reliefs": [
            {"what": relief.what, "bytes": relief.nbytes, "context": relief.context, "enough": relief.enough}
            for relief in made.reliefs
        ],
    }


def _print(made: Plan) -> None:
    largest = "unknown" if made.largest_context is None else f"{made.largest_context:,} tokens"
    rows = [
        ("weights", f"{_size(made.weights)}, {made.repacked}" if made.repacked else _size(made.weights)),
        ("cache", f"{_size(made.cache)} for {made.context:,} tokens of context"),
        ("computing", f"{_size(made.work)} for prompts in chunks of {min(made.chunk, made.context):,} tokens"),
        ("needed", f"{_size(made.needed)} of {_size(made.limits.budget)}"),
        ("left for cache", _size(made.prefix_budget)),
        ("largest context", largest),
    ]
    if made.largest_image is not None:
        rows.append(("largest image", f"{made.largest_image / 1e6:.1f} million pixels"))
    if made.cache == 0:
        # An encoder, which reads whole texts and has no KV cache.
        rows[1:5] = [("computing", f"{_size(made.work)} for texts of {made.context:,} tokens"), rows[3]]
    for label, text in rows:
        print(f"  {label:<17}  {text}")
    for relief in made.reliefs:
        context = f"a context of {relief.context:,} tokens would fit" if relief.context else "still not enough"
        print(f"  {printable(relief.what)}: {_size(relief.nbytes)} less; {context}")


def _size(nbytes: int | None) -> str:
    return "unknown" if nbytes is None else human_bytes(nbytes)

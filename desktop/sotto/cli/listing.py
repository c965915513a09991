"""`sotto list`, `sotto show` and `sotto verify`."""

import json
import sys
from collections import Counter
from typing import Any

from sotto.cli.printing import human_bytes, human_count, printable
from sotto.engine.config.prediction_names import has_head
from sotto.errors import StoreError
from sotto.runner.catalogue import catalogue, find
from sotto.runner.model_making import modelfile_of
from sotto.store.creating.modelfile import write_modelfile
from sotto.store.disk_use import DiskUse, disk_use
from sotto.store.opening import open_model, resolve
from sotto.store.records import ModelRecord, ModelSource, record_fields
from sotto.store.verify import verify


def list_models(*, as_json: bool) -> int:
    """Print every model found, and problems to stderr; return 0."""
    listing = catalogue()
    for problem in listing.problems:
        print(f"sotto: {printable(problem.message)}", file=sys.stderr)
    use = disk_use(listing.records)
    if as_json:
        print(json.dumps([_row(record, use) for record in listing.records], indent=2, ensure_ascii=False))
        return 0
    _print_table(listing.records, use)
    return 0


def show(target: str, *, as_json: bool) -> int:
    """Print the details of a model; return 0.

    Raises:
        StoreError: There is no such model.
    """
    listing = catalogue()
    record = resolve(target, listing)
    # What deleting it frees depends on the others.
    details = _row(record, disk_use({each.digest: each for each in (record, *listing.records)}.values()))
    if record.runnable:
        details |= _inside(open_model(record))
    if as_json:
        print(json.dumps(details, indent=2, ensure_ascii=False))
        return 0
    readable = {
        "size": human_bytes(record.size),
        "disk": human_bytes(details["disk"]),
        "frees": "" if details["frees"] is None else human_bytes(details["frees"]),
        "parameters": "unknown" if record.parameters is None else human_count(record.parameters),
        "capabilities": ", ".join(record.capabilities),
        "also": "; ".join(f"{place.name} ({place.source}) {place.path}" for place in record.also),
        "options": json.dumps(details.get("options", {}), ensure_ascii=False),
        "tensors": ", ".join(f"{count} {dtype}" for dtype, count in details.get("tensors", {}).items()),
    }
    width = max(map(len, details))
    for key, value in details.items():
        text = readable.get(key, value)
        if isinstance(text, bool):
            text = "yes" if text else "no"
        if text not in ("", None, "{}"):
            print(f"{key.replace('_', ' '):<{width}}  {printable(str(text))}")
    return 0


def show_modelfile(target: str) -> int:
    """Print a Modelfile that makes the same model; return 0.

    Raises:
        SottoError: There is no such model, its files cannot be read, or no Modelfile can hold one of its texts.
    """
    record = find(target)
    comment = "`sotto create NAME -f FILE` makes the same model from this file, and another once it is changed."
    sys.stdout.write(write_modelfile(modelfile_of(record), (comment,)))
    return 0


def verify_model(target: str) -> int:
    """Check a model's files against their digests, with progress on stderr; return 0.

    Raises:
        StoreError: There is no such model, or its files are damaged.
    """
    record = find(target)
    showing = sys.stderr.isatty()

    def progress(done: int, total: int) -> None:
        if showing:
            sys.stderr.write(f"\rchecking {done / max(total, 1):4.0%} of {human_bytes(total)}")
            sys.stderr.flush()

    report = verify(record, progress, lambda: False)
    if showing:
        sys.stderr.write("\r\x1b[K")
    for path in report.unverifiable:
        print(f"sotto: {printable(str(path))} has no digest; only its structure was checked.", file=sys.stderr)
    if report.problems:
        raise StoreError(" ".join(problem.message for problem in report.problems))
    if report.checked_bytes:
        print(f"{printable(record.name)}: {human_bytes(report.checked_bytes)} checked, all digests match.")
    else:
        print(f"{printable(record.name)}: no digests to check; the structure of the files is intact.")
    return 0


def _row(record: ModelRecord, use: DiskUse) -> dict[str, Any]:
    also = [{"name": place.name, "source": place.source.value, "path": str(place.path)} for place in record.also]
    disk = {"disk": use.models.get(record.digest, 0), "frees": use.freed.get(record.digest)}
    return {**record_fields(record), "builtin": record.builtin, **disk, "also": also}


def _inside(source: ModelSource) -> dict[str, Any]:
    """Return the details that are known only once the files are open."""
    kinds = Counter(tensor.dtype for file in source.tensor_files for tensor in file.tensors.values())
    return {
        "weight_bytes": source.weight_bytes,
        "files": sum(len(file.parts) for file in source.tensor_files),
        "adapter": source.adapter_names,
        "tensors": dict(kinds.most_common()),
        "prediction_head": has_head(source.config, (name for file in source.tensor_files for name in file.tensors)),
        "options": dict(source.params),
        "system": source.system,
    }


def _print_table(records: tuple[ModelRecord, ...], use: DiskUse) -> None:
    heads = ("NAME", "SIZE", "FREES", "PARAMETERS", "QUANTIZATION", "CONTEXT", "SOURCE")
    rows = [
        (
            printable(record.name),
            human_bytes(record.size),
            human_bytes(use.freed[record.digest]) if record.digest in use.freed else "",
            "" if record.parameters is None else human_count(record.parameters),
            record.quantization,
            "" if record.context_length is None else f"{record.context_length:,}",
            record.source.value,
        )
        for record in records
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for cells, record in zip((heads, *rows), (None, *records), strict=True):
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip())
        if record is not None and not record.runnable:
            print(f"  cannot run: {printable(record.reason)}")
    count = f"{len(records)} model{'' if len(records) == 1 else 's'}"
    print(f"{count}, {human_bytes(use.total)} on disk")

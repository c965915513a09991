"""`sotto cache`: show, limit and wipe the prefix cache."""

import argparse
import json

from sotto.cli.printing import human_bytes
from sotto.engine.caches import disk_budget
from sotto.engine.contract.engine_settings import change_settings, describe, disk_root, read_settings, size_of
from sotto.errors import StoreError


def cache(parsed: argparse.Namespace) -> int:
    """Apply the changes, wipe the cache if requested, and print its state; return the exit status.

    Raises:
        InvalidRequestError: A size or a number of bits is invalid; nothing is changed then.
        StoreError: A file cannot be written or removed.
    """
    changes: dict[str, int | None] = {}
    for name, text in (("prefix_budget", parsed.memory), ("disk_budget", parsed.disk)):
        if text is not None:
            changes[name] = None if text == "auto" else size_of(text)
    if parsed.kv_bits is not None:
        changes["kv_bits"] = None if parsed.kv_bits == "off" else int(parsed.kv_bits)
    if parsed.prediction is not None:
        changes["prediction"] = parsed.prediction == "on"
    if changes:
        change_settings(changes)
    root = disk_root()
    if parsed.wipe and not disk_budget.wipe(root):
        raise StoreError(
            f"Some files in {root} could not be deleted; close any other Sotto that uses them, and try again."
        )
    settings = read_settings()
    usage = disk_budget.usage(root)
    if parsed.json:
        report = {
            "folder": str(root),
            "bytes": usage.nbytes,
            "entries": usage.entries,
            "disk_budget": settings.disk_budget,
            "prefix_budget": settings.prefix_budget,
            "kv_bits": settings.kv_bits,
            "prediction": settings.prediction,
        }
        print(json.dumps(report, indent=2, ensure_ascii=False))
        return 0
    print(f"{root}: {human_bytes(usage.nbytes)} in {usage.entries} entries")
    for label, value in describe(settings):
        print(f"  {label:<16} {value}")
    return 0

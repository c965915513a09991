"""`sotto copy`, `sotto rename`, `sotto delete` and `sotto prune`: changing Sotto's own store."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from sotto.cli.printing import human_bytes, printable
from sotto.errors import InvalidRequestError, ModelNotFoundError, StoreError
from sotto.runner.catalogue import catalogue, find
from sotto.store.copying import copy as copy_own
from sotto.store.copying import rename as rename_own
from sotto.store.disk_use import freed_by_deleting
from sotto.store.opening import find_place
from sotto.store.records import ModelRecord, Place, Source
from sotto.store.removal import RemovedModel, own_store, remove, restore, trash
from sotto.store.sources.model_names import parse_name
from sotto.store.upkeep import pruning
from sotto.store.upkeep.adopting import Adopted, adopt
from sotto.store.upkeep.linking import Sharing

_SHARED = {
    Sharing.CLONED: "{size} shared with {source} as clones, which use no space until one of them is changed",
    Sharing.LINKED: "{size} shared with {source} as links, which use space once and stay when either is deleted",
    Sharing.COPIED: "{size} copied",
}


def copy(target: str, name: str, *, as_json: bool) -> int:
    """Give a model a second name in Sotto's own store, adopting it if it is another program's; return 0.

    Raises:
        SottoError: There is no such model, the name is taken or invalid, or the model cannot be copied.
    """
    new = parse_name(name)
    record = find(target)
    place = next((place for place in record.places if place.source is Source.SOTTO), record.places[0])
    if place.source is Source.SOTTO:
        copy_own(place, new)
        adopted = Adopted(record.digest, {}, record.size)
    else:
        adopted = adopt(record, place, new, _show_progress, lambda: False)
    if as_json:
        shares = {how.value: adopted.bytes_by.get(how, 0) for how in Sharing}
        fields = {"name": new.short, "digest": adopted.digest, "source": place.source.value, **shares}
        return _print_json({**fields, "present": adopted.present})
    print(f"{new.short} is a copy of {printable(place.name)}.")
    for how, size in adopted.bytes_by.items():
        print(f"  {_SHARED[how].format(size=human_bytes(size), source=place.source.value)}")
    if adopted.present:
        print(f"  {human_bytes(adopted.present)} in the store already")
    return 0


def rename(target: str, name: str, *, as_json: bool) -> int:
    """Give a model in Sotto's own store another name; return 0.

    Raises:
        SottoError: There is no such model, the name is taken or invalid, or the model is another program's.
    """
    new = parse_name(name)
    _, place = _own_place(target, catalogue().records)
    rename_own(place, new)
    if as_json:
        return _print_json({"name": new.short, "before": place.name})
    print(f"{printable(place.name)} is {new.short} now.")
    return 0


def delete(names: Sequence[str], *, yes: bool, undo: bool, as_json: bool) -> int:
    """Move models to the trash, or back from there; return 0.

    Raises:
        SottoError: A model is not there or is another program's, or cannot be moved.
    """
    if undo:
        return _undo(names, as_json=as_json)
    if not names:
        raise InvalidRequestError("Name the models to delete, or --undo to bring back the one that was deleted last.")
    records = catalogue().records
    found = [_own_place(name, records) for name in dict.fromkeys(names)]
    freed = freed_by_deleting(place.path for _, place in found)
    listed = ", ".join(printable(place.name) for _, place in found)
    if not yes and sys.stdin.isatty() and not _confirm(f"Delete {listed}, which frees {human_bytes(freed)}?"):
        print("Nothing was deleted.")
        return 0
    for record, place in found:
        remove(record, place.path)
    if as_json:
        return _print_json({"deleted": [place.name for _, place in found], "freed": freed})
    print(
        f"{listed} deleted; `sotto delete --undo` brings back the last one within an hour, and `sotto prune --trash` "
        f"frees {human_bytes(freed)} at once."
    )
    return 0


def prune(*, whole_trash: bool, dry_run: bool, as_json: bool) -> int:
    """Delete what no model needs; return 0.

    Raises:
        StoreError: A manifest cannot be read, or a file cannot be deleted.
    """
    pruned = pruning.prune(own_store(), whole_trash=whole_trash, dry_run=dry_run)
    if as_json:
        fields = {"deletions": pruned.deletions, "blobs": pruned.blobs, "freed": pruned.freed}
        return _print_json({**fields, "dry_run": dry_run})
    parts = [f"{pruned.blobs} file{'' if pruned.blobs == 1 else 's'}"]
    if pruned.deletions:
        parts.append(f"{pruned.deletions} deleted model{'' if pruned.deletions == 1 else 's'} in the trash")
    print(f"{'Would free' if dry_run else 'Freed'} {human_bytes(pruned.freed)}: {' and '.join(parts)}.")
    return 0


def _own_place(name: str, records: Sequence[ModelRecord]) -> tuple[ModelRecord, Place]:
    """Return the model of exactly this name in Sotto's own store.

    Raises:
        StoreError: There is none, or only one of another program.
    """
    found = find_place(name, records)
    if found is None:
        raise ModelNotFoundError(
            f"No model is called '{printable(name)}' on this machine; it should be a whole name, as `sotto list` shows "
            "them."
        )
    if found[1].source is not Source.SOTTO:
        raise StoreError(f"{printable(name)} is not in Sotto's own store, and other stores are read-only.")
    return found


def _undo(names: Sequence[str], *, as_json: bool) -> int:
    """Bring models back from the trash: those of these names, or the one that was deleted last."""
    there = trash()
    if not there:
        raise StoreError("The trash is empty; models stay there for an hour at least.")
    found = [_in_trash(name, there) for name in dict.fromkeys(names)] or [there[0]]
    for removed in found:
        restore(removed)
    restored = [removed.name for removed in found]
    if as_json:
        return _print_json({"restored": restored})
    print(f"{', '.join(map(printable, restored))} {'are' if len(restored) > 1 else 'is'} back.")
    return 0


def _in_trash(name: str, there: Sequence[RemovedModel]) -> RemovedModel:
    wanted = parse_name(name).short.casefold()
    for removed in there:
        if removed.name.casefold() == wanted:
            return removed
    listed = ", ".join(printable(removed.name) for removed in there)
    raise ModelNotFoundError(f"No model called '{printable(name)}' is in the trash; these are: {listed}.")


def _confirm(question: str) -> bool:
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _show_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\r\x1b[K" if done == total else ""
        sys.stderr.write(f"\rreading {done / max(total, 1):4.0%} of {human_bytes(total)}{end}")
        sys.stderr.flush()


def _print_json(fields: dict[str, Any]) -> int:
    print(json.dumps(fields, indent=2, ensure_ascii=False))
    return 0

"""What was found in folders that may go away with the disk they are on, so that it can be shown while they are away.

One small JSON file. Whatever is wrong with it means only that nothing is remembered.
"""

import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sotto import paths
from sotto.errors import BrokenModelError
from sotto.store.atomic_writing import write_whole
from sotto.store.bounded_json import parse_object
from sotto.store.discovery import Listing, distinct_names
from sotto.store.files import read_all
from sotto.store.records import Format, ModelRecord, Source, described
from sotto.store.roots import Root

_log = logging.getLogger(__name__)

_FORMAT = 1
_MOST_BYTES = 8 << 20
_LARGEST = 1 << 60
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class _Folder:
    """What was in a folder when it was looked at last, and which disk it was on."""

    device: int
    records: tuple[ModelRecord, ...]


def may_go(root: Root) -> bool:
    """Return whether a folder that is not there is likely to come back: somebody said where it is, or a link does."""
    return root.kind is not Source.BUILTIN and (root.missing_is_error or root.path.is_symlink())


def presence(roots: Iterable[Root]) -> tuple[int, ...] | None:
    """Return which disks the folders are on that may go away, 0 for one that is not there; None if there are none."""
    return tuple(_device(root.path) for root in roots if may_go(root)) or None


def with_absent(listing: Listing) -> Listing:
    """Return what was found, with what is known of folders that are away now; and keep that for the next time."""
    known = _read()
    seen: dict[Path, _Folder] = {}
    absent: dict[str, ModelRecord] = {}
    there = {record.digest for record in listing.records}
    for root in listing.roots:
        if not may_go(root):
            continue
        device, before = _device(root.path), known.get(root.path)
        found = tuple(record for record in listing.records if _lies_in(record, root.path))
        if before is not None and not found and device != before.device:
            # A place where a disk was mounted can be there without it, and empty then.
            seen[root.path] = before
            absent |= {record.digest: record for record in before.records if record.digest not in there}
        elif device:
            seen[root.path] = _Folder(device, found)
    if seen != known:
        _write(seen)
    if not absent:
        return listing
    gone = [replace(record, present=False, also=()) for record in absent.values()]
    return replace(listing, records=tuple(distinct_names([*listing.records, *gone])))


def _lies_in(record: ModelRecord, folder: Path) -> bool:
    return any(path.is_relative_to(folder) for path in (record.path, *(place.path for place in record.also)))


def _device(path: Path) -> int:
    """Return a number of the disk that a folder is on; 0 when there is no such folder."""
    try:
        return path.stat().st_dev + 1 if path.is_dir() else 0
    except OSError:
        # What cannot be seen is told where models are listed.
        return 0


def file() -> Path:
    """Return where it is kept; the file may not exist."""
    return paths.cache_dir() / "models.json"


def _write(folders: Mapping[Path, _Folder]) -> None:
    written = {
        os.fspath(path): {"device": folder.device, "records": [_parts(record) for record in folder.records]}
        for path, folder in folders.items()
        if _is_text(path)
    }
    try:
        write_whole(file(), json.dumps({"format": _FORMAT, "folders": written}))
    except OSError as error:
        _log.info("What was found cannot be kept in %s: %s", file(), error.strerror)


def _read() -> dict[Path, _Folder]:
    if not file().exists():
        return {}
    try:
        written = parse_object(read_all(file(), _MOST_BYTES, "what was found"), file(), strict=True)
        if written.get("format") != _FORMAT:
            return {}
        return {
            Path(path): _Folder(_number(folder["device"]), tuple(_record(parts) for parts in folder["records"]))
            for path, folder in written["folders"].items()
        }
    except (BrokenModelError, ValueError, TypeError, KeyError, AttributeError) as error:
        _log.info("%s is of no use: %s", file().name, error)
        return {}


def _parts(record: ModelRecord) -> dict[str, Any]:
    return {**described(record), "path": os.fspath(record.path) if _is_text(record.path) else ""}


def _record(parts: Mapping[str, Any]) -> ModelRecord:
    """Return the record that `_parts` wrote.

    Raises:
        ValueError: It makes no sense.
        TypeError: A part is not of the kind that it should be.
        KeyError: A part is missing.
    """
    return ModelRecord(
        name=_text(parts["name"]),
        digest=_text(parts["digest"]),
        size=_number(parts["size"]),
        format=None if parts["format"] is None else Format(parts["format"]),
        architecture=_text(parts["architecture"]),
        parameters=_or_none(parts["parameters"], _number),
        quantization=_text(parts["quantization"]),
        context_length=_or_none(parts["context_length"], _number),
        source=Source(parts["source"]),
        path=Path(_text(parts["path"])),
        runnable=parts["runnable"] is True,
        reason=_text(parts["reason"]),
        capabilities=tuple(_text(one) for one in parts["capabilities"]),
    )


def _is_text(path: Path) -> bool:
    """Return whether JSON can hold a path: names of files may be any bytes."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise ValueError(f"{value!r:.80} is no text")
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
        raise ValueError(f"{value!r:.80} is no number")
    return value


def _or_none(value: Any, read: Callable[[Any], int]) -> int | None:
    return None if value is None else read(value)

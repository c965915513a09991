"""A record of the models on removable disks, so that they can still be listed while a disk is not mounted.

It is one small JSON file in the cache folder; if it is damaged in any way, it counts as empty.
"""

import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sotto import paths
from sotto.errors import BrokenModelError
from sotto.store.atomic_writing import write_atomically
from sotto.store.bounded_json import parse_object
from sotto.store.discovery import Listing, with_distinct_names
from sotto.store.files import read_all
from sotto.store.records import Format, ModelRecord, Source, record_fields

_log = logging.getLogger(__name__)

_FORMAT = 1
_MAX_BYTES = 8 << 20
_MAX_NUMBER = 1 << 60
_MAX_TEXT = 4096


@dataclass(frozen=True, slots=True)
class _Folder:
    """The models that a folder held when it was last searched, and the disk it was on."""

    device: int
    records: tuple[ModelRecord, ...]


def with_absent_models(listing: Listing) -> Listing:
    """Return a listing with the remembered models of absent folders added, and remember it for the next time."""
    known = _read()
    seen: dict[Path, _Folder] = {}
    absent: dict[str, ModelRecord] = {}
    found_digests = {record.digest for record in listing.records}
    for path, device in listing.devices.items():
        before = known.get(path)
        found = tuple(record for record in listing.records if _lies_in(record, path))
        if before is not None and not found and device != before.device:
            # The mount point of an absent disk may exist, as an empty folder on another disk.
            seen[path] = before
            absent |= {record.digest: record for record in before.records if record.digest not in found_digests}
        elif device:
            seen[path] = _Folder(device, found)
    if seen != known:
        _write(seen)
    if not absent:
        return listing
    missing = [replace(record, present=False, also=()) for record in absent.values()]
    return replace(listing, records=tuple(with_distinct_names([*listing.records, *missing])))


def _lies_in(record: ModelRecord, folder: Path) -> bool:
    return any(path.is_relative_to(folder) for path in (record.path, *(place.path for place in record.also)))


def cache_file() -> Path:
    """Return the path of the file; it may not exist."""
    return paths.cache_dir() / "models.json"


def _write(folders: Mapping[Path, _Folder]) -> None:
    written = {
        os.fspath(path): {"device": folder.device, "records": [_parts(record) for record in folder.records]}
        for path, folder in folders.items()
        if _is_text(path)
    }
    try:
        write_atomically(cache_file(), json.dumps({"format": _FORMAT, "folders": written}))
    except OSError as error:
        _log.info("What was found cannot be kept in %s: %s", cache_file(), error.strerror)


def _read() -> dict[Path, _Folder]:
    if not cache_file().exists():
        return {}
    try:
        written = parse_object(read_all(cache_file(), _MAX_BYTES, "what was found"), cache_file(), strict=True)
        if written.get("format") != _FORMAT:
            return {}
        return {
            Path(path): _Folder(_number(folder["device"]), tuple(_record(parts) for parts in folder["records"]))
            for path, folder in written["folders"].items()
        }
    except (BrokenModelError, ValueError, TypeError, KeyError, AttributeError) as error:
        _log.info("%s is of no use: %s", cache_file().name, error)
        return {}


def _parts(record: ModelRecord) -> dict[str, Any]:
    return {**record_fields(record), "path": os.fspath(record.path) if _is_text(record.path) else ""}


def _record(parts: Mapping[str, Any]) -> ModelRecord:
    """Return the record that `_parts` wrote.

    Raises:
        ValueError: A value is invalid.
        TypeError: A value has the wrong type.
        KeyError: A value is missing.
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
        capabilities=tuple(_text(name) for name in parts["capabilities"]),
        vision_reason=_text(parts.get("vision_reason", "")),
    )


def _is_text(path: Path) -> bool:
    """Return whether a path is valid Unicode, so that JSON can hold it: file names may be any bytes."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _MAX_TEXT:
        raise ValueError(f"{value!r:.80} is not text")
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_NUMBER:
        raise ValueError(f"{value!r:.80} is not a number")
    return value


def _or_none(value: Any, read: Callable[[Any], int]) -> int | None:
    return None if value is None else read(value)

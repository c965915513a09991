"""What people chose about the engine, kept in a small file.

Sizes are bytes; one that is not chosen follows the machine. A value that makes no sense is told in the log and taken as
not chosen, so that a damaged file never keeps anybody from their models.
"""

import json
import logging
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sotto import paths
from sotto.errors import BrokenModelError, InvalidRequestError, StoreError
from sotto.store.atomic_writing import write_atomically
from sotto.store.bounded_json import read_object
from sotto.store.printable import format_size, printable_path

_log = logging.getLogger(__name__)

LEAST_MEMORY = 256 * 10**6
"""Bytes that a limit of memory leaves at least: with less, not even small models could be planned."""
_DISK_BUDGET = 16 << 30
# A disk with less room than this is left alone.
_LEAST_FREE = 10 << 30
_LARGEST = 1 << 50
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What people can choose about the engine.

    Attributes:
        prefix_budget: Bytes that everything kept for later prompts may take in memory, running answers included; None
            as the machine allows.
        disk_budget: Bytes that it may take on disk; 0 for nothing.
        disk_root: The folder for that; None for nothing.
        kv_bits: Hold keys and values in 8 or 4 bits, where a layer allows it; None as the model computes them.
        memory_limit: Bytes of memory that a model may be planned with, however much there is; None for all that is
            free.
        process_memory: Bytes of memory that the engine may hold where it has a process of its own; None for any number.
    """

    prefix_budget: int | None = None
    disk_budget: int = 0
    disk_root: Path | None = None
    kv_bits: int | None = None
    memory_limit: int | None = None
    process_memory: int | None = None


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _is_limit(value: Any) -> bool:
    return _is_size(value) and value >= LEAST_MEMORY


def _is_bits(value: Any) -> bool:
    return not isinstance(value, bool) and value in (4, 8)


_CHOICES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "prefix_budget": (_is_size, "a number of bytes"),
    "disk_budget": (_is_size, "a number of bytes"),
    "kv_bits": (_is_bits, "4 or 8"),
    "memory_limit": (_is_limit, f"a number of bytes, at least {LEAST_MEMORY}"),
    "process_memory": (_is_limit, f"a number of bytes, at least {LEAST_MEMORY}"),
}


def read_settings() -> EngineSettings:
    """Return what was chosen, with what follows the machine filled in for the disk."""
    chosen = chosen_settings()
    settings = EngineSettings(**chosen, disk_root=disk_root())
    return settings if "disk_budget" in chosen else replace(settings, disk_budget=usual_disk_budget())


def change_settings(changes: Mapping[str, int | None]) -> None:
    """Keep choices for the next start; None takes a choice back.

    Raises:
        InvalidRequestError: A value makes no sense; nothing is changed then.
        StoreError: The file cannot be written.
    """
    for name, value in changes.items():
        fits, right = _CHOICES[name]
        if value is not None and not fits(value):
            raise InvalidRequestError(f"{name} must be {right}, not {value!r}.")
    merged = {name: value for name, value in {**chosen_settings(), **changes}.items() if value is not None}
    path = settings_file()
    try:
        write_atomically(path, json.dumps(merged, indent=1))
    except OSError as error:
        raise StoreError(f"{printable_path(path)} cannot be written: {error.strerror}.") from error


def settings_file() -> Path:
    """Return where choices are kept; the file may not exist."""
    return paths.config_dir() / "engine.json"


def disk_root() -> Path:
    """Return the folder of computed prefixes on disk."""
    return paths.cache_dir() / "prefixes"


def usual_disk_budget() -> int:
    """Return the bytes that prefixes may take on this disk: a quarter of what is free, none if that is little."""
    folder = disk_root()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        _log.warning("%s cannot be used to keep anything: %s", printable_path(folder), error.strerror)
        return 0
    return min(_DISK_BUDGET, free // 4) if free >= _LEAST_FREE else 0


def size_of(text: str) -> int:
    """Return the bytes that a text such as `800M`, `16G` or `0` means, in powers of ten.

    Raises:
        InvalidRequestError: It means none.
    """
    number = text.strip().upper().removesuffix("B")
    unit = number[-1:] if number[-1:] in _UNITS else ""
    try:
        size = int(float(number.removesuffix(unit)) * _UNITS[unit])
    except (ValueError, OverflowError):
        size = -1
    if not _is_size(size):
        raise InvalidRequestError(f"A size is a number with K, M, G or T behind it, for example 16G, not {text!r}.")
    return size


def chosen_settings() -> dict[str, Any]:
    """Return what was chosen, by name; what is not in it follows the machine."""
    path = settings_file()
    if not path.exists():
        return {}
    try:
        written = read_object(path)
    except BrokenModelError as error:
        _log.warning("%s", error.message)
        return {}
    chosen = {}
    for name, value in written.items():
        fits, right = _CHOICES.get(name, (None, ""))
        if fits is not None and fits(value):
            chosen[name] = value
        elif fits is not None:
            _log.warning("%s in %s must be %s, not %.60r.", name, printable_path(path), right, value)
    return chosen


def describe(settings: EngineSettings) -> list[tuple[str, str]]:
    """Return what is chosen, as labels and values for people."""
    memory = "as the machine allows" if settings.prefix_budget is None else format_size(settings.prefix_budget)
    planned = "all that is free" if settings.memory_limit is None else format_size(settings.memory_limit)
    return [
        ("models may take", planned),
        ("in memory", memory),
        ("on disk", format_size(settings.disk_budget) if settings.disk_budget else "nothing"),
        ("keys and values", f"{settings.kv_bits} bits" if settings.kv_bits else "as computed"),
    ]

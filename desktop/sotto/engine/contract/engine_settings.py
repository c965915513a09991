"""The user's settings of the engine, kept in a small file.

Sizes are in bytes; one that is not set depends on the machine. An invalid value is logged and ignored, so that a
damaged file never prevents the use of models. What a newer version may have written stays in the file.
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
"""The smallest memory limit in bytes: with less, not even small models could be planned."""
_DISK_BUDGET = 16 << 30
# Nothing is kept on a disk with less free space than this.
_LEAST_FREE = 10 << 30
_LARGEST = 1 << 50
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The settings of the engine.

    Attributes:
        prefix_budget: Bytes of the prefix cache in memory, including running answers; None for what the machine allows.
        disk_budget: Bytes of the prefix cache on disk; 0 for none.
        disk_root: Its folder; None for none.
        kv_bits: Bits of keys and values, 16, 8 or 4, in layers that allow it; None leaves them as computed.
        memory_limit: Bytes of memory for models; None for all free memory.
        process_memory: Bytes of memory for an engine in its own process; None for no limit.
        prediction: Whether models use a head of their own to predict tokens ahead, if they have one.
    """

    prefix_budget: int | None = None
    disk_budget: int = 0
    disk_root: Path | None = None
    kv_bits: int | None = None
    memory_limit: int | None = None
    process_memory: int | None = None
    prediction: bool = True


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _is_limit(value: Any) -> bool:
    return _is_size(value) and value >= LEAST_MEMORY


def _is_bits(value: Any) -> bool:
    return not isinstance(value, bool) and value in (4, 8, 16)


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


_CHOICES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "prefix_budget": (_is_size, "a number of bytes"),
    "disk_budget": (_is_size, "a number of bytes"),
    "kv_bits": (_is_bits, "4, 8 or 16"),
    "memory_limit": (_is_limit, f"a number of bytes, at least {LEAST_MEMORY}"),
    "process_memory": (_is_limit, f"a number of bytes, at least {LEAST_MEMORY}"),
    "prediction": (_is_switch, "true or false"),
}


def read_settings() -> EngineSettings:
    """Return the settings, with the default disk budget of this machine if none is set."""
    chosen = chosen_settings()
    settings = EngineSettings(**chosen, disk_root=disk_root())
    return settings if "disk_budget" in chosen else replace(settings, disk_budget=usual_disk_budget())


def change_settings(changes: Mapping[str, int | None]) -> None:
    """Save settings for the next start; None removes a setting.

    Raises:
        InvalidRequestError: A value is invalid; nothing is changed then.
        StoreError: The file cannot be written.
    """
    for name, value in changes.items():
        fits, right = _CHOICES[name]
        if value is not None and not fits(value):
            raise InvalidRequestError(f"{name} must be {right}, not {value!r}.")
    merged = {name: value for name, value in {**_written(), **changes}.items() if value is not None}
    path = settings_file()
    try:
        write_atomically(path, json.dumps(merged, indent=1))
    except OSError as error:
        raise StoreError(f"{printable_path(path)} cannot be written: {error.strerror}.") from error


def settings_file() -> Path:
    """Return the file of the settings; it may not exist."""
    return paths.config_dir() / "engine.json"


def disk_root() -> Path:
    """Return the folder of the prefix cache on disk."""
    return paths.cache_dir() / "prefixes"


def usual_disk_budget() -> int:
    """Return the default disk budget: a quarter of the free space, 0 if that is little."""
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
    """Parse a size such as `800M`, `16G` or `0` with decimal units, and return bytes.

    Raises:
        InvalidRequestError: It is not a size.
    """
    number = text.strip().upper().removesuffix("B")
    unit = number[-1:] if number[-1:] in _UNITS else ""
    try:
        size = int(float(number.removesuffix(unit)) * _UNITS[unit])
    except (ValueError, OverflowError):
        size = -1
    if not _is_size(size):
        raise InvalidRequestError(f"A size is a number followed by K, M, G or T, for example 16G, not {text!r}.")
    return size


def chosen_settings() -> dict[str, Any]:
    """Return the settings that the user has set, by name."""
    path, chosen = settings_file(), {}
    for name, value in _written().items():
        fits, right = _CHOICES.get(name, (None, ""))
        if fits is not None and fits(value):
            chosen[name] = value
        elif fits is not None:
            _log.warning("%s in %s must be %s, not %.60r.", name, printable_path(path), right, value)
    return chosen


def _written() -> dict[str, Any]:
    """Return what is in the file, valid or not; nothing if it cannot be read."""
    path = settings_file()
    if not path.exists():
        return {}
    try:
        return read_object(path)
    except BrokenModelError as error:
        _log.warning("%s", error.message)
        return {}


def describe(settings: EngineSettings) -> list[tuple[str, str]]:
    """Return what is chosen, as labels and values for people."""
    memory = "as the machine allows" if settings.prefix_budget is None else format_size(settings.prefix_budget)
    planned = "all that is free" if settings.memory_limit is None else format_size(settings.memory_limit)
    return [
        ("models may take", planned),
        ("in memory", memory),
        ("on disk", format_size(settings.disk_budget) if settings.disk_budget else "nothing"),
        ("keys and values", f"{settings.kv_bits} bits" if settings.kv_bits else "as computed"),
        ("prediction heads", "used" if settings.prediction else "not used"),
    ]

"""Memory needs of models, saved between starts, because computing them takes seconds.

There is one small JSON file for each model and way of computing it. If a file is damaged, the needs are computed again.
"""

import contextlib
import hashlib
import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sotto import paths
from sotto.engine.memory.memory_needs import CacheKind, CacheNeed, ModelNeeds, SightPoint, WorkPoint
from sotto.errors import BrokenModelError
from sotto.store.atomic_writing import write_atomically
from sotto.store.bounded_json import parse_object
from sotto.store.files import read_all

_log = logging.getLogger(__name__)

# Increase it whenever needs are computed differently.
_FORMAT = 5
_MOST_FILES = 200
_MOST_BYTES = 1 << 20
_LARGEST = 1 << 50
_MOST_ITEMS = 10_000


def key_of(parts: Sequence[Any]) -> str:
    """Return a key for everything that a model's needs depend on, given as JSON values."""
    text = json.dumps([_FORMAT, *parts], sort_keys=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()


def recall(key: str) -> ModelNeeds | None:
    """Return the needs saved under a key, or None if there are none, or they are damaged."""
    path = folder() / f"{key}.json"
    if not path.exists():
        return None
    try:
        written = parse_object(read_all(path, _MOST_BYTES, "what a model needs"), path, strict=True)
        if written.get("key") != key or written.get("sum") != _sum(written.get("needs")):
            raise ValueError("it is not what was written for this model")
        needs = _needs(written["needs"])
    except (BrokenModelError, ValueError, TypeError, KeyError) as error:
        _log.info("%s is of no use: %s", path.name, error)
        return None
    with contextlib.suppress(OSError):
        # The files used last are kept longest.
        os.utime(path)
    return needs


def keep(key: str, needs: ModelNeeds) -> None:
    """Save the needs of a model; if that fails, they are computed again the next time."""
    parts = _parts(needs)
    text = json.dumps({"key": key, "needs": parts, "sum": _sum(parts)})
    try:
        write_atomically(folder() / f"{key}.json", text)
        _forget_oldest()
    except OSError as error:
        _log.info("What a model needs cannot be kept in %s: %s", folder(), error.strerror)


def folder() -> Path:
    """Return the folder of saved needs; it may not exist."""
    return paths.cache_dir() / "needs"


def _forget_oldest() -> None:
    """Remove all but the files used last."""
    ages = []
    for path in folder().iterdir():
        # Another process may have removed it in the meantime.
        with contextlib.suppress(FileNotFoundError):
            ages.append((path.stat().st_mtime, path))
    for _, path in sorted(ages, reverse=True)[_MOST_FILES:]:
        path.unlink(missing_ok=True)


def _sum(parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _parts(needs: ModelNeeds) -> dict[str, Any]:
    return {
        "weight_bytes": needs.weight_bytes,
        "loading_bytes": needs.loading_bytes,
        "longest_context": needs.longest_context,
        "layers": [
            [layer.kind.value, layer.bytes_per_token, layer.constant_bytes, layer.window, layer.step]
            for layer in needs.layers or ()
        ],
        "work": [[point.chunk, point.context, point.nbytes] for point in needs.work],
        "sight": [[point.pixels, point.nbytes, point.features, point.whole] for point in needs.sight],
    }


def _needs(parts: dict[str, Any]) -> ModelNeeds:
    """Parse the needs that `_parts` wrote.

    Raises:
        ValueError: A value is out of range.
        TypeError: A part has the wrong type.
        KeyError: A part is missing.
    """
    layers, work, longest = parts["layers"], parts["work"], parts["longest_context"]
    if not 1 <= len(layers) <= _MOST_ITEMS or not 1 <= len(work) <= _MOST_ITEMS:
        raise ValueError("it has too few or too many layers or samples")
    return ModelNeeds(
        weight_bytes=_number(parts["weight_bytes"], 1),
        loading_bytes=_number(parts["loading_bytes"]),
        layers=tuple(
            CacheNeed(
                CacheKind(kind),
                _number(per_token),
                _number(constant),
                None if window is None else _number(window, 1),
                _number(step, 1),
            )
            for kind, per_token, constant, window, step in layers
        ),
        work=tuple(WorkPoint(_number(chunk, 1), _number(context, 1), _number(size)) for chunk, context, size in work),
        longest_context=None if longest is None else _number(longest, 1),
        sight=tuple(
            SightPoint(_number(pixels, 1), _number(size), _number(features), _number(whole))
            for pixels, size, features, whole in _few(parts["sight"])
        ),
    )


def _few(items: list[Any]) -> list[Any]:
    if len(items) > _MOST_ITEMS:
        raise ValueError("it has too many samples")
    return items


def _number(value: Any, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _LARGEST:
        raise ValueError(f"{value!r} is not a number from {least} to {_LARGEST}")
    return value

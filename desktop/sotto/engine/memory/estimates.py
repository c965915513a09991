"""Corrections of predicted memory by architecture, learnt from models that took more or less than predicted.

A model's needs are calculated from its shapes, and are usually right to the byte. If they are not, because a definition
holds more than its shapes show, the ratio is saved in a small JSON file and used from then on. If the file is damaged,
it is ignored. Does not import MLX.
"""

import json
import logging
from dataclasses import replace
from pathlib import Path

from sotto import paths
from sotto.engine.memory.memory_needs import ModelNeeds
from sotto.errors import BrokenModelError
from sotto.store.atomic_writing import write_atomically
from sotto.store.bounded_json import read_object

_log = logging.getLogger(__name__)

# Predictions that are off by less than this share, or by fewer bytes than this, are not corrected.
_SHARE, _BYTES = 0.2, 64 << 20
# Measurements of smaller models are dominated by everything else in memory.
_SMALLEST = 256 << 20
_LEAST, _MOST = 0.25, 4.0
_MOST_ENTRIES = 500


def ratio(architecture: str) -> float:
    """Return the correction factor for the weights of an architecture; 1 if none was learnt."""
    return _read().get(architecture, 1.0)


def correct(needs: ModelNeeds, architecture: str) -> ModelNeeds:
    """Return the needs of a model, corrected for its architecture."""
    factor = ratio(architecture)
    return needs if factor == 1.0 else replace(needs, weight_bytes=round(needs.weight_bytes * factor))


def learn(architecture: str, predicted: int, actual: int) -> bool:
    """Record the predicted and the actual bytes of a model; return whether that changes later predictions.

    Args:
        architecture: `model_type` of its config.
        predicted: Predicted bytes, after `correct`.
        actual: Bytes that it holds.
    """
    off = abs(actual - predicted)
    if predicted < _SMALLEST or actual <= 0 or not architecture or off <= _BYTES or off <= _SHARE * predicted:
        return False
    known = _read()
    factor = min(_MOST, max(_LEAST, known.pop(architecture, 1.0) * actual / predicted))
    _log.warning(
        "A model of the architecture %s holds %d bytes and was to hold %d; from now on %.2f times as much is expected.",
        *(architecture, actual, predicted, factor),
    )
    kept = dict([*known.items(), (architecture, factor)][-_MOST_ENTRIES:])
    try:
        write_atomically(_file(), json.dumps(kept, indent=1))
    except OSError as error:
        _log.warning("What was learned cannot be kept in %s: %s", _file(), error.strerror)
        return False
    return True


def _file() -> Path:
    return paths.cache_dir() / "estimates.json"


def _read() -> dict[str, float]:
    if not _file().exists():
        return {}
    try:
        written = read_object(_file())
    except BrokenModelError as error:
        _log.info("%s", error.message)
        return {}
    return {
        name: float(value)
        for name, value in written.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and _LEAST <= value <= _MOST
    }

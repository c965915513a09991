"""Llama 3's stretching of positions, found again from the factors that a GGUF file has in place of its parameters.

A pair of dimensions with the wave length w turns as it was made where w < original / high, `factor` times slower where
w > original / low, and between these slower by 1 / (s + (1 - s) / factor), s = (original / w - low) / (high - low).
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.printable import printable_path

_LOW, _HIGH = 1.0, 4.0
_TOLERANCE = 1e-3


def llama3_scaling(factors: Sequence[float], dims: int, base: float, path: Path) -> dict[str, Any] | None:
    """Return the `rope_scaling` that gives these factors, or None where they change nothing.

    Args:
        factors: By how much each pair of dimensions turns slower, the fastest first.
        dims: How many dimensions are rotated.
        base: Base of their wave lengths.
        path: Where they come from, for messages.

    Raises:
        BrokenModelError: They are no such factors.
    """
    waves = [2 * math.pi * base ** (2 * index / dims) for index in range(len(factors))]
    factor = max(factors, default=1.0)
    if factor <= 1 + _TOLERANCE and min(factors, default=1.0) >= 1 - _TOLERANCE:
        return None
    scaling = {
        "rope_type": "llama3",
        "factor": factor,
        "low_freq_factor": _LOW,
        "high_freq_factor": _HIGH,
        "original_max_position_embeddings": _original(factors, waves, factor),
    }
    wanted = [_factor(wave, scaling) for wave in waves]
    if len(factors) * 2 != dims or any(
        abs(one / other - 1) > _TOLERANCE for one, other in zip(factors, wanted, strict=True)
    ):
        raise BrokenModelError(
            f"{printable_path(path)}: tensor rope_freqs.weight does not stretch positions as Llama 3 does, which is "
            "the only way that is known there."
        )
    return scaling


def _original(factors: Sequence[float], waves: Sequence[float], factor: float) -> int:
    """Return the length of the context before it was stretched, as far as the factors tell."""
    for one, wave in zip(factors, waves, strict=True):
        if 1 + _TOLERANCE < one < factor * (1 - _TOLERANCE):
            share = (1 / one - 1 / factor) / (1 - 1 / factor)
            return round(wave * (share * (_HIGH - _LOW) + _LOW))
    # No pair is in between, so every length that leaves it so gives the same.
    for (one, wave), (other, next_wave) in pairwise(zip(factors, waves, strict=True)):
        if other > one:
            return round(math.sqrt(wave * _HIGH * next_wave * _LOW))
    return round(waves[0] * _LOW)


def _factor(wave: float, scaling: dict[str, Any]) -> float:
    """Return by how much a pair of dimensions with this wave length turns slower."""
    original, factor = scaling["original_max_position_embeddings"], float(scaling["factor"])
    share = (original / wave - _LOW) / (_HIGH - _LOW)
    if share >= 1:
        return 1.0
    return factor if share <= 0 else 1 / (share + (1 - share) / factor)

"""Recovering the parameters of Llama 3's RoPE scaling from the factors that a GGUF file stores in their place.

The frequency of a pair of dimensions with wavelength w is unchanged for w < original / high, divided by `factor` for
w > original / low, and in between divided by 1 / (s + (1 - s) / factor), where s = (original / w - low) / (high - low).
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
    """Return the `rope_scaling` that yields these factors, or None if they are all 1.

    Args:
        factors: The divisor of the frequency of each pair of dimensions, the highest frequency first.
        dims: Number of rotated dimensions.
        base: Base of the wavelengths, `rope_theta`.
        path: The file, for error messages.

    Raises:
        BrokenModelError: No parameters yield these factors.
    """
    wavelengths = [2 * math.pi * base ** (2 * index / dims) for index in range(len(factors))]
    factor = max(factors, default=1.0)
    if factor <= 1 + _TOLERANCE and min(factors, default=1.0) >= 1 - _TOLERANCE:
        return None
    scaling = {
        "rope_type": "llama3",
        "factor": factor,
        "low_freq_factor": _LOW,
        "high_freq_factor": _HIGH,
        "original_max_position_embeddings": _original_context(factors, wavelengths, factor),
    }
    expected = [_divisor(wavelength, scaling) for wavelength in wavelengths]
    if len(factors) * 2 != dims or any(
        abs(given / wanted - 1) > _TOLERANCE for given, wanted in zip(factors, expected, strict=True)
    ):
        raise BrokenModelError(
            f"{printable_path(path)}: tensor rope_freqs.weight does not stretch positions as Llama 3 does, which is "
            "the only way that is known there."
        )
    return scaling


def _original_context(factors: Sequence[float], wavelengths: Sequence[float], factor: float) -> int:
    """Return the context length before scaling, in tokens, as precisely as the factors determine it."""
    for divisor, wavelength in zip(factors, wavelengths, strict=True):
        if 1 + _TOLERANCE < divisor < factor * (1 - _TOLERANCE):
            share = (1 / divisor - 1 / factor) / (1 - 1 / factor)
            return round(wavelength * (share * (_HIGH - _LOW) + _LOW))
    # No pair is in between, so any length that keeps it so yields the same factors.
    for (divisor, wavelength), (next_divisor, next_wavelength) in pairwise(zip(factors, wavelengths, strict=True)):
        if next_divisor > divisor:
            return round(math.sqrt(wavelength * _HIGH * next_wavelength * _LOW))
    return round(wavelengths[0] * _LOW)


def _divisor(wavelength: float, scaling: dict[str, Any]) -> float:
    """Return the number by which the frequency of a pair with this wavelength is divided."""
    original, factor = scaling["original_max_position_embeddings"], float(scaling["factor"])
    share = (original / wavelength - _LOW) / (_HIGH - _LOW)
    if share >= 1:
        return 1.0
    return factor if share <= 0 else 1 / (share + (1 - share) / factor)

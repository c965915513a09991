"""Values from the configs of vision towers and of their preprocessors, which are checked as they are read."""

import math
from collections.abc import Mapping
from typing import Any

from sotto.engine.vision.image_reader import Normalization
from sotto.engine.vision.resizing import HAMMING
from sotto.errors import UnsupportedModelError
from sotto.store.printable import printable

# Larger than in any existing model. A config beyond that is damaged, or meant to exhaust the machine.
_MOST = 1 << 20
_CHANNELS = 3
_BYTE = 1 / 255


def part(config: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a part of a config, such as its `text_config`; empty if it has none."""
    found = config.get(key)
    return found if isinstance(found, Mapping) else {}


def vision_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a config that describes its vision tower.

    Raises:
        UnsupportedModelError: There is none.
    """
    found = config.get("vision_config")
    if not isinstance(found, Mapping):
        raise UnsupportedModelError("Its config.json has no vision_config, which would describe how it sees.")
    return found


def whole(values: Mapping[str, Any], key: str, default: int | None = None, *, most: int = _MOST) -> int:
    """Return a whole number of at least 1.

    Args:
        values: A config or a part of it.
        key: Which number.
        default: What it is if there is none, or null; None if it must be there.
        most: The largest that it may be.

    Raises:
        UnsupportedModelError: It is something else.
    """
    found = values.get(key)
    if found is None:
        found = default
    if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= most:
        raise UnsupportedModelError(
            f"{key} of its vision is {printable(str(found))}; it should be a whole number from 1 to {most:,}."
        )
    return found


def real(values: Mapping[str, Any], key: str, default: float) -> float:
    """Return a positive finite number.

    Raises:
        UnsupportedModelError: It is something else.
    """
    found = values.get(key)
    number = default if found is None else found
    if not isinstance(number, int | float) or isinstance(number, bool) or not 0 < number < math.inf:
        raise UnsupportedModelError(f"{key} of its vision is {printable(str(found))}; it should be a positive number.")
    return float(number)


def flag(values: Mapping[str, Any], key: str, default: bool) -> bool:
    """Return a yes or no; null is the default."""
    found = values.get(key)
    return default if found is None else bool(found)


def resample_of(preprocessor: Mapping[str, Any], default: int) -> int:
    """Return how a preprocessor interpolates pixels: the number of one of the filters in `resizing`.

    Raises:
        UnsupportedModelError: There is no filter of that number.
    """
    found = preprocessor.get("resample")
    number = default if found is None else found
    if number not in range(HAMMING + 1):
        raise UnsupportedModelError(
            f"resample in its preprocessor_config.json is {printable(str(number))}; it should be a whole number from 0 "
            f"to {HAMMING}."
        )
    return int(number)


def normalization_of(
    preprocessor: Mapping[str, Any], mean: tuple[float, float, float], std: tuple[float, float, float]
) -> Normalization:
    """Return how a preprocessor scales the channels of pixels.

    Args:
        preprocessor: The contents of `preprocessor_config.json`.
        mean: What the family subtracts if the file does not say.
        std: What it then divides by.

    Raises:
        UnsupportedModelError: It does not divide by 255 first, or its figures are not three numbers.
    """
    factor = preprocessor.get("rescale_factor")
    if not flag(preprocessor, "do_rescale", True) or (
        factor is not None and not math.isclose(real(preprocessor, "rescale_factor", _BYTE), _BYTE, rel_tol=1e-6)
    ):
        raise UnsupportedModelError("Its preprocessor_config.json scales pixels by something other than 1 / 255.")
    if not flag(preprocessor, "do_normalize", True):
        return Normalization((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    return Normalization(_three(preprocessor, "image_mean", mean), _three(preprocessor, "image_std", std))


def _three(
    preprocessor: Mapping[str, Any], key: str, default: tuple[float, float, float]
) -> tuple[float, float, float]:
    found = preprocessor.get(key)
    if found is None:
        return default
    numbers = found if isinstance(found, list | tuple) else [found] * _CHANNELS
    wrong = any(not isinstance(each, int | float) or not math.isfinite(each) for each in numbers)
    if wrong or len(numbers) != _CHANNELS or (key == "image_std" and 0 in numbers):
        raise UnsupportedModelError(f"{key} in its preprocessor_config.json should be three numbers.")
    red, green, blue = (float(each) for each in numbers)
    return red, green, blue

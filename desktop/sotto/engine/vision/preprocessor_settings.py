"""Settings of preprocessors: how they scale and resize pixels, sizes and steps, and bounds on what these lead to."""

import math
from collections.abc import Mapping
from typing import Any

from sotto.engine.vision.image_reader import Normalization
from sotto.engine.vision.resizing import HAMMING
from sotto.engine.vision.vision_values import flag, real, whole
from sotto.errors import InvalidRequestError, UnsupportedModelError
from sotto.store.printable import printable

# Means and standard deviations of the channels, as CLIP's makers found them.
CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
HALF = (0.5, 0.5, 0.5)

# More than in any existing model; what is beyond is damaged, or meant to exhaust the machine.
MOST_PIXELS, _MOST_ROWS = 8192, 1 << 16
# Narrower images would lose one of their sides when they are resized.
_MOST_STRETCHED = 200
_CHANNELS = 3
_BYTE = 1 / 255


def sides(settings: Mapping[str, Any], key: str, default: Mapping[str, int]) -> dict[str, int]:
    """Return a setting of sizes by what they measure, for example `height` and `width`.

    A number alone stands for whatever the default has.

    Raises:
        UnsupportedModelError: They are no whole numbers, or too large.
    """
    value = settings.get(key) or default
    if not isinstance(value, Mapping):
        return dict.fromkeys(default, whole(settings, key, most=MOST_PIXELS))
    named = {f"{key}.{name}": side for name, side in value.items() if side is not None}
    return {name.removeprefix(f"{key}."): whole(named, name, most=MOST_PIXELS) for name in named}


def square(settings: Mapping[str, Any], key: str, default: int) -> int:
    """Return the side of a setting of sizes that describes a square.

    Raises:
        UnsupportedModelError: It does not.
    """
    found = set(sides(settings, key, {"height": default, "width": default}).values())
    if len(found) != 1:
        raise UnsupportedModelError(f"{key} in the settings for images is not square, as it should be for this model.")
    return found.pop()


def must_be(settings: Mapping[str, Any], key: str, *, value: bool) -> None:
    """Raise UnsupportedModelError if a step of the preprocessing is switched other than all models have it."""
    if settings.get(key, value) not in (value, None):
        raise UnsupportedModelError(f"{key} in the settings for images should be {str(value).lower()}.")


def refuse_narrow(width: int, height: int) -> None:
    """Raise InvalidRequestError if an image is too narrow for any model to see something in it."""
    if max(width, height) > _MOST_STRETCHED * min(width, height):
        raise InvalidRequestError(
            f"An image of {width} x {height} pixels is too narrow; it should be at most {_MOST_STRETCHED} times as "
            "long as wide."
        )


def refuse_many(rows: int) -> None:
    """Raise UnsupportedModelError if an image would take more tokens than with any existing model."""
    if rows > _MOST_ROWS:
        raise UnsupportedModelError(
            f"An image would take {rows:,} tokens by the settings for images; it should be at most {_MOST_ROWS:,}."
        )


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

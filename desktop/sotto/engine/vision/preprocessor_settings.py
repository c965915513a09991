"""Checked access to the settings of a preprocessor of images, which are untrusted like all of a model's files."""

from collections.abc import Mapping
from typing import Any

from sotto.engine.vision.image_reader import Normalization
from sotto.errors import InvalidRequestError, UnsupportedModelError
from sotto.store.printable import printable

CLIP_NORMALIZATION = Normalization((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
HALF_NORMALIZATION = Normalization((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))

# More than in any existing model; what is beyond is damaged, or meant to exhaust the machine.
MOST_PIXELS, MOST_ROWS = 8192, 1 << 16
# Narrower images would lose one of their sides when they are resized.
_MOST_STRETCHED = 200
_RESAMPLINGS = range(6)


def whole_number(settings: Mapping[str, Any], key: str, default: Any, most: int = MOST_PIXELS) -> int:
    """Return a setting that is a whole number, from 1 to `most`.

    Raises:
        UnsupportedModelError: It is not.
    """
    value = settings.get(key)
    return checked_number(default if value is None else value, key, most)


def checked_number(value: Any, name: str, most: int = MOST_PIXELS) -> int:
    """Return a value if it is a whole number from 1 to `most`; `name` is what it is called in the model's files.

    Raises:
        UnsupportedModelError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= most:
        raise UnsupportedModelError(
            f"{name} in the settings for images is {printable(str(value)[:40])}; it should be a whole number from 1 to "
            f"{most:,}."
        )
    return value


def sides(settings: Mapping[str, Any], key: str, default: Mapping[str, int]) -> dict[str, int]:
    """Return a setting of sizes by what they measure, for example `height` and `width`.

    A number alone stands for whatever the default has.

    Raises:
        UnsupportedModelError: They are no whole numbers, or too large.
    """
    value = settings.get(key) or default
    if not isinstance(value, Mapping):
        return dict.fromkeys(default, checked_number(value, key))
    return {name: checked_number(side, f"{key}.{name}") for name, side in value.items() if side is not None}


def square(settings: Mapping[str, Any], key: str, default: int) -> int:
    """Return the side of a setting of sizes that describes a square.

    Raises:
        UnsupportedModelError: It does not.
    """
    found = set(sides(settings, key, {"height": default, "width": default}).values())
    if len(found) != 1:
        raise UnsupportedModelError(f"{key} in the settings for images is not square, as it should be for this model.")
    return found.pop()


def normalization_of(settings: Mapping[str, Any], default: Normalization) -> Normalization:
    """Return how pixels are normalised.

    Raises:
        UnsupportedModelError: Pixels are not scaled from 0 to 1 first, or a value is no number for each channel.
    """
    factor = settings.get("rescale_factor")
    if settings.get("do_rescale") is False or (factor is not None and abs(float(factor) * 255 - 1) > 1e-3):
        raise UnsupportedModelError("rescale_factor in the settings for images should be 1/255.")
    if settings.get("do_normalize") is False:
        return Normalization((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    return Normalization(
        _channels(settings, "image_mean", default.mean, least=-1.0), _channels(settings, "image_std", default.std)
    )


def resampling(settings: Mapping[str, Any], default: int) -> int:
    """Return the number of Pillow's filter for resizing.

    Raises:
        UnsupportedModelError: There is no such filter.
    """
    value = settings.get("resample")
    if value is None:
        return default
    if value not in _RESAMPLINGS:
        raise UnsupportedModelError("resample in the settings for images should be a number from 0 to 5.")
    return int(value)


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
    if rows > MOST_ROWS:
        raise UnsupportedModelError(
            f"An image would take {rows:,} tokens by the settings for images; it should be at most {MOST_ROWS:,}."
        )


def _channels(
    settings: Mapping[str, Any], key: str, default: tuple[float, float, float], least: float = 1e-6
) -> tuple[float, float, float]:
    value = settings.get(key)
    if value is None:
        return default
    numbers = [value] * 3 if isinstance(value, int | float) else value
    if not isinstance(numbers, list) or len(numbers) != 3 or not all(_is_fraction(one, least) for one in numbers):
        raise UnsupportedModelError(f"{key} in the settings for images should be three numbers, one for each channel.")
    return float(numbers[0]), float(numbers[1]), float(numbers[2])


def _is_fraction(value: Any, least: float) -> bool:
    return isinstance(value, int | float) and least <= value <= 1000

"""Sizes and steps in the settings of preprocessors, and bounds on what they lead to."""

from collections.abc import Mapping
from typing import Any

from sotto.engine.vision.vision_values import whole
from sotto.errors import InvalidRequestError, UnsupportedModelError

# Means and standard deviations of the channels, as CLIP's makers found them.
CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
HALF = (0.5, 0.5, 0.5)

# More than in any existing model; what is beyond is damaged, or meant to exhaust the machine.
MOST_PIXELS, _MOST_ROWS = 8192, 1 << 16
# Narrower images would lose one of their sides when they are resized.
_MOST_STRETCHED = 200


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

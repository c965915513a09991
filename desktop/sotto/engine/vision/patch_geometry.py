"""How towers divide images into patches and merge these, from the `vision_config` of an untrusted config."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.errors import UnsupportedModelError
from sotto.store.printable import printable

# More than in any existing model. A config beyond that is damaged, or meant to exhaust the machine.
_LARGEST_PATCH, _MOST_MERGED, _MOST_FRAMES = 256, 8, 16
_SMALL, _LARGE = 14, 16
_SMALL_PATCHES = ("qwen2_vl", "qwen2_5_vl", "glm_ocr")


@dataclass(frozen=True, slots=True)
class Geometry:
    """How an image becomes tokens.

    Attributes:
        patch: Pixels along each side of a patch.
        merge: Patches along each side of the square that becomes a token.
        frames: Frames of a patch, as in a film; those of an image are equal.
    """

    patch: int
    merge: int
    frames: int

    @property
    def unit(self) -> int:
        """Pixels along each side of the square that becomes a token."""
        return self.patch * self.merge


def geometry_of(config: Mapping[str, Any]) -> Geometry | None:
    """Return how a model's tower divides images; None if it has no tower.

    Raises:
        UnsupportedModelError: A figure makes no sense.
    """
    vision = config.get("vision_config")
    if not isinstance(vision, Mapping):
        return None
    usual = _SMALL if config["model_type"] in _SMALL_PATCHES else _LARGE
    return Geometry(
        whole(vision, "patch_size", usual, _LARGEST_PATCH),
        whole(vision, "spatial_merge_size", 2, _MOST_MERGED),
        whole(vision, "temporal_patch_size", 2, _MOST_FRAMES),
    )


def whole(values: Mapping[str, Any], key: str, default: int, most: int) -> int:
    """Return a whole number of at least 1.

    Args:
        values: Part of a config.
        key: Which number.
        default: What it is if there is none, or null.
        most: The largest that it may be.

    Raises:
        UnsupportedModelError: It is something else.
    """
    found = values.get(key)
    found = default if found is None else found
    if type(found) is not int or not 1 <= found <= most:
        raise UnsupportedModelError(
            f"{key} of its vision is {printable(str(found)[:40])}; it should be a whole number from 1 to {most:,}."
        )
    return found

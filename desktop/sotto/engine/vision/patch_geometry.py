"""How towers divide images into patches and merge these, from the `vision_config` of an untrusted config."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.engine.vision.vision_values import whole

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
        whole(vision, "patch_size", usual, most=_LARGEST_PATCH),
        whole(vision, "spatial_merge_size", 2, most=_MOST_MERGED),
        whole(vision, "temporal_patch_size", 2, most=_MOST_FRAMES),
    )

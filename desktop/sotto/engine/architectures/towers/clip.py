"""CLIP, and SigLIP where projectors take hidden states of inner layers.

CLIP is as in "Learning Transferable Visual Models From Natural Language Supervision" (arXiv 2103.00020). Its layers are
those of SigLIP; it has a token for the whole image and a norm before the first layer.
"""

from collections.abc import Generator, Mapping
from collections.abc import Sequence as Series
from dataclasses import replace
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.towers import siglip
from sotto.engine.architectures.towers.patch_order import as_product, patches_in_rows
from sotto.engine.architectures.towers.siglip import SiglipArgs
from sotto.engine.vision.llava_images import CLIP, SIGLIP
from sotto.engine.vision.vision_values import vision_of, whole
from sotto.errors import UnsupportedModelError
from sotto.store.printable import printable

_IDEFICS3 = ("idefics3", "idefics3_vision", "smolvlm_vision")
# What transformers takes for keys that are missing from the config of a LLaVA.
_CLIP_VALUES: Mapping[str, Any] = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "image_size": 336,
    "patch_size": 14,
    "hidden_act": "quick_gelu",
    "layer_norm_eps": 1e-5,
}


class ClipEmbeddings(nn.Module):  # type: ignore[misc]
    """The token for the whole image, patches, and their positions."""

    def __init__(self, args: SiglipArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._patch = args.patch
        self.class_embedding = mx.zeros(args.width)
        self.patch_embedding = nn.Linear(3 * args.patch**2, args.width, bias=False)
        self.position_embedding = nn.Embedding(args.positions + 1, args.width)

    def __call__(self, tile: mx.array) -> mx.array:
        """Return the hidden states [1, N + 1, D] of a tile [H, W, 3] with N patches."""
        # On a graphics processor, everything is computed in the type of the weights.
        patches = patches_in_rows(tile, self._patch).astype(self.class_embedding.dtype)
        x = mx.concatenate([self.class_embedding[None], self.patch_embedding(patches)])
        placed: mx.array = x + self.position_embedding(mx.arange(len(x))).astype(x.dtype)
        return placed[None]


class VisionEncoder(nn.Module):  # type: ignore[misc]
    """CLIP or SigLIP up to the last layer whose hidden states are wanted."""

    def __init__(self, args: SiglipArgs, taps: Series[int], *, is_clip: bool, ends_in_norm: bool = False) -> None:
        """Build the module without its weights.

        Args:
            args: The shape of the encoder.
            taps: After how many layers hidden states are wanted.
            is_clip: Whether it is CLIP.
            ends_in_norm: Whether the hidden states are normalised then.
        """
        super().__init__()
        self._taps = taps
        self.embeddings = ClipEmbeddings(args) if is_clip else siglip.Embeddings(args)
        if is_clip:
            self.pre_layrnorm = nn.LayerNorm(args.width, eps=args.eps)
        self.encoder = siglip.Encoder(replace(args, layers=max(taps)))
        if ends_in_norm:
            self.post_layernorm = nn.LayerNorm(args.width, eps=args.eps)

    def steps(self, tile: mx.array) -> Generator[mx.array, None, list[mx.array]]:
        """Compute the hidden states [N, D] of a tile [H, W, 3] after the wanted layers."""
        x = self.embeddings(tile)
        if "pre_layrnorm" in self:
            x = self.pre_layrnorm(x)
        done, found = 0, {0: x}
        for tap in sorted(set(self._taps)):
            x = yield from self.encoder.steps(x, done, tap)
            done, found[tap] = tap, x
        if "post_layernorm" in self:
            found = {tap: self.post_layernorm(x) for tap, x in found.items()}
        return [found[tap][0] for tap in self._taps]

    def sanitize(self, weights: Mapping[str, mx.array], root: str) -> dict[str, mx.array]:
        """Return the weights of the encoder by the names of its parameters.

        What is left out belongs to layers after the last that is computed, and to heads for other uses.

        Args:
            weights: By name, without `model.` before it.
            root: How the names of the encoder begin.
        """
        found = {}
        for name, array in weights.items():
            part = name.removeprefix(f"{root}.").removeprefix("vision_model.")
            if not name.startswith(f"{root}.") or part.startswith("head.") or part.endswith("position_ids"):
                continue
            if self._is_beyond(part) or (part.startswith("post_layernorm.") and "post_layernorm" not in self):
                continue
            found[f"{root}.{part}"] = as_product(array) if part == "embeddings.patch_embedding.weight" else array
        return found

    def _is_beyond(self, part: str) -> bool:
        layer = part.removeprefix("encoder.layers.").partition(".")[0]
        return layer.isdecimal() and int(layer) >= len(self.encoder.layers)


def is_clip(config: Mapping[str, Any]) -> bool:
    """Return whether the tower of a model is CLIP, and not SigLIP.

    Raises:
        UnsupportedModelError: It is neither.
    """
    kind = vision_of(config).get("model_type") or CLIP
    if kind not in (CLIP, SIGLIP, *_IDEFICS3):
        raise UnsupportedModelError(f"Vision towers of type {printable(str(kind)[:40])!r} are not supported here.")
    return bool(kind == CLIP)


def args_of(config: Mapping[str, Any]) -> SiglipArgs:
    """Return the shape of the encoder of a model.

    Raises:
        UnsupportedModelError: The config describes no encoder of this kind.
    """
    written = {key: value for key, value in vision_of(config).items() if value is not None}
    vision = {**_CLIP_VALUES, **written} if is_clip(config) else written
    grid = whole(vision, "image_size", 224) // whole(vision, "patch_size", 16)
    return SiglipArgs.of(vision, grid * grid)


def taps_of(config: Mapping[str, Any], depth: int, default: int) -> list[int]:
    """Return after how many layers a projector takes hidden states (`vision_feature_layer`).

    Raises:
        UnsupportedModelError: There are no such layers.
    """
    written = config.get("vision_feature_layer", default)
    layers = written if isinstance(written, list) else [written]
    if not layers or not all(isinstance(layer, int) and -depth - 1 <= layer <= depth for layer in layers):
        raise UnsupportedModelError(
            f"vision_feature_layer in its config.json should name layers of the {depth} that the vision tower has."
        )
    return [layer % (depth + 1) for layer in layers]

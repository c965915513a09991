"""The tower of Pixtral and Mistral 3: images of any size, with rotary positions in two dimensions."""

from collections.abc import Generator, Mapping
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.definitions.activation import activation
from sotto.engine.architectures.towers.clip import taps_of
from sotto.engine.architectures.towers.patch_order import as_product, patches_in_rows
from sotto.engine.architectures.towers.stepping import encode
from sotto.engine.architectures.towers.tower import Features, Steps
from sotto.engine.vision.image_reader import ImageLayout
from sotto.engine.vision.pixtral_images import MOST_MERGED, is_merged
from sotto.engine.vision.vision_values import flag, part, real, vision_of, whole
from sotto.errors import UnsupportedModelError

_EPS = 1e-5
_ENCODER, _PROJECTOR = "vision_tower.", "multi_modal_projector."
# What transformers takes for keys that are missing from a config.
_DEFAULTS: Mapping[str, Any] = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "patch_size": 16,
    "hidden_act": "gelu",
}


class Attention(nn.Module):  # type: ignore[misc]
    """Attention of all patches to all, with their places."""

    def __init__(self, width: int, heads: int) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._heads, self._scale = heads, (width // heads) ** -0.5
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, width, bias=False)
        self.v_proj = nn.Linear(width, width, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)

    def keys_and_values(self, x: mx.array, turns: mx.array) -> tuple[mx.array, mx.array]:
        """Return keys and values [1, H, N, D / H] of rows [1, N, D]."""
        return rotated(by_head(self.k_proj(x), self._heads), turns), by_head(self.v_proj(x), self._heads)

    def __call__(self, x: mx.array, keys: mx.array, values: mx.array, turns: mx.array) -> mx.array:
        """Return the attention of some rows `x` [1, n, D] to all keys and values."""
        queries = rotated(by_head(self.q_proj(x), self._heads), turns)
        seen = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=self._scale)
        found: mx.array = self.o_proj(seen.swapaxes(1, 2).reshape(x.shape))
        return found


class FeedForward(nn.Module):  # type: ignore[misc]
    """The feed-forward part of a layer."""

    def __init__(self, width: int, inner: int, name: str) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._activate = activation(name)
        self.gate_proj = nn.Linear(width, inner, bias=False)
        self.up_proj = nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def __call__(self, x: mx.array) -> mx.array:
        """Return what is added to `x`."""
        found: mx.array = self.down_proj(self._activate(self.gate_proj(x)) * self.up_proj(x))
        return found


class Layer(nn.Module):  # type: ignore[misc]
    """A layer of the encoder."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Build the module without its weights."""
        super().__init__()
        width, inner = whole(config, "hidden_size"), whole(config, "intermediate_size")
        self.attention_norm = nn.RMSNorm(width, eps=_EPS)
        self.attention = Attention(width, whole(config, "num_attention_heads"))
        self.ffn_norm = nn.RMSNorm(width, eps=_EPS)
        self.feed_forward = FeedForward(width, inner, str(config["hidden_act"]))

    def keys_and_values(self, x: mx.array, *along: mx.array) -> tuple[mx.array, mx.array]:
        """Return the keys and values of all rows [1, N, D]; `along` are the turns of their places."""
        found: tuple[mx.array, mx.array] = self.attention.keys_and_values(self.attention_norm(x), *along)
        return found

    def __call__(self, x: mx.array, keys: mx.array, values: mx.array, *along: mx.array) -> mx.array:
        """Return what some rows [1, n, D] become."""
        x = x + self.attention(self.attention_norm(x), keys, values, *along)
        found: mx.array = x + self.feed_forward(self.ffn_norm(x))
        return found


class Transformer(nn.Module):  # type: ignore[misc]
    """The layers of the encoder."""

    def __init__(self, config: Mapping[str, Any], depth: int) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.layers = [Layer(config) for _ in range(depth)]


class PixtralEncoder(nn.Module):  # type: ignore[misc]
    """The encoder up to the layer whose hidden states are wanted."""

    def __init__(self, config: Mapping[str, Any], depth: int) -> None:
        """Build the module without its weights."""
        super().__init__()
        width, self._side = whole(config, "hidden_size"), whole(config, "patch_size")
        heads = whole(config, "num_attention_heads")
        if width % (4 * heads):
            raise UnsupportedModelError(
                "hidden_size of the vision tower in its config.json should be a multiple of 4 for each head."
            )
        self._turned = width // heads
        self._base = real(part(config, "rope_parameters") or config, "rope_theta", 10000.0)
        # Multiplications of a layer for each row, without those of the scores.
        self._cost = width * (4 * width + 3 * whole(config, "intermediate_size"))
        self.patch_conv = nn.Linear(self._side * self._side * 3, width, bias=False)
        self.ln_pre = nn.RMSNorm(width, eps=_EPS)
        self.transformer = Transformer(config, depth)

    def steps(self, tile: mx.array) -> Generator[mx.array, None, mx.array]:
        """Compute the hidden states [N, D] of an image [H, W, 3]."""
        x = self.ln_pre(self.patch_conv(patches_in_rows(tile, self._side).astype(self.ln_pre.weight.dtype)))[None]
        turns = self._turns(tile.shape[0] // self._side, tile.shape[1] // self._side)
        x = yield from encode(self.transformer.layers, x, self._cost + 2 * x.shape[1] * x.shape[2], turns)
        return x[0]

    def _turns(self, rows: int, columns: int) -> mx.array:
        """Return the cosines and sines [2, N, D / 2] of the places of patches: of its row, then of its column."""
        powers = mx.arange(0, self._turned, 2, dtype=mx.float32) / self._turned
        frequencies = 1.0 / (self._base**powers)
        down = mx.arange(rows, dtype=mx.float32)[:, None] * frequencies[0::2]
        across = mx.arange(columns, dtype=mx.float32)[:, None] * frequencies[1::2]
        quarter = self._turned // 4
        angles = mx.concatenate(
            [
                mx.broadcast_to(down[:, None], (rows, columns, quarter)),
                mx.broadcast_to(across[None], (rows, columns, quarter)),
            ],
            axis=-1,
        ).reshape(rows * columns, -1)
        return mx.stack([mx.cos(angles), mx.sin(angles)])


class PatchMerger(nn.Module):  # type: ignore[misc]
    """Joins squares of patches to one."""

    def __init__(self, width: int, merged: int) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._merged = merged
        self.merging_layer = nn.Linear(width * merged * merged, width, bias=False)

    def __call__(self, x: mx.array, rows: int, columns: int) -> mx.array:
        """Return the joined hidden states of a grid `x` [rows * columns, D] of patches."""
        some = self._merged
        squares = x.reshape(rows // some, some, columns // some, some, -1).transpose(0, 2, 4, 1, 3)
        found: mx.array = self.merging_layer(squares.reshape(rows * columns // some**2, -1))
        return found


class PixtralProjector(nn.Module):  # type: ignore[misc]
    """From the hidden states of patches to features."""

    def __init__(self, config: Mapping[str, Any], width: int) -> None:
        """Build the module without its weights; `width` is that of the hidden states."""
        super().__init__()
        text, merges = part(config, "text_config"), is_merged(config)
        wide = whole(text, "hidden_size", 5120 if merges else 4096)
        bias = flag(config, "multimodal_projector_bias", not merges)
        self._activate = activation(str(config.get("projector_hidden_act") or "gelu"))
        if merges:
            self.norm = nn.RMSNorm(width, eps=real(text, "rms_norm_eps", 1e-6))
            self.patch_merger = PatchMerger(width, whole(config, "spatial_merge_size", 2, most=MOST_MERGED))
        self.linear_1 = nn.Linear(width, wide, bias=bias)
        self.linear_2 = nn.Linear(wide, wide, bias=bias)

    def __call__(self, x: mx.array, rows: int, columns: int) -> mx.array:
        """Return the features [N, W] of a grid of hidden states [rows * columns, D]."""
        if "patch_merger" in self:
            x = self.patch_merger(self.norm(x), rows, columns)
        found: mx.array = self.linear_2(self._activate(self.linear_1(x)))
        return found


class PixtralTower(nn.Module):  # type: ignore[misc]
    """Pixtral's encoder with a projector."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Build the module without its weights."""
        super().__init__()
        vision = {**_DEFAULTS, **{key: value for key, value in vision_of(config).items() if value is not None}}
        (depth,) = taps_of(config, whole(vision, "num_hidden_layers"), -1)
        self._side = whole(vision, "patch_size")
        self.vision_tower = PixtralEncoder(vision, depth)
        self.multi_modal_projector = PixtralProjector(config, whole(vision, "hidden_size"))

    def steps(self, tiles: Series[mx.array], layout: ImageLayout) -> Steps:
        """Compute the features of an image, in parts of a few layers."""
        (tile,) = tiles
        x = yield from self.vision_tower.steps(tile)
        rows, columns = tile.shape[0] // self._side, tile.shape[1] // self._side
        return Features(self.multi_modal_projector(x, rows, columns))

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return weights by the names and with the shapes of its parameters, from those of a checkpoint."""
        found, depth = {}, len(self.vision_tower.transformer.layers)
        for written, array in weights.items():
            name = written.removeprefix("model.").replace("vision_tower.vision_model.", _ENCODER)
            layer = name.removeprefix(f"{_ENCODER}transformer.layers.").partition(".")[0]
            if not name.startswith((_ENCODER, _PROJECTOR)) or (layer.isdecimal() and int(layer) >= depth):
                continue
            found[name] = as_product(array) if name == f"{_ENCODER}patch_conv.weight" else array
        return found


def by_head(x: mx.array, heads: int) -> mx.array:
    """Return rows [1, N, D] by heads, [1, H, N, D / H]."""
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def rotated(x: mx.array, turns: mx.array) -> mx.array:
    """Return queries or keys [1, H, N, D] turned by the cosines and sines [2, N, D / 2] of their places."""
    first, second = mx.split(x, 2, axis=-1)
    cos, sin = turns.astype(x.dtype)
    return mx.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def make_tower(config: Mapping[str, Any]) -> PixtralTower:
    """Return the tower of a model with Pixtral's.

    Raises:
        UnsupportedModelError: The config asks for something else than these towers do.
    """
    if isinstance(config.get("vision_feature_layer", -1), list):
        raise UnsupportedModelError("vision_feature_layer in its config.json should be one layer with this tower.")
    return PixtralTower(config)

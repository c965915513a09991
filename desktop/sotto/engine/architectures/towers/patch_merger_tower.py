"""The vision towers of Qwen and GLM: images of any size as grids of patches, squares of which are merged into tokens.

- Qwen2-VL: layer norms, and attention among all patches.
- Qwen2.5-VL: RMS norms and gated products; attention within windows, but for a few layers.
- Qwen3-VL, Qwen 3.5: layer norms, and learned positions, interpolated from those of a fixed grid. Some layers of
  Qwen3-VL have mergers of their own, for what is added after the first layers of the language model.
- GLM-OCR: RMS norms, also of queries and keys, gated products, and a merger of several products.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.towers.patch_layers import Attention, Gated, Layer, Plain, run, turns_of
from sotto.engine.architectures.towers.patch_order import Grid, Windows, as_product, interpolated, patches_of
from sotto.engine.architectures.towers.tower import Features, Steps
from sotto.engine.vision.image_reader import ImageLayout
from sotto.engine.vision.patch_geometry import Geometry, geometry_of
from sotto.engine.vision.vision_values import whole
from sotto.errors import UnsupportedModelError
from sotto.store.printable import printable

# More than in any existing model. A config beyond that is damaged, or meant to exhaust the machine.
_WIDEST, _DEEPEST, _MOST_HEADS, _LARGEST_WINDOW, _MOST_PLACES = 1 << 16, 256, 256, 1 << 12, 1 << 16
_CHANNELS = 3
_BASE = 10000.0
_NORM_EPS = 1e-6
# What stands before the names of parameters in checkpoints, in mlx-community's folders and in Ollama's.
_ROOTS = ("model.visual.", "model.vision_tower.", "vision_tower.", "visual.")
# Looked up at each call, because native kernels replace some of MLX's functions.
_ACTIVATIONS: Mapping[str, Callable[[mx.array], mx.array]] = {
    "gelu": lambda x: nn.gelu(x),
    "gelu_pytorch_tanh": lambda x: nn.gelu_approx(x),
    "quick_gelu": lambda x: nn.gelu_fast_approx(x),
}


@dataclass(frozen=True, slots=True)
class _Sizes:
    """What a config says of a tower.

    Attributes:
        geometry: How an image is divided.
        width: Of hidden states.
        inner: Between the products of a layer.
        out: Of a row of features.
        depth: Number of layers.
        heads: Number of heads.
        base: Of the wavelengths of positions.
    """

    geometry: Geometry
    width: int
    inner: int
    out: int
    depth: int
    heads: int
    base: float

    @property
    def merged(self) -> int:
        """Values of all patches of a square."""
        return self.width * self.geometry.merge**2


class _PatchEmbed(nn.Module):  # type: ignore[misc]
    """The product that makes hidden states of patches."""

    def __init__(self, sizes: _Sizes, *, bias: bool) -> None:
        super().__init__()
        geometry = sizes.geometry
        self.proj = nn.Linear(geometry.frames * geometry.patch**2 * _CHANNELS, sizes.width, bias=bias)


class PatchTower(nn.Module):  # type: ignore[misc]
    """What all these towers have in common; see `Tower`."""

    def __init__(self, sizes: _Sizes, make_layer: Callable[[], Layer], *, bias: bool) -> None:
        """Build the module without its weights.

        Args:
            sizes: What its config says.
            make_layer: Makes one of its layers.
            bias: Whether the product that takes patches has a bias.
        """
        super().__init__()
        self.patch_embed = _PatchEmbed(sizes, bias=bias)
        self.blocks = [make_layer() for _ in range(sizes.depth)]
        self._sizes = sizes

    def steps(self, tiles: Sequence[mx.array], layout: ImageLayout) -> Steps:
        """Compute the features of an image, in parts."""
        (tile,) = tiles
        sizes, grid = self._sizes, Grid(*layout.grid, self._sizes.geometry.merge)
        order, windows = self._windows(grid)
        squares = partial(_by_squares, order=order, patches=grid.merge**2)
        # On a graphics processor, everything is computed in the type of the weights.
        tile = tile.astype(self.blocks[0].norm1.weight.dtype)
        patches = squares(grid.by_squares(patches_of(tile, sizes.geometry.patch)))
        x = self.patch_embed.proj(mx.tile(patches, (1, sizes.geometry.frames)))
        if (learned := self._places(grid)) is not None:
            x = x + squares(learned).astype(x.dtype)
        rows, columns = (squares(places) for places in grid.places())
        turns = turns_of(rows, columns, sizes.width // sizes.heads, sizes.base)
        yield x
        products = sizes.width * (4 * sizes.width + 3 * sizes.inner)
        deep = []
        for number, layer in enumerate(self.blocks):
            x = yield from run(layer, x, turns, self._seen(number, len(x), windows), products)
            if (added := self._deep(number, x)) is not None:
                deep.append(added)
                yield added
        merged = self._merged(x)
        return Features(merged if order is None else merged[mx.argsort(order)], tuple(deep))

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return weights by the names and with the shapes of the parameters."""
        found = {}
        for name, array in weights.items():
            root = next((root for root in _ROOTS if name.startswith(root)), "")
            # Patches have a few channels, and what is merged after the layers has as many as there are hidden states.
            channels = {5: _CHANNELS, 4: self._sizes.width}.get(array.ndim)
            found[name.removeprefix(root)] = as_product(array, channels) if channels else array
        return found

    def _windows(self, grid: Grid) -> tuple[mx.array | None, Windows]:
        """Return the order of squares, None for that of reading, and the windows of layers that have them."""
        return None, ()

    def _seen(self, number: int, patches: int, windows: Windows) -> Windows:
        """Return the windows of a layer in patches."""
        return [(1, patches)]

    def _places(self, grid: Grid) -> mx.array | None:
        """Return learned positions, [N, D]; None for none."""
        return None

    def _deep(self, number: int, x: mx.array) -> mx.array | None:
        """Return what a layer adds to the language model; None for nothing."""
        return None

    def _merged(self, x: mx.array) -> mx.array:
        """Return the rows of features, one for each square."""
        rows: mx.array = self.merger(x)
        return rows


class _Qwen2Merger(nn.Module):  # type: ignore[misc]
    """What merges squares in Qwen2-VL and Qwen2.5-VL."""

    def __init__(self, sizes: _Sizes, norm: nn.Module) -> None:
        super().__init__()
        self.ln_q = norm
        self.mlp = [nn.Linear(sizes.merged, sizes.merged), nn.GELU(), nn.Linear(sizes.merged, sizes.out)]
        self._width = sizes.merged

    def __call__(self, x: mx.array) -> mx.array:
        x = self.ln_q(x).reshape(-1, self._width)
        for part in self.mlp:
            x = part(x)
        return x


class Qwen2Tower(PatchTower):
    """The tower of Qwen2-VL; see `Tower`."""

    def __init__(self, sizes: _Sizes, vision: Mapping[str, Any]) -> None:
        """Build the module without its weights."""
        norm, activate = partial(nn.LayerNorm, sizes.width, eps=_NORM_EPS), _activation(vision, "quick_gelu")

        def make_layer() -> Layer:
            mlp = Plain(sizes.width, sizes.inner, activate, ("fc1", "fc2"))
            return Layer(norm, Attention(sizes.width, sizes.heads), mlp)

        super().__init__(sizes, make_layer, bias=False)
        self.merger = _Qwen2Merger(sizes, norm())


class Qwen25Tower(PatchTower):
    """The tower of Qwen2.5-VL; see `Tower`."""

    def __init__(self, sizes: _Sizes, vision: Mapping[str, Any]) -> None:
        """Build the module without its weights."""
        _must_gate(vision)
        norm = partial(nn.RMSNorm, sizes.width, eps=_NORM_EPS)

        def make_layer() -> Layer:
            return Layer(norm, Attention(sizes.width, sizes.heads), Gated(sizes.width, sizes.inner))

        super().__init__(sizes, make_layer, bias=False)
        self.merger = _Qwen2Merger(sizes, norm())
        self._everywhere = frozenset(_numbers(vision, "fullatt_block_indexes", (7, 15, 23, 31)))
        self._side = max(1, whole(vision, "window_size", 112, most=_LARGEST_WINDOW) // sizes.geometry.unit)

    def _windows(self, grid: Grid) -> tuple[mx.array | None, Windows]:
        return grid.windows(self._side)

    def _seen(self, number: int, patches: int, windows: Windows) -> Windows:
        if number in self._everywhere:
            return [(1, patches)]
        return [(count, squares * self._sizes.geometry.merge**2) for count, squares in windows]


class _Qwen3Merger(nn.Module):  # type: ignore[misc]
    """What merges squares in Qwen3-VL and Qwen 3.5."""

    def __init__(self, sizes: _Sizes, *, joins_first: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(sizes.merged if joins_first else sizes.width, eps=_NORM_EPS)
        self.linear_fc1 = nn.Linear(sizes.merged, sizes.merged)
        self.linear_fc2 = nn.Linear(sizes.merged, sizes.out)
        self._width, self._joins_first = sizes.merged, joins_first

    def __call__(self, x: mx.array) -> mx.array:
        joined = self.norm(x.reshape(-1, self._width)) if self._joins_first else self.norm(x).reshape(-1, self._width)
        y: mx.array = self.linear_fc2(nn.gelu(self.linear_fc1(joined)))
        return y


class Qwen3Tower(PatchTower):
    """The tower of Qwen3-VL and Qwen 3.5; see `Tower`."""

    def __init__(self, sizes: _Sizes, vision: Mapping[str, Any], indexes: Sequence[int]) -> None:
        """Build the module without its weights; `indexes` are those of layers with mergers unless the config says."""
        norm, activate = partial(nn.LayerNorm, sizes.width, eps=_NORM_EPS), _activation(vision, "gelu_pytorch_tanh")

        def make_layer() -> Layer:
            mlp = Plain(sizes.width, sizes.inner, activate, ("linear_fc1", "linear_fc2"))
            return Layer(norm, Attention(sizes.width, sizes.heads), mlp)

        super().__init__(sizes, make_layer, bias=True)
        self._side = math.isqrt(whole(vision, "num_position_embeddings", 2304, most=_MOST_PLACES))
        self.pos_embed = nn.Embedding(self._side**2, sizes.width)
        self.merger = _Qwen3Merger(sizes, joins_first=False)
        # What the last layers add is in the order of the config.
        self._indexes = _numbers(vision, "deepstack_visual_indexes", indexes)
        self.deepstack_merger_list = [_Qwen3Merger(sizes, joins_first=True) for _ in self._indexes]

    def _places(self, grid: Grid) -> mx.array | None:
        table = self.pos_embed.weight.astype(mx.float32).reshape(self._side, self._side, -1)
        return grid.by_squares(interpolated(table, grid.rows * grid.merge, grid.columns * grid.merge))

    def _deep(self, number: int, x: mx.array) -> mx.array | None:
        if number not in self._indexes:
            return None
        added: mx.array = self.deepstack_merger_list[self._indexes.index(number)](x)
        return added


class _GlmMerger(nn.Module):  # type: ignore[misc]
    """What follows the merging of squares in GLM-OCR."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.proj = nn.Linear(width, width, bias=False)
        self.post_projection_norm = nn.LayerNorm(width)
        self.gate_proj = nn.Linear(width, _CHANNELS * width, bias=False)
        self.up_proj = nn.Linear(width, _CHANNELS * width, bias=False)
        self.down_proj = nn.Linear(_CHANNELS * width, width, bias=False)

    def __call__(self, x: mx.array) -> mx.array:
        x = nn.gelu(self.post_projection_norm(self.proj(x)))
        y: mx.array = self.down_proj(nn.silu(self.gate_proj(x)) * self.up_proj(x))
        return y


class GlmTower(PatchTower):
    """The tower of GLM-OCR; see `Tower`."""

    def __init__(self, sizes: _Sizes, vision: Mapping[str, Any]) -> None:
        """Build the module without its weights."""
        _must_gate(vision)
        eps, bias = float(vision.get("rms_norm_eps", 1e-5)), bool(vision.get("attention_bias", True))
        norm = partial(nn.RMSNorm, sizes.width, eps=eps)

        def make_layer() -> Layer:
            attention = Attention(sizes.width, sizes.heads, bias=bias, norm_eps=eps)
            return Layer(norm, attention, Gated(sizes.width, sizes.inner, bias=bias))

        super().__init__(sizes, make_layer, bias=True)
        self.post_layernorm = norm()
        self.downsample = nn.Linear(sizes.merged, sizes.out)
        self.merger = _GlmMerger(sizes.out)

    def _merged(self, x: mx.array) -> mx.array:
        joined = self.post_layernorm(x).reshape(-1, self._sizes.merged)
        rows: mx.array = self.merger(self.downsample(joined))
        return rows


def make_tower(config: Mapping[str, Any]) -> PatchTower | None:
    """Return a model's tower without its weights; None if it has none, as models of the same type for text alone.

    Raises:
        UnsupportedModelError: The config asks for something that it does not do.
    """
    geometry, kind = geometry_of(config), config["model_type"]
    if geometry is None:
        return None
    vision = config["vision_config"]
    for key in ("in_channels", "in_chans"):
        if vision.get(key, _CHANNELS) != _CHANNELS:
            raise UnsupportedModelError(f"{key} of its vision should be {_CHANNELS}, for red, green and blue.")
    if kind == "qwen2_vl":
        width = whole(vision, "embed_dim", 1280, most=_WIDEST)
        ratio = whole(vision, "mlp_ratio", 4, most=16)
        return Qwen2Tower(_sizes(vision, geometry, width, width * ratio, "hidden_size", 32), vision)
    if kind == "qwen2_5_vl":
        return Qwen25Tower(_usual_sizes(vision, geometry, 1280, 3420, 32), vision)
    if kind == "glm_ocr":
        return GlmTower(_usual_sizes(vision, geometry, 1024, 4096, 24), vision)
    deep = (8, 16, 24) if kind in ("qwen3_vl", "qwen3_vl_moe") else ()
    return Qwen3Tower(_usual_sizes(vision, geometry, 1152, 4304, 27), vision, deep)


def _usual_sizes(vision: Mapping[str, Any], geometry: Geometry, width: int, inner: int, depth: int) -> _Sizes:
    """Return the sizes of a tower; those given are for configs that do not say."""
    width = whole(vision, "hidden_size", width, most=_WIDEST)
    inner = whole(vision, "intermediate_size", inner, most=_WIDEST)
    return _sizes(vision, geometry, width, inner, "out_hidden_size", depth)


def _sizes(vision: Mapping[str, Any], geometry: Geometry, width: int, inner: int, out: str, depth: int) -> _Sizes:
    heads = whole(vision, "num_heads", 16, most=_MOST_HEADS)
    if width % (4 * heads):
        raise UnsupportedModelError(
            f"num_heads of its vision is {heads}, among which {width} values cannot be divided in fours."
        )
    rope = vision.get("rope_parameters")
    base = rope.get("rope_theta", _BASE) if isinstance(rope, Mapping) else _BASE
    out_width, layers = whole(vision, out, 3584, most=_WIDEST), whole(vision, "depth", depth, most=_DEEPEST)
    return _Sizes(geometry, width, inner, out_width, layers, heads, float(base))


def _activation(vision: Mapping[str, Any], usual: str) -> Callable[[mx.array], mx.array]:
    name = vision.get("hidden_act", usual)
    if name not in _ACTIVATIONS:
        raise UnsupportedModelError(
            f"hidden_act of its vision is {printable(str(name)[:40])}; it should be one of {', '.join(_ACTIVATIONS)}."
        )
    return _ACTIVATIONS[name]


def _must_gate(vision: Mapping[str, Any]) -> None:
    name = vision.get("hidden_act", "silu")
    if name != "silu":
        raise UnsupportedModelError(f"hidden_act of its vision is {printable(str(name)[:40])}; it should be silu.")


def _numbers(vision: Mapping[str, Any], key: str, usual: Sequence[int]) -> list[int]:
    found = vision.get(key)
    found = list(usual) if found is None else found
    if not isinstance(found, list) or len(found) > _DEEPEST or not all(type(number) is int for number in found):
        raise UnsupportedModelError(f"{key} of its vision should be a list of the numbers of layers.")
    return found


def _by_squares(x: mx.array, order: mx.array | None, patches: int) -> mx.array:
    """Return what belongs to patches [N, ...], with their squares in another order."""
    return x if order is None else x.reshape(-1, patches, *x.shape[1:])[order].reshape(x.shape)

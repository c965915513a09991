"""The vision tower of Gemma 4: patches with positions on two axes, averaged in squares, normalised and projected."""

from collections.abc import Mapping
from collections.abc import Sequence as Series
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.definitions.activation import activation
from sotto.engine.architectures.towers.gemma4_unified import Embedder, UnifiedTower
from sotto.engine.architectures.towers.patch_order import patches_in_rows
from sotto.engine.architectures.towers.stepping import attend, encode, in_type_of, widened
from sotto.engine.architectures.towers.tower import Features, Steps, Tower
from sotto.engine.vision.image_reader import ImageLayout
from sotto.engine.vision.vision_values import flag, part, real, vision_of, whole
from sotto.errors import UnsupportedModelError
from sotto.store.printable import printable

_CHANNELS = 3
_AXES = 2
_WIDTH = 2304
_THETA = 100.0
_UNIFIED = "gemma4_unified"


@dataclass(frozen=True, slots=True)
class Gemma4Args:
    """The shape of an encoder, as `vision_config` writes it."""

    width: int
    inner: int
    layers: int
    heads: int
    shared_heads: int
    head: int
    patch: int
    pooled: int
    positions: int
    eps: float
    theta: float
    activation: str
    clips: bool
    standardizes: bool

    @classmethod
    def of(cls, vision: Mapping[str, Any]) -> "Gemma4Args":
        """Read the part `vision_config` of a config.

        Raises:
            UnsupportedModelError: It describes no encoder of this kind.
        """
        rotary = part(vision, "rope_parameters")
        heads = whole(vision, "num_attention_heads", 12)
        args = cls(
            width=whole(vision, "hidden_size", 768),
            inner=whole(vision, "intermediate_size", 3072),
            layers=whole(vision, "num_hidden_layers", 16, most=4096),
            heads=heads,
            shared_heads=whole(vision, "num_key_value_heads", 12),
            head=whole(vision, "head_dim", 64),
            patch=whole(vision, "patch_size", 16, most=1024),
            pooled=whole(vision, "pooling_kernel_size", 3, most=64),
            positions=whole(vision, "position_embedding_size", 10240),
            eps=real(vision, "rms_norm_eps", 1e-6),
            theta=real(rotary, "rope_theta", _THETA),
            activation=str(vision.get("hidden_activation") or "gelu_pytorch_tanh"),
            clips=flag(vision, "use_clipped_linears", False),
            standardizes=flag(vision, "standardize", False),
        )
        if (kind := rotary.get("rope_type", "axial")) not in ("axial", "default"):
            raise UnsupportedModelError(f"The positions of its vision are scaled by {printable(str(kind))!r}.")
        if args.head % (2 * _AXES) or args.heads % args.shared_heads:
            raise UnsupportedModelError(
                f"The heads of its vision should have a multiple of {2 * _AXES} values, and as many queries for each "
                "key."
            )
        return args

    def products(self, rows: int) -> int:
        """Return how many multiplications a layer takes for each of so many rows."""
        queries, keys = self.heads * self.head, self.shared_heads * self.head
        return self.width * (2 * queries + 2 * keys + 3 * self.inner) + 2 * rows * queries


class Clipped(nn.Module):  # type: ignore[misc]
    """A product whose inputs and outputs may be limited."""

    def __init__(self, inputs: int, outputs: int, args: Gemma4Args) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self._clips = args.clips
        if args.clips:
            self.input_min, self.input_max = mx.array(-mx.inf), mx.array(mx.inf)
            self.output_min, self.output_max = mx.array(-mx.inf), mx.array(mx.inf)

    def __call__(self, x: mx.array) -> mx.array:
        """Return [..., outputs] for [..., inputs]."""
        if not self._clips:
            plain: mx.array = self.linear(x)
            return plain
        return mx.clip(self.linear(mx.clip(x, self.input_min, self.input_max)), self.output_min, self.output_max)


class Attention(nn.Module):  # type: ignore[misc]
    """Attention among all patches, with positions that rotate one half of each head by columns, the other by rows."""

    def __init__(self, args: Gemma4Args) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._args = args
        self.q_proj = Clipped(args.width, args.heads * args.head, args)
        self.k_proj = Clipped(args.width, args.shared_heads * args.head, args)
        self.v_proj = Clipped(args.width, args.shared_heads * args.head, args)
        self.o_proj = Clipped(args.heads * args.head, args.width, args)
        self.q_norm = nn.RMSNorm(args.head, args.eps)
        self.k_norm = nn.RMSNorm(args.head, args.eps)

    def keys_and_values(self, x: mx.array, cos: mx.array, sin: mx.array) -> tuple[mx.array, mx.array]:
        """Return keys and values [1, H, n, _] of hidden states [1, n, width]."""
        keys = _rotated(self.k_norm(self._by_head(self.k_proj(x))), cos, sin)
        values = mx.fast.rms_norm(self._by_head(self.v_proj(x)), None, self._args.eps)
        return widened(keys), widened(values)

    def __call__(self, x: mx.array, keys: mx.array, values: mx.array, cos: mx.array, sin: mx.array) -> mx.array:
        """Return what hidden states [1, n, width] attend to, [1, n, width]."""
        queries = _rotated(self.q_norm(self._by_head(self.q_proj(x))), cos, sin)
        output: mx.array = self.o_proj(attend(queries, keys, values, 1.0))
        return output

    def _by_head(self, x: mx.array) -> mx.array:
        return x.reshape(*x.shape[:2], -1, self._args.head).transpose(0, 2, 1, 3)


class FeedForward(nn.Module):  # type: ignore[misc]
    """A gated product."""

    def __init__(self, args: Gemma4Args) -> None:
        """Build the module without its weights.

        Raises:
            ValueError: There is no activation of that name.
        """
        super().__init__()
        self._activate = activation(args.activation)
        self.gate_proj = Clipped(args.width, args.inner, args)
        self.up_proj = Clipped(args.width, args.inner, args)
        self.down_proj = Clipped(args.inner, args.width, args)

    def __call__(self, x: mx.array) -> mx.array:
        """Return [1, n, width] for hidden states [1, n, width]."""
        output: mx.array = self.down_proj(self._activate(self.gate_proj(x)) * self.up_proj(x))
        return output


class Layer(nn.Module):  # type: ignore[misc]
    """Attention and the feed-forward part, each between two norms."""

    def __init__(self, args: Gemma4Args) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.self_attn = Attention(args)
        self.mlp = FeedForward(args)
        self.input_layernorm = nn.RMSNorm(args.width, args.eps)
        self.post_attention_layernorm = nn.RMSNorm(args.width, args.eps)
        self.pre_feedforward_layernorm = nn.RMSNorm(args.width, args.eps)
        self.post_feedforward_layernorm = nn.RMSNorm(args.width, args.eps)

    def keys_and_values(self, x: mx.array, cos: mx.array, sin: mx.array) -> tuple[mx.array, mx.array]:
        """Return keys and values of some of the rows."""
        found: tuple[mx.array, mx.array] = self.self_attn.keys_and_values(self.input_layernorm(x), cos, sin)
        return found

    def __call__(self, x: mx.array, keys: mx.array, values: mx.array, cos: mx.array, sin: mx.array) -> mx.array:
        """Return what some of the rows become."""
        attended = self.self_attn(self.input_layernorm(x), keys, values, cos, sin)
        x = x + self.post_attention_layernorm(attended)
        output: mx.array = x + self.post_feedforward_layernorm(self.mlp(self.pre_feedforward_layernorm(x)))
        return output


class PatchEmbedder(nn.Module):  # type: ignore[misc]
    """Patches and the positions of their columns and rows."""

    def __init__(self, args: Gemma4Args) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._patch = args.patch
        self.input_proj = nn.Linear(_CHANNELS * args.patch**2, args.width, bias=False)
        self.position_embedding_table = mx.zeros((_AXES, args.positions, args.width))

    def __call__(self, tile: mx.array, columns: mx.array, rows: mx.array) -> mx.array:
        """Return the hidden states [1, N, width] of an image [H, W, 3], given the places [N] of its patches."""
        of_columns, of_rows = self.position_embedding_table
        embedded: mx.array = self.input_proj(patches_in_rows(tile, self._patch))
        return (embedded + of_columns[columns] + of_rows[rows])[None]


class Encoder(nn.Module):  # type: ignore[misc]
    """The layers."""

    def __init__(self, args: Gemma4Args) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.layers = [Layer(args) for _ in range(args.layers)]


class VisionModel(nn.Module):  # type: ignore[misc]
    """The tower without its projector."""

    def __init__(self, args: Gemma4Args) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.patch_embedder = PatchEmbedder(args)
        self.encoder = Encoder(args)
        if args.standardizes:
            self.std_bias, self.std_scale = mx.zeros((args.width,)), mx.ones((args.width,))


class Gemma4Tower(nn.Module):  # type: ignore[misc]
    """The tower and its projector."""

    def __init__(self, args: Gemma4Args, output: int) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._args = args
        self.vision_tower = VisionModel(args)
        self.embed_vision = Embedder(args.width, output, args.eps)

    def steps(self, tiles: Series[mx.array], layout: ImageLayout) -> Steps:
        """Compute the features of an image, in parts."""
        args, model, size = self._args, self.vision_tower, self._args.pooled
        height, width = (side // args.patch for side in tiles[0].shape[:2])
        # Pixels from 0 to 1 become -1 to 1.
        tile = in_type_of(2 * tiles[0] - 1, model.encoder.layers[0].input_layernorm.weight)
        places = mx.arange(height * width)
        columns, rows = places % width, places // width
        x = yield from encode(
            model.encoder.layers,
            model.patch_embedder(tile, columns, rows),
            args.products(height * width),
            *_rotations(args, columns, rows),
        )
        squares = x.reshape(height // size, size, width // size, size, -1).mean(axis=(1, 3))
        # In 32 bits, as the factor may take values beyond those of 16 bits.
        pooled = squares.reshape(-1, args.width).astype(mx.float32) * args.width**0.5
        if args.standardizes:
            pooled = (pooled - model.std_bias) * model.std_scale
        return Features(self.embed_vision(pooled.astype(x.dtype)))

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return a checkpoint's weights by the names of the tower's parameters."""
        return {name.removeprefix("model."): array for name, array in weights.items()}


def make_tower(config: Mapping[str, Any]) -> Tower:
    """Return the tower of a model without its weights.

    Raises:
        UnsupportedModelError: Its config describes no tower of this kind.
    """
    vision, output = vision_of(config), whole(part(config, "text_config"), "hidden_size", _WIDTH)
    if config.get("model_type") == _UNIFIED:
        return UnifiedTower(vision, output)
    return Gemma4Tower(Gemma4Args.of(vision), output)


def _rotations(args: Gemma4Args, columns: mx.array, rows: mx.array) -> tuple[mx.array, mx.array]:
    """Return cosines and sines of the angles for patches, [2, N, D / 4]: by columns and by rows."""
    half = args.head // _AXES
    frequencies = args.theta ** (-mx.arange(0, half, 2) / half)
    angles = mx.stack([columns, rows])[..., None] * frequencies
    return mx.cos(angles), mx.sin(angles)


def _rotated(x: mx.array, cos: mx.array, sin: mx.array) -> mx.array:
    """Return queries or keys [1, H, n, D] with each half rotated, its first and second quarters as pairs."""
    first, second = x.reshape(*x.shape[:3], _AXES, 2, -1).transpose(4, 0, 1, 3, 2, 5)
    turned = mx.stack([first * cos - second * sin, second * cos + first * sin], axis=-2)
    return turned.transpose(0, 1, 3, 2, 4, 5).reshape(x.shape).astype(x.dtype)

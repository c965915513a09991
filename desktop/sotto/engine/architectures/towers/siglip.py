"""SigLIP, the vision transformer of many families: patches, learned positions, and layers that see all patches.

As in "Sigmoid Loss for Language Image Pre-Training" (arXiv 2303.15343). The pooling head, which some checkpoints hold,
is not used by any of those families.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.definitions.activation import activation
from sotto.engine.architectures.towers.patch_order import as_product, patches_in_rows
from sotto.engine.architectures.towers.stepping import attend, encode, widened
from sotto.engine.vision.vision_values import real, whole
from sotto.errors import UnsupportedModelError

_CHANNELS = 3
_PREFIX = "vision_tower."
_INNER = "vision_model."


@dataclass(frozen=True, slots=True)
class SiglipArgs:
    """The shape of an encoder, as `vision_config` writes it.

    Attributes:
        width: Of the hidden states.
        inner: Width within the feed-forward part.
        layers: How many layers.
        heads: How many heads of attention.
        patch: Pixels along each side of a patch.
        positions: How many positions were learned.
        eps: What norms add to the variance.
        activation: The activation of the feed-forward part.
    """

    width: int
    inner: int
    layers: int
    heads: int
    patch: int
    positions: int
    eps: float
    activation: str

    @classmethod
    def of(cls, vision: Mapping[str, Any], positions: int) -> "SiglipArgs":
        """Read the part `vision_config` of a config.

        Args:
            vision: The part of the config.
            positions: How many positions were learned.

        Raises:
            UnsupportedModelError: It describes no encoder of this kind.
        """
        width, heads = whole(vision, "hidden_size", 768), whole(vision, "num_attention_heads", 12)
        if width % heads:
            raise UnsupportedModelError(
                f"hidden_size of its vision is {width}; it should be a multiple of its {heads} heads of attention."
            )
        if whole(vision, "num_channels", _CHANNELS) != _CHANNELS:
            raise UnsupportedModelError(f"num_channels of its vision should be {_CHANNELS}: red, green and blue.")
        return cls(
            width=width,
            inner=whole(vision, "intermediate_size", 3072),
            layers=whole(vision, "num_hidden_layers", 12, most=4096),
            heads=heads,
            patch=whole(vision, "patch_size", 16, most=1024),
            positions=positions,
            eps=real(vision, "layer_norm_eps", 1e-6),
            activation=str(vision.get("hidden_act") or "gelu_pytorch_tanh"),
        )

    def products(self, rows: int) -> int:
        """Return how many multiplications a layer takes for each of so many rows."""
        return self.width * (4 * self.width + 2 * self.inner + 2 * rows)


class Attention(nn.Module):  # type: ignore[misc]
    """Attention among all patches."""

    def __init__(self, args: SiglipArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._heads, self._scale = args.heads, (args.width // args.heads) ** -0.5
        self.q_proj = nn.Linear(args.width, args.width)
        self.k_proj = nn.Linear(args.width, args.width)
        self.v_proj = nn.Linear(args.width, args.width)
        self.out_proj = nn.Linear(args.width, args.width)

    def keys_and_values(self, x: mx.array) -> tuple[mx.array, mx.array]:
        """Return keys and values [1, H, n, _] of hidden states [1, n, D]."""
        return widened(self._by_head(self.k_proj(x))), widened(self._by_head(self.v_proj(x)))

    def __call__(self, x: mx.array, keys: mx.array, values: mx.array) -> mx.array:
        """Return what hidden states [1, n, D] attend to, [1, n, D]."""
        output: mx.array = self.out_proj(attend(self._by_head(self.q_proj(x)), keys, values, self._scale))
        return output

    def _by_head(self, x: mx.array) -> mx.array:
        return x.reshape(*x.shape[:2], self._heads, -1).transpose(0, 2, 1, 3)


class FeedForward(nn.Module):  # type: ignore[misc]
    """Two products with an activation between them."""

    def __init__(self, args: SiglipArgs) -> None:
        """Build the module without its weights.

        Raises:
            ValueError: There is no activation of that name.
        """
        super().__init__()
        self._activate = activation(args.activation)
        self.fc1 = nn.Linear(args.width, args.inner)
        self.fc2 = nn.Linear(args.inner, args.width)

    def __call__(self, x: mx.array) -> mx.array:
        """Return [1, n, D] for hidden states [1, n, D]."""
        output: mx.array = self.fc2(self._activate(self.fc1(x)))
        return output


class Layer(nn.Module):  # type: ignore[misc]
    """Attention, followed by the feed-forward part."""

    def __init__(self, args: SiglipArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.layer_norm1 = nn.LayerNorm(args.width, eps=args.eps)
        self.self_attn = Attention(args)
        self.layer_norm2 = nn.LayerNorm(args.width, eps=args.eps)
        self.mlp = FeedForward(args)

    def keys_and_values(self, x: mx.array) -> tuple[mx.array, mx.array]:
        """Return keys and values of some of the rows."""
        found: tuple[mx.array, mx.array] = self.self_attn.keys_and_values(self.layer_norm1(x))
        return found

    def __call__(self, x: mx.array, keys: mx.array, values: mx.array) -> mx.array:
        """Return what some of the rows become."""
        x = x + self.self_attn(self.layer_norm1(x), keys, values)
        output: mx.array = x + self.mlp(self.layer_norm2(x))
        return output


class Encoder(nn.Module):  # type: ignore[misc]
    """The layers."""

    def __init__(self, args: SiglipArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._args = args
        self.layers = [Layer(args) for _ in range(args.layers)]

    def steps(self, x: mx.array, first: int = 0, last: int | None = None) -> Generator[mx.array, None, mx.array]:
        """Compute layers `first` to `last`, or to the end, and return the hidden states after them, [1, N, D]."""
        return encode(self.layers[first:last], x, self._args.products(x.shape[1]))


class Embeddings(nn.Module):  # type: ignore[misc]
    """Patches and their positions. The patches are multiplied by a matrix, which is what the convolution does."""

    def __init__(self, args: SiglipArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._patch, self._positions = args.patch, args.positions
        self.patch_embedding = nn.Linear(_CHANNELS * args.patch**2, args.width)
        self.position_embedding = nn.Embedding(args.positions, args.width)

    def patches(self, tile: mx.array) -> mx.array:
        """Return the embeddings [1, N, D] of the patches of a piece [H, W, 3], without their positions."""
        # On a graphics processor, everything is computed in the type of the weights.
        patches = patches_in_rows(tile, self._patch).astype(self.patch_embedding.bias.dtype)
        embedded: mx.array = self.patch_embedding(patches)[None]
        return embedded

    @property
    def positions(self) -> mx.array:
        """The embeddings [N, D] of the positions that were learned."""
        embedded: mx.array = self.position_embedding(mx.arange(self._positions))
        return embedded

    def __call__(self, tile: mx.array) -> mx.array:
        """Return the hidden states [1, N, D] of a piece [H, W, 3] with as many patches as there are positions."""
        x = self.patches(tile)
        return x + self.positions.astype(x.dtype)


class SiglipModel(nn.Module):  # type: ignore[misc]
    """The encoder with its embeddings and its last norm."""

    def __init__(self, args: SiglipArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.embeddings = Embeddings(args)
        self.encoder = Encoder(args)
        self.post_layernorm = nn.LayerNorm(args.width, eps=args.eps)

    def steps(self, hidden: mx.array) -> Generator[mx.array, None, mx.array]:
        """Return the normalised hidden states [1, N, D] after the last layer, given those before the first."""
        steps = self.encoder.steps(hidden)
        # Only the steps hold them, so that their memory is free after the first layer.
        del hidden
        normed: mx.array = self.post_layernorm((yield from steps))
        return normed


class SiglipTower(nn.Module):  # type: ignore[misc]
    """The place of the model in the names of checkpoints: `vision_tower.vision_model`."""

    def __init__(self, args: SiglipArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.vision_model = SiglipModel(args)


def sanitize(weights: Mapping[str, mx.array]) -> dict[str, mx.array]:
    """Return a checkpoint's weights of a `SiglipTower` and of what follows it, by their names here.

    Names may begin with `model.` and lack `vision_model.`. A convolution for patches may be in PyTorch's layout or in
    MLX's. The pooling head is left out.
    """
    found = {}
    for stored, array in weights.items():
        name = stored.removeprefix("model.")
        if name.startswith(_PREFIX):
            name = name.removeprefix(_PREFIX).removeprefix(_INNER)
            if name.startswith("head.") or name.endswith("position_ids"):
                continue
            if name == "embeddings.patch_embedding.weight":
                array = as_product(array)
            name = f"{_PREFIX}{_INNER}{name}"
        found[name] = array
    return found

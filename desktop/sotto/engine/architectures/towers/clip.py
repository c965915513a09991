"""The vision encoders CLIP and SigLIP, which differ in little: a token for the whole, a norm before, and biases."""

from collections.abc import Generator, Mapping
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.towers.pace import as_product, encode, patches_of
from sotto.errors import UnsupportedModelError
from sotto.store.printable import printable

_CLIP, _SIGLIP = "clip_vision_model", "siglip_vision_model"
# What transformers takes for keys that are missing from a config.
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    _CLIP: {
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "image_size": 336,
        "patch_size": 14,
        "hidden_act": "quick_gelu",
        "layer_norm_eps": 1e-5,
    },
    _SIGLIP: {
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "image_size": 224,
        "patch_size": 16,
        "hidden_act": "gelu_pytorch_tanh",
        "layer_norm_eps": 1e-6,
    },
}
_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_pytorch_tanh": "gelu_approx",
    "quick_gelu": "gelu_fast_approx",
    "relu": "relu",
    "silu": "silu",
}
# Larger than in any existing tower.
_MOST = {"num_hidden_layers": 256}
_MOST_OF_OTHERS = 1 << 16

Hidden = Generator[mx.array, None, list[mx.array]]
"""The work of an encoder on a tile: yields arrays to evaluate, and returns hidden states [N, D]."""


def activation(name: Any) -> str:
    """Return the name of the function of `mlx.nn` that computes an activation.

    Raises:
        UnsupportedModelError: There is none.
    """
    if name not in _ACTIVATIONS:
        raise UnsupportedModelError(
            f"Its vision tower has the activation {printable(str(name)[:40])!r}, which is not supported."
        )
    return _ACTIVATIONS[name]


def checked(config: Mapping[str, Any], key: str, default: int | None = None) -> int:
    """Return a size from a config.

    Raises:
        UnsupportedModelError: It is no whole number, or larger than in any tower.
    """
    value, most = config.get(key, default), _MOST.get(key, _MOST_OF_OTHERS)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= most:
        raise UnsupportedModelError(f"{key} of the vision tower in its config.json should be from 1 to {most:,}.")
    return value


class Attention(nn.Module):  # type: ignore[misc]
    """Attention of all patches to all."""

    def __init__(self, width: int, heads: int) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._heads, self._scale = heads, (width // heads) ** -0.5
        self.q_proj = nn.Linear(width, width)
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.out_proj = nn.Linear(width, width)

    def keys_and_values(self, x: mx.array) -> tuple[mx.array, mx.array]:
        """Return keys and values [1, H, N, D / H] of rows [1, N, D]."""
        return by_head(self.k_proj(x), self._heads), by_head(self.v_proj(x), self._heads)

    def __call__(self, x: mx.array, keys: mx.array, values: mx.array) -> mx.array:
        """Return the attention of some rows `x` [1, n, D] to all keys and values."""
        queries = by_head(self.q_proj(x), self._heads)
        seen = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=self._scale)
        found: mx.array = self.out_proj(seen.swapaxes(1, 2).reshape(x.shape))
        return found


class MLP(nn.Module):  # type: ignore[misc]
    """The feed-forward part of a layer."""

    def __init__(self, width: int, inner: int, name: str) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._activation = activation(name)
        self.fc1 = nn.Linear(width, inner)
        self.fc2 = nn.Linear(inner, width)

    def __call__(self, x: mx.array) -> mx.array:
        """Return what is added to `x`."""
        found: mx.array = self.fc2(getattr(nn, self._activation)(self.fc1(x)))
        return found


class Layer(nn.Module):  # type: ignore[misc]
    """A layer of the encoder."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Build the module without its weights."""
        super().__init__()
        width, inner = checked(config, "hidden_size"), checked(config, "intermediate_size")
        self.layer_norm1 = nn.LayerNorm(width, eps=config["layer_norm_eps"])
        self.self_attn = Attention(width, checked(config, "num_attention_heads"))
        self.layer_norm2 = nn.LayerNorm(width, eps=config["layer_norm_eps"])
        self.mlp = MLP(width, inner, config["hidden_act"])

    def keys_and_values(self, x: mx.array, *_: mx.array) -> tuple[mx.array, mx.array]:
        """Return the keys and values of all rows [1, N, D]."""
        found: tuple[mx.array, mx.array] = self.self_attn.keys_and_values(self.layer_norm1(x))
        return found

    def __call__(self, x: mx.array, keys: mx.array, values: mx.array, *_: mx.array) -> mx.array:
        """Return what some rows [1, n, D] become."""
        x = x + self.self_attn(self.layer_norm1(x), keys, values)
        found: mx.array = x + self.mlp(self.layer_norm2(x))
        return found


class Embeddings(nn.Module):  # type: ignore[misc]
    """From patches to the first hidden states."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._side = checked(config, "patch_size")
        width, self._grid = checked(config, "hidden_size"), checked(config, "image_size") // self._side
        is_clip = config["model_type"] == _CLIP
        self.patch_embedding = nn.Linear(self._side * self._side * 3, width, bias=not is_clip)
        if is_clip:
            self.class_embedding = mx.zeros(width)
        self.position_embedding = nn.Embedding(self._grid * self._grid + is_clip, width)

    def __call__(self, tile: mx.array, dtype: mx.Dtype) -> mx.array:
        """Return the first hidden states [N, D] of a tile [H, W, 3]."""
        x = self.patch_embedding(patches_of(tile, self._side).astype(dtype))
        if "class_embedding" in self:
            x = mx.concatenate([self.class_embedding[None].astype(x.dtype), x])
            return self._placed(x, mx.arange(len(x)))
        # A tile that is smaller than the tower was made for takes positions at the same places in it.
        down, across = tile.shape[0] // self._side, tile.shape[1] // self._side
        rows, columns = (mx.arange(count) * self._grid // count for count in (down, across))
        return self._placed(x, (rows[:, None] * self._grid + columns).flatten())

    def _placed(self, x: mx.array, places: mx.array) -> mx.array:
        found: mx.array = x + self.position_embedding(places)
        return found


class Encoder(nn.Module):  # type: ignore[misc]
    """The layers of the encoder."""

    def __init__(self, config: Mapping[str, Any], depth: int) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.layers = [Layer(config) for _ in range(depth)]


class VisionEncoder(nn.Module):  # type: ignore[misc]
    """CLIP or SigLIP up to the last layer whose hidden states are wanted."""

    def __init__(self, config: Mapping[str, Any], taps: Series[int], *, ends_in_norm: bool = False) -> None:
        """Build the module without its weights.

        Args:
            config: The config of the tower, with all keys, see `encoder_config`.
            taps: After how many layers hidden states are wanted.
            ends_in_norm: Whether they are normalised then.
        """
        super().__init__()
        self._taps = taps
        width, eps = checked(config, "hidden_size"), config["layer_norm_eps"]
        # Multiplications of a layer for each row, without those of the scores.
        self._cost = 2 * width * (2 * width + checked(config, "intermediate_size"))
        self.embeddings = Embeddings(config)
        if config["model_type"] == _CLIP:
            self.pre_layrnorm = nn.LayerNorm(width, eps=eps)
        self.encoder = Encoder(config, max(taps))
        if ends_in_norm:
            self.post_layernorm = nn.LayerNorm(width, eps=eps)

    def steps(self, tile: mx.array) -> Hidden:
        """Compute the hidden states [N, D] of a tile [H, W, 3] after the wanted layers."""
        x = self.embeddings(tile, self._dtype)[None]
        if "pre_layrnorm" in self:
            x = self.pre_layrnorm(x)
        done, found = 0, {0: x}
        for tap in sorted(set(self._taps)):
            x = yield from encode(self.encoder.layers[done:tap], x, self._cost + 2 * x.shape[1] * x.shape[2])
            done, found[tap] = tap, x
        if "post_layernorm" in self:
            found = {tap: self.post_layernorm(x) for tap, x in found.items()}
        return [found[tap][0] for tap in self._taps]

    @property
    def _dtype(self) -> mx.Dtype:
        """The type of the activations: that of vectors, which are never stored in other types than these."""
        embeddings = self.embeddings
        vector = embeddings.get("class_embedding", embeddings.patch_embedding.get("bias"))
        dtype: mx.Dtype = vector.dtype
        return dtype


def by_head(x: mx.array, heads: int) -> mx.array:
    """Return rows [1, N, D] by heads, [1, H, N, D / H]."""
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def encoder_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config of the tower of a model, with all keys that are read here.

    Raises:
        UnsupportedModelError: The tower is of another kind, or its attention does not divide evenly.
    """
    written = config.get("vision_config") or {}
    kind = written.get("model_type") or _CLIP
    # Idefics 3 and SmolVLM have SigLIP under names of their own.
    known = _SIGLIP if kind in ("idefics3", "idefics3_vision", "smolvlm_vision") else kind
    if known not in _DEFAULTS:
        raise UnsupportedModelError(f"Vision towers of type {printable(str(kind)[:40])!r} are not supported here.")
    found = {**_DEFAULTS[known], **{key: value for key, value in written.items() if value is not None}}
    found["model_type"] = known
    if checked(found, "hidden_size") % checked(found, "num_attention_heads"):
        raise UnsupportedModelError("hidden_size of the vision tower in its config.json should divide among its heads.")
    if found.get("num_channels", 3) != 3:
        raise UnsupportedModelError("num_channels of the vision tower in its config.json should be 3.")
    return found


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


def sanitize_encoder(weights: Mapping[str, mx.array], root: str, tower: nn.Module) -> dict[str, mx.array]:
    """Return the weights of an encoder by the names of its parameters.

    What is left out belongs to layers after the last that is computed, and to heads for other uses.

    Args:
        weights: By name, without `model.` before it.
        root: How the names of the encoder begin.
        tower: The encoder.
    """
    depth, found = len(tower.encoder.layers), {}
    for name, array in weights.items():
        if not name.startswith(f"{root}."):
            continue
        part = name.removeprefix(f"{root}.").removeprefix("vision_model.")
        layer = part.removeprefix("encoder.layers.").partition(".")[0]
        beyond = part.startswith("encoder.layers.") and layer.isdecimal() and int(layer) >= depth
        other = part.startswith("head.") or part.endswith("position_ids")
        if beyond or other or (part.startswith("post_layernorm.") and "post_layernorm" not in tower):
            continue
        found[f"{root}.{part}"] = as_product(array) if part == "embeddings.patch_embedding.weight" else array
    return found

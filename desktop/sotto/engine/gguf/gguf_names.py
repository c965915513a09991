"""Translation of tensor names between GGUF files and model definitions, and which tensors need rearranging.

The names are those of https://github.com/ggml-org/llama.cpp (gguf-py/gguf/constants.py).
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from sotto.engine.gguf.family_names import FAMILIES, PLAIN

# The ending may be missing.
_BLOCK = re.compile(r"blk\.(\d+)\.(.+?)(?:\.(weight|bias|scale))?")
# RoPE factors, which the config has as well, and tensors for images (see `tower_recipes`) and sound.
_IGNORED_PREFIXES = (
    "rope_freqs.", "rope_factors_long.", "rope_factors_short.", "v.", "a.", "mm.", "model.image_newline"
)  # fmt: skip

# The two halves of a projection from latent keys and values, which definitions have as one.
LATENT_KEYS, LATENT_VALUES = re.compile(r"blk\.(\d+)\.attn_k_b\.weight"), ".attn_v_b.weight"
# Not rounded, because small differences change which experts are chosen, or add up in a state.
UNROUNDED = (".e_score_correction_bias", ".expert_bias", ".A_log")

# The language model in a model that sees.
_INSIDE = "language_model."
# The arrays of a layer in a definition, quantized or not.
_PARTS = frozenset({"weight", "bias", "scales", "biases"})
_LAYER = re.compile(r"(?:[a-z_]+\.)*?layers\.(\d+)\.(.+)")
# llama.cpp's converter interleaves the rows of the two halves of each head of these model types.
_INTERLEAVED = frozenset({"granite", "granitemoehybrid", "llama", "ministral3", "mixtral", "smollm3"})
# llama.cpp's converter adds 1 to the norms of these model types, which the definitions do as well.
_SHIFTED = frozenset({"gemma", "gemma2", "gemma3_text"})


class Fold(Enum):
    """How the dimensions of a tensor are changed."""

    FLAT = auto()
    """All become one."""
    CHANNELS = auto()
    """One of size 1 is appended, for a convolution that treats each channel alone."""
    ROW = auto()
    """All become one row of a matrix."""

    def of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the changed dimensions."""
        if self is Fold.CHANNELS:
            return (*shape, 1)
        count = math.prod(shape)
        return (count,) if self is Fold.FLAT else (1, count)


_FOLDS: Mapping[str, Fold] = {
    "exp_probs_b.bias": Fold.FLAT,
    "ffn_gate_inp_shexp.weight": Fold.ROW,
    "shortconv.conv.weight": Fold.CHANNELS,
    "ssm_a": Fold.FLAT,
    "ssm_conv1d.weight": Fold.CHANNELS,
    "ssm_d": Fold.FLAT,
    "ssm_norm.weight": Fold.FLAT,
}


@dataclass(frozen=True, slots=True)
class Order:
    """Rows that have to be reordered: after `skipped` rows, `groups` times the two inner dimensions change places.

    Attributes:
        groups: How often.
        inner: The second of the two dimensions, as stored; the first one follows from the number of rows.
        width: Rows that stay together.
        skipped: Rows before these, which stay.
    """

    groups: int
    inner: int
    width: int = 1
    skipped: int = 0

    @property
    def separates_halves(self) -> bool:
        """Whether the rows of the two halves of each head alternate."""
        return (self.inner, self.width, self.skipped) == (2, 1, 0)

    def fits(self, rows: int) -> bool:
        """Return whether so many rows can be reordered."""
        rows -= self.skipped
        return rows > 0 and rows % (self.groups * self.inner * self.width) == 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tensor goes in the definition, and how it has to be changed.

    Attributes:
        name: Its name in the definition.
        order: How rows are reordered; None if they are in order.
        shift: Added to each element.
        logarithm: Whether each element is replaced by the logarithm of its negative.
        fold: How its dimensions are changed; None if they stay.
    """

    name: str
    order: Order | None = None
    shift: int = 0
    logarithm: bool = False
    fold: Fold | None = None


def place_of(name: str, config: Mapping[str, Any]) -> Place | None:
    """Return where a tensor goes; None if it is not needed.

    Unknown names stay as they are; no definition has a place for them, so loading them fails.

    Args:
        name: The tensor's name in the file.
        config: The model's config.
    """
    if name.startswith(_IGNORED_PREFIXES):
        return None
    if "vision_config" in config:
        place = place_of(name, config["text_config"])
        return replace(place, name=_INSIDE + place.name) if place and place.name != name else place
    kind = config["model_type"]
    stem, _, part = name.rpartition(".")
    family = FAMILIES.get(kind, PLAIN)
    if stem in family.outer:
        return Place(f"{family.outer[stem]}.{part}", shift=-1 if stem == "output_norm" and kind in _SHIFTED else 0)
    match = _BLOCK.fullmatch(name)
    if match is None:
        return Place(name)
    layer, inner, part = match.groups()
    whole = f"{inner}.{part}" if part else inner
    # A head for multi-token prediction is a layer after those that are counted.
    if int(layer) >= config.get("text_config", config)["num_hidden_layers"]:
        return None
    known = family.layer.get(whole)
    if known is None:
        if part is None or inner not in family.layer:
            return Place(name)
        known = f"{family.layer[inner]}.{part}"
    return Place(
        f"{family.prefix}{layer}.{known}",
        _order(inner, kind, config),
        -1 if inner.endswith("norm") and kind in _SHIFTED else 0,
        logarithm=inner == "ssm_a",
        fold=_FOLDS.get(whole),
    )


def _order(inner: str, kind: str, config: Mapping[str, Any]) -> Order | None:
    """Return how the rows of a tensor in a layer have to be reordered."""
    heads = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}.get(inner)
    if heads and kind in _INTERLEAVED:
        return Order(config[heads], 2)
    if heads and config.get("pairs_in_halves"):
        return Order(config[heads], config["head_dim"] // 2)
    if not config.get("linear_heads_tiled"):
        return None
    # llama.cpp's converter tiles the heads of values: the first ones of all keys, then the second ones and so on.
    keys, width = config["linear_num_key_heads"], config["linear_value_head_dim"]
    mixed = 2 * keys * config["linear_key_head_dim"]
    return {
        "attn_gate": Order(1, keys, width),
        "attn_qkv": Order(1, keys, width, mixed),
        "ssm_a": Order(1, keys),
        "ssm_alpha": Order(1, keys),
        "ssm_beta": Order(1, keys),
        "ssm_conv1d": Order(1, keys, width, mixed),
        "ssm_dt": Order(1, keys),
    }.get(inner)


def name_in_file(name: str, config: Mapping[str, Any]) -> str:
    """Return the name in GGUF files of a tensor, or of a layer with several tensors; unknown names stay as they are.

    Args:
        name: The name in the definition.
        config: The model's config.
    """
    if "vision_config" in config:
        inner = name_in_file(name.removeprefix(_INSIDE), config["text_config"])
        return name if inner == name.removeprefix(_INSIDE) else inner
    kind = config["model_type"]
    body, _, part = name.rpartition(".")
    if part in _PARTS:
        ending = f".{'bias' if part == 'bias' else 'weight'}"
    else:
        body, ending = name, ""
    family = FAMILIES.get(kind, PLAIN)
    match = _LAYER.fullmatch(body)
    if match is None:
        found = _key_of(body, family.outer)
        return name if found is None else found + ending
    found = _key_of(match[2], family.layer)
    return name if found is None else f"blk.{match[1]}.{found}{ending}"


def _key_of(value: str, names: Mapping[str, str]) -> str | None:
    """Return the first key with this value; None if there is none."""
    return next((key for key, candidate in names.items() if candidate == value), None)

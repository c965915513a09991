"""The record of what the engine knows about a model architecture. Does not import MLX."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum, auto
from typing import Any


class Prediction(Enum):
    """Where a checkpoint holds its head for multi-token prediction.

    Attributes:
        NAMED: In tensors of their own, `mtp.*`.
        LAYER: In a layer after those that are counted.
    """

    NAMED = auto()
    LAYER = auto()


@dataclass(frozen=True, slots=True)
class Architecture:
    """What the engine must know about an architecture besides its definition.

    An "inner" model is one that the `text_config` of another model's config describes.

    Attributes:
        name: Its `model_type`, which is also the name of mlx-lm's module.
        batches: Whether each row of a batch is computed exactly as if it were alone. Other definitions access their
            caches directly or mix rows, so their requests are computed one by one, which is slower.
        aliases: Other model types that the same definition computes.
        by_class: Other architectures with the same `model_type`, by the class that `architectures` names.
        checked_as_type: For an inner model that never occurs alone, the architecture whose checks apply to it.
        refused: Why it cannot run; completes "… models cannot run: ".
        needs_metal: Whether its kernels exist only for Metal.
        definition: The module in `architectures.definitions` that computes it; empty for mlx-lm's.
        ignored_prefixes: Prefixes, after an optional `model.`, of tensors that do not belong to the language model.
            Any other tensor without a layer is an error.
        stacks_experts: Whether the definition stacks the weights of experts that are stored one by one.
        sees: The name before `_images` of the module in `vision` that reads images for it, and before `_tower` of the
            one in `architectures.towers`; empty for models without a supported tower, whose tensors are then ignored.
        prediction: Where its checkpoints hold a head for multi-token prediction; None where heads are not supported.

        reads_rope_parameters: Whether the definition reads `rope_parameters` as transformers 5 writes it.
        renamed_keys: The keys that the definition reads, each with its name in transformers' configs.
        default_values: Keys that the definition requires, but transformers omits because their value never varies.
        layer_types: The definition's names of layer types, by transformers' names.
        pattern_key: The key in which the definition expects the period of `layer_types`; empty if it reads none.
        pattern_as_letters: Whether it expects a letter for each layer there instead.
        outer_vocabulary: Whether it expects the inner model's `vocab_size` in the outer config as well.
        adapt: Changes a config in place in ways that the fields above cannot express.

        activations: The activation functions that it computes; None if it reads which one to use.
        supported_values: The values that it computes correctly, by key. A missing key or null is always supported.
        needed_keys: Keys that must not be null.
        rope_types: The types of RoPE scaling that it supports; None if it refuses others itself.
        switches_scaling: Whether it supports RoPE scaling that differs for long texts.
        supports_untruncated_yarn: Whether it supports YaRN with `truncate` false.
        windows_by_default: Whether `sliding_window` applies to all layers if there is no `layer_types`, which mlx-lm's
            definition does not support.
        computes_inner: Whether it computes its inner model itself, of any `model_type`.
        inner_types: The types of inner models that it supports; empty if any is allowed and checked by itself.
        ignores: Yields further keys of a config that the definition would ignore although they change the result.
        refusal: Returns a sentence saying why one of its configs cannot be computed correctly; empty if it can.
    """

    name: str
    _: KW_ONLY
    batches: bool
    aliases: tuple[str, ...] = ()
    by_class: Mapping[str, str] = field(default_factory=dict)
    checked_as_type: str = ""
    refused: str = ""
    needs_metal: bool = False
    definition: str = ""
    ignored_prefixes: tuple[str, ...] = ()
    stacks_experts: bool = True
    sees: str = ""
    prediction: Prediction | None = None

    reads_rope_parameters: bool = False
    renamed_keys: Mapping[str, str] = field(default_factory=dict)
    default_values: Mapping[str, Any] = field(default_factory=dict)
    layer_types: Mapping[str, str] = field(default_factory=dict)
    pattern_key: str = ""
    pattern_as_letters: bool = False
    outer_vocabulary: bool = False
    adapt: Callable[[dict[str, Any]], None] | None = None

    activations: frozenset[str] | None = None
    supported_values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    needed_keys: tuple[str, ...] = ()
    rope_types: frozenset[str] | None = None
    switches_scaling: bool = False
    supports_untruncated_yarn: bool = False
    windows_by_default: bool = False
    computes_inner: bool = False
    inner_types: frozenset[str] = frozenset()
    ignores: Callable[[Mapping[str, Any]], Iterator[str]] | None = None
    refusal: Callable[[Mapping[str, Any]], str] | None = None


UNKNOWN = Architecture("", batches=False)
"""Stands for all architectures without a usable definition."""

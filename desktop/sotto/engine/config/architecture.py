"""What is known of one architecture beside its definition. Imports nothing of MLX."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Architecture:
    """What the engine has to know of one architecture, beside how it is computed.

    "Inner" models are those described by the `text_config` in another model's config.

    Attributes:
        name: Its `model_type`, and the name of mlx-lm's module for it.
        batches: Whether each row of a batch is computed exactly as if it were alone. Other definitions look into their
            caches, or mix rows; their requests are computed one after the other, which is slower.
        aliases: Other model types that the same definition computes.
        by_class: Architectures that have this `model_type` as well, by the class that `architectures` names.
        inside: For an inner model that never stands alone, the architecture whose checks hold for it.
        refused: Why it cannot run; completes "… models cannot run: ".
        needs_metal: Whether its kernels exist for Metal only.
        definition: The module in `architectures.definitions` that computes it; empty where mlx-lm's does.
        set_aside: What the names of tensors begin with that do not belong to the language model, with an optional
            `model.` before it. Anything else that no layer takes is an error, never dropped.

        reads_rope_parameters: Whether the definition reads `rope_parameters` as transformers 5 writes it.
        renamed_keys: The definition's names for keys, with those in transformers' configs.
        default_values: What transformers leaves out because it is always so, and the definition asks for.
        layer_types: The definition's names for kinds of layers, by transformers' names.
        pattern_key: Where the definition expects the period in which `layer_types` repeats; empty where it does not.
        spells_pattern: Whether it expects letters there instead.
        outer_vocabulary: Whether it expects the inner model's `vocab_size` in the outer config, too.
        adapt: Changes a config, in place, in ways that the fields above cannot express.

        activations: The activation functions that it computes; None where it reads which to use.
        supported_values: The values with which it is right, by key. A key that is missing or null is right as well.
        needed_keys: Keys that must not be null.
        rope_types: The ways of scaling positions that it knows; None where it refuses unknown ones itself.
        scales_long_texts: Whether it scales positions in another way for long texts, where a config asks for that.
        yarn_untruncated: Whether it knows YaRN without truncating.
        windows_by_default: Whether `sliding_window` holds for all layers where no `layer_types` says otherwise, which
            mlx-lm's definition does not know.
        reads_inner: Whether it computes its inner model itself, whatever `model_type` that has.
        inner_types: The inner models that it computes; empty where any is checked as itself.
        ignores: Yields keys that it would leave out, beyond what the fields above tell.
        refusal: Returns a sentence that says why one of its configs cannot be computed right; empty where it can.
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
"""Stands for every architecture without a definition."""

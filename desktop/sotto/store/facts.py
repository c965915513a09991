"""What a list shows of a model, from its `config.json` and the headers of its weights.

Ollama's rules: the family is `model_type`, else the first architecture without its ending; parameters are the product
of the shapes, quantized ones unpacked; `text_config` goes before the outer object.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import kind_of
from sotto.store.printable import printable, printable_path
from sotto.store.records import SentenceModule, TensorFile, TensorInfo

_CONTEXT_KEYS = (
    "max_trained_positions",
    "max_position_embeddings",
    "n_positions",
    "n_ctx",
    "max_seq_len",
    "seq_length",
)
_ENDINGS = ("forcausallm", "forconditionalgeneration")
_MOST_CONTEXT = 1 << 31
_MOST_GROUP = 4096
_FLOATS = {"bfloat16": "BF16", "float16": "F16", "float32": "F32", "float64": "F64"}
# Ollama's types are these with these groups; others of MLX are described by their numbers.
_NAMED = {(4, 64): "int4", (8, 64): "int8"}
_GROUPS = {"nvfp4": 16, "mxfp4": 32, "mxfp8": 32}
_GROUP = 64
# What lies beside quantized weights in the layouts of MLX, Ollama, GPTQ, AWQ and fp8 checkpoints.
_COMPANIONS = (".scales", ".biases", ".scale", ".bias", ".global_scale")
_FOREIGN_COMPANIONS = (".qzeros", ".g_idx", "_scale_inv", ".weight_scale", ".input_scale", "_scales")
_PACKING = {"gptq", "awq"}
_COUNTABLE = {"", "mlx", "fp8", "mxfp4", *_PACKING}
# Model types that see a whole text at once and write none.
ENCODERS = frozenset({"bert", "camembert", "nomic_bert", "roberta", "xlm-roberta"})
# Of these, the ones whose positions begin at 0; RoBERTa's begin behind the number of its padding token.
_FROM_ZERO = frozenset({"bert", "nomic_bert"})
_PADDING = 1


@dataclass(frozen=True, slots=True)
class ConfigFacts:
    """What a `config.json` says; empty or None where it does not.

    Attributes:
        architecture: Its `model_type`.
        context_length: The longest context it was made for, in tokens; of an encoder, the longest text that it takes.
        quantization: How its weights are quantized.
        dtype: The type that its weights had when they were made, for example `BF16`.
        capabilities: What its parts are for.
    """

    architecture: str
    context_length: int | None
    quantization: str
    dtype: str
    capabilities: tuple[str, ...]


def config_facts(config: Mapping[str, Any], path: Path, modules: Sequence[SentenceModule] = ()) -> ConfigFacts:
    """Return what a list shows of a configuration.

    Args:
        config: The parsed `config.json`.
        path: Where it is, for messages.
        modules: What other files say of how vectors of texts are made.

    Raises:
        BrokenModelError: A value that a list shows has the wrong type or cannot be.
    """
    text = _field(config, "text_config", dict, path) or {}
    model_type = _field(config, "model_type", str, path) or ""
    architectures = _field(config, "architectures", list, path) or []
    if not all(isinstance(name, str) for name in architectures):
        raise BrokenModelError(f"{printable_path(path)}: architectures should be a list of texts.")
    if not model_type and architectures:
        model_type = architectures[0].lower()
        for ending in _ENDINGS:
            model_type = model_type.removesuffix(ending)
    dtypes = [outer.get(key) for outer in (text, config) for key in ("dtype", "torch_dtype")]
    dtype = next((_FLOATS[value] for value in dtypes if isinstance(value, str) and value in _FLOATS), "")
    seeing, hearing = "vision_config" in config, bool({"audio_config", "sound_config"} & config.keys())
    main = "embedding" if modules or model_type in ENCODERS else "completion"
    return ConfigFacts(
        printable(model_type),
        _longest_text(config, model_type, path, modules) if model_type in ENCODERS else _longest(config, path),
        _quantization(_declared(config, path)),
        dtype,
        (main, *(["vision"] if seeing else []), *(["audio"] if hearing else [])),
    )


def first_position(model_type: str, pad_token_id: object) -> int:
    """Return the number that the first position of an encoder's text has."""
    if model_type in _FROM_ZERO:
        return 0
    return (pad_token_id if type(pad_token_id) is int else _PADDING) + 1


def parameter_count(files: Iterable[TensorFile], config: Mapping[str, Any], path: Path) -> int | None:
    """Return the number of weights, quantized ones unpacked; None when the layout is not known.

    Args:
        files: All files of a model, or the one of a single layer.
        config: The parsed `config.json`, which tells how MLX quantized.
        path: Where it is, for messages.

    Raises:
        BrokenModelError: What `config` says about quantization has the wrong type.
    """
    declared = _declared(config, path)
    method = str(declared.get("quant_method", "")).lower()
    if method not in _COUNTABLE:
        return None
    tensors: dict[str, TensorInfo] = {}
    groups: dict[str, int] = {}
    for file in files:
        tensors.update(file.tensors)
        groups.update(_groups_of_metadata(file))
    total = 0
    for name, tensor in tensors.items():
        if name.endswith(_COMPANIONS) and _is_companion(name, tensors):
            continue
        if method and name.endswith(_FOREIGN_COMPANIONS):
            continue
        if tensor.dtype == "U32":
            scales = tensors.get(f"{name}.scale") or tensors.get(f"{name.removesuffix('.weight')}.scales")
            if scales is not None:
                group = groups.get(name) or _group_of_config(declared, name.removesuffix(".weight"))
                total += math.prod(scales.shape) * group
                continue
        total += math.prod(tensor.shape) * _packed(name, tensor, method, declared)
    return total


def commonest_dtype(files: Iterable[TensorFile]) -> str:
    """Return the type that most bytes of the weights have, for example `BF16`; empty without weights."""
    sizes: Counter[str] = Counter()
    for file in files:
        for tensor in file.tensors.values():
            sizes[tensor.dtype] += tensor.nbytes
    return sizes.most_common(1)[0][0] if sizes else ""


def _field(config: Mapping[str, Any], key: str, kind: type, path: Path) -> Any:
    value = config.get(key)
    if value is None or isinstance(value, kind):
        return value
    raise BrokenModelError(f"{printable_path(path)}: {key} is {kind_of(value)}; it should be {kind_of(kind())}.")


def _longest(config: Mapping[str, Any], path: Path) -> int | None:
    text = _field(config, "text_config", dict, path) or {}
    return _context(text, path) or _context(config, path)


def _longest_text(
    config: Mapping[str, Any], model_type: str, path: Path, modules: Sequence[SentenceModule]
) -> int | None:
    """Return the most tokens of a text that an encoder takes; other files may say less than it has positions for."""
    positions = _longest(config, path)
    limits = [modules[0].config.get("max_seq_length")] if modules else []
    if positions is not None:
        limits.append(positions - first_position(model_type, config.get("pad_token_id")))
    # What is no number of tokens is refused when the model is loaded.
    return min((limit for limit in limits if type(limit) is int and limit > 0), default=None)


def _context(config: Mapping[str, Any], path: Path) -> int | None:
    for key in _CONTEXT_KEYS:
        value = config.get(key)
        if value is None:
            continue
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 < value < _MOST_CONTEXT or value != int(value):
            said = printable(str(value), 40) if number else kind_of(value)
            raise BrokenModelError(f"{printable_path(path)}: {key} is {said}; it should be a number of tokens.")
        return int(value)
    return None


def _declared(config: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return what a configuration says about quantization: MLX's own object before the one that others write."""
    text = _field(config, "text_config", dict, path) or {}
    for outer in (config, text):
        for key in ("quantization", "quantization_config"):
            found: dict[str, Any] | None = _field(outer, key, dict, path)
            if found:
                return found
    return {}


def _quantization(declared: Mapping[str, Any]) -> str:
    bits, group = declared.get("bits"), declared.get("group_size")
    mode, method = declared.get("mode", "affine"), declared.get("quant_method")
    if isinstance(mode, str) and mode in _GROUPS:
        return mode
    if type(bits) is not int or not 0 < bits <= 32:
        bits = None
    if isinstance(method, str) and method != "mlx":
        return printable(f"{method} {bits}-bit" if bits else method, 40)
    if bits is None:
        return ""
    group = group if type(group) is int and 0 < group <= _MOST_GROUP else _GROUP
    return _NAMED.get((bits, group), f"{bits}-bit g{group}")


def _groups_of_metadata(file: TensorFile) -> Iterable[tuple[str, int]]:
    """Yield the group sizes that a file's metadata states or implies, by tensor."""
    for name, tensor in file.tensors.items():
        if tensor.dtype != "U32":
            continue
        text = file.metadata.get(f"{name}.group_size") or file.metadata.get("group_size") or ""
        kind = file.metadata.get(f"{name}.quant_type") or file.metadata.get("quant_type") or ""
        if text.isascii() and text.isdecimal() and len(text) <= len(str(_MOST_GROUP)) and int(text):
            yield name, int(text)
        elif kind:
            yield name, _GROUPS.get(kind.lower(), _GROUP)


def _group_of_config(declared: Mapping[str, Any], module: str) -> int:
    own = declared.get(module)
    for said in (own, declared):
        if isinstance(said, dict):
            group = said.get("group_size")
            if type(group) is int and 0 < group <= _MOST_GROUP:
                return group
            mode = said.get("mode")
            if isinstance(mode, str) and mode in _GROUPS:
                return _GROUPS[mode]
    return _GROUP


def _is_companion(name: str, tensors: Mapping[str, TensorInfo]) -> bool:
    """Return whether a tensor lies beside a quantized one: `X.scales` beside `X.weight`, `X.weight.scale` beside it."""
    stem = name.rpartition(".")[0]
    if name.endswith((".scales", ".biases")):
        return f"{stem}.weight" in tensors or f"{stem}.qweight" in tensors
    return stem in tensors and f"{stem}.scale" in tensors


def _packed(name: str, tensor: TensorInfo, method: str, declared: Mapping[str, Any]) -> int:
    """Return how many weights one element of a tensor stands for in the layouts of others."""
    bits = declared.get("bits")
    if method in _PACKING and name.endswith(".qweight") and type(bits) is int and 0 < bits <= 32:
        return 32 // bits
    return 2 if method == "mxfp4" and name.endswith("_blocks") and tensor.dtype == "U8" else 1

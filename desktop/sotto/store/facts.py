"""What a list shows of a model, derived from its `config.json` and the headers of its weight files.

The rules are Ollama's: the family is `model_type`, else the first architecture without its suffix; parameters are
counted from tensor shapes, quantized ones as if unpacked; `text_config` takes precedence over the outer object.
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
_SUFFIXES = ("forcausallm", "forconditionalgeneration")
_CONTEXT_LIMIT = 1 << 31
_MAX_GROUP = 4096
_FLOATS = {"bfloat16": "BF16", "float16": "F16", "float32": "F32", "float64": "F64"}
# Ollama's names by (bits, group size); MLX's other combinations are described by their numbers.
_NAMED = {(4, 64): "int4", (8, 64): "int8"}
_GROUPS = {"nvfp4": 16, "mxfp4": 32, "mxfp8": 32}
_DEFAULT_GROUP = 64
# Suffixes of the tensors stored beside quantized weights by MLX, Ollama, GPTQ, AWQ and fp8 checkpoints.
_COMPANIONS = (".scales", ".biases", ".scale", ".bias", ".global_scale")
_FOREIGN_COMPANIONS = (".qzeros", ".g_idx", "_scale_inv", ".weight_scale", ".input_scale", "_scales")
_PACKED_METHODS = {"gptq", "awq"}
_COUNTABLE = {"", "mlx", "fp8", "mxfp4", *_PACKED_METHODS}
# Model types that attend to a whole text at once and generate none.
ENCODERS = frozenset({"bert", "camembert", "jina_embeddings_v3", "modernbert", "nomic_bert", "roberta", "xlm-roberta"})
# Model types with towers for images that the engine computes.
SEEING = frozenset(
    """
    gemma3 gemma4 gemma4_unified glm_ocr idefics3 lfm2-vl lfm2_vl llava llava_next mistral3 pixtral qwen2_5_vl qwen2_vl
    qwen3_5 qwen3_5_moe qwen3_vl qwen3_vl_moe smolvlm
    """.split()
)
# How the names of the tensors of such a tower and its projector begin: as transformers 4 and 5, mlx-vlm and Ollama have
# it.
_TOWER_ROOTS = (
    "vision_tower.",
    "vision_model.",
    "vision_embedder.",
    "visual.",
    "multi_modal_projector.",
    "connector.",
    "embed_vision.",
    "image_newline",
)
_TOWER_BEGINNINGS = (*_TOWER_ROOTS, *(f"model.{root}" for root in _TOWER_ROOTS))
# Encoders whose positions begin at 0; RoBERTa's begin after the id of its padding token.
_ZERO_BASED = frozenset({"bert", "jina_embeddings_v3", "modernbert", "nomic_bert"})
_DEFAULT_PAD_TOKEN = 1


@dataclass(frozen=True, slots=True)
class ConfigFacts:
    """What a `config.json` states; empty or None where it does not.

    Attributes:
        architecture: Its `model_type`.
        context_length: The longest context the model was trained for, in tokens; for an encoder, its longest input.
        quantization: How the weights are quantized, for example `int4`.
        dtype: The type of the weights before any quantization, for example `BF16`.
        capabilities: What the model can do: `completion` or `embedding`, then `vision` and `audio`. It sees only if its
            files hold a tower, too: see `as_tensors_allow`.
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
        path: Its path, for error messages.
        modules: The steps from a text to its embedding; empty for a model that does not list them.

    Raises:
        BrokenModelError: A value that the list shows has the wrong type or is impossible.
    """
    text = _field(config, "text_config", dict, path) or {}
    model_type = _field(config, "model_type", str, path) or ""
    architectures = _field(config, "architectures", list, path) or []
    if not all(isinstance(name, str) for name in architectures):
        raise BrokenModelError(f"{printable_path(path)}: architectures should be a list of texts.")
    if not model_type and architectures:
        model_type = architectures[0].lower()
        for suffix in _SUFFIXES:
            model_type = model_type.removesuffix(suffix)
    dtypes = [outer.get(key) for outer in (text, config) for key in ("dtype", "torch_dtype")]
    dtype = next((_FLOATS[value] for value in dtypes if isinstance(value, str) and value in _FLOATS), "")
    vision = model_type in SEEING and "vision_config" in config
    audio = bool({"audio_config", "sound_config"} & config.keys())
    main = "embedding" if modules or model_type in ENCODERS else "completion"
    return ConfigFacts(
        printable(model_type),
        _max_input(config, model_type, path, modules) if model_type in ENCODERS else _max_context(config, path),
        _quantization_name(_quantization_config(config, path)),
        dtype,
        (main, *(["vision"] if vision else []), *(["audio"] if audio else [])),
    )


def is_of_tower(name: str) -> bool:
    """Return whether a tensor of a model that sees belongs to its tower for images, judging by its name."""
    return name.startswith(_TOWER_BEGINNINGS)


def as_tensors_allow(capabilities: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
    """Return capabilities without `vision` if no tensor belongs to a tower: text-only conversions keep its config.

    Args:
        capabilities: What a configuration states.
        names: The names of the model's tensors.
    """
    sees = "vision" in capabilities and any(map(is_of_tower, names))
    return tuple(capability for capability in capabilities if sees or capability != "vision")


def vision_reason(config: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return one sentence saying why images are not shown to a model although its files hold a tower; else empty.

    Args:
        config: The parsed `config.json`.
        names: The names of the model's tensors.
    """
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind in SEEING or "vision_config" not in config:
        return ""
    if not any(map(is_of_tower, names)):
        return ""
    return f"Images are not shown to it: the towers of {printable(kind, 40)} models are not supported yet."


def first_position(model_type: str, pad_token_id: object) -> int:
    """Return the index of an encoder's first position."""
    if model_type in _ZERO_BASED:
        return 0
    return (pad_token_id if type(pad_token_id) is int else _DEFAULT_PAD_TOKEN) + 1


def parameter_count(files: Iterable[TensorFile], config: Mapping[str, Any], path: Path) -> int | None:
    """Return the number of weights, quantized ones counted as if unpacked; None if the layout is unknown.

    Args:
        files: All weight files of a model, or the file of a single layer.
        config: The parsed `config.json`, which states how MLX quantized the weights.
        path: The path of `config.json`, for error messages.

    Raises:
        BrokenModelError: The quantization in `config` has the wrong type.
    """
    quantization = _quantization_config(config, path)
    method = str(quantization.get("quant_method", "")).lower()
    if method not in _COUNTABLE:
        return None
    tensors: dict[str, TensorInfo] = {}
    group_sizes: dict[str, int] = {}
    for file in files:
        tensors.update(file.tensors)
        group_sizes.update(_group_sizes_in_metadata(file))
    total = 0
    for name, tensor in tensors.items():
        if name.endswith(_COMPANIONS) and _is_companion(name, tensors):
            continue
        if method and name.endswith(_FOREIGN_COMPANIONS):
            continue
        if tensor.dtype == "U32":
            scales = tensors.get(f"{name}.scale") or tensors.get(f"{name.removesuffix('.weight')}.scales")
            if scales is not None:
                group_size = group_sizes.get(name) or _group_size(quantization, name.removesuffix(".weight"))
                total += math.prod(scales.shape) * group_size
                continue
        total += math.prod(tensor.shape) * _packing(name, tensor, method, quantization)
    return total


def commonest_dtype(files: Iterable[TensorFile]) -> str:
    """Return the type of most of the weights' bytes, for example `BF16`; empty if there are no weights."""
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


def _max_context(config: Mapping[str, Any], path: Path) -> int | None:
    text = _field(config, "text_config", dict, path) or {}
    return _stated_context(text, path) or _stated_context(config, path)


def _max_input(config: Mapping[str, Any], model_type: str, path: Path, modules: Sequence[SentenceModule]) -> int | None:
    """Return the most tokens that an encoder takes; `modules` may allow fewer than it has positions for."""
    positions = _max_context(config, path)
    limits = [modules[0].config.get("max_seq_length")] if modules else []
    if positions is not None:
        limits.append(positions - first_position(model_type, config.get("pad_token_id")))
    # A limit that is not a number of tokens is refused when the model is loaded.
    return min((limit for limit in limits if type(limit) is int and limit > 0), default=None)


def _stated_context(config: Mapping[str, Any], path: Path) -> int | None:
    for key in _CONTEXT_KEYS:
        value = config.get(key)
        if value is None:
            continue
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 < value < _CONTEXT_LIMIT or value != int(value):
            found = printable(str(value), 40) if number else kind_of(value)
            raise BrokenModelError(f"{printable_path(path)}: {key} is {found}; it should be a number of tokens.")
        return int(value)
    return None


def _quantization_config(config: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the quantization settings of a configuration: MLX's `quantization` before `quantization_config`."""
    text = _field(config, "text_config", dict, path) or {}
    for outer in (config, text):
        for key in ("quantization", "quantization_config"):
            found: dict[str, Any] | None = _field(outer, key, dict, path)
            if found:
                return found
    return {}


def _quantization_name(quantization: Mapping[str, Any]) -> str:
    bits, group = quantization.get("bits"), quantization.get("group_size")
    mode, method = quantization.get("mode", "affine"), quantization.get("quant_method")
    if isinstance(mode, str) and mode in _GROUPS:
        return mode
    if type(bits) is not int or not 0 < bits <= 32:
        bits = None
    if isinstance(method, str) and method != "mlx":
        return printable(f"{method} {bits}-bit" if bits else method, 40)
    if bits is None:
        return ""
    group = group if type(group) is int and 0 < group <= _MAX_GROUP else _DEFAULT_GROUP
    return _NAMED.get((bits, group), f"{bits}-bit g{group}")


def _group_sizes_in_metadata(file: TensorFile) -> Iterable[tuple[str, int]]:
    """Yield the names of quantized tensors with the group sizes that the file's metadata states or implies."""
    for name, tensor in file.tensors.items():
        if tensor.dtype != "U32":
            continue
        text = file.metadata.get(f"{name}.group_size") or file.metadata.get("group_size") or ""
        kind = file.metadata.get(f"{name}.quant_type") or file.metadata.get("quant_type") or ""
        if text.isascii() and text.isdecimal() and len(text) <= len(str(_MAX_GROUP)) and int(text):
            yield name, int(text)
        elif kind:
            yield name, _GROUPS.get(kind.lower(), _DEFAULT_GROUP)


def _group_size(quantization: Mapping[str, Any], module: str) -> int:
    """Return the group size of a module, from its own settings if it has any, else from those of all modules."""
    for settings in (quantization.get(module), quantization):
        if isinstance(settings, dict):
            group = settings.get("group_size")
            if type(group) is int and 0 < group <= _MAX_GROUP:
                return group
            mode = settings.get("mode")
            if isinstance(mode, str) and mode in _GROUPS:
                return _GROUPS[mode]
    return _DEFAULT_GROUP


def _is_companion(name: str, tensors: Mapping[str, TensorInfo]) -> bool:
    """Return whether a tensor belongs to a quantized one: `X.scales` or `X.weight.scale` to `X.weight`."""
    stem = name.rpartition(".")[0]
    if name.endswith((".scales", ".biases")):
        return f"{stem}.weight" in tensors or f"{stem}.qweight" in tensors
    return stem in tensors and f"{stem}.scale" in tensors


def _packing(name: str, tensor: TensorInfo, method: str, quantization: Mapping[str, Any]) -> int:
    """Return how many weights one element of a tensor holds, in layouts other than MLX's and Ollama's."""
    bits = quantization.get("bits")
    if method in _PACKED_METHODS and name.endswith(".qweight") and type(bits) is int and 0 < bits <= 32:
        return 32 // bits
    return 2 if method == "mxfp4" and name.endswith("_blocks") and tensor.dtype == "U8" else 1

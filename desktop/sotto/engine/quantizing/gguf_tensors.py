"""Planning the import of a GGUF file whose tensors are quantized anew, as MLX's tensors with JSON files beside them."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sotto.engine.gguf.gguf_names import LATENT_KEYS, LATENT_VALUES, UNROUNDED, Fold, Place, place_of
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.facts import ENCODERS
from sotto.store.gguf.file import GgufFile
from sotto.store.gguf.gguf_config import config_of
from sotto.store.gguf.header import read_gguf
from sotto.store.gguf.metadata_values import Values
from sotto.store.gguf.projectors import eyes_of
from sotto.store.gguf.split_files import read_gguf_files
from sotto.store.gguf.vocabulary import vocabulary_of
from sotto.store.importing.companions import config_blob
from sotto.store.importing.float_tensors import quantized_blob
from sotto.store.importing.folder_plan import computed_types, ollama_notes, source_files
from sotto.store.importing.fusing_plan import Fit, FusingPlan, fit_nothing
from sotto.store.importing.gguf_parts import part_of, parts_of
from sotto.store.importing.import_plan import Computed, ImportPlan, Making, NamedTensor, Part, PlannedBlob, compact
from sotto.store.importing.policy import type_of
from sotto.store.importing.quant_types import FLOATS
from sotto.store.importing.recipes import Recipe, parse_recipe
from sotto.store.locating import folder_of
from sotto.store.printable import printable, printable_path
from sotto.store.records import TensorInfo

# The type of what was quantized; it has the range of float32, as some models need.
_DEQUANTIZED = "BF16"


def plan_quantized(path: Path, quantize: str, fit: Fit = fit_nothing) -> ImportPlan:
    """Return what quantizing a GGUF file anew results in.

    Args:
        path: The file, of a split one any part.
        quantize: A recipe.
        fit: Returns what an adapter changes.

    Raises:
        BrokenModelError: The file is damaged or cannot run, or a part is missing.
        InvalidRequestError: There is no such recipe, or the model is an encoder.
        SottoError: The adapter does not fit.
    """
    parsed = parse_recipe(quantize)
    assert parsed is not None
    name, recipe = parsed
    paths = parts_of(path)
    file = read_gguf_files(paths)
    values = Values(file)
    config = config_of(values)
    vocabulary = vocabulary_of(values)
    if config["model_type"] in ENCODERS:
        raise InvalidRequestError(
            f"{printable_path(path)} is an embedding model, whose GGUF file cannot be quantized anew; import it as it "
            "is."
        )
    tensors = list(_tensors(file, config, recipe))
    fusing = fit(config, {tensor.name: tensor.piece.shape for tensor in tensors if isinstance(tensor.piece, Computed)})
    blobs = _blobs(file, tensors, fusing)
    files = {"config.json": config, **vocabulary.files}
    contents = {name: compact(dict(content)) for name, content in files.items()}
    contents["tokenizer.json"] = vocabulary.tokenizer.encode()
    template = vocabulary.files.get("tokenizer_config.json", {}).get("chat_template")
    return ImportPlan(
        source=path,
        quantization=name,
        architecture=config["model_type"],
        parameters=sum(math.prod(info.shape) for info in file.tensors.values()),
        files=source_files([*paths, *fusing.files]),
        blobs=(*blobs, *(PlannedBlob("json", name, (contents[name],)) for name in sorted(contents))),
        config=config_blob(config, template if isinstance(template, str) else "", name, embeds=False),
        adapter=fusing.adapter,
        notes=(*ollama_notes(computed_types(blobs)), *_left_out(path, paths)),
    )


def _left_out(path: Path, paths: Sequence[Path]) -> Iterator[str]:
    """Yield a sentence if the model has a tower for images."""
    eyes = eyes_of(read_gguf(paths[0]), folder_of(path.parent).projectors(paths[0]), beside=True)
    if eyes.capabilities:
        yield "The tower for images is left out; import the file as it is to keep it."


def _blobs(file: GgufFile, tensors: Iterable[NamedTensor], fusing: FusingPlan) -> list[PlannedBlob]:
    blobs = {}
    for tensor in tensors:
        if tensor.name in blobs:
            raise BrokenModelError(
                f"{printable_path(file.path)}: two of its tensors are {printable(tensor.name)}; there should be one."
            )
        blobs[tensor.name] = quantized_blob(tensor.name, [fusing.applied(tensor, (tensor.name,))])
    return [blobs[name] for name in sorted(blobs)]


def _tensors(file: GgufFile, config: Mapping[str, Any], recipe: Recipe) -> Iterator[NamedTensor]:
    common = _common_dtype(file)
    for name, info in file.tensors.items():
        part = part_of(file, info)
        if match := LATENT_KEYS.fullmatch(name):
            yield _latent(file, match[1], part, common, recipe, config)
        elif not name.endswith(LATENT_VALUES) and (place := place_of(name, config)) is not None:
            _require_fit(file.path, name, info, place)
            shape = info.shape if place.fold is None else place.fold.of(info.shape)
            dtype = info.dtype if place.name.endswith(UNROUNDED) and info.dtype in FLOATS else common
            kind = type_of(place.name, common, shape, recipe, config)
            made = Computed((part,), shape, dtype, kind, Making.GGUF, place=place)
            yield NamedTensor(place.name, made)


def _require_fit(path: Path, name: str, info: TensorInfo, place: Place) -> None:
    """Raise BrokenModelError if a tensor cannot be changed as the definition needs it."""
    if place.order and not place.order.fits(info.shape[0]):
        raise BrokenModelError(
            f"{printable_path(path)}: {printable(name)} has {info.shape[0]} rows, which cannot be split into the heads "
            "that the file says there are."
        )
    if info.dtype not in FLOATS and (place.logarithm or place.fold in (Fold.CHANNELS, Fold.FLAT)):
        raise BrokenModelError(
            f"{printable_path(path)}: {printable(name)} is {info.dtype}; it should be F32, as its values are needed "
            "one by one."
        )


def _latent(
    file: GgufFile, layer: str, keys: Part, dtype: str, recipe: Recipe, config: Mapping[str, Any]
) -> NamedTensor:
    """Return the projection from latent keys and values, whose halves are apart in the file."""
    values_name = f"blk.{layer}{LATENT_VALUES}"
    info: TensorInfo | None = file.tensors.get(values_name)
    if info is None or not len(keys.shape) == len(info.shape) == 3 or info.shape[::2] != keys.shape[:2]:
        raise BrokenModelError(
            f"{printable_path(file.path)}: blk.{layer}.attn_k_b.weight and attn_v_b.weight should both be there, for "
            "the same number of heads and with the same rank."
        )
    values = part_of(file, info)
    heads, rank, width = keys.shape
    shape = (heads * (width + info.shape[1]), rank)
    name = f"model.layers.{layer}.self_attn.kv_b_proj.weight"
    return NamedTensor(
        name, Computed((keys, values), shape, dtype, type_of(name, dtype, shape, recipe, config), Making.LATENT)
    )


def _common_dtype(file: GgufFile) -> str:
    """Return the type of most weights, or what they have when they are dequantized.

    All tensors get it, because activations take the widest type that they meet.
    """
    sizes: Counter[str] = Counter()
    for info in file.tensors.values():
        sizes[info.dtype] += info.nbytes
    dtype = sizes.most_common(1)[0][0] if sizes else _DEQUANTIZED
    return dtype if dtype in FLOATS else _DEQUANTIZED

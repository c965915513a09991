"""The tensors of a folder that is imported, and of what kind they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.importing.import_plan import Part
from sotto.store.printable import printable, printable_path
from sotto.store.records import TensorFile
from sotto.store.safetensors_header import read_header
from sotto.store.sources.plain_folders import INDEX, ModelFolder

_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pickle", ".pkl")
_UNSUPPORTED_FP8 = ("F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ")


class Kind(Enum):
    """What the weights of a folder are: unquantized, quantized already, or FP8 with a scale for each block."""

    FLOAT = "float"
    QUANTIZED = "quantized"
    BLOCK_FP8 = "block_fp8"


@dataclass(frozen=True, slots=True)
class Inventory:
    """The tensors of a folder.

    Attributes:
        kind: What they are.
        parts: Each tensor by its name.
        files: The files that hold them.
    """

    kind: Kind
    parts: Mapping[str, Part]
    files: tuple[TensorFile, ...]


def take_inventory(folder: ModelFolder) -> Inventory:
    """Return the tensors of a folder.

    Raises:
        BrokenModelError: It has no weights, or they are incomplete, ambiguous, damaged or outside of it.
        UnsupportedModelError: They are of a type that cannot be read.
    """
    if "config.json" not in folder.names:
        raise BrokenModelError(f"{printable_path(folder.path)} has no config.json, which every model needs.")
    if not folder.is_model and (pickles := [name for name in sorted(folder.names) if name.endswith(_PICKLES)]):
        raise BrokenModelError(
            f"{printable_path(folder.path)} has its weights in {printable(pickles[0])}, which may run code when it is "
            "read; they should be in .safetensors files."
        )
    files = tuple([read_header(folder.file(path.name)) for path in folder.weight_files()])
    parts: dict[str, Part] = {}
    owners: dict[str, Path] = {}
    for file in files:
        for name, info in file.tensors.items():
            if name in owners:
                raise BrokenModelError(
                    f"Tensor {printable(name)} is in both {printable_path(owners[name])} and "
                    f"{printable_path(file.path)}; it should be in one."
                )
            owners[name] = file.path
            parts[name] = Part(file.path, info.dtype, info.shape, info.start, info.end)
    if INDEX in folder.names:
        index = folder.index()
        for name, shard in index.items():
            if name not in owners or owners[name].name != shard:
                raise BrokenModelError(
                    f"{printable_path(folder.path)} is incomplete: tensor {printable(name)} is not in "
                    f"{printable(shard)}, where its index says that it is; download the model again."
                )
        parts = {name: part for name, part in parts.items() if name in index}
    if not parts:
        raise BrokenModelError(f"{printable_path(folder.path)} has no tensors; it should have some.")
    return Inventory(_kind(parts, folder), dict(sorted(parts.items())), files)


def _kind(parts: Mapping[str, Part], folder: ModelFolder) -> Kind:
    for name, part in parts.items():
        if name.endswith(".weight") and part.dtype in _UNSUPPORTED_FP8:
            raise UnsupportedModelError(
                f"{printable_path(folder.path)}: {printable(name)} is {part.dtype}; of the types of FP8 only F8_E4M3 "
                "with a scale for each block can be imported."
            )
    for name in parts:
        if name.endswith((".scales", ".weight_packed")):
            return Kind.QUANTIZED
        weight = parts.get(name.removesuffix("_scale"))
        if name.endswith(".weight_scale") and weight is not None and weight.dtype in ("U8", "U32"):
            return Kind.QUANTIZED
    if any(name.endswith(".weight") and part.dtype == "F8_E4M3" for name, part in parts.items()):
        return Kind.BLOCK_FP8
    return Kind.FLOAT

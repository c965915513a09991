"""What an import will write: the blobs of the new model, each as a list of pieces whose sizes are known beforehand."""

import json
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sotto.store.importing.quant_types import DTYPE_BYTES, QUANT_TYPES

_ALIGNMENT = 8


@dataclass(frozen=True, slots=True)
class Segment:
    """A range of bytes of a file that is stored as it is."""

    path: Path
    start: int
    end: int

    @property
    def nbytes(self) -> int:
        """Its size."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Part:
    """A tensor of the source.

    Attributes:
        path: The file that holds it.
        dtype: Its type, as the file's format names it.
        shape: Its dimensions, the one that varies fastest last.
        start: Offset of its first byte.
        end: Offset one past its last byte.
    """

    path: Path
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


class Making(StrEnum):
    """How the elements of a computed tensor are made of its parts.

    `CAST`: as they are, one part after another; `BLOCK_FP8`: times a scale for each 128 x 128 elements; `GGUF`: decoded
    from the blocks of a GGUF file; `LATENT`: joined from the two halves of a latent projection in a GGUF file.
    """

    CAST = "cast"
    BLOCK_FP8 = "block_fp8"
    GGUF = "gguf"
    LATENT = "latent"


@dataclass(frozen=True, slots=True)
class Fused:
    """The additions of an adapter to a tensor.

    Attributes:
        adapter: The folder or file of the adapter.
        config: The text of the model's `config.json`.
        names: The name of the matrix that each part of the tensor is; empty for parts that get no addition.
    """

    adapter: Path
    config: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Computed:
    """A tensor that has to be computed: converted, changed by an adapter, quantized, or all of these.

    Attributes:
        parts: What it is made of, stacked along the first dimension if there are several.
        shape: Its shape, unpacked.
        dtype: The type that its elements have before they are quantized, and its own if they are not.
        quantization: A key of `QUANT_TYPES`; empty if it is not quantized.
        making: How its elements are made.
        scales: The scales of each part, for `BLOCK_FP8`.
        place: How rows, elements and dimensions are changed, for `GGUF`; only the engine knows what it means.
        fused: What is added to its elements before they are quantized.
    """

    parts: tuple[Part, ...]
    shape: tuple[int, ...]
    dtype: str
    quantization: str = ""
    making: Making = Making.CAST
    scales: tuple[Part, ...] = ()
    place: Any = None
    fused: Fused | None = None

    def outputs(self) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
        """Return the suffix, type and shape of each tensor that results, the packed weights first."""
        if not self.quantization:
            return (("", self.dtype, self.shape),)
        kind = QUANT_TYPES[self.quantization]
        *rows, columns = self.shape
        packed = ("", "U32", (*rows, columns * kind.bits // 32))
        groups = (*rows, columns // kind.group)
        if kind.mode == "affine":
            return packed, (".scale", self.dtype, groups), (".bias", self.dtype, groups)
        return packed, (".scale", "U8", groups)

    @property
    def nbytes(self) -> int:
        """Bytes of the results."""
        return sum(math.prod(shape) * DTYPE_BYTES[dtype] for _, dtype, shape in self.outputs())


Piece = bytes | Segment | Computed


@dataclass(frozen=True, slots=True)
class PlannedBlob:
    """One blob of the new model.

    Attributes:
        kind: Its media type without Ollama's prefix.
        name: The name of its layer; empty for kinds that have none.
        pieces: What it consists of, in order.
    """

    kind: str
    name: str
    pieces: tuple[Piece, ...]

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return sum(len(piece) if isinstance(piece, bytes) else piece.nbytes for piece in self.pieces)

    @property
    def read_bytes(self) -> int:
        """Bytes to read from the source, which is what progress counts."""
        return sum(_read_bytes(piece) for piece in self.pieces)

    @property
    def is_computed(self) -> bool:
        """Whether a part of it has to be computed."""
        return any(isinstance(piece, Computed) for piece in self.pieces)

    @property
    def whole_file(self) -> Path | None:
        """The file that it is a copy of, if it can share the file's bytes."""
        match self.pieces:
            case (Segment(path, 0, end),) if self.kind in ("model", "projector") and path.stat().st_size == end:
                return path
        return None


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What importing a folder or file results in; nothing has been written yet.

    Attributes:
        source: The folder or file.
        quantization: The types to quantize to, as `recipes.parse_recipe` takes them; empty to keep what is there.
        architecture: The kind of model, for example `llama`.
        parameters: Number of weights; None if unknown.
        files: The files that are read, by path, with their sizes and times of change in nanoseconds.
        blobs: The blobs in the order of the manifest.
        config: The config blob, as `companions.config_blob` makes it; it may be replaced.
        adapter: The folder or file of the adapter that is fused into the weights.
        notes: Sentences about what the imported model cannot do, or where it cannot run.
    """

    source: Path
    quantization: str
    architecture: str
    parameters: int | None
    files: Mapping[Path, tuple[int, int]]
    blobs: tuple[PlannedBlob, ...]
    config: Mapping[str, Any]
    adapter: Path | None = None
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes that the new model takes."""
        return sum(blob.size for blob in self.blobs) + len(self.config_bytes)

    @property
    def read_bytes(self) -> int:
        """Bytes to read, which is what progress counts."""
        return sum(blob.read_bytes for blob in self.blobs)

    @property
    def config_bytes(self) -> bytes:
        """The bytes of the config blob."""
        return compact(self.config)


class ImportState(StrEnum):
    """What an import is doing: `CHECKING` what an earlier run has left, `WRITING` blobs, or `DONE`."""

    CHECKING = "checking"
    WRITING = "writing"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """The progress of an import.

    Attributes:
        state: What it is doing.
        done: Bytes of the source that are dealt with; never falls.
        total: All bytes of the source.
        tensor: The name of the layer that was begun or finished last; empty if there is none.
    """

    state: ImportState
    done: int
    total: int
    tensor: str = ""


@dataclass(frozen=True, slots=True)
class NamedTensor:
    """A tensor of a blob with its name, and its type and shape if it is stored as it is."""

    name: str
    piece: Segment | Computed | bytes
    dtype: str = ""
    shape: tuple[int, ...] = ()


def tensor_blob(
    name: str, tensors: Sequence[NamedTensor], metadata: Mapping[str, str] = MappingProxyType({})
) -> PlannedBlob:
    """Return the blob of a tensor, or of several that belong together: a safetensors file.

    Args:
        name: The name of the layer.
        tensors: The tensors, in the order of their data.
        metadata: How they are quantized; empty if they are not.
    """
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    position = 0
    for tensor in tensors:
        for suffix, dtype, shape in _outputs(tensor):
            end = position + math.prod(shape) * DTYPE_BYTES[dtype]
            header[tensor.name + suffix] = {"dtype": dtype, "shape": list(shape), "data_offsets": [position, end]}
            position = end
    text = compact(header)
    text += b" " * (-len(text) % _ALIGNMENT)
    return PlannedBlob("tensor", name, (struct.pack("<Q", len(text)) + text, *(tensor.piece for tensor in tensors)))


def compact(value: object) -> bytes:
    """Return JSON without spaces, as Ollama writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _outputs(tensor: NamedTensor) -> Iterable[tuple[str, str, tuple[int, ...]]]:
    if isinstance(tensor.piece, Computed):
        return tensor.piece.outputs()
    return (("", tensor.dtype, tensor.shape),)


def _read_bytes(piece: Piece) -> int:
    if isinstance(piece, bytes):
        return 0
    if isinstance(piece, Segment):
        return piece.nbytes
    return sum(part.end - part.start for part in (*piece.parts, *piece.scales))

"""Reading from GGUF headers only what a list of models shows."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.files import open_regular
from sotto.store.gguf.encoders import ENCODERS, POOLING
from sotto.store.gguf.reader import ARRAY, MAGIC, TEXT, Reader
from sotto.store.gguf.tower_kinds import PROJECTOR, tower_kind
from sotto.store.printable import printable, printable_path

# In bytes. Strings that the list shows are short; longer ones, such as chat templates, are skipped.
_MAX_STRING = 1 << 10
# Walking through a vocabulary takes a tenth of a second; it is avoided if the file has a size label.
_LONG_ARRAY = 1 << 12

# The values of `general.file_type`.
_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
    21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}  # fmt: skip
_LABEL = re.compile(r"(?:(\d{1,4})x)?(\d{1,6}(?:\.\d{1,6})?)([KMBT])\b", re.IGNORECASE)
_UNITS = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What the header of a GGUF file states; empty or None where it does not.

    Attributes:
        kind: Its `general.type`.
        architecture: Its `general.architecture`.
        parameters: Number of weights.
        quantization: The type of most weights, for example `Q4_K_M`.
        context_length: The longest context the model was trained for, in tokens.
        capabilities: What the model can do, `completion` or `embedding`; images count only where their tower does.
        width: Columns of the model's embeddings or, in a projector, of what it gives a model.
        tower: The kind of its tower for images, as `tower_kinds` names them; empty if it has none.
    """

    kind: str
    architecture: str
    parameters: int | None
    quantization: str
    context_length: int | None
    capabilities: tuple[str, ...] = ()
    width: int | None = None
    tower: str = ""


def read_gguf(path: Path) -> GgufHeader:
    """Return what the header of a file states.

    Raises:
        BrokenModelError: It is not a GGUF file, or its header is damaged or inconsistent.
    """
    with open_regular(path) as (file, size), BufferedReader(file, 1 << 16) as buffered:
        try:
            return _header(Reader(buffered, size))
        except ValueError as error:
            raise BrokenModelError(f"{printable_path(path)} is not a readable GGUF file: {error}.") from error


def is_gguf(path: Path) -> bool:
    """Return whether a file has the magic bytes of a GGUF file, or its suffix although it may be damaged.

    Raises:
        BrokenModelError: It has another suffix and cannot be read.
    """
    named = path.suffix.lower() == ".gguf"
    try:
        with open_regular(path) as (file, _):
            begin = file.read(len(MAGIC))
    except BrokenModelError:
        if named:
            return True
        raise
    # The manifest of a model whose tag is the name of a file has the suffix, too.
    return begin == MAGIC or (named and not begin.startswith(b"{"))


def parameters_of_label(label: str) -> int | None:
    """Return the number of weights that a size label such as `8.0B` or `8x7B` states; None if it states none."""
    match = _LABEL.match(label)
    if match is None:
        return None
    experts, number, unit = match.groups()
    return round(int(experts or 1) * float(number) * _UNITS[unit.upper()])


def _header(reader: Reader) -> GgufHeader:
    tensors, pairs = reader.counts()
    values: dict[str, Any] = {}
    for _ in range(pairs):
        key = reader.name("key")
        kind = reader.u32()
        if kind == ARRAY:
            if not _skip_array(reader, skip_long="general.size_label" not in values):
                return _facts(values, None)
        else:
            values[key] = reader.text(_MAX_STRING) if kind == TEXT else reader.scalar(kind)
    return _facts(values, sum(_tensor_size(reader) for _ in range(tensors)))


def _skip_array(reader: Reader, *, skip_long: bool) -> bool:
    """Skip an array; return False without skipping it if it is a long one of strings and `skip_long` is false."""
    kind, count = reader.u32(), reader.u64()
    if kind == ARRAY:
        raise ValueError("it has an array of arrays, which no model needs")
    if kind != TEXT:
        reader.skip_scalars(kind, count)
        return True
    if count > _LONG_ARRAY and not skip_long:
        return False
    reader.skip_texts(count)
    return True


def _tensor_size(reader: Reader) -> int:
    """Return the number of elements of the next tensor."""
    reader.name("tensor name")
    size = math.prod(reader.shape())
    if size >= 1 << 63:
        raise ValueError("it has a tensor of more elements than any memory holds")
    reader.skip(4 + 8)
    return size


def _facts(values: Mapping[str, Any], counted: int | None) -> GgufHeader:
    """Return the header from its values and the number of weights, None if the tensors were not counted."""
    architecture = _short_text(values, "general.architecture")
    if counted is None:
        stated = _number(values, "general.parameter_count")
        counted = stated if stated > 0 else parameters_of_label(_short_text(values, "general.size_label"))
    context = _number(values, f"{architecture}.context_length")
    width = _number(
        values, f"{architecture}.{'vision.projection_dim' if architecture == PROJECTOR else 'embedding_length'}"
    )
    kind = _short_text(values, "general.type")
    embeds = architecture in ENCODERS or f"{architecture}{POOLING}" in values
    return GgufHeader(
        kind=kind,
        architecture=printable(architecture),
        parameters=counted or None,
        quantization=_FILE_TYPES.get(_number(values, "general.file_type"), ""),
        context_length=context if 0 < context < 1 << 31 else None,
        capabilities=() if kind not in ("", "model") else ("embedding",) if embeds else ("completion",),
        width=width if width > 0 else None,
        tower=printable(tower_kind(architecture, values), 40),
    )


def _number(values: Mapping[str, Any], key: str) -> int:
    """Return the number at `key`; -1 if there is none."""
    value = values.get(key)
    return value if type(value) is int and value >= 0 else -1


def _short_text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""

"""Safetensors files: headers of files that load, changed and written again with their data."""

import json
import struct
from pathlib import Path
from random import Random
from typing import Any

import mlx.core as mx
from mlx import nn

from fuzzing import values
from fuzzing.models import STAGES, Models, names_model
from fuzzing.target import Mark, Target
from sotto.store.safetensors_header import read_header
from tiny_random import flat_weights, random_model, write_model

_QUANTIZED = {"group_size": 32, "bits": 4}
_DTYPES = {
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "U8": 1,
    "I8": 1,
    "U32": 4,
    "I32": 4,
    "I64": 8,
    "F64": 8,
    "BOOL": 1,
    "F8_E4M3": 1,
}
_MAX_NEW_BYTES = 4 << 20


class Safetensors(Target):
    """The weights of a folder, up to the first token of an answer."""

    stages = ("header read", *STAGES)
    first_share, last_share = 45, 12

    def prepare(self, folder: Path) -> None:
        """Write the seeds: plain weights, those of a model with recurrent states, and quantized ones."""
        self._models = Models()
        self._folders = [write_model(folder / kind, kind) for kind in ("plain", "hybrid")]
        quantized = write_model(folder / "quantized", "plain", quantization=_QUANTIZED)
        model = random_model("plain")
        nn.quantize(model, **_QUANTIZED)
        mx.save_safetensors(str(quantized / "model.safetensors"), flat_weights(model))
        self._folders.append(quantized)
        self._seeds = [(folder / "model.safetensors").read_bytes() for folder in self._folders]

    def make(self, random: Random) -> bytes:
        """Change a header; the first byte of the input is the number of the seed."""
        chosen = random.randrange(len(self._seeds))
        header, data = _split(self._seeds[chosen])
        kind = random.random()
        if kind < 0.25:
            return bytes([chosen]) + _harmless(header, data, random)
        if kind < 0.92:
            for _ in range(values.times(random)):
                _change(header, random)
            if random.random() < 0.8:
                data = _laid_out(header, data)
            text = values.text_of(header)
            return bytes([chosen]) + struct.pack("<Q", len(text)) + text + data
        content = bytearray(self._seeds[chosen])
        for _ in range(values.times(random)):
            content[random.randrange(2000)] = random.randrange(256)
        return bytes([chosen]) + bytes(content[: random.choice((len(content), random.randrange(len(content))))])

    def run(self, data: bytes, mark: Mark) -> None:
        """Read the file, load the model and ask it."""
        self._folder = self._folders[data[0]]
        path = self._folder / "model.safetensors"
        path.write_bytes(data[1:])
        read_header(path)
        mark("header read")
        self._models.process(self._folder, mark)

    def names(self, message: str) -> bool:
        """Return whether the message names the folder or a file in it."""
        return names_model(message, self._folder)


def _split(content: bytes) -> tuple[dict[str, Any], bytes]:
    (length,) = struct.unpack_from("<Q", content)
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def _harmless(header: dict[str, Any], data: bytes, random: Random) -> bytes:
    """Return an equivalent file with another header, or one with other weights, such as infinities and NaN."""
    kind = random.randrange(4)
    if kind == 0:
        header = {name: header[name] for name in random.sample(sorted(header), len(header))}
        data = _laid_out(header, data)
    elif kind == 1:
        header["__metadata__"] = {random.choice(values.TEXTS): random.choice(values.TEXTS)}
    else:
        changed = bytearray(data)
        for _ in range(values.times(random)):
            place, count = random.randrange(len(data)), random.choice((1, 4, 64, 10_000))
            changed[place : place + count] = random.choice((b"\xff", b"\x00", b"\x7f", b"\x80")) * len(
                data[place : place + count]
            )
        data = bytes(changed)
    text = values.text_of(header)
    text += b" " * random.choice((0, 1, 7, 5000))
    return struct.pack("<Q", len(text)) + text + data


def _change(header: dict[str, Any], random: Random) -> None:
    """Change, swap, rename or delete an entry in place."""
    names = [name for name in header if name != "__metadata__"]
    name, other = random.choice(names), random.choice(names)
    entry, kind = header[name], random.randrange(8)
    if not isinstance(entry, dict) or not isinstance(entry.get("shape"), list) or kind == 0:
        header[name] = values.mutated(entry, random)
    elif kind == 1:
        entry["dtype"] = random.choice((*_DTYPES, "F4", "C64", "f32", ""))
    elif kind == 2:
        entry["shape"] = values.mutated(entry["shape"], random)
    elif kind == 3:
        entry["shape"] = random.choice(
            (entry["shape"][::-1], [*entry["shape"], 1], [1, *entry["shape"]], entry["shape"][1:])
        )
    elif kind == 4:
        header[name], header[other] = header[other], header[name]
    elif kind == 5:
        header[random.choice((name.replace("0", "1"), name + "s", values.near_text(name, random)))] = header.pop(name)
    elif kind == 6:
        header["__metadata__"] = random.choice(({"format": "mlx"}, {"quant_type": "int4"}, values.anything(random)))
    else:
        del header[name]


def _laid_out(header: dict[str, Any], data: bytes) -> bytes:
    """Assign offsets to all tensors by shape and type, and return the data, extended by a limited amount."""
    place = 0
    for entry in header.values():
        try:
            nbytes = _DTYPES[entry["dtype"]]
            for size in entry["shape"]:
                nbytes *= int(size)
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        entry["data_offsets"] = [place, place + max(0, nbytes)]
        place += max(0, nbytes)
    return data[:place] + bytes(min(max(0, place - len(data)), _MAX_NEW_BYTES))


TARGET = Safetensors()

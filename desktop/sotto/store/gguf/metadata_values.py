"""A GGUF file's values as its model needs them: of the right type, or refused in a sentence that names the key."""

import struct
from collections.abc import Sequence
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.gguf.file import GgufFile
from sotto.store.printable import printable, printable_path

_MOST_FACTORS = 1 << 16


class Values:
    """The values of a file; keys that begin with a dot belong to its architecture."""

    def __init__(self, file: GgufFile) -> None:
        self.file = file
        architecture = file.values.get("general.architecture")
        if not isinstance(architecture, str) or not architecture:
            raise self.wrong("general.architecture", "a text")
        self.architecture = architecture

    def wrong(self, key: str, wanted: str) -> BrokenModelError:
        """Return the error that says that a key should be something else."""
        key = self._key(key)
        value = self.file.values.get(key)
        if value is None:
            said = "is missing"
        elif isinstance(value, list):
            said = f"is a list of {len(value)}"
        else:
            said = f"is {printable(str(value), 40)!r}" if isinstance(value, str) else f"is {value}"
        return BrokenModelError(f"{printable_path(self.file.path)}: {printable(key)} {said}; it should be {wanted}.")

    def whole(self, key: str, default: int | None = None, least: int = 1) -> int:
        """Return a whole number, for example a width; where layers have one each, they should agree."""
        value = self.file.values.get(self._key(key), default)
        if isinstance(value, list) and value and all(one == value[0] for one in value):
            value = value[0]
        if type(value) is not int or not least <= value < 1 << 31:
            raise self.wrong(key, f"a whole number from {least} on, the same for all layers")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """Return a number from 0 on, and finite."""
        value = self.file.values.get(self._key(key), default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e30:
            raise self.wrong(key, "a number from 0 on")
        # Numbers were written in 32 bits; the shortest text that means one is what its maker had written.
        return float(f"{value:.7g}") if isinstance(value, float) else value

    def text(self, key: str, default: str = "") -> str:
        """Return a text."""
        value = self.file.values.get(self._key(key), default)
        if not isinstance(value, str):
            raise self.wrong(key, "a text")
        return value

    def truth(self, key: str, default: bool) -> bool:
        """Return a truth value."""
        value = self.file.values.get(self._key(key), default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def items(self, key: str, kind: type | tuple[type, ...], wanted: str) -> Sequence[Any]:
        """Return a list of values of a kind; an empty one where there is none."""
        value = self.file.values.get(self._key(key), ())
        if not isinstance(value, list | tuple) or not all(isinstance(one, kind) for one in value[:1]):
            raise self.wrong(key, wanted)
        return value

    def layers(self) -> int:
        """Return the number of layers, for each of which there are tensors."""
        there = {name.split(".", 2)[1] for name in self.file.tensors if name.startswith("blk.")}
        count = self.whole(".block_count")
        if count > len(there):
            raise self.wrong(".block_count", f"{len(there)}, as there are tensors for")
        return count

    def has(self, key: str) -> bool:
        """Return whether there is such a key."""
        return self._key(key) in self.file.values

    def width(self, tensor: str, axis: int) -> int:
        """Return a dimension of a tensor that every model has."""
        info = self.file.tensors.get(tensor)
        if info is None or len(info.shape) <= max(axis, 0):
            raise BrokenModelError(f"{printable_path(self.file.path)} has no tensor {tensor} of two dimensions.")
        return info.shape[axis]

    def numbers_of(self, tensor: str) -> list[float] | None:
        """Return the numbers in a tensor of float32, or None where there is none of that name."""
        info = self.file.tensors.get(tensor)
        if info is None:
            return None
        if info.dtype != "F32" or len(info.shape) != 1 or info.shape[0] > _MOST_FACTORS:
            raise BrokenModelError(f"{printable_path(self.file.path)}: tensor {tensor} should be a row of F32.")
        numbers = struct.unpack(f"<{info.shape[0]}f", self.file.read(info))
        if not all(0 < number < 1e30 for number in numbers):
            raise BrokenModelError(f"{printable_path(self.file.path)}: tensor {tensor} should hold numbers above 0.")
        return [float(f"{number:.7g}") for number in numbers]

    def _key(self, key: str) -> str:
        return self.architecture + key if key.startswith(".") else key

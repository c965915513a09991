"""Typed access to the values of a GGUF file, with errors that name the key."""

import struct
from collections.abc import Sequence
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.gguf.file import GgufFile
from sotto.store.printable import printable, printable_path

_MAX_FACTORS = 1 << 16


class Values:
    """The values of a file; the architecture's name is put before keys that begin with a dot.

    All methods raise BrokenModelError if a value, or a required tensor, is missing or invalid.
    """

    def __init__(self, file: GgufFile) -> None:
        self.file = file
        architecture = file.values.get("general.architecture")
        if not isinstance(architecture, str) or not architecture:
            raise self.error("general.architecture", "a text")
        self.architecture = architecture

    def error(self, key: str, wanted: str) -> BrokenModelError:
        """Return an error saying that the value at a key should be `wanted`."""
        key = self._key(key)
        value = self.file.values.get(key)
        if value is None:
            found = "is missing"
        elif isinstance(value, list):
            found = f"is a list of {len(value)}"
        else:
            found = f"is {printable(str(value), 40)!r}" if isinstance(value, str) else f"is {value}"
        return BrokenModelError(f"{printable_path(self.file.path)}: {printable(key)} {found}; it should be {wanted}.")

    def integer(self, key: str, default: int | None = None, least: int = 1) -> int:
        """Return an integer of at least `least`; a list with a value for each layer must hold equal values."""
        value = self.file.values.get(self._key(key), default)
        if isinstance(value, list) and value and all(item == value[0] for item in value):
            value = value[0]
        if type(value) is not int or not least <= value < 1 << 31:
            raise self.error(key, f"a whole number from {least} on, the same for all layers")
        return value

    def integers(self, key: str, count: int, least: int = 0) -> list[int]:
        """Return an integer of at least `least` for each of `count` layers; a single one stands for all."""
        value = self.file.values.get(self._key(key))
        found: list[Any] = value[:count] if isinstance(value, list) else [value] * count
        if len(found) < count or any(type(item) is not int or not least <= item < 1 << 31 for item in found):
            raise self.error(key, f"a whole number from {least} on for each of {count} layers")
        return found

    def number(self, key: str, default: float | None = None) -> float:
        """Return a finite number that is not negative."""
        value = self.file.values.get(self._key(key), default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e30:
            raise self.error(key, "a number from 0 on")
        # Stored as float32: rounding to 7 digits restores the decimal number that the converter was given.
        return float(f"{value:.7g}") if isinstance(value, float) else value

    def string(self, key: str, default: str = "") -> str:
        """Return a string."""
        value = self.file.values.get(self._key(key), default)
        if not isinstance(value, str):
            raise self.error(key, "a text")
        return value

    def boolean(self, key: str, default: bool) -> bool:
        """Return a boolean."""
        value = self.file.values.get(self._key(key), default)
        if not isinstance(value, bool):
            raise self.error(key, "true or false")
        return value

    def array(self, key: str, kind: type | tuple[type, ...], wanted: str) -> Sequence[Any]:
        """Return a list of values of type `kind`, of which only the first is checked; empty if there is none."""
        value = self.file.values.get(self._key(key), ())
        if not isinstance(value, list | tuple) or not all(isinstance(item, kind) for item in value[:1]):
            raise self.error(key, wanted)
        return value

    def layer_count(self) -> int:
        """Return the number of layers, which is that of the layers with tensors."""
        layers = {name.split(".", 2)[1] for name in self.file.tensors if name.startswith("blk.")}
        count = self.integer(".block_count")
        if count != len(layers):
            raise self.error(".block_count", f"{len(layers)}, as there are tensors for")
        return count

    def has(self, key: str) -> bool:
        """Return whether there is such a key."""
        return self._key(key) in self.file.values

    def dimension(self, tensor: str, axis: int) -> int:
        """Return one dimension of a tensor; BrokenModelError if there is no such tensor."""
        info = self.file.tensors.get(tensor)
        if info is None or len(info.shape) <= max(axis, 0):
            raise BrokenModelError(f"{printable_path(self.file.path)} has no tensor {tensor} of two dimensions.")
        return info.shape[axis]

    def tensor_values(self, tensor: str) -> list[float] | None:
        """Return the numbers in a one-dimensional float32 tensor, or None if there is no such tensor."""
        info = self.file.tensors.get(tensor)
        if info is None:
            return None
        if info.dtype != "F32" or len(info.shape) != 1 or info.shape[0] > _MAX_FACTORS:
            raise BrokenModelError(f"{printable_path(self.file.path)}: tensor {tensor} should be a row of F32.")
        numbers = struct.unpack(f"<{info.shape[0]}f", self.file.read(info))
        if not all(0 < number < 1.1e30 for number in numbers):
            raise BrokenModelError(f"{printable_path(self.file.path)}: tensor {tensor} should hold numbers above 0.")
        return [float(f"{number:.7g}") for number in numbers]

    def _key(self, key: str) -> str:
        return self.architecture + key if key.startswith(".") else key

"""Frozen values as JSON and back, exactly: the one form in which anything crosses between processes.

A value is an object with its class's name under `is` and its fields. What comes in is checked against the annotations
of the class: another field, a missing one or one of another type is refused, so that whoever reads a line gets a whole
value or a `WireError`, and nothing else.

Written by hand because msgspec tells the members of a union apart only where they are its own structs, and these are
the engine's plain dataclasses.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from sotto.engine.contract import events
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.memory.memory_figures import Measured, MemoryFigures
from sotto.errors import SottoError
from sotto.runner.commands import Command

# The longest line holds a conversation that fills the largest context there is, or an answer that does.
LONGEST_LINE = 256 << 20
_EXCERPT_LENGTH = 80


class WireError(SottoError):
    """What came from another process is no value that was agreed on."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The first that a child is told, on its stdin.

    Attributes:
        token: Must be named in every call.
        settings: Of the engine; None as they are kept on this machine.
    """

    token: str
    settings: EngineSettings | None = None


@dataclass(frozen=True, slots=True)
class Listening:
    """The first that a child says, on its stdout.

    Attributes:
        port: Where it listens, on this machine alone.
    """

    port: int


WIRE_CLASSES: Mapping[str, type] = {
    one.__name__: one
    for one in (
        *(*get_args(Command), Hello, Listening),
        *(events.LoadProgress, events.Loaded, events.Unloaded, events.Failed, MemoryFigures, Measured),
        *(events.PrefillProgress, events.TextChunk, events.Finished, events.Embedded, events.Counted),
    )
}


def encode(value: Any) -> bytes:
    """Return a value as one line, its end included."""
    return json.dumps({"is": type(value).__name__} | _to_json(value), separators=(",", ":")).encode("ascii") + b"\n"


def decode(line: bytes) -> Any:
    """Return the value of a line.

    Raises:
        WireError: It holds none.
    """
    try:
        read = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise WireError(f"{_excerpt(line)} is no JSON object ({type(error).__name__}).") from error
    name = read.pop("is", None) if isinstance(read, dict) else None
    kind = WIRE_CLASSES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise WireError(f"{_excerpt(line)} is no value that is known here.")
    return _reader(kind)(read)


class Lines:
    """Cuts a stream of bytes into lines."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        """Begin with nothing; no line may have more than `longest` bytes."""
        self._longest = longest
        self._partial: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes; return the lines that they complete, without their ends.

        Raises:
            WireError: A line is too long.
        """
        *ends, rest = data.split(b"\n")
        lines = []
        for end in ends:
            lines.append(b"".join((*self._partial, end)))
            self._partial, self._size = [], 0
        self._partial.append(rest)
        self._size += len(rest)
        if self._size > self._longest or any(len(line) > self._longest for line in lines):
            raise WireError(f"A line is longer than {self._longest} bytes.")
        return lines


def _to_json(value: Any) -> Any:
    """Return what JSON has for a value."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: _to_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_to_json(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, Path) else value


@cache
def _reader(wanted: Any) -> Callable[[Any], Any]:
    """Return what makes a value of the annotation `wanted` from JSON, or raises WireError."""
    origin, arguments = get_origin(wanted), get_args(wanted)
    if wanted is Any:
        return lambda read: read
    if origin in (UnionType, Union):
        # Here None, and what JSON has other types for.
        others = [one for one in arguments if one is not NoneType]
        readers = {list if get_origin(one) is tuple else one: _reader(one) for one in others}
        usual = _reader(others[0])
        return lambda read: None if read is None else readers.get(type(read), usual)(read)
    if origin is tuple:
        return _tuple_reader(arguments)
    if origin is not None:  # a mapping of options
        return lambda read: _expect(read, dict)
    if is_dataclass(wanted):
        return _object_reader(wanted)
    if issubclass(wanted, StrEnum | Path):
        return lambda read: _convert(wanted, wanted.__name__, _expect(read, str))
    if wanted is bytes:
        return lambda read: _convert(bytes.fromhex, "bytes", _expect(read, str))
    if wanted is float:
        return lambda read: read if type(read) is int else _expect(read, float)
    return lambda read: _expect(read, wanted)


def _tuple_reader(arguments: tuple[Any, ...]) -> Callable[[Any], Any]:
    if arguments[-1] is Ellipsis:
        read_item = _reader(arguments[0])
        return lambda read: tuple(map(read_item, _expect(read, list)))
    readers = [_reader(one) for one in arguments]

    def read_items(read: Any) -> Any:
        if len(_expect(read, list)) != len(readers):
            raise WireError(f"{_excerpt(read)} has not {len(readers)} items.")
        return tuple(read_item(item) for read_item, item in zip(readers, read, strict=True))

    return read_items


def _object_reader(wanted: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(wanted)
    readers = {field.name: _reader(hints[field.name]) for field in fields(wanted)}
    required = {field.name for field in fields(wanted) if field.default is MISSING and field.default_factory is MISSING}

    def read_object(read: Any) -> Any:
        given = _expect(read, dict).keys()
        if wrong := (given - readers.keys()) | (required - given):
            raise WireError(f"{wanted.__name__} does not have exactly its fields: {_excerpt(sorted(wrong))}.")
        return wanted(**{name: readers[name](item) for name, item in read.items()})

    return read_object


def _expect(read: Any, kind: type) -> Any:
    # Not isinstance: True is an int there.
    if type(read) is not kind:
        raise WireError(f"{_excerpt(read)} is not of type {kind.__name__}.")
    return read


def _convert(make: Callable[[str], Any], name: str, text: str) -> Any:
    try:
        return make(text)
    except ValueError as error:
        raise WireError(f"{_excerpt(text)} is no {name}.") from error


def _excerpt(value: Any) -> str:
    # What is shown may be very large: only its beginning is looked at.
    text = repr(value[:_EXCERPT_LENGTH]) if isinstance(value, str | bytes | list) else repr(value)
    return text if len(text) <= _EXCERPT_LENGTH else f"{text[:_EXCERPT_LENGTH]}..."

"""Lossless JSON encoding of the values that cross between processes.

A value is an object of its fields, with its class's name under `is`. Input is checked against the annotations of the
class: an unknown or missing field, or one of another type, is refused, so that the reader of a line gets either a
complete value or a `WireError`.

Written by hand because msgspec distinguishes the members of a union only if they are its own structs, and these are
the engine's plain dataclasses.
"""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from sotto.engine.contract import events
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.message_content import Part
from sotto.engine.memory.memory_figures import Measured, MemoryFigures
from sotto.errors import SottoError
from sotto.runner.commands import Command

# The longest line holds the largest request to the API, in which an escaped byte takes six.
LONGEST_LINE = 1 << 30
_EXCERPT_LENGTH = 80


class WireError(SottoError):
    """Input from another process violates the protocol."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message to a child, on its stdin.

    Attributes:
        token: Required in every call.
        settings: Those of the engine; None for those stored on this machine.
    """

    token: str
    settings: EngineSettings | None = None


@dataclass(frozen=True, slots=True)
class Listening:
    """The first message from a child, on its stdout.

    Attributes:
        port: The loopback port on which it listens.
    """

    port: int


WIRE_CLASSES: Mapping[str, type] = {
    kind.__name__: kind
    for kind in (
        *(*get_args(Command), Hello, Listening),
        *(events.LoadProgress, events.Loaded, events.Unloaded, events.Failed, MemoryFigures, Measured),
        *(events.PrefillProgress, events.TextChunk, events.Finished, events.Embedded, events.Counted),
    )
}


def encode(value: Any) -> bytes:
    """Return a value as one line, including its line feed."""
    return json.dumps({"is": type(value).__name__} | _to_json(value), separators=(",", ":")).encode("ascii") + b"\n"


def decode(line: bytes) -> Any:
    """Return the value of a line.

    Raises:
        WireError: It does not hold a known value.
    """
    try:
        read = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise WireError(f"{_excerpt(line)} is not a JSON object ({type(error).__name__}).") from error
    name = read.pop("is", None) if isinstance(read, dict) else None
    kind = WIRE_CLASSES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise WireError(f"{_excerpt(line)} is not a known value.")
    return _reader(kind)(read)


class Lines:
    """Splits a stream of bytes into lines."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        """Begin empty; lines may have at most `longest` bytes."""
        self._longest = longest
        self._partial: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes; return the lines that they complete, without line feeds.

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
    """Return a value as JSON types."""
    if is_dataclass(value) and not isinstance(value, type):
        written = {field.name: _to_json(getattr(value, field.name)) for field in fields(value) if field.init}
        return {"is": type(value).__name__} | written if isinstance(value, get_args(Part)) else written
    if isinstance(value, Mapping):
        return {key: _to_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_to_json(item) for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return str(value) if isinstance(value, Path) else value


@cache
def _reader(wanted: Any) -> Callable[[Any], Any]:
    """Return a function that converts JSON to a value annotated as `wanted`, or raises WireError."""
    origin, arguments = get_origin(wanted), get_args(wanted)
    if wanted is Any:
        return lambda read: read
    if origin in (UnionType, Union):
        members = [member for member in arguments if member is not NoneType]
        if all(map(is_dataclass, members)) and len(members) > 1:
            return _tagged_reader(members)
        # The others hold None and types that JSON represents differently.
        readers = {list if get_origin(member) is tuple else member: _reader(member) for member in members}
        default = _reader(members[0])
        return lambda read: None if read is None else readers.get(type(read), default)(read)
    if origin is tuple:
        return _tuple_reader(arguments)
    if origin is not None:  # a mapping of options
        return lambda read: _expect(read, dict)
    if wanted in get_args(Part):
        return _tagged_reader([wanted])
    if is_dataclass(wanted):
        return _object_reader(wanted)
    if issubclass(wanted, StrEnum | Path):
        return lambda read: _convert(wanted, wanted.__name__, _expect(read, str))
    if wanted is bytes:
        return lambda read: _convert(partial(base64.b64decode, validate=True), "bytes", _expect(read, str))
    if wanted is float:
        return lambda read: read if type(read) is int else _expect(read, float)
    return lambda read: _expect(read, wanted)


def _tagged_reader(members: Sequence[type]) -> Callable[[Any], Any]:
    readers = {member.__name__: _object_reader(member) for member in members}

    def read_member(read: Any) -> Any:
        name = _expect(read, dict).get("is")
        if not isinstance(name, str) or name not in readers:
            raise WireError(f"{_excerpt(read)} is none of {', '.join(readers)}.")
        return readers[name]({key: item for key, item in read.items() if key != "is"})

    return read_member


def _tuple_reader(arguments: tuple[Any, ...]) -> Callable[[Any], Any]:
    if arguments[-1] is Ellipsis:
        read_item = _reader(arguments[0])
        return lambda read: tuple(map(read_item, _expect(read, list)))
    readers = [_reader(argument) for argument in arguments]

    def read_items(read: Any) -> Any:
        if len(_expect(read, list)) != len(readers):
            raise WireError(f"{_excerpt(read)} has not {len(readers)} items.")
        return tuple(read_item(item) for read_item, item in zip(readers, read, strict=True))

    return read_items


def _object_reader(wanted: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(wanted)
    given_fields = [field for field in fields(wanted) if field.init]
    readers = {field.name: _reader(hints[field.name]) for field in given_fields}
    required = {field.name for field in given_fields if field.default is MISSING and field.default_factory is MISSING}

    def read_object(read: Any) -> Any:
        given = _expect(read, dict).keys()
        if wrong := (given - readers.keys()) | (required - given):
            raise WireError(f"{wanted.__name__} does not have exactly its fields: {_excerpt(sorted(wrong))}.")
        return wanted(**{name: readers[name](item) for name, item in read.items()})

    return read_object


def _expect(read: Any, kind: type) -> Any:
    # Not isinstance, which takes True for an int.
    if type(read) is not kind:
        raise WireError(f"{_excerpt(read)} is not of type {kind.__name__}.")
    return read


def _convert(make: Callable[[str], Any], name: str, text: str) -> Any:
    try:
        return make(text)
    except ValueError as error:
        raise WireError(f"{_excerpt(text)} is not a {name}.") from error


def _excerpt(value: Any) -> str:
    # Cut first, because the value may be very large.
    text = repr(value[:_EXCERPT_LENGTH]) if isinstance(value, str | bytes | list) else repr(value)
    return text if len(text) <= _EXCERPT_LENGTH else f"{text[:_EXCERPT_LENGTH]}..."

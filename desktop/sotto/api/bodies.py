"""Reading the body of a request, within bounds."""

import asyncio
import functools
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.requests import Request

from sotto.api.answers import Answer
from sotto.api.error_bodies import ApiError, bad, busy
from sotto.api.fields import Body
from sotto.engine.grammar.schema_checks import DEEPEST_SCHEMA
from sotto.errors import BrokenModelError
from sotto.store.bounded_json import parse_object
from sotto.store.printable import printable

LARGEST = 32 << 20
# Read at once; more would keep others waiting.
_LITTLE = 256 << 10
_SECONDS = 120
# A schema may nest as deep as the engine allows, in a few objects around it.
_DEEPEST = DEEPEST_SCHEMA + 8
# Where schemas stand in a body, in all dialects; * is a place in a list.
_SCHEMAS = (
    ("format",),
    ("json_schema",),
    ("response_format", "json_schema", "schema"),
    ("text", "format", "schema"),
    ("output_config", "format", "schema"),
    ("tools", "*", "function", "parameters"),
    ("tools", "*", "parameters"),
    ("tools", "*", "input_schema"),
)
_LONGEST_PATH = max(map(len, _SCHEMAS))
_TOKENS = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"?|[\[{]|[\]}]|,', re.DOTALL)


B = TypeVar("B", bound=Body)
H = TypeVar("H")
Handler = Callable[[H, Request], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Taken:
    """What a handler takes and gives, for `/openapi.json`.

    Attributes:
        kind: The fields of the body.
        media_types: Of its answers.
    """

    kind: type[Body]
    media_types: tuple[str, ...]


class Room:
    """The bytes that all bodies being read on one event loop may take together."""

    def __init__(self, size: int) -> None:
        """Begin with all `size` bytes free."""
        self._free = size

    @contextmanager
    def reserve(self) -> Iterator[Callable[[int], None]]:
        """Yield a function that takes bytes, freed at the end; it raises ApiError where too few are left."""
        taken = 0

        def take(count: int) -> None:
            nonlocal taken
            if count > self._free:
                raise busy()
            self._free -= count
            taken += count

        try:
            yield take
        finally:
            self._free += taken


# All who send at once fill no more than this.
_ROOM = Room(8 * LARGEST)


def takes(
    kind: type[B], *, streams: str = "", answers: str = "application/json"
) -> Callable[[Callable[[H, B], Awaitable[Answer]]], "Handler[H]"]:
    """Decorate a handler so that it is given the body of each request.

    Args:
        kind: The body's fields.
        streams: The media type of an answer in pieces; empty where there is none.
        answers: The media type of a whole answer; empty for one without content.
    """

    def decorate(handle: Callable[[H, B], Awaitable[Answer]]) -> "Handler[H]":
        @functools.wraps(handle)
        async def handler(self: H, request: Request) -> Answer:
            return await handle(self, kind(await _values_of(request)))

        handler.__dict__["taken"] = Taken(kind, tuple(filter(None, (answers, streams))))
        return handler

    return decorate


async def _values_of(request: Request) -> Mapping[str, Any]:
    """Return the JSON object that a request brings.

    Raises:
        ApiError: It brings none, or one that is too large.
    """
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > LARGEST:
        raise _too_large()
    with _ROOM.reserve() as take:
        try:
            async with asyncio.timeout(_SECONDS):
                data = await _read(request, take)
        except TimeoutError as error:
            raise ApiError(HTTPStatus.REQUEST_TIMEOUT, f"The body was not there after {_SECONDS} seconds.") from error
    if not data.strip():
        raise bad("missing request body")
    if len(data) < _LITTLE:
        return _parse(data)
    return await asyncio.to_thread(_parse, data)


async def _read(request: Request, take: Callable[[int], None]) -> bytes:
    data = bytearray()
    async for piece in request.stream():
        take(len(piece))
        data += piece
        if len(data) > LARGEST:
            raise _too_large()
    return bytes(data)


def _too_large() -> ApiError:
    return ApiError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body is larger than {LARGEST >> 20} MiB; send less at once."
    )


def _parse(data: bytes) -> Mapping[str, Any]:
    try:
        return parse_object(data, "The body", strict=False, max_depth=_DEEPEST)
    except BrokenModelError as error:
        deep = _deep_field(data)
        told = f"{deep} is nested too deep: from 1 to {DEEPEST_SCHEMA} levels are allowed." if deep else error.message
        raise bad(told) from error


def _deep_field(data: bytes) -> str:
    """Return which field of a body nests too deep, a schema by its whole path; empty for none."""
    # For each bracket that is open what it stands at; a number in a list, the last text seen in an object.
    path: list[str | int] = []
    for token in _TOKENS.finditer(data):
        if token[0] in b"[{":
            path.append(0 if token[0] == b"[" else "")
        elif token[0] in b"]}":
            del path[-1:]
        elif not path or len(path) > _LONGEST_PATH:
            continue
        elif token[0] == b",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else ""
        elif path[-1] == "":
            # A key: a value stands where the key is known already.
            path[-1] = token[1].decode(errors="replace")
        if len(path) > _DEEPEST:
            return _shown_path(path)
    return ""


def _shown_path(path: Sequence[str | int]) -> str:
    """Return the beginning of a path that is a schema's, or else the field that it begins with."""
    place = tuple("*" if isinstance(step, int) else step for step in path)
    length = next((len(schema) for schema in _SCHEMAS if place[: len(schema)] == schema), 1)
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path[:length])
    return printable("".join(steps).removeprefix("."))

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
from sotto.api.error_bodies import ApiError, bad_request, busy_error
from sotto.api.fields import Body
from sotto.api.request_log import current_request
from sotto.engine.grammar.schema_checks import DEEPEST_SCHEMA
from sotto.errors import BrokenModelError
from sotto.store.bounded_json import parse_object
from sotto.store.printable import printable

MAX_BODY_BYTES = 160 << 20
"""The most of any request: ten images of 10 MB in base64, and a long text."""
_MAX_TEXT_BYTES = 32 << 20
# Bytes of a body that is parsed on the event loop; a larger one would hold up other requests.
_MAX_INLINE_BYTES = 256 << 10
_READ_TIMEOUT_SECONDS = 120
# A schema may nest as deep as the engine allows, inside a few other objects.
_MAX_DEPTH = DEEPEST_SCHEMA + 8
# The paths of schemas in the bodies of all dialects; * is an index in a list.
_SCHEMA_PATHS = (
    ("format",),
    ("json_schema",),
    ("response_format", "json_schema", "schema"),
    ("text", "format", "schema"),
    ("output_config", "format", "schema"),
    ("tools", "*", "function", "parameters"),
    ("tools", "*", "parameters"),
    ("tools", "*", "input_schema"),
)
_MAX_PATH_LENGTH = max(map(len, _SCHEMA_PATHS))
_TOKENS = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"?|[\[{]|[\]}]|,', re.DOTALL)


B = TypeVar("B", bound=Body)
H = TypeVar("H")
Handler = Callable[[H, Request], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class HandlerTypes:
    """The input and output types of a handler, for `/openapi.json`.

    Attributes:
        kind: The class that declares the body's fields.
        media_types: The media types of its answers.
    """

    kind: type[Body]
    media_types: tuple[str, ...]


class Room:
    """A limit on the bytes of all bodies that are being read on one event loop."""

    def __init__(self, size: int) -> None:
        """Begin with all `size` bytes free."""
        self._free = size

    @contextmanager
    def reserve(self) -> Iterator[Callable[[int], None]]:
        """Yield a function that reserves bytes until the end; it raises ApiError if too few are free."""
        taken = 0

        def take(count: int) -> None:
            nonlocal taken
            if count > self._free:
                raise busy_error()
            self._free -= count
            taken += count

        try:
            yield take
        finally:
            self._free += taken


# Bounds the memory of all bodies that are sent at once, until their contents are read.
_ROOM = Room(2 * MAX_BODY_BYTES)


def takes(
    kind: type[B], *, streams: str = "", answers: str = "application/json", images: bool = False
) -> Callable[[Callable[[H, B], Awaitable[Answer]]], "Handler[H]"]:
    """Decorate a handler so that it receives the parsed body of each request.

    Args:
        kind: The class that declares the body's fields.
        streams: The media type of a streamed answer; empty if it never streams.
        answers: The media type of a whole answer; empty for one without content.
        images: Whether bodies may hold images, which make them larger.
    """
    most = MAX_BODY_BYTES if images else _MAX_TEXT_BYTES

    def decorate(handle: Callable[[H, B], Awaitable[Answer]]) -> "Handler[H]":
        @functools.wraps(handle)
        async def handler(self: H, request: Request) -> Answer:
            with _ROOM.reserve() as take:
                values = await _values_of(request, most, take)
                if isinstance(model := values.get("model"), str):
                    current_request().ask_for(model)
                return await handle(self, kind(values))

        handler.__dict__["handler_types"] = HandlerTypes(kind, tuple(filter(None, (answers, streams))))
        return handler

    return decorate


async def _values_of(request: Request, most: int, take: Callable[[int], None]) -> Mapping[str, Any]:
    """Return the JSON object in the body of a request, which may have at most `most` bytes.

    Raises:
        ApiError: The body is missing, invalid, too large or too slow to arrive.
    """
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > most:
        raise _too_large(most)
    try:
        async with asyncio.timeout(_READ_TIMEOUT_SECONDS):
            data = await _read(request, most, take)
    except TimeoutError as error:
        message = f"The body did not arrive within {_READ_TIMEOUT_SECONDS} seconds."
        raise ApiError(HTTPStatus.REQUEST_TIMEOUT, message) from error
    if not data.strip():
        raise bad_request("missing request body")
    if len(data) < _MAX_INLINE_BYTES:
        return _parse(data)
    return await asyncio.to_thread(_parse, data)


async def _read(request: Request, most: int, take: Callable[[int], None]) -> bytes:
    data = bytearray()
    async for piece in request.stream():
        take(len(piece))
        data += piece
        if len(data) > most:
            raise _too_large(most)
    return bytes(data)


def _too_large(most: int) -> ApiError:
    return ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body is larger than {most >> 20} MiB; send less.")


def _parse(data: bytes) -> Mapping[str, Any]:
    try:
        return parse_object(data, "The body", strict=False, max_depth=_MAX_DEPTH)
    except BrokenModelError as error:
        deep = _deep_field(data)
        message = f"{deep} is nested too deeply: at most {DEEPEST_SCHEMA} levels are allowed."
        raise bad_request(message if deep else error.message) from error


def _deep_field(data: bytes) -> str:
    """Return the field of a body that nests too deep, a schema by its whole path; empty for none."""
    # The position in each open bracket: an index in a list, the last key in an object.
    path: list[str | int] = []
    for token in _TOKENS.finditer(data):
        if token[0] in b"[{":
            path.append(0 if token[0] == b"[" else "")
        elif token[0] in b"]}":
            del path[-1:]
        elif not path or len(path) > _MAX_PATH_LENGTH:
            continue
        elif token[0] == b",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else ""
        elif path[-1] == "":
            # The first string of an entry is its key; the value that follows finds the key set.
            path[-1] = token[1].decode(errors="replace")
        if len(path) > _MAX_DEPTH:
            return _shown_path(path)
    return ""


def _shown_path(path: Sequence[str | int]) -> str:
    """Return the part of a path that leads to a schema, or else its first field."""
    place = tuple("*" if isinstance(step, int) else step for step in path)
    length = next((len(schema) for schema in _SCHEMA_PATHS if place[: len(schema)] == schema), 1)
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path[:length])
    return printable("".join(steps).removeprefix("."))

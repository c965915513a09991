"""Reading the body of a request, within bounds."""

import asyncio
import re
from http import HTTPStatus

from starlette.requests import Request

from sotto.api.errors import ApiError, bad
from sotto.api.fields import Fields
from sotto.engine.schema_checks import DEEPEST_SCHEMA
from sotto.errors import BrokenModelError
from sotto.store.bounded_json import parse_object
from sotto.store.wording import shown

LARGEST = 32 << 20
# Read at once; more would keep others waiting.
_LITTLE = 256 << 10
_SECONDS = 120
# A schema may nest as deep as the engine allows, in a few objects around it.
_DEEPEST = DEEPEST_SCHEMA + 8
_TOKENS = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"?|[\[{]|[\]}]', re.DOTALL)


async def fields_of(request: Request) -> Fields:
    """Return the JSON object that a request brings.

    Raises:
        ApiError: It brings none, or one that is too large.
    """
    try:
        async with asyncio.timeout(_SECONDS):
            data = await _read(request)
    except TimeoutError as error:
        raise ApiError(HTTPStatus.REQUEST_TIMEOUT, f"The body was not there after {_SECONDS} seconds.") from error
    if not data.strip():
        raise bad("missing request body")
    if len(data) < _LITTLE:
        return _parsed(data)
    return await asyncio.to_thread(_parsed, data)


async def _read(request: Request) -> bytes:
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > LARGEST:
            raise ApiError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body is larger than {LARGEST >> 20} MiB; send less at once."
            )
    return bytes(data)


def _parsed(data: bytes) -> Fields:
    try:
        return Fields(parse_object(data, "The body", strict=False, deepest=_DEEPEST))
    except BrokenModelError as error:
        deep = _deep_field(data)
        told = f"{deep} is nested too deep: from 1 to {DEEPEST_SCHEMA} levels are allowed." if deep else error.message
        raise bad(told) from error


def _deep_field(data: bytes) -> str:
    """Return which field of a body nests too deep; empty for none."""
    depth, field = 0, ""
    for token in _TOKENS.finditer(data):
        if token[0] in b"[{":
            depth += 1
        elif token[0] in b"]}":
            depth -= 1
        elif depth == 1:
            field = shown(token[1].decode(errors="replace"))
        if depth > _DEEPEST:
            return field
    return ""

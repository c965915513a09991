"""Reading the body of a request, within bounds."""

import asyncio
from http import HTTPStatus

from starlette.requests import Request

from sotto.api.errors import ApiError, bad
from sotto.api.fields import Fields
from sotto.errors import BrokenModelError
from sotto.store.bounded_json import parse_object

LARGEST = 32 << 20
# Read at once; more would keep others waiting.
_LITTLE = 256 << 10
_SECONDS = 120


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
        return Fields(parse_object(data, "The body", strict=False))
    except BrokenModelError as error:
        raise bad(error.message) from error

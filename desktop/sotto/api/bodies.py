"""Reading the body of a request, within bounds."""

from http import HTTPStatus

from starlette.requests import Request

from sotto.api.errors import ApiError, bad
from sotto.api.fields import Fields
from sotto.errors import BrokenModelError
from sotto.store.bounded_json import parse_object

LARGEST = 32 << 20


async def fields_of(request: Request) -> Fields:
    """Return the JSON object that a request brings.

    Raises:
        ApiError: It brings none, or one that is too large.
    """
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > LARGEST:
            raise ApiError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body is larger than {LARGEST >> 20} MiB; send less at once."
            )
    if not data.strip():
        raise bad("missing request body")
    try:
        return Fields(parse_object(bytes(data), "The body", strict=False))
    except BrokenModelError as error:
        raise bad(error.message) from error

"""Errors with the HTTP status that clients get."""

from http import HTTPStatus

from sotto.engine.contract.events import Failed
from sotto.engine.contract.failure_events import OUT_OF_MEMORY
from sotto.errors import SottoError
from sotto.runner.host import NOT_LOADED
from sotto.store.printable import printable

# Longer than any message of Sotto's; bounds what a client's own text can add.
_MAX_MESSAGE_LENGTH = 4000


class ApiError(SottoError):
    """A request cannot be served.

    Attributes:
        status: The HTTP status of the response.
    """

    def __init__(self, status: int, message: str) -> None:
        """Give the reason as a sentence; it may quote the client, so it is made one printable line here."""
        super().__init__(printable(message, _MAX_MESSAGE_LENGTH))
        self.status = status


class NotFoundError(ApiError):
    """No model has the requested name."""

    def __init__(self, name: str) -> None:
        """Name the missing model, in the words that clients of Ollama know."""
        super().__init__(HTTPStatus.NOT_FOUND, f"model '{name[:200]}' not found")


def bad_request(message: str) -> ApiError:
    """Return the error for an invalid request."""
    return ApiError(HTTPStatus.BAD_REQUEST, message)


def not_implemented(what: str) -> ApiError:
    """Return the error for a feature that Sotto does not have yet; `what` is a sentence."""
    return ApiError(HTTPStatus.NOT_IMPLEMENTED, what)


def busy_error() -> ApiError:
    """Return the error for one request too many, in the words that clients of Ollama know."""
    return ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "server busy, please try again.  maximum pending requests exceeded")


def stopped_error() -> ApiError:
    """Return the error for requests that arrive or are running while the server stops."""
    return ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "The server is stopping.")


def answer_error(event: Failed) -> ApiError:
    """Return the error for a failed answer; a failure that is neither a bug nor lack of memory blames the request."""
    if event.bug or event.message == OUT_OF_MEMORY:
        return ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, event.message)
    if event.message == NOT_LOADED:
        return ApiError(HTTPStatus.SERVICE_UNAVAILABLE, event.message)
    return bad_request(event.message)

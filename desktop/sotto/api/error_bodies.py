"""Errors with the status that a client is told."""

from http import HTTPStatus

from sotto.engine.contract.events import Failed
from sotto.engine.contract.failure_events import OUT_OF_MEMORY
from sotto.errors import SottoError
from sotto.runner.host import NOT_LOADED
from sotto.store.printable import printable

# Longer than any sentence of ours.
_LONGEST = 4000


class ApiError(SottoError):
    """A request cannot be served.

    Attributes:
        status: The HTTP status that says so.
    """

    def __init__(self, status: int, message: str) -> None:
        """Say why, in a sentence; what a client sent may be in it, so that it is made one printable line here."""
        super().__init__(printable(message, _LONGEST))
        self.status = status


class NotFoundError(ApiError):
    """No model is called so."""

    def __init__(self, name: str) -> None:
        """Name what is missing, in the words that clients of Ollama know."""
        super().__init__(HTTPStatus.NOT_FOUND, f"model '{name[:200]}' not found")


def bad(message: str) -> ApiError:
    """Return the error for a request that is wrong as it stands."""
    return ApiError(HTTPStatus.BAD_REQUEST, message)


def missing(what: str) -> ApiError:
    """Return the error for what Sotto cannot do yet; `what` is a sentence."""
    return ApiError(HTTPStatus.NOT_IMPLEMENTED, what)


def busy() -> ApiError:
    """Return the error for one request too many, in the words that clients of Ollama know."""
    return ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "server busy, please try again.  maximum pending requests exceeded")


def stopped_error() -> ApiError:
    """Return the error for what comes, or is under way, when the server ends."""
    return ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "The server is being stopped.")


def of_answer(event: Failed) -> ApiError:
    """Return the error for an answer that failed: what is no fault of Sotto's or the machine's is the request's."""
    if event.bug or event.message == OUT_OF_MEMORY:
        return ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, event.message)
    if event.message == NOT_LOADED:
        return ApiError(HTTPStatus.SERVICE_UNAVAILABLE, event.message)
    return bad(event.message)

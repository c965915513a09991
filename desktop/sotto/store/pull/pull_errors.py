"""Network errors of downloads, and which of them are worth a retry."""

import os
import ssl

import httpx

from sotto.errors import DownloadError
from sotto.store.printable import printable

# Exceptions of a request without a response; all but the first two are raised for invalid addresses.
REQUEST_ERRORS = (httpx.TransportError, OSError, httpx.InvalidURL, ValueError, OverflowError, ExceptionGroup)

_MAX_RETRY_AFTER = 120.0
_BUSY_STATUSES = frozenset({408, 425, 429})


class TryAgainError(DownloadError):
    """An error that may be temporary.

    Attributes:
        silent: Whether the registry sent nothing, as opposed to an error.
        after: Seconds after which the registry allows a retry; None if it does not say.
    """

    def __init__(self, message: str, *, silent: bool = False, after: float | None = None) -> None:
        """Create the error with a sentence for the user."""
        super().__init__(message)
        self.silent = silent
        self.after = after


class WrongBytesError(DownloadError):
    """The received bytes are not those of the requested blob, so they must be discarded."""


def connection_error(error: Exception, host: str, silence: float) -> DownloadError:
    """Return the error for a request without a complete response.

    Args:
        error: One of `REQUEST_ERRORS`.
        host: The host of the request, as printable text.
        silence: The timeout without a byte, in seconds.
    """
    causes = _causes(error)
    untrusted = next((cause for cause in causes if isinstance(cause, ssl.SSLCertVerificationError)), None)
    if untrusted is not None:
        why = untrusted.verify_message or "its certificate is bad"
        return DownloadError(f"{host} does not prove that it is {host}: {printable(why).rstrip('.')}.")
    if isinstance(error, httpx.TimeoutException):
        return TryAgainError(f"{host} has sent nothing for {silence:g} seconds.", silent=True)
    if isinstance(error, httpx.ConnectError):
        return TryAgainError(f"{host} cannot be reached{_system_reason(causes)}.")
    if isinstance(error, httpx.TransportError | OSError):
        return TryAgainError(f"The connection to {host} was lost.")
    return DownloadError(f"'{host}' is not an address that can be reached.")


def busy_error(response: httpx.Response, host: str) -> TryAgainError | None:
    """Return the error for a response that says the host is overloaded or failing; None for any other response."""
    status = response.status_code
    if status not in _BUSY_STATUSES and status < 500:
        return None
    text = response.headers.get("Retry-After", "")
    # A date instead of seconds is ignored.
    after = min(float(text), _MAX_RETRY_AFTER) if text.isascii() and text.isdigit() else None
    return TryAgainError(f"{host} is busy or failing (status {status}).", after=after)


def _causes(error: BaseException | None) -> list[BaseException]:
    """Return an error and the chain of errors that caused it."""
    causes: list[BaseException] = []
    while error is not None and error not in causes:
        causes.append(error)
        error = error.__cause__ or error.__context__
    return causes


def _system_reason(causes: list[BaseException]) -> str:
    """Return the operating system's reason in brackets, or an empty string."""
    for cause in reversed(causes):
        if isinstance(cause, OSError) and cause.errno:
            # Errors of host look-ups have their own, negative numbers.
            reason = os.strerror(cause.errno) if cause.errno > 0 else cause.strerror
            return f" ({printable(reason)})" if reason else ""
    return ""

"""What goes wrong between here and a registry, and whether it is worth another try."""

import os
import ssl

import httpx

from sotto.errors import DownloadError
from sotto.store.printable import printable

# What a request can end with that never had an answer; those but the first two come from addresses that are none.
NO_ANSWER = (httpx.TransportError, OSError, httpx.InvalidURL, ValueError, OverflowError, ExceptionGroup)

_LONGEST_RETRY_AFTER = 120.0
_BUSY = frozenset({408, 425, 429})


class TryAgainError(DownloadError):
    """Something that may be over soon.

    Attributes:
        silent: Whether nothing came, rather than something wrong.
        after: How many seconds the registry wants to be left alone; None where it does not say.
    """

    def __init__(self, message: str, *, silent: bool = False, after: float | None = None) -> None:
        """Say what it is."""
        super().__init__(message)
        self.silent = silent
        self.after = after


class WrongBytesError(DownloadError):
    """What came is not what was asked for; what was written of it is worth nothing."""


def no_answer(error: Exception, host: str, silence: float) -> DownloadError:
    """Return what it means that a request had no answer, or only the beginning of one.

    Args:
        error: One of `NO_ANSWER`.
        host: Whose answer it should have been, as it can be shown.
        silence: After how many seconds without a byte it was given up.
    """
    causes = _causes(error)
    untrusted = next((cause for cause in causes if isinstance(cause, ssl.SSLCertVerificationError)), None)
    if untrusted is not None:
        why = untrusted.verify_message or "its certificate is bad"
        return DownloadError(f"{host} does not prove that it is {host}: {printable(why).rstrip('.')}.")
    if isinstance(error, httpx.TimeoutException):
        return TryAgainError(f"{host} has sent nothing for {silence:g} seconds.", silent=True)
    if isinstance(error, httpx.ConnectError):
        return TryAgainError(f"{host} cannot be reached{_said(causes)}.")
    if isinstance(error, httpx.TransportError | OSError):
        return TryAgainError(f"The connection to {host} broke off.")
    return DownloadError(f"'{host}' is no address that can be reached.")


def busy(response: httpx.Response, host: str) -> TryAgainError | None:
    """Return what it means that a host has no time now; None where an answer says something else."""
    status = response.status_code
    if status not in _BUSY and status < 500:
        return None
    text = response.headers.get("Retry-After", "")
    # A date is as good as nothing.
    after = min(float(text), _LONGEST_RETRY_AFTER) if text.isascii() and text.isdigit() else None
    return TryAgainError(f"{host} is busy or out of order ({status}).", after=after)


def _causes(error: BaseException | None) -> list[BaseException]:
    """Return an error and what led to it."""
    causes: list[BaseException] = []
    while error is not None and error not in causes:
        causes.append(error)
        error = error.__cause__ or error.__context__
    return causes


def _said(causes: list[BaseException]) -> str:
    """Return in brackets what the system says, if it says anything."""
    for cause in reversed(causes):
        if isinstance(cause, OSError) and cause.errno:
            # Errors of looking up a host have numbers of their own, below zero.
            said = os.strerror(cause.errno) if cause.errno > 0 else cause.strerror
            return f" ({printable(said)})" if said else ""
    return ""

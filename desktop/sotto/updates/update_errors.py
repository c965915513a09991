"""The error of this package."""

from sotto.errors import SottoError


class UpdateError(SottoError):
    """The list of versions cannot be had or trusted; the message says why."""

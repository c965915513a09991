"""Who is let in.

A page in a browser can send requests to this machine, also under a name that its owner points here (DNS rebinding). So
a request that says which page it comes from is refused unless that is the server itself or a page that somebody has
allowed, and on the loopback address the name that is asked for must be one that nobody else can point anywhere.
Containers and virtual machines reach that address by names that somebody else may point there, too: by these, only who
knows a key is let in. Where other machines can reach the server, a key is required whatever the name.
"""

import hmac
import ipaddress
import re
import socket
from collections.abc import Callable
from http import HTTPStatus

from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sotto.api.answers import Dialect
from sotto.api.error_bodies import ApiError, busy
from sotto.runner.serving.connections import CROWDED
from sotto.store.printable import printable

_MOST_HEADERS = 100
# A name or an address, and a port.
_HOST = re.compile(r"([\w.~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?", re.ASCII)
# What containers and virtual machines call the machine that they run on, and machines of a network one another.
_NEARBY = (".internal", ".local")
_NEEDS_KEY = (
    "Whoever asks for {} must send an API key, as others may give this name to an address of theirs: set one (--key, "
    "SOTTO_API_KEY, or in the settings under Other programs) and have the client send it, or ask for 127.0.0.1."
)
_METHODS = ("GET", "HEAD", "POST", "DELETE")
# What the clients of the three dialects send from a page.
_HEADERS = (
    *"Authorization Content-Type User-Agent Accept X-Requested-With OpenAI-Beta x-api-key".split(),
    *"anthropic-version anthropic-beta anthropic-dangerous-direct-browser-access".split(),
    *(
        f"x-stainless-{name}"
        for name in """arch async custom-poll-interval helper helper-method lang os package-version poll-helper
        retry-count runtime runtime-version timeout""".split()
    ),
)


class Guard:
    """Lets requests in that may come in."""

    def __init__(
        self,
        inner: ASGIApp,
        dialect_of: Callable[[str], Dialect],
        *,
        loopback: bool,
        key: str = "",
        origins: re.Pattern[str] | None = None,
    ) -> None:
        """Guard `inner`.

        Args:
            inner: What is guarded.
            dialect_of: Returns how errors are said at a path.
            loopback: Whether only this machine can reach the server.
            key: What every request must name, if it is not empty.
            origins: Which pages of others may send requests, and are told what comes of them; None for none.
        """
        self._inner = inner
        self._dialect_of = dialect_of
        self._loopback = loopback
        self._key = key.encode()
        self._origins = origins
        self._let_in: ASGIApp = self._with_key
        if origins is not None:
            # What a browser asks before it sends something has no key with it.
            self._let_in = CORSMiddleware(
                self._with_key, allow_origin_regex=origins.pattern, allow_methods=_METHODS, allow_headers=_HEADERS
            )
        name = socket.gethostname().casefold()
        self._own_names = ("", "localhost", name, f"{name}.local")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request or refuse it."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if scope.get("state", {}).get(CROWDED):
            await self._dialect_of(scope["path"]).response(busy())(scope, receive, send)
        elif len(scope["headers"]) > _MOST_HEADERS:
            error = ApiError(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"The request has more than {_MOST_HEADERS} headers."
            )
            await self._dialect_of(scope["path"]).response(error)(scope, receive, send)
        elif not self._is_asked_for(host, scope["http_version"]) or not self._is_welcome(origin, host):
            await PlainTextResponse("", HTTPStatus.FORBIDDEN)(scope, receive, send)
        elif self._loopback and not self._key and not self._is_own(host):
            error = ApiError(HTTPStatus.FORBIDDEN, _NEEDS_KEY.format(printable(host)))
            await self._dialect_of(scope["path"]).response(error)(scope, receive, send)
        else:
            await self._let_in(scope, receive, send)

    async def _with_key(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request that names the key, if one is needed."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if self._key and not self._knows_key(headers):
            error = ApiError(
                HTTPStatus.UNAUTHORIZED, "The API key is missing or wrong: send it as 'Authorization: Bearer ...'."
            )
            await self._dialect_of(scope["path"]).response(error)(scope, receive, send)
        else:
            await self._inner(scope, receive, send)

    def _is_welcome(self, origin: str | None, host: str) -> bool:
        """Return whether a request comes from no page, from the server's own, or from one that is allowed."""
        if origin is None or _is_same(origin, host):
            return True
        return self._origins is not None and self._origins.fullmatch(origin) is not None

    def _is_asked_for(self, host: str, version: str) -> bool:
        """Return whether a host is written as one is, and may be the name of this server."""
        # Only the oldest clients name none.
        if _HOST.fullmatch(host) is None and (host or version != "1.0"):
            return False
        return not self._loopback or self._is_own(host) or _name_of(host).endswith(_NEARBY)

    def _is_own(self, host: str) -> bool:
        """Return whether a host is an address, or a name that is nobody else's to point here."""
        name = _name_of(host)
        return name in self._own_names or name.endswith(".localhost") or is_address(name)

    def _knows_key(self, headers: dict[bytes, str]) -> bool:
        kind, _, bearer = headers.get(b"authorization", "").partition(" ")
        given = bearer.strip() if kind.casefold() == "bearer" else headers.get(b"x-api-key", "")
        return hmac.compare_digest(given.encode(), self._key)


def is_address(name: str) -> bool:
    """Return whether this is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Return whether a host to listen on can be reached from this machine alone."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_same(origin: str, host: str) -> bool:
    return bool(host) and origin in (f"http://{host}", f"https://{host}")


def _name_of(host: str) -> str:
    """Return the name in a host, without port and brackets."""
    match = _HOST.fullmatch(host)
    return match[1].strip("[]").casefold() if match else ""

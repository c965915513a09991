"""The guard of the API: checks the host, the origin and the key of each request.

A web page can send requests to this machine, also under a host name that its owner points here (DNS rebinding). So a
request with an `Origin` is refused unless that is the server itself or an allowed page. On the loopback address, the
`Host` must also be a name that nobody else can point here. Containers and virtual machines use names, such as
`host.docker.internal`, that others might point here too, so requests by these names need a key. If other machines can
reach the server, every request needs a key.
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
from sotto.api.error_bodies import ApiError, busy_error
from sotto.runner.serving.connections import CROWDED
from sotto.store.printable import printable

_MAX_HEADERS = 100
# The syntax of `Host`: a name or an address, and perhaps a port.
_HOST = re.compile(r"([\w.~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?", re.ASCII)
# The ends of names that containers and virtual machines have for their host, and machines of a network for each other.
_NEARBY = (".internal", ".local")
_NEEDS_KEY = (
    "Requests to {} need an API key, because other machines can use this name: set one (--key, SOTTO_API_KEY, or in "
    "the settings under Local server), or use 127.0.0.1."
)
_METHODS = ("GET", "HEAD", "POST", "DELETE")
# The headers that clients of the dialects send from a web page.
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
    """Middleware that admits or refuses requests."""

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
            inner: The application to guard.
            dialect_of: Returns the dialect in which errors are reported at a path.
            loopback: Whether only this machine can reach the server.
            key: The API key that every request must send; empty for none.
            origins: Matches the origins of other sites whose pages may send requests and read the answers; None for
                none.
        """
        self._inner = inner
        self._dialect_of = dialect_of
        self._loopback = loopback
        self._key = key.encode()
        self._origins = origins
        self._let_in: ASGIApp = self._with_key
        if origins is not None:
            # A browser's preflight request carries no key, so CORS is handled before the key is checked.
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
            await self._dialect_of(scope["path"]).response(busy_error())(scope, receive, send)
        elif len(scope["headers"]) > _MAX_HEADERS:
            error = ApiError(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                f"The request has more than {_MAX_HEADERS} headers.",
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
        """Serve a request if it sends the key or none is needed; refuse it otherwise."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if self._key and not self._knows_key(headers):
            error = ApiError(
                HTTPStatus.UNAUTHORIZED, "The API key is missing or wrong: send it as 'Authorization: Bearer ...'."
            )
            await self._dialect_of(scope["path"]).response(error)(scope, receive, send)
        else:
            await self._inner(scope, receive, send)

    def _is_welcome(self, origin: str | None, host: str) -> bool:
        """Return whether a request comes from no page, from a page of the server itself, or from an allowed one."""
        if origin is None or _is_same(origin, host):
            return True
        return self._origins is not None and self._origins.fullmatch(origin) is not None

    def _is_asked_for(self, host: str, version: str) -> bool:
        """Return whether a `Host` is well-formed and may be a name of this server."""
        # Only HTTP/1.0 allows a request without `Host`.
        if _HOST.fullmatch(host) is None and (host or version != "1.0"):
            return False
        return not self._loopback or self._is_own(host) or _name_of(host).endswith(_NEARBY)

    def _is_own(self, host: str) -> bool:
        """Return whether a host is an address, or a name that nobody else can point here."""
        name = _name_of(host)
        return name in self._own_names or name.endswith(".localhost") or is_address(name)

    def _knows_key(self, headers: dict[bytes, str]) -> bool:
        kind, _, bearer = headers.get(b"authorization", "").partition(" ")
        given = bearer.strip() if kind.casefold() == "bearer" else headers.get(b"x-api-key", "")
        return hmac.compare_digest(given.encode(), self._key)


def is_address(name: str) -> bool:
    """Return whether a host is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Return whether a server that listens on this host can be reached only from this machine."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_same(origin: str, host: str) -> bool:
    return bool(host) and origin in (f"http://{host}", f"https://{host}")


def _name_of(host: str) -> str:
    """Return the name or address in a `Host`, without port and brackets."""
    match = _HOST.fullmatch(host)
    return match[1].strip("[]").casefold() if match else ""

"""Bearer tokens for a registry: where a 401 response says to request one, and reading the answer.

The protocol is the token authentication of container registries, with the query that Ollama's registry expects:
https://distribution.github.io/distribution/spec/auth/token/. Tokens are requested without an account.
"""

import base64
import re
import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx

from sotto.errors import DownloadError
from sotto.store.printable import printable

_FIELD = re.compile(r'([A-Za-z_]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))')
# Printable ASCII, and short enough for the header limits of servers.
_TOKEN = re.compile(r"[\x21-\x7e]{1,16384}")


def token_url(challenge: str, requested: httpx.URL) -> httpx.URL:
    """Return the URL that a token can be requested from.

    Args:
        challenge: The `WWW-Authenticate` header of a 401 response.
        requested: The URL that was requested; tokens must come from the same origin, the only one trusted with them.

    Raises:
        DownloadError: The challenge describes no token that can be requested.
    """
    kind, _, rest = challenge.strip().partition(" ")
    fields = {match[1].lower(): match[2] if match[2] is not None else match[3] for match in _FIELD.finditer(rest)}
    if kind.lower() != "bearer" or "realm" not in fields:
        raise DownloadError(
            f"{printable(requested.host)} wants '{printable(challenge)}' before it gives anything; it should want a "
            "bearer token."
        )
    try:
        realm = httpx.URL(fields["realm"])
    except httpx.InvalidURL as error:
        raise DownloadError(
            f"{printable(requested.host)} says that tokens are at '{printable(fields['realm'])}', which is not an "
            "address."
        ) from error
    if (realm.scheme, realm.netloc) != (requested.scheme, requested.netloc):
        raise DownloadError(
            f"{printable(requested.host)} says that tokens are at '{printable(str(realm))}'; they should be at its own "
            "address."
        )
    query = [*parse_qsl(realm.query.decode("ascii", "replace")), ("service", fields.get("service", ""))]
    query += [("scope", scope) for scope in fields.get("scope", "").split()]
    nonce = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
    query += [("ts", str(int(time.time()))), ("nonce", nonce)]
    # Sorted by key alone, so that scopes keep their order.
    return realm.copy_with(query=urlencode(sorted(query, key=lambda pair: pair[0])).encode())


def token_in(answer: Mapping[str, Any], host: str) -> str:
    """Return the token in the response of a registry.

    Raises:
        DownloadError: The response contains no valid token.
    """
    token = answer.get("token") or answer.get("access_token")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise DownloadError(f"{printable(host)} gave no token; its answer should be an object with a text token.")
    return token

"""Tokens that a registry wants to see, as its answer 401 describes them.

The protocol is the token authentication of container registries, with the query that Ollama's registry expects:
https://distribution.github.io/distribution/spec/auth/token/. Tokens are asked for without an account.
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
# What fits into a header and stays within what servers take.
_TOKEN = re.compile(r"[\x21-\x7e]{1,16384}")


def token_url(challenge: str, asked: httpx.URL) -> httpx.URL:
    """Return where a token can be had.

    Args:
        challenge: The header `WWW-Authenticate` of an answer 401.
        asked: What was asked for; the token must come from the same place, as nobody else is to be trusted with it.

    Raises:
        DownloadError: It describes no token that can be asked for.
    """
    kind, _, rest = challenge.strip().partition(" ")
    fields = {match[1].lower(): match[2] if match[2] is not None else match[3] for match in _FIELD.finditer(rest)}
    if kind.lower() != "bearer" or "realm" not in fields:
        raise DownloadError(
            f"{printable(asked.host)} wants '{printable(challenge)}' before it gives anything; it should want a "
            "bearer token."
        )
    try:
        realm = httpx.URL(fields["realm"])
    except httpx.InvalidURL as error:
        raise DownloadError(
            f"{printable(asked.host)} says that tokens are at '{printable(fields['realm'])}', which is no address."
        ) from error
    if (realm.scheme, realm.netloc) != (asked.scheme, asked.netloc):
        raise DownloadError(
            f"{printable(asked.host)} says that tokens are at '{printable(str(realm))}'; they should be at its own "
            "address."
        )
    query = [*parse_qsl(realm.query.decode("ascii", "replace")), ("service", fields.get("service", ""))]
    query += [("scope", scope) for scope in fields.get("scope", "").split()]
    nonce = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
    query += [("ts", str(int(time.time()))), ("nonce", nonce)]
    # Sorted by key alone: scopes keep their order.
    return realm.copy_with(query=urlencode(sorted(query, key=lambda pair: pair[0])).encode())


def token_in(answer: Mapping[str, Any], host: str) -> str:
    """Return the token in the answer of a registry.

    Raises:
        DownloadError: There is none.
    """
    token = answer.get("token") or answer.get("access_token")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise DownloadError(f"{printable(host)} gave no token; its answer should be an object with a text token.")
    return token

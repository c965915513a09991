"""Blocking calls of a child's private API (status, tokenize, detokenize), from any thread."""

import http.client
import json
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from sotto.errors import EngineError, InvalidRequestError
from sotto.runner.status import Status

# Long, because a text may be megabytes that have to be tokenized.
_TEXT_SECONDS = 60.0
_OK, _WRONG = 200, 400


class Calls:
    """Client of a child that listens on a local port."""

    def __init__(self, port: int, token: str) -> None:
        """Call the child on a port with the token that it was started with."""
        self._port = port
        self._headers = {"Authorization": f"Bearer {token}"}

    def status(self, seconds: float) -> Status:
        """Return the status of its engine within `seconds`.

        Raises:
            EngineError: It does not answer in time, or not with a status.
        """
        return Status.from_json(self._json("GET", "status", None, seconds))

    def tokenize(self, text: str) -> list[int]:
        """Tokenize a text with the loaded model.

        Raises:
            InvalidRequestError: No model is loaded, or the text is not valid Unicode.
            EngineError: It does not answer.
        """
        ids: list[int] = self._json("POST", "tokenize", text.encode(errors="surrogatepass"), _TEXT_SECONDS)
        return ids

    def detokenize(self, ids: Sequence[int]) -> str:
        """Return the text of tokens of the loaded model.

        Raises:
            InvalidRequestError: No model is loaded, or an id is not a token.
            EngineError: It does not answer.
        """
        return self._request("POST", "detokenize", json.dumps(list(ids)).encode(), _TEXT_SECONDS).decode()

    def _json(self, method: str, name: str, body: bytes | None, seconds: float) -> Any:
        try:
            return json.loads(self._request(method, name, body, seconds))
        except ValueError as error:
            raise EngineError(f"The engine's process does not answer ({type(error).__name__}).") from error

    def _request(self, method: str, name: str, body: bytes | None, seconds: float) -> bytes:
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=seconds)) as connection:
            try:
                connection.request(method, f"/v1/{name}", body, self._headers)
                answer = connection.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException) as error:
                raise EngineError(f"The engine's process does not answer ({type(error).__name__}).") from error
        if answer.status == _WRONG:
            raise InvalidRequestError(content.decode(errors="replace"))
        if answer.status != _OK:
            raise EngineError(f"The engine's process answers {answer.status} where it is asked to {name}.")
        return content

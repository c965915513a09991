"""`/openapi.json`: a description of the API, made from the declared request bodies of its handlers."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sotto import __version__
from sotto.api.answers import Dialect
from sotto.api.bodies import HandlerTypes
from sotto.api.error_bodies import ApiError, bad_request

_PARAMETER = re.compile(r"{(\w+)(?::path)?}")
_ABOUT = (
    "Language models on this machine, with the APIs of Ollama, OpenAI and Anthropic, and llama.cpp's for editors. "
    "Fields that are null count as missing; unknown fields are ignored, except in options."
)
_WARNED = (
    "The answer. `warnings` lists parts of the request that were ignored, such as tools that run on a provider's "
    "servers{}."
)
_ANSWERS: Mapping[str, str] = {
    "/api/blobs/{digest}": "The file with this digest is there; the body of a POST is the file.",
    "/api/version": ("`version` is the version of Ollama with which this server is compatible; `sotto` is its own."),
    "/v1/responses": _WARNED.format(""),
    "/v1/messages": _WARNED.format("; in a stream it is part of `message_start`"),
    "/v1/messages/count_tokens": _WARNED.format(""),
}


class OpenAPI:
    """The OpenAPI document of an API."""

    def __init__(self, routes: Sequence[Route], dialect_of: Callable[[str], Dialect], *, key: bool) -> None:
        """Describe `routes`.

        Args:
            routes: The routes of all dialects.
            dialect_of: Returns the dialect in which errors are reported at a path.
            key: Whether every request must send an API key.
        """
        self._routes = routes
        self._dialect_of = dialect_of
        self._key = key

    def routes(self) -> list[Route]:
        """Return the route of the document."""
        return [Route("/openapi.json", self._serve)]

    async def _serve(self, request: Request) -> Response:
        return JSONResponse(self.document())

    def document(self) -> dict[str, Any]:
        """Return the document."""
        paths: dict[str, dict[str, Any]] = {}
        for route in self._routes:
            if route.include_in_schema:
                for method in sorted((route.methods or set()) - {"HEAD"} or {"HEAD"}):
                    path = paths.setdefault(_PARAMETER.sub(r"{\1}", route.path), {})
                    path[method.lower()] = self._operation(route, method)
        info = {"title": "Sotto", "version": __version__, "description": _ABOUT}
        made: dict[str, Any] = {"openapi": "3.1.0", "info": info}
        if self._key:
            made["components"] = {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}}
            made["security"] = [{"key": []}]
        return {**made, "paths": paths}

    def _operation(self, route: Route, method: str) -> dict[str, Any]:
        error = self._dialect_of(route.path).error_body(bad_request("What is wrong, in a sentence."))
        answers: dict[str, Any] = {
            "default": {"description": "The error.", "content": {"application/json": {"example": error}}}
        }
        made: dict[str, Any] = {"operationId": _id(route.path, method), "responses": answers}
        if names := _PARAMETER.findall(route.path):
            made["parameters"] = [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
            ]
        refusal: ApiError | None = getattr(route.endpoint, "refusal", None)
        if refusal is not None:
            answers[str(refusal.status)] = {"description": refusal.message}
            return made
        success: dict[str, Any] = {"description": _ANSWERS.get(route.path, "The answer.")}
        answers["200"] = success
        if file := getattr(route.endpoint, "file_type", ""):
            made["requestBody"] = {"required": True, "content": {file: {}}}
        types: HandlerTypes | None = getattr(route.endpoint, "handler_types", None)
        if types is not None:
            content = {"application/json": {"schema": types.kind.schema()}}
            made["requestBody"] = {"required": True, "content": content}
            success["content"] = {kind: {} for kind in types.media_types}
        return made


def _id(path: str, method: str) -> str:
    words = re.findall(r"\w+", _PARAMETER.sub(r"\1", path)) or ["root"]
    return "_".join((method.lower(), *words))

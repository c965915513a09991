"""`/openapi.json`: what the API takes, learned from its own readers.

Every handler reads its request, and what it returns acts when it is called. So handlers can be given requests that
nobody sent, and be heard reading them: what comes out is never called.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sotto import __version__
from sotto.api.answers import Dialect, Done, Pieces, as_api_error
from sotto.api.bodies import SHAPE
from sotto.api.desk import Desk
from sotto.api.error_bodies import ApiError, NotFoundError, bad
from sotto.api.examples import ANSWERS, BODIES
from sotto.api.shapes import Shape
from sotto.errors import SottoError
from sotto.paths import resources_dir
from sotto.store.records import ModelRecord, Source

_PARAMETER = re.compile(r"{(\w+)(?::path)?}")
_ABOUT = (
    "Runs language models on this machine, in the dialects of Ollama, OpenAI and Anthropic, and for editors in "
    "llama.cpp's. A field that is null counts as not given, and one that nobody knows is ignored, except among options."
)


class _Anything:
    """Stands for a desk where every model is known; nothing is asked there."""

    async def model(self, name: str) -> ModelRecord:
        if not name:
            raise NotFoundError(name)
        return ModelRecord(name, "", 0, None, "", None, "", None, Source.BUILTIN, resources_dir(), runnable=True)


class OpenAPI:
    """Describes an API."""

    def __init__(
        self, make_routes: Callable[[Desk], Sequence[Route]], dialect_of: Callable[[str], Dialect], *, key: bool
    ) -> None:
        """Describe what `make_routes` makes.

        Args:
            make_routes: Makes the routes for a desk.
            dialect_of: Returns how errors are said at a path.
            key: Whether every request must name a key.
        """
        self._make_routes = make_routes
        self._dialect_of = dialect_of
        self._key = key
        self._made: dict[str, Any] | None = None
        self._making = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Return where the description is."""
        return [Route("/openapi.json", self._tell)]

    async def _tell(self, request: Request) -> Response:
        async with self._making:
            if self._made is None:
                self._made = await self.document()
        return JSONResponse(self._made)

    async def document(self) -> dict[str, Any]:
        """Return the description."""
        paths: dict[str, dict[str, Any]] = {}
        for route in filter(lambda one: one.include_in_schema, self._make_routes(cast("Desk", _Anything()))):
            for method in sorted((route.methods or set()) - {"HEAD"} or {"HEAD"}):
                path = paths.setdefault(_PARAMETER.sub(r"{\1}", route.path), {})
                path[method.lower()] = await self._operation(route, method)
        info = {"title": "Sotto", "version": __version__, "description": _ABOUT}
        made: dict[str, Any] = {"openapi": "3.1.0", "info": info}
        if self._key:
            made["components"] = {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}}
            made["security"] = [{"key": []}]
        return {**made, "paths": paths}

    async def _operation(self, route: Route, method: str) -> dict[str, Any]:
        examples = BODIES.get(route.path, ())
        names = _PARAMETER.findall(route.path)
        error = self._dialect_of(route.path).shape(bad("What is wrong with it."))
        answers: dict[str, Any] = {
            "default": {"description": "What is wrong.", "content": {"application/json": {"example": error}}}
        }
        made: dict[str, Any] = {"operationId": _id(route.path, method), "responses": answers}
        if names:
            made["parameters"] = [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
            ]
        told = {"description": ANSWERS.get(route.path, "What was asked for.")}
        if method not in ("POST", "DELETE"):
            answers["200"] = told
            return made
        shape, kinds = Shape(), set[str]()
        try:
            for body in examples or ({},):
                kinds |= _kinds(await _read(route, method, body, shape))
        except ApiError as error_told:
            if examples:
                raise
            answers[str(error_told.status)] = {"description": error_told.message}
            return made
        required = [name for name in examples[0] if await _is_required(route, method, examples, name)]
        schema = shape.schema() | ({"required": required} if required else {})
        made["requestBody"] = {
            "required": True,
            "content": {
                "application/json": {
                    "schema": schema,
                    "examples": {str(number): {"value": body} for number, body in enumerate(examples, 1)},
                }
            },
        }
        answers["200"] = {**told, "content": {kind: {} for kind in sorted(kinds)}}
        return made


async def _is_required(route: Route, method: str, examples: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Return whether no example can do without a field."""
    for body in examples:
        try:
            await _read(route, method, {key: value for key, value in body.items() if key != name})
        except SottoError:
            continue
        return False
    return True


async def _read(route: Route, method: str, body: Mapping[str, Any], shape: Shape | None = None) -> Any:
    """Let a handler read a body, and return the answer that it would give.

    Raises:
        ApiError: It cannot be read.
    """
    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": route.path,
        "path_params": {},
        "headers": [],
        SHAPE: shape,
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    try:
        return await cast("Any", route.endpoint)(Request(scope, receive))
    except SottoError as error:
        raise as_api_error(error) from error


def _kinds(answer: Any) -> set[str]:
    """Return of which media type an answer is."""
    if isinstance(answer, Done):
        return set()
    return {answer.media_type if isinstance(answer, Pieces) else "application/json"}


def _id(path: str, method: str) -> str:
    words = re.findall(r"\w+", _PARAMETER.sub(r"\1", path)) or ["root"]
    return "_".join((method.lower(), *words))

"""The embedding endpoints of Ollama's dialect and OpenAI's."""

import base64
import struct
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from starlette.routing import Route

from sotto.api.answers import Answer, Whole
from sotto.api.asking import OptionsBody, options_of, tokens_of
from sotto.api.bodies import takes
from sotto.api.desk import Desk
from sotto.api.dialects import ollama, openai
from sotto.api.durations import keep_alive
from sotto.api.error_bodies import ApiError, NotFoundError, bad_request
from sotto.api.fields import STRING, TOKENS, Flag, Integer, Raw, Text, list_of
from sotto.api.notes import warning_fields
from sotto.engine.contract.events import Embedded
from sotto.engine.contract.requests import EmbedRequest
from sotto.errors import InvalidNameError
from sotto.store.records import ModelRecord
from sotto.store.sources.model_names import parse_name

_MAX_TEXTS = 2048
_MAX_DIMENSIONS = 2**31 - 1
# The result of a request without texts, for which no model is loaded.
_NO_VECTORS = Embedded("", (), 0, 0)


class VectorBody(OptionsBody):
    """The fields of every embedding request."""

    truncate = Flag(True)
    dimensions = Integer(0, _MAX_DIMENSIONS)


class EmbedBody(VectorBody):
    """A request to `/api/embed`."""

    input = Raw(STRING, list_of(STRING))


class EmbedOneBody(VectorBody):
    """A request to `/api/embeddings`."""

    prompt = Text()


class EmbeddingsBody(VectorBody):
    """A request to `/v1/embeddings`."""

    input = Raw(STRING, list_of(STRING), TOKENS, list_of(TOKENS), required=True)
    encoding_format = Text("float", choices=("float", "base64"))


class Embeddings:
    """Answers with the vectors of texts, each normalised to length 1."""

    def __init__(self, desk: Desk) -> None:
        """Pass requests to the engine through `desk`."""
        self._desk = desk

    def routes(self) -> list[Route]:
        """Return the routes of the embedding endpoints."""
        return [
            Route("/api/embed", self._embed, methods=["POST"]),
            Route("/api/embeddings", self._embed_one, methods=["POST"]),
            Route("/v1/embeddings", self._as_openai, methods=["POST"]),
        ]

    @takes(EmbedBody)
    async def _embed(self, body: EmbedBody) -> Answer:
        name, texts = _model_name(body, NotFoundError(body.model)), _texts(body.input)
        record = await self._model(name)
        made, notes = self._prepare(body, record, texts)

        async def answer() -> dict[str, Any]:
            done, waited = await made()
            row = {"model": name, "embeddings": done.vectors} | warning_fields(notes)
            if not texts:
                return row
            return row | {
                "total_duration": waited + done.total_duration,
                "load_duration": waited,
                "prompt_eval_count": done.prompt_tokens,
            }

        return Whole(ollama.DIALECT, answer)

    @takes(EmbedOneBody)
    async def _embed_one(self, body: EmbedOneBody) -> Answer:
        record, prompt = await self._model(_model_name(body, bad_request("model is required"))), body.prompt
        made, notes = self._prepare(body, record, [prompt] if prompt else [])

        async def answer() -> dict[str, Any]:
            done, _ = await made()
            return {"embedding": done.vectors[0] if done.vectors else ()} | warning_fields(notes)

        return Whole(ollama.DIALECT, answer)

    @takes(EmbeddingsBody)
    async def _as_openai(self, body: EmbeddingsBody) -> Answer:
        if not (texts := _texts_or_tokens(body)):
            raise bad_request("invalid input")
        record = await self._model(_model_name(body, NotFoundError(body.model)))
        form = body.encoding_format
        if form not in ("float", "base64"):
            raise bad_request(
                f"Invalid value for 'encoding_format' = {form[:60]}. Supported values: ['float', 'base64']."
            )
        made, notes = self._prepare(body, record, texts)

        async def answer() -> dict[str, Any]:
            done, _ = await made()
            rows = [
                {
                    "object": "embedding",
                    "embedding": vector if form == "float" else _pack_float32(vector),
                    "index": index,
                }
                for index, vector in enumerate(done.vectors)
            ]
            usage = {"prompt_tokens": done.prompt_tokens, "total_tokens": done.prompt_tokens}
            return {"object": "list", "data": rows, "model": body.model, "usage": usage} | warning_fields(notes)

        return Whole(openai.DIALECT, answer)

    async def _model(self, name: str) -> ModelRecord:
        try:
            return await self._desk.model(name)
        except NotFoundError:
            # Ollama words this error differently at its embedding endpoints.
            message = f'model "{name[:200]}" not found, try pulling it first'
            raise ApiError(HTTPStatus.NOT_FOUND, message) from None

    def _prepare(
        self, body: VectorBody, record: ModelRecord, texts: Sequence[str | tuple[int, ...]]
    ) -> tuple[Callable[[], Awaitable[tuple[Embedded, int]]], tuple[str, ...]]:
        """Return a function that makes the vectors, and warnings.

        The function returns the vectors and the nanoseconds spent waiting for the model.
        """
        _, num_ctx, notes = options_of(body)
        stays = keep_alive(body.keep_alive)
        request = EmbedRequest(
            f"api {uuid4().hex}",
            tuple(texts),
            body.truncate,
            # None asks for all dimensions, and in Ollama's dialect so does 0.
            body.dimensions or None,
            normalise=True,
        )

        async def make() -> tuple[Embedded, int]:
            if not texts:
                return _NO_VECTORS, 0
            async with self._desk.visit(record, num_ctx, stays) as visit:
                return await self._desk.embed(visit, request), visit.waited

        return make, notes


def _model_name(body: VectorBody, otherwise: ApiError) -> str:
    """Return the name of the model; raise `otherwise`, Ollama's error at this endpoint, if it is not a valid name."""
    name = body.model
    try:
        parse_name(name)
    except InvalidNameError:
        raise otherwise from None
    return name


def _texts_or_tokens(body: EmbeddingsBody) -> list[str | tuple[int, ...]]:
    """Return the inputs, each a text or the token ids of one; the engine checks the ids against the vocabulary."""
    value = body.input
    if not isinstance(value, list) or not value or isinstance(value[0], str):
        return [*_texts(value)]
    if not isinstance(value[0], list):
        return [tokens_of(body, "input", value)]
    found: list[str | tuple[int, ...]] = []
    for index, item in enumerate(value):
        if not isinstance(item, list):
            raise body.wrong(f"input[{index}]", "a list of token IDs", item)
        found.append(tokens_of(body, f"input[{index}]", item))
    _check_count(len(found))
    return found


def _texts(value: Any) -> list[str]:
    """Return a text or a list of texts as a list; an empty or missing text gives an empty list."""
    texts = [value] if isinstance(value, str) and value else [] if value in (None, "") else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise bad_request("invalid input type")
    _check_count(len(texts))
    return texts


def _check_count(count: int) -> None:
    if count > _MAX_TEXTS:
        raise bad_request(f"input has {count} texts; at most {_MAX_TEXTS} are allowed.")


def _pack_float32(vector: Sequence[float]) -> str:
    """Return numbers as little-endian float32 in base64."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")

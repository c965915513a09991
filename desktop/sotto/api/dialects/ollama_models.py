"""Ollama's dialect: the list of models, their details, and the loaded ones."""

import asyncio
import json
import math
import struct
import time
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from sotto import __version__
from sotto.api.answers import Answer, Whole
from sotto.api.bodies import takes
from sotto.api.desk import Desk
from sotto.api.dialects.ollama import DIALECT, timestamp
from sotto.api.error_bodies import NotFoundError, bad_request
from sotto.api.fields import Body, Flag, Text
from sotto.engine.config.text_files import chat_template
from sotto.errors import InvalidNameError, StoreError
from sotto.runner.host import ResidentStatus
from sotto.runner.model_making import modelfile_of
from sotto.runner.profiles import Profile
from sotto.store.creating.model_base import license_texts
from sotto.store.creating.modelfile import write_modelfile
from sotto.store.gguf.file import GgufFile
from sotto.store.opening import gguf_file, open_model, open_texts
from sotto.store.records import Format, ModelRecord, ModelSource
from sotto.store.sources.model_names import parse_name

OLLAMA_VERSION = "0.32.15"
"""The version of Ollama whose behaviour is followed here. Clients check that it is recent enough."""
# Ollama leaves these out of `model_info`, as other fields hold them.
_SHOWN_ELSEWHERE = ("general.name", "tokenizer.chat_template")
_MAX_INTEGER, _MAX_FLOAT32 = 10**15, 3.4e38
# Go's longest duration in seconds, which Ollama uses for "forever".
_FOREVER_SECONDS = float(1 << 63) / 1e9
_CONFIG_KEYS = {
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "block_count": "num_hidden_layers",
    "context_length": "max_position_embeddings",
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "vocab_size": "vocab_size",
}


class NamedBody(Body):
    """A request that names a model, in `model` or in the older field `name`."""

    model = Text()
    name = Text()

    @property
    def wanted(self) -> str:
        """The model's name; empty if none is given."""
        return self.model or self.name


class ShowBody(NamedBody):
    """A request to `/api/show`."""

    verbose = Flag(False)


class OllamaModels:
    """The endpoints that list and describe models in Ollama's dialect."""

    def __init__(self, desk: Desk) -> None:
        """List the models of `desk`."""
        self._desk = desk

    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        return [
            Route("/", _root),
            Route("/api/version", _version),
            Route("/api/status", _status),
            Route("/api/tags", self._tags),
            Route("/api/ps", self._ps),
            Route("/api/show", self._show, methods=["POST"]),
        ]

    async def _tags(self, request: Request) -> Response:
        records = [record for record in await self._desk.models() if record.runnable]
        profiles = await self._desk.profiles(records)
        rows = await asyncio.to_thread(lambda: list(map(_list_row, records, profiles)))
        return JSONResponse({"models": sorted(rows, key=lambda row: row["modified_at"], reverse=True)})

    async def _ps(self, request: Request) -> Response:
        now = time.time_ns()
        loaded = sorted(self._desk.host.resident_models, key=lambda resident: resident.stays, reverse=True)
        return JSONResponse({"models": [_loaded_row(resident, now) for resident in loaded]})

    @takes(ShowBody)
    async def _show(self, body: ShowBody) -> Answer:
        name, verbose = body.wanted, body.verbose
        if not name:
            raise bad_request("model is required")

        async def show() -> dict[str, Any]:
            try:
                record = await self._desk.model(name)
            except NotFoundError:
                raise _unknown_model(name) from None
            (profile,) = await self._desk.profiles([record])
            return await asyncio.to_thread(_model_details, record, profile, verbose=verbose)

        return Whole(DIALECT, show)


def details(record: ModelRecord) -> dict[str, Any]:
    """Return the `details` field of a model: its format, family, size and quantisation."""
    return {
        "parent_model": "",
        "format": record.format.value if record.format else "",
        "family": record.architecture,
        "families": [record.architecture] if record.architecture else None,
        "parameter_size": _parameter_size(record.parameters),
        "quantization_level": record.quantization,
    }


def modified_at(record: ModelRecord) -> int:
    """Return when a model's file or folder was last changed, in nanoseconds since the epoch; 0 if it is gone."""
    try:
        return record.path.stat().st_mtime_ns
    except OSError:
        return 0


def _loaded_row(resident_models: ResidentStatus, now: int) -> dict[str, Any]:
    return {
        "name": resident_models.record.name,
        "model": resident_models.record.name,
        "size": resident_models.nbytes,
        "digest": resident_models.record.digest,
        "details": details(resident_models.record),
        "expires_at": timestamp(now + int(min(resident_models.stays, _FOREVER_SECONDS) * 1e9)),
        "size_vram": resident_models.nbytes,
        "context_length": resident_models.info.context_length,
    }


def _list_row(record: ModelRecord, profile: Profile) -> dict[str, Any]:
    lengths = {"context_length": record.context_length, "embedding_length": profile.embedding_length}
    return {
        "name": record.name,
        "model": record.name,
        "modified_at": timestamp(modified_at(record)),
        "size": record.size,
        "digest": record.digest,
        "details": details(record) | {name: length for name, length in lengths.items() if length is not None},
        "capabilities": list(profile.capabilities),
    }


def _model_details(record: ModelRecord, profile: Profile, *, verbose: bool) -> dict[str, Any]:
    info: dict[str, Any] = {"general.architecture": record.architecture, "general.parameter_count": record.parameters}
    shown: dict[str, Any] = {
        "details": details(record),
        "model_info": info,
        "capabilities": list(profile.capabilities),
        "modified_at": timestamp(modified_at(record)),
    }
    of_file = record.format is Format.GGUF
    try:
        if of_file:
            shown |= _gguf_fields(gguf_file(record, lists=verbose))
        source = open_model(record, ()) if verbose and not of_file else open_texts(record)
    except StoreError as error:
        if record.runnable:
            raise
        return {"modelfile": f"# {error.message}\nFROM {record.name}\n", "template": ""} | shown
    if not of_file:
        info |= _model_info(record, source.config)
    if verbose and not of_file:
        shown["tensors"] = [
            {"name": name, "type": tensor.dtype, "shape": list(tensor.shape)}
            for file in source.tensor_files
            for name, tensor in file.tensors.items()
        ]
    texts = {"parameters": _parameters(source.params), "system": source.system, "renderer": source.renderer}
    given = {name: text for name, text in texts.items() if text}
    template = source.chosen_template or source.go_template or chat_template(source)
    if source.messages:
        shown["messages"] = [{name: text for name, text in row.items() if text} for row in source.messages]
    if licenses := license_texts(record):
        shown["license"] = "\n".join(licenses)
    return {"modelfile": _modelfile(record, source), "template": template} | given | shown


def _gguf_fields(file: GgufFile) -> dict[str, Any]:
    """Return the metadata and tensors in a GGUF file's header; shapes have the fastest-varying dimension first."""
    count = sum(math.prod(tensor.shape) for tensor in file.tensors.values())
    values = {name: _json_value(value) for name, value in file.values.items() if name not in _SHOWN_ELSEWHERE}
    return {
        "model_info": dict(sorted(({"general.parameter_count": count} | values).items())),
        "tensors": [
            {"name": name, "type": tensor.dtype, "shape": list(tensor.shape[::-1])}
            for name, tensor in file.tensors.items()
        ],
    }


def _json_value(value: Any) -> Any:
    """Return a value of a GGUF file for JSON; a float32 becomes the number with the shortest text that round-trips."""
    if isinstance(value, list):
        return list(map(_json_value, value))
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    if value.is_integer() and abs(value) < _MAX_INTEGER:
        return int(value)
    packed = struct.pack("<d", value)
    if abs(value) > _MAX_FLOAT32 or packed != struct.pack("<d", *struct.unpack("<f", struct.pack("<f", value))):
        return value
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next(float(text) for text in texts if struct.pack("<f", float(text)) == struct.pack("<f", value))


def _model_info(record: ModelRecord, config: Mapping[str, Any]) -> dict[str, Any]:
    numbers = {name: config.get(key) for name, key in _CONFIG_KEYS.items()}
    return {f"{record.architecture}.{name}": value for name, value in numbers.items() if isinstance(value, int)}


def _parameters(params: Mapping[str, Any]) -> str:
    return "\n".join(
        f"{name:<30} {json.dumps(item, ensure_ascii=False)}"
        for name, value in sorted(params.items())
        for item in (value if isinstance(value, list | tuple) else (value,))
    )


def _modelfile(record: ModelRecord, source: ModelSource) -> str:
    """Return a Modelfile that makes the same model, or a comment that says why there is none."""
    try:
        return write_modelfile(modelfile_of(record, source))
    except StoreError as error:
        return f"# {error.message}\nFROM {record.name}\n"


def _parameter_size(parameters: int | None) -> str:
    if parameters is None:
        return ""
    if parameters >= 10**9:
        return f"{parameters / 1e9:.1f}B"
    return f"{parameters / 1e6:.2f}M" if parameters >= 10**6 else f"{parameters / 1e3:.0f}K"


def _unknown_model(name: str) -> Exception:
    try:
        return NotFoundError(parse_name(name).short)
    except InvalidNameError:
        return bad_request("invalid model name")


async def _root(request: Request) -> Response:
    # Clients look for exactly these words to detect a server of this dialect.
    return PlainTextResponse("Ollama is running")


async def _version(request: Request) -> Response:
    return JSONResponse({"version": OLLAMA_VERSION, "sotto": __version__})


async def _status(request: Request) -> Response:
    # Models never run in a cloud.
    return JSONResponse({"cloud": {"disabled": True, "source": "none"}})

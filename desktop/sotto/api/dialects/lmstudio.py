"""LM Studio's dialect: the list of models."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sotto.api.desk import Desk
from sotto.api.dialects.openai import owner_of
from sotto.runner.host import ResidentStatus
from sotto.runner.profiles import Profile
from sotto.store.records import Format, ModelRecord

# LM Studio names safetensors models after MLX, which runs them.
_COMPATIBILITY_TYPES = {Format.GGUF: "gguf", Format.SAFETENSORS: "mlx"}


class LMStudio:
    """The endpoints of LM Studio's dialect."""

    def __init__(self, desk: Desk) -> None:
        """List the models of `desk`."""
        self._desk = desk

    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        return [Route("/api/v0/models", self._models), Route("/api/v0/models/{name:path}", self._model)]

    async def _models(self, request: Request) -> Response:
        records = [record for record in await self._desk.models() if record.runnable]
        return JSONResponse({"object": "list", "data": await self._rows(records)})

    async def _model(self, request: Request) -> Response:
        (row,) = await self._rows([await self._desk.model(request.path_params["name"])])
        return JSONResponse(row)

    async def _rows(self, records: list[ModelRecord]) -> list[dict[str, Any]]:
        loaded = {resident.record.digest: resident for resident in self._desk.host.resident_models}
        profiles = await self._desk.profiles(records)
        return [
            _row(record, profile, loaded.get(record.digest)) for record, profile in zip(records, profiles, strict=True)
        ]


def _row(record: ModelRecord, profile: Profile, loaded: ResidentStatus | None) -> dict[str, Any]:
    able = profile.capabilities
    kind = "embeddings" if "embedding" in able else "vlm" if "vision" in able else "llm"
    lengths = {
        "max_context_length": record.context_length,
        "loaded_context_length": loaded.info.context_length if loaded else None,
    }
    return {
        "id": record.name,
        "object": "model",
        "type": kind,
        "publisher": owner_of(record),
        "arch": record.architecture,
        "compatibility_type": _COMPATIBILITY_TYPES.get(record.format) if record.format else None,
        "quantization": record.quantization,
        "state": "loaded" if loaded else "not-loaded",
        **{name: length for name, length in lengths.items() if length is not None},
        "capabilities": ["tool_use"] if "tools" in able else [],
    }

"""Ollama's dialect: downloading, copying and deleting models. Only Sotto's own store is ever written."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Any

from starlette.routing import Route

from sotto.api.answers import NDJSON, Answer, Done, Pieces, Whole, line
from sotto.api.bodies import takes
from sotto.api.desk import Desk
from sotto.api.dialects.ollama import DIALECT
from sotto.api.dialects.ollama_making import OllamaMaking
from sotto.api.dialects.ollama_models import NamedBody
from sotto.api.error_bodies import ApiError, NotFoundError, bad_request, stopped_error
from sotto.api.fields import Body, Flag, Text
from sotto.api.pulls import Downloads, News
from sotto.errors import InvalidNameError
from sotto.store.copying import copy
from sotto.store.opening import find_place
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.pull.staging import Staging
from sotto.store.records import ModelRecord, Place, Source
from sotto.store.removal import erase, own_store, remove
from sotto.store.sources.hugging_face_names import parse_wanted
from sotto.store.sources.model_names import ModelName, parse_name
from sotto.store.upkeep.adopting import adopt

# In these states the client gets the number of downloaded bytes.
_UNDER_WAY = (PullState.DOWNLOADING, PullState.STALLED, PullState.RETRYING)


class CopyBody(Body):
    """A request to `/api/copy`."""

    source = Text(required=True)
    destination = Text(required=True)


class PullBody(NamedBody):
    """A request to `/api/pull`."""

    insecure = Flag(False)
    stream = Flag(True)


class OllamaStorage:
    """The endpoints that change Sotto's own store in Ollama's dialect."""

    def __init__(self, desk: Desk) -> None:
        """Unload models through `desk` before they are deleted or replaced."""
        self._desk = desk
        self._changing = asyncio.Lock()
        self._downloads = Downloads()

    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        return [
            Route("/api/copy", self._copy, methods=["POST"]),
            Route("/api/delete", self._delete, methods=["DELETE"]),
            Route("/api/pull", self._pull, methods=["POST"]),
            *OllamaMaking(self._desk, self._replacing).routes(),
        ]

    @takes(CopyBody, answers="")
    async def _copy(self, body: CopyBody) -> Answer:
        source, destination = body.source, body.destination
        for field, text in (("source", source), ("destination", destination)):
            if not _is_name(text):
                raise bad_request(f'{field} "{text[:200]}" is invalid')

        async def act() -> None:
            record, place = await self._place(source, f'model "{source[:200]}" not found')
            name = parse_name(destination)
            work: Callable[[], object]
            if place.source is Source.SOTTO:
                work = partial(copy, place, name, replacing=True)
            else:
                stopped = self._desk.closing.is_set
                work = partial(adopt, record, place, name, lambda done, total: None, stopped, replacing=True)
            async with self._changing, self._replacing(name):
                await asyncio.to_thread(work)

        return Done(DIALECT, act)

    @takes(NamedBody, answers="")
    async def _delete(self, body: NamedBody) -> Answer:
        name = body.wanted
        if not name:
            raise bad_request("model is required")
        if not _is_name(name):
            raise bad_request(f'name "{name[:200]}" is invalid')

        async def act() -> None:
            record, place = await self._place(name, f"model '{name[:200]}' not found")
            if place.source is not Source.SOTTO:
                raise ApiError(
                    HTTPStatus.FORBIDDEN,
                    f"{place.name} cannot be deleted: it is not in Sotto's own store, and other stores are read-only.",
                )
            if not record.also:
                # This does not wait for answers in progress: they no longer need the files.
                await self._desk.unload(record)
            async with self._changing:
                await asyncio.to_thread(lambda: erase(remove(record, place.path)))
            self._desk.forget_models()

        return Done(DIALECT, act)

    @takes(PullBody, streams=NDJSON)
    async def _pull(self, body: PullBody) -> Answer:
        name, insecure = body.wanted, body.insecure
        if not name:
            raise bad_request("invalid model name")
        parse_wanted(name)
        if body.stream:
            return Pieces(DIALECT, NDJSON, self._lines(name, insecure=insecure))

        async def whole() -> Any:
            status = ""
            async with aclosing(self._rows(name, insecure=insecure)) as rows:
                async for row in rows:
                    status = row["status"]
            return {"status": status}

        return Whole(DIALECT, whole)

    async def _lines(self, name: str, *, insecure: bool) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._rows(name, insecure=insecure)) as rows:
            async for row in rows:
                yield line(row)

    async def _rows(self, name: str, *, insecure: bool) -> AsyncGenerator[dict[str, Any], None]:
        model = parse_wanted(name)
        async with self._replacing(model), aclosing(self._news(name, model, insecure=insecure)) as rows:
            async for row in rows:
                yield row
        yield {"status": "success"}

    async def _news(self, name: str, model: ModelName, *, insecure: bool) -> AsyncGenerator[dict[str, Any], None]:
        """Download a model and yield its progress; if all clients leave, the downloaded parts stay on disk."""
        async with self._downloads.listen(name, insecure=insecure) as news:
            closing = asyncio.create_task(self._desk.closing.wait())
            closing.add_done_callback(lambda _: news.put_nowait(None))
            try:
                yield {"status": "pulling manifest"}
                about = ""
                while (progress := await _next_progress(news)).state is not PullState.DONE:
                    if progress.about != about:
                        about = progress.about
                        yield {"status": about}
                    if progress.state in _UNDER_WAY:
                        yield await _row(progress, model)
                # Files are verified one by one and the manifest is written last, so both steps are done by now.
                yield await _row(progress, model)
                yield {"status": "verifying sha256 digest"}
                yield {"status": "writing manifest"}
            finally:
                closing.cancel()

    async def _place(self, name: str, unknown: str) -> tuple[ModelRecord, Place]:
        """Return a model and its place of this name.

        Args:
            name: The model's name.
            unknown: The error message for a name that no model has.

        Raises:
            ApiError: There is no such model.
        """
        try:
            found = find_place(name, [await self._desk.model(name)])
        except NotFoundError:
            found = None
        if found is None:
            raise ApiError(HTTPStatus.NOT_FOUND, unknown)
        return found

    @asynccontextmanager
    async def _replacing(self, name: ModelName) -> AsyncIterator[None]:
        """Scan for models again afterwards, and unload the model that had this name if another has taken it."""
        staging = Staging(own_store(), name)
        before = await asyncio.to_thread(staging.stored_manifest)
        old = [record for record in await self._desk.models() if before is not None and record.digest == before.digest]
        yield
        self._desk.forget_models()
        after = await asyncio.to_thread(staging.stored_manifest)
        if after is not None and old and after.digest != old[0].digest:
            await self._desk.unload(old[0])


async def _next_progress(news: News) -> PullProgress:
    """Wait for the next progress of a download.

    Raises:
        ApiError: The download has failed, or the server is stopping.
    """
    progress = await news.get()
    if progress is None:
        raise stopped_error()
    if progress.state is PullState.FAILED:
        raise ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, progress.note)
    return progress


async def _row(progress: PullProgress, name: ModelName) -> dict[str, Any]:
    """Return the progress of a whole download, in the form that Ollama uses for each file."""
    staging = Staging(own_store(), name)
    manifest = await asyncio.to_thread(lambda: staging.staged_manifest() or staging.stored_manifest())
    digest = manifest.digest if manifest else ""
    return {
        "status": f"pulling {digest[:12]}",
        "digest": f"sha256:{digest}",
        "total": progress.total or 0,
        "completed": progress.done,
    }


def _is_name(text: str) -> bool:
    try:
        parse_name(text)
    except InvalidNameError:
        return False
    return True

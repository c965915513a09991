"""Ollama's dialect: making models from others, the files that clients send for that, and uploading models."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sotto.api.answers import NDJSON, Answer, Pieces, Whole, line
from sotto.api.bodies import takes
from sotto.api.desk import Desk
from sotto.api.dialects.ollama import DIALECT
from sotto.api.dialects.ollama_models import NamedBody
from sotto.api.error_bodies import ApiError, NotFoundError, bad_request, busy_error, stopped_error
from sotto.api.fields import OBJECT, STRING, Body, Flag, Objects, Raw, Text, list_of
from sotto.api.stream import Bridge
from sotto.engine.contract.options import known_options, request_options
from sotto.errors import CancelledError, InvalidRequestError, StoreError
from sotto.runner.model_making import check_template, create_model
from sotto.store.creating.layers import ADAPTER_CONFIG, ADAPTER_WEIGHTS
from sotto.store.creating.model_base import Base, base_of_gguf
from sotto.store.creating.modelfile import ROLES, Modelfile
from sotto.store.creating.new_model import Report, Step
from sotto.store.creating.uploads import Upload, delete_expired, uploaded
from sotto.store.gguf.header import is_gguf
from sotto.store.importing.recipes import parse_recipe
from sotto.store.opening import PATH_PREFIXES, find_place
from sotto.store.printable import printable
from sotto.store.pushing.push_model import check_pushable, push
from sotto.store.removal import own_store, require_own_store
from sotto.store.sources.manifest import parse_digest
from sotto.store.sources.model_names import ModelName, parse_name
from sotto.store.upkeep.workspaces import workspace

_MAX_WORKERS = 4
# Bytes of an upload that are written at a time.
_PIECE = 1 << 20
_ADAPTER_FILE = "adapter.gguf"
_MODEL_FILES = (".safetensors", ".json", ".jinja", ".gguf", ".model", ".txt")

Handler = Callable[["OllamaMaking", Request], Awaitable[Response]]
Replacing = Callable[[ModelName], AbstractAsyncContextManager[None]]
"""Keeps what is loaded true to the store while the model of a name is replaced."""


class PresetMessage(Body):
    """A message that each conversation begins with."""

    role = Text(choices=ROLES, required=True)
    content = Text(required=True)


class CreateBody(NamedBody):
    """A request to `/api/create`."""

    stream = Flag(True)
    from_ = Text()
    files = Raw(OBJECT)
    adapters = Raw(OBJECT)
    template = Text()
    license = Raw(STRING, list_of(STRING))
    system = Text()
    parameters = Raw(OBJECT)
    messages = Objects(PresetMessage)
    quantize = Text()
    renderer = Text()
    parser = Text()
    requires = Text()


class PushBody(NamedBody):
    """A request to `/api/push`."""

    insecure = Flag(False)
    stream = Flag(True)


def _takes_file(handler: Handler) -> Handler:
    """Mark a handler as one of files, for `/openapi.json`."""
    handler.__dict__["file_type"] = "application/octet-stream"
    return handler


class OllamaMaking:
    """The endpoints that make models in Ollama's dialect."""

    def __init__(self, desk: Desk, replacing: Replacing) -> None:
        """Make models for the clients of `desk`."""
        self._desk = desk
        self._replacing = replacing
        self._working = 0
        self._names: WeakValueDictionary[ModelName, asyncio.Lock] = WeakValueDictionary()

    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        return [
            Route("/api/create", self._create, methods=["POST"]),
            Route("/api/blobs/{digest}", self._blob, methods=["HEAD"]),
            Route("/api/blobs/{digest}", self._upload, methods=["POST"]),
            Route("/api/push", self._push, methods=["POST"]),
        ]

    @takes(CreateBody, streams=NDJSON)
    async def _create(self, body: CreateBody) -> Answer:
        name = _target(body)
        quantize = body.quantize
        try:
            parse_recipe(quantize)
        except InvalidRequestError as error:
            raise bad_request(error.message) from error
        if not body.from_ and not body.raw("files"):
            raise bad_request("neither 'from' or 'files' was specified")
        if body.from_.startswith(PATH_PREFIXES):
            raise body.wrong("from", "the name of a model")
        model = _modelfile(body)
        try:
            await asyncio.to_thread(check_template, model)
        except StoreError as error:
            raise bad_request(f"template error: {error.message}") from error
        files, adapters = _digests(body, "files"), _digests(body, "adapters")

        def make(report: Report) -> None:
            require_own_store(own_store())
            with workspace(own_store()) as folder:
                placed = _with_adapters(model, adapters, folder)
                base = None
                if files and not quantize and len(files) == 1:
                    base = _base_of_file(next(iter(files.values())), report)
                elif files:
                    placed = replace(placed, base=str(_folder_of_files(files, folder / "model")))
                create_model(name.short, placed, report, base=base, quantize=quantize)

        return self._answer(body, name, make)

    def _answer(self, body: CreateBody, name: ModelName, make: Callable[[Report], None]) -> Answer:
        async def rows() -> AsyncGenerator[dict[str, Any], None]:
            # A model of the same name waits, even for one whose client has left.
            alone = self._names.setdefault(name, asyncio.Lock())
            async with alone, self._replacing(name), aclosing(self._steps(make)) as steps:
                async for step in steps:
                    yield step
            yield {"status": "success"}

        return answer_rows(rows, stream=body.stream)

    async def _steps(self, work: Callable[[Report], None]) -> AsyncGenerator[dict[str, Any], None]:
        """Do something on a thread and yield its steps; it is stopped if the client leaves."""
        if self._working >= _MAX_WORKERS:
            raise busy_error()
        self._working += 1
        bridge, stopped = Bridge(), threading.Event()
        news: asyncio.Queue[Step | None] = asyncio.Queue()

        def report(step: Step) -> None:
            if stopped.is_set():
                raise CancelledError("The client has left.")
            bridge.call(news.put_nowait, step)

        def run() -> None:
            try:
                work(report)
            finally:
                bridge.call(news.put_nowait, None)

        working = asyncio.ensure_future(asyncio.to_thread(run))
        closing = asyncio.ensure_future(self._desk.closing.wait())
        closing.add_done_callback(lambda _: news.put_nowait(None))
        try:
            while (step := await news.get()) is not None:
                yield _row(step)
            if self._desk.closing.is_set() and not working.done():
                raise stopped_error()
            await working
        finally:
            stopped.set()
            closing.cancel()
            await asyncio.gather(working, return_exceptions=True)
            self._working -= 1

    @takes(PushBody, streams=NDJSON)
    async def _push(self, body: PushBody) -> Answer:
        name, insecure = _target(body), body.insecure
        try:
            found = find_place(body.wanted, [await self._desk.model(body.wanted)])
        except NotFoundError:
            found = None
        if found is None:
            raise NotFoundError(name.short)
        _, place = found
        try:
            check_pushable(place)
        except StoreError as error:
            raise bad_request(error.message) from error

        async def rows() -> AsyncGenerator[dict[str, Any], None]:
            async with aclosing(self._steps(lambda report: push(place, report, insecure=insecure))) as steps:
                async for step in steps:
                    yield step
            yield {"status": "success"}

        return answer_rows(rows, stream=body.stream)

    async def _blob(self, request: Request) -> Response:
        digest = _digest_of(request)
        if await asyncio.to_thread(uploaded, own_store(), digest) is None:
            raise ApiError(HTTPStatus.NOT_FOUND, f"blob 'sha256:{digest}' not found")
        return Response()

    @_takes_file
    async def _upload(self, request: Request) -> Response:
        digest, root = _digest_of(request), own_store()
        if await asyncio.to_thread(uploaded, root, digest) is not None:
            return Response()
        if self._working >= _MAX_WORKERS:
            raise busy_error()
        self._working += 1
        try:
            await asyncio.to_thread(delete_expired, root)
            upload = await asyncio.to_thread(Upload(root, digest).__enter__)
            try:
                async for piece in _large_pieces(request):
                    await asyncio.to_thread(upload.write, piece)
                await asyncio.to_thread(upload.finish)
            finally:
                await asyncio.to_thread(upload.__exit__, None, None, None)
        except OSError as error:
            raise StoreError(f"The file cannot be stored: {error.strerror}.") from error
        finally:
            self._working -= 1
        return Response(status_code=HTTPStatus.CREATED)


def answer_rows(rows: Callable[[], AsyncGenerator[dict[str, Any], None]], *, stream: bool) -> Answer:
    """Return an answer of rows with a status: all of them as a stream, or else the last one."""

    async def lines() -> AsyncGenerator[bytes, None]:
        async with aclosing(rows()) as opened:
            async for row in opened:
                yield line(row)

    async def whole() -> dict[str, Any]:
        last: dict[str, Any] = {}
        async with aclosing(rows()) as opened:
            async for row in opened:
                last = row
        return last

    return Pieces(DIALECT, NDJSON, lines()) if stream else Whole(DIALECT, whole)


def _row(step: Step) -> dict[str, Any]:
    if not step.total:
        return {"status": step.status}
    digest = {"digest": f"sha256:{step.digest}"} if step.digest else {}
    return {"status": step.status, **digest, "total": step.total, "completed": step.done}


def _target(body: NamedBody) -> ModelName:
    if not body.wanted:
        raise bad_request("invalid model name")
    return parse_name(body.wanted)


def _modelfile(body: CreateBody) -> Modelfile:
    """Return what a request describes; empty texts count as not given, as in Ollama."""
    params = body.raw("parameters") or {}
    if not isinstance(params, dict):
        raise body.wrong("parameters", "an object")
    # Options that are not known are kept, as Ollama does; those that are must be right.
    request_options({}, known_options(params)[0])
    licenses = body.raw("license") or []
    licenses = [licenses] if isinstance(licenses, str) else licenses
    if not isinstance(licenses, list) or not all(isinstance(text, str) for text in licenses):
        raise body.wrong("license", "a string or a list of strings")
    for message in body.messages:
        if message.role not in ROLES:
            raise message.wrong("role", f"one of {', '.join(ROLES)}")
        if other := next((name for name in ("images", "tool_calls") if message.given(name)), ""):
            raise bad_request(f"{message.path(other)} cannot be stored with a model; leave it out.")
    return Modelfile(
        base=body.from_,
        system=body.system or None,
        template=body.template or None,
        renderer=body.renderer or None,
        parser=body.parser or None,
        requires=body.requires or None,
        params=params,
        messages=tuple((message.role, message.content) for message in body.messages),
        licenses=tuple(text for text in licenses if text),
    )


def _digests(body: CreateBody, field: str) -> dict[str, Path]:
    """Return the blobs that a field names, by the names that their files have.

    Raises:
        ApiError: A digest is invalid, or its blob was not sent.
    """
    given = body.raw(field)
    if not isinstance(given, dict | None):
        raise body.wrong(field, "an object of digests by file name")
    found = {}
    for name, text in (given or {}).items():
        digest = parse_digest(text) if isinstance(text, str) else None
        if digest is None:
            raise bad_request("invalid digest format")
        path = uploaded(own_store(), digest)
        if path is None:
            raise bad_request(
                f"{field}: blob 'sha256:{digest}' not found; send it to /api/blobs/sha256:{digest} first."
            )
        found[name] = path
    return found


def _base_of_file(path: Path, report: Report) -> Base:
    """Return the model in a file that a client has sent."""
    report(Step("parsing GGUF"))
    if not is_gguf(path):
        raise StoreError("files: a single file should be in GGUF format; others are sent with their config.json.")
    return base_of_gguf(path, lambda done, total: None, path.name.removeprefix("sha256-"))


def _folder_of_files(files: Mapping[str, Path], folder: Path) -> Path:
    """Return a folder with the files that a client has sent, by their own names; one GGUF file stands for itself."""
    folder.mkdir()
    for name, path in files.items():
        last = _last_part(name)
        if not last.endswith(_MODEL_FILES):
            raise StoreError(f"files: '{printable(last, 60)}' is no file of a model.")
        (folder / last).hardlink_to(path)
    return folder / last if len(files) == 1 else folder


def _last_part(name: str) -> str:
    """Return the file name in a path that a client sent, whatever its system separates the parts by."""
    return name.replace("\\", "/").rpartition("/")[2]


def _with_adapters(model: Modelfile, adapters: Mapping[str, Path], folder: Path) -> Modelfile:
    """Return a description with an adapter whose files have their own names in a folder."""
    if not adapters:
        return model
    for name, path in adapters.items():
        last = _last_part(name)
        if is_gguf(path):
            last = _ADAPTER_FILE
        elif last not in (ADAPTER_CONFIG, *ADAPTER_WEIGHTS):
            raise StoreError(
                f"adapters: '{printable(last, 60)}' is no file of an adapter; there should be {ADAPTER_CONFIG} and "
                f"{' or '.join(ADAPTER_WEIGHTS)}, or a GGUF file."
            )
        (folder / last).symlink_to(path)
    file = folder / _ADAPTER_FILE
    return replace(model, adapters=(str(file if file.exists() else folder),))


def _digest_of(request: Request) -> str:
    digest = parse_digest(request.path_params["digest"])
    if digest is None:
        raise bad_request("invalid digest format")
    return digest


async def _large_pieces(request: Request) -> AsyncGenerator[bytes, None]:
    """Yield the body of a request in pieces that are worth a call to another thread."""
    waiting = bytearray()
    async for piece in request.stream():
        waiting += piece
        if len(waiting) >= _PIECE:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting)

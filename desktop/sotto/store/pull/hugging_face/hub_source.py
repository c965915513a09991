"""Hugging Face as a source of models.

The API is that of `huggingface_hub`: `/api/models/<owner>/<name>/revision/<revision>?blobs=true` describes a revision
and its files, `/<owner>/<name>/resolve/<commit>/<path>` gives the bytes of one, large ones by a redirect to another
host, which gets no token. https://huggingface.co/docs/hub/api

`huggingface_hub` itself is not used: it cannot be paused or stopped within a chunk, knows no speed limit and no free
space to keep, does not verify what it fetched, replaces no slow connection, and would keep every file a second time in
its cache. What it and Sotto should agree about is taken from it: the address, the tokens, and its cache, whose files
are not fetched again. Large files are verified by their sha256, small ones by the sha1 that git names them by.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from urllib.parse import quote

import httpx

from sotto.errors import BrokenModelError, DownloadError, ModelNotFoundError, StoreError
from sotto.store.bounded_json import parse_object
from sotto.store.files import read_all
from sotto.store.printable import format_size, printable
from sotto.store.pull.http_source import HttpSource
from sotto.store.pull.hugging_face.gguf_choice import choose, gguf_models
from sotto.store.pull.hugging_face.hub_settings import cached_file, endpoint, find_token
from sotto.store.pull.hugging_face.manifest_draft import MODEL, PROJECTOR, ManifestDraft, Origin, gguf_config
from sotto.store.pull.hugging_face.repository import (
    Repository,
    RepositoryFile,
    folder_of,
    is_model_folder,
    known_content,
    licence_files,
    model_texts,
    parse_repository,
    projector_of,
    require_digests,
)
from sotto.store.pull.model_source import BlobStream, Offer, Present
from sotto.store.pull.pull_errors import TryAgainError, busy_error
from sotto.store.pull.terms import Terms
from sotto.store.sources.hugging_face_names import selection
from sotto.store.sources.manifest import FILE, MANIFEST_LIMIT, Layer, parse_manifest
from sotto.store.sources.model_names import ModelName
from sotto.store.sources.plain_folders import INDEX
from sotto.store.sources.stored_folder import folder_config

# In bytes: what the API may say of a repository; 200 bytes a file are usual.
_INFO_LIMIT = 32 << 20
# In bytes: a small answer may take the time that is allowed for one once more for each of these.
_BYTES_PER_TIME = 1 << 20
_CONNECTIONS = 4
_MAIN = "main"
_LOGIN_FIRST = "log in with `hf auth login` or set HF_TOKEN"
_LOGIN = f"then {_LOGIN_FIRST}"


class HuggingFace(HttpSource):
    """A client of Hugging Face, for one model."""

    def __init__(self, name: ModelName, terms: Terms) -> None:
        """Create a client for the model of a name.

        Raises:
            DownloadError: The settings of the environment are invalid.
        """
        address = endpoint(insecure=terms.insecure)
        super().__init__(f"{address}/", httpx.URL(address).host, terms.patience, insecure=terms.insecure)
        self._name = name
        self._room = terms.room
        self._token = find_token()
        self._wanted, revision = selection(name.tag)
        self._revision = revision or _MAIN
        self._page = printable(f"{address}/{name.namespace}/{name.model}", 400)
        self._contents: dict[str, bytes] = {}
        self._commit = ""

    @property
    def manifest_path(self) -> Path:
        """A path that stands for the manifest in error messages until it is a file."""
        return Path(*self._name.parts)

    async def resolve(self, present: Present) -> Offer:
        """Compose a manifest of the repository's files; see `ModelSource.resolve`."""
        repository = await self._describe()
        self._commit = repository.commit
        licences = licence_files(repository)
        models = gguf_models(repository.files.values())
        about: list[str] = []
        files: Sequence[RepositoryFile]
        projectors: Sequence[RepositoryFile] = ()
        if is_model_folder(repository) and not (self._wanted and models):
            kind, files, config = FILE, await self._folder_files(repository, present), folder_config()
        else:
            choice = choose(models, self._wanted, _chosen_before(present), self._room(), self._page)
            kind, files, config = MODEL, choice.model.files, gguf_config(choice.model, repository.architecture)
            about = [choice.about]
            if projector := projector_of(repository, files[0]):
                projectors = (projector,)
                about.append(f"its projector for images is {printable(projector.path)}")
        await self._read([*files, *projectors, *licences], present)
        draft = ManifestDraft(Origin.of(repository, self._page), self._contents)
        draft.add(kind, files)
        draft.add(PROJECTOR, projectors)
        draft.add_licences(licences)
        if repository.licence:
            about.append(f"the licence is {repository.licence}")
        sentence = "; ".join(filter(None, about))
        data = draft.finish(config)
        return Offer(
            _unless_only_newer(data, present), draft.texts, f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""
        )

    def local_file(self, layer: Layer) -> Path | None:
        """Return the file of Hugging Face's own cache that should have the bytes of a blob, or None."""
        return cached_file(self._name.namespace, self._name.model, layer.digest)

    def open_blob(self, layer: Layer, start: int) -> AbstractAsyncContextManager[BlobStream]:
        """Request a file; see `ModelSource.open_blob`."""
        return self._open(self._address(layer.name), start, layer.size)

    def _address(self, path: str) -> httpx.URL:
        return self._base.join(
            f"{self._base.path.rstrip('/')}/{self._name.namespace}/{self._name.model}/resolve/{self._commit}/{quote(path)}"
        )

    async def _describe(self) -> Repository:
        """Return what the API says of the revision."""
        revision = quote(self._revision, safe="")
        url = self._base.join(
            f"{self._base.path.rstrip('/')}/api/models/{self._name.namespace}/{self._name.model}/revision/{revision}"
            "?blobs=true"
        )
        async with self._within_time(), self._get(url, {"Accept": "application/json"}) as response:
            if response.status_code != 200:
                raise await self._refusal(response)
            data = await self._bounded(response, _INFO_LIMIT)
        if len(data) > _INFO_LIMIT:
            raise BrokenModelError(f"What {self.host} says of {self._page} is larger than {format_size(_INFO_LIMIT)}.")
        return parse_repository(parse_object(data, f"The description of {self._page}", strict=False), self._page)

    async def _folder_files(self, repository: Repository, present: Present) -> list[RepositoryFile]:
        """Return the files of a model of safetensors files, having read the small ones."""
        if self._wanted:
            raise ModelNotFoundError(
                f"{self._page} has no {printable(self._wanted)}, as it holds no GGUF files; leave out what is behind "
                "the colon, or write a revision behind '@'."
            )
        small = model_texts(repository)
        await self._read([file for file in small if file.small], present)
        index = self._contents.get(INDEX)
        parsed = parse_object(index, f"{self._page}/{INDEX}", strict=False) if index is not None else None
        names = folder_of(repository, self._page).weight_names(parsed)
        return [*small, *(repository.files[name] for name in names)]

    async def _read(self, files: Sequence[RepositoryFile], present: Present) -> None:
        """Read the small ones of some files, unless that was done before."""
        require_digests(files, self._page)
        remaining = iter([file for file in files if file.small])

        async def read() -> None:
            for file in remaining:
                if file.path not in self._contents:
                    self._contents[file.path] = known_content(file, present, self._cached) or await self._fetch(file)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(_CONNECTIONS):
                    group.create_task(read())
        except BaseExceptionGroup as errors:
            # The first error cancelled the other tasks.
            raise errors.exceptions[0] from None

    def _cached(self, name: str) -> Path | None:
        return cached_file(self._name.namespace, self._name.model, name)

    async def _fetch(self, file: RepositoryFile) -> bytes:
        """Return the content of a small file."""
        url = self._address(file.path)
        async with self._within_time(1 + file.size / _BYTES_PER_TIME), self._get(url, {}) as response:
            if response.status_code != 200:
                raise await self._refusal(response)
            content = await self._bounded(response, file.size)
        if not file.is_content(content):
            raise TryAgainError(f"{self.host} sends {printable(file.path)} damaged.")
        return content

    # Tokens and refusals

    def _credentials(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token.value}"} if self._token else {}

    def _may_have_expired(self, response: httpx.Response) -> bool:
        return not self._is_own(response.url)

    async def _refusal(self, response: httpx.Response) -> StoreError:
        status, code = response.status_code, response.headers.get("X-Error-Code", "")
        if not self._is_own(response.url) or busy_error(response, self.host):
            return await super()._refusal(response)
        if code == "GatedRepo":
            login = f"with the account of the token in {self._token.place}" if self._token else _LOGIN
            return DownloadError(f"{self._page} is gated: ask for access on that page, {login}.")
        if code == "RevisionNotFound":
            return ModelNotFoundError(f"{self._page} has no revision '{printable(self._revision)}'.")
        if status == 401 and self._token and code != "RepoNotFound":
            return DownloadError(
                f"{self.host} does not accept the token in {self._token.place}; replace it with a valid one, or remove "
                "it."
            )
        if code == "EntryNotFound":
            return DownloadError(f"{self._page} has lost a file that it lists; try again later.")
        if code == "RepoNotFound" or status in (401, 404):
            return ModelNotFoundError(
                f"{self.host} has no model {printable(self._name.namespace)}/{printable(self._name.model)}, or it is "
                f"private; check its name, and for a private one {_LOGIN_FIRST}."
            )
        why = printable(response.headers.get("X-Error-Message", "").strip().rstrip("."), 300)
        if status == 403:
            return DownloadError(f"{self._page} is closed{f' ({why})' if why else ''}.")
        return await super()._refusal(response)


def _chosen_before(present: Present) -> frozenset[str]:
    """Return the GGUF files of the model that is there."""
    for manifest in present.manifests:
        if names := frozenset(layer.name for layer in manifest.of_kind("model")):
            return names
    return frozenset()


def _unless_only_newer(data: bytes, present: Present) -> bytes:
    """Return a manifest, or the one that is there if it names the same files and differs in the commit alone."""
    new = parse_manifest(data, Path())
    for manifest in present.manifests:
        if (manifest.config, manifest.layers) == (new.config, new.layers):
            return read_all(manifest.path, MANIFEST_LIMIT, "a manifest")
    return data

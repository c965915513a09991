"""One download from its first question to the model in the store."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from sotto.errors import BrokenModelError, DownloadError, SottoError
from sotto.store.printable import printable_path
from sotto.store.pull.disk_room import require_room
from sotto.store.pull.fetching import Fetcher
from sotto.store.pull.fitness import require_fitness, small_files
from sotto.store.pull.meter import Meter
from sotto.store.pull.pace import Pace
from sotto.store.pull.partial import Partial, has_digest
from sotto.store.pull.progress import PullState
from sotto.store.pull.registry import Registry
from sotto.store.pull.staging import Staging
from sotto.store.pull.terms import Terms
from sotto.store.removal import require_own_store
from sotto.store.sources.manifest import Layer, Manifest, parse_manifest
from sotto.store.sources.model_names import ModelName


class Job:
    """Downloads one model. Cancelling `run` stops it and keeps what is here."""

    def __init__(self, terms: Terms, name: ModelName, meter: Meter, pace: Pace) -> None:
        """Download what `name` means.

        Raises:
            DownloadError: The name's host is no address.
        """
        self._terms = terms
        self._meter = meter
        self._staging = Staging(terms.root, name)
        self._registry = Registry(name, terms.patience, insecure=terms.insecure)
        self._fetcher = Fetcher(self._registry, terms.root, meter, pace, terms.patience)

    async def run(self) -> None:
        """Download the model until the store has it.

        Raises:
            SottoError: It cannot be had, cannot run here or has no room. What is here stays, unless it is of no use.
            OSError: The store cannot be written.
        """
        self._meter.enter(PullState.CHECKING)
        require_own_store(self._terms.root)
        async with self._registry, self._ticking():
            with self._staging.lock():
                manifest = await self._begin()
                await self._check_fitness(manifest)
                # More than once only where a model was deleted meanwhile that had some of the blobs.
                while missing := [layer for layer in manifest.blobs.values() if not self._staging.find(layer)]:
                    await self._bring(missing, PullState.DOWNLOADING)
                self._meter.enter(PullState.VERIFYING)
                self._staging.settle(manifest)
        self._meter.enter(PullState.DONE)

    async def _begin(self) -> Manifest:
        """Get the manifest, see what is missing and whether it has room, and begin to stage."""
        staging = self._staging
        data = await self._fetcher.small(self._registry.manifest)
        manifest = parse_manifest(data, self._registry.manifest_path)
        _require_one_size(manifest)
        total = sum(layer.size for layer in manifest.blobs.values())
        if staging.stored_manifest() is not None:
            # The model is here, so it may be that somebody wants it again because it is damaged.
            self._meter.enter(PullState.VERIFYING)
            self._meter.planned(0, total)
            for layer in manifest.blobs.values():
                if (path := staging.find(layer)) and not await has_digest(path, layer.digest, self._meter.found):
                    staging.distrust(layer)
            self._meter.enter(PullState.CHECKING)
        here = staging.here(manifest)
        require_room(self._terms.root, total - here)
        staging.begin(data, manifest)
        self._meter.planned(here, total)
        return manifest

    async def _check_fitness(self, manifest: Manifest) -> None:
        """Refuse a model that cannot run here, and keep nothing of it."""
        try:
            layers = small_files(manifest)
            await self._bring([layer for layer in layers if not self._staging.find(layer)], PullState.CHECKING)
            files = [path for layer in layers if (path := self._staging.find(layer))]
            require_fitness(manifest, files, self._terms.judge)
        except DownloadError:
            raise
        except SottoError:
            self._staging.discard()
            raise

    async def _bring(self, layers: Iterable[Layer], state: PullState) -> None:
        """Bring blobs that are missing into the staging folder."""
        partials = {layer.digest: Partial(self._staging, layer) for layer in layers}.values()
        begun = [partial for partial in partials if partial.is_begun()]
        if begun:
            self._meter.enter(PullState.VERIFYING)
            for partial in begun:
                counted = self._staging.bytes_of(partial.layer)
                await partial.read()
                self._meter.found(partial.have - counted)
        self._meter.enter(state)
        await self._fetcher.all(partials)

    @asynccontextmanager
    async def _ticking(self) -> AsyncIterator[None]:
        """Tell now and then how far the download is."""

        async def tick() -> None:
            while True:
                await asyncio.sleep(self._terms.patience.news)
                self._meter.tick()

        task = asyncio.create_task(tick())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def _require_one_size(manifest: Manifest) -> None:
    for layer in (manifest.config, *manifest.layers):
        if layer.size != (size := manifest.blobs[layer.digest].size):
            raise BrokenModelError(
                f"{printable_path(manifest.path)} says that sha256:{layer.digest} has {layer.size} bytes, and that it "
                f"has {size}; it should say one thing."
            )

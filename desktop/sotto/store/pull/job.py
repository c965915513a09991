"""One download, from the request for the manifest to the complete model in the store."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from sotto.errors import BrokenModelError, DownloadError, SottoError
from sotto.store.printable import printable_path
from sotto.store.pull.disk_room import require_room
from sotto.store.pull.fetching import Fetcher
from sotto.store.pull.fitness import first_part, require_fit_part, require_fitness, small_files
from sotto.store.pull.meter import Meter
from sotto.store.pull.pace import Pace
from sotto.store.pull.partial import Partial, has_digest
from sotto.store.pull.progress import PullState
from sotto.store.pull.reuse import reuse
from sotto.store.pull.source_choice import open_source
from sotto.store.pull.staging import Staging
from sotto.store.pull.terms import Terms
from sotto.store.removal import require_own_store
from sotto.store.sources.manifest import Layer, Manifest, parse_manifest
from sotto.store.sources.model_names import ModelName


class Job:
    """Downloads one model. Cancelling `run` stops it and keeps the downloaded parts."""

    def __init__(self, terms: Terms, name: ModelName, meter: Meter, pace: Pace) -> None:
        """Prepare a download.

        Args:
            terms: The settings of the queue.
            name: The model to download.
            meter: Where progress is recorded.
            pace: The speed limit.

        Raises:
            DownloadError: The name's host is not a valid address.
        """
        self._terms = terms
        self._meter = meter
        self._staging = Staging(terms.root, name)
        self._source = open_source(name, terms)
        self._fetcher = Fetcher(self._source, terms.root, meter, pace, terms.patience)

    async def run(self) -> None:
        """Download the model and install it in the store.

        Raises:
            SottoError: It cannot be fetched, cannot run or does not fit on the disk. Downloaded parts are kept, unless
                the model cannot run.
            OSError: The store cannot be written.
        """
        self._meter.enter(PullState.CHECKING)
        require_own_store(self._terms.root)
        async with self._source, self._ticking():
            with self._staging.lock():
                manifest = await self._begin()
                await self._check_fitness(manifest)
                stored = self._staging.stored_manifest()
                if stored and stored.digest == manifest.digest and not self._missing(manifest):
                    self._meter.set_unchanged()
                # Repeats only if another model that shared some of the blobs was deleted meanwhile.
                while missing := self._missing(manifest):
                    await self._fetch(missing, PullState.DOWNLOADING)
                self._meter.enter(PullState.VERIFYING)
                self._staging.install(manifest)
        self._meter.enter(PullState.DONE)

    async def _begin(self) -> Manifest:
        """Fetch the manifest, check that the missing blobs fit on the disk, and stage the manifest."""
        staging = self._staging
        offer = await self._fetcher.fetch_small(lambda: self._source.resolve(staging.present()))
        manifest = parse_manifest(offer.manifest, self._source.manifest_path)
        _require_one_size(manifest)
        self._meter.set_about(offer.about)
        total = sum(layer.size for layer in manifest.blobs.values())
        if staging.stored_manifest() is not None:
            # Downloading an installed model again repairs it, so its blobs are verified.
            self._meter.enter(PullState.VERIFYING)
            self._meter.set_total(0, total)
            for layer in manifest.blobs.values():
                if (path := staging.find_blob(layer)) and not await has_digest(
                    path, layer.digest, self._meter.add_present
                ):
                    staging.distrust(layer)
            self._meter.enter(PullState.CHECKING)
        require_room(self._terms.root, total - staging.present_bytes(manifest))
        staging.begin(offer.manifest, manifest, offer.texts)
        # Counted now that no other process deletes what is there.
        self._meter.set_total(staging.present_bytes(manifest), total)
        return manifest

    async def _check_fitness(self, manifest: Manifest) -> None:
        """Refuse a model that cannot run, and discard what was downloaded of it."""
        try:
            layers = small_files(manifest)
            wanted = {layer.digest for layer in layers}
            await self._fetch(
                [layer for layer in self._missing(manifest) if layer.digest in wanted], PullState.CHECKING
            )
            files = [path for layer in layers if (path := self._staging.find_blob(layer))]
            require_fitness(manifest, files, self._terms.judge)
            if part := first_part(manifest):
                missing = [layer for layer in self._missing(manifest) if layer.digest == part.digest]
                await self._fetch(missing, PullState.DOWNLOADING)
                if path := self._staging.find_blob(part):
                    require_fit_part(path)
        except DownloadError:
            raise
        except SottoError:
            self._staging.discard()
            raise

    def _missing(self, manifest: Manifest) -> list[Layer]:
        """Return the blobs that are neither staged nor in the store."""
        return [layer for layer in manifest.blobs.values() if not self._staging.find_blob(layer)]

    async def _fetch(self, layers: Iterable[Layer], state: PullState) -> None:
        """Fetch missing blobs into the staging folder.

        Files of this machine with their bytes come first, then the parts that earlier runs left are loaded.
        """
        layers = [layer for layer in layers if not await self._reuse(layer)]
        partials = {layer.digest: Partial(self._staging, layer) for layer in layers}.values()
        begun = [partial for partial in partials if partial.exists()]
        if begun:
            self._meter.enter(PullState.VERIFYING)
            for partial in begun:
                counted = self._staging.present_bytes_of(partial.layer)
                await partial.load()
                self._meter.add_present(partial.have - counted)
        self._meter.enter(state)
        await self._fetcher.fetch_blobs(partials)

    async def _reuse(self, layer: Layer) -> bool:
        """Stage a file of this machine as a blob, if there is one with its bytes."""
        path = self._source.local_file(layer)
        if path is None:
            return False
        counted = self._staging.present_bytes_of(layer)
        self._meter.enter(PullState.VERIFYING)
        if not await reuse(path, layer, self._staging):
            return False
        self._meter.add_present(layer.size - counted)
        return True

    @asynccontextmanager
    async def _ticking(self) -> AsyncIterator[None]:
        """Report the progress at regular intervals."""

        async def tick() -> None:
            while True:
                await asyncio.sleep(self._terms.patience.report_interval)
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

"""One download, from the request for the manifest to the complete model in the store."""

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
        self._registry = Registry(name, terms.patience, insecure=terms.insecure)
        self._fetcher = Fetcher(self._registry, terms.root, meter, pace, terms.patience)

    async def run(self) -> None:
        """Download the model and install it in the store.

        Raises:
            SottoError: It cannot be fetched, cannot run or does not fit on the disk. Downloaded parts are kept, unless
                the model cannot run.
            OSError: The store cannot be written.
        """
        self._meter.enter(PullState.CHECKING)
        require_own_store(self._terms.root)
        async with self._registry, self._ticking():
            with self._staging.lock():
                manifest = await self._begin()
                await self._check_fitness(manifest)
                # Repeats only if another model that shared some of the blobs was deleted meanwhile.
                while missing := [layer for layer in manifest.blobs.values() if not self._staging.find_blob(layer)]:
                    await self._fetch(missing, PullState.DOWNLOADING)
                self._meter.enter(PullState.VERIFYING)
                self._staging.install(manifest)
        self._meter.enter(PullState.DONE)

    async def _begin(self) -> Manifest:
        """Fetch the manifest, check that the missing blobs fit on the disk, and stage the manifest."""
        staging = self._staging
        data = await self._fetcher.fetch_small(self._registry.fetch_manifest)
        manifest = parse_manifest(data, self._registry.manifest_path)
        _require_one_size(manifest)
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
        present = staging.present_bytes(manifest)
        require_room(self._terms.root, total - present)
        staging.begin(data, manifest)
        self._meter.set_total(present, total)
        return manifest

    async def _check_fitness(self, manifest: Manifest) -> None:
        """Refuse a model that cannot run, and discard what was downloaded of it."""
        try:
            layers = small_files(manifest)
            await self._fetch([layer for layer in layers if not self._staging.find_blob(layer)], PullState.CHECKING)
            files = [path for layer in layers if (path := self._staging.find_blob(layer))]
            require_fitness(manifest, files, self._terms.judge)
        except DownloadError:
            raise
        except SottoError:
            self._staging.discard()
            raise

    async def _fetch(self, layers: Iterable[Layer], state: PullState) -> None:
        """Fetch missing blobs into the staging folder, first loading the parts that earlier runs left."""
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

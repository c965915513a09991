"""Using a file that is on this machine already instead of downloading its bytes."""

import asyncio
import hashlib
from pathlib import Path

from sotto.store.pull.partial import has_digest
from sotto.store.pull.staging import Staging
from sotto.store.sources.manifest import Layer
from sotto.store.upkeep.linking import share

_CHUNK = 1 << 20


async def reuse(path: Path, layer: Layer, staging: Staging) -> bool:
    """Stage a file as a blob, and return whether it has the blob's bytes.

    It becomes a clone of the file, a second link to it, or else a copy. It is linked only as a complete blob, because
    incomplete ones are written to and the file is another program's.

    Raises:
        OSError: It cannot be copied into the store.
    """
    try:
        if path.stat().st_size != layer.size or not await has_digest(path, layer.digest, lambda _: None):
            return False
    except OSError:
        # It vanished, or may not be read: the source has its bytes, too.
        return False
    target, part = staging.blob_file(layer.digest), staging.partial_file(layer.digest)
    target.unlink(missing_ok=True)
    if share(path, target) is None:
        if not await _copy(path, part, layer.digest):
            return False
        part.replace(target)
    part.unlink(missing_ok=True)
    return True


async def _copy(path: Path, target: Path, digest: str) -> bool:
    """Copy a file, and return whether the copy has the digest; the file may have changed meanwhile."""
    actual = hashlib.sha256()
    with path.open("rb", buffering=0) as source, target.open("wb", buffering=0) as copy:
        while piece := source.read(_CHUNK):
            actual.update(piece)
            copy.write(piece)
            await asyncio.sleep(0)
    return actual.hexdigest() == digest

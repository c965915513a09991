"""How much disk space models take up; files that several of them share are counted once in the total."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.files import is_folder
from sotto.store.gguf.header import is_gguf
from sotto.store.locating import folder_of, store_of
from sotto.store.records import ModelRecord
from sotto.store.sources.plain_folders import ModelFolder


@dataclass(frozen=True, slots=True)
class DiskUse:
    """The disk space of models, in bytes.

    Attributes:
        models: That of each model with all its copies, by its digest; models on absent disks are left out.
        total: That of all models together.
    """

    models: Mapping[str, int]
    total: int


def disk_use(records: Iterable[ModelRecord]) -> DiskUse:
    """Return how much disk space models take up; files that cannot be read are not counted."""
    sizes: dict[tuple[int, int], int] = {}
    models = {}
    for record in records:
        if record.present:
            own = dict(_sizes(path for place in record.places for path in _files(place.path)))
            models[record.digest] = sum(own.values())
            sizes |= own
    return DiskUse(models, sum(sizes.values()))


def _sizes(paths: Iterable[Path]) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield the identity and the size of files; links to one file have the same identity."""
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        yield (status.st_dev, status.st_ino), status.st_size


def _files(path: Path) -> Iterator[Path]:
    """Yield the files of the model at a path: a folder, a GGUF file or a manifest."""
    with suppress(BrokenModelError):
        if is_folder(path):
            yield from _folder_files(folder_of(path))
        elif is_gguf(path):
            ggufs = folder_of(path.parent).ggufs.values()
            yield from next((parts for parts in ggufs if path in parts), [path])
        else:
            store = store_of(path)
            for layer in store.read_manifest(path).blobs.values():
                with suppress(BrokenModelError):
                    yield store.blob(layer)


def _folder_files(folder: ModelFolder) -> Iterator[Path]:
    names = list(folder.small_files())
    try:
        names += [weights.name for weights in folder.weight_files()]
    except BrokenModelError:
        # What there is of an incomplete model takes up space, too.
        names += [name for name in folder.names if name.endswith(".safetensors")]
    for name in names:
        with suppress(BrokenModelError):
            yield folder.file(name)

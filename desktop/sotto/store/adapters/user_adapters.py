"""The adapters that the user chose for models: one file per model in the configuration folder, named by digest."""

import os
from pathlib import Path

from sotto import paths
from sotto.errors import StoreError
from sotto.store.atomic_writing import write_atomically
from sotto.store.files import read_all
from sotto.store.printable import printable_path

_MAX_BYTES = 1 << 16


def read_user_adapter(digest: str) -> Path | None:
    """Return the path of the adapter that the user chose for a model, or None.

    Raises:
        BrokenModelError: The file that says so cannot be read.
    """
    path = _note(digest)
    if not path.exists():
        return None
    return Path(os.fsdecode(read_all(path, _MAX_BYTES, "the path of an adapter")))


def save_user_adapter(digest: str, adapter: Path | None) -> None:
    """Choose the adapter of a model from its next load on; None for no adapter.

    Raises:
        StoreError: The choice cannot be saved.
    """
    path = _note(digest)
    try:
        if adapter is None:
            path.unlink(missing_ok=True)
        else:
            write_atomically(path, os.fsencode(adapter))
    except OSError as error:
        raise StoreError(f"{printable_path(path)} cannot be changed: {error.strerror}.") from error


def _note(digest: str) -> Path:
    return paths.config_dir() / "adapters" / f"{digest}.txt"

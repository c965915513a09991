"""Having the system read a model's files while its load is still being planned."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sotto.engine.memory.memory_plan import Limits
from sotto.errors import BrokenModelError
from sotto.store.files import open_regular
from sotto.store.records import ModelSource, TensorFile

# Linux reads no more than about this much for one request.
_PIECE_BYTES = 1 << 20
# The files and the weights made of them are in memory at the same time.
_COPIES = 2


@contextmanager
def reading_ahead(source: ModelSource, limits: Limits) -> Iterator[None]:
    """Have the files of a model read in the background until the context is left, where the system can and has room."""
    enough = limits.budget is None or _COPIES * sum(file.nbytes for file in source.tensor_files) < limits.budget
    if not enough or not hasattr(os, "posix_fadvise"):
        yield
        return
    left = threading.Event()
    reader = threading.Thread(target=_read, args=(source.tensor_files, left), name="read-ahead", daemon=True)
    reader.start()
    try:
        yield
    finally:
        left.set()
        reader.join()


def _read(files: Sequence[TensorFile], left: threading.Event) -> None:
    for part in (part for file in files for part in file.parts):
        try:
            with open_regular(part.path) as (stream, size):
                for start in range(0, size, _PIECE_BYTES):
                    if left.is_set():
                        return
                    os.posix_fadvise(stream.fileno(), start, _PIECE_BYTES, os.POSIX_FADV_WILLNEED)
        except BrokenModelError:
            # Whoever reads the file for good says what is wrong with it.
            return

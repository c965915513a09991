"""GGUF models that are split into several files, as `llama-gguf-split` writes them.

The first file has the values and some of the tensors, the others have tensors and their number. All of them say how
many there are.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from sotto.errors import BrokenModelError
from sotto.store.gguf.file import GgufFile, read_gguf_file
from sotto.store.printable import printable, printable_path
from sotto.store.records import FilePart, TensorInfo

_NUMBER, _COUNT, _TENSORS = "split.no", "split.count", "split.tensors.count"


def read_gguf_files(paths: Sequence[Path], wanted: Callable[[str], bool] = lambda _: True) -> GgufFile:
    """Return the whole header of a model in one file or in several, as if it were in one.

    Args:
        paths: Its files in order.
        wanted: As `read_gguf_file` takes it.

    Raises:
        BrokenModelError: A file cannot be read, is damaged, or the files are not the parts of one model.
    """
    first = read_gguf_file(paths[0], wanted)
    count = first.values.get(_COUNT, 1)
    if count in (0, 1) and len(paths) > 1:
        raise BrokenModelError(
            f"{printable_path(paths[0])} is a whole GGUF file, but {len(paths) - 1} more of its model "
            f"{'is' if len(paths) == 2 else 'are'} here; it should be the only one."
        )
    if count != len(paths) and count != 0:
        raise BrokenModelError(
            f"{printable_path(paths[0])} is one of {printable(str(count), 20)} files of a model, of which {len(paths)} "
            f"{'is' if len(paths) == 1 else 'are'} here; download the model again."
        )
    if len(paths) == 1:
        return first
    tensors, start, parts = dict(first.tensors), first.size, []
    for number, path in enumerate(paths):
        part = first if number == 0 else read_gguf_file(path, lambda _: False)
        stated = part.values.get(_NUMBER), part.values.get(_COUNT)
        if stated != (number, count):
            raise BrokenModelError(
                f"{printable_path(path)} is not file {number + 1} of {count} of {printable_path(paths[0])}, as its "
                "name says; download the model again."
            )
        if number == 0:
            continue
        if twice := next((name for name in part.tensors if name in tensors), None):
            raise BrokenModelError(
                f"{printable_path(path)}: tensor {printable(twice)} is in a file before this one, too; it should be in "
                "one."
            )
        tensors |= {name: _moved(info, start) for name, info in part.tensors.items()}
        parts.append(FilePart(path, start))
        start += part.size
    stated_tensors = first.values.get(_TENSORS, len(tensors))
    if stated_tensors != len(tensors):
        raise BrokenModelError(
            f"{printable_path(paths[0])}: its files have {len(tensors)} tensors, but it says "
            f"{printable(str(stated_tensors), 20)}; download the model again."
        )
    return replace(first, size=start, tensors=MappingProxyType(tensors), more_parts=tuple(parts))


def _moved(info: TensorInfo, start: int) -> TensorInfo:
    return replace(info, start=info.start + start, end=info.end + start)

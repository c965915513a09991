"""The safetensors library as a second, independent reader of headers, to verify Sotto's own.

Sotto parses headers itself because it needs the offset of every tensor in the file, which the library does not expose.
"""

import contextlib
import importlib.util
import sys
import threading
from collections.abc import Iterator
from types import ModuleType

from sotto.store.printable import printable, printable_path
from sotto.store.records import TensorFile

_HAS_NUMPY = importlib.util.find_spec("numpy") is not None
_LOCK = threading.Lock()


def find_disagreement(file: TensorFile) -> str:
    """Return a sentence saying how the library reads a file differently; empty if it agrees."""
    # Imported here because it imports numpy, which would add a tenth of a second to every start.
    from safetensors import SafetensorError, safe_open

    try:
        with _without_numpy(), safe_open(file.path, framework="np") as other:
            names = set(other.keys())
            for name, info in file.tensors.items():
                full = f"{file.prefix}{name}"
                if full not in names:
                    return f"{printable_path(file.path)}: the safetensors library finds no tensor {printable(full)}."
                tensor = other.get_slice(full)
                if (tensor.get_dtype(), tuple(tensor.get_shape())) != (info.dtype, info.shape):
                    return (
                        f"{printable_path(file.path)}: the safetensors library reads tensor {printable(full)} as "
                        f"{tensor.get_dtype()} of shape {tensor.get_shape()}, not {info.dtype} of {list(info.shape)}."
                    )
    except (SafetensorError, OSError) as error:
        why = str(error).rpartition(": ")[2].rstrip(".")
        return f"{printable_path(file.path)} cannot be read by the safetensors library: {printable(why)}."
    return ""


@contextlib.contextmanager
def _without_numpy() -> Iterator[None]:
    """Let the library open a file where numpy is not installed, as in the packages for people.

    WORKAROUND: the library imports numpy when it opens a file, though only tensors need it. An empty module is enough
    for headers. Check with new versions whether it opens files without.
    """
    if _HAS_NUMPY:
        yield
        return
    with _LOCK:
        sys.modules["numpy"] = ModuleType("numpy")
        try:
            yield
        finally:
            del sys.modules["numpy"]

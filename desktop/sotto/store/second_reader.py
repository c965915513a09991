"""The safetensors library as a second, independent reader of headers.

Sotto reads headers by itself, because it needs the place of every tensor in the file, which the library does not tell.
Where a model is checked, both have to agree.
"""

from sotto.store.printable import printable, printable_path
from sotto.store.records import TensorFile


def disagreement(file: TensorFile) -> str:
    """Return in a sentence how the library reads a file differently; empty where it agrees."""
    # Imported where it is used: it takes numpy along, which costs every other start a tenth of a second.
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file.path, framework="np") as other:
            names = set(other.keys())
            for name, info in file.tensors.items():
                full = f"{file.prefix}{name}"
                if full not in names:
                    return f"{printable_path(file.path)}: the safetensors library finds no tensor {printable(full)}."
                found = other.get_slice(full)
                if (found.get_dtype(), tuple(found.get_shape())) != (info.dtype, info.shape):
                    return (
                        f"{printable_path(file.path)}: the safetensors library reads tensor {printable(full)} as "
                        f"{found.get_dtype()} of shape {found.get_shape()}, not {info.dtype} of {list(info.shape)}."
                    )
    except (SafetensorError, OSError) as error:
        why = str(error).rpartition(": ")[2].rstrip(".")
        return f"{printable_path(file.path)} cannot be read by the safetensors library: {printable(why)}."
    return ""

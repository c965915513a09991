"""Reading tensors from files: in batches, with progress and cancellation.

MLX reads a file lazily and keeps it open until all of its tensors are evaluated. A model in Ollama's store has
thousands of files, more than a process may open, so files are read completely, batch by batch. Native kernels read a
tensor at once, into large pages of memory: providing those takes less time, and so does computing with them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import mlx.core as mx

from sotto.engine.config import prediction_names
from sotto.engine.config.tower_names import is_of_tower
from sotto.engine.gguf.conversion import ConvertedFile, convert
from sotto.engine.gguf.tensor_reading import Step, steps
from sotto.engine.kernels import device, native
from sotto.engine.weights import tensor_names
from sotto.errors import BrokenModelError, CancelledError, EngineError, UnsupportedModelError
from sotto.store.files import open_regular
from sotto.store.printable import printable, printable_path
from sotto.store.records import Format, ModelSource, TensorFile
from sotto.store.safetensors_header import parse_header, read_raw_header

# The size of a batch, which is read in parallel and between two checks for Stop: about 0.1 s from a slow SSD.
STEP_FILES = 64
STEP_BYTES = 32 * 2**20
# What MLX counts the elements of a dimension with.
_LONGEST = 2**31 - 1
# The types of a file that MLX's reader supports, and those that it converts them to; 8-bit floats arrive as raw bytes.
DTYPES: Mapping[str, mx.Dtype] = {
    "BOOL": mx.bool_,
    "U8": mx.uint8,
    "I8": mx.int8,
    "U16": mx.uint16,
    "I16": mx.int16,
    "U32": mx.uint32,
    "I32": mx.int32,
    "U64": mx.uint64,
    "I64": mx.int64,
    "F16": mx.float16,
    "BF16": mx.bfloat16,
    "F32": mx.float32,
    "F8_E4M3": mx.uint8,
    "F8_E8M0": mx.uint8,
}


def of_model(source: ModelSource) -> tuple[TensorFile, ...]:
    """Return the files of a model with the tensors that its definition uses; nothing is read.

    Raises:
        BrokenModelError: Two of the tensors have the same name.
        UnsupportedModelError: A tensor has a type that cannot be read.
    """
    files = _converted(source)
    wanted, head_name = (
        tensor_names.is_wanted(source.config, source.draft_prefix),
        prediction_names.naming(source.config),
    )
    if prediction_names.has_head(source.config, (name for file in files for name in file.tensors)):
        return select(files, lambda name: wanted(name) and head_name(name) != "")
    return select(files, lambda name: wanted(name) and head_name(name) is None)


def of_tower(source: ModelSource) -> tuple[TensorFile, ...]:
    """Return the files of a model with the tensors of its vision tower, none if it has none; nothing is read.

    Raises:
        BrokenModelError: Two of the tensors have the same name.
        UnsupportedModelError: A tensor has a type that cannot be read.
    """
    return select(_converted(source), is_of_tower(source.config))


def shapes_of(files: Iterable[TensorFile]) -> dict[str, mx.array]:
    """Return arrays with the types and shapes of the tensors in files, but without their contents."""
    return {
        name: mx.zeros(tensor.shape, DTYPES[tensor.dtype]) for file in files for name, tensor in file.tensors.items()
    }


def select(files: Sequence[TensorFile], wanted: Callable[[str], bool]) -> tuple[TensorFile, ...]:
    """Return the files with those of their tensors that are wanted, each digest once.

    Raises:
        BrokenModelError: Two files hold tensors of the same name.
        UnsupportedModelError: A tensor has a type that cannot be read, or is too long.
    """
    owners: dict[str, TensorFile] = {}
    chosen = []
    for file in {file.digest or str(file.path): file for file in files}.values():
        tensors = {name: tensor for name, tensor in file.tensors.items() if wanted(name)}
        for name, tensor in tensors.items():
            if (other := owners.setdefault(name, file)) is not file:
                raise BrokenModelError(
                    f"{printable(name)} is in both {printable_path(other.path)} and {printable_path(file.path)}; one "
                    "of them should go."
                )
            if tensor.dtype not in DTYPES:
                raise UnsupportedModelError(
                    f"{printable_path(file.path)}: {printable(name)} is stored as {tensor.dtype}, a type that cannot "
                    f"be computed with; it should be one of {', '.join(sorted(DTYPES))}."
                )
            if max(tensor.shape, default=0) > _LONGEST:
                raise UnsupportedModelError(
                    f"{printable_path(file.path)}: {printable(name)} has {max(tensor.shape)} rows or columns; "
                    f"{_LONGEST} is the most."
                )
        if tensors:
            chosen.append(replace(file, tensors=tensors))
    return tuple(chosen)


def read(
    files: Sequence[TensorFile],
    weights: dict[str, mx.array],
    progress: Callable[[int], None],
    cancelled: Callable[[], bool],
) -> None:
    """Read all tensors of `files` into `weights`, in their stored types.

    Args:
        files: The files, as `select` returns them.
        weights: Filled by name; after an error, holds what was read before.
        progress: Receives the bytes read so far, after every batch.
        cancelled: Polled as often; returns whether to stop.

    Raises:
        CancelledError: `cancelled` returned True.
        BrokenModelError: A file was changed or removed after its header was read.
        EngineError: A disk failed, or memory ran out.
    """
    done = 0
    for read_now, nbytes in _steps(files):
        stop_if(cancelled)
        evaluate(list(read_now.values()), next(iter(read_now), ""))
        weights.update(read_now)
        done += nbytes
        progress(done)


def evaluate(arrays: Sequence[mx.array], name: str) -> None:
    """Evaluate arrays; error messages call them `name`.

    Raises:
        EngineError: They could not be read, or memory ran out, which MLX's reader may report as a read error.
    """
    with _failing_at(name):
        mx.eval(arrays)


@contextmanager
def _failing_at(name: str) -> Iterator[None]:
    """Raise EngineError where reading a tensor of this name fails for want of memory or a working disk."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if "[read]" in str(error):
            raise EngineError(f"{name} could not be read: its disk failed, or memory ran out.") from error
        if "alloc" in str(error) or isinstance(error, MemoryError):
            raise EngineError(f"Memory ran out at {name}; close other programs or choose a smaller model.") from error
        raise


def stop_if(cancelled: Callable[[], bool]) -> None:
    """Raise CancelledError if `cancelled` returns True."""
    if cancelled():
        raise CancelledError("Loading was cancelled.")


def _converted(source: ModelSource) -> list[TensorFile]:
    """Return the files of a model, those in GGUF as they are read here."""
    on_cpu, kept = device.device() == "cpu", native.kept_modes()
    return [
        convert(file, source.config, on_cpu=on_cpu, kept=kept) if file.format is Format.GGUF else file
        for file in source.tensor_files
    ]


def _steps(files: Sequence[TensorFile]) -> Iterator[Step]:
    """Open files, and yield batches of their tensors, which may not be evaluated yet, with their bytes."""
    kernels = native.kernels()
    arrays: dict[str, mx.array] = {}
    nbytes = opened = 0
    for file in files:
        if isinstance(file, ConvertedFile):
            yield from steps(file, evaluate, kernels)
            continue
        opened += 1
        for name, array in _lazily(file) if kernels is None else _at_once(file, kernels):
            arrays[name] = array
            nbytes += file.tensors[name].nbytes
            if nbytes >= STEP_BYTES:
                yield arrays, nbytes
                arrays, nbytes, opened = {}, 0, 1
        if opened >= STEP_FILES:
            yield arrays, nbytes
            arrays, nbytes, opened = {}, 0, 0
    if arrays:
        yield arrays, nbytes


def _at_once(file: TensorFile, kernels: Any) -> Iterator[tuple[str, mx.array]]:
    """Yield the tensors of a file, read by native kernels, after comparing its header with the validated one."""
    with open_regular(file.path) as (stream, size):
        try:
            found = parse_header(read_raw_header(stream, size, file.path), size, file.path).tensors
        except BrokenModelError as error:
            raise BrokenModelError(f"{printable_path(file.path)} cannot be read any more: {error}") from error
        if any(found.get(file.prefix + name) != tensor for name, tensor in file.tensors.items()):
            raise _changed(file)
        for name, tensor in file.tensors.items():
            with _failing_at(name):
                array = kernels.read_tensor(stream.fileno(), tensor.start, tensor.shape, DTYPES[tensor.dtype])
            yield name, array


def _lazily(file: TensorFile) -> Iterator[tuple[str, mx.array]]:
    """Yield the tensors of a file, not evaluated yet, after comparing its header with the validated one."""
    try:
        arrays = cast("dict[str, mx.array]", mx.load(str(file.path), format="safetensors"))
    except RuntimeError as error:
        raise BrokenModelError(f"{printable_path(file.path)} cannot be read any more: {error}") from error
    if file.prefix:
        arrays = {name: arrays[file.prefix + name] for name in file.tensors if file.prefix + name in arrays}
    shapes = {name: arrays[name].shape for name in file.tensors if name in arrays}
    if shapes != {name: tensor.shape for name, tensor in file.tensors.items()}:
        raise _changed(file)
    for name in file.tensors:
        yield name, arrays.pop(name)


def _changed(file: TensorFile) -> BrokenModelError:
    return BrokenModelError(f"{printable_path(file.path)} was changed while the model was being loaded; try again.")

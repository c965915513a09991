"""Importing a model from a folder or a GGUF file into Sotto's own store.

The caller needs no MLX, and may be on any thread: tensors that have to be computed are computed in a process of their
own (`quantizing_process`).
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from sotto.engine.config.supported_models import refusal
from sotto.engine.quantizing import gguf_tensors, quantizing_process
from sotto.engine.quantizing.adapter_fitting import fit_adapter
from sotto.errors import BrokenModelError, InvalidRequestError, StoreError
from sotto.store.files import absolute, is_folder
from sotto.store.gguf.header import is_gguf
from sotto.store.importing import running
from sotto.store.importing.folder_plan import plan_folder
from sotto.store.importing.fusing_plan import fit_nothing
from sotto.store.importing.gguf_plan import plan_gguf
from sotto.store.importing.import_plan import ImportPlan, ImportProgress
from sotto.store.importing.writing import copy_blobs
from sotto.store.printable import printable_path
from sotto.store.removal import own_store
from sotto.store.sources.huggingface import snapshot
from sotto.store.sources.model_names import parse_name


def plan_import(path: Path, quantize: str = "", adapter: Path | None = None) -> ImportPlan:
    """Return what an import results in, with the size of the new model; reads headers, small files and the adapter.

    Args:
        path: A folder with `config.json` and safetensors files, or a GGUF file, of a split one any part.
        quantize: A recipe, as `sotto.store.importing.recipes.parse_recipe` takes it; empty to keep what is there.
        adapter: The folder or file of an adapter to fuse into the weights.

    Raises:
        StoreError: There is no complete model at the path.
        UnsupportedModelError: The model cannot run here, or cannot be imported.
        InvalidRequestError: There is no such recipe, or the weights are quantized already.
        FaultError: The process that checks the adapter failed.
    """
    fit = partial(fit_adapter, absolute(adapter)) if adapter else fit_nothing
    path = absolute(path)
    if is_folder(path):
        # A repository in Hugging Face's cache has its files in a snapshot.
        found = snapshot(path) if path.name.startswith("models--") else None
        return plan_folder(found.path if found else path, quantize, refusal, fit)
    if not path.exists():
        raise BrokenModelError(f"{printable_path(path)} is missing; it should be a folder or a GGUF file.")
    if not is_gguf(path):
        raise StoreError(
            f"{printable_path(path)} cannot be imported; it should be a GGUF file, or a folder with config.json and "
            "safetensors files."
        )
    if quantize.strip():
        return gguf_tensors.plan_quantized(path, quantize, fit)
    if adapter:
        raise InvalidRequestError(
            f"{printable_path(path)} is a GGUF file, which is imported as it is; an adapter can be fused into it if "
            "it is quantized anew, too."
        )
    return plan_gguf(path)


def run_import(
    plan: ImportPlan,
    name: str,
    progress: Callable[[ImportProgress], None],
    stop: Callable[[], bool],
    *,
    replace: bool = False,
) -> None:
    """Import a model; the same call again goes on where an interrupted one stopped.

    Args:
        plan: What to write.
        name: The name of the new model.
        progress: Receives the progress, on other threads as well.
        stop: Polled on other threads as well; returns whether to stop. What is finished is kept.
        replace: Whether to replace a model of that name.

    Raises:
        InvalidNameError: The name is invalid.
        CancelledError: `stop` returned True.
        StoreError: A model has that name, another Sotto is importing or downloading it, the disk is full, or the source
            was changed.
        FaultError: The process that computes failed.
    """
    computed = any(blob.is_computed for blob in plan.blobs)
    running.run_import(
        plan,
        parse_name(name),
        own_store(),
        progress=progress,
        stop=stop,
        write=quantizing_process.write_blobs if computed else copy_blobs,
        replace=replace,
    )


def unfinished_import(name: str) -> int | None:
    """Return how many bytes of a model an interrupted import has finished; None if there was none.

    Raises:
        InvalidNameError: The name is invalid.
    """
    return running.unfinished_import(own_store(), parse_name(name))


def discard_import(name: str) -> None:
    """Delete what an interrupted import has left.

    Raises:
        InvalidNameError: The name is invalid.
        StoreError: It is running, or a file cannot be deleted.
    """
    running.discard_import(own_store(), parse_name(name))

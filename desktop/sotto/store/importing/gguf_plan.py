"""Planning the import of a GGUF file that stays one: a layer with the whole file, and one with its projector."""

import math
from pathlib import Path

from sotto.errors import UnsupportedModelError
from sotto.store.gguf.gguf_config import refusal
from sotto.store.gguf.header import read_gguf
from sotto.store.gguf.split_files import read_gguf_files
from sotto.store.importing.folder_plan import source_files
from sotto.store.importing.gguf_parts import join, parts_of
from sotto.store.importing.import_plan import ImportPlan, PlannedBlob, Segment
from sotto.store.locating import folder_of
from sotto.store.sources.plain_folders import gguf_projector

# Ollama writes the platform that its GGUF models were made for.
_PLATFORM = {"architecture": "amd64", "os": "linux"}


def plan_gguf(path: Path) -> ImportPlan:
    """Return what importing a GGUF file as it is results in; the parts of a split one are joined.

    Raises:
        BrokenModelError: The file is damaged, or a part is missing.
        UnsupportedModelError: The model cannot run here.
    """
    paths = parts_of(path)
    header = read_gguf(paths[0])
    if reason := refusal(header.architecture, header.kind):
        raise UnsupportedModelError(reason)
    file = read_gguf_files(paths)
    projector = gguf_projector(folder_of(path.parent), paths[0])
    parameters = sum(math.prod(info.shape) for info in file.tensors.values())
    pieces = (Segment(file.path, 0, file.size),) if len(paths) == 1 else join(file)
    return ImportPlan(
        source=path,
        quantization="",
        architecture=header.architecture,
        parameters=parameters,
        files=source_files([*paths, projector] if projector else paths),
        blobs=(PlannedBlob("model", "", pieces), *([_whole("projector", projector)] if projector else [])),
        config={
            "model_format": "gguf",
            "model_family": header.architecture,
            "model_families": [header.architecture],
            "model_type": _size_label(parameters),
            "file_type": header.quantization or "unknown",
            **_PLATFORM,
        },
    )


def _whole(kind: str, path: Path) -> PlannedBlob:
    """Return the blob that is a copy of a file."""
    return PlannedBlob(kind, "", (Segment(path, 0, path.stat().st_size),))


def _size_label(count: int) -> str:
    """Return a number of weights as Ollama shows it: `260K`, `134.52M`, `8.0B`."""
    for unit, letter, places in ((10**9, "B", 1), (10**6, "M", 2), (10**3, "K", 0)):
        if count >= unit:
            return f"{count / unit:.{0 if not count % unit else places}f}{letter}"
    return str(count)

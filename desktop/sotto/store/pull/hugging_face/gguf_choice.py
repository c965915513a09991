"""Choosing one of the GGUF models of a repository, which differ in how their weights are quantized."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sotto.errors import BrokenModelError, ModelNotFoundError, UnsupportedModelError
from sotto.store.printable import format_size, printable
from sotto.store.pull.hugging_face.repository import RepositoryFile
from sotto.store.sources.plain_folders import split_part
from sotto.store.sources.projector_names import is_projector

_LABEL = re.compile(
    r"(?<![A-Za-z0-9])((?:UD-)?(?:I?Q[1-8](?:_[A-Z0-9]+)*|TQ[12]_0|[MN]X?V?FP4(?:_MOE)?|BF16|F16|FP16|F32|FP32))"
    r"(?![A-Za-z0-9])",
    re.IGNORECASE,
)
# Chosen where none is named: of fewer bits the answers suffer, and of more only the memory does.
_CHOSEN = re.compile(r"(UD-)?(Q[2-8]_.+|IQ4_.+|MXFP4.*)")
_USUAL = ("Q4_K_M", "UD-Q4_K_XL", "MXFP4", "Q4_K_S", "Q4_0")
_MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class GgufModel:
    """A GGUF model of a repository.

    Attributes:
        quantization: For example `Q4_K_M`; empty where the name of its file does not tell.
        files: Its file, or the parts of a split one in order.
        parts: The number of files that their names tell of.
    """

    quantization: str
    files: tuple[RepositoryFile, ...]
    parts: int = 1

    @property
    def label(self) -> str:
        """What tells it from the others: its quantization, else the name of its file."""
        return self.quantization or split_part(self.files[0].path.rpartition("/")[2])[0]

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.files)

    @property
    def missing(self) -> int:
        """The number of parts that the repository lacks."""
        return self.parts - len(self.files)

    @property
    def names(self) -> frozenset[str]:
        """What the model may be called, in lower case: its quantization and the names of its files."""
        files = [file.path.rpartition("/")[2].lower() for file in self.files]
        stems = (split_part(file)[0] for file in files)
        return frozenset({self.label.lower(), *files, *(file.removesuffix(".gguf") for file in files), *stems})


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that is taken, and what is said of that; empty if it was the only one or was named."""

    model: GgufModel
    about: str = ""


def gguf_models(files: Iterable[RepositoryFile]) -> list[GgufModel]:
    """Return the GGUF models of a repository by size, without projectors and other helpers."""
    groups: dict[tuple[str, int], list[RepositoryFile]] = defaultdict(list)
    for file in files:
        name = file.path.rpartition("/")[2]
        if name.lower().endswith(".gguf") and not is_projector(name) and "imatrix" not in name.lower():
            groups[split_part(file.path)].append(file)
    models = [
        GgufModel(_quantization(stem), tuple(sorted(group, key=lambda file: file.path)), parts)
        for (stem, parts), group in groups.items()
    ]
    return sorted(models, key=lambda model: model.size)


def choose(models: Sequence[GgufModel], wanted: str, before: frozenset[str], room: int | None, page: str) -> Choice:
    """Return one of the models.

    Args:
        models: Those of the repository, by size.
        wanted: The quantization or file that was named; empty if none was.
        before: The files of the model that an earlier download chose; it is taken again if none is named.
        room: How many bytes of weights the memory holds; None if that is not known.
        page: The address of the repository, for error messages.

    Raises:
        ModelNotFoundError: There are none, or none or more than one is named so.
        UnsupportedModelError: None fits into the memory.
        BrokenModelError: The repository lacks some of its files.
    """
    if not models:
        raise ModelNotFoundError(
            f"{page} has neither a GGUF file nor config.json with safetensors files; it should have either."
        )
    there = _list(models)
    if wanted:
        found = [model for model in models if wanted.lower() in model.names]
        if len(found) == 1:
            return Choice(_complete(found[0], page))
        if found:
            files = ", ".join(printable(model.files[0].path.rpartition("/")[2]) for model in found[:_MOST_NAMED])
            raise ModelNotFoundError(f"{page} has {len(found)} models of {printable(wanted)}: name one of {files}.")
        raise ModelNotFoundError(f"{page} has no {printable(wanted)}; it has {there}.")
    if len(models) == 1:
        return Choice(_complete(models[0], page))
    whole = [model for model in models if not model.missing]
    if not whole:
        _complete(models[0], page)
    for model in whole:
        if before and before == {file.path for file in model.files}:
            return Choice(model, f"{model.label} of {there} was chosen before")
    usual = [model for model in whole if _CHOSEN.fullmatch(model.label)] or whole
    if room is None:
        best = next((model for label in _USUAL for model in usual if model.label == label), usual[0])
        return Choice(best, f"{best.label} was chosen of {there}")
    fitting = [model for model in usual if model.size <= room]
    if not fitting:
        raise UnsupportedModelError(
            f"None of {there} at {page} fits this machine, whose memory holds about {format_size(room)} of weights; "
            f"the smallest has {format_size(usual[0].size)}, and is downloaded if its name is written behind a colon."
        )
    best = fitting[-1]
    return Choice(best, f"{best.label} was chosen of {there}, as the best that fits this machine")


def _complete(model: GgufModel, page: str) -> GgufModel:
    """Return a model, all of whose files are there."""
    if model.missing:
        raise BrokenModelError(
            f"{page} is incomplete: it has {len(model.files)} of the {model.parts} parts that "
            f"{printable(model.files[0].path)} tells of; choose another model."
        )
    return model


def _quantization(stem: str) -> str:
    """Return the quantization that the path of a file tells, else an empty string."""
    found = _LABEL.findall(stem.rpartition("/")[2]) or _LABEL.findall(stem)
    return found[-1].upper() if found else ""


def _list(models: Sequence[GgufModel]) -> str:
    labels = list(dict.fromkeys(printable(model.label, 80) for model in models))
    if len(labels) > _MOST_NAMED:
        labels = [*labels[:_MOST_NAMED], f"{len(labels) - _MOST_NAMED} more"]
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"

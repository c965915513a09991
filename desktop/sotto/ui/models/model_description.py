"""The wording of a model's properties in the list and on its card: size, quantization, stores, and memory fit.

Nothing here is called while something is painted: widgets keep what they show.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sotto.engine.contract.events import ModelInfo
from sotto.store.records import Format, ModelRecord, Source
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit, MachineMemory, Projection
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import home_path, join_facts
from sotto.ui.state.seeing_models import sees
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr

if TYPE_CHECKING:
    from sotto.store.disk_use import DiskUse

_SOURCES = {
    Source.BUILTIN: QT_TR_NOOP("Built in"),
    Source.SOTTO: "Sotto",
    Source.OLLAMA: "Ollama",
    Source.HUGGINGFACE: "Hugging Face",
    Source.LMSTUDIO: "LM Studio",
    Source.FOLDER: QT_TR_NOOP("Folder"),
}
_BITS = {"int2": 2, "int3": 3, "int4": 4, "int5": 5, "int6": 6, "int8": 8}

# Icon and colour token by fit.
FIT_SIGNS = {
    Fit.FITS: ("fits", "good"),
    Fit.TIGHT: ("tight", "warn"),
    Fit.NO: ("unfit", "alert"),
    Fit.UNKNOWN: ("unknown", "muted"),
}
FIT_NAMES = {
    Fit.FITS: QT_TR_NOOP("fits into memory"),
    Fit.TIGHT: QT_TR_NOOP("a tight fit"),
    Fit.NO: QT_TR_NOOP("does not fit into memory"),
    Fit.UNKNOWN: QT_TR_NOOP("unknown whether it fits"),
}
ABSENT = QT_TR_NOOP("Disk not connected")

# What marks a model, mostly by the user's choice: icon, meaning and colour token.
FAVOURITE = ("star-full", QT_TR_NOOP("favourite"), "warn")
PINNED = ("pin", QT_TR_NOOP("stays loaded"), "muted")
SEES = ("eye", QT_TR_NOOP("sees images"), "muted")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a model is loaded, or could be, as the list, the card and the table of models show it.

    Attributes:
        word: What is said, in a word or three.
        icon: Name of the icon beside it.
        color: Its colour token.
        fit: Whether the model fits, if that is what is said; otherwise None.
    """

    word: str
    icon: str
    color: str
    fit: Fit | None = None


def verdict(record: ModelRecord, state: ModelState, fit: Fit | None) -> Verdict | None:
    """Return whether a model is loaded, or else whether it fits.

    Args:
        record: The model.
        state: Its state.
        fit: Whether it fits into memory; None as long as it has not been measured, and nothing is said then.
    """
    if not record.present:
        return Verdict(tr(ABSENT), "absent", "muted")
    if not record.runnable:
        return Verdict(tr("Cannot run here"), "unfit", "muted")
    if state.loaded:
        return Verdict(tr("Loaded"), "fits", "accent_text")
    if state.phase is Phase.FAILED:
        return Verdict(tr("Could not be loaded"), "alert", "alert")
    return Verdict(fit_word(fit), *FIT_SIGNS[fit], fit) if fit is not None else None


def fit_word(fit: Fit) -> str:
    """Return whether a model fits, in a word or three."""
    return tr(fit.value)


def marks(record: ModelRecord, *, favourite: bool, pinned: bool) -> tuple[tuple[str, str, str], ...]:
    """Return icon, meaning and colour token of each mark of a model; the meanings are marked for translation."""
    found = ((SEES, sees(record)), (FAVOURITE, favourite), (PINNED, pinned))
    return tuple(mark for mark, shown in found if shown)


def searched_text(record: ModelRecord) -> str:
    """Return the name, the properties and the store of a model, as `matches` searches them."""
    return f"{record.name} {model_details(record)} {source_name(record.source)}".lower()


def matches(searched: str, text: str) -> bool:
    """Return whether what is searched contains every word of `text`."""
    return all(word in searched for word in text.lower().split())


def source_name(source: Source) -> str:
    """Return the name of a kind of store."""
    return tr(_SOURCES[source])


def quantization(record: ModelRecord) -> str:
    """Return the quantization of the weights, such as `4-bit`; empty if unknown."""
    bits = _BITS.get(record.quantization.lower())
    return tr("{bits}-bit").format(bits=bits) if bits else record.quantization


def model_details(record: ModelRecord) -> str:
    """Return what distinguishes models with the same name: parameters, quantization, format, use and size."""
    kind = "GGUF" if record.format is Format.GGUF else ""
    use = tr("vectors") if is_embedder(record) else ""
    size = wording.size(record.size) if record.size else ""
    parts = (wording.parameters(record.parameters), quantization(record), kind, use, size)
    return join_facts(part or "" for part in parts)


def source_names(record: ModelRecord) -> list[str]:
    """Return the names of the stores that contain a model, each once."""
    sources = (record.source, *(place.source for place in record.also))
    return list(dict.fromkeys(map(source_name, sources)))


def place_names(record: ModelRecord) -> list[str]:
    """Return where a model is, each place once: the names of stores, and the paths of files in other folders."""
    return list(
        dict.fromkeys(
            home_path(place.path) if place.source is Source.FOLDER else source_name(place.source)
            for place in record.places
        )
    )


def model_facts(record: ModelRecord) -> str:
    """Return the properties of a model in one line."""
    context = tr("1-token context|{count}-token context", "", record.context_length or 0)
    kind = {Format.GGUF: "GGUF", Format.SAFETENSORS: "safetensors"}.get(record.format) if record.format else ""
    number = wording.parameters(record.parameters)
    parts = (
        wording.size(record.size) if record.size else "",
        tr("{number} parameters").format(number=number) if number else "",
        quantization(record),
        kind,
        record.architecture,
        context.format(count=wording.count(record.context_length)) if record.context_length else "",
    )
    return join_facts(part or "" for part in parts)


def abilities(record: ModelRecord, info: ModelInfo | None = None) -> str:
    """Return a line on the abilities that a model's files state; empty if they state none.

    Args:
        record: The model.
        info: What is known of it once it is loaded; None before.
    """
    words = {
        "completion": tr("Text"),
        "vision": tr("Images"),
        "tools": tr("Tools"),
        "thinking": tr("Thinking"),
        "embedding": tr("Embeddings, with sotto embed or the API") if is_embedder(record) else tr("Embeddings"),
    }
    ahead = (tr("predicts tokens ahead"),) if info is not None and info.predicts else ()
    return join_facts((*(words.get(capability, capability) for capability in record.capabilities), *ahead))


def disk_line(record: ModelRecord, use: "DiskUse") -> str:
    """Return a line on what deleting a model of Sotto's own frees, or on the disk space of several copies."""
    size = use.models.get(record.digest)
    if size is None:
        return ""
    freed = use.freed.get(record.digest)
    if freed is None:
        return tr("{size} on disk").format(size=wording.size(size)) if record.also else ""
    return tr("{size} on disk, deleting frees {freed}").format(size=wording.size(size), freed=wording.size(freed))


def is_embedder(record: ModelRecord) -> bool:
    """Return whether a model's files say that it makes embeddings only."""
    return "embedding" in record.capabilities and "completion" not in record.capabilities


def projection_line(projection: Projection, memory: MachineMemory) -> str:
    """Return a sentence or two on how a model would fit into memory."""
    plan = projection.plan
    if projection.fit is Fit.UNKNOWN or plan is None:
        return projection.reason
    if projection.fit is Fit.NO:
        return plan.sentence
    total = wording.size(memory.sample.total) if memory.sample else ""
    line = tr("Memory in use after loading: {percent} % of {size}.")
    return line.format(percent=round(100 * (projection.share or 0)), size=total)


def prediction_line(predicted: int, actual: int) -> str:
    """Return a line on what a loaded model was predicted to hold and holds, in bytes; empty if one is unknown."""
    if not (predicted and actual):
        return ""
    return tr("Predicted {size}, uses {actual}").format(size=wording.size(predicted), actual=wording.size(actual))

"""The wording of a model's properties in the list and on its card: size, quantization, stores, and memory fit."""

from dataclasses import dataclass

from sotto.store.records import Format, ModelRecord, Source
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit, MachineMemory, Projection
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import join_names

SOURCE_NAMES = {
    Source.BUILTIN: "Built in",
    Source.SOTTO: "Sotto",
    Source.OLLAMA: "Ollama",
    Source.HUGGINGFACE: "Hugging Face",
    Source.LMSTUDIO: "LM Studio",
    Source.FOLDER: "Folder",
}

_QUANTIZATIONS = {"int4": "4-bit", "int8": "8-bit", "int2": "2-bit", "int3": "3-bit", "int5": "5-bit", "int6": "6-bit"}

# Icon and colour token by fit.
FIT_SIGNS = {
    Fit.FITS: ("fits", "good"),
    Fit.TIGHT: ("tight", "warn"),
    Fit.NO: ("unfit", "alert"),
    Fit.UNKNOWN: ("unknown", "muted"),
}
FIT_NAMES = {
    Fit.FITS: "fits into memory",
    Fit.TIGHT: "a tight fit",
    Fit.NO: "does not fit into memory",
    Fit.UNKNOWN: "unknown whether it fits",
}


ABSENT = "Disk not connected"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a model is loaded, or could be, as the list, the card and the table of models show it.

    Attributes:
        word: What is said, in a word or three.
        icon: Name of the icon beside it.
        color: Its colour token.
    """

    word: str
    icon: str
    color: str


def verdict(record: ModelRecord, state: ModelState, fit: Fit | None) -> Verdict | None:
    """Return whether a model is loaded, or else whether it fits.

    Args:
        record: The model.
        state: Its state.
        fit: Whether it fits into memory; None as long as it has not been measured, and nothing is said then.
    """
    if not record.present:
        return Verdict(ABSENT, "absent", "muted")
    if not record.runnable:
        return Verdict("Cannot run here", "unfit", "muted")
    if state.loaded:
        return Verdict("Loaded", "fits", "accent_text")
    if state.phase is Phase.FAILED:
        return Verdict("Could not be loaded", "alert", "alert")
    return Verdict(fit.value, *FIT_SIGNS[fit]) if fit is not None else None


def matches(record: ModelRecord, text: str) -> bool:
    """Return whether the name, the properties and the store of a model contain every word of `text`."""
    if not text:
        return True
    haystack = f"{record.name} {model_details(record)} {SOURCE_NAMES[record.source]}".lower()
    return all(word in haystack for word in text.lower().split())


def quantization(record: ModelRecord) -> str:
    """Return the quantization of the weights, such as `4-bit`; empty if unknown."""
    return _QUANTIZATIONS.get(record.quantization.lower(), record.quantization)


def model_details(record: ModelRecord) -> str:
    """Return what distinguishes models with the same name: parameters, quantization, format, use and size."""
    kind = "GGUF" if record.format is Format.GGUF else ""
    use = "vectors" if is_embedder(record) else ""
    size = wording.size(record.size) if record.size else ""
    parts = (wording.parameters(record.parameters), quantization(record), kind, use, size)
    return " · ".join(part for part in parts if part)


def source_names(record: ModelRecord) -> list[str]:
    """Return the names of the stores that contain a model, each once."""
    sources = (record.source, *(place.source for place in record.also))
    return list(dict.fromkeys(SOURCE_NAMES[source] for source in sources))


def model_facts(record: ModelRecord) -> str:
    """Return the properties of a model in one line."""
    context = f"{wording.count(record.context_length)}-token context" if record.context_length else ""
    kind = {Format.GGUF: "GGUF", Format.SAFETENSORS: "safetensors"}.get(record.format) if record.format else ""
    number = wording.parameters(record.parameters)
    parts = (
        wording.size(record.size) if record.size else "",
        f"{number} parameters" if number else "",
        quantization(record),
        kind,
        record.architecture,
        context,
    )
    return " · ".join(part for part in parts if part)


def abilities(record: ModelRecord) -> str:
    """Return a line on the abilities that a model's files state; empty if they state none."""
    words = {
        "completion": "text",
        "vision": "images",
        "tools": "tools",
        "thinking": "thinking",
        "embedding": "embeddings",
    }
    names = [words.get(capability, capability) for capability in record.capabilities]
    by = ", with sotto embed or the API" if is_embedder(record) else ""
    line = f"{join_names(names)}{by}"
    return line[:1].upper() + line[1:]


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
    return f"Memory in use after loading: {round(100 * (projection.share or 0))} % of {total}."


def prediction_line(predicted: int, actual: int) -> str:
    """Return a line on what a loaded model was predicted to hold and holds, in bytes; empty if one is unknown."""
    return f"Predicted {wording.size(predicted)}, uses {wording.size(actual)}" if predicted and actual else ""

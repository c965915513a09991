"""What is said of a model in the list and on its card: what it is, where it is, and whether it fits into memory."""

from sotto.store.records import Format, ModelRecord, Source
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit, MachineMemory, Projection
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

# By an icon and one of the theme's tokens; and what a screen reader says.
FIT_SIGNS = {
    Fit.FITS: ("fits", "good"),
    Fit.TIGHT: ("tight", "warn"),
    Fit.NO: ("unfit", "alert"),
    Fit.UNKNOWN: ("unknown", "muted"),
}
FIT_SPOKEN = {
    Fit.FITS: "fits into memory",
    Fit.TIGHT: "a tight fit",
    Fit.NO: "does not fit into memory",
    Fit.UNKNOWN: "not known whether it fits",
}


def quantization(record: ModelRecord) -> str:
    """Return in how many bits the weights are kept, in few letters; empty when unknown."""
    return _QUANTIZATIONS.get(record.quantization.lower(), record.quantization)


def model_details(record: ModelRecord) -> str:
    """Return what tells models of one name apart: parameters, quantization, size."""
    kind = "GGUF" if record.format is Format.GGUF else ""
    use = "vectors" if makes_vectors(record) else ""
    size = wording.size(record.size) if record.size else ""
    parts = (wording.parameters(record.parameters), quantization(record), kind, use, size)
    return " · ".join(part for part in parts if part)


def source_names(record: ModelRecord) -> list[str]:
    """Return in whose stores a model is, each once."""
    sources = (record.source, *(place.source for place in record.also))
    return list(dict.fromkeys(SOURCE_NAMES[source] for source in sources))


def model_facts(record: ModelRecord) -> str:
    """Return what is known of a model, in one line."""
    made_for = f"made for {wording.count(record.context_length)} tokens" if record.context_length else ""
    kind = {Format.GGUF: "GGUF", Format.SAFETENSORS: "safetensors"}.get(record.format) if record.format else ""
    number = wording.parameters(record.parameters)
    parts = (
        f"{wording.size(record.size)} on disk" if record.size else "",
        f"{number} parameters" if number else "",
        quantization(record),
        kind,
        record.architecture,
        made_for,
    )
    return " · ".join(part for part in parts if part)


def abilities(record: ModelRecord) -> str:
    """Return what a model's files say that it can do; empty when they say nothing."""
    known = {
        "completion": "text",
        "vision": "pictures",
        "tools": "tools",
        "thinking": "thinking",
        "embedding": "vectors of texts",
    }
    names = [known.get(one, one) for one in record.capabilities]
    by = ", by sotto embed or through the API, and not for chats" if makes_vectors(record) else ""
    return f"Made for {join_names(names)}{by}" if names else ""


def makes_vectors(record: ModelRecord) -> bool:
    """Return whether a model's files say that it is there for vectors of texts alone."""
    return "embedding" in record.capabilities and "completion" not in record.capabilities


def projection_line(projection: Projection, memory: MachineMemory) -> str:
    """Return how a model would lie in memory, in a sentence or two."""
    plan = projection.plan
    if projection.fit is Fit.UNKNOWN or plan is None:
        return projection.reason
    if projection.fit is Fit.NO:
        return plan.sentence
    total = wording.size(memory.sample.total) if memory.sample else ""
    return f"Loading it brings memory to {round(100 * (projection.share or 0))} % of {total}."


def prediction_line(predicted: int, actual: int) -> str:
    """Return what a loaded model was to hold and holds; empty when one of them is not known."""
    return f"Predicted {wording.size(predicted)}, holds {wording.size(actual)}" if predicted and actual else ""

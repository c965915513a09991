"""Which towers for images GGUF files hold, and which of them are understood.

A tower is in a file of its own, a projector, whose architecture is `clip`, or in the file of its model. The kinds are
those of llama.cpp (`tools/mtmd/clip-impl.h`): https://github.com/ggml-org/llama.cpp. Ollama's converter writes towers
into the file of the model, under the names of https://github.com/ollama/ollama (`convert/`).
"""

from collections.abc import Mapping
from typing import Any

from sotto.store.printable import printable

PROJECTOR = "clip"

# The architectures of the models that each kind of tower belongs to.
_MODELS: Mapping[str, tuple[str, ...]] = {
    "gemma3": ("gemma3",),
    "gemma4v": ("gemma4",),
    "glm4v": ("glm4",),
    "idefics3": ("llama",),
    "lfm2": ("lfm2",),
    "mlp": ("granite", "llama", "qwen2"),
    "pixtral": ("llama", "mistral3"),
    "qwen2.5vl_merger": ("qwen25vl", "qwen2vl"),
    "qwen2vl_merger": ("qwen2vl",),
    "qwen3vl_merger": ("qwen35", "qwen35moe", "qwen3vl", "qwen3vlmoe"),
}
# The kinds of the towers in the files of models, by the architecture of the model.
_WITHIN: Mapping[str, str] = {
    "gemma3": "gemma3",
    "gemma4": "gemma4v",
    "mistral3": "pixtral",
    "qwen25vl": "qwen2.5vl_merger",
    "qwen35": "qwen3vl_merger",
    "qwen35moe": "qwen3vl_merger",
    "qwen3vl": "qwen3vl_merger",
    "qwen3vlmoe": "qwen3vl_merger",
}


def tower_kind(architecture: str, values: Mapping[str, Any]) -> str:
    """Return the kind of the tower for images in a file; empty if it has none.

    Args:
        architecture: Its `general.architecture`.
        values: Its numbers, booleans and texts.
    """
    if architecture != PROJECTOR:
        has_tower = f"{architecture}.vision.block_count" in values
        return _WITHIN.get(architecture, architecture) if has_tower else ""
    if values.get("clip.has_vision_encoder") is not True:
        return ""
    kind = values.get("clip.vision.projector_type") or values.get("clip.projector_type")
    # The first converter, for LLaVA, did not state it.
    return kind if isinstance(kind, str) else "mlp"


def vision_refusal(architecture: str, kind: str) -> str:
    """Return one sentence saying why a model cannot see by a tower, or an empty string.

    Args:
        architecture: The model's `general.architecture`.
        kind: The kind of the tower.
    """
    if kind not in _MODELS:
        return (
            f"Images are not shown to it: towers of the kind '{printable(kind, 40)}' are not supported yet; those of "
            f"{', '.join(sorted(_MODELS))} are."
        )
    if architecture not in _MODELS[kind]:
        return (
            f"Images are not shown to it: its projector is of the kind '{kind}', which belongs to models of the "
            f"architecture {' or '.join(_MODELS[kind])}; choose the projector that was made for this model."
        )
    return ""

"""The `config.json` of encoders in GGUF files, and the steps from a text to its embedding for any model.

RoBERTa's positions begin after the id of its padding token. The converter removed the unused ones from the position
table, so such a file is a BERT. For the keys see https://github.com/ggml-org/llama.cpp (`conversion/bert.py`,
`src/models/bert.cpp`).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.gguf.metadata_values import Values
from sotto.store.printable import printable_path
from sotto.store.records import SentenceModule

_NONE, _MEAN, _FIRST, _LAST, _RANK = range(5)
# Names of sentence-transformers. For a file without pooling, the mean is what most models are trained for.
_POOLING: Mapping[int, str] = {_NONE: "mean", _MEAN: "mean", _FIRST: "cls", _LAST: "lasttoken"}
# This key follows the architecture's name.
POOLING = ".pooling_type"
_TOKENS, _TYPES, _POSITIONS = "token_embd.weight", "token_types.weight", "position_embd.weight"

_EPSILONS = (".attention.layer_norm_epsilon", ".attention.layer_norm_rms_epsilon")

Config = dict[str, Any]


def sentence_modules(values: Values) -> tuple[SentenceModule, ...]:
    """Return the steps from a text to its embedding; empty for a model that generates text and names no pooling.

    Raises:
        BrokenModelError: The model is a reranker, or a value is invalid.
    """
    encoder = values.architecture in ENCODERS
    if not encoder and not values.has(POOLING):
        return ()
    kind = values.integer(POOLING, _MEAN, 0)
    if kind == _RANK:
        raise BrokenModelError(
            f"{printable_path(values.file.path)} holds a model that ranks texts ({values.architecture}{POOLING} is "
            f"{kind}), which cannot run; choose one that makes vectors."
        )
    if kind not in _POOLING:
        raise values.error(POOLING, f"a number from {_NONE} to {_LAST}")
    pooling = MappingProxyType({"pooling_mode": _POOLING[kind]})
    # The position table may be longer than the texts that the model was trained on.
    limit = {"max_seq_length": values.integer(".context_length")} if encoder else {}
    return (
        SentenceModule("Transformer", MappingProxyType(limit)),
        SentenceModule("Pooling", pooling),
        SentenceModule("Normalize", MappingProxyType({})),
    )


def _common(values: Values) -> Config:
    """Return the configuration keys that all encoders have."""
    if values.boolean(".attention.causal", False):
        raise values.error(".attention.causal", "false, as each token of a text sees all others")
    width, layers = values.integer(".embedding_length"), values.layer_count()
    if values.dimension(_TOKENS, 1) != width:
        raise values.error(".embedding_length", f"{values.dimension(_TOKENS, 1)}, as {_TOKENS} has it")
    # Converters give this key either name.
    epsilon = next((key for key in _EPSILONS if values.has(key)), _EPSILONS[0])
    types = values.dimension(_TYPES, 0) if _TYPES in values.file.tensors else 0
    return {
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": values.integer(".attention.head_count"),
        "intermediate_size": values.integer(".feed_forward_length"),
        "vocab_size": values.dimension(_TOKENS, 0),
        "max_position_embeddings": values.integer(".context_length"),
        "type_vocab_size": types,
        "layer_norm_eps": values.number(epsilon),
    }


def _bert(values: Values) -> Config:
    return _common(values) | {
        "model_type": "bert",
        "max_position_embeddings": values.dimension(_POSITIONS, 0),
        "hidden_act": "gelu",
    }


def _nomic_bert(values: Values) -> Config:
    if values.string(".rope.scaling.type", "none") != "none":
        raise values.error(".rope.scaling.type", "none")
    return _common(values) | {"model_type": "nomic_bert", "rope_theta": values.number(".rope.freq_base", 10000.0)}


def _jina_v3(values: Values) -> Config:
    base = values.number(".rope.freq_base", 20_000.0)
    return _common(values) | {"model_type": "jina_embeddings_v3", "rope_theta": base, "hidden_act": "gelu"}


def _modern_bert(values: Values) -> Config:
    if values.string(".rope.scaling.type", "none") != "none":
        raise values.error(".rope.scaling.type", "none")
    config = _common(values)
    return config | {
        "model_type": "modernbert",
        "norm_eps": config["layer_norm_eps"],
        "hidden_activation": values.string(".hidden_activation", "gelu"),
        "local_attention": values.integer(".attention.sliding_window"),
        "global_attn_every_n_layers": values.integer(".attention.sliding_window_pattern", 3),
        "rope_theta": values.number(".rope.freq_base", 160_000.0),
        "rope_local_base_freq": values.number(".rope.freq_base_swa", 10_000.0),
    }


ENCODERS: Mapping[str, Callable[[Values], Config]] = {
    "bert": _bert,
    "jina-bert-v3": _jina_v3,
    "modern-bert": _modern_bert,
    "nomic-bert": _nomic_bert,
}

"""GGUF files of encoders, and what any file says of vectors: the keys of `config.json` and the steps of a vector.

Positions of RoBERTa, which begin behind that of its padding, were cut to those that texts have when its file was made,
so that it is a BERT. What the keys mean: https://github.com/ggml-org/llama.cpp (`conversion/bert.py`,
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
# By the names of sentence-transformers. Where a file says that nothing is pooled, the mean is what most are made for.
_POOLING: Mapping[int, str] = {_NONE: "mean", _MEAN: "mean", _FIRST: "cls", _LAST: "lasttoken"}
# The key, behind the architecture's name.
POOLING = ".pooling_type"
_TOKENS, _TYPES, _POSITIONS = "token_embd.weight", "token_types.weight", "position_embd.weight"

Config = dict[str, Any]


def sentence_modules(values: Values) -> tuple[SentenceModule, ...]:
    """Return the steps from a text to its vector, or none where nothing tells of that and the model writes.

    Raises:
        BrokenModelError: It makes no vectors but scores, or says what makes no sense.
    """
    encoder = values.architecture in ENCODERS
    if not encoder and not values.has(POOLING):
        return ()
    kind = values.whole(POOLING, _MEAN, 0)
    if kind == _RANK:
        raise BrokenModelError(
            f"{printable_path(values.file.path)} holds a model that ranks texts ({values.architecture}{POOLING} is "
            f"{kind}), which cannot run; choose one that makes vectors."
        )
    if kind not in _POOLING:
        raise values.wrong(POOLING, f"a number from {_NONE} to {_LAST}")
    pooling = MappingProxyType({"pooling_mode": _POOLING[kind]})
    # A table of positions may be longer than texts should be.
    longest = {"max_seq_length": values.whole(".context_length")} if encoder else {}
    return (
        SentenceModule("Transformer", MappingProxyType(longest)),
        SentenceModule("Pooling", pooling),
        SentenceModule("Normalize", MappingProxyType({})),
    )


def _common(values: Values) -> Config:
    """Return what all encoders say alike."""
    if values.truth(".attention.causal", False):
        raise values.wrong(".attention.causal", "false, as each token of a text sees all others")
    width, layers = values.whole(".embedding_length"), values.layers()
    if values.width(_TOKENS, 1) != width:
        raise values.wrong(".embedding_length", f"{values.width(_TOKENS, 1)}, as {_TOKENS} has it")
    types = values.width(_TYPES, 0) if _TYPES in values.file.tensors else 0
    return {
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": values.whole(".attention.head_count"),
        "intermediate_size": values.whole(".feed_forward_length"),
        "vocab_size": values.width(_TOKENS, 0),
        "max_position_embeddings": values.whole(".context_length"),
        "type_vocab_size": types,
        "layer_norm_eps": values.number(".attention.layer_norm_epsilon"),
    }


def _bert(values: Values) -> Config:
    return _common(values) | {
        "model_type": "bert",
        "max_position_embeddings": values.width(_POSITIONS, 0),
        "hidden_act": "gelu",
    }


def _nomic_bert(values: Values) -> Config:
    if values.text(".rope.scaling.type", "none") != "none":
        raise values.wrong(".rope.scaling.type", "none")
    return _common(values) | {"model_type": "nomic_bert", "rope_theta": values.number(".rope.freq_base", 10000.0)}


ENCODERS: Mapping[str, Callable[[Values], Config]] = {"bert": _bert, "nomic-bert": _nomic_bert}

"""Which GGUF files are projectors, and which models they may belong to, by their names.

A projector turns images into what stands in the place of a model's embeddings. It is called `mmproj-F16.gguf` or
`mmproj-NAME-f16.gguf` or `NAME.mmproj-f16.gguf`, and lies beside models that differ in their quantization.
"""

import re
from collections.abc import Iterable

_MARK = "mmproj"
_TYPE = re.compile(r"(?<![a-z0-9])(bf16|f(?:p?16|p?32)|i?q[1-8](?:_[a-z0-9]+)*|mxfp4)(?![a-z0-9])")
_PART = re.compile(r"-[0-9]{5}-of-[0-9]{5}$")
_WORD = re.compile(r"[a-z]+|[0-9.]+")
# Words that name no model.
_COMMON = frozenset({"mmproj", "model", "ggml", "gguf", "ud"})
# A tower keeps all its bits in these types, which the others round.
_PREFERRED = ("f16", "fp16", "bf16", "f32", "fp32", "q8_0")


def is_projector(name: str) -> bool:
    """Return whether the name of a GGUF file is that of a projector, not of a model."""
    return _MARK in name.lower()


def projectors_for(model: str, names: Iterable[str]) -> list[str]:
    """Return the projectors of a folder that may belong to a model, the one to prefer first.

    Beside models of one kind, all do; else those whose names say nothing else than that of the model.

    Args:
        model: The name of the model's file.
        names: The names of all files in the folder.
    """
    ggufs = [name for name in names if name.lower().endswith(".gguf")]
    found = [name for name in ggufs if is_projector(name)]
    if len({_words(name) for name in ggufs if not is_projector(name)}) > 1:
        found = [name for name in found if _words(name) <= _words(model)]
    return sorted(found, key=lambda name: (_rank(name), name))


def _words(name: str) -> frozenset[str]:
    """Return the words that name a model, in the name of a file."""
    stem = _PART.sub("", name.lower().removesuffix(".gguf"))
    return frozenset(word.strip(".") for word in _WORD.findall(_TYPE.sub(" ", stem))) - _COMMON


def _rank(name: str) -> int:
    """Return how many types go before that which the name of a projector states, the last where it states none."""
    types = _TYPE.findall(name.lower())
    return _PREFERRED.index(types[-1]) if types and types[-1] in _PREFERRED else len(_PREFERRED)

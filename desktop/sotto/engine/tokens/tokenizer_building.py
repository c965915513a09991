"""Building the tokenizers library's object without stopping the window for as long as the library would.

The library keeps Python's lock while it reads a `tokenizer.json`: half a second and more for a vocabulary like Llama
3's, in which nothing is painted. Given the vocabulary and the merges as Python's own objects, it takes half of that,
and other threads run before and after it.
"""

import json
from collections.abc import Mapping
from typing import Any

import tokenizers

# What the library reads of a BPE model, and of an added token. A file with anything else is left to it.
_PARAMETERS = frozenset(
    "dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback ignore_merges".split()
)
_FLAGS = frozenset({"single_word", "lstrip", "rstrip", "normalized", "special"})


def build_tokenizer(text: str) -> tokenizers.Tokenizer:
    """Return what `tokenizers.Tokenizer.from_str` does.

    Args:
        text: The text of a `tokenizer.json` that `sotto.engine.tokens.tokenizer_trial.admit` has admitted.

    Raises:
        BaseException: Whatever the library raises for a file that it cannot read.
    """
    content = json.loads(text)
    model, added = content["model"], content.get("added_tokens", [])
    merges = _pairs(model.get("merges")) if _is_plain_bpe(model) else None
    if merges is None or any(token.keys() != _FLAGS | {"id", "content"} for token in added):
        return tokenizers.Tokenizer.from_str(text)
    without_words = content | {"model": model | {"vocab": {}, "merges": []}, "added_tokens": []}
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(without_words))
    parameters = {name: model[name] for name in _PARAMETERS & model.keys() if model[name] is not None}
    tokenizer.model = tokenizers.models.BPE(model["vocab"], merges, **parameters)
    # The tokens that the model does not know get the next ids, in this order; the library ignores those of the file.
    tokenizer.add_tokens(
        [tokenizers.AddedToken(token["content"], **{flag: token[flag] for flag in _FLAGS}) for token in added]
    )
    return tokenizer


def _is_plain_bpe(model: Mapping[str, Any]) -> bool:
    known = _PARAMETERS | {"type", "vocab", "merges"}
    return model.get("type") == "BPE" and isinstance(model.get("vocab"), dict) and model.keys() <= known


def _pairs(merges: object) -> list[Any] | None:
    """Return the two tokens of each merge, which older files write as one text; None if any is something else."""
    if not isinstance(merges, list):
        return None
    pairs = [tuple(merge.split(" ") if isinstance(merge, str) else merge) for merge in merges]
    # Files of a certain age have their version among the merges.
    return pairs if all(len(pair) == 2 and not pair[0].startswith("#version") for pair in pairs) else None

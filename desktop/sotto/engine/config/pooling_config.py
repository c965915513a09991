"""How a model's own files want the vector of a text to be made: pooled, normalised, of how many tokens at most.

Imports nothing of MLX.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sotto.engine.config.load_errors import name_file_in_errors
from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.bounded_json import kind_of
from sotto.store.records import ModelSource, SentenceModule

MEAN, FIRST, LAST, MOST, ROOT, WEIGHTED = "mean", "cls", "lasttoken", "max", "mean_sqrt_len_tokens", "weightedmean"
_MODES = (MEAN, FIRST, LAST, MOST, ROOT, WEIGHTED)
# As sentence-transformers wrote it before version 6, one flag for each.
_FLAGS: Mapping[str, str] = {
    "pooling_mode_cls_token": FIRST,
    "pooling_mode_max_tokens": MOST,
    "pooling_mode_mean_tokens": MEAN,
    "pooling_mode_mean_sqrt_len_tokens": ROOT,
    "pooling_mode_weightedmean_tokens": WEIGHTED,
    "pooling_mode_lasttoken": LAST,
}


@dataclass(frozen=True, slots=True)
class PoolingConfig:
    """What becomes of the last hidden states of a text's tokens.

    Attributes:
        pooling: How one vector is made of many, by the names of sentence-transformers; where there are several ways,
            what they give is put one behind the other.
        normalise: Whether the vector is brought to length 1.
        longest: Most tokens that a text may have; None as many as the model can take.
        lower: Whether texts are put in lower case before anything else.
    """

    pooling: tuple[str, ...] = (MEAN,)
    normalise: bool = True
    longest: int | None = None
    lower: bool = False


def read_pooling_config(source: ModelSource) -> PoolingConfig:
    """Return what a model's files say; the mean, normalised, where they say nothing.

    Raises:
        UnsupportedModelError: They want something that is not computed here.
        BrokenModelError: They say nothing that makes sense.
    """
    with name_file_in_errors(source):
        return _sentence(source.modules)


def _sentence(modules: Sequence[SentenceModule]) -> PoolingConfig:
    kinds = [module.kind for module in modules]
    if not kinds:
        return PoolingConfig()
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise UnsupportedModelError(
            f"Its modules.json makes vectors by the steps {', '.join(kinds)}; only Transformer, Pooling and then "
            "Normalize are supported."
        )
    first, pooling = modules[0].config, modules[1].config
    longest = first.get("max_seq_length")
    if longest is not None and (type(longest) is not int or longest < 1):
        raise BrokenModelError("max_seq_length in its sentence_bert_config.json should be a number of tokens.")
    said = PoolingConfig(_modes(pooling), "Normalize" in kinds, longest)
    return replace(said, lower=first.get("do_lower_case") is True)


def _modes(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ways of pooling that a configuration names."""
    named = config.get("pooling_mode")
    if named is None:
        named = [mode for flag, mode in _FLAGS.items() if config.get(flag) is True] or [MEAN]
    elif isinstance(named, str):
        named = [named]
    if not isinstance(named, list) or not all(isinstance(mode, str) for mode in named) or not named:
        raise BrokenModelError(f"pooling_mode of its Pooling step is {kind_of(named)}; it should be a text or texts.")
    for mode in named:
        if mode not in _MODES:
            raise UnsupportedModelError(
                f"pooling_mode of its Pooling step is {mode[:40]!r}; only {', '.join(_MODES)} are supported."
            )
    return tuple(named)

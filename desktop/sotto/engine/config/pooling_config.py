"""How a model's files configure embeddings: pooling, normalisation and the longest text.

Does not import MLX.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sotto.engine.config.load_errors import name_file_in_errors
from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.bounded_json import kind_of
from sotto.store.records import ModelSource, SentenceModule

MEAN, FIRST, LAST, MAX, ROOT, WEIGHTED = "mean", "cls", "lasttoken", "max", "mean_sqrt_len_tokens", "weightedmean"
_MODES = (MEAN, FIRST, LAST, MAX, ROOT, WEIGHTED)
# The form that sentence-transformers used before version 6: one flag for each mode.
_FLAGS: Mapping[str, str] = {
    "pooling_mode_cls_token": FIRST,
    "pooling_mode_max_tokens": MAX,
    "pooling_mode_mean_tokens": MEAN,
    "pooling_mode_mean_sqrt_len_tokens": ROOT,
    "pooling_mode_weightedmean_tokens": WEIGHTED,
    "pooling_mode_lasttoken": LAST,
}


@dataclass(frozen=True, slots=True)
class PoolingConfig:
    """How the last hidden states of a text's tokens become one vector.

    Attributes:
        pooling: The pooling modes, by their names in sentence-transformers. The results of several are concatenated.
        normalise: Whether the vector is scaled to length 1.
        longest: Most tokens that a text may have; None for the model's own limit.
        lower: Whether texts are converted to lower case first.
    """

    pooling: tuple[str, ...] = (MEAN,)
    normalise: bool = True
    longest: int | None = None
    lower: bool = False


def read_pooling_config(source: ModelSource) -> PoolingConfig:
    """Return the pooling of a model's files; by default the normalised mean.

    Raises:
        UnsupportedModelError: They configure something that is not supported.
        BrokenModelError: Their configuration makes no sense.
    """
    with name_file_in_errors(source):
        return _parse_modules(source.modules)


def _parse_modules(modules: Sequence[SentenceModule]) -> PoolingConfig:
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
    lower = first.get("do_lower_case") is True
    return PoolingConfig(_parse_modes(pooling), "Normalize" in kinds, longest, lower)


def _parse_modes(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the pooling modes of the Pooling step."""
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

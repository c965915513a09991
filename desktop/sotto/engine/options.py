"""Read generation options as they come in: names and meanings are Ollama's, and so are the defaults."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sotto.engine.types import SamplingOptions
from sotto.errors import InvalidRequestError

_LARGEST_SEED = 2**64 - 1
_MOST_STOPS = 64
_LONGEST_STOP = 1000


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """Options of a request, checked.

    Attributes:
        sampling: How tokens are drawn.
        num_predict: Most tokens to generate; None up to the end of the context.
        num_ctx: Most tokens a conversation may hold; None for the model's own maximum.
        stop: Texts that end the answer.
        notes: One sentence for each option that was not followed.
    """

    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    num_predict: int | None = None
    num_ctx: int | None = None
    stop: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def request_options(params: Mapping[str, Any], overrides: Mapping[str, Any]) -> RequestOptions:
    """Merge the built-in options, those of the model and those of the request; the later win, null counts as not given.

    Args:
        params: Defaults from the model's manifest.
        overrides: What the request asks for.

    Raises:
        InvalidRequestError: A value has the wrong type or is out of range.
    """
    given = {name: value for options in (params, overrides) for name, value in options.items() if value is not None}
    values = {name: read(name, given[name]) for name, read in _READERS.items() if name in given}
    notes = [f"Option {name} is not known and was ignored." for name in given if name not in _KNOWN]
    notes += [f"Option {name} has no effect here and was ignored." for name in given if name in _WITHOUT_EFFECT]
    apart = {name: values.pop(name) for name in ("num_predict", "num_ctx", "stop") if name in values}
    return RequestOptions(sampling=SamplingOptions(**values), notes=tuple(notes), **apart)


def _number(least: float, most: float) -> Callable[[str, Any], float]:
    def read(name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidRequestError(f"Option {name} must be a number, not {_shown(value)}.")
        if not least <= value <= most:
            raise InvalidRequestError(f"Option {name} must be from {least:g} to {most:g}, not {_shown(value)}.")
        return float(value)

    return read


def _integer(least: int, most: int) -> Callable[[str, Any], int]:
    def read(name: str, value: Any) -> int:
        # JSON has one kind of number, and some clients write every one with a point: fractions are cut off.
        whole = isinstance(value, float) and math.isfinite(value)
        if isinstance(value, bool) or not (isinstance(value, int) or whole):
            raise InvalidRequestError(f"Option {name} must be a whole number, not {_shown(value)}.")
        if not least <= int(value) <= most:
            raise InvalidRequestError(f"Option {name} must be from {least} to {most}, not {_shown(value)}.")
        return int(value)

    return read


def _limit(least: int) -> Callable[[str, Any], int | None]:
    """Read a whole number of which 0 and negative ones mean that there is no limit."""
    read_integer = _integer(-(2**31), 2**31 - 1)

    def read(name: str, value: Any) -> int | None:
        limit = read_integer(name, value)
        return max(limit, least) if limit > 0 else None

    return read


def _seed(name: str, value: Any) -> int | None:
    seed = _integer(-(2**63), _LARGEST_SEED)(name, value)
    return seed if seed >= 0 else None


def _stop(name: str, value: Any) -> tuple[str, ...]:
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list | tuple) or not all(isinstance(stop, str) for stop in stops):
        raise InvalidRequestError(f"Option {name} must be a text or a list of texts, not {_shown(value)}.")
    if len(stops) > _MOST_STOPS or any(len(stop) > _LONGEST_STOP for stop in stops):
        raise InvalidRequestError(
            f"Option {name} takes at most {_MOST_STOPS} texts of at most {_LONGEST_STOP} characters each."
        )
    return tuple(stop for stop in stops if stop)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


_READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "temperature": _number(0, 100),
    "top_k": _integer(-1, 2**31 - 1),
    "top_p": _number(0, 1),
    "min_p": _number(0, 1),
    "repeat_penalty": _number(0, 100),
    "repeat_last_n": _integer(-1, 2**31 - 1),
    "presence_penalty": _number(-100, 100),
    "frequency_penalty": _number(-100, 100),
    "seed": _seed,
    "num_predict": _limit(1),
    "num_ctx": _limit(4),
    "stop": _stop,
}
_WITHOUT_EFFECT = frozenset(
    {
        "draft_num_predict",
        "main_gpu",
        "mirostat",
        "mirostat_eta",
        "mirostat_tau",
        "num_batch",
        "num_gpu",
        "num_keep",
        "num_thread",
        "penalize_newline",
        "tfs_z",
        "typical_p",
        "use_mlock",
        "use_mmap",
    }
)
_KNOWN = _READERS.keys() | _WITHOUT_EFFECT

"""Reads generation options: names, meanings and defaults are those of Ollama, or else of llama.cpp."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import Any

from sotto.engine.contract.requests import SamplingOptions
from sotto.errors import InvalidRequestError
from sotto.store.printable import printable

# Default length limit of an answer in tokens, as makers of reasoning models recommend: ten minutes at fifty tokens a
# second. Without it, a model that never stops would fill a context of 262,144 tokens.
DEFAULT_MAX_TOKENS = 32_768
_MAX_SEED = 2**64 - 1
_MAX_INTEGER = 2**31 - 1
_MAX_BIAS = 100
_MAX_BIASES = 1024
_MAX_SHOWN = 60
_MAX_NOTES = 8
_MAX_STOPS = 64
_MAX_STOP_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The checked options of a request.

    Attributes:
        sampling: The sampling options.
        num_predict: Maximum tokens of the answer; -1 for the whole context, None for `DEFAULT_MAX_TOKENS`.
        num_ctx: Context length in tokens; None for the model's own maximum.
        stop: Texts that end an answer.
        loop_guard: Whether to end an answer that repeats itself endlessly; see `sotto.engine.sampling.loop_detector`.
        notes: A sentence for each ignored option.
    """

    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    num_predict: int | None = None
    num_ctx: int | None = None
    stop: tuple[str, ...] = ()
    loop_guard: bool = True
    notes: tuple[str, ...] = ()


def request_options(params: Mapping[str, Any], overrides: Mapping[str, Any]) -> RequestOptions:
    """Merge the defaults, the model's options and the request's; later ones win, and null means not given.

    Args:
        params: Options from the model's manifest, written for another program: unsupported ones only give a note.
        overrides: Options of the request.

    Raises:
        InvalidRequestError: An option of the request is unknown, has the wrong type or is out of range.
    """
    for name in overrides:
        if name not in _KNOWN:
            raise InvalidRequestError(_unknown(name))
    asked = {name: value for name, value in overrides.items() if value is not None}
    defaults, notes = split_params({name: value for name, value in params.items() if name not in asked})
    given = defaults | asked
    values = {name: read(name, given[name]) for name, read in _READERS.items() if name in given}
    notes += tuple(_no_effect(name) for name in asked if name in _WITHOUT_EFFECT)
    others = {name: values.pop(name) for name in _NOT_SAMPLING if name in values}
    return RequestOptions(sampling=SamplingOptions(**values), notes=notes, **others)


def split_params(params: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the supported options of a manifest unchanged, and a sentence for each other one.

    Options that were written for another program must not make a model unusable.
    """
    kept, notes = {}, []
    for name, value in params.items():
        if value is None:
            continue
        if name in _WITHOUT_EFFECT:
            notes.append(_no_effect(name))
        elif name not in _READERS:
            notes.append(f"Option {printable(name, _MAX_SHOWN)} is not known and was ignored.")
        else:
            try:
                _READERS[name](name, value)
            except InvalidRequestError as error:
                notes.append(f"{error.message.removesuffix('.')}, and was ignored.")
            else:
                kept[name] = value
    return kept, tuple(notes)


def known_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the known options of a request with any values, and a sentence for each unknown one.

    Some clients rely on servers accepting any name. The sentence suggests a similar option if there is one.
    """
    unknown = [name for name in options if name not in _KNOWN]
    notes = [
        _misspelling_note(name) or f"{name[:_MAX_SHOWN]} is not known and was ignored." for name in unknown[:_MAX_NOTES]
    ]
    if (more := len(unknown) - _MAX_NOTES) > 0:
        notes.append(f"{more} more are not known and were ignored.")
    return {name: value for name, value in options.items() if name in _KNOWN}, tuple(notes)


def misspelling_notes(names: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each unknown name that differs from an option's by one letter."""
    found = (_misspelling_note(name) for name in names if name not in _KNOWN)
    return tuple(islice(filter(None, found), _MAX_NOTES))


def _misspelling_note(name: str) -> str:
    right = next((known for known in sorted(_READERS) if _is_a_letter_off(name, known)), "")
    return f"{name} is not known; did you mean {right}?" if right else ""


def _is_a_letter_off(given: str, right: str) -> bool:
    """Return whether two names differ by one added, missing, wrong or swapped letter."""
    if abs(len(given) - len(right)) > 1 or given == right:
        return False
    start = next((place for place, (one, other) in enumerate(zip(given, right, strict=False)) if one != other), None)
    if start is None:
        return True
    rest, wanted = given[start:], right[start:]
    swapped = rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:]
    return swapped or rest[1:] == wanted[1:] or rest[1:] == wanted or rest == wanted[1:]


def _no_effect(name: str) -> str:
    return f"Option {name} has no effect here and was ignored."


def options_by_name(sampling: SamplingOptions) -> dict[str, Any]:
    """Return sampling options by name, for `request_options` to check."""
    return {each.name: getattr(sampling, each.name) for each in fields(sampling)}


def _unknown(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name[:_MAX_SHOWN], _KNOWN, 1)
    right = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(_READERS))}."
    return f"Option {printable(name, _MAX_SHOWN)} is not known; {right}"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Checks the value of an option.

    Attributes:
        read: Takes the option's name and value, and returns the value to use or raises InvalidRequestError.
        schema: The JSON schema of valid values.
    """

    read: Callable[[str, Any], Any]
    schema: Mapping[str, Any]

    def __call__(self, name: str, value: Any) -> Any:
        return self.read(name, value)


def _number(least: float, most: float) -> _Reader:
    def read(name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidRequestError(f"Option {name} must be a number, not {_printable(value)}.")
        if not least <= value <= most:
            raise InvalidRequestError(f"Option {name} must be from {least:g} to {most:g}, not {_printable(value)}.")
        return float(value)

    return _Reader(read, {"type": "number", "minimum": least, "maximum": most})


def _integer(least: int, most: int) -> _Reader:
    def read(name: str, value: Any) -> int:
        # JSON has one type of number, and some clients write all with a decimal point: the fraction is cut off.
        whole = isinstance(value, float) and math.isfinite(value)
        if isinstance(value, bool) or not (isinstance(value, int) or whole):
            raise InvalidRequestError(f"Option {name} must be a whole number, not {_printable(value)}.")
        if not least <= int(value) <= most:
            raise InvalidRequestError(f"Option {name} must be from {least} to {most}, not {_printable(value)}.")
        return int(value)

    return _Reader(read, {"type": "integer", "minimum": least, "maximum": most})


def _num_predict(name: str, value: Any) -> int:
    limit = _integer(-_MAX_INTEGER - 1, _MAX_INTEGER)(name, value)
    return limit if limit > 0 else -1


def _num_ctx(name: str, value: Any) -> int | None:
    length = _integer(-_MAX_INTEGER - 1, _MAX_INTEGER)(name, value)
    return max(length, 4) if length > 0 else None


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidRequestError(f"Option {name} must be true or false, not {_printable(value)}.")
    return value


def _mirostat(name: str, value: Any) -> int:
    if value not in (0, 1, 2) or isinstance(value, bool):
        raise InvalidRequestError(f"Option {name} must be 0, which is off, 1 or 2, not {_printable(value)}.")
    return int(value)


def _bias(name: str, value: Any) -> tuple[tuple[int, float], ...]:
    """Read the biases added to logits: an object of numbers by token, or pairs of token and number."""
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs
    ):
        raise InvalidRequestError(f"Option {name} must be an object of numbers by token, not {_printable(value)}.")
    if len(pairs) > _MAX_BIASES:
        raise InvalidRequestError(f"Option {name} takes at most {_MAX_BIASES} tokens, not {len(pairs)}.")
    read_bias = _number(-_MAX_BIAS, _MAX_BIAS)
    return tuple((_token(name, token), read_bias(f"{name}[{_printable(token)}]", bias)) for token, bias in pairs)


def _token(name: str, value: Any) -> int:
    # Keys of a JSON object are strings.
    digits = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 10
    token = int(value) if digits else value
    if isinstance(token, bool) or not isinstance(token, int) or not 0 <= token <= _MAX_INTEGER:
        raise InvalidRequestError(f"Option {name} must name tokens from 0 to {_MAX_INTEGER}, not {_printable(value)}.")
    return token


def _seed(name: str, value: Any) -> int | None:
    seed = _integer(-(2**63), _MAX_SEED)(name, value)
    return seed if seed >= 0 else None


def _texts(name: str, value: Any) -> tuple[str, ...]:
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list | tuple) or not all(isinstance(stop, str) for stop in stops):
        raise InvalidRequestError(f"Option {name} must be a string or a list of strings, not {_printable(value)}.")
    if len(stops) > _MAX_STOPS or any(len(stop) > _MAX_STOP_CHARACTERS for stop in stops):
        raise InvalidRequestError(
            f"Option {name} takes at most {_MAX_STOPS} texts of at most {_MAX_STOP_CHARACTERS} characters each."
        )
    return tuple(stop for stop in stops if stop)


def _printable(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


_TEXTS = _Reader(_texts, {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
_READERS: Mapping[str, _Reader] = {
    "temperature": _number(0, 100),
    "top_k": _integer(-1, _MAX_INTEGER),
    "top_p": _number(0, 1),
    "min_p": _number(0, 1),
    "typical_p": _number(0, 1),
    "xtc_probability": _number(0, 1),
    "xtc_threshold": _number(0, 1),
    "repeat_penalty": _number(0, 100),
    "repeat_last_n": _integer(-1, _MAX_INTEGER),
    "presence_penalty": _number(-100, 100),
    "frequency_penalty": _number(-100, 100),
    "dry_multiplier": _number(0, 100),
    "dry_base": _number(1, 100),
    "dry_allowed_length": _integer(1, _MAX_INTEGER),
    "dry_penalty_last_n": _integer(-1, _MAX_INTEGER),
    "dry_sequence_breakers": _TEXTS,
    "mirostat": _Reader(_mirostat, {"enum": [0, 1, 2]}),
    "mirostat_tau": _number(0, 100),
    "mirostat_eta": _number(0, 1),
    "logit_bias": _Reader(_bias, {"type": "object", "additionalProperties": {"type": "number"}}),
    "seed": _Reader(_seed, {"type": "integer"}),
    "num_predict": _Reader(_num_predict, {"type": "integer"}),
    "num_ctx": _Reader(_num_ctx, {"type": "integer"}),
    "stop": _TEXTS,
    "loop_guard": _Reader(_flag, {"type": "boolean"}),
}
OPTION_SCHEMAS: Mapping[str, Mapping[str, Any]] = {name: reader.schema for name, reader in _READERS.items()}
"""The JSON schema of each option's values."""
_NOT_SAMPLING = ("num_predict", "num_ctx", "stop", "loop_guard")
SAMPLING_NAMES = tuple(name for name in _READERS if name not in ("num_predict", "num_ctx", "stop"))
"""Names of the options that affect how tokens are sampled rather than how many."""
# Options of Ollama, current and former, that clients send to any engine.
_WITHOUT_EFFECT = frozenset(
    """
    draft_num_predict embedding_only f16_kv logits_all low_vram main_gpu num_batch num_gpu num_gqa num_keep num_thread
    numa penalize_newline rope_frequency_base rope_frequency_scale tfs_z use_mlock use_mmap vocab_only
    """.split()
)
_KNOWN = _READERS.keys() | _WITHOUT_EFFECT

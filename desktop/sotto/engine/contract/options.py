"""Read generation options as they come in: names, meanings and defaults are Ollama's, or else llama.cpp's."""

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import Any

from sotto.engine.contract.requests import SamplingOptions
from sotto.errors import InvalidRequestError
from sotto.store.printable import printable

# Default limit of an answer in tokens, as advised by makers of models that think at length: ten minutes at fifty tokens
# a second. Without it, a model that never ends would fill a context of 262,144.
USUAL_LENGTH = 32_768
_LARGEST_SEED = 2**64 - 1
_LARGEST = 2**31 - 1
_LARGEST_BIAS = 100
_MOST_BIASES = 1024
_SHOWN = 60
_MOST_NAMED = 8
_MOST_STOPS = 64
_LONGEST_STOP = 1000


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """Options of a request, checked.

    Attributes:
        sampling: The sampling options.
        num_predict: Maximum tokens of the answer; -1 for the whole context, None for `USUAL_LENGTH`.
        num_ctx: Context length in tokens; None for the model's own maximum.
        stop: Texts that end the answer.
        loop_guard: Whether an endlessly repeating answer is ended; see `sotto.engine.sampling.loop_detector`.
        notes: One sentence for each option that was ignored.
    """

    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    num_predict: int | None = None
    num_ctx: int | None = None
    stop: tuple[str, ...] = ()
    loop_guard: bool = True
    notes: tuple[str, ...] = ()


def request_options(params: Mapping[str, Any], overrides: Mapping[str, Any]) -> RequestOptions:
    """Merge the defaults, the options of the model and those of the request; later ones win, null means not given.

    Args:
        params: Options of the model's manifest, written for another program: unsupported ones give a note.
        overrides: Options of the request.

    Raises:
        InvalidRequestError: An option of the request is unknown, has the wrong type or is out of range.
    """
    for name in overrides:
        if name not in _KNOWN:
            raise InvalidRequestError(_unknown(name))
    asked = {name: value for name, value in overrides.items() if value is not None}
    usual, notes = split_params({name: value for name, value in params.items() if name not in asked})
    given = usual | asked
    values = {name: read(name, given[name]) for name, read in _READERS.items() if name in given}
    notes += tuple(_no_effect(name) for name in asked if name in _WITHOUT_EFFECT)
    apart = {name: values.pop(name) for name in _APART if name in values}
    return RequestOptions(sampling=SamplingOptions(**values), notes=notes, **apart)


def split_params(params: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the supported options of a manifest unchanged, and a sentence for each other one.

    Options written for another program must not make a model unusable.
    """
    kept, notes = {}, []
    for name, value in params.items():
        if value is None:
            continue
        if name in _WITHOUT_EFFECT:
            notes.append(_no_effect(name))
        elif name not in _READERS:
            notes.append(f"Option {printable(name, _SHOWN)} is not known and was ignored.")
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

    For clients that rely on a server accepting any name. The sentence names a similar option if there is one.
    """
    unknown = [name for name in options if name not in _KNOWN]
    notes = [
        _misspelling_note(name) or f"{name[:_SHOWN]} is not known and was ignored." for name in unknown[:_MOST_NAMED]
    ]
    if (more := len(unknown) - _MOST_NAMED) > 0:
        notes.append(f"{more} more are not known and were ignored.")
    return {name: value for name, value in options.items() if name in _KNOWN}, tuple(notes)


def misspelling_notes(names: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each name that is none of an option, and would be but for a letter."""
    found = (_misspelling_note(name) for name in names if name not in _KNOWN)
    return tuple(islice(filter(None, found), _MOST_NAMED))


def _misspelling_note(name: str) -> str:
    right = next((known for known in sorted(_READERS) if _is_a_letter_off(name, known)), "")
    return f"{name} is not known; did you mean {right}?" if right else ""


def _is_a_letter_off(given: str, right: str) -> bool:
    """Return whether two names differ by one letter: one too many, missing or wrong, or two swapped."""
    if abs(len(given) - len(right)) > 1 or given == right:
        return False
    begin = next((place for place, (one, other) in enumerate(zip(given, right, strict=False)) if one != other), None)
    if begin is None:
        return True
    rest, wanted = given[begin:], right[begin:]
    swapped = rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:]
    return swapped or rest[1:] == wanted[1:] or rest[1:] == wanted or rest == wanted[1:]


def _no_effect(name: str) -> str:
    return f"Option {name} has no effect here and was ignored."


def options_by_name(sampling: SamplingOptions) -> dict[str, Any]:
    """Return how tokens are drawn as options by name, for `request_options` to check."""
    return {each.name: getattr(sampling, each.name) for each in fields(sampling)}


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name[:_SHOWN], _KNOWN, 1)
    right = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(_READERS))}."
    return f"Option {printable(name, _SHOWN)} is not known; {right}"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Checks the value of an option.

    Attributes:
        read: Takes the option's name and its value, and returns the value as it is used, or raises InvalidRequestError.
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
        # JSON has one kind of number, and some clients write every one with a point: fractions are cut off.
        whole = isinstance(value, float) and math.isfinite(value)
        if isinstance(value, bool) or not (isinstance(value, int) or whole):
            raise InvalidRequestError(f"Option {name} must be a whole number, not {_printable(value)}.")
        if not least <= int(value) <= most:
            raise InvalidRequestError(f"Option {name} must be from {least} to {most}, not {_printable(value)}.")
        return int(value)

    return _Reader(read, {"type": "integer", "minimum": least, "maximum": most})


def _num_predict(name: str, value: Any) -> int:
    limit = _integer(-_LARGEST - 1, _LARGEST)(name, value)
    return limit if limit > 0 else -1


def _num_ctx(name: str, value: Any) -> int | None:
    length = _integer(-_LARGEST - 1, _LARGEST)(name, value)
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
    """Read what is added to tokens' scores: an object of numbers by token, or pairs of both."""
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs
    ):
        raise InvalidRequestError(f"Option {name} must be an object of numbers by token, not {_printable(value)}.")
    if len(pairs) > _MOST_BIASES:
        raise InvalidRequestError(f"Option {name} takes at most {_MOST_BIASES} tokens, not {len(pairs)}.")
    read_bias = _number(-_LARGEST_BIAS, _LARGEST_BIAS)
    return tuple((_token(name, token), read_bias(f"{name}[{_printable(token)}]", bias)) for token, bias in pairs)


def _token(name: str, value: Any) -> int:
    # As a key of a JSON object, a token is a text.
    digits = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 10
    token = int(value) if digits else value
    if isinstance(token, bool) or not isinstance(token, int) or not 0 <= token <= _LARGEST:
        raise InvalidRequestError(f"Option {name} must name tokens from 0 to {_LARGEST}, not {_printable(value)}.")
    return token


def _seed(name: str, value: Any) -> int | None:
    seed = _integer(-(2**63), _LARGEST_SEED)(name, value)
    return seed if seed >= 0 else None


def _texts(name: str, value: Any) -> tuple[str, ...]:
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list | tuple) or not all(isinstance(stop, str) for stop in stops):
        raise InvalidRequestError(f"Option {name} must be a text or a list of texts, not {_printable(value)}.")
    if len(stops) > _MOST_STOPS or any(len(stop) > _LONGEST_STOP for stop in stops):
        raise InvalidRequestError(
            f"Option {name} takes at most {_MOST_STOPS} texts of at most {_LONGEST_STOP} characters each."
        )
    return tuple(stop for stop in stops if stop)


def _printable(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


_TEXTS = _Reader(_texts, {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
_READERS: Mapping[str, _Reader] = {
    "temperature": _number(0, 100),
    "top_k": _integer(-1, _LARGEST),
    "top_p": _number(0, 1),
    "min_p": _number(0, 1),
    "typical_p": _number(0, 1),
    "xtc_probability": _number(0, 1),
    "xtc_threshold": _number(0, 1),
    "repeat_penalty": _number(0, 100),
    "repeat_last_n": _integer(-1, _LARGEST),
    "presence_penalty": _number(-100, 100),
    "frequency_penalty": _number(-100, 100),
    "dry_multiplier": _number(0, 100),
    "dry_base": _number(1, 100),
    "dry_allowed_length": _integer(1, _LARGEST),
    "dry_penalty_last_n": _integer(-1, _LARGEST),
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
"""The JSON schema of every option's values."""
_APART = ("num_predict", "num_ctx", "stop", "loop_guard")
DRAWN_BY = tuple(name for name in _READERS if name not in ("num_predict", "num_ctx", "stop"))
"""Options that say how an answer is drawn, whatever its length."""
# Ollama's, of today and of earlier; clients send them to any engine.
_WITHOUT_EFFECT = frozenset(
    """
    draft_num_predict embedding_only f16_kv logits_all low_vram main_gpu num_batch num_gpu num_gqa num_keep num_thread
    numa penalize_newline rope_frequency_base rope_frequency_scale tfs_z use_mlock use_mmap vocab_only
    """.split()
)
_KNOWN = _READERS.keys() | _WITHOUT_EFFECT

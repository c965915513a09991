"""Reading JSON from untrusted files, with bounds on size and nesting.

Python's parser recurses once per bracket, and the depth it can reach depends on the Python version and the thread's
stack. So the depth is checked before the parser sees the text.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.files import read_all
from sotto.store.printable import printable, printable_path

# Model files nest less than ten deep; manifests and headers, which are parsed strictly, three.
_MAX_DEPTH = 32
_MAX_DEPTH_STRICT = 8
# Several times the largest known: 100,000 added tokens in a tokenizer_config.json.
FILE_LIMIT = 32 << 20

_PIECE = 1 << 20
_NOT_BRACKETS = bytes(set(range(256)) - set(b'[]{}"'))


class _StrictError(ValueError):
    """Something that Python's parser accepts and the JSON standard does not."""


def parse_object(data: bytes, path: str | Path, *, strict: bool, max_depth: int | None = None) -> dict[str, Any]:
    """Return the JSON object encoded in `data`.

    Args:
        data: JSON in UTF-8.
        path: Where it comes from, for error messages.
        strict: Refuse `NaN` and `Infinity`, which Python accepts against the standard, and duplicate keys, of which
            parsers disagree about the one that counts.
        max_depth: How deep brackets may be nested; None for what model files need.

    Raises:
        BrokenModelError: It is not JSON, not an object, or too deeply nested.
    """
    value = _parse(data, path, strict, max_depth)
    if not isinstance(value, dict):
        raise BrokenModelError(f"{printable_path(path)} holds {kind_of(value)}; it should be a JSON object.")
    return value


def read_object(path: Path, *, strict: bool = False) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises:
        BrokenModelError: It cannot be read, is too large, or `parse_object` refuses it.
    """
    return parse_object(read_all(path, FILE_LIMIT, "a JSON file"), path, strict=strict)


def read_list(path: Path) -> list[Any]:
    """Return the JSON list in a file.

    Raises:
        BrokenModelError: It cannot be read, is too large, is not JSON, is not a list, or is too deeply nested.
    """
    return parse_list(read_all(path, FILE_LIMIT, "a JSON file"), path)


def parse_list(data: bytes, path: str | Path) -> list[Any]:
    """Return the JSON list encoded in `data`; `path` says where it comes from.

    Raises:
        BrokenModelError: It is not JSON, not a list, or too deeply nested.
    """
    value = _parse(data, path, strict=False)
    if not isinstance(value, list):
        raise BrokenModelError(f"{printable_path(path)} holds {kind_of(value)}; it should be a JSON list.")
    return value


def kind_of(value: object) -> str:
    """Return a phrase for the type of a JSON value, such as `a number`, for error messages."""
    if value is None:
        return "null"
    kinds: Iterable[tuple[type | tuple[type, ...], str]] = (
        (bool, "true or false"),
        ((int, float), "a number"),
        (str, "a text"),
        (list, "a list"),
        (dict, "an object"),
    )
    return next(name for kind, name in kinds if isinstance(value, kind))


def _parse(data: bytes, path: str | Path, strict: bool, max_depth: int | None = None) -> Any:
    """Return the JSON value of any type encoded in `data`; see `parse_object`."""
    where = printable_path(path)
    if max_depth is None:
        max_depth = _MAX_DEPTH_STRICT if strict else _MAX_DEPTH
    if _is_too_deep(data, max_depth):
        raise BrokenModelError(
            f"{where} is not readable JSON: its brackets do not match or are nested more than {max_depth} deep."
        )
    try:
        text = data.decode()
        value = (
            json.loads(text, object_pairs_hook=_require_unique, parse_constant=_refuse_constant)
            if strict
            else json.loads(text)
        )
        # A string with a lone surrogate can be neither printed nor tokenized.
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise BrokenModelError(f"{where} is not UTF-8 at byte {error.start}; it should be JSON.") from error
    except UnicodeEncodeError as error:
        raise BrokenModelError(f"{where} holds half a surrogate pair, which is not text; it should be JSON.") from error
    except json.JSONDecodeError as error:
        raise BrokenModelError(f"{where} is not JSON: {_cause(error)} at character {error.pos}.") from error
    except _StrictError as error:
        raise BrokenModelError(f"{where} is not readable JSON: {error}.") from error
    except ValueError as error:
        raise BrokenModelError(f"{where} has a number of more digits than can be read.") from error
    return value


def _is_too_deep(data: bytes, max_depth: int) -> bool:
    """Return whether JSON text may nest deeper than about `max_depth`, in linear time and without recursion.

    Only the brackets outside strings are kept; then each pass removes the innermost pairs.
    """
    if b"\\" in data:
        # A quote ends its string unless an odd number of backslashes precedes it.
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    data = data.translate(None, _NOT_BRACKETS)
    outside = bytearray()
    inside = 0
    # In pieces, as splitting makes a Python object for each quote, many times its size.
    for start in range(0, len(data), _PIECE):
        parts = data[start : start + _PIECE].split(b'"')
        outside += b"".join(parts[inside::2])
        inside ^= (len(parts) - 1) & 1
    brackets = bytes(outside)
    for _ in range(max_depth):
        fewer = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(fewer) == len(brackets):
            break
        brackets = fewer
    return len(brackets) > max_depth


def _require_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _StrictError(f"'{printable(twice)}' is there twice")
    return value


def _refuse_constant(name: str) -> None:
    raise _StrictError(f"{name} is not a JSON number")


def _cause(error: json.JSONDecodeError) -> str:
    """Return Python's message for an error, beginning in lower case, and without a word for the place at its end."""
    words = printable(error.msg.rstrip(": ")).removesuffix(" at").removesuffix(" starting")
    return words[:1].lower() + words[1:]

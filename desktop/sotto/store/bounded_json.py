"""JSON that others wrote, read within bounds.

Python's reader recurses once per bracket, and how deep it may depends on the version and on the thread's stack. So the
depth is bounded before it sees the text.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.files import read_all
from sotto.store.printable import printable, printable_path

# The files of models nest less than ten deep; manifests and headers, which are read strictly, three.
_DEEPEST = 32
_DEEPEST_STRICT = 8
# Several times the largest known: 100,000 added tokens in a tokenizer_config.json.
FILE_LIMIT = 32 << 20

_PIECE = 1 << 20
_NOT_BRACKETS = bytes(set(range(256)) - set(b'[]{}"'))


class _StrictError(ValueError):
    """What Python's reader takes and a strict one does not."""


def parse_object(data: bytes, path: str | Path, *, strict: bool, deepest: int | None = None) -> dict[str, Any]:
    """Return the JSON object that `data` is.

    Args:
        data: UTF-8.
        path: Where it comes from, for messages.
        strict: Refuse what the standard does not allow but Python's own writer makes (`NaN`, `Infinity`), and keys
            that are there twice, of which readers take different ones.
        deepest: How deep brackets may be nested; None for what files of models need.

    Raises:
        BrokenModelError: It is no JSON, no object, or too deeply nested.
    """
    value = _parsed(data, path, strict, deepest)
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
        BrokenModelError: It cannot be read, is too large, no JSON, no list, or too deeply nested.
    """
    value = _parsed(read_all(path, FILE_LIMIT, "a JSON file"), path, strict=False)
    if not isinstance(value, list):
        raise BrokenModelError(f"{printable_path(path)} holds {kind_of(value)}; it should be a JSON list.")
    return value


def kind_of(value: object) -> str:
    """Return what kind of JSON value this is, for messages."""
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


def _parsed(data: bytes, path: str | Path, strict: bool, deepest: int | None = None) -> Any:
    """Return the JSON value that `data` is, as `parse_object` does."""
    where = printable_path(path)
    if deepest is None:
        deepest = _DEEPEST_STRICT if strict else _DEEPEST
    if _too_deep(data, deepest):
        raise BrokenModelError(
            f"{where} is no JSON that can be read: its brackets do not match or are nested more than {deepest} deep."
        )
    try:
        text = data.decode()
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant) if strict else json.loads(text)
        # A text with half a surrogate pair can be neither printed nor tokenized.
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise BrokenModelError(f"{where} is not UTF-8 at byte {error.start}; it should be JSON.") from error
    except UnicodeEncodeError as error:
        raise BrokenModelError(f"{where} holds half a surrogate pair, which is no text; it should be JSON.") from error
    except json.JSONDecodeError as error:
        raise BrokenModelError(f"{where} is no JSON: {_cause(error)} (character {error.pos}).") from error
    except _StrictError as error:
        raise BrokenModelError(f"{where} is no JSON that can be read: {error}.") from error
    except ValueError as error:
        raise BrokenModelError(f"{where} has a number of more digits than can be read.") from error
    return value


def _too_deep(data: bytes, deepest: int) -> bool:
    """Return whether JSON text may nest deeper than about `deepest`, in linear time and without recursion.

    Only the brackets outside of texts are kept; then each pass takes away the innermost pairs.
    """
    if b"\\" in data:
        # A quote ends its text unless an odd number of backslashes is before it.
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    data = data.translate(None, _NOT_BRACKETS)
    outside = bytearray()
    inside = 0
    # In pieces, as each quote makes an object many times its size.
    for start in range(0, len(data), _PIECE):
        texts = data[start : start + _PIECE].split(b'"')
        outside += b"".join(texts[inside::2])
        inside ^= (len(texts) - 1) & 1
    brackets = bytes(outside)
    for _ in range(deepest):
        fewer = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(fewer) == len(brackets):
            break
        brackets = fewer
    return len(brackets) > deepest


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _StrictError(f"'{printable(twice)}' is there twice")
    return found


def _no_constant(name: str) -> None:
    raise _StrictError(f"{name} is no JSON number")


def _cause(error: json.JSONDecodeError) -> str:
    """Return Python's words for an error, begun in lower case."""
    words = printable(error.msg.rstrip(": "))
    return words[:1].lower() + words[1:]

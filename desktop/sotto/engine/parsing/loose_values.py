"""Readers of values in a syntax close to JSON: Python's, or that of the arguments of Gemma's calls.

Keys of objects may lack quotation marks, strings may stand between several kinds of marks, and Python's True, False and
None are accepted. Strings between Gemma's marks are not escaped; between quotation marks a backslash escapes.
"""

import re
from typing import Any

from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.parsing.source import NotACallError, Reading, Source, read_json, read_whole

NAME = re.compile(r"[\w.\-]")
_SCALAR = re.compile(r"[\w.+\-]")
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_PLAIN_MARKS = ('<|"|>', "<escape>")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
_MAX_DEPTH = 60


def value(source: Source, depth: int = 0) -> Reading[Any]:
    """Read one value."""
    if depth == _MAX_DEPTH:
        raise NotACallError
    yield from source.skip_space()
    for mark in _PLAIN_MARKS:
        if (yield from source.accept(mark)):
            return (yield from source.until(mark))
    char = yield from source.next()
    if char in ("'", '"'):
        return (yield from _string(source, char))
    if char == "{":
        source.at += 1
        return (yield from members(source, "}", ":", depth=depth + 1))
    if char == "[":
        source.at += 1
        return (yield from _items(source, depth + 1))
    word = yield from source.while_in(_SCALAR)
    return _WORDS[word] if word in _WORDS else _number(word)


def parse(text: str) -> Any:
    """Return the value that a text expresses, or the text itself if it expresses none."""
    try:
        return read_whole(text, value)
    except NotACallError:
        return text


def members(
    source: Source, end: str, between: str, kept: dict[str, Any] | None = None, depth: int = 0
) -> Reading[dict[str, Any]]:
    """Read names and values up to `end`.

    Args:
        source: The text to read.
        end: The mark after the last value.
        between: The mark between name and value.
        kept: Collects the values by their names; None for a new dictionary.
        depth: How deeply the values are nested in others.
    """
    found: dict[str, Any] = {} if kept is None else kept
    while True:
        yield from source.skip_space()
        if (yield from source.accept(end)):
            return found
        if found:
            yield from source.expect(",")
            yield from source.skip_space()
        char = yield from source.next()
        key = (yield from value(source, depth + 1)) if char in ("'", '"', "<") else (yield from source.while_in(NAME))
        yield from source.skip_space()
        yield from source.expect(between)
        if not isinstance(key, str):
            raise NotACallError
        found[key] = yield from value(source, depth)


def call(source: Source, suffix: str = "") -> Reading[ToolCall]:
    """Read a call in Python's syntax, `name(argument=value, ...)`; `suffix` is removed from the name."""
    yield from source.skip_space()
    name = (yield from source.while_in(NAME)).removesuffix(suffix)
    yield from source.expect("(")
    return ToolCall(name, (yield from members(source, ")", "=", source.begin_call(name))))


def _items(source: Source, depth: int) -> Reading[list[Any]]:
    found: list[Any] = []
    while True:
        yield from source.skip_space()
        if (yield from source.accept("]")):
            return found
        if found:
            yield from source.expect(",")
        found.append((yield from value(source, depth)))


def _string(source: Source, quote: str) -> Reading[str]:
    source.at += 1
    parts: list[str] = []
    while True:
        char = yield from source.next()
        if not char:
            raise NotACallError
        source.at += 1
        if char == quote:
            return "".join(parts)
        if char == "\\":
            escaped = yield from source.next()
            source.at += 1
            parts.append((yield from _code_point(source)) if escaped == "u" else _ESCAPED.get(escaped, escaped))
        else:
            parts.append(char)


def _code_point(source: Source) -> Reading[str]:
    """Read the four digits of an escaped character, and the low surrogate after a high one."""
    digits = yield from _digits(source)
    if 0xD800 <= int(digits, 16) < 0xDC00:
        yield from source.expect("\\u")
        digits = f"{digits}\\u{(yield from _digits(source))}"
    text = str(read_json(f'"\\u{digits}"'))
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise NotACallError
    return text


def _digits(source: Source) -> Reading[str]:
    digits = ""
    for _ in range(4):
        char = yield from source.next()
        if not char or char not in "0123456789abcdefABCDEF":
            raise NotACallError
        digits += char
        source.at += 1
    return digits


def _number(word: str) -> int | float:
    found = read_json(word)
    if not isinstance(found, int | float):
        raise NotACallError
    return found

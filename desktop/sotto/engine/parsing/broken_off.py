"""What there is of a call that an answer broke off in."""

import json
from typing import Any

from sotto.engine.contract.answer_parts import CutCall, ToolCall
from sotto.engine.parsing.calls import ARGUMENTS, NAMES, arguments_of, call_of
from sotto.engine.parsing.source import NotACallError, Source

_DECODER = json.JSONDecoder(strict=False)


def broken_off(source: Source) -> tuple[list[ToolCall], CutCall | None]:
    """Return the calls that are complete, and what there is of the one behind them; None where that is a mark only."""
    if source.calls and not source.name and not source.value:
        return source.calls, None
    if source.name:
        told = json.dumps(source.arguments, ensure_ascii=False)[:-1]
        return source.calls, CutCall(source.name, source.value if source.value.startswith("{") else told)
    complete, last = _values(source.value) if source.value.startswith("[") else ([], source.value)
    try:
        calls = [*source.calls, *map(_call, complete)]
    except NotACallError:
        return source.calls, CutCall()
    return calls, _cut(last) if last or not calls else None


def _call(value: Any) -> ToolCall:
    """Return the call that a value is; Apertus names the tool by a key."""
    if isinstance(value, dict) and len(value) == 1 and "function" not in value:
        ((name, given),) = value.items()
        return ToolCall(name, arguments_of(given))
    return call_of(value)


def _values(text: str) -> tuple[list[Any], str]:
    """Return the values of a list that ends too early, and what there is of the last one."""
    found: list[Any] = []
    at = 1
    while True:
        at = _past_blanks(text, at, ",")
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found, text[at:]
        found.append(value)
        at = end


def _cut(text: str) -> CutCall:
    """Return what an object that ends too early says of a call."""
    known, key, rest = _members(text)
    if key == "function":
        return _cut(rest)
    if isinstance(known.get("function"), dict):
        known = known["function"]
    name = next((known[key] for key in NAMES if isinstance(known.get(key), str)), "")
    given = next((known[key] for key in ARGUMENTS if isinstance(known.get(key), dict)), None)
    if given is not None:
        return CutCall(name, json.dumps(given, ensure_ascii=False)[:-1])
    begun = rest if rest.startswith("{") else "{"
    if not known and rest.startswith("{") and key not in ARGUMENTS:
        return CutCall(key, begun)  # see `_call`
    return CutCall(name, begun if key in ARGUMENTS else "{")


def _members(text: str) -> tuple[dict[str, Any], str, str]:
    """Return the complete members of an object that ends too early, and key and text of what it ends in."""
    found: dict[str, Any] = {}
    key, at = "", _past_blanks(text, 0, "{")
    try:
        while True:
            key = ""
            name, end = _DECODER.raw_decode(text, at)
            at, key = _past_blanks(text, end, ":"), str(name)
            found[key], end = _DECODER.raw_decode(text, at)
            at = _past_blanks(text, end, ",")
    except (ValueError, RecursionError):
        return found, key, text[at:]


def _past_blanks(text: str, at: int, mark: str) -> int:
    """Return the place behind blanks and a mark."""
    while at < len(text) and (text[at].isspace() or text[at] == mark):
        at += 1
    return at

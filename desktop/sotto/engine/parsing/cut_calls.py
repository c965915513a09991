"""Recovery of tool calls within which an answer was cut short."""

import json
from typing import Any

from sotto.engine.contract.answer_parts import CutCall, ToolCall
from sotto.engine.parsing.calls import ARGUMENTS, NAMES, arguments_of, call_of
from sotto.engine.parsing.source import NotACallError, Source

_DECODER = json.JSONDecoder(strict=False)


def recover_calls(source: Source) -> tuple[list[ToolCall], CutCall | None]:
    """Return the complete calls, and the incomplete one after them; None where that has no more than a mark."""
    if source.calls and not source.name and not source.value:
        return source.calls, None
    if source.name:
        known = json.dumps(source.arguments, ensure_ascii=False)[:-1]
        return source.calls, CutCall(source.name, source.value if source.value.startswith("{") else known)
    complete, last = _values(source.value) if source.value.startswith("[") else ([], source.value)
    try:
        calls = [*source.calls, *map(_call, complete)]
    except NotACallError:
        return source.calls, CutCall()
    return calls, _cut(last) if last or not calls else None


def _call(value: Any) -> ToolCall:
    """Return a JSON value as a call; Apertus uses the tool's name as the only key."""
    if isinstance(value, dict) and len(value) == 1 and "function" not in value:
        ((name, given),) = value.items()
        return ToolCall(name, arguments_of(given))
    return call_of(value)


def _values(text: str) -> tuple[list[Any], str]:
    """Return the complete values of an unfinished list, and the text of the last one."""
    found: list[Any] = []
    at = 1
    while True:
        at = _skip_space(text, at, ",")
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found, text[at:]
        found.append(value)
        at = end


def _cut(text: str) -> CutCall:
    """Return the call that an unfinished object describes."""
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
    """Return the complete members of an unfinished object, and the key and text of the last one."""
    found: dict[str, Any] = {}
    key, at = "", _skip_space(text, 0, "{")
    try:
        while True:
            key = ""
            name, end = _DECODER.raw_decode(text, at)
            at, key = _skip_space(text, end, ":"), str(name)
            found[key], end = _DECODER.raw_decode(text, at)
            at = _skip_space(text, end, ",")
    except (ValueError, RecursionError):
        return found, key, text[at:]


def _skip_space(text: str, at: int, mark: str) -> int:
    """Return the place after white space and marks."""
    while at < len(text) and (text[at].isspace() or text[at] == mark):
        at += 1
    return at

"""The functions that a Go template can call: those of `text/template`, and Ollama's own.

Each takes values and returns one. Errors are ValueError, whose text is part of a sentence. `and` and `or` are not here:
they evaluate no more arguments than they need, which only the evaluator can do.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote_plus

from sotto.engine.prompt.go_template.formatting import format_verbs
from sotto.engine.prompt.go_template.go_values import Struct, as_json, is_true, kind_of, print_value
from sotto.engine.prompt.go_template.literals import decode, encode
from sotto.engine.prompt.template_bounds import current

SHORT_CIRCUIT = frozenset({"and", "or"})
# Go's escapes for JavaScript and for HTML.
_SCRIPT = str.maketrans(
    {"\\": "\\\\", "'": "\\'", '"': '\\"', "<": "\\u003C", ">": "\\u003E", "&": "\\u0026", "=": "\\u003D"}
    | {chr(code): f"\\u{code:04X}" for code in range(32)}
)
_MARKUP = str.maketrans({'"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;", "\0": "\ufffd"})
_SCRIPT_TYPES = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "array": "any[]",
    "object": "Record<string, any>",
    "null": "null",
}


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(encode(value))
    if isinstance(value, list | dict):
        return len(value)
    raise ValueError(f"len of {_a(value)}, which has no length")


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        if isinstance(value, dict):
            if not isinstance(key, str):
                raise ValueError(f"{_a(key)} is not a key of a map")
            value = value.get(key)
        elif isinstance(value, list | str):
            items: Any = encode(value) if isinstance(value, str) else value
            value = items[_position(key, len(items) - 1)]
        else:
            raise ValueError(f"index of {_a(value)}, which has no items")
    return value


def _slice(value: Any, *places: Any) -> Any:
    if not isinstance(value, list | str):
        raise ValueError(f"slice of {_a(value)}, which has no parts")
    if len(places) > 3 or (len(places) == 3 and isinstance(value, str)):
        raise ValueError("slice is given too many places")
    items: Any = encode(value) if isinstance(value, str) else value
    begin, end = 0, len(items)
    if places:
        begin = _position(places[0], len(items))
    if len(places) > 1:
        end = _position(places[1], len(items))
    if len(places) > 2 and _position(places[2], len(items)) < end:
        raise ValueError("slice is given places that fall")
    if begin > end:
        raise ValueError(f"slice got the start {begin}, which is after its end, {end}")
    part = items[begin:end]
    return decode(part) if isinstance(value, str) else part


def _position(value: Any, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{_a(value)} is not an index")
    if not 0 <= value <= most:
        raise ValueError(f"the index {value} is out of range")
    return value


def _not(value: Any) -> bool:
    return not is_true(value)


def _print(*values: Any) -> str:
    """Join values, with a space between two neighbours that are both not strings."""
    pieces = []
    for place, piece in enumerate(_print_all(values)):
        if place and not isinstance(values[place], str) and not isinstance(values[place - 1], str):
            pieces.append(" ")
        pieces.append(piece)
    return "".join(pieces)


def _print_all(values: Sequence[Any]) -> Iterator[str]:
    """Yield values as printed, and check that they are not too much together."""
    bounds, length = current.get(), 0
    for value in values:
        piece = print_value(value)
        length += len(piece)
        bounds.check(length)
        bounds.check_time()
        yield piece


def _printf(form: Any, *values: Any) -> str:
    if not isinstance(form, str):
        raise ValueError(f"printf is given {_a(form)} as its format")
    return format_verbs(form, list(values))


def _println(*values: Any) -> str:
    return " ".join(_print_all(values)) + "\n"


def _html(*values: Any) -> str:
    return _print(*values).translate(_MARKUP)


def _js(*values: Any) -> str:
    return _print(*values).translate(_SCRIPT)


def _urlquery(*values: Any) -> str:
    return quote_plus(encode(_print(*values)), safe="-_.~")


def _eq(first: Any, *others: Any) -> bool:
    if not others:
        raise ValueError("eq has nothing to compare with")
    for other in others:
        if _basic(first) != _basic(other) and first is not None and other is not None:
            raise ValueError(f"{_a(first)} and {_a(other)} cannot be compared")
        if _basic(first) == _basic(other) == "":
            raise ValueError(f"{_a(first)} cannot be compared")
        if type(first) is type(other) and first == other:
            return True
    return False


def _ne(first: Any, second: Any) -> bool:
    return not _eq(first, second)


def _order(name: str, test: Callable[[Any, Any], bool]) -> Callable[..., bool]:
    def compare(first: Any, second: Any) -> bool:
        if _basic(first) != _basic(second) or _basic(first) not in ("int", "float", "string"):
            raise ValueError(f"{name} cannot compare {_a(first)} with {_a(second)}")
        if isinstance(first, str):
            first, second = encode(first), encode(second)
        return test(first, second)

    return compare


def _basic(value: Any) -> str:
    """Return a value's basic kind in Go; empty for values that cannot be compared."""
    return kind_of(value) if value is None or isinstance(value, bool | int | float | str) else ""


def _a(value: Any) -> str:
    return f"a {kind_of(value)}" if value is not None else "nil"


def _current_date(*_: Any) -> str:
    return datetime.now().strftime("%Y-%m-%d")


def _yesterday_date(*_: Any) -> str:
    return (datetime.now() - timedelta(days=1)).strftime("%Y-%m-%d")


def _script_type(value: Any) -> str:
    """Return the type of a tool's parameter in TypeScript."""
    if not isinstance(value, Struct) or not isinstance(value.plain, dict):
        return "any"
    either = value.plain.get("anyOf")
    names = [kind.get("type") for kind in either if isinstance(kind, dict)] if isinstance(either, list) else []
    if not names:
        kinds = value.plain.get("type")
        names = kinds if isinstance(kinds, list) else [kinds] if kinds else []
    return " | ".join(_SCRIPT_TYPES.get(str(name), "any") for name in names) or "any"


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": _length,
    "index": _index,
    "slice": _slice,
    "not": _not,
    "print": _print,
    "printf": _printf,
    "println": _println,
    "html": _html,
    "js": _js,
    "urlquery": _urlquery,
    "eq": _eq,
    "ne": _ne,
    "lt": _order("lt", lambda first, second: first < second),
    "le": _order("le", lambda first, second: first <= second),
    "gt": _order("gt", lambda first, second: first > second),
    "ge": _order("ge", lambda first, second: first >= second),
    "json": as_json,
    "currentDate": _current_date,
    "yesterdayDate": _yesterday_date,
    "toTypeScriptType": _script_type,
}

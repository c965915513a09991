"""Go's values in Python, printed as Go's `fmt.Print` does and as JSON.

Strings, numbers, Booleans and None are Python's own. A list stands for a slice, and a dict for a map with string keys.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sotto.engine.prompt.template_bounds import TemplateBoundsError

_MAX_DEPTH = 100
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
# `json.Marshal` escapes HTML's special characters, and the two line separators of JavaScript.
_ESCAPES |= {mark: f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}
_ESCAPES |= {chr(code): f"\\u{code:04x}" for code in range(32) if chr(code) not in _ESCAPES}
_JSON_TEXT = str.maketrans({**_ESCAPES, **{chr(code): "\ufffd" for code in range(0xDC80, 0xDD00)}})


@dataclass(frozen=True, slots=True)
class Struct:
    """A value with a fixed set of fields; looking up any other is an error.

    Attributes:
        kind: The name of its type in Go.
        fields: Its fields, in Go's order.
        plain: Its value in JSON, keys in order.
        prints_json: Whether it is printed as JSON rather than as a list of its fields.
    """

    kind: str
    fields: Mapping[str, Any]
    plain: Any
    prints_json: bool = False


class JsonList(list[Any]):
    """A list that is printed as JSON."""


class JsonMap(dict[str, Any]):
    """A map that is printed as JSON, in its own order."""


def kind_of(value: object) -> str:
    """Return the name of a value's kind, for errors."""
    if isinstance(value, Struct):
        return value.kind
    names = {type(None): "nil", bool: "bool", int: "int", float: "float", str: "string"}
    return names.get(type(value), "map" if isinstance(value, dict) else "slice")


def is_true(value: object) -> bool:
    """Return whether a value counts as true: it is neither nil, false, zero nor empty."""
    return isinstance(value, Struct) or bool(value)


def print_value(value: object, depth: int = 0) -> str:
    """Return a value as Go's `%v` prints it.

    Raises:
        TemplateBoundsError: It is nested too deeply.
    """
    if depth > _MAX_DEPTH:
        raise TemplateBoundsError("it writes out something nested too deeply")
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return _float(value, 6)
        case JsonList() | JsonMap():
            return as_json(value)
        case Struct():
            if value.prints_json:
                return as_json(value)
            return f"{{{_join(value.fields.values(), depth)}}}"
        case list():
            return f"[{_join(value, depth)}]"
        case dict():
            pairs = (f"{key}:{print_value(value[key], depth + 1)}" for key in sorted(value))
            return f"map[{' '.join(pairs)}]"
    return str(value)


def as_json(value: object, depth: int = 0) -> str:
    """Return a value as Go's `json.Marshal` prints it: without spaces, keys sorted, `<`, `>` and `&` escaped.

    Raises:
        TemplateBoundsError: It is nested too deeply.
    """
    if depth > _MAX_DEPTH:
        raise TemplateBoundsError("it writes out something nested too deeply")
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value.translate(_JSON_TEXT)}"'
        case float():
            return _float(value, 21, least=-7, json=True)
        case Struct():
            return as_json(value.plain, depth + 1)
        case list():
            return f"[{','.join(as_json(item, depth + 1) for item in value)}]"
        case dict():
            keys = value if isinstance(value, JsonMap) else sorted(value)
            return f"{{{','.join(f'{as_json(key)}:{as_json(value[key], depth + 1)}' for key in keys)}}}"
    return str(value)


def _join(values: Iterable[object], depth: int) -> str:
    return " ".join(print_value(value, depth + 1) for value in values)


def _float(value: float, most: int, least: int = -5, *, json: bool = False) -> str:
    """Return the shortest decimal for `value`, with an exponent from 10**most up and from 10**least down."""
    if not math.isfinite(value):
        if json:
            raise TemplateBoundsError(f"{value} cannot be written as JSON")
        return "NaN" if math.isnan(value) else f"{'+' if value > 0 else '-'}Inf"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    power = len(digits) + exponent - 1 if value else 0
    if least < power < most:
        text = f"{Decimal(repr(abs(value))).normalize():f}"
    else:
        fraction = "".join(map(str, digits[1:]))
        width = 1 if json and power < 0 else 2
        text = f"{digits[0]}{'.' if fraction else ''}{fraction}e{'-' if power < 0 else '+'}{abs(power):0{width}}"
    return f"-{text}" if sign else text

"""Checks before operations of a template whose result can be far larger than their operands.

These are `*`, `**`, `%`, and methods and filters like `format`, `join`, `replace` and `center`. Results of other
operations are weighed once they exist, see `template_bounds.py`.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Sized
from functools import wraps
from typing import Any

from sotto.engine.prompt.template_bounds import Bounds, TemplateBoundsError, current

_MAX_BITS = 4096
_MAX_WIDTH = 1000
# A width or precision of four digits in `%` or `str.format`, or one that is itself an argument.
_WIDE_PERCENT = re.compile(r"%[^A-Za-z%]*(?:\d{4}|\*)")
_WIDE_FORMAT = re.compile(r"\{[^{}]*:[^{}]*(?:\d{4}|\{)")
_WIDE_DATE = re.compile(r"\d{2}")


def check_operation(operator: str, left: Any, right: Any) -> None:
    """Raise TemplateBoundsError if `left operator right` would be too large."""
    if operator == "*":
        for many, times in ((left, right), (right, left)):
            if isinstance(many, Sized) and isinstance(times, int):
                current.get().check(len(many) * times)
        _check_bits(left, right, lambda first, second: first + second)
    elif operator == "**":
        _check_bits(left, right, lambda first, _: first * abs(right))
    elif operator == "%" and isinstance(left, str):
        _check_widths(_WIDE_PERCENT, left)


def check_format(text: str) -> None:
    """Raise TemplateBoundsError if fields of the format string `text` are too wide."""
    _check_widths(_WIDE_FORMAT, text)


def check_date(form: str) -> None:
    """Raise TemplateBoundsError if a date in this format would be too long."""
    if len(form) > _MAX_WIDTH:
        raise TemplateBoundsError("it formats a date too long")
    _check_widths(_WIDE_DATE, form)


def check_arguments(method: str, owner: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Check the arguments of a method of the string `owner`, and return them with iterators read into lists."""
    bounds = current.get()
    if method in {"center", "ljust", "rjust", "zfill"} and args:
        bounds.check(_size(args[0]))
    elif method == "replace" and len(args) > 1:
        _check_replacement(bounds, owner, str(args[0]), str(args[1]))
    elif method == "join" and args:
        values = list(args[0])
        bounds.check(bounds.weight_of(values) + len(values) * len(owner))
        return (values,)
    return args


def wrap_filter(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the filter `call`, wrapped to check its arguments and to account for its result."""
    # Some filters take a part of the environment before the value.
    first = 1 if hasattr(call, "jinja_pass_arg") else 0

    @wraps(call)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        bounds = current.get()
        bounds.weigh(args[first:])
        bounds.weigh(kwargs)
        options = [*args[first + 1 :], *kwargs.values()]
        if name in _SIZED_FILTERS and any(_size(option) > _MAX_WIDTH for option in options):
            raise TemplateBoundsError(f"it gives the filter {name} too large a number or text")
        if name in _CHECKED_FILTERS:
            args = (*args[:first], *_CHECKED_FILTERS[name](bounds, args[first:], kwargs))
        return bounds.take(call(*args, **kwargs))

    return wrapper


def _check_indent(bounds: Bounds, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
    width = _size(args[1] if len(args) > 1 else kwargs.get("width", 4))
    bounds.check(width * (str(args[0]).count("\n") + 1))
    return args


def _check_percent(_: Bounds, args: Sequence[Any], __: Mapping[str, Any]) -> Sequence[Any]:
    _check_widths(_WIDE_PERCENT, str(args[0]))
    return args


def _check_join(bounds: Bounds, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
    values = list(args[0])
    separator = args[1] if len(args) > 1 else kwargs.get("d", "")
    bounds.check(bounds.weight_of(values) + len(values) * len(str(separator)))
    return (values, *args[1:])


def _check_replace(bounds: Bounds, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
    old = args[1] if len(args) > 1 else kwargs["old"]
    new = args[2] if len(args) > 2 else kwargs["new"]
    _check_replacement(bounds, str(args[0]), str(old), str(new))
    return args


def _check_sum(_: Bounds, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
    # A sum of lists copies each list again for every list after it.
    if not isinstance(args[2] if len(args) > 2 else kwargs.get("start", 0), int | float):
        raise TemplateBoundsError("it sums up something else than numbers")
    return args


_SIZED_FILTERS = frozenset({"batch", "center", "indent", "round", "slice", "tojson"})
_CHECKED_FILTERS: Mapping[str, Callable[[Bounds, Sequence[Any], Mapping[str, Any]], Sequence[Any]]] = {
    "format": _check_percent,
    "indent": _check_indent,
    "join": _check_join,
    "replace": _check_replace,
    "sum": _check_sum,
}


def _check_replacement(bounds: Bounds, text: str, old: str, new: str) -> None:
    bounds.check(text.count(old) * len(new))


def _check_bits(left: Any, right: Any, bits: Callable[[int, int], int]) -> None:
    """Refuse to compute an integer of more than a thousand digits; `bits` estimates its bits from the operands'."""
    if isinstance(left, int) and isinstance(right, int) and bits(left.bit_length(), right.bit_length()) > _MAX_BITS:
        raise TemplateBoundsError("it computes too large a number")


def _check_widths(wide: re.Pattern[str], text: str) -> None:
    if wide.search(text):
        raise TemplateBoundsError("it formats something too wide")


def _size(value: object) -> int:
    """Return by how much an argument, a number or a text that is repeated, may make a result grow."""
    return abs(value) if isinstance(value, int) else len(value) if isinstance(value, str) else 0

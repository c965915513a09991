"""Go's `printf`: verbs for plain values, with their flags, widths and precisions."""

import re

from sotto.engine.prompt.go_template.go_values import kind_of, print_value
from sotto.engine.prompt.go_template.literals import encode
from sotto.engine.prompt.template_bounds import current

_VERB = re.compile(r"%([ #+0-]*)(\*|\d*)(?:\.(\*|\d*))?(.?)", re.DOTALL)
_QUOTED = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_QUOTED |= {'"': '\\"', "\\": "\\\\"}


def format_verbs(form: str, values: list[object]) -> str:
    """Return `form` with its verbs replaced by `values`, as Go's `fmt.Sprintf` does.

    As in Go, mismatches are reported in the text itself: `%!d(string=ten)`, `%!s(MISSING)`.

    Raises:
        TemplateBoundsError: The text or its widths exceed the limits of the current rendering.
    """
    rest = list(values)
    total = 0

    def count(length: int) -> None:
        nonlocal total
        total += length
        current.get().check(total)
        current.get().check_time()

    def size(text: str | None) -> int | None:
        if text == "*":
            taken = rest.pop(0) if rest else 0
            value = taken if isinstance(taken, int) else 0
        elif text is None:
            return None
        else:
            value = int(text[:9] or 0)
        count(abs(value))
        return value

    def replace(match: re.Match[str]) -> str:
        flags, width, precision, verb = match[1], size(match[2]) or 0, size(match[3]), match[4]
        if verb == "%":
            return "%"
        if not verb:
            return "%!(NOVERB)"
        if not rest:
            return f"%!{verb}(MISSING)"
        if width < 0:
            flags, width = f"{flags}-", -width
        text = _format_value(flags, precision, verb, rest.pop(0))
        count(len(text))
        if "-" in flags:
            return text.ljust(width)
        if "0" in flags and verb in "dxXfeEgG" and text[:1] in "+-":
            return text[:1] + text[1:].rjust(width - 1, "0")
        return text.rjust(width, "0" if "0" in flags and verb in "dxXfeEgGsqv" else " ")

    text = _VERB.sub(replace, form)
    extra = []
    for argument in rest:
        extra.append(_show(argument))
        count(len(extra[-1]))
    return f"{text}%!(EXTRA {', '.join(extra)})" if extra else text


def quote(text: str) -> str:
    """Return a text as a Go literal in double quotes."""
    marks = (
        _QUOTED.get(mark)
        or (mark if mark.isprintable() else f"\\x{ord(mark) & 255:02x}" if _is_byte(mark) else _code(mark))
        for mark in text
    )
    return f'"{"".join(marks)}"'


def _format_value(flags: str, precision: int | None, verb: str, value: object) -> str:
    plus = "+" if "+" in flags else " " if " " in flags else ""
    is_int = isinstance(value, int) and not isinstance(value, bool)
    match verb:
        case "v":
            return f"{plus if is_int and isinstance(value, int) and value >= 0 else ''}{print_value(value)}"
        case "s" if not isinstance(value, bool | int | float) and value is not None:
            text = print_value(value)
            return text if precision is None else text[:precision]
        case "q" if isinstance(value, str):
            return quote(value if precision is None else value[:precision])
        case "q" if is_int and isinstance(value, int) and 0 <= value < 0x110000:
            return f"'{chr(value)}'"
        case "t" if isinstance(value, bool):
            return print_value(value)
        case "d" if is_int:
            return f"{value:{plus}d}"
        case "x" | "X" if is_int:
            return f"{value:{plus}{verb}}"
        case "x" | "X" if isinstance(value, str):
            digits = encode(value).hex()
            return digits.upper() if verb == "X" else digits
        case "c" if is_int and isinstance(value, int) and 0 <= value < 0x110000:
            return chr(value)
        case "f" | "e" | "E" | "g" | "G" if isinstance(value, float):
            if precision is None and verb in "gG":
                return print_value(value)
            return f"{value:{plus}.{6 if precision is None else precision}{verb}}"
    return f"%!{verb}({_show(value)})"


def _show(value: object) -> str:
    return "<nil>" if value is None else f"{kind_of(value)}={print_value(value)}"


def _is_byte(mark: str) -> bool:
    return ord(mark) < 128 or 0xDC80 <= ord(mark) < 0xDD00


def _code(mark: str) -> str:
    return f"\\u{ord(mark):04x}" if ord(mark) < 0x10000 else f"\\U{ord(mark):08x}"

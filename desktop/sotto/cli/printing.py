"""Formatting of sizes, times, counts and untrusted text for the terminal."""

import sys
import unicodedata

LOOPED = "The answer was stopped because it kept repeating itself; --option loop_guard=false turns this off."
_UNITS = ("B", "kB", "MB", "GB", "TB")


def human_bytes(count: int) -> str:
    """Format `count` bytes with decimal units and at most three digits."""
    size = float(count)
    for unit in _UNITS[:-1]:
        if size < 999.5:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 99.5 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} {_UNITS[-1]}"


def human_share(done: int, total: int) -> str:
    """Format `done` of `total` bytes in the unit of the total: `0.4 of 4.1 GB`; `done` is never rounded up."""
    whole = human_bytes(total)
    number, unit = whole.split()
    divisor = 1000 ** _UNITS.index(unit)
    places = len(number.partition(".")[2])
    part = done * 10**places // divisor / 10**places
    return f"{part:.{places}f} of {whole}"


def human_time(seconds: float) -> str:
    """Format a duration with its two largest units: `2 h 5 min`."""
    whole = max(1, round(seconds))
    for size, unit, smaller in ((86_400, "d", "h"), (3_600, "h", "min"), (60, "min", "s")):
        if whole >= size:
            rest = whole % size // {"h": 3_600, "min": 60, "s": 1}[smaller]
            return f"{whole // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{whole} s"


def human_count(count: int) -> str:
    """Format a number of parameters: `8.0B`, `260K`."""
    size = float(count)
    for unit in ("", "K", "M", "B"):
        if size < 999.5:
            return f"{size:.0f}{unit}" if not unit or size >= 99.5 else f"{size:.1f}{unit}"
        size /= 1000
    return f"{size:.1f}T"


def printable(text: str) -> str:
    """Return `text` without control characters, except line breaks and tabs: a model must not drive the terminal."""
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) != "Cc")


def write_answer(text: str) -> None:
    """Write a piece of an answer to stdout and flush; to a terminal without control characters."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()

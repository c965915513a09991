"""Values of other programs' files, which may be of any type: what is of a wrong type counts as missing."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sotto.chats.row_reading import seconds

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Numbers from here on are milliseconds, microseconds and nanoseconds: as seconds they would be after the year 5000.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
_LONGEST_TIME = 40


def text_in(value: Any) -> str:
    """Return a text; empty if it is none."""
    return value if isinstance(value, str) else ""


def list_in(value: Any) -> list[Any]:
    """Return a list; empty if it is none."""
    return value if isinstance(value, list) else []


def mapping_in(value: Any) -> Mapping[str, Any]:
    """Return an object; empty if it is none."""
    return value if isinstance(value, dict) else {}


def mappings_in(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a list."""
    return [item for item in list_in(value) if isinstance(item, dict)]


def time_in(value: Any) -> float:
    """Return a time in seconds since 1970; 0 if it is none.

    Args:
        value: A number of seconds or of a smaller unit, or a text in the form of ISO 8601, without a zone in UTC.
    """
    if isinstance(value, str):
        return _time_of_text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    unit = next((unit for least, unit in _UNITS if value >= least), 1)
    # A huge whole number cannot be divided, and is no time either.
    return seconds(value / unit) if value < 1e20 else 0.0


def between(begun: Any, ended: Any) -> int:
    """Return the whole seconds between two times; 0 if one is missing or they are in the wrong order."""
    first, last = time_in(begun), time_in(ended)
    return max(0, round(last - first)) if first and last else 0


def _time_of_text(text: str) -> float:
    if len(text) > _LONGEST_TIME:
        return 0.0
    try:
        moment = datetime.fromisoformat(text)
        zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return seconds((zoned - _EPOCH).total_seconds())
    except (ValueError, OverflowError):
        return 0.0

"""Parsing of `keep_alive`: how long a model stays loaded, as Ollama's clients write it."""

import math
import re
from typing import Any

from sotto.api.error_bodies import bad_request

FOREVER = math.inf

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_MAX_TEXT_LENGTH = 100


def keep_alive(value: Any) -> float | None:
    """Return the seconds of a duration, `FOREVER` for a negative one; None if it is not given.

    Args:
        value: A number of seconds, or a text such as `10m` or `1h30m`.

    Raises:
        ApiError: The value is neither.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise bad_request("keep_alive must be a number of seconds or a duration such as '10m'.")
    try:
        seconds = _duration(value) if isinstance(value, str) else float(value)
    except OverflowError:
        seconds = math.nan
    if math.isnan(seconds):
        raise bad_request("keep_alive must be a number of seconds or a duration such as '10m'.")
    return FOREVER if seconds < 0 else seconds


def _duration(text: str) -> float:
    sign, rest = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    if rest == "0":
        return 0.0
    parts = _PART.findall(rest) if len(rest) <= _MAX_TEXT_LENGTH else []
    if not parts or "".join(number + unit for number, unit in parts) != rest:
        known = re.fullmatch(r"[0-9.]+", rest) is not None
        raise bad_request(f'time: {"missing unit in" if known else "invalid"} duration "{text[:_MAX_TEXT_LENGTH]}"')
    seconds = math.fsum(float(number) * _SECONDS[unit] for number, unit in parts)
    return -seconds if sign == "-" else seconds

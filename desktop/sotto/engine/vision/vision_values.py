"""Values from the configs of vision towers, and of preprocessors, which are checked as they are read."""

import math
from collections.abc import Mapping
from typing import Any

from sotto.errors import UnsupportedModelError
from sotto.store.printable import printable

# Larger than in any existing model. A config beyond that is damaged, or meant to exhaust the machine.
_MOST = 1 << 20


def part(config: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a part of a config, such as its `text_config`; empty if it has none."""
    found = config.get(key)
    return found if isinstance(found, Mapping) else {}


def vision_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a config that describes its vision tower.

    Raises:
        UnsupportedModelError: There is none.
    """
    found = config.get("vision_config")
    if not isinstance(found, Mapping):
        raise UnsupportedModelError("Its config.json has no vision_config, which would describe how it sees.")
    return found


def whole(values: Mapping[str, Any], key: str, default: int | None = None, *, most: int = _MOST) -> int:
    """Return a whole number of at least 1.

    Args:
        values: A config or a part of it.
        key: Which number.
        default: What it is if there is none, or null; None if it must be there.
        most: The largest that it may be.

    Raises:
        UnsupportedModelError: It is something else.
    """
    found = values.get(key)
    if found is None:
        found = default
    if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= most:
        raise UnsupportedModelError(
            f"{key} of its vision is {printable(str(found))}; it should be a whole number from 1 to {most:,}."
        )
    return found


def real(values: Mapping[str, Any], key: str, default: float) -> float:
    """Return a positive finite number.

    Raises:
        UnsupportedModelError: It is something else.
    """
    found = values.get(key)
    number = default if found is None else found
    if not isinstance(number, int | float) or isinstance(number, bool) or not 0 < number < math.inf:
        raise UnsupportedModelError(f"{key} of its vision is {printable(str(found))}; it should be a positive number.")
    return float(number)


def flag(values: Mapping[str, Any], key: str, default: bool) -> bool:
    """Return a yes or no; null is the default."""
    found = values.get(key)
    return default if found is None else bool(found)

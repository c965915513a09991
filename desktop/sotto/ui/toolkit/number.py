"""Numeric options with their bounds, and where their values come from."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeGuard

from sotto.ui.toolkit.translation import QT_TR_NOOP, format_number


@dataclass(frozen=True, slots=True)
class Number:
    """A numeric option.

    Attributes:
        name: Ollama's name of the option.
        title: Displayed name; this and all other texts are marked for translation.
        least, most: The bounds, inclusive.
        step: Increment of the arrow keys.
        places: Decimal places; 0 for whole numbers.
        tip: What the option does.
        unset: Text for a value that is not set anywhere.
        grouped: Whether thousands are separated; not in what is rather a name, such as a seed.
        below: Text for a model's value below `least`; empty for `unset`.
    """

    name: str
    title: str
    least: float
    most: float
    step: float
    places: int
    tip: str
    unset: str = ""
    below: str = ""
    grouped: bool = True

    def fits(self, value: object) -> bool:
        """Return whether `value` is a number within the bounds, and whole if required."""
        return is_number(value) and self.least <= value <= self.most and (bool(self.places) or value == int(value))

    def format(self, value: float) -> str:
        """Return a value as it is displayed."""
        return format_number(value, self.places, grouped=self.grouped)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether `value` is a finite int or float, and not a bool."""
    return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)


class Origin(StrEnum):
    """Where a value comes from, in words that are marked for translation."""

    HERE = QT_TR_NOOP("set here")
    SETTINGS = QT_TR_NOOP("from Settings")
    MODEL = QT_TR_NOOP("from the model")
    DEFAULT = QT_TR_NOOP("default")


@dataclass(frozen=True, slots=True)
class Inherited:
    """The value that applies where a number is not set.

    Attributes:
        value: The number; None if there is none.
        origin: Where it comes from.
        text: The value as it is displayed.
    """

    value: float | None
    origin: Origin
    text: str

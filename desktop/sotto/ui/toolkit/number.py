"""Numbers that can be chosen, with their bounds, and what holds where none is."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeGuard


@dataclass(frozen=True, slots=True)
class Number:
    """A number that can be chosen.

    Attributes:
        name: Ollama's name for it.
        title: What people call it.
        least, most: Its bounds.
        step: What the arrow keys add.
        places: Places behind the point; 0 for whole numbers.
        tip: What it does.
        unset: What holds where nobody says anything, in words.
        below: What holds where a model asks for less than the least, in words; empty for the same.
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

    def fits(self, value: object) -> bool:
        """Return whether `value` is such a number."""
        return is_number(value) and self.least <= value <= self.most and (bool(self.places) or value == int(value))

    def shown(self, value: float) -> str:
        """Return a value as people read it."""
        return f"{value:.{self.places}f}"


def is_number(value: object) -> TypeGuard[float]:
    """Return whether `value` is a number that one can count with."""
    return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)


class Origin(StrEnum):
    """Where a value comes from."""

    HERE = "set here"
    SETTINGS = "from Settings"
    MODEL = "from the model"
    USUAL = "usual"


@dataclass(frozen=True, slots=True)
class Inherited:
    """What holds for a number where it is not set.

    Attributes:
        value: The number; None where there is none.
        origin: Where it comes from.
        shown: The same for people.
    """

    value: float | None
    origin: Origin
    shown: str

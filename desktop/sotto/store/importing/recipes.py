"""The recipes of quantization: which type each tensor gets.

A recipe is one of the types of `quant_types`; or `mixed_LOW_HIGH`, as in mlx-lm, with the bits of most and of sensitive
tensors; and after either, exceptions: `int4,lm_head=int8,layers.0.=source`. An exception holds for names that contain
its text, the last one counts, and `source` leaves a tensor as it is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sotto.errors import InvalidRequestError
from sotto.store.importing.quant_types import QUANT_TYPES
from sotto.store.printable import printable

# Ollama's other names for the affine types.
_ALIASES = {"q4": "int4", "fp4": "int4", "q8": "int8", "fp8": "int8"}
_MIXED = re.compile(r"mixed_([2-6])_([468])")
# The last one is not in mlx-lm: it keeps embeddings in 8 bits as well, and runs in Ollama, too.
MIXED = ("mixed_2_6", "mixed_3_4", "mixed_3_6", "mixed_4_6", "mixed_4_8")
SOURCE = "source"
_EXCEPTION = re.compile(r"([\w.-]+)=(\w+)")


@dataclass(frozen=True, slots=True)
class Recipe:
    """Which types to quantize to.

    Attributes:
        low: The type of most tensors.
        high: The type of sensitive tensors in a mixed recipe; empty for the rules of Ollama.
        embeddings: Whether embeddings are sensitive, too, in a mixed recipe.
        exceptions: Texts in names of tensors, with a type or `source`.
    """

    low: str
    high: str = ""
    embeddings: bool = False
    exceptions: Mapping[str, str] | None = None

    def exception(self, name: str) -> str | None:
        """Return the type that an exception names for a tensor; None if there is no exception for it."""
        found = [kind for text, kind in (self.exceptions or {}).items() if text in name]
        return found[-1] if found else None


def parse_recipe(text: str) -> tuple[str, Recipe] | None:
    """Return a recipe with its name in a normal form; None for an empty text.

    Raises:
        InvalidRequestError: There is no such recipe.
    """
    if not text.strip():
        return None
    base, *rest = (part.strip() for part in text.split(","))
    base = _ALIASES.get(base.lower(), base.lower())
    exceptions = dict(_exception(part) for part in rest)
    name = ",".join([base, *(f"{key}={kind}" for key, kind in exceptions.items())])
    if base in QUANT_TYPES:
        return name, Recipe(base, exceptions=exceptions)
    if base in MIXED:
        match = _MIXED.fullmatch(base)
        assert match is not None
        low, high = f"int{match[1]}", f"int{match[2]}"
        return name, Recipe(low, high, embeddings=base == "mixed_4_8", exceptions=exceptions)
    raise InvalidRequestError(
        f"'{printable(text)}' is not a quantization; it should be one of {', '.join(QUANT_TYPES)}, {', '.join(MIXED)}, "
        "and may be followed by exceptions such as ',lm_head=int8'."
    )


def _exception(text: str) -> tuple[str, str]:
    match = _EXCEPTION.fullmatch(text)
    kind = _ALIASES.get(match[2].lower(), match[2].lower()) if match else ""
    if match is None or kind not in (*QUANT_TYPES, SOURCE):
        raise InvalidRequestError(
            f"'{printable(text)}' is not an exception to a quantization; it should be a part of the names of tensors, "
            f"an equals sign, and one of {', '.join(QUANT_TYPES)} and {SOURCE}."
        )
    return match[1], kind

"""Checks of a JSON schema before llguidance compiles it.

WORKAROUND: llguidance refuses most of what it cannot honour, but not everything. These checks refuse the rest, as found
by trying version 1.9; try again at upgrades:

- keywords that it accepts and ignores: `contentEncoding` and `contentMediaType` of draft 7, `minProperties` of two or
  more (it counts a repeated key twice), `x-guidance` (its own keyword, which can turn guarantees off), `$schema` of
  unknown drafts, names for parts of a schema that are there twice;
- values that it rounds or leaves out of an answer: numbers with many digits, control characters;
- what makes it fail within an answer: many optional properties in an object;
- what takes it seconds or minutes, or ends the process: thousands of properties, a large `multipleOf`, long patterns,
  whole numbers near the limits of 64 bits, and long chains of references, which it follows by recursion.
"""

import math
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from sotto.engine.grammar.schema_terms import BY_NAME, NO_SCHEMAS
from sotto.errors import InvalidRequestError
from sotto.store.printable import printable

LARGEST_SCHEMA = 1 << 20
"""Bytes of a schema."""
DEEPEST_SCHEMA = 100
"""Nested objects and lists; llguidance accepts a few more."""
LONGEST_REGEX = 16 << 10
"""Characters of a regular expression, or of all patterns in a schema; the time is quadratic in it."""

MOST_OPTIONAL = 400
"""Optional properties of one object with its alternatives; from 500 on llguidance fails."""
MOST_PROPERTIES = 2000
"""Properties in a schema: so many take a second or two, and the time is quadratic in them."""

_MAX_NUMBER = 2**53
_MIN_FRACTION = 1e-15
# A million of them take many seconds.
_MAX_REMAINDERS = 10_000
# A level takes up to 4 KiB of the stack.
_MAX_LEVELS = 1000
_DRAFTS = re.compile(r"https?://json-schema\.org/(draft-0[467]|draft/2019-09|draft/2020-12)/schema#?")
# Characters for which JSON has no short escape.
_CONTROL = re.compile(r"[\x00-\x07\x0b\x0e-\x1f\x7f-\x9f]")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def check_schema(schema: Mapping[str, Any], name: str) -> None:
    """Check a schema.

    Args:
        schema: An object.
        name: Its name in error messages.

    Raises:
        InvalidRequestError: It cannot be honoured.
    """
    if "x-guidance" in schema:
        raise InvalidRequestError(f"{name}: x-guidance is not a keyword of JSON Schema; leave it out.")
    heights = _heights(schema)
    if heights[id(schema)] > DEEPEST_SCHEMA:
        raise InvalidRequestError(
            f"{name} is nested {heights[id(schema)]} levels deep; from 1 to {DEEPEST_SCHEMA} are allowed."
        )
    parts = list(_parts(schema))
    steps: list[Decimal] = []
    patterns = properties = 0
    for part in parts:
        properties += len(_properties(part))
        if (optional := _optional(part)) > MOST_OPTIONAL:
            raise InvalidRequestError(
                f"{name}: {optional} properties of an object may be missing; from 0 to {MOST_OPTIONAL} are allowed."
            )
        _check_draft(part, name)
        _check_content(part, schema, name)
        if part is not schema and isinstance(part.get("$id", part.get("id")), str):
            raise InvalidRequestError(
                f"{name}: $id and id are for its top alone; refer to a part by its place, such as #/$defs/name."
            )
        _check_values(part, name)
        least = part.get("minProperties")
        if isinstance(least, int | float) and least > 1:
            raise InvalidRequestError(
                f"{name}: minProperties {printable(str(least))} cannot be guaranteed; name what must be there in "
                "required."
            )
        if _is_number(part.get("multipleOf")):
            steps.append(Decimal(str(part["multipleOf"])))
        named = part.get("patternProperties")
        given = [part.get("pattern"), *(named if isinstance(named, dict) else ())]
        patterns += sum(len(pattern) for pattern in given if isinstance(pattern, str))
    if patterns > LONGEST_REGEX:
        raise InvalidRequestError(
            f"{name} has patterns of {patterns} characters; they may have {LONGEST_REGEX} in all, at most."
        )
    _check_steps(steps, name)
    _check_references(schema, parts, heights, name)
    if properties > MOST_PROPERTIES:
        raise InvalidRequestError(
            f"{name} has {properties} properties in all; from 0 to {MOST_PROPERTIES} are allowed."
        )


def _parts(schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and all schemas in it."""
    stack: list[Any] = [schema]
    while stack:
        part = stack.pop()
        if not isinstance(part, dict):
            continue
        yield part
        for keyword, value in part.items():
            if keyword in BY_NAME and isinstance(value, dict):
                stack += value.values()
            elif keyword not in NO_SCHEMAS:
                stack += value if isinstance(value, list) else [value]


def _properties(part: Mapping[str, Any]) -> Mapping[str, Any]:
    found = part.get("properties")
    return found if isinstance(found, dict) else {}


def _optional(part: Mapping[str, Any]) -> int:
    """Return how many properties of an object are optional, those of its alternatives included."""
    required = part.get("required")
    needed = {key for key in required if isinstance(key, str)} if isinstance(required, list) else set()
    choices = [choice for way in ("anyOf", "oneOf") for choice in _listed(part.get(way)) if isinstance(choice, dict)]
    return len(_properties(part).keys() - needed) + sum(map(_optional, choices))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _check_draft(part: Mapping[str, Any], name: str) -> None:
    draft = part.get("$schema")
    if draft is not None and not (isinstance(draft, str) and _DRAFTS.fullmatch(draft)):
        raise InvalidRequestError(
            f"{name}: $schema {printable(str(draft))} is not known here; it should be draft 4, 6, 7, 2019-09 or "
            "2020-12."
        )


def _check_content(part: Mapping[str, Any], schema: Mapping[str, Any], name: str) -> None:
    """Refuse what only draft 7 requires of encoded content: in later drafts it is an annotation."""
    asked = sorted(part.keys() & {"contentEncoding", "contentMediaType"})
    if asked and "draft-07" in str(schema.get("$schema")):
        raise InvalidRequestError(f"{name} cannot be guaranteed: {', '.join(asked)} is not supported here in draft 7.")


def _check_values(part: Mapping[str, Any], name: str) -> None:
    """Refuse values that an answer would not hold exactly."""
    stack = [part[keyword] for keyword in (*_BOUNDS, "const", "enum", "required") if keyword in part]
    stack += part["properties"] if isinstance(part.get("properties"), dict) else ()
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack += [*value, *value.values()]
        elif isinstance(value, list):
            stack += value
        elif isinstance(value, str) and _CONTROL.search(value):
            raise InvalidRequestError(
                f"{name}: {printable(repr(value))} has a control character, which no answer has; leave it out."
            )
        elif _is_number(value) and not _is_exact(value):
            raise InvalidRequestError(
                f"{name}: the number {printable(str(value))} cannot be kept exactly; it should have at most 15 digits "
                f"and be from -{_MAX_NUMBER} to {_MAX_NUMBER}."
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_exact(value: float) -> bool:
    if isinstance(value, int):
        return abs(value) <= _MAX_NUMBER
    return value == 0 or (_MIN_FRACTION <= abs(value) <= _MAX_NUMBER and float(f"{value:.15g}") == value)


def _check_steps(steps: list[Decimal], name: str) -> None:
    """Refuse multiples whose table of remainders, in units of the last digit, would be very large."""
    units = max((-int(step.as_tuple().exponent) for step in steps), default=0)
    together = 1
    for step in steps:
        together = math.lcm(together, abs(int(step.scaleb(max(units, 0)))))
        if together > _MAX_REMAINDERS:
            raise InvalidRequestError(
                f"{name}: multipleOf {step} takes too long to honour; it should be from 1 to {_MAX_REMAINDERS} in "
                "units of its last digit, and so should what all of them in a schema divide."
            )


def _check_references(
    schema: Mapping[str, Any], parts: list[dict[str, Any]], heights: Mapping[int, int], name: str
) -> None:
    """Refuse references to something other than a schema, and those that nest too deep together."""
    known = {id(part) for part in parts}
    targets = {part["$ref"] for part in parts if isinstance(part.get("$ref"), str)}
    levels = heights[id(schema)]
    for target in targets:
        found = _resolve(schema, target)
        if id(found) not in known and found not in (True, False):
            raise InvalidRequestError(
                f"{name}: $ref {printable(target)} is not a schema in it; it should be one, such as #/$defs/name."
            )
        levels += heights.get(id(found), 0) + 1
    if levels > _MAX_LEVELS:
        raise InvalidRequestError(
            f"{name} refers to parts that are {levels} levels deep in all; from 1 to {_MAX_LEVELS} are allowed."
        )


def _heights(schema: Mapping[str, Any]) -> dict[int, int]:
    """Return the depth of each object and list, by its `id`."""
    heights: dict[int, int] = {}
    stack: list[Any] = [schema]
    while stack:
        value = stack[-1]
        inner = [
            item for item in (value.values() if isinstance(value, dict) else value) if isinstance(item, dict | list)
        ]
        missing = [item for item in inner if id(item) not in heights]
        if missing:
            stack += missing
        else:
            heights[id(value)] = 1 + max((heights[id(item)] for item in inner), default=0)
            stack.pop()
    return heights


def _resolve(schema: Any, reference: str) -> Any:
    """Return what a reference within a schema points to; None for nothing."""
    base, *steps = reference.split("/")
    found = schema if base == "#" else None
    for step in steps:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict):
            found = found.get(key)
        elif isinstance(found, list) and key.isascii() and key.isdigit() and int(key[:9]) < len(found):
            found = found[int(key[:9])]
        else:
            return None
    return found

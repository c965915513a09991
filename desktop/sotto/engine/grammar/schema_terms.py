"""Translation of a checked JSON schema into one that llguidance honours exactly.

WORKAROUND: llguidance reads patterns as Rust's, while JSON Schema has ECMA-262's; its formats are looser than the RFCs;
and in drafts up to 7 it does not ignore what stands beside a `$ref`. Check at upgrades.
"""

from collections.abc import Mapping
from typing import Any

from sotto.engine.grammar.ecma_patterns import endless, search_expression
from sotto.engine.grammar.string_formats import format_terms
from sotto.errors import InvalidRequestError
from sotto.store.printable import printable

BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions"})
"""Keywords whose values map names to schemas."""
NO_SCHEMAS = frozenset({"const", "enum", "default", "examples", "required"})
"""Keywords whose values hold no schemas, whatever they look like."""

_REFERENCE_ALONE = ("http://json-schema.org/draft-0", "https://json-schema.org/draft-0")
_BESIDE_REFERENCE = frozenset({"$ref", "$schema", "$id", "id", "$defs", "definitions"})


def in_library_terms(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a schema that means to llguidance what this one means in JSON Schema.

    Args:
        schema: A checked schema.
        name: Its name in error messages.

    Raises:
        InvalidRequestError: One of its patterns or formats cannot be honoured.
    """
    alone = str(schema.get("$schema", "")).startswith(_REFERENCE_ALONE)
    return _Terms(name, references_alone=alone).part(schema)


class _Terms:
    """Translates the parts of one schema."""

    def __init__(self, name: str, *, references_alone: bool) -> None:
        self._name, self._references_alone = name, references_alone

    def of(self, value: Any) -> Any:
        """Translate a schema, or a value that holds schemas."""
        if isinstance(value, list):
            return [self.of(item) for item in value]
        return self.part(value) if isinstance(value, dict) else value

    def part(self, part: Mapping[str, Any]) -> dict[str, Any]:
        """Translate a schema that is an object."""
        if self._references_alone and isinstance(part.get("$ref"), str):
            part = {keyword: value for keyword, value in part.items() if keyword in _BESIDE_REFERENCE}
        found: dict[str, Any] = {}
        for keyword, value in part.items():
            if keyword == "patternProperties" and isinstance(value, dict):
                found[keyword] = self._by_pattern(value, closed=part.get("additionalProperties") is False)
            elif keyword in BY_NAME and isinstance(value, dict):
                found[keyword] = {key: self.of(item) for key, item in value.items()}
            else:
                found[keyword] = value if keyword in NO_SCHEMAS else self.of(value)
        if isinstance(part.get("pattern"), str):
            found["pattern"] = search_expression(part["pattern"], self._name)
        if isinstance(part.get("format"), str):
            self._put_format(found)
        return found

    def _by_pattern(self, named: Mapping[str, Any], *, closed: bool) -> dict[str, Any]:
        """Translate `patternProperties`; `closed` if no other keys are allowed.

        A key is never repeated, so patterns that match only a limited number of keys could leave an answer stuck.
        """
        found: dict[str, Any] = {}
        for pattern, schema in named.items():
            if schema is False or (closed and not endless(pattern, self._name)):
                raise InvalidRequestError(
                    f"{self._name}: patternProperties {printable(pattern)} leaves no new keys from some place on; "
                    "name the keys in properties."
                )
            expression = search_expression(pattern, self._name)
            if expression in found:
                raise InvalidRequestError(
                    f"{self._name}: patternProperties has {printable(pattern)} twice, in other words."
                )
            found[expression] = self.of(schema)
        return found

    def _put_format(self, part: dict[str, Any]) -> None:
        """Replace a known format by its expression; llguidance refuses unknown ones."""
        terms = format_terms(part["format"])
        if terms is not None:
            del part["format"]
            beside = part.get("allOf", [])
            part["allOf"] = [*(beside if isinstance(beside, list) else []), terms]
        elif part["format"] == "unknown":
            raise InvalidRequestError(f"{self._name} cannot be guaranteed: Unknown format: unknown.")

"""What requests may hold, learned from how they are read: whoever reads a field says what it must be."""

from dataclasses import dataclass, field, replace
from typing import Any

_KINDS = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}


@dataclass
class _Field:
    """What is known of one field, or of the items of a list: kinds, what holds for values, and what stands inside."""

    kinds: set[str] = field(default_factory=set)
    rules: dict[str, Any] = field(default_factory=dict)
    items: "_Field | None" = None
    inner: "Shape | None" = None

    def hear_items(self, values: list[Any]) -> None:
        """Take in what a list holds, lists in it included."""
        self.items = self.items or _Field()
        for value in values:
            if value is not None:
                self.items.kinds.add(_KINDS[type(value)])
            if isinstance(value, list):
                self.items.hear_items(value)


class Shape:
    """Hears how an object is read, and describes it."""

    def __init__(self) -> None:
        """Begin knowing nothing."""
        self._fields: dict[str, _Field] = {}

    def hear(self, name: str, value: Any, kind: str = "", **rules: Any) -> None:
        """Take in that a field is read.

        Args:
            name: Its name.
            value: What it holds, which is right as far as its reader can tell.
            kind: What the reader wants, as a type of JSON schema; empty where several things are right, of which the
                value is one.
            rules: What else must hold, in words of JSON schema.
        """
        known = self._fields.setdefault(name, _Field())
        if kind or value is not None:
            known.kinds.add(kind or _KINDS[type(value)])
        known.rules |= rules
        if isinstance(value, list):
            known.hear_items(value)

    def inside(self, name: str) -> "Shape":
        """Return what hears how the objects in a field are read."""
        known = self._fields.setdefault(name, _Field())
        known.inner = known.inner or Shape()
        return known.inner

    def schema(self) -> dict[str, Any]:
        """Return what has been heard as a JSON schema."""
        properties = {name: _described(known) for name, known in sorted(self._fields.items())}
        return {"type": "object", "properties": properties} if properties else {"type": "object"}


def _described(known: _Field) -> dict[str, Any]:
    kinds = known.kinds - {"number"} if "integer" in known.kinds else known.kinds
    described = [_of_kind(kind, known) for kind in sorted(kinds)]
    if not described:
        return {}
    return described[0] if len(described) == 1 else {"anyOf": described}


def _of_kind(kind: str, known: _Field) -> dict[str, Any]:
    if kind == "object" and known.inner is not None:
        return known.inner.schema()
    if kind == "array" and known.items is not None and known.items.kinds:
        # Of objects in a list, the list's reader hears what stands in them.
        return {"type": "array", "items": _described(replace(known.items, inner=known.inner))}
    return {"type": kind, **(known.rules if kind == "integer" else {})}

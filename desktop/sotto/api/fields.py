"""Reading the fields of a request: each is what it should be, or the error names it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sotto.api.error_bodies import ApiError, bad
from sotto.api.shapes import Shape
from sotto.store.bounded_json import kind_of
from sotto.store.printable import shown

_LONGEST = 60


class Fields:
    """An object of a request. A field that is null counts as not given."""

    def __init__(self, values: Mapping[str, Any], path: str = "", shape: Shape | None = None) -> None:
        """Read from `values`, which stand at `path` in the request; `shape`, if there is one, hears what is read."""
        self._values = values
        self._path = path
        self._shape = shape

    @property
    def values(self) -> Mapping[str, Any]:
        """The whole object."""
        for name in self._values if self._shape is not None else ():
            self._heard(name)
        return self._values

    @property
    def names(self) -> Collection[str]:
        """What its fields are called, whatever they hold."""
        return self._values.keys()

    def path(self, name: str = "") -> str:
        """Return what a field is called from outside, or else the object itself."""
        return ".".join(filter(None, (self._path, name)))

    def given(self, name: str) -> bool:
        """Return whether a field is there."""
        return self._values.get(name) is not None

    def any(self, name: str) -> Any:
        """Return a field as it is; None if it is not given."""
        self._heard(name)
        return self._values.get(name)

    def text(self, name: str, default: str = "") -> str:
        """Return a text."""
        self._heard(name, "string")
        value = self._values.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.wrong(name, "a text")
        return value

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false."""
        self._heard(name, "boolean")
        value = self._values.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def integer(self, name: str, least: int, most: int) -> int | None:
        """Return a whole number; None if it is not given."""
        self._heard(name, "integer", minimum=least, maximum=most)
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.wrong(name, f"a whole number from {least} to {most}")
        return value

    def object(self, name: str) -> "Fields":
        """Return an object; an empty one if it is not given."""
        self._heard(name, "object")
        value = self._values.get(name)
        if not isinstance(value, dict | None):
            raise self.wrong(name, "an object")
        return Fields(value or {}, self.path(name), self._shape and self._shape.inside(name))

    def list(self, name: str) -> Sequence[Any]:
        """Return a list; an empty one if it is not given."""
        value = self._values.get(name)
        self._heard(name, "array")
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self.wrong(name, "a list")
        return value

    def objects(self, name: str) -> "Sequence[Fields]":
        """Return a list of objects; an empty one if it is not given."""
        found = []
        for index, value in enumerate(self.list(name)):
            if not isinstance(value, dict):
                raise self.wrong(f"{name}[{index}]", "an object", value)
            found.append(Fields(value, self.path(f"{name}[{index}]"), self._shape and self._shape.inside(name)))
        return found

    def _heard(self, name: str, kind: str = "", **rules: Any) -> None:
        if self._shape is not None:
            self._shape.hear(name, self._values.get(name), kind, **rules)

    def wrong(self, name: str, right: str, value: Any = None) -> ApiError:
        """Return the error for a field that is not what it should be."""
        given = self._values.get(name) if value is None else value
        return bad(f"{self.path(name)} must be {right}, not {shown_value(given)}.")


def shown_value(value: Any) -> str:
    """Return a value of a request as a part of a sentence: a plain one as it is, others by their kind."""
    if isinstance(value, str):
        return f"'{shown(value, _LONGEST)}'"
    if isinstance(value, bool):
        return "true" if value else "false"
    return shown(repr(value), _LONGEST) if isinstance(value, int | float) else kind_of(value)

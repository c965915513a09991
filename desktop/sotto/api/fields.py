"""Declarations of request fields, from which values are checked and `/openapi.json` is made.

A request is a class of fields: `stream = Flag(True)`. Reading `body.stream` returns a checked value or raises an error
that names the field; `schema()` returns the class's JSON schema for `/openapi.json`. msgspec was tried for this, but it
checks all fields at once and words its own errors. Here only the fields that a request uses are checked.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar, overload

from sotto.api.error_bodies import ApiError, bad_request
from sotto.store.bounded_json import kind_of
from sotto.store.printable import printable

MAX_TOKENS = 2**31 - 1
"""The largest number of tokens that a request may ask for; the context sets a lower limit."""
# Characters of a client's value that an error message quotes.
_MAX_SHOWN_LENGTH = 60

Schema = Mapping[str, Any]
T = TypeVar("T")


class Body:
    """A JSON object of a request, with its fields as class attributes. A field that is null counts as not given.

    Attributes:
        more: JSON schemas of fields that are read with `raw` instead, such as options.
    """

    more: ClassVar[Mapping[str, Schema]] = {}

    def __init__(self, values: Mapping[str, Any], path: str = "") -> None:
        """Read from `values`, which are at `path` in the request."""
        self._values = values
        self._path = path

    @property
    def values(self) -> Mapping[str, Any]:
        """The whole object, unchecked."""
        return self._values

    @property
    def names(self) -> Collection[str]:
        """The names of all fields that were sent, declared or not."""
        return self._values.keys()

    def path(self, name: str = "") -> str:
        """Return the path of a field in the request, or of the object itself without `name`."""
        return ".".join(filter(None, (self._path, name)))

    def given(self, name: str) -> bool:
        """Return whether a field was sent and is not null."""
        return self._values.get(name) is not None

    def raw(self, name: str) -> Any:
        """Return a field as it was sent; None if it was not."""
        return self._values.get(name)

    def wrong(self, name: str, right: str, value: Any = None) -> ApiError:
        """Return the error for a field with a wrong value.

        Args:
            name: The field.
            right: What it must be.
            value: The wrong value; None for the value of the field.
        """
        sent = self._values.get(name) if value is None else value
        return bad_request(f"{self.path(name)} must be {right}, not {shown_value(sent)}.")

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of such an object."""
        fields = {
            field.name: field
            for owner in reversed(cls.__mro__)
            for field in vars(owner).values()
            if isinstance(field, Field)
        }
        properties = {name: field.schema() for name, field in fields.items()} | dict(cls.more)
        required = [name for name, field in fields.items() if field.required]
        return (
            {"type": "object"}
            | ({"properties": properties} if properties else {})
            | ({"required": required} if required else {})
        )


B = TypeVar("B", bound=Body)


class Field(ABC, Generic[T]):
    """A field of a body. A trailing underscore of the attribute is not part of the field's name."""

    name = ""

    def __init__(self, *, required: bool = False) -> None:
        """Declare a field; `required` affects only the schema, as each dialect words the error differently."""
        self.required = required

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name.removesuffix("_")

    @overload
    def __get__(self, body: None, owner: type) -> "Field[T]": ...

    @overload
    def __get__(self, body: Body, owner: type) -> T: ...

    def __get__(self, body: Body | None, owner: type) -> "Field[T] | T":
        """Return the value in a body.

        Raises:
            ApiError: The value does not fit the declaration.
        """
        return self if body is None else self.read(body)

    @abstractmethod
    def read(self, body: Body) -> T:
        """Return the value in a body."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value."""


class Text(Field[str]):
    """A string; `choices` appear in the schema but are left to the caller to check, which words the error."""

    def __init__(self, default: str = "", *, choices: Sequence[str] = (), required: bool = False) -> None:
        """Declare a string that defaults to `default`."""
        super().__init__(required=required)
        self._default = default
        self._choices = choices

    def read(self, body: Body) -> str:
        """Return the string."""
        value = body.raw(self.name)
        if value is None:
            return self._default
        if not isinstance(value, str):
            raise body.wrong(self.name, "a string")
        return value

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value."""
        return {"type": "string"} | ({"enum": list(self._choices)} if self._choices else {})


class Flag(Field[bool]):
    """True or false."""

    def __init__(self, default: bool) -> None:
        """Declare a flag that defaults to `default`."""
        super().__init__()
        self._default = default

    def read(self, body: Body) -> bool:
        """Return the flag."""
        value = body.raw(self.name)
        if value is None:
            return self._default
        if not isinstance(value, bool):
            raise body.wrong(self.name, "true or false")
        return value

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value."""
        return {"type": "boolean", "default": self._default}


class Integer(Field[int | None]):
    """A whole number within bounds; None if it is not given."""

    def __init__(self, least: int, most: int, *, required: bool = False) -> None:
        """Declare a number from `least` to `most`."""
        super().__init__(required=required)
        self._least = least
        self._most = most

    def read(self, body: Body) -> int | None:
        """Return the number."""
        value = body.raw(self.name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not self._least <= value <= self._most:
            raise body.wrong(self.name, f"a whole number from {self._least} to {self._most}")
        return value

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value."""
        return {"type": "integer", "minimum": self._least, "maximum": self._most}


class MaxTokens(Integer):
    """The maximum length of an answer in tokens, -1 for as long as the context allows; None if it is not given."""

    def __init__(self, *, required: bool = False) -> None:
        """Declare a length in tokens."""
        super().__init__(-1, MAX_TOKENS, required=required)

    def read(self, body: Body) -> int | None:
        """Return the number."""
        most = super().read(body)
        if most == 0:
            right = f"a whole number from 1 to {MAX_TOKENS}, or -1 for as many as fit"
            raise body.wrong(self.name, right)
        return most


class Object(Field[B]):
    """An object; an empty one if it is not given."""

    def __init__(self, kind: type[B]) -> None:
        """Declare an object with the fields of `kind`."""
        super().__init__()
        self._kind = kind

    def read(self, body: Body) -> B:
        """Return the object."""
        value = body.raw(self.name)
        if not isinstance(value, dict | None):
            raise body.wrong(self.name, "an object")
        return self._kind(value or {}, body.path(self.name))

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value."""
        return self._kind.schema()


class List(Field[Sequence[Any]]):
    """A list whose items the caller checks; an empty one if it is not given."""

    def __init__(self, items: Schema | None = None) -> None:
        """Declare a list; `items` is the JSON schema of each item."""
        super().__init__()
        self._items = items or {}

    def read(self, body: Body) -> Sequence[Any]:
        """Return the list."""
        value = body.raw(self.name)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise body.wrong(self.name, "a list")
        return value

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value."""
        return {"type": "array", "items": dict(self._items)}


class Objects(Field[Sequence[B]]):
    """A list of objects; an empty one if it is not given."""

    def __init__(self, kind: type[B], *, required: bool = False) -> None:
        """Declare a list of objects with the fields of `kind`."""
        super().__init__(required=required)
        self._kind = kind

    def read(self, body: Body) -> Sequence[B]:
        """Return the objects."""
        value = body.raw(self.name)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise body.wrong(self.name, "a list")
        return [self._object(body, index, item) for index, item in enumerate(value)]

    def _object(self, body: Body, index: int, item: Any) -> B:
        if not isinstance(item, dict):
            raise body.wrong(f"{self.name}[{index}]", "an object", item)
        return self._kind(item, body.path(f"{self.name}[{index}]"))

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value."""
        return {"type": "array", "items": self._kind.schema()}


class TextOrObjects(Field["str | Sequence[B]"]):
    """A string or a list of objects, such as a message's content; an empty string if it is not given."""

    def __init__(self, kind: type[B], *, required: bool = False) -> None:
        """Declare a string, or a list of objects with the fields of `kind`."""
        super().__init__(required=required)
        self._objects = Objects(kind)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self._objects.name = self.name

    def read(self, body: Body) -> "str | Sequence[B]":
        """Return the string or the objects."""
        value = body.raw(self.name)
        if isinstance(value, list):
            return self._objects.read(body)
        if not isinstance(value, str | None):
            raise body.wrong(self.name, "a string")
        return value or ""

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value."""
        return {"anyOf": [{"type": "string"}, self._objects.schema()]}


class Raw(Field[Any]):
    """A value of several types, which the caller checks; None if it is not given."""

    def __init__(self, *schemas: Schema, required: bool = False) -> None:
        """Declare a value that matches any of `schemas`; without schemas, any value."""
        super().__init__(required=required)
        self._schemas = schemas

    def read(self, body: Body) -> Any:
        """Return the value as it was sent."""
        return body.raw(self.name)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value."""
        if len(self._schemas) == 1:
            return dict(self._schemas[0])
        return {"anyOf": [dict(schema) for schema in self._schemas]} if self._schemas else {}


STRING: Schema = {"type": "string"}
OBJECT: Schema = {"type": "object"}
TOKENS: Schema = {"type": "array", "items": {"type": "integer"}}
DURATION = (STRING, {"type": "number"})


def list_of(items: Schema) -> Schema:
    """Return the JSON schema of a list."""
    return {"type": "array", "items": items}


def shown_value(value: Any) -> str:
    """Return a value of a request for an error message: a simple value as it is, others as their type."""
    if isinstance(value, str):
        return f"'{printable(value, _MAX_SHOWN_LENGTH)}'"
    if isinstance(value, bool):
        return "true" if value else "false"
    return printable(repr(value), _MAX_SHOWN_LENGTH) if isinstance(value, int | float) else kind_of(value)

"""The syntax tree of Go templates: immutable nodes that hold no text of a conversation.

The language is that of Go's `text/template` (https://pkg.go.dev/text/template), without methods and function values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields


class GoTemplateError(Exception):
    """A Go template cannot be parsed, or one of its operations fails.

    Attributes:
        line: Line of the template, counted from 1.
    """

    def __init__(self, line: int, text: str) -> None:
        """Take the line and what is wrong there."""
        super().__init__(f"line {line}: {text}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal number, string, Boolean or nil."""

    value: object


@dataclass(frozen=True, slots=True)
class Dot:
    """`.`, the current value."""


@dataclass(frozen=True, slots=True)
class Field:
    """`.A.B`: fields of the current value."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """`$x.A.B`; `$` alone is the data passed to the template."""

    name: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """The name of a function, first in its command or without arguments."""

    name: str


@dataclass(frozen=True, slots=True)
class Chain:
    """`(...).A.B`."""

    operand: "Operand"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """Operands in a row; the first may be a function, and the others its arguments."""

    operands: tuple["Operand", ...]


@dataclass(frozen=True, slots=True)
class Pipe:
    """Commands, each of which gets the value of the one before as its last argument.

    Attributes:
        line: The line where it begins.
        names: Variables to which the value is assigned; in a `range` there may be two.
        declares: Whether it declares these variables.
        commands: At least one.
    """

    line: int
    names: tuple[str, ...]
    declares: bool
    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Text that is printed as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """A pipeline whose value is printed, unless it is assigned to variables."""

    pipe: Pipe


@dataclass(frozen=True, slots=True)
class Branch:
    """`if`, `with` or `range`.

    Attributes:
        kind: Its keyword.
        pipe: The condition, or the values of a `range`.
        body: Rendered for a value that is not empty; in a `range`, for each item.
        other: The `else` part, rendered for an empty value.
    """

    kind: str
    pipe: Pipe
    body: tuple["Node", ...]
    other: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or `continue`."""

    kind: str


@dataclass(frozen=True, slots=True)
class Include:
    """`template "name" pipeline`: another template of this file, for the value of the pipeline or for nil."""

    line: int
    name: str
    pipe: Pipe | None


Operand = Constant | Dot | Field | Variable | Function | Chain | Pipe
Node = Text | Action | Branch | Jump | Include


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed template: its body, and the templates that it defines, by name."""

    body: tuple[Node, ...]
    defined: Mapping[str, tuple[Node, ...]]

    def fields(self) -> frozenset[str]:
        """Return the names of all fields that it looks up, also in templates that it defines, in lower case."""
        bodies = (self.body, *self.defined.values())
        return frozenset(name.lower() for body in bodies for node in body for name in _fields(node))


def _fields(node: object) -> Iterator[str]:
    """Yield the names of the fields that a node and its parts look up."""
    if isinstance(node, tuple):
        for part in node:
            yield from _fields(part)
    elif isinstance(node, Field | Variable | Chain):
        yield from node.names
        if isinstance(node, Chain):
            yield from _fields(node.operand)
    elif isinstance(node, Action | Branch | Include | Pipe | Command):
        for field in fields(node):
            yield from _fields(getattr(node, field.name))

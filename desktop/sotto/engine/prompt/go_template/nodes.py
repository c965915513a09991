"""What a Go template is made of once it is parsed: frozen values that hold no text of a conversation.

The language is that of Go's `text/template` (https://pkg.go.dev/text/template), without methods and without functions
that are values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields


class GoTemplateError(Exception):
    """A Go template cannot be read, or does what cannot be done.

    Attributes:
        line: Where, counted from 1.
    """

    def __init__(self, line: int, text: str) -> None:
        """Say where and what."""
        super().__init__(f"line {line}: {text}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, text, truth value or nil that stands in the template."""

    value: object


@dataclass(frozen=True, slots=True)
class Dot:
    """`.`, the value that is looked at."""


@dataclass(frozen=True, slots=True)
class Field:
    """`.A.B`: what the value that is looked at has by these names."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """`$x.A.B`; `$` alone is what the template was called with."""

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
    """Operands beside each other; the first may be a function, and the others its arguments."""

    operands: tuple["Operand", ...]


@dataclass(frozen=True, slots=True)
class Pipe:
    """Commands, each of which gets the value of the one before as its last argument.

    Attributes:
        line: Where it begins.
        names: Variables that get the value; in a `range` there may be two.
        declares: Whether they are new.
        commands: At least one.
    """

    line: int
    names: tuple[str, ...]
    declares: bool
    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Text that comes out as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """A pipeline whose value comes out, unless variables get it."""

    pipe: Pipe


@dataclass(frozen=True, slots=True)
class Branch:
    """`if`, `with` or `range`.

    Attributes:
        kind: Which of them.
        pipe: What decides.
        body: For a value that is not empty; in a `range`, for each item.
        other: For one that is empty.
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
    """A parsed file: what it renders, and the templates that it defines by name."""

    body: tuple[Node, ...]
    defined: Mapping[str, tuple[Node, ...]]

    def fields(self) -> frozenset[str]:
        """Return all names of fields that it asks for, here and in what it defines, in small letters."""
        bodies = (self.body, *self.defined.values())
        return frozenset(name.lower() for body in bodies for node in body for name in _fields(node))


def _fields(node: object) -> Iterator[str]:
    """Yield the names of the fields that a node and all parts of it ask for."""
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

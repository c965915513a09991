"""Go templates: parsed trees with changed parts, printed, parsed again and rendered for conversations."""

import dataclasses
import json
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import values
from fuzzing.go_printer import printed
from fuzzing.target import Mark, Target
from fuzzing.targets.jinja import render
from fuzzing.templates import GO, TALKS
from sotto.engine.prompt.go_template.functions import FUNCTIONS, SHORT_CIRCUIT
from sotto.engine.prompt.go_template.nodes import (
    Action,
    Branch,
    Chain,
    Command,
    Constant,
    Dot,
    Field,
    Function,
    Include,
    Jump,
    Pipe,
    Text,
    Variable,
)
from sotto.engine.prompt.go_template.template_parser import parse
from sotto.engine.prompt.template_choice import TemplateChoice, TemplateKind
from sotto.engine.prompt.templates import ChatTemplate

_NAMES = tuple(
    "System Messages Prompt Response Tools Role Content ToolCalls Function Name Arguments Think Nothing Type".split()
)
_FUNCTIONS = (*FUNCTIONS, *SHORT_CIRCUIT)
_TEXTS = (
    *values.TEXTS,
    "%d",
    "%999999999d",
    "%.999999999f",
    "%*d",
    "%[1]d",
    "%q",
    "%v %v %v",
    "%!",
    "%x%c%U%t",
    "héé",
    "\udcff",
)
_NUMBERS = (-1, 0, 1, 2, 3, 9, 10**6, 2**31, 2**63 - 1, -(2**63), 2**64 - 1, 0.5, 1e300, -0.0)
# The groups of node types that can replace each other.
_OPERANDS = (Constant, Dot, Field, Variable, Function, Chain, Pipe)
_NODES = (Text, Action, Branch, Jump, Include)
_KINDS = (_OPERANDS, _OPERANDS, _NODES, (Command,), (Pipe,))

TreePath = tuple[Any, ...]


class GoTemplate(Target):
    """Templates, up to a prompt."""

    stages = ("parsed", "compiled", "prompt made")
    first_share, last_share = 55, 35
    cpu_seconds = 20.0

    def prepare(self, folder: Path) -> None:
        """Parse the seeds."""
        self._trees = [parse(text, _FUNCTIONS) for text in GO]

    def make(self, random: Random) -> bytes:
        """Change a tree and print it; sometimes change the text as well."""
        tree: Any = random.choice(self._trees)
        for _ in range(values.times(random)):
            tree = _changed(tree, random, self._trees)
        text = printed(tree)
        if random.random() < 0.08:
            text = values.near_text(text, random)
        return values.text_of({"template": text, "talk": random.randrange(len(TALKS))})

    def run(self, data: bytes, mark: Mark) -> None:
        """Parse the template, and render a conversation."""
        document = json.loads(data)
        template = ChatTemplate(TemplateChoice(TemplateKind.GO, document["template"]))
        mark("parsed")
        render(template, document["talk"], mark)

    def names(self, message: str) -> bool:
        """Return whether the message names the template."""
        return "chat template" in message


def _changed(tree: Any, random: Random, trees: list[Any]) -> Any:
    """Return a tree with one part changed."""
    kinds = random.choice(_KINDS)
    places = list(_places(tree, kinds))
    if not places:
        return tree
    path, part = random.choice(places)
    kind = random.random()
    if kind < 0.35:
        other = random.choice(
            [place for _, place in _places(random.choice((tree, random.choice(trees))), kinds)] or [part]
        )
    elif kind < 0.5 and isinstance(path[-1], int):
        return _replaced(tree, path[:-1], _resized(_at(tree, path[:-1]), path[-1], random))
    else:
        other = _made(part, random)
    # A pipeline must be replaced with a pipeline; one among operands is in brackets.
    return _replaced(tree, path, _of(other) if isinstance(part, Pipe) and not isinstance(other, Pipe) else other)


def _made(part: Any, random: Random) -> Any:
    """Return a new part of the same kind, which sometimes contains the old one."""
    if isinstance(part, _NODES):
        pipe = Pipe(1, (), False, (Command((_operand(random),)),))
        name = random.choice(("x", "turn", ""))
        return random.choice(
            (
                Text(random.choice(values.TEXTS)),
                Action(Pipe(1, (random.choice(("$x", "$i")),), random.random() < 0.8, pipe.commands)),
                Branch(random.choice(("if", "with", "range")), pipe, (part,), (part,) if random.random() < 0.3 else ()),
                Branch("range", Pipe(1, ("$i", "$x"), True, pipe.commands), (part, Action(_of(Variable("$x")))), ()),
                Jump(random.choice(("break", "continue"))),
                Include(1, name, pipe),
            )
        )
    if isinstance(part, Command):
        return Command((Function(random.choice(_FUNCTIONS)), *(_operand(random) for _ in range(random.randrange(4)))))
    if isinstance(part, Pipe) and random.random() < 0.7:
        command = Command(
            (Function(random.choice(_FUNCTIONS)), *(_operand(random) for _ in range(random.randrange(2))))
        )
        return dataclasses.replace(part, commands=(*part.commands, command))
    return _operand(random) if not isinstance(part, Pipe) else _of(_operand(random))


def _operand(random: Random) -> Any:
    kind = random.randrange(8)
    if kind < 2:
        return Field(tuple(random.choice(_NAMES) for _ in range(random.choice((1, 1, 2, 3)))))
    if kind == 2:
        return Variable(
            random.choice(("$", "$", "$x", "$i", "$m")), (random.choice(_NAMES),) if random.random() < 0.5 else ()
        )
    if kind == 3:
        return random.choice((Dot(), Constant(None), Constant(True), Constant(False)))
    if kind == 4:
        return Constant(random.choice(_TEXTS))
    if kind == 5:
        return Constant(random.choice(_NUMBERS))
    if kind == 6:
        return Chain(_of(_operand(random)), (random.choice(_NAMES),))
    command = Command((Function(random.choice(_FUNCTIONS)), *(_operand(random) for _ in range(random.randrange(3)))))
    return Pipe(1, (), False, (command,))


def _of(operand: Any) -> Pipe:
    return Pipe(1, (), False, (Command((operand,)),))


def _resized(parts: tuple[Any, ...], place: int, random: Random) -> tuple[Any, ...]:
    """Return parts with one of them removed, duplicated, repeated often or moved to the front."""
    part, rest = parts[place], (*parts[:place], *parts[place + 1 :])
    return random.choice((rest, rest, (*parts, part), (part, *rest), parts * 30)) or parts


def _places(value: Any, kinds: tuple[type, ...], path: TreePath = ()) -> Any:
    """Yield the parts of these kinds, each with its path."""
    if isinstance(value, kinds):
        yield path, value
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, tuple):
        inner = list(enumerate(value))
    elif dataclasses.is_dataclass(value):
        inner = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    else:
        return
    for key, part in inner:
        if not isinstance(part, str | int | float | bool | None):
            yield from _places(part, kinds, (*path, key))


def _at(value: Any, path: TreePath) -> Any:
    for key in path:
        value = getattr(value, key) if isinstance(key, str) and dataclasses.is_dataclass(value) else value[key]
    return value


def _replaced(value: Any, path: TreePath, other: Any) -> Any:
    """Return a tree with another part at a path."""
    if not path:
        return other
    key, *rest = path
    if isinstance(value, dict):
        return {**value, key: _replaced(value[key], tuple(rest), other)}
    if isinstance(value, tuple):
        return (*value[:key], _replaced(value[key], tuple(rest), other), *value[key + 1 :])
    return dataclasses.replace(value, **{key: _replaced(getattr(value, key), tuple(rest), other)})


TARGET = GoTemplate()

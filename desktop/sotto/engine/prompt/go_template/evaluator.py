"""The evaluator of parsed Go templates, within the limits of `template_bounds`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sotto.engine.prompt.go_template.functions import FUNCTIONS, SHORT_CIRCUIT
from sotto.engine.prompt.go_template.go_values import Struct, is_true, kind_of, print_value
from sotto.engine.prompt.go_template.nodes import (
    Action,
    Branch,
    Chain,
    Command,
    Constant,
    Dot,
    Field,
    Function,
    GoTemplateError,
    Include,
    Jump,
    Node,
    Operand,
    Pipe,
    Text,
    Variable,
)
from sotto.engine.prompt.template_bounds import Bounds, TemplateBoundsError, current

# Nested blocks and templates during rendering, which limits templates that include themselves.
_MAX_DEPTH = 120
_NOTHING = object()


class _JumpError(Exception):
    """A `break` or `continue` on its way to its loop."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def evaluate(body: Sequence[Node], defined: Mapping[str, Sequence[Node]], data: object) -> str:
    """Return the text that a template renders for `data`. Call it within `template_bounds.bounded`.

    Raises:
        GoTemplateError: An operation fails on these values.
        TemplateBoundsError: It exceeds its limits.
    """
    run = _Run(defined, current.get())
    run.nodes(body, data, [("$", data)])
    return "".join(run.pieces)


class _Run:
    """The state of one rendering: its output and its depth."""

    def __init__(self, defined: Mapping[str, Sequence[Node]], bounds: Bounds) -> None:
        self.pieces: list[str] = []
        self._defined = defined
        self._bounds = bounds
        self._length = 0
        self._depth = 0

    def nodes(self, nodes: Sequence[Node], dot: object, scope: list[tuple[str, object]]) -> None:
        """Render nodes for `dot`; variables that they declare go out of scope afterwards."""
        known = len(scope)
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise TemplateBoundsError("it is nested too deeply")
        for node in nodes:
            self._bounds.check_time()
            match node:
                case Text(text):
                    self._put(text)
                case Action(pipe):
                    value = self._set(pipe, dot, scope)
                    if not pipe.names:
                        self._put("<no value>" if value is None else print_value(value))
                case Branch():
                    self._branch(node, dot, scope)
                case Jump(kind):
                    raise _JumpError(kind)
                case Include():
                    self._include(node, dot, scope)
        self._depth -= 1
        del scope[known:]

    def _put(self, text: str) -> None:
        self._length += len(text)
        self._bounds.check(self._length)
        self.pieces.append(text)

    def _branch(self, node: Branch, dot: object, scope: list[tuple[str, object]]) -> None:
        known = len(scope)
        if node.kind == "range":
            self._range(node, dot, scope)
        else:
            value = self._set(node.pipe, dot, scope)
            if is_true(value):
                self.nodes(node.body, value if node.kind == "with" else dot, scope)
            else:
                self.nodes(node.other, dot, scope)
        del scope[known:]

    def _range(self, node: Branch, dot: object, scope: list[tuple[str, object]]) -> None:
        pipe = node.pipe
        value = self._value(pipe, dot, scope)
        items: Iterable[tuple[object, object]]
        match value:
            case None:
                items = ()
            case list():
                items = enumerate(value)
            case dict():
                items = sorted(value.items())
            case int() if not isinstance(value, bool):
                if len(pipe.names) > 1:
                    raise GoTemplateError(pipe.line, "a range over a number has one variable")
                items = ((number, number) for number in range(value))
            case _:
                raise GoTemplateError(pipe.line, f"a range cannot go over a {kind_of(value)}")
        known, depth, empty = len(scope), self._depth, True
        for key, item in items:
            empty = False
            self._bounds.check_time()
            given = (item,) if len(pipe.names) == 1 else (key, item)
            for name, value in zip(pipe.names, given, strict=False):
                self._assign(name, value, scope, declares=pipe.declares)
            try:
                self.nodes(node.body, item, scope)
            except _JumpError as jumped:
                self._depth = depth
                if jumped.kind == "break":
                    break
            finally:
                del scope[known:]
        if empty:
            self.nodes(node.other, dot, scope)

    def _include(self, node: Include, dot: object, scope: list[tuple[str, object]]) -> None:
        if node.name not in self._defined:
            raise GoTemplateError(node.line, f"there is no template {node.name[:40]!r}")
        value = None if node.pipe is None else self._set(node.pipe, dot, scope)
        self.nodes(self._defined[node.name], value, [("$", value)])

    def _set(self, pipe: Pipe, dot: object, scope: list[tuple[str, object]]) -> object:
        """Return the value of a pipeline, and assign it to the pipeline's variables."""
        value = self._value(pipe, dot, scope)
        for name in pipe.names:
            self._assign(name, value, scope, declares=pipe.declares)
        return value

    @staticmethod
    def _assign(name: str, value: object, scope: list[tuple[str, object]], *, declares: bool) -> None:
        if declares:
            scope.append((name, value))
            return
        place = next(place for place in reversed(range(len(scope))) if scope[place][0] == name)
        scope[place] = (name, value)

    def _value(self, pipe: Pipe, dot: object, scope: list[tuple[str, object]]) -> object:
        value: object = _NOTHING
        for command in pipe.commands:
            value = self._command(command, pipe.line, dot, scope, value)
        return value

    def _command(
        self, command: Command, line: int, dot: object, scope: list[tuple[str, object]], final: object
    ) -> object:
        """Return the value of a command; `final` is the value piped into it."""
        first, *arguments = command.operands
        if not isinstance(first, Function):
            if arguments or final is not _NOTHING:
                raise GoTemplateError(line, "a value that is not a function is given arguments")
            return self._operand(first, line, dot, scope)
        if first.name in SHORT_CIRCUIT:
            return self._short_circuit(first.name, arguments, line, dot, scope, final)
        values = [self._operand(argument, line, dot, scope) for argument in arguments]
        return self._call(first.name, values if final is _NOTHING else [*values, final], line)

    def _short_circuit(
        self,
        name: str,
        arguments: Sequence[Operand],
        line: int,
        dot: object,
        scope: list[tuple[str, object]],
        final: object,
    ) -> object:
        """Return the first argument that decides, or else the last; later ones are not evaluated."""
        value: object = _NOTHING
        for argument in arguments:
            value = self._operand(argument, line, dot, scope)
            if is_true(value) == (name == "or"):
                return value
        if final is not _NOTHING:
            return final
        if value is _NOTHING:
            raise GoTemplateError(line, f"{name} has no arguments")
        return value

    def _call(self, name: str, values: list[Any], line: int) -> object:
        self._bounds.check_time()
        try:
            value = FUNCTIONS[name](*values)
        except ValueError as error:
            raise GoTemplateError(line, str(error)) from error
        except TypeError as error:
            # Functions check the kinds of their arguments themselves, so the number of arguments is wrong.
            raise GoTemplateError(
                line, f"{name} is given {len(values)} arguments, which is not what it takes"
            ) from error
        if isinstance(value, str):
            self._bounds.check(len(value))
            self._bounds.spend(len(value))
        return value

    def _operand(self, operand: Operand, line: int, dot: object, scope: list[tuple[str, object]]) -> object:
        match operand:
            case Constant(value):
                return value
            case Dot():
                return dot
            case Field(names):
                return _field(dot, names, line)
            case Variable(name, names):
                return _field(next(value for known, value in reversed(scope) if known == name), names, line)
            case Chain(inner, names):
                return _field(self._operand(inner, line, dot, scope), names, line)
            case Function():
                return self._command(Command((operand,)), line, dot, scope, _NOTHING)
            case Pipe():
                return self._set(operand, dot, scope)


def _field(value: object, names: Sequence[str], line: int) -> object:
    """Return a field of `value`: the first name is looked up in it, the next in that field, and so on."""
    for name in names:
        if isinstance(value, Struct):
            if name not in value.fields:
                raise GoTemplateError(line, f"a {value.kind} has no field {name[:40]}")
            value = value.fields[name]
        elif isinstance(value, dict):
            value = value.get(name)
        else:
            kind = "nil" if value is None else f"a {kind_of(value)}"
            raise GoTemplateError(line, f"{kind} has no field {name[:40]}")
    return value

"""The parser of Go templates."""

from collections.abc import Collection

from sotto.engine.prompt.go_template.lexer import Word, words
from sotto.engine.prompt.go_template.literals import character, number, string
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
    Tree,
    Variable,
)

# Nested blocks and brackets; templates in use have fewer than ten.
_MAX_DEPTH = 100
_CONSTANTS = {"true": True, "false": False, "nil": None}


def parse(source: str, functions: Collection[str]) -> Tree:
    """Parse a template that may use `functions`.

    Raises:
        GoTemplateError: It is not a valid template.
    """
    return _Parser(source, functions).tree()


class _Parser:
    """A recursive descent parser.

    As in Go, an undeclared variable is an error here, even in a branch that is never rendered.
    """

    def __init__(self, source: str, functions: Collection[str]) -> None:
        self._words = list(words(source))
        self._place = 0
        self._functions = functions
        self._known = ["$"]
        self._depth = 0
        self._loops = 0
        self._defined: dict[str, tuple[Node, ...]] = {}

    def tree(self) -> Tree:
        """Parse the whole template."""
        body, _ = self._body(ends=())
        return Tree(body, self._defined)

    def _body(self, ends: Collection[str]) -> tuple[tuple[Node, ...], Word]:
        """Read up to an action that begins with one of `ends`, or to the end, and return that word as well."""
        nodes: list[Node] = []
        while True:
            word = self._next()
            if word.kind == "text":
                nodes.append(Text(word.text))
                continue
            if word.kind == "end":
                if ends:
                    raise GoTemplateError(word.line, "a block has no {{ end }}")
                return tuple(nodes), word
            first = self._skip()
            if first.kind == "name" and first.text in ("end", "else"):
                self._next()
                if first.text not in ends:
                    raise GoTemplateError(first.line, f"{{{{ {first.text} }}}} has nothing that it belongs to")
                return tuple(nodes), first
            node = self._statement(first)
            if node is not None:
                nodes.append(node)

    def _statement(self, first: Word) -> Node | None:
        """Read the rest of an action and, where it begins a block, the whole block."""
        keyword = first.text if first.kind == "name" else ""
        if keyword in ("if", "with", "range"):
            self._next()
            return self._branch(keyword)
        if keyword in ("define", "block"):
            self._next()
            return self._definition(first)
        if keyword == "template":
            self._next()
            name = self._name_of(first)
            pipe = None if self._skip().kind == "close" else self._pipe("close")
            self._close(first)
            return Include(first.line, name, pipe)
        if keyword in ("break", "continue"):
            self._next()
            self._close(first)
            if not self._loops:
                raise GoTemplateError(first.line, f"{{{{ {keyword} }}}} stands in no range")
            return Jump(keyword)
        pipe = self._pipe("close")
        self._close(first)
        return Action(pipe)

    def _branch(self, kind: str) -> Node:
        """Read the rest of an `if`, `with` or `range` after that word."""
        line = self._words[self._place - 1].line
        self._enter(line)
        known = len(self._known)
        pipe = self._pipe("close", names=2 if kind == "range" else 1)
        self._next()
        self._loops += kind == "range"
        body, end = self._body(("else", "end"))
        self._loops -= kind == "range"
        other: tuple[Node, ...] = ()
        if end.text == "else":
            again = self._skip()
            if again.kind == "name" and again.text == kind and kind != "range":
                # `else if` is an `if` within the `else`; one `end` closes both.
                self._next()
                other = (self._branch(kind),)
            else:
                self._close(end)
                other, last = self._body(("end",))
                self._close(last)
        else:
            self._close(end)
        del self._known[known:]
        self._depth -= 1
        return Branch(kind, pipe, body, other)

    def _definition(self, first: Word) -> Node | None:
        """Read the rest of a `define` or `block` after that word."""
        if first.text == "define" and self._depth:
            raise GoTemplateError(first.line, "{{ define }} stands inside of a block")
        name = self._name_of(first)
        pipe = self._pipe("close") if first.text == "block" else None
        self._close(first)
        self._enter(first.line)
        known, loops, self._known, self._loops = self._known, self._loops, ["$"], 0
        body, end = self._body(("end",))
        self._close(end)
        self._known, self._loops = known, loops
        self._depth -= 1
        # As in Go, an empty definition does not replace another one.
        if name not in self._defined or any(not isinstance(node, Text) or node.text.strip() for node in body):
            self._defined[name] = body
        return Include(first.line, name, pipe) if first.text == "block" else None

    def _pipe(self, end: str, names: int = 1) -> Pipe:
        """Read a pipeline up to the word `end`, which is not read; `names` is how many variables it may set."""
        line = self._skip().line
        targets, declares = self._targets(names)
        commands: list[Command] = []
        while True:
            commands.append(self._command(end))
            word = self._skip()
            if word.kind == end:
                break
            self._next()
        for later in commands[1:]:
            if not isinstance(later.operands[0], Function | Field | Variable | Chain):
                raise GoTemplateError(line, "what follows | takes no arguments")
        if declares:
            self._known += targets
        return Pipe(line, targets, declares, tuple(commands))

    def _targets(self, most: int) -> tuple[tuple[str, ...], bool]:
        """Read `$x :=`, `$x =` or, in a range, `$i, $x :=`, if one of them comes next."""
        begin, found = self._place, []
        while most and self._skip().kind == "variable":
            found.append(self._next())
            mark = self._skip()
            if mark.kind in (":=", "=") and (len(found) == 1 or most == 2):
                self._next()
                for word in found if mark.kind == "=" else ():
                    self._check_known(word)
                return tuple(word.text for word in found), mark.kind == ":="
            if mark.kind != "," or most < 2 or len(found) == 2:
                break
            self._next()
        self._place = begin
        return (), False

    def _command(self, end: str) -> Command:
        """Read operands up to `|` or `end`."""
        operands: list[Operand] = []
        while (word := self._skip()).kind not in ("|", end):
            if operands and self._words[self._place - 1].kind != "space":
                raise GoTemplateError(word.line, f"{word.text[:40]!r} stands too close to what is before it")
            operands.append(self._operand())
        if not operands:
            raise GoTemplateError(word.line, "a command is missing")
        first = operands[0]
        if len(operands) > 1 and isinstance(first, Constant | Dot | Pipe):
            raise GoTemplateError(word.line, "a value that is not a function is given arguments")
        return Command(tuple(operands))

    def _operand(self) -> Operand:
        """Read an operand with the fields attached to it."""
        word = self._next()
        found = self._plain_operand(word)
        names: list[str] = []
        while self._words[self._place].kind == "field":
            names.append(self._next().text[1:])
        if not names:
            return found
        if isinstance(found, Field):
            return Field((*found.names, *names))
        if isinstance(found, Variable):
            return Variable(found.name, tuple(names))
        if isinstance(found, Constant | Dot):
            raise GoTemplateError(word.line, f"{word.text[:40]} has no field {names[0]}")
        return Chain(found, tuple(names))

    def _plain_operand(self, word: Word) -> Operand:
        match word.kind:
            case "number" | "string" | "character":
                read = {"number": number, "string": string, "character": character}[word.kind]
                try:
                    return Constant(read(word.text))
                except ValueError as error:
                    raise GoTemplateError(word.line, f"{word.text[:40]} is not a {word.kind}: {error}") from error
            case "field":
                return Field((word.text[1:],))
            case ".":
                return Dot()
            case "variable":
                self._check_known(word)
                return Variable(word.text)
            case "name" if word.text in _CONSTANTS:
                return Constant(_CONSTANTS[word.text])
            case "name" if word.text in self._functions:
                return Function(word.text)
            case "name":
                raise GoTemplateError(word.line, f"there is no function {word.text[:40]}")
            case "(":
                self._enter(word.line)
                pipe = self._pipe(")", names=0)
                self._next()
                self._depth -= 1
                return pipe
        raise GoTemplateError(word.line, f"{word.text[:40] or 'the end'!r} has no place here")

    def _check_known(self, word: Word) -> None:
        if word.text not in self._known:
            raise GoTemplateError(word.line, f"the variable {word.text[:40]} is not declared")

    def _name_of(self, first: Word) -> str:
        """Read the name of a template, a string constant."""
        word = self._skip()
        if word.kind != "string":
            raise GoTemplateError(first.line, f"{first.text} has no name in quotes")
        self._next()
        try:
            return string(word.text)
        except ValueError as error:
            raise GoTemplateError(word.line, f"{word.text[:40]} is not a string: {error}") from error

    def _close(self, first: Word) -> None:
        """Read the end of an action."""
        word = self._skip()
        if word.kind != "close":
            raise GoTemplateError(word.line, f"{word.text[:40]!r} cannot follow {first.text[:40]}")
        self._next()

    def _enter(self, line: int) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise GoTemplateError(line, f"more than {_MAX_DEPTH} blocks and brackets stand in each other")

    def _skip(self) -> Word:
        """Skip spaces and return the next word without consuming it."""
        while self._words[self._place].kind == "space":
            self._place += 1
        return self._words[self._place]

    def _next(self) -> Word:
        """Consume a word and return it; the last word is returned again and again."""
        word = self._words[self._place]
        self._place = min(self._place + 1, len(self._words) - 1)
        return word

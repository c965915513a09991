"""Printing of parsed Go templates, whatever their nodes."""

import re

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
    Node,
    Operand,
    Pipe,
    Text,
    Tree,
    Variable,
)

_OPEN = "{{"
# Surrogates that do not stand for a byte.
_LONE_SURROGATES = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def printed(tree: Tree) -> str:
    """Return the text of a template, which parses to the same tree."""
    defined = "".join(
        f"{{{{ define {quoted(name)} }}}}{_body(body)}{{{{ end }}}}" for name, body in tree.defined.items()
    )
    return _body(tree.body) + defined


def quoted(text: str) -> str:
    """Return a text as a quoted Go string; surrogates stand for bytes, as everywhere in templates."""
    data = text.encode(errors="surrogateescape" if not _LONE_SURROGATES.search(text) else "surrogatepass")
    inside = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02x}" for byte in data)
    return f'"{"".join(inside)}"'


def _body(nodes: tuple[Node, ...]) -> str:
    return "".join(map(_node, nodes))


def _node(node: Node) -> str:
    match node:
        case Text(text):
            return text if _OPEN not in text else f"{{{{ {quoted(text)} }}}}"
        case Action(pipe):
            return f"{{{{ {_pipe(pipe)} }}}}"
        case Branch(kind, pipe, body, other):
            rest = f"{{{{ else }}}}{_body(other)}" if other else ""
            return f"{{{{ {kind} {_pipe(pipe)} }}}}{_body(body)}{rest}{{{{ end }}}}"
        case Jump(kind):
            return f"{{{{ {kind} }}}}"
        case Include(_, name, pipe):
            return f"{{{{ template {quoted(name)} {_pipe(pipe) if pipe else ''} }}}}"
    raise TypeError(node)


def _pipe(pipe: Pipe) -> str:
    target = f"{', '.join(pipe.names)} {':=' if pipe.declares else '='} " if pipe.names else ""
    return target + " | ".join(" ".join(map(_operand, command.operands)) for command in pipe.commands)


def _operand(operand: Operand | Command) -> str:
    match operand:
        case Constant(value):
            return _constant(value)
        case Dot():
            return "."
        case Field(names):
            return "".join(f".{name}" for name in names)
        case Variable(name, names):
            return name + "".join(f".{field}" for field in names)
        case Function(name):
            return name
        case Chain(inner, names):
            text = _operand(inner)
            return (text if isinstance(inner, Pipe) else f"({text})") + "".join(f".{name}" for name in names)
        case Pipe():
            return f"({_pipe(operand)})"
    raise TypeError(operand)


def _constant(value: object) -> str:
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "true" if value else "false"
    return quoted(value) if isinstance(value, str) else repr(value)

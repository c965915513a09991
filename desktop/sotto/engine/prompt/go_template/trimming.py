"""Cut off a Go template after `.Response`, where the answer begins.

A template without `.Messages` renders a turn of both sides. The last turn must end where the model continues: after
the beginning of the answer, if there is any.
"""

from collections.abc import Sequence

from sotto.engine.prompt.go_template.nodes import Action, Branch, Command, Field, Node, Operand, Pipe


def cut_after_response(nodes: Sequence[Node]) -> tuple[tuple[Node, ...], bool]:
    """Return nodes up to the first action that prints `.Response`, and whether there was one."""
    kept: list[Node] = []
    for node in nodes:
        if isinstance(node, Action) and _asks(node.pipe):
            return (*kept, node), True
        if isinstance(node, Branch):
            body, found = cut_after_response(node.body)
            other, later = ((), True) if found else cut_after_response(node.other)
            kept.append(Branch(node.kind, node.pipe, body, other))
            if found or later:
                return tuple(kept), True
        else:
            kept.append(node)
    return tuple(kept), False


def _asks(part: Pipe | Command | Operand) -> bool:
    match part:
        case Pipe():
            return any(_asks(command) for command in part.commands)
        case Command():
            return any(_asks(operand) for operand in part.operands)
        case Field(names):
            return "Response" in names
    return False

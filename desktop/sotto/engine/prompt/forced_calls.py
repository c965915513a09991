"""Tools that a request forces the model to call, and the check that valid arguments can be guaranteed."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.engine.contract.tool_choice import ToolChoice
from sotto.engine.grammar.grammars import check_grammar
from sotto.engine.grammar.schema_checks import LARGEST_SCHEMA
from sotto.engine.parsing.forcing import CallableTool
from sotto.errors import InvalidRequestError
from sotto.store.printable import format_size, printable

# How many schemas are remembered as checked.
_CHECKS_KEPT = 256


def wanted_tools(tools: Sequence[Mapping[str, Any]], choice: ToolChoice) -> tuple[CallableTool, ...]:
    """Return the tools of which one must be called; none where no call is required. May run on any thread.

    Args:
        tools: Functions, as `sotto.engine.prompt.tools` returns them.
        choice: Which calls are required.

    Raises:
        InvalidRequestError: There is no such tool, or its arguments cannot be guaranteed to match its schema.
    """
    if not choice.required:
        return ()
    functions = [tool["function"] for tool in tools]
    names = [function["name"] for function in functions]
    if not names:
        raise InvalidRequestError(f"{choice.name} asks for the call of a tool, and there is none; give {choice.tools}.")
    if choice.tool and choice.tool not in names:
        raise InvalidRequestError(
            f"{choice.name} asks for {printable(choice.tool)}, and {choice.tools} has only "
            f"{printable(', '.join(names))}."
        )
    found = tuple(
        CallableTool(
            name,
            {"type": "object", **(function.get("parameters") or {})},
            f"{choice.tools}[{number}].{choice.parameters}",
        )
        for number, (name, function) in enumerate(zip(names, functions, strict=True))
        if choice.tool in ("", name)
    )
    if (size := sum(len(json.dumps(tool.parameters)) for tool in found)) > LARGEST_SCHEMA:
        raise InvalidRequestError(
            f"{choice.tools} have {size} bytes of schemas in all; from 1 to {LARGEST_SCHEMA} "
            f"({format_size(LARGEST_SCHEMA)}) are allowed where {choice.name} asks for a call."
        )
    for tool in found:
        if tool.parameters.get("type", "object") != "object":
            raise InvalidRequestError(f"{tool.where}.type must be object: a call has arguments by name.")
        _check(json.dumps(tool.parameters), tool.where)
    return found


@lru_cache(_CHECKS_KEPT)
def _check(schema: str, where: str) -> None:
    check_grammar(Grammar(GrammarKind.JSON_SCHEMA, schema, where))

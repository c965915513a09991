"""What a model may write so that it is sure to be the call of a tool: a grammar in llguidance's dialect of Lark.

Only ways of calling that are JSON between marks have one: there a schema says what the arguments may be. The grammar is
that of one call, without anything in front of it; what reads answers reads it as that call.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from sotto.engine.parsing.calls import Tools
from sotto.engine.parsing.families import Family


@dataclass(frozen=True, slots=True)
class _Form:
    """How a call is written.

    Attributes:
        mark: What opens it, which may be a token of its own.
        before: What stands between that and the call.
        after: What stands behind the call.
        arguments: What the arguments are called.
    """

    mark: str
    before: str
    after: str
    arguments: str = "arguments"


_FORMS = {
    form.mark or "{": form
    for form in (
        _Form("<tool_call>", "\n", "\n</tool_call>"),
        _Form("[TOOL_CALLS]", "[", "]"),
        _Form("<|tool_call|>", "[", "]"),
        _Form("<tool_calls>", "[", "]</tool_calls>"),
        _Form("<TOOLCALL>", "[", "]</TOOLCALL>"),
        _Form("functools", "[", "]"),
        _Form("", "", "", arguments="parameters"),  # Llama 3
    )
}
# Templates that have this put arguments between tags, and not into JSON.
_PAIRS = "<arg_key>"


def calls_grammar(family: Family, template: str, tools: Tools, tokens: Mapping[str, int]) -> str | None:
    """Return the grammar of one call, in the way that a model was taught; None where that has none.

    Args:
        family: How the model marks what it writes.
        template: Its chat template.
        tools: Parameters of the tools that may be called, by name; at least one.
        tokens: Ids of the special tokens, by their texts: no text can stand for one of them.
    """
    ways = [way.opens for way in family.calls if way.opens in template or way.opens == "{"]
    # What is most particular to the model stands last.
    form = _FORMS.get(ways[-1]) if ways and _PAIRS not in template else None
    if form is None or not tools:
        return None
    # A token is written by its id.
    mark = f"<[{tokens[form.mark]}]> " if form.mark in tokens else json.dumps(form.mark) + " " if form.mark else ""
    rules = [f"start: {' | '.join(f'call_{number}' for number in range(len(tools)))}"]
    for number, (name, schema) in enumerate(tools.items()):
        head = f'{form.before}{{"name": {json.dumps(name)}, "{form.arguments}": '
        end = json.dumps("}" + form.after)
        rules.append(f"call_{number}: {mark}{json.dumps(head)} arguments_{number} {end}")
        rules.append(f"arguments_{number}: %json {json.dumps(schema)}")
    return "\n".join(rules) + "\n"

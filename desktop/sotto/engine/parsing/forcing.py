"""Grammars that force a model to call tools: rules in llguidance's dialect of Lark.

The rules allow calls only, without text before them, in the syntax that the parser of answers reads. Arguments in JSON
are constrained by their schema, and those that are written one by one by `argument_rules`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sotto.engine.grammar.grammars import FREE, Rules, json_rule
from sotto.engine.grammar.json_places import InCalls, Sign
from sotto.engine.grammar.lark_texts import literals
from sotto.engine.parsing import message_dialects
from sotto.engine.parsing.argument_rules import ArgumentRules, Fields
from sotto.engine.parsing.families import Family


@dataclass(frozen=True, slots=True)
class CallableTool:
    """A tool that may be called.

    Attributes:
        name: Its name, of letters, digits, `_`, `.` and `-`.
        parameters: A checked JSON schema of an object.
        where: The schema's name in errors.
    """

    name: str
    parameters: Mapping[str, Any]
    where: str


@dataclass(frozen=True, slots=True)
class _Form:
    """The syntax of calls.

    Attributes:
        head: Text before a tool's name.
        middle: Text between name and arguments, in which `#` stands for the number of the call.
        tail: Text after the arguments.
        begin: Text before all calls.
        end: Text after all calls.
        between: Text between two calls.
        several: Whether there can be more than one call.
        fields: The syntax of arguments that are written one by one; None where they are JSON.
    """

    head: str
    middle: str
    tail: str = ""
    begin: str = ""
    end: str = ""
    between: str = ""
    several: bool = True
    fields: Fields | None = None


_NAMED, _ARGUMENTS, _PARAMETERS = '{"name": "', '", "arguments": ', '", "parameters": '


def _json_list(begin: str, end: str, head: str = _NAMED, middle: str = _ARGUMENTS) -> _Form:
    return _Form(head, middle, "}", f"{begin}[", f"]{end}", ", ")


def _functions(tag: str, *, parameters: bool) -> _Form:
    """Return the form of functions with JSON or with parameters; an empty `tag` leaves out the tags around them."""
    head, tail = (f"<{tag}>\n<function=", f"</function>\n</{tag}>") if tag else ("<function=", "</function>")
    text = "\n</parameter>\n"
    fields = Fields("<parameter=", ">\n", text, text_middle=">\n", text_after=text, closes="</parameter>")
    return _Form(head, ">\n" if parameters else ">", tail, between="\n", fields=fields if parameters else None)


def _invocations(prefix: str, tag: str, texts: str = "", others: str = "") -> _Form:
    after = f"</{prefix}parameter>\n"
    head = f'<{prefix}parameter name="'
    fields = Fields(head, f'"{others}>', after, text_middle=f'"{texts}>', text_after=after, closes=after.strip())
    return _Form(
        head=f'<{prefix}invoke name="', middle='">\n', tail=f"</{prefix}invoke>\n",
        begin=f"<{tag}>\n", end=f"</{tag}>", fields=fields,
    )  # fmt: skip


def _gemma(opens: str, closes: str, mark: str) -> _Form:
    fields = Fields("", ":", "", ",", text_middle=f":{mark}", text_after=mark, closes=mark)
    return _Form(f"{opens}call:", "{", f"}}{closes}", fields=fields)


def _python(begin: str, end: str, between: str) -> _Form:
    return _Form("", "(", ")", begin, end, between, fields=Fields("", "=", "", ", "))


_PLAIN = {
    "<function_call>": _Form(f"<function_call>{_NAMED}", _ARGUMENTS, "}</function_call>", several=False),
    "<|python_tag|>": _Form(f"<|python_tag|>{_NAMED}", _PARAMETERS, "}", several=False),
    "{": _Form(_NAMED, _PARAMETERS, "}", between="; "),
    "<|tool_call>": _gemma("<|tool_call>", "<tool_call|>", '<|"|>'),
    "<start_function_call>": _gemma("<start_function_call>", "<end_function_call>", "<escape>"),
    "```tool_code": _python("```tool_code\n", "\n```", "\n"),
    "<|tool_call|>": _json_list("<|tool_call|>", ""),
    "functools": _json_list("functools", ""),
    "<|tool_calls_section_begin|>": _Form(
        head="<|tool_call_begin|>functions.", middle=":#<|tool_call_argument_begin|>", tail="<|tool_call_end|>",
        begin="<|tool_calls_section_begin|>", end="<|tool_calls_section_end|>",
    ),
    "<minimax:tool_call>": _invocations("", "minimax:tool_call"),
    "<tool_calls>": _json_list("<tool_calls>", "</tool_calls>"),
    "<seed:tool_call>": _functions("seed:tool_call", parameters=True),
    "<TOOLCALL>": _json_list("<TOOLCALL>", "</TOOLCALL>"),
    "<|tools_prefix|>": _json_list("<|tools_prefix|>", "<|tools_suffix|>", '{"', '": '),
    "<|START_ACTION|>": _json_list("<|START_ACTION|>", "<|END_ACTION|>", '{"tool_name": "', _PARAMETERS),
    "<|function_call|>": _Form(f"<|function_call|>{_NAMED}", _ARGUMENTS, "}", several=False),
    "<|tool_call_start|>": _python("<|tool_call_start|>[", "]<|tool_call_end|>", ", "),
}  # fmt: skip
_HARMONY = _Form("<|channel|>commentary to=functions.", " <|constrain|>json<|message|>", several=False)
# Most calls where each has a number, and so rules for each number.
_MAX_NUMBERED_CALLS = 8


def calls_rules(
    family: Family,
    shown: str | Collection[str],
    tools: Sequence[CallableTool],
    tokens: Mapping[str, int],
    name: str = "tool_choice",
    *,
    single: bool = False,
) -> Rules | None:
    """Return the rules for one or more calls in a model's own syntax; None where that cannot be forced.

    Args:
        family: How the model marks thoughts and calls.
        shown: Its chat template or, if it has none, the added tokens of its vocabulary.
        tools: The tools that may be called, at least one.
        tokens: Ids of the special tokens, by their texts; rules must name them by id.
        name: The field that asks for the call, for errors.
        single: Whether only one call is allowed.

    Raises:
        InvalidRequestError: The arguments of a tool cannot be guaranteed.
    """
    form = _HARMONY if family.messages is message_dialects.HARMONY else _form_of(family, shown)
    if form is None:
        return None

    def literal(text: str) -> str:
        return literals(text, tokens)

    rules: list[str] = []
    for number, tool in enumerate(tools):
        if form.fields is None:
            rules.append(f"arguments_{number}: {json_rule(tool.parameters, tool.where)}")
        else:
            rules += ArgumentRules(form.fields, tool.parameters, tool.where, literal).rules(f"arguments_{number}")
    counted = "#" in form.middle
    several = form.several and not single
    for call in range(_MAX_NUMBERED_CALLS if counted and several else 1):
        names = []
        for number, tool in enumerate(tools):
            head = literal(f"{form.head}{tool.name}{form.middle.replace('#', str(call))}")
            names.append(f"call_{call}_{number}")
            rules.append(f"{names[-1]}: {head} arguments_{number} {literal(form.tail)}")
        rules.append(f"call_{call}: {' | '.join(names)}")
    more = ""
    if several and counted:
        more = "".join(f" (call_{call}" for call in range(1, _MAX_NUMBERED_CALLS)) + ")?" * (_MAX_NUMBERED_CALLS - 1)
    elif several:
        more = f" ({literal(form.between)} call_0)*"
    start = f"start: {literal(form.begin)} call_0{more} {literal(form.end)}"
    place = InCalls(
        tuple(_sign(form, tool, call) for tool in tools for call in range(_MAX_NUMBERED_CALLS if counted else 1))
    )
    return Rules("\n".join((f"{FREE}{start}", *rules)) + "\n", name, schema=True, place=place)


def _sign(form: _Form, tool: CallableTool, call: int) -> Sign:
    """Return the texts with which a call of a tool, and each of its arguments, begins."""
    head = f"{form.head}{tool.name}{form.middle.replace('#', str(call))}".encode()
    fields = form.fields
    if fields is None:
        return Sign(head)
    signs = []
    for key, schema in tool.parameters.get("properties", {}).items():
        plain = fields.is_plain(schema)
        text = f"{fields.before}{key}{fields.text_middle if plain else fields.middle}"
        signs.append(Sign(text.encode(), fields.closes.encode() if plain else b""))
    return Sign(head, signs=tuple(signs))


def _form_of(family: Family, shown: str | Collection[str]) -> _Form | None:
    """Return the syntax of a model's calls; None where it cannot be forced."""
    opens = [syntax.opens for syntax in family.calls if syntax.opens in shown or syntax.signs]
    # The most specific syntax is the last.
    last = opens[-1] if opens else ""
    if last in ("<tool_call>", "<function="):
        return _tool_call_form(shown, tagged="<tool_call>" in opens)
    if last == "[TOOL_CALLS]":
        return _Form("[TOOL_CALLS]", "[ARGS]") if "[ARGS]" in shown else _json_list("[TOOL_CALLS]", "")
    if last == "<｜tool▁calls▁begin｜>":
        return _deepseek(fenced="```json" in shown)
    if "｜DSML｜" in last:
        tag = next((opening for opening in opens if "｜DSML｜" in opening and opening in shown), last).strip("<>")
        return _invocations("｜DSML｜", tag, ' string="true"', ' string="false"')
    return _PLAIN.get(last)


def _tool_call_form(shown: str | Collection[str], *, tagged: bool) -> _Form:
    """Return the form of a model that uses `<tool_call>` or `<function=`, as many do."""
    if "<arg_key>" in shown:
        line = "" if "</arg_key><arg_value>" in shown else "\n"
        after = f"</arg_value>{line}"
        middle = f"</arg_key>{line}<arg_value>"
        fields = Fields("<arg_key>", middle, after, text_middle=middle, text_after=after, closes="</arg_value>")
        return _Form("<tool_call>", line, "</tool_call>", between="\n", fields=fields)
    if "<function=" in shown:
        return _functions("tool_call" if tagged else "", parameters="<parameter=" in shown)
    return _Form(f"<tool_call>\n{_NAMED}", _ARGUMENTS, "}\n</tool_call>", between="\n")


def _deepseek(*, fenced: bool) -> _Form:
    """Return DeepSeek's form: until V3 with a fence around the arguments, in V3.1 without."""
    before, after = ("\n```json\n", "\n```") if fenced else ("<｜tool▁sep｜>", "")
    return _Form(
        head="<｜tool▁call▁begin｜>" + ("function<｜tool▁sep｜>" if fenced else ""),
        middle=before, tail=f"{after}<｜tool▁call▁end｜>",
        begin="<｜tool▁calls▁begin｜>", end="<｜tool▁calls▁end｜>", between="\n" if fenced else "",
    )  # fmt: skip

"""What a model may write so that it is sure to be calls of tools: rules in llguidance's dialect of Lark.

The rules are those of calls alone, without anything in front of them; what reads answers reads them as these calls.
Where arguments are JSON, their schema says what they may be; where each stands by itself, `argument_rules` does.
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
class Callable:
    """A tool that may be called.

    Attributes:
        name: Its name, of letters, digits, `_`, `.` and `-`.
        parameters: A JSON schema that has been checked, of an object.
        where: What that is called, for messages.
    """

    name: str
    parameters: Mapping[str, Any]
    where: str


@dataclass(frozen=True, slots=True)
class _Form:
    """How calls are written.

    Attributes:
        head: What stands in front of a tool's name.
        middle: What stands between name and arguments; `#` is the number of the call there.
        tail: What stands behind the arguments.
        begin: What stands in front of all calls.
        end: What stands behind all calls.
        between: What stands between two calls.
        several: Whether there can be more than one.
        fields: How arguments are written one by one; None where they are JSON.
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


def _listed(begin: str, end: str, head: str = _NAMED, middle: str = _ARGUMENTS) -> _Form:
    return _Form(head, middle, "}", f"{begin}[", f"]{end}", ", ")


def _functions(tag: str, *, parameters: bool) -> _Form:
    """Return the form of functions with JSON or with parameters, between tags where there are any."""
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
    "<|tool_call|>": _listed("<|tool_call|>", ""),
    "functools": _listed("functools", ""),
    "<|tool_calls_section_begin|>": _Form(
        head="<|tool_call_begin|>functions.", middle=":#<|tool_call_argument_begin|>", tail="<|tool_call_end|>",
        begin="<|tool_calls_section_begin|>", end="<|tool_calls_section_end|>",
    ),
    "<minimax:tool_call>": _invocations("", "minimax:tool_call"),
    "<tool_calls>": _listed("<tool_calls>", "</tool_calls>"),
    "<seed:tool_call>": _functions("seed:tool_call", parameters=True),
    "<TOOLCALL>": _listed("<TOOLCALL>", "</TOOLCALL>"),
    "<|tools_prefix|>": _listed("<|tools_prefix|>", "<|tools_suffix|>", '{"', '": '),
    "<|START_ACTION|>": _listed("<|START_ACTION|>", "<|END_ACTION|>", '{"tool_name": "', _PARAMETERS),
    "<|function_call|>": _Form(f"<|function_call|>{_NAMED}", _ARGUMENTS, "}", several=False),
    "<|tool_call_start|>": _python("<|tool_call_start|>[", "]<|tool_call_end|>", ", "),
}  # fmt: skip
_HARMONY = _Form("<|channel|>commentary to=functions.", " <|constrain|>json<|message|>", several=False)
# So many calls are enough where each has a number.
_MOST_NUMBERED = 8


def calls_rules(
    family: Family,
    shown: str | Collection[str],
    tools: Sequence[Callable],
    tokens: Mapping[str, int],
    name: str = "tool_choice",
    *,
    single: bool = False,
) -> Rules | None:
    """Return the rules of at least one call, in the way that a model was taught; None where that has none.

    Args:
        family: How the model marks what it writes.
        shown: Its chat template, or where it has none, the added tokens of its vocabulary.
        tools: What may be called, at least one.
        tokens: Ids of the special tokens, by their texts: no text can stand for one of them.
        name: What asks for the call, for messages.
        single: Whether there may be one call only.

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
    for call in range(_MOST_NUMBERED if counted and several else 1):
        names = []
        for number, tool in enumerate(tools):
            head = literal(f"{form.head}{tool.name}{form.middle.replace('#', str(call))}")
            names.append(f"call_{call}_{number}")
            rules.append(f"{names[-1]}: {head} arguments_{number} {literal(form.tail)}")
        rules.append(f"call_{call}: {' | '.join(names)}")
    more = ""
    if several and counted:
        more = "".join(f" (call_{call}" for call in range(1, _MOST_NUMBERED)) + ")?" * (_MOST_NUMBERED - 1)
    elif several:
        more = f" ({literal(form.between)} call_0)*"
    start = f"start: {literal(form.begin)} call_0{more} {literal(form.end)}"
    place = InCalls(
        tuple(_sign(form, tool, call) for tool in tools for call in range(_MOST_NUMBERED if counted else 1))
    )
    return Rules("\n".join((f"{FREE}{start}", *rules)) + "\n", name, schema=True, place=place)


def _sign(form: _Form, tool: Callable, call: int) -> Sign:
    """Return what tells that a call of a tool begins, and what its arguments begin with."""
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
    """Return how a model writes calls, as far as that can be forced."""
    opens = [way.opens for way in family.calls if way.opens in shown or way.signs]
    # What is most particular to the model stands last.
    last = opens[-1] if opens else ""
    if last in ("<tool_call>", "<function="):
        return _in_tool_call(shown, tagged="<tool_call>" in opens)
    if last == "[TOOL_CALLS]":
        return _Form("[TOOL_CALLS]", "[ARGS]") if "[ARGS]" in shown else _listed("[TOOL_CALLS]", "")
    if last == "<｜tool▁calls▁begin｜>":
        return _deepseek(fenced="```json" in shown)
    if "｜DSML｜" in last:
        tag = next((opening for opening in opens if "｜DSML｜" in opening and opening in shown), last).strip("<>")
        return _invocations("｜DSML｜", tag, ' string="true"', ' string="false"')
    return _PLAIN.get(last)


def _in_tool_call(shown: str | Collection[str], *, tagged: bool) -> _Form:
    """Return the form of the many models that have `<tool_call>` or `<function=`."""
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
    """Return DeepSeek's form up to V3.1, which left out the fence around the arguments."""
    before, after = ("\n```json\n", "\n```") if fenced else ("<｜tool▁sep｜>", "")
    return _Form(
        head="<｜tool▁call▁begin｜>" + ("function<｜tool▁sep｜>" if fenced else ""),
        middle=before, tail=f"{after}<｜tool▁call▁end｜>",
        begin="<｜tool▁calls▁begin｜>", end="<｜tool▁calls▁end｜>", between="\n" if fenced else "",
    )  # fmt: skip

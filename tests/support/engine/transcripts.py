"""Answers in the notation of each model family: a thought, some text and two tool calls, as far as it has them."""

import json

from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.parsing.answer_parser import parameters_of
from sotto.engine.parsing.families import GLIMMER, HARMONY, SOLAR, family_of

TOOLS = parameters_of(
    [
        {"type": "function", "function": {"name": "find", "parameters": {"properties": {"what": {"type": "string"}}}}},
        {"type": "function", "function": {"name": "add", "parameters": {"properties": {"a": {}, "b": {}}}}},
    ]
)
FIND, ADD = ToolCall("find", {"what": 'é "x" </tool_call>'}), ToolCall("add", {"a": 1.5, "b": [True, None]})


def family(*signs):
    return family_of(" ".join(signs))


FIND_JSON, ADD_JSON = (
    json.dumps({"name": call.name, "arguments": dict(call.arguments)}, ensure_ascii=False) for call in (FIND, ADD)
)
FIND_ARGUMENTS, ADD_ARGUMENTS = (json.dumps(dict(call.arguments), ensure_ascii=False) for call in (FIND, ADD))
BOTH = [FIND, ADD]
PLAIN_FIND = ToolCall("find", {"what": 'é "x"'})
PLAIN_BOTH = [PLAIN_FIND, ADD]

TRANSCRIPTS = {
    "hermes, qwen": (
        family("<tool_call>"),
        f"<think>\nHm.\n</think>\n\nI look.\n<tool_call>\n{FIND_JSON}\n</tool_call>\n"
        f"<tool_call>\n{ADD_JSON}\n</tool_call>",
        ("Hm.", "I look.", BOTH),
    ),
    "qwen3-coder": (
        family("<tool_call>", "<function="),
        "I look.\n\n<tool_call>\n<function=find>\n<parameter=what>\né \"x\"\n</parameter>\n</function>\n</tool_call>\n"
        "<tool_call>\n<function=add>\n<parameter=a>\n1.5\n</parameter>\n<parameter=b>\n[true, null]\n</parameter>\n"
        "</function>\n</tool_call>",
        ("", "I look.", PLAIN_BOTH),
    ),
    "qwen3-coder without its tag": (
        family("<tool_call>", "<function="),
        'I look.\n<function=find>\n<parameter=what>\né "x"\n</parameter>\n</function>\n</tool_call>',
        ("", "I look.", [PLAIN_FIND]),
    ),
    "llama 3, bare": (
        family('"parameters": dictionary of argument name', "<|python_tag|>"),
        f'{{"name": "find", "parameters": {FIND_ARGUMENTS}}}; {{"name": "add", "parameters": {ADD_ARGUMENTS}}}',
        ("", "", BOTH),
    ),
    "llama 3, tagged": (
        family("<|python_tag|>"),
        f'<|python_tag|>{{"type": "function", "name": "find", "parameters": {FIND_ARGUMENTS}}}',
        ("", "", [FIND]),
    ),
    "llama 3, its own tools": (
        family("<|python_tag|>"),
        '<|python_tag|>brave_search.call(query="é \\"x\\"")',
        ("", "", [ToolCall("brave_search", {"query": 'é "x"'})]),
    ),
    "llama 3.1, functions": (
        family("<function="),
        f"<function=find>{FIND_ARGUMENTS}</function>",
        ("", "", [FIND]),
    ),
    "mistral": (
        family("[TOOL_CALLS]"),
        f"I look.[TOOL_CALLS][{FIND_JSON}, {ADD_JSON}]",
        ("", "I look.", BOTH),
    ),
    "mistral since version 11": (
        family("[TOOL_CALLS]", "[ARGS]"),
        f"[THINK]Hm.[/THINK]I look.[TOOL_CALLS]find[CALL_ID]abc123def[ARGS]{FIND_ARGUMENTS}"
        f"[TOOL_CALLS]add[ARGS]{ADD_ARGUMENTS}",
        ("Hm.", "I look.", [ToolCall("find", FIND.arguments, "abc123def"), ADD]),
    ),
    "gemma 4": (
        family("<|tool_call>", "<|channel>thought"),
        '<|channel>thought\nHm.\n<channel|><|tool_call>call:find{what:<|"|>é "x" </tool_call><|"|>}<tool_call|>'
        "<|tool_call>call:add{a:1.5,b:[true,null]}<tool_call|>I look.",
        ("Hm.", "I look.", BOTH),
    ),
    "gemma 3": (
        family("<start_of_turn>"),
        "I look.\n```tool_code\nprint(find(what='é \"x\" </tool_call>'))\nadd(a=1.5, b=[True, None])\n```",
        ("", "I look.", BOTH),
    ),
    "functiongemma": (
        family("<start_function_call>"),
        "<start_function_call>call:find{what:<escape>é \"x\" </tool_call><escape>}<end_function_call>",
        ("", "", [FIND]),
    ),
    "deepseek v3": (
        family("<｜tool▁calls▁begin｜>"),
        "<think>\nHm.\n</think>\nI look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n"
        f"```json\n{FIND_ARGUMENTS}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n"
        f"```json\n{ADD_ARGUMENTS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ("Hm.", "I look.", BOTH),
    ),
    "deepseek v3.1": (
        family("<｜tool▁calls▁begin｜>"),
        f"I look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>{FIND_ARGUMENTS}<｜tool▁call▁end｜>"
        f"<｜tool▁call▁begin｜>add<｜tool▁sep｜>{ADD_ARGUMENTS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ("", "I look.", BOTH),
    ),
    "deepseek v3.2": (
        family("｜DSML｜"),
        'I look.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="find">\n'
        '<｜DSML｜parameter name="what" string="true">é "x" </tool_call></｜DSML｜parameter>\n</｜DSML｜invoke>\n'
        '<｜DSML｜invoke name="add">\n<｜DSML｜parameter name="a" string="false">1.5</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="b" string="false">[true, null]</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        ("", "I look.", BOTH),
    ),
    "harmony": (
        HARMONY,
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|>"
        "<|start|>assistant<|channel|>commentary to=functions.find <|constrain|>json<|message|>"
        f"{FIND_ARGUMENTS}<|call|><|start|>assistant to=functions.add<|channel|>commentary json<|message|>"
        f"{ADD_ARGUMENTS}",
        ("Hm.", "I look.", BOTH),
    ),
    "glimmer": (
        GLIMMER,
        " to=self<|message|>Hm.<|eom|><|start|>assistant to=user<|message|>I look.<|eom|><|start|>assistant to=find"
        '<|message|><atem:function_calls>\n<atem:invoke name="find">\n<atem:parameter name="what">é "x" </tool_call>'
        "</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|><|start|>assistant to=add<|message|>"
        '<atem:function_calls>\n<atem:invoke name="add">\n<atem:parameter name="a">1.5</atem:parameter>\n'
        '<atem:parameter name="b">[true, null]</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eot|>',
        ("Hm.", "I look.", BOTH),
    ),
    "solar open": (
        SOLAR,
        "<|think|>Hm.<|end|><|begin|>assistant<|content|>I look.<|end|><|begin|>assistant<|tool_calls|>"
        f"<|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>find<|tool_call:args|>{FIND_ARGUMENTS}<|tool_call:end|>"
        f"<|tool_call:begin|>f1<|tool_call:name|>add<|tool_call:args|>{ADD_ARGUMENTS}<|tool_call:end|><|calls|>",
        ("Hm.", "I look.", [ToolCall("find", FIND.arguments, "a1b2c3d4e5"), ToolCall("add", ADD.arguments, "f1")]),
    ),
    "granite 3": (
        family("<|tool_call|>"),
        f"<|tool_call|>[{FIND_JSON}, {ADD_JSON}]",
        ("", "", BOTH),
    ),
    "granite 3, thinking": (
        family("<|tool_call|>", "<response>", "</response>"),
        "<think>Hm.</think>\n<response>I look.</response>",
        ("Hm.", "I look.", []),
    ),
    "phi 4 mini": (
        family_of("", ["<|tool_call|>", "<|/tool_call|>"]),
        f"<|tool_call|>[{FIND_JSON}]<|/tool_call|>I look.",
        ("", "I look.", [FIND]),
    ),
    "phi 4": (family("functools["), f"functools[{FIND_JSON}, {ADD_JSON}]", ("", "", BOTH)),
    "glm": (
        family("<tool_call>"),
        '<think>Hm.</think>I look.<tool_call>find\n<arg_key>what</arg_key>\n<arg_value>é "x"</arg_value>\n'
        "</tool_call><tool_call>add<arg_key>a</arg_key><arg_value>1.5</arg_value><arg_key>b</arg_key>"
        "<arg_value>[true, null]</arg_value></tool_call>",
        ("Hm.", "I look.", PLAIN_BOTH),
    ),
    "kimi": (
        family("<|tool_calls_section_begin|>"),
        "I look.<|tool_calls_section_begin|><|tool_call_begin|>functions.find:0<|tool_call_argument_begin|>"
        f"{FIND_ARGUMENTS}<|tool_call_end|><|tool_call_begin|>functions.add:1<|tool_call_argument_begin|>"
        f"{ADD_ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>",
        (
            "",
            "I look.",
            [ToolCall("find", FIND.arguments, "functions.find:0"), ToolCall("add", ADD.arguments, "functions.add:1")],
        ),
    ),
    "minimax": (
        family("<minimax:tool_call>"),
        '<think>\nHm.\n</think>\n\nI look.\n<minimax:tool_call>\n<invoke name="find">\n<parameter name="what">é "x" '
        '</tool_call></parameter>\n</invoke>\n<invoke name="add">\n<parameter name="a">1.5</parameter>\n'
        '<parameter name="b">[true, null]</parameter>\n</invoke>\n</minimax:tool_call>',
        ("Hm.", "I look.", BOTH),
    ),
    "lfm 2": (
        family("<|tool_call_start|>"),
        "<|tool_call_start|>[find(what='é \"x\" </tool_call>'), add(a=1.5, b=[True, None])]<|tool_call_end|>I look.",
        ("", "I look.", BOTH),
    ),
    "command r": (
        family("<|START_THINKING|>", "<|START_ACTION|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
        '<|START_THINKING|>Hm.<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "find", '
        f'"parameters": {FIND_ARGUMENTS}}}\n]<|END_ACTION|>',
        ("Hm.", "", [ToolCall("find", FIND.arguments, "0")]),
    ),
    "apertus": (
        family("<|tools_prefix|>"),
        f'I look.<|tools_prefix|>[{{"find": {FIND_ARGUMENTS}}}, {{"add": {ADD_ARGUMENTS}}}]<|tools_suffix|>',
        ("", "I look.", BOTH),
    ),
    "kimi k3": (
        family("<|open|>"),
        "<|open|>think<|sep|>Hm.<|close|>think<|sep|><|open|>response<|sep|>I look.<|close|>response<|sep|>"
        '<|open|>tools<|sep|><|open|>call tool="find" index="1"<|sep|><|open|>argument key="what" type="string"<|sep|>'
        'é "x" </tool_call><|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool="add" index="2"<|sep|>'
        '<|open|>argument key="a" type="number"<|sep|>1.5<|close|>argument<|sep|>'
        '<|open|>json type="object"<|sep|>{"b": [true, null]}<|close|>json<|sep|>'
        "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>",
        ("Hm.", "I look.", BOTH),
    ),
    "minimax m3": (
        family("]<]minimax[>[", "<mm:think>"),
        "<mm:think>Hm.</mm:think>I look.]<]minimax[>[<tool_call>\n"
        ']<]minimax[>[<invoke name="find">]<]minimax[>[<what>é "x" </tool_call>]<]minimax[>[</what>'
        "]<]minimax[>[</invoke>\n"
        ']<]minimax[>[<invoke name="add">]<]minimax[>[<a>1.5]<]minimax[>[</a>]<]minimax[>[<b>]<]minimax[>[<item>true'
        "]<]minimax[>[</item>]<]minimax[>[<item>]<]minimax[>[<c>x]<]minimax[>[</c>]<]minimax[>[</item>]<]minimax[>[</b>"
        "]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
        ("Hm.", "I look.", [FIND, ToolCall("add", {"a": 1.5, "b": [True, {"c": "x"}]})]),
    ),
    "hy3": (
        family("<think{}>", "<tool_calls{}>"),
        "<think:opensource>Hm.</think:opensource>I look.<tool_calls:opensource>\n<tool_call:opensource>find"
        "<tool_sep:opensource>\n<arg_key:opensource>what</arg_key:opensource>\n<arg_value:opensource>"
        'é "x" </tool_call></arg_value:opensource>\n</tool_call:opensource>\n'
        "<tool_call:opensource>add<tool_sep:opensource>\n<arg_key:opensource>a</arg_key:opensource>\n"
        "<arg_value:opensource>1.5</arg_value:opensource>\n<arg_key:opensource>b</arg_key:opensource>\n"
        "<arg_value:opensource>[true, null]</arg_value:opensource>\n</tool_call:opensource>\n</tool_calls:opensource>",
        ("Hm.", "I look.", BOTH),
    ),
    "minicpm 5": (
        family('<function name="'),
        "<think>\nHm.\n</think>\n\nI look.\n"
        '<function name="find"><param name="what"><![CDATA[é "x" </tool_call>]]></param></function>\n'
        '<function name="add"><param name="a">1.5</param><param name="b">[true, null]</param></function>',
        ("Hm.", "I look.", BOTH),
    ),
    "gigachat 3.0": (
        family("'function call'"),
        f"I look.<|message_sep|>\n\nfunction call<|role_sep|>\n{FIND_JSON}<|message_sep|>\n\n",
        ("", "I look.", [FIND]),
    ),
}  # fmt: skip

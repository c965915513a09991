"""What models of each family write: a thought, some text and two calls of tools, or as many of these as they can."""

import json

from sotto.engine.parsing.families import HARMONY, family_of
from sotto.engine.parsing.parser import parameters_of
from sotto.engine.parsing.pieces import ToolCall

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
}  # fmt: skip

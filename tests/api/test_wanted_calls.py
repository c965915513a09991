"""Required tool calls, and formats after a thought, with a real model and the published clients."""

import json

import jsonschema
import openai
import pytest

MODEL, ASK = "thinking", [{"role": "user", "content": "Find it."}]
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}, "kind": {"enum": ["cat", "dog"]}},
    "required": ["n", "kind"],
    "additionalProperties": False,
}
TOOLS = [
    {"type": "function", "function": {"name": "find", "parameters": SCHEMA}},
    {"type": "function", "function": {"name": "stop", "parameters": {"type": "object", "additionalProperties": False}}},
]
FORMAT = {"type": "json_schema", "json_schema": {"name": "pet", "schema": SCHEMA}}
FIND = {"type": "function", "function": {"name": "find"}}


@pytest.mark.parametrize("seed", range(3))
def test_openai(openai_client, seed):
    fields = {"model": MODEL, "messages": ASK, "tools": TOOLS, "seed": seed, "max_tokens": 400}
    fields |= {"reasoning_effort": "none", "parallel_tool_calls": False}
    (choice,) = openai_client.chat.completions.create(**fields, tool_choice="required").choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content in (None, "")
    (call,) = choice.message.tool_calls
    assert call.function.name in ("find", "stop")
    stream = openai_client.chat.completions.create(**fields, tool_choice=FIND, stream=True)
    choices = [chunk.choices[0] for chunk in stream]
    (call,) = [call for choice in choices for call in choice.delta.tool_calls or ()]
    assert call.function.name == "find"
    jsonschema.validate(json.loads(call.function.arguments), SCHEMA)
    assert choices[-1].finish_reason == "tool_calls"


def test_responses(openai_client):
    tools = [{"type": "function", **tool["function"]} for tool in TOOLS]
    fields = {"model": MODEL, "input": "Find it.", "tools": tools, "max_output_tokens": 400, "temperature": 0}
    wanted = {"type": "function", "name": "find"}
    answer = openai_client.responses.create(
        **fields, tool_choice=wanted, parallel_tool_calls=False, reasoning={"effort": "none"}
    )
    (call,) = answer.output
    assert (call.type, call.name) == ("function_call", "find")
    jsonschema.validate(json.loads(call.arguments), SCHEMA)
    with pytest.raises(openai.BadRequestError, match=r"tools\[0\]\.parameters cannot be guaranteed: not is not"):
        openai_client.responses.create(
            **fields | {"tools": [{"type": "function", "name": "a", "parameters": {"not": {}}}]}, tool_choice="required"
        )


def test_anthropic_thinks_and_then_calls(anthropic_client):
    tools = [{"name": tool["function"]["name"], "input_schema": tool["function"]["parameters"]} for tool in TOOLS]
    fields = {"model": MODEL, "max_tokens": 400, "messages": ASK, "tools": tools}
    for wanted in ({"type": "any"}, {"type": "tool", "name": "find"}):
        answer = anthropic_client.messages.create(
            **fields,
            extra_body={"temperature": 0},
            tool_choice=wanted | {"disable_parallel_tool_use": True},
            thinking={"type": "enabled", "budget_tokens": 9},
        )
        thought, call = answer.content
        assert (thought.type, call.type, answer.stop_reason) == ("thinking", "tool_use", "tool_use")
        if call.name == "find":
            jsonschema.validate(call.input, SCHEMA)


def test_a_format_after_a_thought(anthropic_client, ollama_client, openai_client):
    answer = anthropic_client.messages.create(
        model=MODEL,
        max_tokens=400,
        messages=ASK,
        thinking={"type": "enabled", "budget_tokens": 9},
        output_config={"format": {"type": "json_schema", "schema": SCHEMA}},
    )
    thought, text = answer.content
    assert thought.type == "thinking"
    jsonschema.validate(json.loads(text.text), SCHEMA)
    message = ollama_client.chat(MODEL, ASK, format=SCHEMA, think=False, options={"num_predict": 200}).message
    assert not message.thinking
    jsonschema.validate(json.loads(message.content), SCHEMA)
    answer = openai_client.chat.completions.create(
        model=MODEL, messages=ASK, response_format=FORMAT, reasoning_effort="none", max_tokens=200
    )
    jsonschema.validate(json.loads(answer.choices[0].message.content), SCHEMA)


def test_a_required_call_and_a_format_exclude_each_other(served):
    body = {"model": MODEL, "messages": ASK, "tools": TOOLS, "tool_choice": "required", "response_format": FORMAT}
    answer = served.http.post("/v1/chat/completions", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == (
        "An answer cannot be what both response_format.json_schema.schema and tool_choice ask for: "
        "leave one of them out."
    )

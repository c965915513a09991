"""Thinking and tools in every dialect, with the published clients and a scripted model."""

import json

import anthropic
import ollama
import openai
import pytest

from called_tool import ARGUMENTS, CALL, CHUNKS, FUNCTION, PARAMETERS
from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.requests import Message, Think
from sotto.engine.contract.tool_choice import ToolChoice

TOOL = {"type": "function", "function": FUNCTION}
ASK = [{"role": "user", "content": "Find it."}]


@pytest.fixture(autouse=True)
def fresh(script):
    script.chunks = CHUNKS
    script.requests.clear()


def last_request(script):
    (request,) = script.requests
    return request


class TestOllama:
    @pytest.fixture
    def client(self, url):
        with ollama.Client(url) as client:
            yield client

    def test_a_whole_answer(self, client, script):
        message = client.chat("tiny", ASK, tools=[TOOL], think=True).message
        assert (message.thinking, message.content) == ("First this.", "I look.")
        (call,) = message.tool_calls
        assert (call.function.name, call.function.arguments) == ("find", ARGUMENTS)
        assert last_request(script).tools[0]["function"]["name"] == "find"
        assert last_request(script).think is Think.ON

    def test_a_stream(self, client):
        parts = [part.message for part in client.chat("tiny", ASK, tools=[TOOL], stream=True)]
        assert "".join(part.thinking or "" for part in parts) == "First this."
        assert "".join(part.content or "" for part in parts) == "I look."
        assert [call.function.name for part in parts for call in part.tool_calls or ()] == ["find"]

    def test_without_tools_a_call_is_text_and_nothing_is_lost(self, client):
        answer = client.generate("tiny", "Find it.", think="high")
        assert answer.thinking == "First this."
        assert answer.response == f"I look.\n<tool_call>\n{CALL}\n</tool_call>\n"

    def test_earlier_messages_reach_the_model(self, client, script):
        call = {"function": {"name": "find", "arguments": ARGUMENTS}}
        messages = [
            *ASK,
            {"role": "assistant", "content": "I look.", "thinking": "Hm.", "tool_calls": [call]},
            {"role": "tool", "content": "Here.", "tool_name": "find"},
        ]
        client.chat("tiny", messages, think=False)
        assert last_request(script).messages == (
            Message("user", "Find it."),
            Message("assistant", "I look.", "Hm.", (ToolCall("find", ARGUMENTS),)),
            Message("tool", "Here.", tool_name="find"),
        )
        assert last_request(script).think is Think.OFF

    def test_invalid_fields_are_reported(self, client):
        with pytest.raises(ollama.ResponseError, match=r"tools\[0\]\.function\.name is 'a b'"):
            client.chat("tiny", ASK, tools=[{"type": "function", "function": {"name": "a b"}}])


class TestOpenAI:
    @pytest.fixture
    def client(self, url):
        with openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
            yield client

    def test_a_whole_answer(self, client, script):
        answer = client.chat.completions.create(model="tiny", messages=ASK, tools=[TOOL], reasoning_effort="low")
        (choice,) = answer.choices
        assert choice.finish_reason == "tool_calls"
        assert (choice.message.content, choice.message.reasoning) == ("I look.", "First this.")
        (call,) = choice.message.tool_calls
        assert (call.id, call.type, call.function.name) == ("call1", "function", "find")
        assert json.loads(call.function.arguments) == ARGUMENTS
        assert last_request(script).think is Think.LOW

    def test_a_stream(self, client):
        stream = client.chat.completions.create(model="tiny", messages=ASK, tools=[TOOL], stream=True)
        choices = [chunk.choices[0] for chunk in stream]
        assert choices[0].delta.role == "assistant"
        assert "".join(choice.delta.content or "" for choice in choices) == "I look."
        assert "".join(getattr(choice.delta, "reasoning", None) or "" for choice in choices) == "First this."
        (call,) = [call for choice in choices for call in choice.delta.tool_calls or ()]
        assert (call.index, call.function.name, json.loads(call.function.arguments)) == (0, "find", ARGUMENTS)
        assert choices[-1].finish_reason == "tool_calls"

    def test_earlier_messages_reach_the_model(self, client, script):
        call = {"id": "call1", "type": "function", "function": {"name": "find", "arguments": json.dumps(ARGUMENTS)}}
        messages = [
            *ASK,
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "Here.", "tool_call_id": "call1"},
        ]
        answer = client.chat.completions.create(model="tiny", messages=messages, tools=[TOOL], tool_choice="none")
        assert last_request(script).tools == ()
        assert last_request(script).messages[1:] == (
            Message("assistant", "", tool_calls=(ToolCall("find", ARGUMENTS, "call1"),)),
            Message("tool", "Here.", tool_name="find", tool_call_id="call1"),
        )
        assert answer.choices[0].finish_reason == "stop"

    @pytest.mark.parametrize(
        ("given", "choice"),
        [
            ({}, None),
            ({"tool_choice": "auto"}, None),
            ({"parallel_tool_calls": False}, ToolChoice(single=True)),
            ({"tool_choice": "required"}, ToolChoice(required=True)),
            ({"tool_choice": "required", "parallel_tool_calls": False}, ToolChoice(required=True, single=True)),
            (
                {"tool_choice": {"type": "function", "function": {"name": "find"}}},
                ToolChoice(required=True, tool="find"),
            ),
        ],
    )
    def test_tool_choice(self, client, script, given, choice):
        client.chat.completions.create(model="tiny", messages=ASK, tools=[TOOL], **given)
        assert last_request(script).tool_choice == choice

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"tool_choice": "maybe"}, "tool_choice must be auto, none, required or an object that names a function"),
            ({"tool_choice": {"type": "allowed_tools"}}, "tool_choice.type must be function, not 'allowed_tools'."),
            ({"tool_choice": {"type": "function"}}, "tool_choice.function.name must be a function's name"),
            ({"tool_choice": "required"}, "tool_choice asks for the call of a tool, and there is none; give tools."),
            ({"parallel_tool_calls": 1}, "parallel_tool_calls must be true or false, not 1."),
            (
                {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "fly"}}},
                "tool_choice asks for fly, and tools has only find.",
            ),
            (
                {"tools": [TOOL, {"name": "a", "parameters": {"not": {}}}], "tool_choice": "required"},
                "tools[1].function.parameters cannot be guaranteed: not is not supported here.",
            ),
            ({"reasoning_effort": "huge"}, "invalid reasoning value: 'huge'"),
            ({"functions": [FUNCTION]}, "use tools"),
            (
                {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": "["}}]}]},
                "invalid tool call arguments",
            ),
        ],
    )
    def test_invalid_fields_are_reported(self, client, wrong, message):
        with pytest.raises(openai.BadRequestError) as raised:
            client.chat.completions.create(**{"model": "tiny", "messages": ASK} | wrong)
        assert message in raised.value.body["message"]


class TestAnthropic:
    TOOL = {"name": "find", "description": "Finds.", "input_schema": PARAMETERS}  # noqa: RUF012 - never changed

    @pytest.fixture
    def client(self, url):
        with anthropic.Anthropic(base_url=url, api_key="x", max_retries=0) as client:
            yield client

    def test_a_whole_answer(self, client, script):
        thinking = {"type": "enabled", "budget_tokens": 1024}
        answer = client.messages.create(
            model="tiny", max_tokens=2000, messages=ASK, tools=[self.TOOL], thinking=thinking
        )
        thought, text, call = answer.content
        assert (thought.thinking, text.text) == ("First this.", "I look.")
        assert (call.type, call.id, call.name, call.input) == ("tool_use", "call1", "find", ARGUMENTS)
        assert answer.stop_reason == "tool_use"
        assert last_request(script).tools == (TOOL,)
        assert (last_request(script).think, last_request(script).think_budget) == (Think.ON, 1024)

    def test_a_stream(self, client):
        whole = client.messages.create(model="tiny", max_tokens=9, messages=ASK, tools=[self.TOOL])
        with client.messages.stream(model="tiny", max_tokens=9, messages=ASK, tools=[self.TOOL]) as stream:
            final = stream.get_final_message()
        assert [block.to_dict() for block in final.content] == [block.to_dict() for block in whole.content]
        assert final.stop_reason == "tool_use"

    def test_earlier_messages_reach_the_model(self, client, script):
        messages = [
            *ASK,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": ""},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "call1", "name": "find", "input": ARGUMENTS},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "call1", "content": [{"type": "text", "text": "Here."}]},
                    {"type": "text", "text": "And?"},
                ],
            },
        ]
        client.messages.create(model="tiny", max_tokens=9, messages=messages, tools=[self.TOOL])
        assert last_request(script).messages[1:] == (
            Message("assistant", "I look.", "Hm.", (ToolCall("find", ARGUMENTS, "call1"),)),
            Message("tool", "Here.", tool_name="find", tool_call_id="call1"),
            Message("user", "And?"),
        )

    @pytest.mark.parametrize(
        ("given", "choice"),
        [
            ({"type": "auto"}, None),
            ({"type": "auto", "disable_parallel_tool_use": True}, ToolChoice(single=True, parameters="input_schema")),
            ({"type": "any"}, ToolChoice(required=True, parameters="input_schema")),
            (
                {"type": "tool", "name": "find", "disable_parallel_tool_use": True},
                ToolChoice(required=True, tool="find", single=True, parameters="input_schema"),
            ),
        ],
    )
    def test_tool_choice(self, client, script, given, choice):
        client.messages.create(model="tiny", max_tokens=9, messages=ASK, tools=[self.TOOL], tool_choice=given)
        assert last_request(script).tool_choice == choice

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"tool_choice": {"type": "some"}}, "tool_choice.type must be auto, any, tool or none, not 'some'."),
            ({"tool_choice": {"type": "tool"}}, "tool_choice.name must be a tool's name"),
            (
                {"tool_choice": {"type": "any"}, "tools": []},
                "tool_choice asks for the call of a tool, and there is none",
            ),
            ({"tool_choice": {"type": "tool", "name": "fly"}}, "tool_choice asks for fly, and tools has only find."),
            (
                {"tool_choice": {"type": "any"}, "tools": [{"name": "a", "input_schema": {"not": {}}}]},
                "tools[0].input_schema cannot be guaranteed: not is not supported here.",
            ),
        ],
    )
    def test_invalid_fields_are_reported(self, client, wrong, message):
        with pytest.raises(anthropic.BadRequestError) as raised:
            client.messages.create(**{"model": "tiny", "max_tokens": 9, "messages": ASK, "tools": [self.TOOL]} | wrong)
        assert message in raised.value.body["error"]["message"]

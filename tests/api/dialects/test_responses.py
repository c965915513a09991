"""OpenAI's Responses API with its own client: the built-in model, and a scripted one."""

import json

import openai
import pytest
from pydantic import BaseModel, Field

from called_tool import ARGUMENTS, CHUNKS, FUNCTION, PARAMETERS
from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.requests import Message, Overflow, Think

TOOL = {"type": "function", **FUNCTION, "strict": False}
OPEN = ("response.created", "response.in_progress")
ITEM = ("response.output_item.added", "response.content_part.added")
PART = ("response.content_part.done", "response.output_item.done")


class Person(BaseModel):
    name: str = Field(max_length=12)
    grown: bool


@pytest.fixture
def tiny(url, script):
    script.chunks, script.fail_answer = CHUNKS, ""
    script.requests.clear()
    with openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
        yield client


def last_request(script):
    (request,) = script.requests
    return request


def kinds(events):
    """Return the types of events, with repeats in a row joined."""
    return [
        event.type
        for before, event in zip([None, *events], events, strict=False)
        if not before or before.type != event.type
    ]


class TestBuiltin:
    def test_a_text_is_answered(self, openai_client):
        answer = openai_client.responses.create(model="sotto", input="Who are you?", temperature=0)
        assert "Sotto" in answer.output_text
        assert (answer.status, answer.object, answer.store) == ("completed", "response", False)
        assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens
        assert answer.usage.output_tokens > 5
        chat = openai_client.chat.completions.create(
            model="sotto", temperature=0, messages=[{"role": "user", "content": "Who are you?"}]
        )
        assert answer.output_text == chat.choices[0].message.content
        assert answer.usage.input_tokens == chat.usage.prompt_tokens

    def test_a_stream_has_the_order_that_clients_expect(self, openai_client):
        last_request = {"model": "sotto", "input": "Who are you?", "temperature": 0}
        whole = openai_client.responses.create(**last_request)
        with openai_client.responses.stream(**last_request) as stream:
            events = list(stream)
            final = stream.get_final_response()
        assert kinds(events) == [
            *OPEN, *ITEM, "response.output_text.delta", "response.output_text.done", *PART, "response.completed"
        ]  # fmt: skip
        assert [event.sequence_number for event in events] == list(range(len(events)))
        assert (
            "".join(event.delta for event in events if event.type == "response.output_text.delta") == whole.output_text
        )
        assert final.output_text == whole.output_text
        assert final.usage.output_tokens == whole.usage.output_tokens

    def test_an_answer_cut_short_is_incomplete(self, openai_client):
        last_request = {"model": "sotto", "input": "Who are you?", "temperature": 0, "max_output_tokens": 3}
        answer = openai_client.responses.create(**last_request)
        assert (answer.status, answer.incomplete_details.reason) == ("incomplete", "max_output_tokens")
        assert (answer.output[0].status, answer.usage.output_tokens) == ("incomplete", 3)
        assert list(openai_client.responses.create(**last_request, stream=True))[-1].type == "response.incomplete"

    def test_a_schema_is_followed(self, openai_client):
        answer = openai_client.responses.parse(model="sotto", input="Who are you?", text_format=Person, temperature=0)
        assert isinstance(answer.output_parsed, Person)
        assert answer.text.format.name == "Person"
        as_json = {"format": {"type": "json_object"}}
        text = openai_client.responses.create(
            model="sotto", input="Hi", text=as_json, max_output_tokens=200
        ).output_text
        assert text.startswith("{")

    def test_logprobs(self, openai_client):
        last_request = {"model": "sotto", "input": "Who are you?", "temperature": 0, "max_output_tokens": 6}
        (part,) = openai_client.responses.create(**last_request, top_logprobs=2).output[0].content
        assert "".join(row.token for row in part.logprobs) == part.text
        assert all(len(row.top_logprobs) == 2 and row.logprob <= 0 for row in part.logprobs)
        events = openai_client.responses.create(**last_request, include=["message.output_text.logprobs"], stream=True)
        rows = [row for event in events if event.type == "response.output_text.delta" for row in event.logprobs]
        assert [row.logprob for row in rows] == [row.logprob for row in part.logprobs]
        assert openai_client.responses.create(**last_request).output[0].content[0].logprobs == []

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"input": []}, "input is empty; send a string, or a list of items"),
            ({"input": 1}, "input must be a string or a list of items, not 1"),
            (
                {"input": [{"type": "wish"}]},
                "input[0].type must be message, reasoning, function_call, custom_tool_call,",
            ),
            (
                {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
                "input[0].content[0].image_url must be",
            ),
            ({"input": [{"role": "user", "content": [{"type": "x"}]}]}, "input[0].content[0].type must be input_text"),
            ({"input": [{"type": "function_call", "name": "a", "arguments": "["}]}, "invalid tool call arguments"),
            (
                {"previous_response_id": "resp_1"},
                "leave previous_response_id out, and send the whole conversation as input",
            ),
            ({"background": True}, "background must be false"),
            ({"tools": [{"name": "find"}]}, "tools[0].type must be a tool's type, such as function, not null."),
            (
                {"tools": [{"type": "web_search"}, {"type": "function", "name": "a b"}]},
                "tools[1].function.name is 'a b'; it should be a name",
            ),
            (
                {"tools": [{"type": "web_search"}], "tool_choice": "required"},
                "tool_choice asks for the call of a tool, and there is none",
            ),
            ({"input": [{"type": "web_search_call", "id": "ws_1"}]}, "input is empty"),
            ({"input": [{"type": "custom_tool_call", "input": "a"}]}, "input[0].name must be a tool's name, not null"),
            ({"tools": [TOOL]}, "sotto does not support tools"),
            ({"max_output_tokens": 0}, "max_output_tokens must be a whole number from 1 to"),
            ({"text": {"format": {"type": "json_schema", "name": "a", "schema": {"not": {}}}}}, "text.format.schema"),
            ({"truncation": "some"}, "truncation must be auto or disabled"),
        ],
    )
    def test_unsupported_fields_are_reported(self, openai_client, wrong, message):
        with pytest.raises(openai.BadRequestError) as raised:
            openai_client.responses.create(**{"model": "sotto", "input": "Hi"} | wrong)
        assert message in raised.value.body["message"]

    def test_responses_are_not_stored(self, openai_client):
        answer = openai_client.responses.create(model="sotto", input="Hi", store=True, max_output_tokens=1)
        assert answer.store is False
        with pytest.raises(openai.NotFoundError, match="does not store responses"):
            openai_client.responses.retrieve(answer.id)
        with pytest.raises(openai.NotFoundError, match="model 'nope' not found"):
            openai_client.responses.create(model="nope", input="Hi")


class TestItems:
    def test_thoughts_texts_and_calls_are_items(self, tiny, script):
        answer = tiny.responses.create(
            model="tiny", input="Find it.", tools=[TOOL], reasoning={"effort": "low"}, instructions="Be brief."
        )
        thought, message, call = answer.output
        assert (thought.type, thought.content[0].text, thought.summary) == ("reasoning", "First this.", [])
        assert (message.type, answer.output_text) == ("message", "I look.")
        assert (call.type, call.name, call.call_id) == ("function_call", "find", "call1")
        assert json.loads(call.arguments) == ARGUMENTS
        assert answer.usage.output_tokens_details.reasoning_tokens == 1
        request = last_request(script)
        assert request.messages == (Message("system", "Be brief."), Message("user", "Find it."))
        assert request.think is Think.LOW
        (tool,) = request.tools
        assert tool["function"] == {"name": "find", "description": "Finds.", "parameters": PARAMETERS}

    def test_a_stream_of_items(self, tiny):
        last_request = {"model": "tiny", "input": "Find it.", "tools": [TOOL]}
        whole = tiny.responses.create(**last_request)
        with tiny.responses.stream(**last_request) as stream:
            events = list(stream)
            final = stream.get_final_response()
        arguments = "response.function_call_arguments"
        assert kinds(events) == [
            *OPEN,
            *ITEM, "response.reasoning_text.delta", "response.reasoning_text.done", *PART,
            *ITEM, "response.output_text.delta", "response.output_text.done", *PART,
            ITEM[0], f"{arguments}.delta", f"{arguments}.done", PART[1],
            "response.completed",
        ]  # fmt: skip
        texts = [final.output[0].content[0].text, final.output_text, final.output[2].arguments]
        assert texts == [whole.output[0].content[0].text, whole.output_text, whole.output[2].arguments]
        done = [(event.item.id, event.item.status) for event in events if event.type == "response.output_item.done"]
        assert done == [(item.id, item.status) for item in events[-1].response.output]

    def test_output_items_can_be_sent_back(self, tiny, script):
        items = [{"role": "user", "content": "Find it."}]
        answer = tiny.responses.create(model="tiny", input=items, tools=[TOOL])
        script.requests.clear()
        items += [item.to_dict() for item in answer.output]
        items.append({"type": "function_call_output", "call_id": "call1", "output": "Here."})
        items.append({"role": "user", "content": [{"type": "input_text", "text": "And?"}]})
        tiny.responses.create(model="tiny", input=items, tools=[TOOL], truncation="auto", tool_choice="none")
        request = last_request(script)
        assert request.messages == (
            Message("user", "Find it."),
            Message("assistant", "I look.", "First this.", (ToolCall("find", ARGUMENTS, "call1"),)),
            Message("tool", "Here.", tool_name="find", tool_call_id="call1"),
            Message("user", "And?"),
        )
        assert (request.overflow, request.tools) == (Overflow.TRUNCATE, ())

    def test_separate_turns_stay_separate(self, tiny, script):
        call = {"type": "function_call", "call_id": "c", "name": "find", "arguments": "{}"}
        thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
        items = [{"role": "assistant", "content": "A"}, {"role": "assistant", "content": "B"}, call, call, thought]
        tiny.responses.create(model="tiny", input=[*items, {"type": "reasoning", "summary": []}])
        assert last_request(script).messages == (
            Message("assistant", "A"),
            Message("assistant", "B", "", (ToolCall("find", {}, "c"), ToolCall("find", {}, "c"))),
            Message("assistant", "", "Hm."),
        )

    def test_calls_of_other_tools_reach_the_model(self, tiny, script):
        image = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
        items = [
            {"role": "user", "content": "Find it."},
            {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"},
            {"type": "web_search_call", "id": "ws_1", "status": "completed"},
            {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin Patch"},
            {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "Done."}]},
            {"type": "local_shell_call", "call_id": "d", "action": {"type": "exec", "command": ["ls"]}},
            {"type": "local_shell_call_output", "call_id": "d", "output": [image, {"type": "input_text", "text": "x"}]},
        ]
        answer = tiny.responses.create(model="tiny", input=items, tools=[{"type": "local_shell"}, TOOL])
        assert last_request(script).messages == (
            Message("user", "Find it."),
            Message("assistant", "", tool_calls=(ToolCall("apply_patch", {"input": "*** Begin Patch"}, "c"),)),
            Message("tool", "Done.", tool_name="apply_patch", tool_call_id="c"),
            Message(
                "assistant",
                "",
                tool_calls=(ToolCall("local_shell", {"type": "exec", "command": ["ls"]}, "d"),),
            ),
            Message(
                "tool",
                "[This is not text, and you cannot see it.]x",
                tool_name="local_shell",
                tool_call_id="d",
            ),
        )
        assert [tool["function"]["name"] for tool in last_request(script).tools] == ["find"]
        assert answer.warnings == [
            "tools[0] was ignored: its type is 'local_shell', and only functions are supported.",
            "input[2] was ignored: its type is 'web_search_call', and only OpenAI's servers can read it.",
            '"tiny" does not support image input, so images in results of tools were left out, which it is told.',
        ]

    def test_a_stream_that_fails_ends_with_an_error(self, tiny, script):
        script.fail_answer = "The model had enough."
        with pytest.raises(openai.BadRequestError, match="had enough"):
            tiny.responses.create(model="tiny", input="Hi")
        *_, last = tiny.responses.create(model="tiny", input="Hi", stream=True)
        assert (last.type, last.response.status) == ("response.failed", "failed")
        assert last.response.error.message == "The model had enough."

    def test_an_empty_answer_is_still_a_message(self, tiny, script):
        script.chunks = []
        answer = tiny.responses.create(model="tiny", input="Hi")
        assert [item.type for item in answer.output] == ["message"]
        assert answer.output_text == ""

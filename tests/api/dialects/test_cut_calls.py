"""Answers that are cut short within a tool call: every dialect reports the call, and never as text."""

import json

import anthropic
import httpx
import ollama
import openai
import pytest

from called_tool import CHUNKS, FUNCTION, PARAMETERS
from sotto.api.server import Address, ApiServer
from sotto.runner.loop_host import LoopHost
from sotto.store.opening import record_of
from thinking_models import HARMONY, HERMES, MISTRAL, QWEN_CODER, write_family
from thoroughness import share

TOOL = {"type": "function", "function": FUNCTION}
ANTHROPIC = {"name": "find", "description": "Finds.", "input_schema": PARAMETERS}
ASK = [{"role": "user", "content": "Find it."}]
SENTENCE = "The call of find was cut off where the answer ended, and is not complete."
BEGUN = '{"what": "it i'


@pytest.fixture(autouse=True)
def cut(script):
    """Cut the model's answer short in its first call."""
    script.chunks = [*CHUNKS[:-2], '{"name": "find", "arg', f'uments": {BEGUN}']
    script.cut_short = True
    yield
    script.chunks, script.cut_short = CHUNKS, False


class TestOllama:
    @pytest.fixture
    def post(self, url):
        def ask(**fields):
            body = {"model": "tiny", "messages": ASK, "tools": [TOOL]} | fields
            return httpx.post(f"{url}/api/chat", json=body).raise_for_status()

        return ask

    def test_a_whole_answer(self, post):
        row = post(stream=False).json()
        assert row["message"] == {"role": "assistant", "content": "I look.", "thinking": "First this."}
        assert (row["done_reason"], row["warnings"]) == ("length", [SENTENCE])

    def test_a_stream(self, post):
        rows = [json.loads(row) for row in post().text.splitlines()]
        assert "".join(row["message"]["content"] for row in rows) == "I look."
        assert not any("tool_calls" in row["message"] for row in rows)
        assert (rows[-1]["done_reason"], rows[-1]["warnings"]) == ("length", [SENTENCE])
        assert not any("warnings" in row for row in rows[:-1])

    def test_a_complete_call_before_it_is_sent(self, post, script):
        script.chunks = [*CHUNKS, "\n<tool_call>\n{", '"na']
        row = post(stream=False).json()
        assert [call["function"]["name"] for call in row["message"]["tool_calls"]] == ["find"]
        assert row["message"]["content"] == "I look."
        assert row["warnings"] == ["A call of a tool was cut off where the answer ended, and is not complete."]

    def test_without_tools_it_is_text(self, post):
        row = post(stream=False, tools=[]).json()
        assert row["message"]["content"].endswith(BEGUN)
        assert "warnings" not in row

    def test_an_incomplete_call_that_ends_by_itself_is_text(self, post, script):
        script.cut_short = False
        row = post(stream=False).json()
        assert row["message"]["content"].endswith(BEGUN)
        assert row["done_reason"] == "stop"

    def test_with_its_client(self, url):
        with ollama.Client(url) as client:
            answer = client.chat("tiny", ASK, tools=[TOOL])
        assert (answer.message.content, answer.message.tool_calls, answer.done_reason) == ("I look.", None, "length")


class TestOpenAI:
    @pytest.fixture
    def client(self, url):
        with openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
            yield client

    def test_a_whole_answer(self, client):
        answer = client.chat.completions.create(model="tiny", messages=ASK, tools=[TOOL])
        (choice,) = answer.choices
        assert (choice.finish_reason, choice.message.content) == ("length", "I look.")
        (call,) = choice.message.tool_calls
        assert (call.function.name, call.function.arguments) == ("find", BEGUN)
        assert answer.warnings == [SENTENCE]

    def test_a_stream(self, client):
        chunks = list(client.chat.completions.create(model="tiny", messages=ASK, tools=[TOOL], stream=True))
        choices = [chunk.choices[0] for chunk in chunks]
        assert "".join(choice.delta.content or "" for choice in choices) == "I look."
        (call,) = [call for choice in choices for call in choice.delta.tool_calls or ()]
        assert (call.index, call.function.name, call.function.arguments) == (0, "find", BEGUN)
        assert (choices[-1].finish_reason, chunks[-1].warnings) == ("length", [SENTENCE])

    def test_its_index_follows_the_complete_call(self, client, script):
        script.chunks = [*CHUNKS, '\n<tool_call>\n{"name": "find", "arguments": {"wh']
        stream = client.chat.completions.create(model="tiny", messages=ASK, tools=[TOOL], stream=True)
        calls = [call for chunk in stream for call in chunk.choices[0].delta.tool_calls or ()]
        assert [(call.index, call.function.arguments[:5]) for call in calls] == [(0, '{"wha'), (1, '{"wh')]

    def test_responses(self, client):
        tool = {"type": "function", **FUNCTION}
        answer = client.responses.create(model="tiny", input="Find it.", tools=[tool])
        assert (answer.status, answer.incomplete_details.reason) == ("incomplete", "max_output_tokens")
        assert [item.type for item in answer.output] == ["reasoning", "message", "function_call"]
        assert answer.output_text == "I look."
        call = answer.output[-1]
        assert (call.name, call.arguments, call.status) == ("find", BEGUN, "incomplete")
        assert answer.warnings == [SENTENCE]

    def test_a_stream_of_responses(self, client):
        tool = {"type": "function", **FUNCTION}
        events = list(client.responses.create(model="tiny", input="Find it.", tools=[tool], stream=True))
        assert events[-1].type == "response.incomplete"
        assert events[-1].response.warnings == [SENTENCE]
        assert [event.delta for event in events if event.type == "response.function_call_arguments.delta"] == [BEGUN]
        done = [event.item.status for event in events if event.type == "response.output_item.done"]
        assert done == ["completed", "completed", "incomplete"]


class TestAnthropic:
    @pytest.fixture
    def client(self, url):
        with anthropic.Anthropic(base_url=url, api_key="x", max_retries=0) as client:
            yield client

    def test_a_whole_answer(self, client):
        answer = client.messages.create(model="tiny", max_tokens=99, messages=ASK, tools=[ANTHROPIC])
        assert [block.type for block in answer.content] == ["thinking", "text"]
        assert (answer.content[-1].text, answer.stop_reason) == ("I look.", "max_tokens")
        assert answer.warnings == [SENTENCE]

    def test_a_stream(self, client):
        with client.messages.stream(model="tiny", max_tokens=99, messages=ASK, tools=[ANTHROPIC]) as stream:
            events = list(stream)
        message = stream.get_final_message()
        assert [block.type for block in message.content] == ["thinking", "text"]
        assert message.stop_reason == "max_tokens"
        (delta,) = [event for event in events if event.type == "message_delta"]
        assert delta.warnings == [SENTENCE]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "seed"), [(HERMES, 1), (MISTRAL, 1), (HARMONY, 1), (QWEN_CODER, 3)])
def test_a_real_engine_is_cut_short_in_a_call(own_home, tmp_path, name, seed):
    """Require a call, and let the model generate more of it each time."""
    record = record_of(write_family(tmp_path / "model", name))
    host = LoopHost(models=lambda: (record,))
    server = ApiServer(host, Address("127.0.0.1", 0))
    server.start()
    found = set()
    try:
        for most in range(1, 90, 90 // share(11, 5)):
            answer = httpx.post(
                f"{server.url}/v1/chat/completions",
                json={
                    "model": record.name,
                    "messages": ASK,
                    "tools": [TOOL],
                    "tool_choice": "required",
                    "parallel_tool_calls": False,
                    "temperature": 1,
                    "seed": seed,
                    "max_tokens": most,
                },
                timeout=60,
            ).json()
            (choice,) = answer["choices"]
            # If the mark is not a single token, its first letters could begin any text.
            assert choice["message"]["content"] in ("", "<", "<t", "<to")
            calls = choice["message"].get("tool_calls", [])
            if choice["finish_reason"] == "length" and calls:
                try:
                    json.loads(calls[-1]["function"]["arguments"], strict=False)
                except ValueError:
                    assert answer["warnings"] == [SENTENCE]
                else:
                    # Only the closing tag was cut off.
                    assert "warnings" not in answer
                    continue
            found.add((choice["finish_reason"], len(calls)))
    finally:
        assert server.stop()
        assert host.close()
    assert ("length", 1) in found

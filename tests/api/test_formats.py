"""Structured output with the published clients, in every dialect."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import anthropic
import psutil
import pytest
from pydantic import BaseModel, ConfigDict, Field

QUESTION = [{"role": "user", "content": "Who are you?"}]


class Pet(BaseModel):
    """A schema as people define it."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=20)
    kind: Literal["cat", "dog"]
    age: int = Field(ge=0, le=30)


class TestOllama:
    def test_chat_with_a_schema(self, ollama_client):
        answer = ollama_client.chat("sotto", QUESTION, format=Pet.model_json_schema())
        assert answer.done_reason == "stop"
        Pet.model_validate_json(answer.message.content)

    def test_generate_with_a_schema_streamed(self, ollama_client):
        fields = {"prompt": "Who are you?", "format": Pet.model_json_schema(), "options": {"temperature": 1, "seed": 3}}
        pieces = list(ollama_client.generate("sotto", **fields, stream=True))
        whole = "".join(piece.response for piece in pieces)
        Pet.model_validate_json(whole)
        assert ollama_client.generate("sotto", **fields).response == whole
        Pet.model_validate_json(ollama_client.generate("sotto", **fields, raw=True).response)

    def test_some_object(self, ollama_client):
        answer = ollama_client.chat("sotto", QUESTION, format="json", options={"num_predict": 300, "temperature": 0})
        assert answer.message.content.startswith("{")
        if answer.done_reason == "stop":
            assert isinstance(json.loads(answer.message.content), dict)


class TestOpenAI:
    def test_parsed_by_the_client(self, openai_client):
        answer = openai_client.chat.completions.parse(model="sotto", messages=QUESTION, response_format=Pet, n=2)
        assert all(isinstance(choice.message.parsed, Pet) for choice in answer.choices)

    def test_streamed(self, openai_client):
        with openai_client.chat.completions.stream(model="sotto", messages=QUESTION, response_format=Pet) as stream:
            assert isinstance(stream.get_final_completion().choices[0].message.parsed, Pet)

    def test_some_object(self, openai_client):
        answer = openai_client.chat.completions.create(
            model="sotto", messages=QUESTION, response_format={"type": "json_object"}, max_tokens=300, temperature=0
        )
        assert answer.choices[0].message.content.startswith("{")

    def test_completion_of_a_text(self, openai_client):
        wanted = {"type": "json_schema", "json_schema": {"name": "pet", "schema": Pet.model_json_schema()}}
        answer = openai_client.completions.create(
            model="sotto", prompt="A pet:", max_tokens=300, extra_body={"response_format": wanted}
        )
        assert answer.choices[0].finish_reason == "stop"
        Pet.model_validate_json(answer.choices[0].text)


class TestAnthropic:
    def test_with_a_schema(self, anthropic_client):
        wanted = {"format": {"type": "json_schema", "schema": Pet.model_json_schema()}}
        answer = anthropic_client.messages.create(
            model="sotto", max_tokens=200, messages=QUESTION, output_config=wanted
        )
        Pet.model_validate_json(answer.content[0].text)
        assert answer.stop_reason == "end_turn"

    def test_unsupported_formats_are_reported(self, anthropic_client):
        for wanted, message in (
            ({"type": "json_schema", "schema": {"not": {}}}, "output_config.format.schema cannot be guaranteed: not"),
            ({"type": "yaml"}, "output_config.format.type must be json_schema, not 'yaml'."),
        ):
            with pytest.raises(anthropic.BadRequestError) as raised:
                anthropic_client.messages.create(
                    model="sotto", max_tokens=20, messages=QUESTION, output_config={"format": wanted}
                )
            assert raised.value.body["error"]["message"].startswith(message)


@pytest.mark.parametrize(
    ("path", "right", "body"),
    [
        ("/api/chat", "format", {}),
        ("/api/generate", "format", {"prompt": "Hello"}),
        ("/v1/chat/completions", "response_format", {}),
        ("/v1/completions", "response_format", {"prompt": "Hello"}),
        ("/v1/responses", "text.format", {"input": "Hello"}),
        ("/v1/messages", "output_config.format", {"max_tokens": 9}),
    ],
)
def test_format_fields_of_other_dialects_are_refused(served, path, right, body):
    named = {"format", "response_format", "output_format", "guided_json", "guided_regex", "grammar"} - {right}
    for name in named:
        answer = served.http.post(path, json={"model": "sotto", "messages": QUESTION, **body, name: {"type": "object"}})
        error = answer.json()["error"]
        message = error if isinstance(error, str) else error["message"]
        assert (answer.status_code, message) == (
            400,
            f"{name} is not supported here; use {right} instead.",
        )


@pytest.mark.parametrize(
    ("path", "name", "around"),
    [
        ("/api/chat", "format", lambda schema: {"format": schema}),
        (
            "/v1/chat/completions",
            "response_format.json_schema.schema",
            lambda schema: {"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}},
        ),
        (
            "/v1/chat/completions",
            "tools[1].function.parameters",
            lambda schema: {
                "tool_choice": "required",
                "tools": [
                    {"name": "a", "description": "a, [b"},
                    {"type": "function", "function": {"name": "b", "parameters": schema}},
                ],
            },
        ),
        (
            "/v1/responses",
            "text.format.schema",
            lambda schema: {"input": "Hello", "text": {"format": {"type": "json_schema", "schema": schema}}},
        ),
        (
            "/v1/messages",
            "output_config.format.schema",
            lambda schema: {
                "max_tokens": 9,
                "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": schema}},
            },
        ),
    ],
)
class TestLimits:
    def post(self, served, path, around, schema):
        text = json.dumps({"model": "sotto", "messages": QUESTION} | around("here")).replace('"here"', schema)
        started = time.perf_counter()
        answer = served.http.post(path, content=text.encode())
        assert time.perf_counter() - started < 5
        assert answer.status_code == 400
        error = answer.json()["error"]
        return error if isinstance(error, str) else error["message"]

    def test_a_schema_of_ten_megabytes(self, served, path, name, around):
        message = self.post(served, path, around, '{"enum":["' + "a" * (10 << 20) + '"]}')
        assert message.startswith(name)
        assert message.endswith("(10.5 MB); from 1 to 1048576 (1.05 MB) are allowed.")

    def test_a_schema_of_a_thousand_levels(self, served, path, name, around):
        message = self.post(served, path, around, '{"items":' * 999 + "{}" + "}" * 999)
        assert message == f"{name} is nested too deeply: at most 100 levels are allowed."

    def test_a_schema_of_a_level_too_many(self, served, path, name, around):
        message = self.post(served, path, around, '{"items":' * 100 + "{}" + "}" * 100)
        assert message.startswith(name)
        assert message.endswith(" is nested 101 levels deep; from 1 to 100 are allowed.")

    def test_brackets_in_strings_do_not_count_as_nesting(self, served, path, name, around):
        message = self.post(served, path, around, json.dumps({"not": {}, "title": '[{"\\' * 1000}))
        assert "cannot be guaranteed: not is not supported here." in message


def test_a_schema_bomb_does_not_block_other_requests(served):
    """Check that a schema bomb is refused: compiling it used to continue after a disconnect, with growing memory."""
    bomb = {"allOf": [{"type": "string", "pattern": f"a{{0,{1000 + index}}}b"} for index in range(201)]}
    ask = {"model": "sotto", "messages": QUESTION, "stream": False, "options": {"num_predict": 5}}
    with ThreadPoolExecutor(1) as pool:
        refused = pool.submit(served.http.post, "/api/chat", json=ask | {"format": bomb})
        assert served.http.post("/api/chat", json=ask).status_code == 200
        assert refused.result().status_code == 400
    assert "takes too long; use fewer patterns" in refused.result().json()["error"]
    # The refusal is cached, so no process is started.
    before = psutil.Process().children()
    assert served.http.post("/api/chat", json=ask | {"format": bomb}).status_code == 400
    assert psutil.Process().children() == before

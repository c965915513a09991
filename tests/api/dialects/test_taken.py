"""Warnings about ignored or shortened parts of a request, in every dialect, with and without streaming."""

import json

import numpy as np
import openai
import pytest

from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.store.opening import open_model

GREEDY = {"temperature": 0, "num_predict": 2}
ASK = [{"role": "user", "content": "Who are you?"}]
SYSTEM = "Be brief and kind."
# Each of these turns has a few tokens; the context of `thinking` has 1024.
LONG = [
    message
    for number in range(60)
    for message in (
        {"role": "user", "content": f"{number}: what is this?"},
        {"role": "assistant", "content": f"It is {number}."},
    )
] + [{"role": "user", "content": "And what did I ask last?"}]
TOOL = {"name": "find", "description": "Finds.", "parameters": {"type": "object", "properties": {}}}


def events(answer):
    """Return the objects of a stream."""
    rows = (row.removeprefix("data: ") for row in answer.text.splitlines() if row.startswith(("data: ", "{")))
    return [json.loads(row) for row in rows if row.startswith("{")]


def ollama(served, stream, **fields):
    body = {"model": "thinking", "messages": ASK, "options": GREEDY, "stream": stream} | fields
    return served.http.post("/api/chat", json=body)


def chat(served, stream, **fields):
    body = {"model": "thinking", "messages": ASK, "temperature": 0, "max_tokens": 2, "stream": stream} | fields
    usage = {"stream_options": {"include_usage": True}} if stream else {}
    return served.http.post("/v1/chat/completions", json=usage | body)


def responses(served, stream, messages=ASK, **fields):
    body = {"model": "thinking", "input": messages, "temperature": 0, "max_output_tokens": 2, "stream": stream}
    return served.http.post("/v1/responses", json=body | fields)


def anthropic(served, stream, messages=ASK, **fields):
    system = "".join(message["content"] for message in messages if message["role"] == "system")
    others = [message for message in messages if message["role"] != "system"]
    body = {"model": "thinking", "messages": others, "system": system, "temperature": 0, "max_tokens": 2}
    return served.http.post("/v1/messages", json=body | {"stream": stream} | fields)


def last_of(answer, stream):
    """Return the object that holds the warnings."""
    assert answer.status_code == 200, answer.text
    if not stream:
        return answer.json()
    objects = events(answer)
    noted = [row for row in objects if "warnings" in row or "truncated_messages" in row]
    last = next(row for row in reversed(objects) if row.get("type") != "message_stop")
    last = last.get("response", last) if "type" in last else last
    # Warnings come once, at the end.
    assert noted in ([], [last])
    return last


DIALECTS = pytest.mark.parametrize("ask", [ollama, chat, responses, anthropic])
STREAMS = pytest.mark.parametrize("stream", [False, True])


def read(row):
    """Return the tokens of a prompt as each dialect counts them."""
    if "prompt_eval_count" in row:
        return row["prompt_eval_count"]
    usage = row["usage"]
    if "prompt_tokens" in usage:
        return usage["prompt_tokens"]
    return usage["input_tokens"] + usage.get("cache_read_input_tokens", 0)


class TestOptions:
    @STREAMS
    def test_an_unknown_option_is_named(self, served, stream):
        options = GREEDY | {"temprature": 0.5, "bananas": 3, "num_gpu": 1}
        row = last_of(ollama(served, stream, options=options), stream)
        assert row["warnings"] == [
            "options: temprature is not known; did you mean temperature?",
            "options: bananas is not known and was ignored.",
        ]
        assert row["done_reason"] == "length"

    def test_an_unknown_option_does_not_change_the_answer(self, served):
        options = GREEDY | {"num_predict": 8}
        plain, odd = (ollama(served, False, options=options | more).json() for more in ({}, {"warp": 9}))
        assert "warnings" not in plain
        assert odd["message"] == plain["message"]

    @pytest.mark.parametrize("path", ["/api/generate", "/api/chat"])
    def test_loading_a_model_reports_unknown_options(self, served, path):
        row = served.http.post(path, json={"model": "thinking", "options": {"top_kk": 3}}).json()
        assert row["done_reason"] == "load"
        assert row["warnings"] == ["options: top_kk is not known; did you mean top_k?"]

    @pytest.mark.parametrize(("path", "field"), [("/api/embed", "input"), ("/api/embeddings", "prompt")])
    def test_embedding_reports_unknown_options(self, served, path, field):
        row = served.http.post(path, json={"model": "all-minilm", field: "a", "options": {"warp": 3}}).json()
        assert row["warnings"] == ["options: warp is not known and was ignored."]

    def test_not_all_of_many_unknown_options_are_named(self, served):
        row = ollama(served, False, options=GREEDY | {f"option {number}": 1 for number in range(100)}).json()
        assert len(row["warnings"]) == 9
        assert row["warnings"][-1] == "options: 92 more are not known and were ignored."

    def test_a_wrong_value_of_a_known_option_is_refused(self, served):
        assert ollama(served, False, options={"temperature": "hot"}).status_code == 400

    @STREAMS
    @pytest.mark.parametrize("ask", [chat, responses, anthropic])
    def test_a_misspelt_field_is_named(self, served, ask, stream):
        row = last_of(ask(served, stream, temprature=0.5, user="me", metadata={}), stream)
        assert row["warnings"] == ["temprature is not known; did you mean temperature?"]

    @pytest.mark.parametrize("counted", [False, True])
    def test_a_warning_appears_once_in_every_kind_of_stream(self, served, counted):
        row = last_of(chat(served, True, temprature=0.5, n=2, stream_options={"include_usage": counted}), True)
        assert len(row["choices"]) == (not counted)
        assert len(row["warnings"]) == 1


class TestUnsupportedThinking:
    """Requests for thinking to `sotto`, which does not support it."""

    @STREAMS
    @pytest.mark.parametrize(
        ("ask", "fields"),
        [
            (ollama, {"think": True}),
            (ollama, {"think": "high"}),
            (chat, {"reasoning_effort": "high"}),
            (chat, {"reasoning": {"effort": "low"}}),
            (responses, {"reasoning": {"effort": "high"}}),
            (anthropic, {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        ],
    )
    def test_unsupported_thinking_is_accepted_with_a_warning(self, served, ask, fields, stream):
        row = last_of(ask(served, stream, model="sotto", **fields), stream)
        assert row["warnings"] == ['"sotto" does not support thinking, so think was ignored.']

    def test_unsupported_thinking_for_a_prompt_gives_a_warning(self, served):
        body = {"model": "sotto", "prompt": "Hi", "think": True, "stream": False, "options": GREEDY}
        assert len(served.http.post("/api/generate", json=body).json()["warnings"]) == 1

    @pytest.mark.parametrize(
        ("ask", "fields"),
        [(ollama, {"think": False}), (chat, {"reasoning_effort": "none"}), (anthropic, {})],
    )
    def test_without_thinking_there_is_no_warning(self, served, ask, fields):
        assert "warnings" not in ask(served, False, model="sotto", **fields).json()

    def test_an_unknown_level_is_refused(self, served):
        assert ollama(served, False, model="sotto", think="purple").status_code == 400


class TestLongConversations:
    @DIALECTS
    @STREAMS
    def test_the_oldest_turns_are_dropped_and_counted(self, served, ask, stream):
        messages = [{"role": "system", "content": SYSTEM}, *LONG]
        row = last_of(ask(served, stream, messages=messages), stream)
        left = row["truncated_messages"]
        assert 0 < left < len(LONG)
        # Only whole turns are dropped, so the rest begins with a user's message.
        assert left % 2 == 0
        assert "warnings" not in row
        kept = last_of(ask(served, stream, messages=[messages[0], *messages[1 + left :]]), stream)
        assert "truncated_messages" not in kept
        assert read(kept) == read(row)

    @DIALECTS
    def test_dropping_turns_can_be_refused(self, served, ask):
        no = {"truncation": "disabled"} if ask is responses else {"truncate": False}
        answer = ask(served, False, messages=LONG, **no)
        assert answer.status_code == 400
        assert "exceeds the model's maximum context length (1024 tokens)" in answer.text

    def test_system_messages_in_between_stay(self, served):
        instruction = {"role": "system", "content": "From now on, be loud."}
        left = ollama(served, False, messages=[*LONG[:2], instruction, *LONG[2:]]).json()["truncated_messages"]
        kept = ollama(served, False, messages=[instruction, *LONG[left:]]).json()
        assert "truncated_messages" not in kept
        assert (
            kept["prompt_eval_count"]
            == ollama(served, False, messages=[*LONG[:2], instruction, *LONG[2:]]).json()["prompt_eval_count"]
        )

    def test_a_message_that_is_too_long_by_itself_loses_its_middle(self, served):
        row = ollama(served, False, messages=[{"role": "user", "content": "word " * 3000}]).json()
        assert "truncated_messages" not in row
        assert row["warnings"] == ["The middle of 1 message was left out because the context is full."]
        assert row["prompt_eval_count"] < 1024

    def test_tool_results_are_dropped_with_their_calls(self, served):
        """Check that calls and results are dropped together: without its call, a tool's result would have no name."""
        call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}
        turn = [
            {"role": "user", "content": "Find it."},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "It is there, and there, and also over there."},
            {"role": "assistant", "content": "Found."},
        ]
        tools = [{"type": "function", "function": TOOL}]
        row = chat(served, False, messages=[*turn * 30, *ASK], tools=tools).json()
        assert row["truncated_messages"] > 0
        assert row["truncated_messages"] % len(turn) == 0

    def test_an_agents_oldest_calls_are_dropped_and_its_question_stays(self, served):
        """Check a conversation that has one question, followed by many tool calls."""
        call = {"type": "function", "function": {"name": "find", "arguments": "{}"}}
        rounds = [
            message
            for number in range(60)
            for message in (
                {"role": "assistant", "content": "", "tool_calls": [call | {"id": str(number)}]},
                {"role": "tool", "tool_call_id": str(number), "content": f"{number} is there, and over there as well."},
            )
        ]
        tools = [{"type": "function", "function": TOOL}]
        row = chat(served, False, messages=ASK + rounds, tools=tools).json()
        left = row["truncated_messages"]
        assert left > 0
        assert left % 2 == 0
        assert "warnings" not in row
        kept = chat(served, False, messages=ASK + rounds[left:], tools=tools).json()
        assert read(kept) == read(row)

    def test_a_single_text_is_shortened_only_on_request_or_as_in_ollama(self, served):
        body = {"prompt": "word " * 3000, "stream": False, "options": GREEDY}
        refused = served.http.post("/api/generate", json={"model": "thinking", **body})
        assert refused.status_code == 400
        taken = served.http.post("/api/generate", json={"model": "thinking", **body, "truncate": True}).json()
        assert len(taken["warnings"]) == 1
        raw = served.http.post("/api/generate", json={"model": "thinking", **body, "truncate": True, "raw": True})
        (warning,) = raw.json()["warnings"]
        assert warning.endswith(" tokens were dropped because the context is full.")


class TestUnlimitedLength:
    @pytest.mark.parametrize(
        ("ask", "field"),
        [
            (chat, "max_tokens"),
            (chat, "max_completion_tokens"),
            (responses, "max_output_tokens"),
            (anthropic, "max_tokens"),
        ],
    )
    def test_minus_one_means_no_limit(self, served, ask, field):
        row = ask(served, False, model="sotto", **{field: -1}).json()
        plain = ollama(served, False, model="sotto", options={"temperature": 0, "num_predict": -1}).json()
        assert plain["done_reason"] == "stop"
        usage = row["usage"]
        assert usage.get("completion_tokens", usage.get("output_tokens")) == plain["eval_count"]

    def test_it_ends_where_the_context_is_full(self, served):
        fields = {"model": "thinking", "prompt": "a", "max_tokens": -1, "temperature": 1, "loop_guard": False}
        record = next(record for record in served.host.models() if record.name == "thinking:latest")
        ends = Tokenizer.from_source(open_model(record)).eos_ids
        bias = {"logit_bias": {str(token): -100 for token in ends}}
        row = served.http.post("/v1/completions", json=fields | bias).json()
        assert row["choices"][0]["finish_reason"] == "length"
        assert row["usage"]["total_tokens"] == 1024

    @pytest.mark.parametrize("ask", [chat, responses, anthropic])
    @pytest.mark.parametrize("most", [0, -2, 1.5, True, "5"])
    def test_other_values_are_refused(self, served, ask, most):
        field = "max_output_tokens" if ask is responses else "max_tokens"
        answer = ask(served, False, **{field: most})
        assert answer.status_code == 400
        assert field in answer.text


# The tokens of `hello world` in BERT's vocabulary, with the special ones around it.
HELLO = [101, 7592, 2088, 102]


class TestVectorsOfTokens:
    def vectors(self, client, given, **more):
        answer = client.embeddings.create(model="all-minilm", input=given, **more)
        return np.array([row.embedding for row in answer.data]), answer.usage.prompt_tokens

    @pytest.mark.parametrize("form", [openai.NOT_GIVEN, "float"])
    def test_vectors_of_tokens_equal_those_of_the_text(self, openai_client, form):
        of_text, read = self.vectors(openai_client, "hello world", encoding_format=form)
        of_tokens, count = self.vectors(openai_client, HELLO, encoding_format=form)
        assert np.array_equal(of_text, of_tokens)
        assert read == count == len(HELLO)

    def test_several(self, openai_client):
        both, count = self.vectors(openai_client, [HELLO, [101, 102]])
        assert len(both) == 2
        assert count == len(HELLO) + 2
        assert np.allclose(both[0], self.vectors(openai_client, HELLO)[0][0], atol=1e-6)

    def test_too_many_tokens_are_cut_like_a_text(self, served):
        body = {"model": "all-minilm", "input": HELLO * 200}
        assert served.http.post("/v1/embeddings", json=body).json()["usage"]["prompt_tokens"] == 256
        refused = served.http.post("/v1/embeddings", json=body | {"truncate": False})
        assert (refused.status_code, "800 tokens, where 256 are the most" in refused.text) == (400, True)

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ([30522], "input names token 30522, and this model's are 0 to 30521."),
            ([101, -1], "input names token -1, and this model's are 0 to 30521."),
            ([[101], []], "An input is empty"),
            ([[101], "a"], "input[1] must be a list of token IDs, not 'a'."),
            ([[101], [1.5]], "input[1][0] must be a token ID, a whole number of 0 or more, not 1.5."),
            ([101, "a"], "input[1] must be a token ID, a whole number of 0 or more, not 'a'."),
            ([True], "input[0] must be a token ID, a whole number of 0 or more, not true."),
            (["a", 101], "invalid input type"),
            ([[1]] * 2049, "input has 2049 texts; at most 2048 are allowed."),
        ],
    )
    def test_invalid_tokens_are_reported(self, served, given, message):
        answer = served.http.post("/v1/embeddings", json={"model": "all-minilm", "input": given})
        assert answer.status_code == 400
        assert message in answer.json()["error"]["message"]

    def test_ollamas_endpoint_takes_only_texts(self, served):
        answer = served.http.post("/api/embed", json={"model": "all-minilm", "input": [1, 2]})
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid input type")


class TestOllamasWords:
    """Errors taken from Ollama's source, because there are no recorded answers for them."""

    @pytest.mark.parametrize(
        ("method", "path", "body", "status", "message"),
        [
            ("POST", "/api/embed", {"input": "x"}, 404, "model '' not found"),
            ("POST", "/api/embed", {"model": "a b", "input": "x"}, 404, "model 'a b' not found"),
            ("POST", "/api/embed", {"model": "nope", "input": 5}, 400, "invalid input type"),
            ("POST", "/api/embed", {"model": "all-minilm", "input": {}}, 400, "invalid input type"),
            ("POST", "/api/embed", {"model": "all-minilm", "input": 0}, 400, "invalid input type"),
            ("POST", "/api/embed", {"model": "all-minilm", "input": False}, 400, "invalid input type"),
            ("POST", "/api/embeddings", {"prompt": "x"}, 400, "model is required"),
            ("POST", "/api/embeddings", {"model": "a b", "prompt": "x"}, 400, "model is required"),
            ("POST", "/api/embeddings", {"model": "nope"}, 404, 'model "nope" not found, try pulling it first'),
            ("POST", "/v1/embeddings", {"input": "x"}, 404, "model '' not found"),
            ("POST", "/v1/embeddings", {"input": []}, 400, "invalid input"),
            ("DELETE", "/api/delete", {"model": "../../etc/passwd"}, 400, 'name "../../etc/passwd" is invalid'),
            ("DELETE", "/api/delete", {"name": "a b"}, 400, 'name "a b" is invalid'),
            (
                "POST",
                "/api/chat",
                {"model": "sotto", "messages": ASK, "think": 5},
                400,
                'think must be a boolean or string ("high", "medium", "low", "max", true, or false)',
            ),
        ],
    )
    def test_errors(self, served, method, path, body, status, message):
        answer = served.http.request(method, path, json=body)
        error = answer.json()["error"]
        assert (answer.status_code, error["message"] if isinstance(error, dict) else error) == (status, message)

    def test_an_empty_context_counts_as_none(self, served):
        body = {"model": "sotto", "prompt": "Once", "raw": True, "context": [], "stream": False, "options": GREEDY}
        assert served.http.post("/api/generate", json=body).status_code == 200

    def test_the_cloud_is_disabled(self, served):
        assert served.http.get("/api/status").json() == {"cloud": {"disabled": True, "source": "none"}}

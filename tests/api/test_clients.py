"""The published clients against a real server with the built-in model."""

import time

import anthropic
import ollama
import openai
import pytest

from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.runner.catalogue import catalogue
from sotto.store.opening import open_model

QUESTION = [{"role": "user", "content": "Who are you?"}]
FINDS = {"name": "find", "description": "Finds.", "input_schema": {"type": "object", "properties": {}}}
CALLED = [
    *QUESTION,
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I look.", "signature": ""},
            {"type": "tool_use", "id": "1", "name": "find", "input": {"a": 1}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "It is there."}]},
]
# The temperature is so high that the answer continues for thousands of tokens, which take seconds.
HOT_HERE = {"temperature": 5.0, "top_k": 100_000, "top_p": 1.0}
HOT = {"num_predict": 3000, "temperature": 5.0, "top_k": 0, "top_p": 1.0, "seed": 1}


@pytest.fixture(scope="module")
def tokenizer():
    """Return the engine's tokenizer for `sotto`."""
    builtin = next(record for record in catalogue().records if record.builtin)
    return Tokenizer.from_source(open_model(builtin))


def idle(served):
    """Wait until the engine is idle."""
    deadline = time.monotonic() + 2
    while served.host._answering:
        assert time.monotonic() < deadline
        time.sleep(0.01)


class TestOllama:
    def test_list_show_and_ps(self, ollama_client):
        listed = ollama_client.list().models
        assert "sotto:latest" in [row.model for row in listed]
        mine = next(row for row in listed if row.model == "sotto:latest")
        assert mine.details.family == "llama"
        assert mine.size > 1_000_000
        shown = ollama_client.show("sotto")
        assert shown.capabilities == ["completion"]
        assert shown.modelinfo["llama.context_length"] == 4096
        before = {row.model for row in ollama_client.ps().models}  # loaded by other tests
        ollama_client.generate("sotto", "", keep_alive="10m")
        loaded = {row.model: row for row in ollama_client.ps().models}
        assert loaded.keys() <= before | {"sotto:latest"}
        assert loaded["sotto:latest"].context_length == 4096
        assert loaded["sotto:latest"].size > 1_000_000
        left = loaded["sotto:latest"].expires_at.timestamp() - time.time()
        assert 590 < left <= 600

    def test_chat(self, ollama_client):
        answer = ollama_client.chat("sotto", QUESTION)
        assert "Sotto" in answer.message.content
        assert (answer.done, answer.done_reason) == (True, "stop")
        assert answer.eval_count > 5
        assert answer.prompt_eval_count > 5
        assert answer.total_duration >= answer.eval_duration > 0

    def test_stream(self, ollama_client):
        whole = ollama_client.chat("sotto", QUESTION).message.content
        pieces = list(ollama_client.chat("sotto", QUESTION, stream=True))
        assert "".join(piece.message.content for piece in pieces) == whole
        assert [piece.done for piece in pieces] == [False] * (len(pieces) - 1) + [True]
        assert len(pieces) > 3

    def test_generate_with_options(self, ollama_client):
        answer = ollama_client.generate("sotto", "Who are you?", options={"num_predict": 4, "temperature": 0})
        assert (answer.eval_count, answer.done_reason) == (4, "length")
        stopped = ollama_client.generate("sotto", "Who are you?", options={"stop": ["Sotto"], "temperature": 0})
        assert stopped.done_reason == "stop"
        assert "Sotto" not in stopped.response

    def test_a_seed_gives_the_same_answer(self, ollama_client):
        options = {"temperature": 1.5, "seed": 7, "num_predict": 20}
        first, second = (ollama_client.generate("sotto", "Tell me a story", options=options) for _ in range(2))
        assert first.response == second.response

    def test_unload(self, ollama_client):
        ollama_client.chat("sotto", QUESTION, options={"num_predict": 2}, keep_alive=0)
        deadline = time.monotonic() + 5
        while "sotto:latest" in [row.model for row in ollama_client.ps().models]:
            assert time.monotonic() < deadline

    @pytest.mark.parametrize(
        ("call", "status", "message"),
        [
            (lambda client: client.chat("nope", QUESTION), 404, "model 'nope' not found"),
            (lambda client: client.show("nope"), 404, "model 'nope:latest' not found"),
            (lambda client: client.generate("sotto", "a", options={"top_k": "x"}), 400, "Option top_k must be"),
            (lambda client: client.generate("sotto", "a", options={"seed": 2**64}), 400, "Option seed must be from"),
            (lambda client: client.generate("sotto", "a", logprobs=True, top_logprobs=21), 400, "between 0 and 20"),
            (
                lambda client: client.generate("sotto", "a", images=["aGk="]),
                400,
                "images[0] is not an image; it must be",
            ),
            (lambda client: client.generate("sotto", "a", format={"not": {}}), 400, "format cannot be guaranteed: not"),
            (
                lambda client: client.chat("sotto", QUESTION, format="json", options={"stop": "a"}),
                400,
                "stop would cut an answer short that format asks for whole",
            ),
            (lambda client: client.generate("sotto", "word " * 5000), 400, "exceeds the model's maximum context"),
            (lambda client: client.embed("sotto", "a", dimensions=9999), 400, "dimensions is 9999, and the vectors"),
            (lambda client: client.embed("all-minilm", "a " * 600, truncate=False), 400, "exceeds the context length"),
            (lambda client: client.embed("nope", "a"), 404, 'model "nope" not found'),
            (lambda client: client.chat("all-minilm", QUESTION), 400, "makes embeddings only"),
            (lambda client: client.pull("a b"), 400, "is not a model name"),
            (lambda client: client.pull("http://127.0.0.1:1/a/b"), 400, "should begin with a host or with https://"),
            (lambda client: client.copy("nope", "other"), 404, 'model "nope" not found'),
            (lambda client: client.copy("sotto", "../other"), 400, 'destination "../other" is invalid'),
            (lambda client: client.delete("sotto"), 403, "other stores are read-only"),
            (lambda client: client.delete("nope"), 404, "model 'nope' not found"),
            (lambda client: client.push("nope"), 404, "model 'nope:latest' not found"),
            (lambda client: client.create("../new", from_="sotto"), 400, "is not a model name"),
        ],
    )
    def test_errors(self, ollama_client, call, status, message):
        with pytest.raises(ollama.ResponseError) as raised:
            call(ollama_client)
        assert raised.value.status_code == status
        assert message in raised.value.error

    def test_logprobs(self, ollama_client):
        fields = {"options": {"temperature": 0, "num_predict": 6}, "logprobs": True, "top_logprobs": 2}
        whole = ollama_client.chat("sotto", QUESTION, **fields)
        assert "".join(token.token for token in whole.logprobs) == whole.message.content
        for token in whole.logprobs:
            assert (token.top_logprobs[0].token, token.top_logprobs[0].logprob) == (token.token, token.logprob)
            assert 0 >= token.logprob > token.top_logprobs[1].logprob
        pieces = list(ollama_client.chat("sotto", QUESTION, stream=True, **fields))
        assert [token for piece in pieces for token in piece.logprobs or ()] == list(whole.logprobs)
        plain = ollama_client.generate("sotto", "Who are you?", options={"num_predict": 2})
        assert plain.logprobs is None
        first = ollama_client.generate("sotto", "Who are you?", options={"num_predict": 2}, logprobs=True)
        assert [token.top_logprobs for token in first.logprobs] == [None, None]

    def test_an_answer_that_repeats_itself_is_cut_short(self, ollama_client, served):
        # Only one token can be sampled.
        options = {"logit_bias": {"70": 100}, "temperature": 0, "num_predict": -1}
        answer = ollama_client.generate("sotto", "Who are you?", options=options)
        assert answer.done_reason == "length"
        assert 2048 <= answer.eval_count < 2200
        assert len(set(answer.response)) <= 2

    def test_disconnecting_ends_the_answer(self, served, ollama_client):
        stream = ollama_client.generate("sotto", "Tell me a story", raw=True, stream=True, options=HOT)
        next(stream)
        assert served.host._answering
        stream.close()
        idle(served)
        assert ollama_client.chat("sotto", QUESTION).done


class TestOpenAI:
    def test_models(self, openai_client):
        assert "sotto:latest" in [model.id for model in openai_client.models.list()]
        assert openai_client.models.retrieve("sotto").owned_by == "library"
        with pytest.raises(openai.NotFoundError, match="model 'nope' not found"):
            openai_client.models.retrieve("nope")

    def test_chat(self, openai_client):
        answer = openai_client.chat.completions.create(model="sotto", messages=QUESTION, temperature=0)
        assert "Sotto" in answer.choices[0].message.content
        assert answer.choices[0].finish_reason == "stop"
        assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
        assert answer.usage.completion_tokens > 5

    def test_stream_with_usage(self, openai_client):
        fields = {"model": "sotto", "messages": QUESTION, "temperature": 0}
        whole = openai_client.chat.completions.create(**fields).choices[0].message.content
        chunks = list(
            openai_client.chat.completions.create(**fields, stream=True, stream_options={"include_usage": True})
        )
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == whole
        assert [chunk.choices[0].delta.role for chunk in chunks if chunk.choices][:2] == ["assistant", None]
        assert chunks[-2].choices[0].finish_reason == "stop"
        assert chunks[-1].usage.completion_tokens > 5
        assert len({chunk.id for chunk in chunks}) == 1

    def test_choices_stop_and_seed(self, openai_client):
        fields = {"model": "sotto", "messages": QUESTION, "n": 3, "seed": 5, "temperature": 1.5, "max_tokens": 12}
        first, second = (openai_client.chat.completions.create(**fields) for _ in range(2))
        texts = [choice.message.content for choice in first.choices]
        assert [choice.index for choice in first.choices] == [0, 1, 2]
        assert texts == [choice.message.content for choice in second.choices]
        assert len(set(texts)) > 1
        streamed = {0: "", 1: "", 2: ""}
        for chunk in openai_client.chat.completions.create(**fields, stream=True):
            streamed[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
        assert [streamed[index] for index in range(3)] == texts
        stopped = openai_client.chat.completions.create(model="sotto", messages=QUESTION, stop="Sotto", temperature=0)
        assert "Sotto" not in stopped.choices[0].message.content

    def test_logprobs(self, openai_client):
        fields = {"model": "sotto", "messages": QUESTION, "temperature": 1.5, "seed": 3, "max_tokens": 12, "n": 2}
        answer = openai_client.chat.completions.create(**fields, logprobs=True, top_logprobs=3)
        for choice in answer.choices:
            tokens = choice.logprobs.content
            assert b"".join(bytes(token.bytes) for token in tokens).decode() == choice.message.content
            for token in tokens:
                likely = [other.logprob for other in token.top_logprobs]
                assert likely == sorted(likely, reverse=True)
                assert len(likely) == 3
                assert token.logprob <= likely[0]
        streamed = {0: [], 1: []}
        for chunk in openai_client.chat.completions.create(**fields, logprobs=True, top_logprobs=3, stream=True):
            if chunk.choices[0].logprobs:
                streamed[chunk.choices[0].index] += chunk.choices[0].logprobs.content
        assert [streamed[index] for index in (0, 1)] == [choice.logprobs.content for choice in answer.choices]
        assert openai_client.chat.completions.create(**fields).choices[0].logprobs is None

    def test_logprobs_of_completions(self, openai_client):
        fields = {"model": "sotto", "prompt": "Once", "max_tokens": 12, "temperature": 1.5, "seed": 2}
        choice = openai_client.completions.create(**fields, logprobs=2).choices[0]
        logprobs = choice.logprobs
        assert len(logprobs.tokens) == len(logprobs.token_logprobs) == len(logprobs.top_logprobs) == 12
        ends = [*logprobs.text_offset[1:], len(choice.text)]
        assert [
            choice.text[begin:end] for begin, end in zip(logprobs.text_offset, ends, strict=True)
        ] == logprobs.tokens
        assert all(len(likely) == 2 for likely in logprobs.top_logprobs)
        pieces = [chunk.choices[0] for chunk in openai_client.completions.create(**fields, logprobs=2, stream=True)]
        assert [
            offset for piece in pieces if piece.logprobs for offset in piece.logprobs.text_offset
        ] == logprobs.text_offset
        with pytest.raises(openai.BadRequestError, match="echo and logprobs cannot be combined"):
            openai_client.completions.create(**fields, logprobs=2, echo=True)

    def test_a_bias_bans_and_forces_tokens(self, openai_client):
        fields = {"model": "sotto", "messages": QUESTION, "temperature": 0, "max_tokens": 3}
        content = openai_client.chat.completions.create(**fields, logprobs=True).choices[0].logprobs.content
        forced = openai_client.chat.completions.create(**fields, logit_bias={"70": 100}, logprobs=True).choices[0]
        assert len({token.token for token in forced.logprobs.content}) == 1
        assert forced.finish_reason == "length"
        # The bias affects sampling but not the reported log-probabilities, which are the model's own.
        assert forced.logprobs.content[0].logprob < content[0].logprob

    def test_completions(self, openai_client):
        answer = openai_client.completions.create(
            model="sotto", prompt=["Hello", "My name"], max_tokens=4, temperature=0, echo=True
        )
        assert [choice.index for choice in answer.choices] == [0, 1]
        assert answer.choices[0].text.startswith("Hello")
        assert answer.choices[1].text.startswith("My name")
        assert answer.usage.completion_tokens == 8

    def test_completions_of_tokens(self, served, openai_client, tokenizer):
        def answered(prompt, **fields):
            return openai_client.completions.create(model="sotto", prompt=prompt, max_tokens=6, temperature=0, **fields)

        texts = ["Hello, who are", "My name"]
        ids = [tokenizer.encode(text) for text in texts]
        assert all(len(tokens) > 1 for tokens in ids)
        for of_text, of_ids in ((texts[0], ids[0]), (texts[:1], ids[:1]), (texts, ids)):
            for fields in ({}, {"echo": True}, {"logprobs": 2}, {"n": 2}):
                given, expected = answered(of_ids, **fields), answered(of_text, **fields)
                assert [choice.text for choice in given.choices] == [choice.text for choice in expected.choices]
                likely = [
                    [choice.logprobs and choice.logprobs.tokens for choice in got.choices] for got in (given, expected)
                ]
                assert likely[0] == likely[1]
                usage = (given.usage.prompt_tokens, given.usage.completion_tokens)
                assert usage == (expected.usage.prompt_tokens, expected.usage.completion_tokens)
        assert answered(ids).usage.prompt_tokens == sum(map(len, ids))
        pieces = [chunk.choices[0].text for chunk in answered(ids[0], echo=True, stream=True)]
        assert pieces[0].startswith(texts[0])
        assert "".join(pieces) == answered(texts[0], echo=True).choices[0].text
        # The tokens are used as given, even if the tokenizer would split their text differently.
        spelled = [token for letter in "Hello" for token in tokenizer.encode(letter)]
        assert len(spelled) > len(tokenizer.encode("Hello"))
        assert answered(spelled).usage.prompt_tokens == len(spelled)

    @pytest.mark.parametrize(
        ("prompt", "message"),
        [
            ([1, 999999], "prompt names token 999999, and this model's are 0 to 3071."),
            ([1, -1], "prompt names token -1, and this model's are 0 to 3071."),
            ([[1], [2**70]], "prompt names token 1180591620717411303424, and this model's are 0 to 3071."),
            ([1, True], "prompt[1] must be a token ID, a whole number of 0 or more, not true."),
            ([[1], [2, 1.0]], "prompt[1][1] must be a token ID, a whole number of 0 or more, not 1.0."),
            ([1, "a"], "prompt[1] must be a token ID, a whole number of 0 or more, not 'a'."),
            ([1, [1]], "prompt[1] must be a token ID, a whole number of 0 or more, not a list."),
            ([1.0], "prompt[0] must be a string, a token ID or a list of token IDs, not 1.0."),
            ([True], "prompt[0] must be a string, a token ID or a list of token IDs, not true."),
            (["a", 1], "prompt[1] must be a string, not 1."),
            ([[1], 1], "prompt[1] must be a list of token IDs, not 1."),
            ([[1], [None]], "prompt[1][0] must be a token ID, a whole number of 0 or more, not null."),
            ([], "prompt is empty; send text or token IDs to continue."),
            ([[1], []], "prompt[1] is empty; send text or token IDs to continue."),
            (["a", ""], "prompt[1] is empty; send text or token IDs to continue."),
            ({"a": 1}, "prompt must be a string, a list of token IDs, or a list of either, not an object."),
            ([70] * 5000, "input length (5000 tokens) exceeds the model's maximum context length (4096 tokens)"),
        ],
    )
    def test_invalid_prompts(self, served, prompt, message):
        answer = served.http.post("/v1/completions", json={"model": "sotto", "prompt": prompt, "max_tokens": 2})
        assert (answer.status_code, answer.json()["error"]["message"]) == (400, message)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"tools": [{"type": "function", "function": {"name": "a"}}]}, "sotto does not support tools"),
            ({"top_logprobs": 3}, "top_logprobs requires logprobs"),
            ({"logprobs": True, "top_logprobs": 21}, "top_logprobs must be a whole number from 0 to 20, not 21"),
            ({"logit_bias": {"x": 1}}, "Option logit_bias must name tokens from 0"),
            ({"logit_bias": {"999999": 1}}, "Option logit_bias names token 999999, and this model's are 0 to"),
            ({"seed": 2**64}, "Option seed must be from"),
            ({"response_format": {"type": "xml"}}, "response_format.type must be text, json_object or json_schema"),
            (
                {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"not": {}}}}},
                "response_format.json_schema.schema cannot be guaranteed: not is not supported here.",
            ),
            (
                {"response_format": {"type": "json_schema", "json_schema": {"name": "a"}}},
                "response_format.json_schema.schema must be a JSON schema, not null.",
            ),
            ({"temperature": 200}, "Option temperature must be from 0 to 100, not 200"),
            ({"max_tokens": 0}, "max_tokens must be a whole number from 1"),
            ({"n": 100}, "n must be a whole number from 1 to 16, not 100"),
            ({"messages": []}, "[] is too short - 'messages'"),
            ({"messages": [{"role": "wizard", "content": "a"}]}, "messages[0].role must be system, user, assistant or"),
            (
                {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]},
                "messages[0].content[0].image_url.url is empty; it must be an image as PNG",
            ),
        ],
    )
    def test_unsupported_fields_are_reported(self, openai_client, wrong, message):
        with pytest.raises(openai.BadRequestError) as raised:
            openai_client.chat.completions.create(**{"model": "sotto", "messages": QUESTION} | wrong)
        assert message in raised.value.body["message"]
        assert raised.value.body["type"] == "invalid_request_error"

    def test_disconnecting_ends_the_answer(self, served, openai_client):
        stream = openai_client.completions.create(model="sotto", prompt="Once", stream=True, n=2, temperature=5, seed=1)
        next(iter(stream))
        assert len(served.host._answering) == 2
        stream.close()
        idle(served)


class TestAnthropic:
    def test_disconnecting_ends_the_answer(self, served, anthropic_client):
        fields = {"model": "sotto", "max_tokens": 3000, "messages": QUESTION, "extra_body": HOT_HERE}
        with anthropic_client.messages.stream(**fields) as stream:
            next(iter(stream.text_stream))
            assert served.host._answering
        idle(served)

    def test_message(self, anthropic_client):
        answer = anthropic_client.messages.create(model="sotto", max_tokens=100, messages=QUESTION)
        assert "Sotto" in answer.content[0].text
        assert answer.stop_reason == "end_turn"
        assert answer.usage.input_tokens + answer.usage.cache_read_input_tokens > 5
        cut = anthropic_client.messages.create(model="sotto", max_tokens=3, messages=QUESTION, system="Be brief.")
        assert (cut.stop_reason, cut.usage.output_tokens) == ("max_tokens", 3)

    def test_a_stop_sequence_is_reported(self, anthropic_client):
        fields = {"model": "sotto", "max_tokens": 100, "messages": QUESTION}
        whole = anthropic_client.messages.create(**fields).content[0].text
        fields["stop_sequences"] = ["never written", whole[10:15]]
        cut = anthropic_client.messages.create(**fields)
        assert (cut.stop_reason, cut.stop_sequence) == ("stop_sequence", whole[10:15])
        assert cut.content[0].text == whole[: whole.index(whole[10:15])]
        with anthropic_client.messages.stream(**fields) as stream:
            end = stream.get_final_message()
        assert (end.stop_reason, end.stop_sequence) == ("stop_sequence", whole[10:15])

    def test_stream(self, anthropic_client):
        whole = anthropic_client.messages.create(model="sotto", max_tokens=100, messages=QUESTION).content[0].text
        with anthropic_client.messages.stream(model="sotto", max_tokens=100, messages=QUESTION) as stream:
            assert "".join(stream.text_stream) == whole
            assert stream.get_final_message().stop_reason == "end_turn"

    def test_errors(self, anthropic_client):
        with pytest.raises(anthropic.NotFoundError) as raised:
            anthropic_client.messages.create(model="nope", max_tokens=3, messages=QUESTION)
        assert raised.value.body["error"] == {"type": "not_found_error", "message": "model 'nope' not found"}
        with pytest.raises(anthropic.BadRequestError, match="messages is required"):
            anthropic_client.messages.create(model="sotto", max_tokens=3, messages=[])
        tool = {"name": "a", "input_schema": {"type": "object"}}
        with pytest.raises(anthropic.BadRequestError, match="does not support tools"):
            anthropic_client.messages.create(model="sotto", max_tokens=3, messages=QUESTION, tools=[tool])

    @pytest.mark.parametrize(
        "asked",
        [
            {"model": "sotto", "messages": QUESTION},
            {"model": "sotto", "messages": QUESTION, "system": [{"type": "text", "text": "Be brief."}]},
            {"model": "sotto", "messages": QUESTION, "thinking": {"type": "enabled", "budget_tokens": 1024}},
            {"model": "sotto", "messages": [*QUESTION, {"role": "assistant", "content": "I am"}]},
            {"model": "thinking", "messages": QUESTION, "tools": [FINDS]},
            {"model": "thinking", "messages": QUESTION, "tools": [FINDS], "tool_choice": {"type": "none"}},
            {
                "model": "thinking",
                "messages": QUESTION,
                "system": "Be brief.",
                "tools": [FINDS],
                "tool_choice": {"type": "tool", "name": "find"},
                "thinking": {"type": "disabled"},
            },
            {"model": "thinking", "messages": QUESTION, "thinking": {"type": "disabled"}},
            {"model": "thinking", "messages": CALLED, "tools": [FINDS]},
        ],
    )
    def test_counted_tokens_are_those_of_the_prompt(self, served, anthropic_client, asked):
        counted = anthropic_client.messages.count_tokens(**asked).input_tokens
        usage = anthropic_client.messages.create(max_tokens=1, **asked).usage
        assert counted == usage.input_tokens + usage.cache_read_input_tokens > 5
        assert not served.host._answering

    def test_counting_includes_tools_and_thinking(self, anthropic_client):
        def counted(**fields):
            return anthropic_client.messages.count_tokens(**{"model": "thinking", "messages": QUESTION} | fields)

        assert counted().input_tokens < counted(tools=[FINDS]).input_tokens
        assert counted().input_tokens < counted(system="Be brief.").input_tokens
        long = counted(messages=[{"role": "user", "content": "word " * 3000}])
        assert long.input_tokens > 3000  # more than the context can hold
        for wrong, says in (
            ({"messages": []}, "messages is required"),
            ({"tools": [{"name": "find", "input_schema": 1}]}, "tools"),
            ({"tool_choice": {"type": "some"}}, "tool_choice.type must be auto, any, tool or none, not 'some'"),
            ({"thinking": {"type": "some"}}, "thinking.type must be"),
            ({"model": "sotto", "tools": [FINDS]}, "sotto does not support tools"),
        ):
            with pytest.raises(anthropic.BadRequestError, match=says):
                counted(**wrong)
        with pytest.raises(anthropic.NotFoundError, match="model 'nope' not found"):
            counted(model="nope")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": QUESTION, "max_tokens": 12}),
        ("/v1/completions", {"prompt": "Sotto", "max_tokens": 12}),
        ("/v1/responses", {"input": QUESTION[0]["content"], "max_output_tokens": 12}),
        ("/v1/messages", {"messages": QUESTION, "max_tokens": 12}),
    ],
)
def test_every_sampling_option_is_accepted(served, path, body):
    def answered(**options):
        answer = served.http.post(path, json={"model": "sotto", **body, **options}).json()
        choices = answer["choices"] if "choices" in answer else answer.get("output") or answer["content"]
        first = choices[0].get("message") or choices[0]
        return first["text"] if "text" in first else first["content"]

    def text(**options):
        found = answered(**options)
        return found if isinstance(found, str) else found[0]["text"]

    likeliest = text(temperature=0)
    assert text(temperature=20, seed=1) != likeliest
    assert text(temperature=20, seed=1, top_k=1) == text(temperature=20, seed=1, min_p=1) == likeliest
    assert text(temperature=0, logit_bias={"70": 100}) != likeliest
    for name, value in {"dry_multiplier": -5, "mirostat": 3, "typical_p": 2, "loop_guard": "no"}.items():
        answer = served.http.post(path, json={"model": "sotto", **body, name: value})
        assert answer.status_code == 400
        assert answer.json()["error"]["message"].startswith(f"Option {name} must be ")

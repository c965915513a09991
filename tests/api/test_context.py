"""Fields of a single request in Ollama's dialect: `context`, the tokens of a conversation, and `template`."""

import pytest

GREEDY = {"temperature": 0, "num_predict": 200}
FIRST, SECOND = "What can you do?", "And what else?"


@pytest.fixture
def generate(served):
    def ask(prompt, **fields):
        body = {"model": "sotto", "prompt": prompt, "stream": False, "options": GREEDY} | fields
        return served.http.post("/api/generate", json=body)

    return ask


def test_continuing_from_context_tokens_equals_continuing_the_conversation(served, ollama_client):
    first = ollama_client.generate("sotto", FIRST, options=GREEDY)
    assert first.done_reason == "stop"
    *_, second = ollama_client.generate("sotto", SECOND, context=first.context, options=GREEDY, stream=True)
    text = "".join(
        row.response
        for row in ollama_client.generate("sotto", SECOND, context=first.context, options=GREEDY, stream=True)
    )
    messages = [
        {"role": "user", "content": FIRST},
        {"role": "assistant", "content": first.response},
        {"role": "user", "content": SECOND},
    ]
    whole = ollama_client.chat("sotto", messages, options=GREEDY)
    assert text == whole.message.content
    assert second.prompt_eval_count == whole.prompt_eval_count
    assert second.context[: len(first.context)] == first.context
    # The whole conversation came from the cache.
    row = served.http.post(
        "/api/generate", json={"model": "sotto", "prompt": SECOND, "context": first.context, "stream": False}
    ).json()
    assert row["prompt_eval_cached_count"] >= len(first.context)


def test_a_raw_prompt_has_no_context(generate):
    assert "context" not in generate("Once", raw=True).json()
    refused = generate("Once", raw=True, context=[1])
    assert (refused.status_code, refused.json()["error"]) == (
        400,
        "raw mode does not support template, system, or context",
    )


@pytest.mark.parametrize(
    ("context", "error"),
    [
        ("1", "context must be a list, not '1'."),
        ([1, "2"], "context[1] must be a token ID, a whole number of 0 or more, not '2'."),
        ([True], "context[0] must be a token ID, a whole number of 0 or more, not true."),
        ([1.0], "context[0] must be a token ID, a whole number of 0 or more, not 1.0."),
        ([5, -1], "context names token -1, and this model's are 0 to 3071."),
        ([3072], "context names token 3072, and this model's are 0 to 3071."),
        ([10**30], f"context names token {10**30}, and this model's are 0 to 3071."),
    ],
)
def test_invalid_context_tokens_are_reported(generate, context, error):
    answer = generate(SECOND, context=context)
    assert (answer.status_code, answer.json()["error"]) == (400, error)


def test_a_context_that_is_too_long_is_shortened_only_on_request(generate):
    long = generate("Hello").json()["context"] * 2000
    refused = generate(SECOND, context=long)
    assert refused.status_code == 400
    assert refused.json()["error"].startswith("input length (")
    shortened = generate(SECOND, context=long, truncate=True).json()
    assert shortened["done"]
    assert shortened["prompt_eval_count"] < 4096


TURN = "<|user|>{}<|end|><|model|>"


@pytest.mark.parametrize(
    "written",
    ["{{.System}}. {{.Prompt}}", "{% for one in messages %}{{ one.content }}{{ '. ' if loop.first }}{% endfor %}"],
)
def test_a_template_makes_the_prompt_of_one_request(ollama_client, written):
    given = ollama_client.generate("sotto", FIRST, system="Be kind", template=TURN.format(written), options=GREEDY)
    written_out = ollama_client.generate("sotto", TURN.format(f"Be kind. {FIRST}"), raw=True, options=GREEDY)
    assert given.response == written_out.response
    assert given.prompt_eval_count == written_out.prompt_eval_count
    usual = ollama_client.generate("sotto", FIRST, options=GREEDY)
    assert given.prompt_eval_count > usual.prompt_eval_count


@pytest.mark.parametrize(
    ("template", "error"),
    [
        ("{{ .Prompt", "The template you gave cannot be read: "),
        ("{% if %}", "The template you gave cannot be read: line 1: "),
        ("{{ .System }}", "The template you gave makes the same prompt whatever is asked"),
        ("x" * (1 << 20) + "y", "template has 1,048,577 characters; at most 1,048,576 are allowed."),
        (1, "template must be a string, not 1."),
    ],
)
def test_an_invalid_template_is_reported(generate, template, error):
    answer = generate(FIRST, template=template)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(error)
    assert "\n" not in answer.json()["error"]

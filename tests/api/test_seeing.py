"""The published clients show images to a model that sees; the answers are those of the engine."""

import base64
from dataclasses import replace

import anthropic
import httpx
import ollama
import openai
import pytest

from shown_pictures import REFERENCES, answers, picture, request, user
from sotto.api.server import Address, ApiServer
from sotto.runner.loop_host import LoopHost
from sotto.store.opening import record_of

FOLDER = REFERENCES / "gemma3"
TEXT, TOKENS = "a b", 6
# Pictures to which the model answers differently.
ONE, OTHER = 1, 3


@pytest.fixture(scope="module")
def url(own_home):
    """Yield the URL of a server with a tiny model that sees."""
    host = LoopHost(models=lambda: (replace(record_of(FOLDER), name="tiny:latest"),))
    server = ApiServer(host, Address("127.0.0.1", 0))
    server.start()
    yield server.url
    assert server.stop()
    assert host.close()


@pytest.fixture(scope="module")
def expected():
    """Return what the engine answers to the question with each of two pictures, which differs."""
    asked = [replace(request([user(number, TEXT)], TOKENS), ignore_eos=False) for number in (ONE, OTHER)]
    one, other = ((end.text, end.prompt_tokens) for end in answers(FOLDER, asked))
    assert one != other
    return {ONE: one, OTHER: other}


def encoded(number):
    return base64.b64encode(picture(number)).decode()


def data_url(number):
    return f"data:image/png;base64,{encoded(number)}"


def of_ollama_chat(url, number):
    with ollama.Client(url) as client:
        asked = [{"role": "user", "content": TEXT, "images": [picture(number)]}]
        given = client.chat("tiny", asked, options={"temperature": 0, "num_predict": TOKENS})
    return given.message.content, given.prompt_eval_count


def of_ollama_generate(url, number):
    with ollama.Client(url) as client:
        options = {"temperature": 0, "num_predict": TOKENS}
        given = client.generate("tiny", TEXT, images=[encoded(number)], options=options)
    return given.response, given.prompt_eval_count


def of_chat(url, number):
    with openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
        parts = [{"type": "image_url", "image_url": {"url": data_url(number)}}, {"type": "text", "text": TEXT}]
        given = client.chat.completions.create(
            model="tiny", messages=[{"role": "user", "content": parts}], temperature=0, max_tokens=TOKENS
        )
    return given.choices[0].message.content, given.usage.prompt_tokens


def of_responses(url, number):
    with openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
        parts = [{"type": "input_image", "image_url": data_url(number)}, {"type": "input_text", "text": TEXT}]
        given = client.responses.create(
            model="tiny", input=[{"role": "user", "content": parts}], temperature=0, max_output_tokens=TOKENS
        )
    return given.output_text, given.usage.input_tokens


def of_messages(url, number):
    source = {"type": "base64", "media_type": "image/png", "data": encoded(number)}
    asked = [{"role": "user", "content": [{"type": "image", "source": source}, {"type": "text", "text": TEXT}]}]
    with anthropic.Anthropic(base_url=url, api_key="x", max_retries=0) as client:
        given = client.messages.create(model="tiny", messages=asked, max_tokens=TOKENS, extra_body={"temperature": 0})
        counted = client.messages.count_tokens(model="tiny", messages=asked)
    assert counted.input_tokens == given.usage.input_tokens + given.usage.cache_read_input_tokens
    return given.content[0].text, counted.input_tokens


@pytest.mark.parametrize("ask", [of_ollama_chat, of_ollama_generate, of_chat, of_responses, of_messages])
@pytest.mark.parametrize("number", [ONE, OTHER])
def test_the_model_sees_what_the_client_sends(url, expected, ask, number):
    assert ask(url, number) == expected[number]


def test_lists_say_that_the_model_sees(url):
    with ollama.Client(url) as client:
        assert "vision" in client.show("tiny").capabilities
    assert "vision" in httpx.get(f"{url}/api/tags").json()["models"][0]["capabilities"]
    assert httpx.get(f"{url}/api/v0/models/tiny").json()["type"] == "vlm"


def test_an_image_that_cannot_be_decoded_is_refused(url):
    cut = base64.b64encode(picture(ONE)[:-40]).decode()
    asked = {"model": "tiny", "messages": [{"role": "user", "content": TEXT, "images": [cut]}]}
    given = httpx.post(f"{url}/api/chat", json=asked, timeout=60)
    assert given.status_code == 400
    assert given.json()["error"].startswith("The image cannot be read: it is damaged or cut off")


def test_an_image_in_the_result_of_a_tool_is_seen(url):
    called = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}

    def said(number):
        result = [{"type": "image_url", "image_url": {"url": data_url(number)}}]
        asked = [
            {"role": "user", "content": TEXT},
            {"role": "assistant", "tool_calls": [called]},
            {"role": "tool", "tool_call_id": "1", "content": result},
        ]
        body = {"model": "tiny", "messages": asked, "temperature": 0, "max_tokens": TOKENS}
        given = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=60).json()
        assert "warnings" not in given
        return given["choices"][0]["message"]["content"]

    assert said(ONE) != said(OTHER)

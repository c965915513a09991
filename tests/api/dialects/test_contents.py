"""Images and documents in every dialect, with the published clients: what a scripted model is given, and errors."""

import base64
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import anthropic
import httpx
import ollama
import openai
import pytest

from called_tool import CHUNKS
from pdfs import pdf
from sotto.api.content_parts import _READERS, MOST_IMAGES, UNSEEN_TEXT
from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.message_content import ImagePart, TextPart
from sotto.engine.contract.requests import Message

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da6364f8cf500f0003860180"
    "5a347d6b0000000049454e44ae426082"
)
JPEG = b"\xff\xd8\xff\xe0 of a kind"
DOT, PHOTO = ImagePart(PNG), ImagePart(JPEG)
NO_WEB = "is a web address, and Sotto does not fetch what is there: send the data itself in base64."
CALL = {"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
CALLED = Message("assistant", "", tool_calls=(ToolCall("find", {}, "1"),))
NOTES = "notes.txt:\n```\nOne.\n```"


def encoded(data):
    return base64.b64encode(data).decode()


def data_url(data, kind="image/png"):
    return f"data:{kind};base64,{encoded(data)}"


@pytest.fixture(autouse=True)
def seeing(script):
    script.chunks, script.sees = CHUNKS, True
    script.requests.clear()
    script.counts.clear()


@pytest.fixture
def unseeing(url, script):
    """Have a model that does not see, until the end of the test."""

    def reload(*, sees):
        script.sees = sees
        httpx.post(f"{url}/api/generate", json={"model": "tiny", "keep_alive": 0}).raise_for_status()

    reload(sees=False)
    yield
    reload(sees=True)


def messages(script):
    (request,) = script.requests
    return request.messages


def content(script):
    *_, last = messages(script)
    return last.content


class TestOllama:
    @pytest.fixture
    def client(self, url):
        with ollama.Client(url) as client:
            yield client

    def test_images_come_before_the_text_as_in_ollama(self, client, script):
        client.chat("tiny", [{"role": "user", "content": "And?", "images": [PNG, encoded(JPEG)]}])
        assert content(script) == (DOT, PHOTO, TextPart("And?"))

    def test_images_come_where_the_text_says(self, client, script):
        text = "One [img] and [img]."
        client.chat("tiny", [{"role": "user", "content": text, "images": [PNG, JPEG, PNG]}])
        assert content(script) == (DOT, TextPart("One "), DOT, TextPart(" and "), PHOTO, TextPart("."))
        script.requests.clear()
        client.chat("tiny", [{"role": "user", "content": text}])
        assert content(script) == text

    def test_generate(self, client, script):
        client.generate("tiny", "What?", system="Look.", images=[PNG])
        assert messages(script) == (Message("system", "Look."), Message("user", (DOT, TextPart("What?"))))
        script.requests.clear()
        client.generate("tiny", images=[JPEG])
        assert content(script) == (PHOTO,)

    def test_a_result_of_a_tool(self, url, script):
        called = {"role": "assistant", "tool_calls": [{"function": {"name": "find", "arguments": {}}}]}
        result = {"role": "tool", "tool_name": "find", "content": "Here.", "images": [encoded(PNG), encoded(b"none")]}
        body = {"model": "tiny", "messages": [called, result], "stream": False}
        answer = httpx.post(f"{url}/api/chat", json=body).json()
        assert content(script) == (DOT, TextPart(f"{UNSEEN_TEXT}Here."))
        (warning,) = answer["warnings"]
        assert warning.startswith("messages[1].images[1] was left out, which the model is told: messages[1].images[1]")

    @pytest.mark.parametrize(
        ("asked", "says"),
        [
            ({"images": ["a"]}, "messages[0].images[0] must be an image in base64, or a data URL, not 'a'."),
            ({"images": [1]}, "messages[0].images[0] must be an image in base64, not 1."),
            ({"images": "a"}, "messages[0].images must be a list, not 'a'."),
            ({"images": [""]}, "messages[0].images[0] is empty; it must be an image as PNG, JPEG, WebP, GIF, BMP or"),
            ({"images": ["https://example.com/a.png"]}, f"messages[0].images[0] {NO_WEB}"),
            ({"images": ["/home/me/a.png"]}, "messages[0].images[0] must be an image in base64"),
            ({"images": [encoded(PNG), encoded(b"<svg/>")]}, "messages[0].images[1] is SVG; it must be an image as"),
        ],
    )
    def test_what_is_no_image_is_refused(self, url, asked, says):
        answer = httpx.post(f"{url}/api/chat", json={"model": "tiny", "messages": [{"role": "user", **asked}]})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(says)

    def test_images_need_a_template(self, client):
        for field in ({"raw": True}, {"suffix": "x"}):
            with pytest.raises(ollama.ResponseError, match="images cannot be combined with raw or suffix"):
                client.generate("tiny", "What?", images=[PNG], **field)

    def test_lines_in_base64_and_data_urls_are_read(self, url, script):
        lines = base64.encodebytes(PNG * 3).decode()
        assert "\n" in lines
        message = {"role": "user", "images": [lines, data_url(JPEG)]}
        httpx.post(f"{url}/api/chat", json={"model": "tiny", "messages": [message]}).raise_for_status()
        assert content(script) == (ImagePart(PNG * 3), PHOTO)


class TestOpenAI:
    @pytest.fixture
    def client(self, url):
        with openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
            yield client

    def test_parts_keep_their_order(self, client, script):
        parts = [
            {"type": "text", "text": "This"},
            {"type": "image_url", "image_url": {"url": data_url(PNG), "detail": "low"}},
            {"type": "text", "text": " and "},
            {"type": "text", "text": "that"},
            {"type": "image_url", "image_url": data_url(JPEG, "image/jpeg")},
        ]
        client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": parts}], n=2)
        given = (TextPart("This"), DOT, TextPart(" and that"), PHOTO)
        assert [request.messages[0].content for request in script.requests] == [given, given]

    def test_files_become_texts(self, client, script):
        parts = [
            {"type": "text", "text": "Compare."},
            {"type": "file", "file": {"filename": "notes.txt", "file_data": data_url(b"One.", "text/plain")}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": encoded(pdf("Two.", "Three."))}},
            {"type": "text", "text": "Well?"},
        ]
        client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": parts}])
        assert content(script) == f"Compare.\n\n{NOTES}\n\na.pdf:\n```\nTwo.\n\nThree.\n```\n\nWell?"

    def test_a_file_may_be_an_image_or_plain_text(self, client, script):
        files = [
            {"file_data": encoded(PNG)},
            {"filename": "notes.txt", "file_data": "data:text/plain,One%2E"},
        ]
        parts = [{"type": "file", "file": file} for file in files]
        client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": parts}])
        assert content(script) == (DOT, TextPart(f"\n\n{NOTES}"))

    def test_a_result_of_a_tool(self, client, script):
        result = [
            {"type": "text", "text": "Here: "},
            {"type": "image_url", "image_url": {"url": data_url(PNG)}},
            {"type": "image_url", "image_url": {"url": "http://127.0.0.1/a.png"}},
        ]
        asked = [
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "1", "content": result},
        ]
        answer = client.chat.completions.create(model="tiny", messages=asked)
        given = Message("tool", (TextPart("Here: "), DOT, TextPart(UNSEEN_TEXT)), tool_name="find", tool_call_id="1")
        assert messages(script) == (CALLED, given)
        place = "messages[1].content[2]"
        told = f"{place} was left out, which the model is told: {place}.image_url.url {NO_WEB}"
        assert answer.warnings == [told]

    @pytest.mark.parametrize(
        ("part", "says"),
        [
            ({"type": "image_url"}, "image_url must be an object with a data URL as its url, not null."),
            ({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}, f"image_url.url {NO_WEB}"),
            ({"type": "image_url", "image_url": "HTTP://localhost/a"}, f"image_url {NO_WEB}"),
            (
                {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}},
                "image_url.url must be an image in base64, or a data URL, not 'file:///etc/passwd'.",
            ),
            (
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}},
                "image_url.url must be an image in base64, or a data URL, not 'data:image/png;base64,%%%'.",
            ),
            ({"type": "image_url", "image_url": {"url": data_url(b"%PDF-1.7")}}, "image_url.url is not an image; it"),
            ({"type": "file"}, "file.file_data must be a file in base64, or a data URL, not null."),
            (
                {"type": "file", "file": {"file_id": "file-1"}},
                "file.file_id names a stored file, and Sotto stores none: send its contents in file_data.",
            ),
            (
                {"type": "file", "file": {"filename": "a.pdf", "file_data": encoded(b"%PDF-1.7")}},
                "file.file_data: a.pdf could not be read: its PDF is damaged",
            ),
            (
                {"type": "file", "file": {"filename": "dir/a.docx", "file_data": encoded(b"PK\x03\x04\xff")}},
                "file.file_data: a.docx is not text",
            ),
            ({"type": "input_audio", "input_audio": {"data": ""}}, "this model does not support audio input"),
            ({"type": "video"}, "type must be text, image_url or file, not 'video'."),
        ],
    )
    def test_what_cannot_be_read_is_refused(self, client, part, says):
        asked = [{"role": "user", "content": "Hi"}, {"role": "user", "content": [{"type": "text", "text": "a"}, part]}]
        with pytest.raises(openai.BadRequestError) as raised:
            client.chat.completions.create(model="tiny", messages=asked)
        message = raised.value.body["message"]
        assert message.removeprefix("messages[1].content[1].").startswith(says)

    def test_images_and_documents_are_limited_in_number(self, client):
        image = {"type": "image_url", "image_url": {"url": data_url(PNG)}}
        with pytest.raises(
            openai.BadRequestError, match=f"one image too many: a request can have at most {MOST_IMAGES}"
        ):
            client.chat.completions.create(
                model="tiny",
                messages=[{"role": "user", "content": [image] * 60}, {"role": "user", "content": [image] * 41}],
            )
        file = {"type": "file", "file": {"file_data": encoded(b"One.")}}
        with pytest.raises(openai.BadRequestError, match=r"content\[20\].file.file_data is one document too many"):
            client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": [file] * 21}])


class TestResponses:
    @pytest.fixture
    def client(self, url):
        with openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
            yield client

    def test_parts_keep_their_order(self, client, script):
        parts = [
            {"type": "input_image", "image_url": data_url(PNG), "detail": "auto"},
            {"type": "input_text", "text": "Compare."},
            {"type": "input_file", "filename": "notes.txt", "file_data": data_url(b"One.", "text/plain")},
        ]
        client.responses.create(model="tiny", input=[{"role": "user", "content": parts}])
        assert content(script) == (DOT, TextPart(f"Compare.\n\n{NOTES}"))

    def test_a_result_of_a_tool(self, client, script):
        output = [{"type": "input_image", "image_url": data_url(PNG)}, {"type": "input_file", "file_id": "file-1"}]
        items = [
            {"type": "function_call", "call_id": "1", "name": "find", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": output},
        ]
        answer = client.responses.create(model="tiny", input=items)
        given = Message("tool", (DOT, TextPart(UNSEEN_TEXT)), tool_name="find", tool_call_id="1")
        assert messages(script) == (CALLED, given)
        (warning,) = answer.warnings
        assert warning.startswith(
            "input[1].output[1] was left out, which the model is told: input[1].output[1].file_id"
        )

    @pytest.mark.parametrize(
        ("part", "says"),
        [
            ({"type": "input_image", "image_url": "https://example.com/a.png"}, f"image_url {NO_WEB}"),
            ({"type": "input_image", "file_id": "file-1"}, "file_id names a stored file"),
            ({"type": "input_image"}, "image_url must be an object with a data URL as its url, not null."),
            ({"type": "input_file", "file_url": "https://example.com/a.pdf"}, f"file_url {NO_WEB}"),
            ({"type": "input_file"}, "file_data must be a file in base64, or a data URL, not null."),
        ],
    )
    def test_what_cannot_be_read_is_refused(self, client, part, says):
        with pytest.raises(openai.BadRequestError) as raised:
            client.responses.create(model="tiny", input=[{"role": "user", "content": [part]}])
        assert raised.value.body["message"].removeprefix("input[0].content[0].").startswith(says)


class TestAnthropic:
    @pytest.fixture
    def client(self, url):
        with anthropic.Anthropic(base_url=url, api_key="x", max_retries=0) as client:
            yield client

    @staticmethod
    def image(data, kind="image/png"):
        return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": encoded(data)}}

    @staticmethod
    def document(source, **fields):
        return {"type": "document", "source": source, **fields}

    def ask(self, client, *blocks, **fields):
        return client.messages.create(
            model="tiny", max_tokens=9, messages=[{"role": "user", "content": list(blocks)}], **fields
        )

    def test_blocks_keep_their_order(self, client, script):
        self.ask(client, self.image(PNG), {"type": "text", "text": "or"}, self.image(JPEG, "image/jpeg"))
        assert content(script) == (DOT, TextPart("or"), PHOTO)

    def test_documents_become_texts(self, client, script):
        plain = {"type": "text", "media_type": "text/plain", "data": "One."}
        paper = {"type": "base64", "media_type": "application/pdf", "data": encoded(pdf("Two."))}
        parts = {"type": "content", "content": [{"type": "text", "text": "Three."}, self.image(PNG)]}
        self.ask(
            client,
            self.document(plain, title="notes.txt", context="Mine."),
            self.document(paper),
            self.document(parts),
            self.document({"type": "content", "content": "Four."}, title="d"),
        )
        assert content(script) == (
            TextPart(f"Mine.\n\n{NOTES}\n\ndocument:\n```\nTwo.\n```\n\nThree."),
            DOT,
            TextPart("\n\nd:\n```\nFour.\n```"),
        )

    def test_a_result_of_a_tool(self, client, script):
        paper = {"type": "base64", "media_type": "application/pdf", "data": encoded(pdf("Two."))}
        elsewhere = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
        result = [self.image(PNG), self.document(paper, title="a.pdf"), elsewhere]
        asked = [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "find", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": result}]},
        ]
        answer = client.messages.create(model="tiny", max_tokens=9, messages=asked)
        text = TextPart(f"\n\na.pdf:\n```\nTwo.\n```\n\n{UNSEEN_TEXT}")
        assert messages(script) == (CALLED, Message("tool", (DOT, text), tool_name="find", tool_call_id="1"))
        place = "messages[1].content[0].content[2]"
        told = f"{place} was left out, which the model is told: {place}.source.url {NO_WEB}"
        assert answer.warnings == [told]

    def test_counting_includes_images(self, client, script):
        asked = [{"role": "user", "content": [self.image(PNG), {"type": "text", "text": "What?"}]}]
        client.messages.count_tokens(model="tiny", messages=asked)
        (request,) = script.counts
        assert request.messages == (Message("user", (DOT, TextPart("What?"))),)

    @pytest.mark.parametrize(
        ("block", "says"),
        [
            (
                {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
                f"source.url {NO_WEB}",
            ),
            (
                {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
                "source.file_id names a stored file, and Sotto stores none: send its contents in data.",
            ),
            ({"type": "image"}, "source.type must be base64, not null."),
            (
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "?"}},
                "source.data must be an image in base64, or a data URL, not '?'.",
            ),
            (
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded(b"Hi")}},
                "source.data is not an image; it must be an image as PNG, JPEG, WebP, GIF, BMP or TIFF.",
            ),
            ({"type": "document", "source": {"type": "some"}}, "source.type must be base64, text or content, not"),
            (
                {"type": "document", "source": {"type": "content", "content": [{"type": "thinking"}]}},
                "source.content[0].type must be text or image, not 'thinking'.",
            ),
            (
                {"type": "document", "source": {"type": "text", "data": " "}, "title": "a.txt"},
                "source.data: a.txt has no text in it.",
            ),
        ],
    )
    def test_what_cannot_be_read_is_refused(self, client, block, says):
        with pytest.raises(anthropic.BadRequestError) as raised:
            self.ask(client, {"type": "text", "text": "a"}, block)
        message = raised.value.body["error"]["message"]
        assert message.removeprefix("messages[0].content[1].").startswith(says)


ASKED = {
    "/api/chat": {"messages": [{"role": "user", "content": "a", "images": [encoded(PNG)]}]},
    "/api/generate": {"prompt": "a", "images": [encoded(PNG)]},
    "/v1/chat/completions": {
        "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": data_url(PNG)}}]}]
    },
    "/v1/responses": {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": data_url(PNG)}]}]},
    "/v1/messages": {"max_tokens": 9, "messages": [{"role": "user", "content": [TestAnthropic.image(PNG)]}]},
    "/v1/messages/count_tokens": {"messages": [{"role": "user", "content": [TestAnthropic.image(PNG)]}]},
}


@pytest.mark.parametrize("path", ASKED)
def test_a_model_that_does_not_see_is_not_shown_images(url, script, unseeing, path):
    answer = httpx.post(url + path, json={"model": "tiny", **ASKED[path]})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error if isinstance(error, str) else error["message"]) == "tiny does not support image input"
    assert not script.requests
    assert not script.counts


def test_a_model_that_does_not_see_is_told_of_images_in_results(url, script, unseeing):
    result = [{"type": "text", "text": "See "}, {"type": "image_url", "image_url": {"url": data_url(PNG)}}]
    asked = [{"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "1", "content": result}]
    answer = httpx.post(f"{url}/v1/chat/completions", json={"model": "tiny", "messages": asked}).json()
    assert content(script) == f"See {UNSEEN_TEXT}"
    assert answer["warnings"] == [
        '"tiny" does not support image input, so images in results of tools were left out, which it is told.'
    ]


def test_long_texts_are_refused_and_large_images_are_not(url, script):
    large = PNG + bytes(40 << 20)
    asked = {"model": "tiny", "messages": [{"role": "user", "images": [encoded(large)]}]}
    httpx.post(f"{url}/api/chat", json=asked, timeout=60).raise_for_status()
    assert content(script) == (ImagePart(large),)
    asked["messages"] = [{"role": "user", "content": "a" * (33 << 20)}]
    answer = httpx.post(f"{url}/api/chat", json=asked, timeout=60)
    assert answer.status_code == 413
    assert answer.json()["error"] == "The messages have 34,603,008 characters; at most 33,554,432 are allowed."


def test_documents_are_read_off_the_event_loop(url, script):
    """Check that others are answered while a request waits for documents of more requests to be read."""
    file = {"type": "file", "file": {"filename": "notes.txt", "file_data": encoded(b"One.")}}
    body = {"model": "tiny", "messages": [{"role": "user", "content": [file]}]}
    with ThreadPoolExecutor(1) as thread, ExitStack() as others:
        for _ in range(2):
            others.enter_context(_READERS)
        reading = thread.submit(httpx.post, f"{url}/v1/chat/completions", json=body, timeout=60)
        for _ in range(50):
            httpx.get(f"{url}/api/version", timeout=20).raise_for_status()
            assert not reading.done()
        others.close()
        reading.result().raise_for_status()
    assert content(script) == NOTES

"""Searching on Hugging Face: what is asked for, what is made of the answers, and which of them are not believed."""

import asyncio
import json
import time
from queue import Queue

import gguf
import pytest

from hub_search import QWEN3_4B, gguf_model, mlx_model, serving
from sotto.errors import DownloadError, SottoError
from sotto.store.finding.finder import Finder, Found, LookedAt
from sotto.store.finding.gguf_shapes import gguf_shapes
from sotto.store.finding.hub import Hub
from sotto.store.finding.hub_address import endpoint, shown_host
from sotto.store.finding.hub_records import HubKind, parse_search
from stores import assert_sentence


def search(hub, words, seconds=15.0):
    async def run():
        async with Hub(hub.address, seconds) as client:
            return await client.search(words)

    return asyncio.run(run())


def complete(hub, found):
    async def run():
        async with Hub(hub.address) as client:
            return await client.complete(found)

    return asyncio.run(run())


@pytest.fixture
def hub():
    with serving(gguf_model(downloads=900), mlx_model(downloads=50), mlx_model("other/thing")) as made:
        yield made


def shapes_file(path):
    """Return the beginning of a GGUF file as llama.cpp's converter writes it."""
    writer = gguf.GGUFWriter(path, "qwen3")
    writer.add_name("Qwen3 4B")
    writer.add_block_count(36)
    writer.add_context_length(40960)
    writer.add_embedding_length(2560)
    writer.add_feed_forward_length(9728)
    writer.add_head_count(32)
    writer.add_head_count_kv(8)
    writer.add_key_length(128)
    writer.add_rope_freq_base(1e6)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([f"token {number}" for number in range(20_000)])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path.read_bytes()[: 64 << 10]


def test_a_search_finds_models_of_both_formats_the_most_downloaded_first(hub):
    first, second = search(hub, "qwen3")
    assert (first.id, first.kind, first.downloads) == ("unsloth/Qwen3-4B-GGUF", HubKind.GGUF, 900)
    assert (first.architecture, first.parameters, first.licence) == ("qwen3", 4_022_468_096, "apache-2.0")
    names = {version.name: version.bits for version in first.versions}
    assert names == {f"hf.co/unsloth/Qwen3-4B-GGUF:{bits}": bits for bits in ("BF16", "Q4_K_M", "Q8_0", "UD-Q2_K_XL")}
    (version,) = second.versions
    assert (version.name, version.bits) == ("hf.co/mlx-community/Qwen3-4B-4bit", "4-bit")
    assert version.size == 2 * 62_000_000 + 4 * 502_000_000
    assert (second.title, second.owner) == ("Qwen3-4B-4bit", "mlx-community")


def test_only_the_words_are_sent(hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    search(hub, "qwen3 & more")
    assert hub.searches() == ["qwen3 & more"] * 2
    for headers in hub.headers:
        assert "authorization" not in headers
        assert "cookie" not in headers
        assert headers["user-agent"].startswith("sotto/")


def test_looking_at_a_gguf_model_tells_sizes_and_shapes(hub, tmp_path):
    beginning = shapes_file(tmp_path / "model.gguf")
    for path in hub.models[0].contents:
        hub.models[0].contents[path] = beginning
    found = complete(hub, search(hub, "gguf")[0])
    sizes = [(version.bits, version.size) for version in found.versions]
    assert sizes == [
        ("UD-Q2_K_XL", 1_500_000_000),
        ("Q4_K_M", 2_500_000_000),
        ("Q8_0", 4_280_000_000),
        # In two files.
        ("BF16", 8_050_000_000),
    ]
    assert found.complete
    shapes = {key: value for key, value in QWEN3_4B.items() if key != "vocab_size"}
    assert found.config == shapes | {"sliding_window": None}
    # The beginning of a file is enough.
    assert [headers["range"] for headers in hub.headers if "range" in headers] == ["bytes=0-65535"]


def test_looking_at_an_mlx_model_reads_its_config(hub):
    found = complete(hub, search(hub, "mlx-community")[0])
    assert found.complete
    assert found.config["num_hidden_layers"] == 36


def test_a_model_without_a_readable_config_keeps_what_is_known(hub):
    hub.models[1].config = None
    found = complete(hub, search(hub, "mlx-community")[0])
    assert found.complete
    assert "num_hidden_layers" not in found.config
    assert found.versions[0].size is not None


# Answers that are not to be believed

HOSTILE = [
    None,
    7,
    {"id": "no-owner"},
    {"id": "../../etc/passwd"},
    {"id": "a/b\u202e"},
    {"id": "a/" + "b" * 500},
    {"id": ["a/b"]},
]


@pytest.mark.parametrize("entry", HOSTILE, ids=str)
def test_entries_without_a_name_are_left_out(entry):
    data = json.dumps([entry, {"id": "good/one"}]).encode()
    assert [found.id for found in parse_search(data, HubKind.MLX, "host")] == ["good/one"]


def test_fields_of_other_types_are_ignored():
    odd = {
        "id": "a/b",
        "downloads": -1,
        "tags": [7, "license:" + "x" * 900 + "\x1b[31m"],
        "siblings": [
            None,
            {"rfilename": 7},
            {"rfilename": "x\n-Q4_K_M.gguf"},
            {"rfilename": "b-Q4_K_M.gguf", "size": "9"},
        ],
        "gguf": {"total": True, "architecture": "\x1b]0;evil\x07" * 30},
        "config": [],
        "safetensors": {"parameters": {"F32": -5, "U8": 1 << 80}},
    }
    (found,) = parse_search(json.dumps([odd]).encode(), HubKind.GGUF, "host")
    assert (found.downloads, found.parameters, dict(found.config)) == (0, None, {})
    assert [(version.bits, version.size) for version in found.versions] == [("Q4_K_M", None)]
    assert len(found.licence) < 200
    for text in (found.licence, found.architecture):
        assert text.isprintable()


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"<html>", "is not JSON"), (b"{}", "should be a JSON list"), (b"[" * 5000, "nested"), (b"\xff", "not UTF-8")],
)
def test_an_answer_that_is_no_list_is_refused_in_a_sentence(hub, data, why):
    hub.answers = [lambda handler: handler.reply(200, data)] * 2
    with pytest.raises(SottoError, match=why) as caught:
        search(hub, "qwen3")
    assert_sentence(caught.value.message)


@pytest.mark.parametrize(
    ("status", "why"),
    [(429, "busy or failing"), (503, "busy or failing"), (401, "answers 401"), (404, "answers 404")],
)
def test_a_refusal_is_told_in_a_sentence(hub, status, why):
    hub.answers = [lambda handler: handler.reply(status, b"<b>no</b>")] * 2
    with pytest.raises(DownloadError, match=why) as caught:
        search(hub, "qwen3")
    assert_sentence(caught.value.message)


@pytest.mark.parametrize("pause", [0, 0.5], ids=["without a pause", "a pause at the limit"])
def test_too_much_is_not_read_to_the_end(hub, pause):
    def flood(handler):
        handler.send_response(200)
        handler.end_headers()
        for sent in range(1000):
            if sent == 8:
                # So that a piece ends where the limit does.
                time.sleep(pause)
            handler.wfile.write(b" " * (1 << 20))

    hub.answers = [flood] * 2
    with pytest.raises(DownloadError, match=r"sends more than 8\.39 MB"):
        search(hub, "qwen3")


def test_redirects_lead_nowhere_else(hub):
    hub.answers = [lambda handler: handler.reply(302, b"", Location="https://example.com/api/models")] * 2
    with pytest.raises(DownloadError, match=r"leads to example\.com, where Sotto does not look"):
        search(hub, "qwen3")
    # To the same host, as for a model that was renamed, they may.

    def move(handler):
        if "search=qwen3" in handler.path:
            handler.reply(307, b"", Location="/api/models?search=other&filter=mlx&limit=5")
        else:
            handler._tell(hub)

    hub.answers = [move] * 4
    assert {found.id for found in search(hub, "qwen3")} == {"other/thing"}
    hub.answers = [lambda handler: handler.reply(302, b"", Location=handler.path)] * 20
    with pytest.raises(DownloadError, match="redirects more than"):
        search(hub, "qwen3")


def test_silence_and_absence_are_told(hub):
    hub.held.clear()
    with pytest.raises(DownloadError, match=r"has (not answered|sent nothing) for 0.2 seconds"):
        search(hub, "qwen3", seconds=0.2)
    hub.held.set()
    hub.address = "http://127.0.0.1:9"
    with pytest.raises(DownloadError, match="cannot be reached"):
        search(hub, "qwen3")


@pytest.mark.parametrize("length", [0, 3, 4, 20, 100, 700])
def test_a_header_that_is_cut_off_tells_what_there_is(tmp_path, length):
    shapes = gguf_shapes(shapes_file(tmp_path / "model.gguf")[:length])
    assert shapes.items() <= (QWEN3_4B | {"sliding_window": None}).items()


@pytest.mark.parametrize(
    ("value", "used"),
    [
        ("", "https://huggingface.co"),
        ("https://hf-mirror.com/", "https://hf-mirror.com"),
        ("http://localhost:8", "http://localhost:8"),
    ],
)
def test_a_mirror_can_be_named(value, used):
    assert endpoint({"HF_ENDPOINT": value}) == used
    assert shown_host({"HF_ENDPOINT": value}) == used.partition("://")[2]


@pytest.mark.parametrize("value", ["http://example.com", "ftp://example.com", "nonsense", "https://", "https://[::1"])
def test_an_address_that_others_can_read_is_refused(value):
    with pytest.raises(
        DownloadError, match=r"HF_ENDPOINT is '.*'; it should be an address that begins with https://\."
    ):
        endpoint({"HF_ENDPOINT": value})


# The thread


@pytest.fixture
def finder(hub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", hub.address)
    news = Queue()
    made = Finder(news.put)
    made.news = news
    yield made
    for _ in range(2):
        made.close()
    assert not made._thread or not made._thread.is_alive()


def test_the_newest_search_replaces_the_one_before(hub, finder):
    hub.held.clear()
    finder.search("qwen3")
    while not hub.requests:
        time.sleep(0.01)
    finder.search("other")
    hub.held.set()
    outcome = finder.news.get(timeout=30)
    assert isinstance(outcome, Found)
    assert (outcome.words, [found.id for found in outcome.models]) == ("other", ["other/thing"])
    assert finder.news.empty()


def test_a_failure_is_reported_and_the_next_search_works(hub, finder):
    hub.answers = [lambda handler: handler.reply(500, b"")] * 2
    finder.search("qwen3")
    assert "busy or failing" in finder.news.get(timeout=30).problem
    finder.search("qwen3")
    found = finder.news.get(timeout=30).models[0]
    finder.look_at(found)
    outcome = finder.news.get(timeout=30)
    assert isinstance(outcome, LookedAt)
    assert outcome.model.complete


def test_a_wrong_address_is_reported(finder, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://example.com")
    finder.search("qwen3")
    assert finder.news.get(timeout=30).problem.startswith("HF_ENDPOINT is ")


def test_nothing_is_sent_before_a_search_and_none_after_closing(hub, finder):
    assert finder._thread is None
    finder.close()
    finder.search("qwen3")
    assert finder._thread is None
    assert hub.requests == []

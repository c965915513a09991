"""Model names: their grammar, parts that must never become a path, and their short form."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.errors import InvalidNameError
from sotto.store.sources.model_names import ModelName, is_valid_part, name_of_parts, parse_name, split_source
from stores import assert_line, assert_sentence

HUB = "registry.ollama.ai"
FIRST = string.ascii_letters + string.digits + "_"


def part(others, max_size=80):
    return st.builds(str.__add__, st.sampled_from(FIRST), st.text(FIRST + others, max_size=max_size - 1))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("llama3", (HUB, "library", "llama3", "latest")),
        ("llama3:8b", (HUB, "library", "llama3", "8b")),
        ("Llama3:8B", (HUB, "library", "Llama3", "8B")),
        ("jo/llama3", (HUB, "jo", "llama3", "latest")),
        ("example.com/jo/llama3:q4_K.M-x", ("example.com", "jo", "llama3", "q4_K.M-x")),
        ("localhost:5000/ns/model", ("localhost:5000", "ns", "model", "latest")),
        ("localhost:5000/ns/model:tag", ("localhost:5000", "ns", "model", "tag")),
        ("https://example.com/ns/model", ("example.com", "ns", "model", "latest")),
        ("http://localhost:5000/ns/model:1", ("localhost:5000", "ns", "model", "1")),
        (f"{HUB}/library/sotto:latest", (HUB, "library", "sotto", "latest")),
        ("_x/0", (HUB, "_x", "0", "latest")),
        ("m" * 80 + ":" + "t" * 80, (HUB, "library", "m" * 80, "t" * 80)),
    ],
)
def test_a_name_has_four_parts(text, parts):
    assert parse_name(text).parts == parts


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "model is missing"),
        (":", "model is missing"),
        ("llama3:", "tag is missing"),
        (":8b", "model is missing"),
        ("/llama3", "namespace is missing"),
        ("jo/", "model is missing"),
        ("//llama3", "host is missing"),
        ("https:///jo/llama3", "host is missing"),
        ("..", "model is '..'"),
        ("../../etc/passwd", "host is '../..'"),
        ("a/../b", "namespace is '..'"),
        ("jo.e/llama3", "namespace is 'jo.e'"),
        ("-llama", "model is '-llama'"),
        (".hidden", "model is '.hidden'"),
        ("a:b:c", "model is 'a:b'"),
        ("llama 3", "model is 'llama 3'"),
        ("llama\n3", "model is 'llama\\x0a3'"),
        ("llamä", "model is 'llamä'"),
        ("m" * 81, "model is 'mmm"),
        ("!MISSING!", "model is"),
        ("a\\b", "model is 'a\\b'"),
        ("model:tag\n", "tag is"),
        ("\u0661model", "model is"),
        ("a/b/c/d/e", "host is 'a/b/c'"),
        ("x" * 10_000, "longer than 640"),
    ],
)
def test_an_invalid_name_is_refused_with_a_message(text, wrong):
    with pytest.raises(InvalidNameError) as refused:
        parse_name(text)
    assert_sentence(refused.value.message, wrong)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("llama3", "llama3:latest"),
        ("jo/llama3:x", "jo/llama3:x"),
        ("example.com/library/llama3", "example.com/library/llama3:latest"),
        ("localhost:5000/ns/m:t", "localhost:5000/ns/m:t"),
    ],
)
def test_the_short_form_omits_defaults_but_never_the_tag(text, short):
    assert parse_name(text).short == short


@given(part("_-.:", 60), part("_-"), part("_-."), part("_-."))
def test_the_short_form_means_the_name(host, namespace, model, tag):
    name = name_of_parts((host, namespace, model, tag))
    assert parse_name(name.short) == name == ModelName(host, namespace, model, tag)


@given(st.one_of(st.text(max_size=60), st.text(alphabet="ab./:\\~!-_ \n\0", max_size=30)))
def test_any_text_is_a_name_of_safe_parts_or_is_refused(text):
    try:
        name = parse_name(text)
    except InvalidNameError as error:
        assert_line(error.message)
        return
    for part_of_name in name.parts:
        assert part_of_name
        assert not part_of_name.startswith((".", "-"))
        assert not set(part_of_name) & set("/\\\0\n ~")


@pytest.mark.parametrize(
    "parts", [("h", "n", "m", ".."), ("h", "n", "", "t"), ("h", "n.n", "m", "t"), ("h", "n", "m", "a/b")]
)
def test_parts_of_a_path_are_checked_like_a_name(parts):
    with pytest.raises(InvalidNameError) as refused:
        name_of_parts(parts)
    assert_sentence(refused.value.message)


def test_a_part_is_valid_for_its_place():
    assert is_valid_part("host", "localhost:11434")
    assert not is_valid_part("tag", "localhost:11434")
    assert is_valid_part("model", "a.b")
    assert not is_valid_part("namespace", "a.b")
    assert not is_valid_part("tag", ".DS_Store")


def test_one_source_suffix_is_removed():
    assert split_source("m:8b:local") == ("m:8b", "local")
    assert split_source("m:CLOUD") == ("m", "cloud")
    assert split_source("m:8b") == ("m:8b", "")
    assert split_source("local") == ("local", "")
    with pytest.raises(InvalidNameError, match="not both"):
        split_source("m:local:cloud")

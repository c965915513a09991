"""The names of Hugging Face's models: their forms, and how they are told from those of a registry."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.errors import InvalidNameError
from sotto.store.sources.hugging_face_names import parse_wanted, possible_names, selection, wanted_name
from sotto.store.sources.model_names import ModelName, parse_name
from stores import assert_line, assert_sentence

HUB = "registry.ollama.ai"
FIRST = string.ascii_letters + string.digits + "_"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("mlx-community/Qwen3-0.6B-4bit", ("hf.co", "mlx-community", "Qwen3-0.6B-4bit", "latest")),
        ("mlx-community/gemma-3-1b-it-4bit", ("hf.co", "mlx-community", "gemma-3-1b-it-4bit", "latest")),
        ("Qwen/Qwen3-0.6B", ("hf.co", "Qwen", "Qwen3-0.6B", "latest")),
        ("someone/Model", ("hf.co", "someone", "Model", "latest")),
        ("someone/model@v1.0", ("hf.co", "someone", "model", "latest--v1.0")),
        ("someone/model@main", ("hf.co", "someone", "model", "latest")),
        ("unsloth/x-gguf:q4_k_m", ("hf.co", "unsloth", "x-gguf", "q4_k_m")),
        ("hf.co/a/b", ("hf.co", "a", "b", "latest")),
        ("HF.co/a/b:Q8_0", ("hf.co", "a", "b", "Q8_0")),
        ("huggingface.co/a/b", ("hf.co", "a", "b", "latest")),
        ("https://huggingface.co/a/b", ("hf.co", "a", "b", "latest")),
        ("https://huggingface.co/a/b/", ("hf.co", "a", "b", "latest")),
        ("https://huggingface.co/a/b/tree/main", ("hf.co", "a", "b", "latest")),
        ("https://huggingface.co/a/b/tree/v2/sub", ("hf.co", "a", "b", "sub--v2")),
        ("https://huggingface.co/a/b/blob/main/x.Q4_0.gguf", ("hf.co", "a", "b", "x.Q4_0.gguf")),
        (
            f"https://huggingface.co/a/b/resolve/{COMMIT}/d/x.gguf?download=true",
            ("hf.co", "a", "b", f"x.gguf--{COMMIT}"),
        ),
        ("hf.co/a/b@v1:Q4_0", ("hf.co", "a", "b", "Q4_0--v1")),
        ("hf.co/a/b:Q4_0@v1", ("hf.co", "a", "b", "Q4_0--v1")),
        # Those of a registry.
        ("llama3", (HUB, "library", "llama3", "latest")),
        ("Llama3:8B", (HUB, "library", "Llama3", "8B")),
        ("someone/model:Q4_K_M", (HUB, "someone", "model", "Q4_K_M")),
        ("registry.ollama.ai/Someone/Model", (HUB, "Someone", "Model", "latest")),
        ("https://example.com/A/B:c", ("example.com", "A", "B", "c")),
        ("localhost:5000/ns/Model", ("localhost:5000", "ns", "Model", "latest")),
    ],
)
def test_forms_of_a_name(text, parts):
    assert parse_wanted(text).parts == parts


@pytest.mark.parametrize(
    ("tag", "meant"),
    [
        ("latest", ("", "")),
        ("Q4_K_M", ("Q4_K_M", "")),
        ("latest--v1", ("", "v1")),
        ("Q4_K_M--v1", ("Q4_K_M", "v1")),
    ],
)
def test_what_a_tag_selects(tag, meant):
    assert selection(tag) == meant


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        ("hf.co/a", "hf.co/ORG/NAME"),
        ("hf.co/", "hf.co/ORG/NAME"),
        ("https://huggingface.co", "hf.co/ORG/NAME"),
        ("https://huggingface.co/a/b/commits/main", "https://huggingface.co/ORG/NAME"),
        ("https://huggingface.co/a/b/tree", "https://huggingface.co/ORG/NAME"),
        ("a/B@refs/pr/1", "not a model name"),
        ("hf.co/a/b@x--y", "a branch, a tag or a commit"),
        ("hf.co/a/b@", "hf.co/a/b@"),
        ("https://huggingface.co/a/%2e%2e/%2e%2e", "https://huggingface.co/ORG/NAME"),
        ("A/b c", "model"),
    ],
)
def test_other_texts_are_refused(text, mention):
    with pytest.raises(InvalidNameError) as caught:
        parse_wanted(text)
    assert_sentence(caught.value.message, mention)


def part(others):
    return st.builds(str.__add__, st.sampled_from(FIRST), st.text(FIRST + others, max_size=79))


NAMES = st.builds(
    ModelName, st.sampled_from([HUB, "hf.co", "example.com:5000"]), part("-"), part("-."), part("-.")
) | st.builds(ModelName, st.just(HUB), st.just("library"), part("-."), part("-."))


@given(NAMES)
def test_what_a_download_is_called_means_the_same_again(name):
    assert parse_wanted(wanted_name(name)) == name


@given(st.text("aB/:@.-_ %", max_size=30) | st.from_regex(r"(https://)?(hf\.co|huggingface\.co)/[aB/:@.%-]*"))
def test_any_text_is_a_valid_name_or_refused_in_a_sentence(text):
    try:
        name = parse_wanted(text)
    except InvalidNameError as error:
        assert_line(error.message)
        return
    assert parse_name("/".join(name.parts[:3]) + f":{name.tag}") == name


def test_a_name_of_two_parts_may_mean_either_of_what_is_here():
    assert {name.short for name in possible_names("google/gemma-3")} == {
        "google/gemma-3:latest",
        "hf.co/google/gemma-3:latest",
    }
    assert {name.short for name in possible_names("qwen3")} == {"qwen3:latest"}

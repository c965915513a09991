"""The models that Sotto suggests: what the file says of them."""

import re

import pytest

from sotto.paths import resources_dir
from sotto.store.bounded_json import read_object
from sotto.store.finding.suggestions import Version, suggestions, usual_version
from sotto.store.sources.model_names import parse_name

# Identifiers of https://spdx.org/licenses; those of licences that SPDX does not list have a prefix of their own.
LICENCES = {"Apache-2.0", "BSD-3-Clause", "CC-BY-4.0", "MIT"}
OTHER_LICENCE = re.compile(r"LicenseRef-[A-Za-z0-9.-]+")
# Bits of a weight by quantization, scales included; some tensors are kept at more.
BITS = {
    "4-bit": (4.4, 4.7),
    "8-bit": (8.4, 8.7),
    "MXFP4": (4.2, 5.5),
    "Q4_0": (4.5, 5.0),
    "Q4_K_M": (4.5, 5.7),
    "Q8_0": (8.3, 8.8),
}


def test_there_are_small_and_large_models_of_many_makers():
    sizes = sorted(suggestion.parameters for suggestion in suggestions())
    assert sizes[0] < 10**9
    assert sizes[-1] > 10**11
    assert len({suggestion.maker for suggestion in suggestions()}) >= 10
    assert len({suggestion.title for suggestion in suggestions()}) == len(suggestions()) >= 30


def test_licences_are_spdx_identifiers():
    for suggestion in suggestions():
        assert suggestion.licence in LICENCES or OTHER_LICENCE.fullmatch(suggestion.licence), suggestion


def test_every_name_is_one_that_can_be_downloaded_and_is_there_once():
    names = [version.name for suggestion in suggestions() for version in suggestion.versions]
    assert len(set(names)) == len(names)
    for name in names:
        parsed = parse_name(name)
        assert parsed.host == ("hf.co" if name.startswith("hf.co/") else "registry.ollama.ai")
        # One that is known by a tag, so that it stays what it is.
        assert name.startswith("hf.co/") or parsed.tag != "latest"


@pytest.mark.parametrize("suggestion", suggestions(), ids=lambda suggestion: suggestion.title)
def test_sizes_agree_with_the_parameters_and_bits(suggestion):
    config = suggestion.config
    # A matrix for the output may be there although it is the same as the one for the input.
    twice = config["vocab_size"] * config["hidden_size"] if config.get("tie_word_embeddings") else 0
    for version in suggestion.versions:
        least, most = BITS[version.bits]
        assert least * suggestion.parameters <= 8 * version.size <= most * (suggestion.parameters + twice), version


@pytest.mark.parametrize("suggestion", suggestions(), ids=lambda suggestion: suggestion.title)
def test_a_model_is_called_by_its_size(suggestion):
    stated = float(re.search(r"([\d.]+)B", suggestion.title)[1]) * 1e9
    assert suggestion.parameters == pytest.approx(stated, rel=0.3)


def test_the_file_has_nothing_that_is_not_read():
    for family in read_object(resources_dir() / "catalogue.json")["families"]:
        assert family.keys() == {"name", "maker", "good_at", "licence", "templates", "config", "models"}
        for model in family["models"]:
            assert model.keys() == {"size", "parameters", "config", "versions"}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("qwen3 4b", "Qwen3 4B"),
        ("GPT-OSS", "gpt-oss 20B"),
        ("ibm 2b", "Granite 3.3 2B"),
        ("mistral-nemo", "Mistral Nemo 12B"),
    ],
)
def test_suggestions_are_found_by_words_of_their_names(words, found):
    assert next(suggestion.title for suggestion in suggestions() if suggestion.matches(words)) == found


def test_no_words_match_everything_and_strange_ones_nothing():
    assert all(suggestion.matches("  ") for suggestion in suggestions())
    assert not any(suggestion.matches("qwen3 nothing") for suggestion in suggestions())


def test_the_usual_version_is_one_of_four_bits():
    bits = ["Q2_K", "Q4_0", "Q4_K_M", "BF16"]
    assert usual_version([Version("a", each, None) for each in bits]) == 2
    assert usual_version([Version("a", each, None) for each in ("Q2_K", "Q8_0")]) == 0

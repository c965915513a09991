"""Tokenizers built from Python's objects: the same as those that the library reads from the file itself."""

import json

import pytest
import tokenizers

from sotto.engine.tokens.tokenizer_building import build_tokenizer
from vocabularies import NAMES, added, folder, tokenizer_json


def library(text):
    return tokenizers.Tokenizer.from_str(text).to_str()


def bpe(**parts):
    vocab = {"a": 0, "b": 1, "ab": 2, "##b": 3, "a</w>": 4, "<unk>": 5}
    return {"type": "BPE", "vocab": vocab, "merges": [["a", "b"]], **parts}


@pytest.mark.parametrize("name", [*NAMES, "stories260k"])
def test_real_vocabularies_are_those_of_the_library(name):
    text = (folder(name) / "tokenizer.json").read_text(encoding="utf-8")
    assert build_tokenizer(text).to_str() == library(text)


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"merges": ["a b"]},
        {"merges": []},
        {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True, "ignore_merges": True, "dropout": 0.5},
        {"continuing_subword_prefix": "##", "merges": [["a", "##b"]]},
        {"end_of_word_suffix": "</w>", "unk_token": None, "dropout": None, "continuing_subword_prefix": None},
        {"continuing_subword_prefix": "", "end_of_word_suffix": ""},
        # Left to the library.
        {"merges": ["#version: 0.2", "a b"]},
        {"unknown": 1},
    ],
)
def test_every_parameter_is_kept(parts):
    text = tokenizer_json(model=bpe(**parts))
    assert build_tokenizer(text).to_str() == library(text)


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        # Of the model, beyond it in any order, twice, and with an id that the library does not take.
        [added(0, "a"), added(1, "b")],
        [added(9, "<x>"), added(6, "<y>"), added(7, "<z>")],
        [added(6, "<x>"), added(7, "<x>"), added(8, "")],
        [added(6, "<x>") | {"lstrip": True, "rstrip": True, "single_word": True, "normalized": True}],
        [added(6, "<x>") | {"special": False}, added(7, "<y>") | {"special": False, "normalized": True}],
    ],
)
def test_added_tokens_have_the_ids_and_flags_of_the_library(tokens):
    text = tokenizer_json(model=bpe(), added_tokens=tokens)
    assert build_tokenizer(text).to_str() == library(text)


def test_a_file_without_added_tokens_is_read():
    content = json.loads(tokenizer_json(model=bpe()))
    del content["added_tokens"]
    assert build_tokenizer(json.dumps(content)).to_str() == library(json.dumps(content))


def test_other_models_are_left_to_the_library():
    text = tokenizer_json(model={"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"})
    assert build_tokenizer(text).to_str() == library(text)

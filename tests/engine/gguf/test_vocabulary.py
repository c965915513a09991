"""Vocabularies of GGUF files: real ones tokenize texts like llama.cpp, and damaged ones are refused."""

import json

import pytest
from tokenizers import Regex, pre_tokenizers

from gguf_vocabularies import tokenizer_of, write_vocabulary
from material import material
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import BrokenModelError
from sotto.store.gguf.pre_tokenizers import PRE_TOKENIZERS
from sotto.store.gguf.vocabulary import vocabulary_of
from stores import assert_sentence
from thoroughness import some
from vocabularies import NAMES, vectors

NORMAL, UNKNOWN, CONTROL, USER, BYTE = 1, 2, 3, 4, 6
PRE = {"deepseek-coder": "deepseek-coder", "gpt-2": "gpt-2", "llama-bpe": "llama-bpe", "qwen2": "qwen2"}


def real(name):
    """Return the metadata of a real vocabulary."""
    saved = json.loads(material("tokenizers", name, "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = saved["model"]["vocab"] | {token["content"]: token["id"] for token in saved["added_tokens"]}
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    kinds = [NORMAL] * len(tokens)
    for token in saved["added_tokens"]:
        kinds[token["id"]] = CONTROL if token["special"] else USER
    values = {"ggml.tokens": tokens, "ggml.token_type": kinds}
    if name == "llama-spm":
        kinds[0] = UNKNOWN
        kinds[3:259] = [BYTE] * 256
        scores = [-1e9] * len(tokens)
        for place, (left, right) in enumerate(saved["model"]["merges"]):
            # A token has the rank of the first merge that makes it.
            scores[vocabulary[left + right]] = max(scores[vocabulary[left + right]], -float(place))
        return values | {"ggml.model": "llama", "ggml.scores": scores}
    merges = [" ".join(merge) for merge in saved["model"]["merges"]]
    return values | {"ggml.model": "gpt2", "ggml.pre": PRE[name], "ggml.merges": merges}


@pytest.mark.parametrize("name", some(NAMES, 3))
def test_real_vocabularies_tokenize_texts_like_llama_cpp(tmp_path, name):
    tokenizer = tokenizer_of(write_vocabulary(tmp_path / "v.gguf", real(name)))
    for text, tokens in vectors(name):
        assert tokenizer.encode(text, add_bos=False) == tokens, text
        # Qwen normalises texts to composed form (NFC).
        if name != "qwen2" and name != "llama-spm":
            assert tokenizer.decode(tokens) == text


def test_a_vocabulary_with_marked_spaces_and_listed_merges_is_the_same_as_one_with_scores(tmp_path):
    values = real("llama-spm") | {"ggml.model": "gemma4", "ggml.add_space_prefix": True, "ggml.bos_token_id": 1}
    saved = json.loads(material("tokenizers", "llama-spm", "tokenizer.json").read_text(encoding="utf-8"))
    values["ggml.merges"] = [" ".join(merge) for merge in saved["model"]["merges"]]
    del values["ggml.scores"]
    tokenizer = tokenizer_of(write_vocabulary(tmp_path / "v.gguf", values))
    for text, tokens in vectors("llama-spm"):
        assert tokenizer.encode(text, add_bos=False) == tokens, text


@pytest.mark.parametrize(("name", "pieces"), [("qwen2", ["a", "\u0302b"]), ("qwen35", ["a\u0302b"])])
def test_marks_belong_to_letters_in_qwen_35(name, pieces):
    (pattern,) = PRE_TOKENIZERS[name].patterns
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    assert [piece for piece, _ in split.pre_tokenize_str("a\u0302b")] == pieces


BASE = {
    "ggml.model": "gpt2",
    "ggml.pre": "gpt-2",
    "ggml.tokens": ["a", "b", "ab", "<s>", "</s>", "<|im_end|>", "<u>"],
    "ggml.token_type": [1, 1, 1, 3, 3, 3, 4],
    "ggml.merges": ["a b"],
    "ggml.bos_token_id": 3,
    "ggml.eos_token_id": 4,
}


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_each_pre_tokenizer_can_be_read(tmp_path, name):
    tokenizer = tokenizer_of(write_vocabulary(tmp_path / "v.gguf", BASE | {"ggml.pre": name}))
    assert tokenizer.encode("ab", add_bos=False) == [2]


def test_special_tokens_come_from_the_file(tmp_path):
    found = vocabulary_of(
        write_vocabulary(tmp_path / "v.gguf", BASE | {"chat_template": "{{ x }}", "ggml.add_bos_token": True})
    )
    assert found.files["tokenizer_config.json"] == {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": None,
        "pad_token": None,
        "add_bos_token": True,
        "chat_template": "{{ x }}",
    }
    tokenizer = Tokenizer(found.tokenizer, found.files)
    assert tokenizer.eos_ids == {4, 5}
    assert tokenizer.encode("ab<u>b</s>") == [3, 2, 6, 1, 4]
    assert tokenizer.decode([2, 4, 6]) == "ab<u>"


def test_several_templates_have_their_names(tmp_path):
    named = {"default": "{{ x }}", "tool_use": "{{ tools }}", "rag": "{{ documents }}"}

    def read_back(templates):
        values = write_vocabulary(tmp_path / "v.gguf", BASE | {"chat_template": templates})
        return vocabulary_of(values).files["tokenizer_config.json"]["chat_template"]

    listed = [{"name": name, "template": text} for name, text in named.items()]
    assert read_back(listed) == named
    assert read_back(listed[1:]) == {name: named[name] for name in ("tool_use", "rag")}
    assert read_back(listed[:1]) == "{{ x }}"


@pytest.mark.parametrize(
    ("changes", "bos"),
    [({}, False), ({"ggml.pre": "llama-bpe"}, True), ({"ggml.pre": "llama-bpe", "ggml.add_bos_token": False}, False)],
)
def test_the_default_for_the_bos_token_depends_on_the_pre_tokenizer(tmp_path, changes, bos):
    assert tokenizer_of(write_vocabulary(tmp_path / "v.gguf", BASE | changes)).add_bos is bos


@pytest.mark.parametrize(("architecture", "pieces"), [("mistral3", ["ab", "CD"]), ("llama", ["abCD"])])
def test_ollamas_default_pre_tokenizer_is_that_of_the_architecture(tmp_path, architecture, pieces):
    tokens = ["a", "b", "C", "D", "ab", "CD", "abCD"]
    merges = {"ggml.merges": ["a b", "C D", "ab CD"], "ggml.token_type": [1] * 7, "ggml.tokens": tokens}
    values = {"ggml.model": "gpt2", "ggml.pre": "default", **merges}
    tokenizer = tokenizer_of(write_vocabulary(tmp_path / "v.gguf", values, architecture=architecture))
    assert [tokens[token] for token in tokenizer.encode("abCD")] == pieces


def test_the_end_of_a_channel_does_not_end_an_answer(tmp_path):
    tokens = ["<|end|>", "<|return|>", "<|channel|>", "a"]
    values = BASE | {"ggml.tokens": tokens, "ggml.token_type": [3, 3, 3, 1], "ggml.merges": [], "ggml.bos_token_id": 3}
    assert tokenizer_of(write_vocabulary(tmp_path / "v.gguf", values | {"ggml.eos_token_id": 1})).eos_ids == {1}


SCORED = {
    "ggml.model": "llama",
    "ggml.tokens": ["<unk>", "<s>", "</s>", "\u2581", "a", "b", "c", "ab", "bc", "\u2581a", "<0x0A>"],
    "ggml.token_type": [2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 6],
    "ggml.scores": [0.0, 0.0, 0.0, -8.0, -9.0, -10.0, -11.0, -3.0, -2.0, -1.0, 0.0],
}


def test_the_higher_score_is_merged_first(tmp_path):
    tokenizer = tokenizer_of(write_vocabulary(tmp_path / "v.gguf", SCORED))
    assert tokenizer.encode("abc") == [1, 9, 8]
    assert tokenizer.encode("ab\nab", add_bos=False) == [9, 5, 10, 7]
    assert tokenizer.decode([9, 8]) == " abc"
    plain = tokenizer_of(write_vocabulary(tmp_path / "w.gguf", SCORED | {"ggml.add_space_prefix": False}))
    assert plain.encode("abc ab", add_bos=False) == [4, 8, 9, 5]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"ggml.model": "rwkv"},
            "tokenizer.ggml.model is 'rwkv'; it should be bert, gemma4, gpt2, llama, t5, the kinds",
        ),
        ({"ggml.model": "bert"}, "tokenizer.ggml.unknown_token_id is missing"),
        ({"ggml.pre": "viking\n"}, r"its pre-tokenizer is 'viking\x0a'"),
        ({"ggml.tokens": ["a", "b", "a", "c", "d", "e", "f"]}, "'a' twice"),
        ({"ggml.token_type": [1]}, "tokenizer.ggml.token_type is a list of 1; it should be a list of 7"),
        ({"ggml.token_type": ["x"] * 7}, "tokenizer.ggml.token_type is a list of 7"),
        ({"ggml.tokens": [1, 2]}, "a list of texts"),
        ({"ggml.merges": [1.5]}, "a list of texts"),
        ({"ggml.add_bos_token": "yes"}, "true or false"),
        ({"ggml.bos_token_id": "3"}, "a whole number"),
        ({"chat_template": 3}, "tokenizer.chat_template is 3; it should be a text"),
        ({"chat_templates": "rag"}, "tokenizer.chat_templates is 'rag'; it should be a list of names"),
        ({"chat_templates": ["rag"] * 17}, "tokenizer.chat_templates is a list of 17"),
        ({"chat_templates": ["rag"], "chat_template.rag": 3}, "tokenizer.chat_template.rag is 3"),
    ],
)
def test_invalid_vocabularies_are_refused(tmp_path, changes, why):
    path = tmp_path / "v.gguf"
    with pytest.raises(BrokenModelError) as refused:
        vocabulary_of(write_vocabulary(path, BASE | changes))
    assert_sentence(refused.value.message, path, why)


@pytest.mark.parametrize("scores", [[], [0.0], [float("nan")] * 11])
def test_invalid_scores_are_refused(tmp_path, scores):
    values = {key: value for key, value in SCORED.items() if key != "ggml.scores"}
    if scores:
        values["ggml.scores"] = scores
    with pytest.raises(BrokenModelError, match=r"tokenizer\.ggml\.scores .* should be a list of 11"):
        vocabulary_of(write_vocabulary(tmp_path / "v.gguf", values))


def test_tokens_without_an_embedding_are_left_out(tmp_path):
    assert tokenizer_of(write_vocabulary(tmp_path / "v.gguf", BASE, count=6)).vocab_size == 6
    assert tokenizer_of(write_vocabulary(tmp_path / "w.gguf", SCORED, count=10)).vocab_size == 10


def test_a_list_of_end_tokens_is_read(tmp_path):
    tokenizer = tokenizer_of(write_vocabulary(tmp_path / "v.gguf", BASE | {"ggml.eos_token_ids": [3, 900]}))
    assert tokenizer.eos_ids == {3, 4, 5}


def test_a_merge_of_an_unknown_token_is_refused_in_a_sentence(tmp_path):
    found = vocabulary_of(write_vocabulary(tmp_path / "v.gguf", BASE | {"ggml.merges": ["a z"]}))
    with pytest.raises(BrokenModelError, match="merge 0 joins 'a' and 'z'"):
        Tokenizer(found.tokenizer, found.files)

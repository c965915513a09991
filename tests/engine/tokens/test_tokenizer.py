"""Text to tokens: real vocabularies with test vectors, BOS and EOS from every file, and hostile files."""

import json
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import BrokenModelError, InvalidRequestError
from thoroughness import examples
from vocabularies import NAMES, added, files, folder, tokenizer, tokenizer_json, vectors


def post_processor(*tokens):
    """Return a post-processor that adds tokens before a text, and the last of them also after it."""
    special = {name: {"id": name, "ids": [token], "tokens": [name]} for name, token in tokens}
    single = [
        *({"SpecialToken": {"id": name, "type_id": 0}} for name, _ in tokens),
        {"Sequence": {"id": "A", "type_id": 0}},
    ]
    pair = [*single, {"Sequence": {"id": "B", "type_id": 0}}]
    after = [{"SpecialToken": {"id": tokens[-1][0], "type_id": 0}}] if tokens else []
    return {"type": "TemplateProcessing", "single": single + after, "pair": pair, "special_tokens": special}


ADDED = [added(3, "<s>"), added(4, "</s>"), added(5, "<mask>"), added(6, "<|im_end|>"), added(7, "<|end|>")]


def small(config, post=None):
    return Tokenizer(tokenizer_json(added_tokens=ADDED, post_processor=post), {"tokenizer_config.json": config})


@pytest.mark.parametrize("name", NAMES)
def test_vectors_are_encoded(name):
    pairs = vectors(name)
    assert len(pairs) > 40
    for text, tokens in pairs:
        assert tokenizer(name).encode(text, add_bos=False) == tokens, text


@pytest.mark.parametrize("name", NAMES)
def test_vectors_are_decoded(name):
    for text, tokens in vectors(name):
        back = tokenizer(name).decode(tokens)
        assert back == (f" {text}" if name == "llama-spm" and text else text)


# SentencePiece writes spaces as U+2581, so that character itself would be decoded as a space.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\u2581"), max_size=60)


@examples(150)
@given(text=TEXTS, name=st.sampled_from(("gpt-2", "llama-bpe", "llama-spm", "deepseek-coder")))
def test_any_text_round_trips(text, name):
    # Qwen's tokenizer is left out because it normalizes texts.
    back = tokenizer(name).decode(tokenizer(name).encode(text, add_bos=False))
    assert back.removeprefix(" " if name == "llama-spm" else "") == text


@pytest.mark.parametrize("name", [*NAMES, "stories260k"])
def test_prompts_begin_as_in_transformers(name):
    transformers = pytest.importorskip("transformers", reason="transformers is not a dependency of the tests")
    reference = transformers.PreTrainedTokenizerFast.from_pretrained(str(folder(name)))
    for text in ("Hello world", " leading", "two\n\nlines", "é漢🦜"):
        assert tokenizer(name).encode(text) == reference(text)["input_ids"]


def test_stories_expects_bos():
    stories = tokenizer("stories260k")
    assert stories.add_bos
    assert stories.bos_id == 1
    assert stories.encode("Once upon a time")[0] == 1
    assert stories.eos_ids == {1, 2}
    assert stories.vocab_size == 512


def test_llama_3_has_bos_only_in_its_post_processor():
    llama = tokenizer("llama-bpe")
    assert "add_bos_token" not in files("llama-bpe")["tokenizer_config.json"]
    assert llama.encode("Hi")[0] == llama.bos_id == 128000
    assert llama.encode("Hi", add_bos=False)[0] != 128000


def test_bos_is_not_added_if_the_template_writes_it():
    llama = tokenizer("llama-bpe")
    tokens = llama.encode("<|begin_of_text|><|start_header_id|>user")
    assert tokens[0] == 128000
    assert tokens.count(128000) == 1
    assert llama.encode("<|begin_of_text|>Hi", add_bos=True) == llama.encode("Hi")


@pytest.mark.parametrize(
    ("config", "post", "expected"),
    [
        ({}, None, []),
        ({"bos_token": "<s>"}, None, []),
        ({"bos_token": "<s>", "add_bos_token": True}, None, [3]),
        ({"bos_token": {"content": "<s>"}, "add_bos_token": True}, None, [3]),
        ({"bos_token": None, "add_bos_token": True}, None, []),
        ({"bos_token": "<s>"}, post_processor(("<s>", 3)), [3]),
        ({"bos_token": "<s>", "add_bos_token": False}, post_processor(("<s>", 3)), []),
        ({"bos_token": "<s>"}, post_processor(("<mask>", 5), ("<s>", 3)), [5, 3]),
        ({"bos_token": "<s>", "add_bos_token": True}, post_processor(("<mask>", 5), ("<s>", 3)), [5, 3]),
    ],
)
def test_tokens_added_before_a_prompt(config, post, expected):
    tokens = small(config, post=post)
    assert tokens.encode("ab") == [*expected, 2]
    assert tokens.encode("") == expected
    assert tokens.add_bos == bool(expected)
    assert tokens.encode("ab", add_bos=False) == [2]


def test_bos_can_be_requested():
    assert small({"bos_token": "<s>"}).encode("ab", add_bos=True) == [3, 2]
    assert small({}).encode("ab", add_bos=True) == [2]


def test_an_id_names_bos_if_no_text_does():
    assert Tokenizer(tokenizer_json(added_tokens=ADDED), {"config.json": {"bos_token_id": 3}}).bos_id == 3
    silenced = {"config.json": {"bos_token_id": 3}, "tokenizer_config.json": {"bos_token": None}}
    assert Tokenizer(tokenizer_json(added_tokens=ADDED), silenced).bos_id is None


def eos(template="", **named):
    found = {f"{name}.json": value for name, value in named.items()}
    return Tokenizer(tokenizer_json(added_tokens=ADDED), found, template).eos_ids


def test_every_file_can_name_eos():
    assert eos() == set()
    assert eos(generation_config={"eos_token_id": 4}) == {4}
    assert eos(config={"eos_token_id": [4, 3]}) == {3, 4}
    assert eos(config={"text_config": {"eos_token_id": 4}}) == {4}
    assert eos(tokenizer_config={"eos_token": {"content": "</s>"}}) == {4}
    assert eos(special_tokens_map={"eos_token": "</s>"}) == {4}
    assert eos(generation_config={"eos_token_id": 4}, tokenizer_config={"eos_token": "<|im_end|>"}) == {4, 6}


def test_a_left_over_config_does_not_end_answers_at_common_words():
    # Token 2 is EOS in Llama's vocabulary and the text `ab` here.
    assert eos(generation_config={"eos_token_id": 4}, config={"eos_token_id": 2}) == {4}
    assert eos(generation_config={"eos_token_id": [4, 2]}) == {2, 4}
    assert eos(config={"eos_token_id": 2}) == {2}


def test_end_of_turn_tokens_in_the_template_end_answers():
    assert eos("{{ x }}<|im_end|>", generation_config={"eos_token_id": 4}) == {4, 6}
    assert eos("{{ x }}", generation_config={"eos_token_id": 4}) == {4}
    assert eos("<|end|>") == {7}
    # In templates with channels, it ends only a channel.
    assert eos("<|channel|>final<|message|>{{ x }}<|end|>") == set()
    assert eos("<|begin|>assistant<|think|>{{ x }}<|end|>") == set()
    assert tokenizer("qwen2").eos_ids == {151643, 151645}


@pytest.mark.parametrize("value", ["2", -1, 1.5, True, [2, None], {"a": 1}])
def test_impossible_ids_are_refused(value):
    with pytest.raises(BrokenModelError, match=r"config\.json: eos_token_id is"):
        eos(config={"eos_token_id": value})


def test_impossible_tokens_are_refused():
    with pytest.raises(BrokenModelError, match=r"tokenizer_config\.json: bos_token is 5"):
        small({"bos_token": 5})
    with pytest.raises(BrokenModelError, match="add_bos_token"):
        small({"add_bos_token": "yes"})


def test_added_tokens_are_recognized_whether_special_or_not():
    tokens = Tokenizer(tokenizer_json(added_tokens=[added(3, "<tool>", special=False), added(4, "<tool>x")]))
    assert tokens.encode("ab<tool>ab<tool>x") == [2, 3, 2, 4]
    assert tokens.decode([2, 3, 2, 4]).replace(" ", "") == "ab<tool>ab"


def test_padding_and_truncation_are_disabled():
    padding = {
        "strategy": {"Fixed": 128},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "a",
    }
    truncation = {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0}
    assert Tokenizer(tokenizer_json(padding=padding, truncation=truncation)).encode("abab") == [2, 2]


def test_other_threads_run_while_a_long_text_is_encoded():
    text = ("The quick brown fox jumps over the lazy dog, and 123 more. ä€ \n" * 20000)[:1_000_000]
    llama = tokenizer("llama-bpe")
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.perf_counter())

    ticking = threading.Thread(target=tick)
    ticking.start()
    tokens = llama.encode(text)
    done.set()
    ticking.join()
    assert len(tokens) > 100_000
    # Encoding takes 0.4 seconds. If it held the GIL, there would be only one tick before and one after it.
    assert len(ticks) > 20


def test_half_a_character_is_refused():
    with pytest.raises(InvalidRequestError, match="position 2"):
        tokenizer("gpt-2").encode("ab\ud83e")


def normalizer(*steps):
    return {"type": "Sequence", "normalizers": list(steps)}


def replacing(pattern, content):
    return {"type": "Replace", "pattern": pattern, "content": content}


def model(**parts):
    return {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], **parts}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        "{}",
        tokenizer_json(model=5),
        tokenizer_json(model=model(vocab={"a": 0})),
        tokenizer_json(model=model(vocab={"a": 99_999_999_999_999}, merges=[])),
        tokenizer_json(model=model(vocab={"a": -1}, merges=[])),
        tokenizer_json(model=model(merges=["ab"])),
        tokenizer_json(model=model(dropout=5.0)),
        tokenizer_json(model={"type": "Unigram", "vocab": [["a", -1.0]], "unk_id": 5}),
        tokenizer_json(model={"type": "Unigram", "vocab": [], "unk_id": None}),
        tokenizer_json(decoder={"type": "Nope"}),
        tokenizer_json(normalizer={"type": "Precompiled", "precompiled_charsmap": "BAAAAP////8="}),
        tokenizer_json(
            pre_tokenizer={"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": False}
        ),
        tokenizer_json(normalizer=normalizer(*[replacing({"String": "a"}, "a" * 1000)] * 5)),
        tokenizer_json(normalizer=normalizer(replacing({"Regex": ""}, "a" * 1000))),
        tokenizer_json(normalizer=normalizer({"type": "Prepend", "prepend": "a" * 100_000})),
        tokenizer_json(decoder={"type": "Sequence", "decoders": [replacing({"String": "a"}, "a" * 1000)] * 5}),
    ],
)
def test_damaged_files_are_refused_in_a_sentence(text):
    with pytest.raises(BrokenModelError, match=r"^tokenizer\.json: .+"):
        Tokenizer(text)


def test_a_panic_of_the_library_is_reported_in_a_sentence():
    post = post_processor(("<s>", 3))
    post["special_tokens"] = {}
    with pytest.raises(BrokenModelError, match="cannot be read"):
        Tokenizer(tokenizer_json(post_processor=post))


@examples(100)
@given(
    key=st.sampled_from(
        ["added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model", "padding"]
    ),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["type", "vocab", "merges", "id", "content", "x"]), inner, max_size=4)
        ),
        max_leaves=8,
    ),
)
def test_odd_values_are_accepted_or_refused(key, value):
    try:
        tokens = Tokenizer(tokenizer_json(**{key: json.loads(json.dumps(value))}))
        tokens.decode(tokens.encode("ab"))
    except BrokenModelError as error:
        assert str(error).startswith("tokenizer.json: ")  # noqa: PT017 - success is allowed as well

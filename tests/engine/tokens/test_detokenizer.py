"""Tokens to text, one at a time, exact to the byte and without unnecessary delay."""

import functools
import time
from itertools import groupby

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.tokens.detokenizer import ByteDetokenizer, WindowDetokenizer
from sotto.engine.tokens.tokenizer import Tokenizer
from thoroughness import examples
from vocabularies import NAMES, added, folder, tokenizer, tokenizer_json, vectors

ALL = (*NAMES, "stories260k")
# Byte tokens of Llama 2 begin here.
BYTE_0 = 3


def stream(name, ids):
    """Return the pieces of text that the detokenizer emits, the last one from `finish`."""
    detokenizer = tokenizer(name).detokenizer()
    return [*map(detokenizer.add, ids), detokenizer.finish()]


@functools.cache
def reference(name):
    """Return the library's own tokenizer."""
    return tokenizers.Tokenizer.from_str((folder(name) / "tokenizer.json").read_text(encoding="utf-8"))


def whole(name, ids):
    """Decode all tokens at once with the library, as the continuation of a text."""
    before = reference(name).encode("x", add_special_tokens=False).ids
    text = reference(name).decode([*before, *ids])
    assert text.startswith("x")
    return text[1:]


@pytest.mark.parametrize("name", ALL)
def test_real_vocabularies_use_the_byte_detokenizer(name):
    assert isinstance(tokenizer(name).detokenizer(), ByteDetokenizer)


@pytest.mark.parametrize("name", NAMES)
def test_streamed_text_equals_the_whole_text(name):
    for _, ids in vectors(name):
        assert "".join(stream(name, ids)) == whole(name, ids)


# In DeepSeek-Coder's file, these are letters such as `õ`; the library decodes them as bytes.
DEEPSEEK_LETTERS = frozenset(range(32000, 32013))


@examples(300)
@given(data=st.data(), name=st.sampled_from(("deepseek-coder", "gpt-2", "llama-bpe", "qwen2")))
def test_any_byte_level_tokens_give_the_same_text_when_streamed(data, name):
    size = tokenizer(name).vocab_size
    ids = data.draw(st.lists(st.integers(0, size - 1), max_size=30))
    if name == "deepseek-coder":
        ids = [token for token in ids if token not in DEEPSEEK_LETTERS]
    assert "".join(stream(name, ids)) == whole(name, ids)


@examples(300)
@given(data=st.data(), name=st.sampled_from(("llama-spm", "stories260k")))
def test_any_sentencepiece_tokens_give_the_same_text_when_streamed(data, name):
    size = tokenizer(name).vocab_size
    # Half of the tokens are byte tokens, because these are the difficult ones.
    ids = data.draw(st.lists(st.integers(0, size - 1) | st.integers(BYTE_0, BYTE_0 + 255), max_size=30))
    pieces = stream(name, ids)
    expected = b"".join(spelled(name, token) for token in ids).decode("utf-8", "replace")
    assert "".join(pieces) == expected
    if all(is_text(run) for run in runs_of_bytes(ids)):
        # The library replaces a whole run of bytes that is not valid UTF-8, but this detokenizer only the wrong bytes.
        assert expected == whole(name, ids)


def spelled(name, token):
    if BYTE_0 <= token < BYTE_0 + 256:
        return bytes([token - BYTE_0])
    return whole(name, [token]).encode()


def runs_of_bytes(ids):
    # Special tokens are dropped first, so the bytes before and after one form a single run.
    shown = [token for token in ids if token not in (1, 2)]
    for is_byte, run in groupby(shown, lambda token: BYTE_0 <= token < BYTE_0 + 256):
        if is_byte:
            yield bytes(token - BYTE_0 for token in run)


def is_text(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("name", ["llama-spm", "llama-bpe", "gpt-2"])
@pytest.mark.parametrize("character", ["é", "こ", "🦜", "👩‍👩‍👧", "\u0301", "\ufffd", "\x00"])
def test_a_character_is_emitted_with_its_last_byte(name, character):
    ids = [byte_token(name, byte) for byte in character.encode()]
    pieces = stream(name, ids)
    assert "".join(pieces) == character
    assert pieces[-1] == ""
    done = 0
    for count, piece in enumerate(pieces[:-1], 1):
        done += len(piece.encode())
        complete = character.encode()[:count].decode("utf-8", "ignore")
        assert done == len(complete.encode())


def byte_token(name, byte):
    if name == "llama-spm":
        return BYTE_0 + byte
    alphabet = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    # The pre-tokenizer does not accept a single byte, so its letter is taken from a character that contains it.
    if byte < 0x80:
        letter = alphabet.pre_tokenize_str(chr(byte))[0][0]
    else:
        holder = next(
            c for c in map(chr, range(0x80, 0x110000)) if not 0xD800 <= ord(c) < 0xE000 and byte in c.encode()
        )
        letter = alphabet.pre_tokenize_str(holder)[0][0][holder.encode().index(byte)]
    return reference(name).token_to_id(letter)


def test_characters_are_joined_from_tokens_of_single_bytes():
    # E3 81 | 93 E3 | 82 93, from tokens of one byte each.
    pieces = stream("llama-spm", [BYTE_0 + byte for byte in bytes.fromhex("e38193e38293")])
    assert pieces == ["", "", "こ", "", "", "ん", ""]


def test_half_a_character_at_the_end_becomes_one_replacement_character():
    assert stream("llama-spm", [BYTE_0 + 0xE3, BYTE_0 + 0x81]) == ["", "", "\ufffd"]
    assert stream("llama-spm", []) == [""]


def test_an_invalid_byte_is_replaced_at_once():
    assert stream("llama-spm", [BYTE_0 + 0xFF, BYTE_0 + 0x41]) == ["\ufffd", "A", ""]
    # Held bytes are replaced when a letter follows instead of the rest of the character.
    assert stream("llama-spm", [BYTE_0 + 0xE3, BYTE_0 + 0x41]) == ["", "\ufffdA", ""]


def test_a_continuation_keeps_its_leading_space():
    stories = tokenizer("stories260k")
    ids = stories.encode(" were playing", add_bos=False)
    text = stories.decode(ids)
    assert text.endswith(" were playing")
    prompt = stories.encode("Lily and Tom", add_bos=False)
    both = stories.encode("Lily and Tom were playing", add_bos=False)
    assert both[: len(prompt)] == prompt
    assert stories.decode(both[len(prompt) :]) == " were playing"
    # The library's own decoder drops the space.
    assert not reference("stories260k").decode(both[len(prompt) :]).startswith(" ")


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}


def test_special_tokens_are_not_shown_and_others_are():
    text = tokenizer_json(added_tokens=[added(3, "<s>"), added(4, "<think>", special=False)], decoder=BYTE_LEVEL)
    assert Tokenizer(text).decode([3, 2, 4, 2, 3, 0]) == "ab<think>aba"


def test_special_tokens_do_not_split_a_character():
    ids = [BYTE_0 + byte for byte in "é".encode()]
    assert "".join(stream("llama-spm", [ids[0], 1, ids[1]])) == "é"


def test_ids_without_a_token_give_no_text():
    for name in ("llama-bpe", "llama-spm"):
        size = tokenizer(name).vocab_size
        assert tokenizer(name).decode([size, size + 1000, 2**32 - 1]) == ""


def test_added_letters_of_a_byte_level_vocabulary_are_letters():
    deepseek = tokenizer("deepseek-coder")
    for letter in "õ÷Áý":
        ids = deepseek.encode(letter, add_bos=False)
        assert set(ids) & DEEPSEEK_LETTERS
        assert deepseek.decode(ids) == letter


def test_runs_of_spaces_among_added_tokens_are_spaces():
    decoder = {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
        ],
    }
    gemma = Tokenizer(tokenizer_json(added_tokens=[added(3, "▁▁", special=False)], decoder=decoder))
    assert gemma.decode([0, 3, 1]) == "a  b"


METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


def test_metaspace_uses_the_byte_detokenizer():
    metaspace = Tokenizer(
        tokenizer_json(model={"type": "BPE", "vocab": {"▁a": 0, "b": 1}, "merges": []}, decoder=METASPACE)
    )
    assert isinstance(metaspace.detokenizer(), ByteDetokenizer)
    assert metaspace.decode([0, 1, 0]) == " ab a"


WORDS = {
    "type": "WordPiece",
    "vocab": {"[UNK]": 0, "play": 1, "##ing": 2, ".": 3, "well": 4, "n't": 5},
    "unk_token": "[UNK]",
}
WORD_MODEL = {**WORDS, "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
DECODERS = [
    None,
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "BPEDecoder", "suffix": "</w>"},
    {
        "type": "Sequence",
        "decoders": [{"type": "Fuse"}, {"type": "Replace", "pattern": {"String": "l"}, "content": "L"}],
    },
    {"type": "Replace", "pattern": {"Regex": "[aeiou]"}, "content": "-"},
]


@pytest.mark.parametrize("decoder", DECODERS)
@examples(100)
@given(ids=st.lists(st.integers(0, 5), max_size=40))
def test_other_decoders_give_the_same_text_when_streamed(decoder, ids):
    text = tokenizer_json(model=WORD_MODEL, decoder=decoder)
    detokenizer = Tokenizer(text).detokenizer()
    assert isinstance(detokenizer, WindowDetokenizer)
    pieces = [*map(detokenizer.add, ids), detokenizer.finish()]
    assert "".join(pieces) == tokenizers.Tokenizer.from_str(text).decode(ids)


def test_the_time_per_token_is_constant():
    llama = tokenizer("llama-bpe")
    ids = [token for _, tokens in vectors("llama-bpe") for token in tokens]
    add = llama.detokenizer().add
    for token in ids:
        add(token)

    def seconds(count):
        started = time.perf_counter()
        for index in range(count):
            add(ids[index % len(ids)])
        return time.perf_counter() - started

    first = min(seconds(2000) for _ in range(5))
    for _ in range(10):
        seconds(10_000)
    later = min(seconds(2000) for _ in range(5))
    assert later < first * 5

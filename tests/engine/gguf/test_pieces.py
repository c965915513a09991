"""Vocabularies of encoders in GGUF files: they tokenize texts like the tokenizer.json that they were made from."""

import json
from base64 import b64encode

import gguf
import numpy as np
import pytest
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from embedding import minilm
from gguf_encoders import write_pieces
from gguf_vocabularies import finish_file, tokenizer_of, write_vocabulary
from places import EMBEDDINGS
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import BrokenModelError
from sotto.store.gguf.vocabulary import vocabulary_of
from stores import assert_sentence

TEXTS = json.loads((EMBEDDINGS / "texts.json").read_text(encoding="utf-8"))
MORE = [
    "",
    " ",
    "  two  spaces\tand a\nline ",
    "x" * 101,
    "[CLS][unused7] [SEP]",
    "İstanbul ＡＢＣ ﬁ ½ \u0301e",
    "don't!!",
]
NORMAL, UNKNOWN, CONTROL, UNUSED = 1, 2, 3, 5


def framed(saved, text):
    """Return the tokens of a text by a tokenizer.json, without its truncation and padding."""
    tokenizer = tokenizers.Tokenizer.from_str(saved) if isinstance(saved, str) else saved
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer.encode(text).ids


@pytest.mark.parametrize("old", [False, True])
def test_word_pieces_give_the_tokens_of_their_tokenizer_json(tmp_path, old):
    writer = gguf.GGUFWriter(tmp_path / "v.gguf", "bert")
    pieces = (minilm() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    write_pieces(writer, pieces, old=old)
    tokenizer = tokenizer_of(finish_file(writer, tmp_path / "v.gguf", len(pieces)))
    saved = (minilm() / "tokenizer.json").read_text(encoding="utf-8")
    for text in (*TEXTS, *MORE):
        assert tokenizer.encode_with_frame(text, 4096)[0] == framed(saved, text), text


PIECES = {
    "ggml.model": "bert",
    "ggml.tokens": ["[UNK]", "[CLS]", "[SEP]", "\u2581a", "\u2581A", "b", "\u2581é"],
    "ggml.token_type": [CONTROL] * 3 + [NORMAL] * 4,
}


def test_a_vocabulary_with_capitals_is_cased_and_special_tokens_have_their_usual_names(tmp_path):
    cased = tokenizer_of(write_vocabulary(tmp_path / "v.gguf", PIECES, architecture="bert"))
    assert cased.encode_with_frame("Ab a é", 9) == ([1, 4, 5, 3, 6, 2], 6)
    tokens = [token for token in PIECES["ggml.tokens"] if token != "\u2581A"]
    small = PIECES | {"ggml.tokens": [*tokens, "\u2581e"]}
    uncased = tokenizer_of(write_vocabulary(tmp_path / "w.gguf", small, architecture="bert"))
    assert uncased.encode_with_frame("Ab a é", 9) == ([1, 3, 4, 3, 6, 2], 6)


@pytest.fixture(scope="module")
def xlm_roberta():
    """Return a small tokenizer with the structure of XLM-RoBERTa's."""
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Strip(left=False, right=True), normalizers.Replace(tokenizers.Regex(" {2,}"), "\u2581")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.decoder = decoders.Metaspace()
    # Scores that are almost equal are told apart by their last digits, of which a GGUF file keeps fewer.
    described = json.loads(tokenizer.to_str())
    for piece in described["model"]["vocab"]:
        piece[1] = float(np.float32(piece[1]))
    return tokenizers.Tokenizer.from_str(json.dumps(described))


def of_unigram(tokenizer, **changes):
    """Return the metadata of a GGUF file with the tokenizer's vocabulary, as llama.cpp's converter writes it."""
    vocabulary = json.loads(tokenizer.to_str())["model"]["vocab"]
    return {
        "ggml.model": "t5",
        "ggml.tokens": [*(token for token, _ in vocabulary), "[PAD999]"],
        "ggml.scores": [*(float(score) for _, score in vocabulary), -10000.0],
        "ggml.token_type": [CONTROL] * 3 + [UNKNOWN] + [NORMAL] * (len(vocabulary) - 4) + [UNUSED],
        "ggml.add_space_prefix": True,
        "ggml.remove_extra_whitespaces": True,
        "ggml.bos_token_id": 0,
        "ggml.eos_token_id": 2,
        "ggml.unknown_token_id": 3,
        **changes,
    }


def test_unigram_pieces_give_the_tokens_of_their_tokenizer_json(tmp_path, xlm_roberta):
    tokenizer = tokenizer_of(write_vocabulary(tmp_path / "v.gguf", of_unigram(xlm_roberta), architecture="bert"))
    for text in (*TEXTS, *MORE[:3]):
        assert tokenizer.encode_with_frame(text, 4096)[0] == framed(xlm_roberta, text), text
    plain = write_vocabulary(
        tmp_path / "w.gguf", of_unigram(xlm_roberta, **{"ggml.add_eos_token": False}), architecture="bert"
    )
    assert tokenizer_of(plain).encode_with_frame("The", 9)[0] == framed(xlm_roberta, "The")[:-1]


def charsmap(replaced, by):
    """Return SentencePiece's table that replaces one byte by another: a trie of Darts-clone, and the texts.

    https://github.com/google/sentencepiece (src/normalizer.cc, third_party/darts_clone)
    """
    # The root's children begin at 256, so that its child for a byte is there; that one's end is at its own offset.
    units = [0] * 768
    units[0] = (256 << 10) | 0
    child = 256 ^ replaced
    units[child] = ((child ^ 512) << 10) | 0x100 | replaced
    units[512] = 1 << 31
    trie = b"".join(unit.to_bytes(4, "little") for unit in units)
    return len(trie).to_bytes(4, "little") + trie + by.encode() + b"\0"


def test_characters_are_replaced_by_the_table_in_the_file(tmp_path, xlm_roberta):
    packed = charsmap(ord("#"), "T")
    map_of = {"ggml.precompiled_charsmap": [byte - 256 if byte > 127 else byte for byte in packed]}
    saved = json.loads(xlm_roberta.to_str())
    table = {"type": "Precompiled", "precompiled_charsmap": b64encode(packed).decode()}
    saved["normalizer"]["normalizers"].insert(0, table)
    tokenizer = tokenizer_of(
        write_vocabulary(tmp_path / "v.gguf", of_unigram(xlm_roberta, **map_of), architecture="bert")
    )
    found = tokenizer.encode_with_frame("#he quick", 99)[0]
    assert found == framed(json.dumps(saved), "#he quick") == framed(xlm_roberta, "The quick")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"ggml.precompiled_charsmap": [1, 2, 900]},
            "precompiled_charsmap is a list of 3; it should be a list of bytes",
        ),
        ({"ggml.scores": [0.0]}, "tokenizer.ggml.scores is a list of 1; it should be a list of"),
        ({"ggml.add_space_prefix": "x"}, "add_space_prefix is 'x'; it should be true or false"),
    ],
)
def test_meaningless_values_are_refused(tmp_path, xlm_roberta, changes, why):
    path = tmp_path / "v.gguf"
    with pytest.raises(BrokenModelError) as refused:
        vocabulary_of(write_vocabulary(path, of_unigram(xlm_roberta, **changes), architecture="bert"))
    assert_sentence(refused.value.message, path, why)


def test_a_damaged_table_of_replacements_is_refused_in_a_sentence(tmp_path, xlm_roberta):
    values = of_unigram(xlm_roberta, **{"ggml.precompiled_charsmap": list(b"\xff\xff\xff\xffdamaged")})
    found = vocabulary_of(write_vocabulary(tmp_path / "v.gguf", values, architecture="bert"))
    with pytest.raises(BrokenModelError, match=r"^tokenizer\.json: the charsmap in normalizer has 11 bytes"):
        Tokenizer(found.tokenizer, found.files).encode("a")


LEVEL = {
    "ggml.model": "gpt2",
    "ggml.pre": "roberta-bpe",
    "ggml.tokens": ["<s>", "</s>", "a", "b", "ab"],
    "ggml.token_type": [CONTROL, CONTROL, NORMAL, NORMAL, NORMAL],
    "ggml.merges": ["a b"],
    "ggml.bos_token_id": 0,
    "ggml.eos_token_id": 1,
}


def test_byte_level_texts_are_framed_for_encoders_and_otherwise_as_the_file_says(tmp_path):
    encoder = tokenizer_of(write_vocabulary(tmp_path / "v.gguf", LEVEL, architecture="bert"))
    assert encoder.encode_with_frame("aba", 9)[0] == [0, 4, 2, 1]
    decoder = tokenizer_of(write_vocabulary(tmp_path / "w.gguf", LEVEL))
    assert decoder.encode_with_frame("aba", 9)[0] == [4, 2]
    # As in the files of Qwen3's embedding models. Prompts never get an end token.
    ended = tokenizer_of(write_vocabulary(tmp_path / "x.gguf", LEVEL | {"ggml.add_eos_token": True}))
    assert ended.encode_with_frame("aba", 9)[0] == [4, 2, 1]
    assert ended.encode("aba") == [4, 2]

"""The vocabularies of encoders: WordPiece (`bert`), and SentencePiece's Unigram (`t5`).

A GGUF file marks those pieces of a WordPiece vocabulary that begin a word, by the mark that SentencePiece has for a
space, where others mark those that go on with one, by `##`. It does not say whether texts are put in lower case:
a vocabulary that was made so has no capitals.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from sotto.store.gguf.metadata_values import Values

_UNKNOWN, _CONTROL, _BYTE = 2, 3, 6
_SPACE = "\u2581"
_GOES_ON = "##"
_CHARSMAP = "tokenizer.ggml.precompiled_charsmap"
# Words of more characters are unknown, as in the vocabularies of BERT and all that followed.
_LONGEST_WORD = 100
_TEXT: Mapping[str, Any] = {"Sequence": {"id": "A", "type_id": 0}}


def word_pieces(tokens: Sequence[str], kinds: Sequence[int]) -> list[str]:
    """Return the tokens of a WordPiece vocabulary as others write them."""
    return [_spelt(token, kind) for token, kind in zip(tokens, kinds, strict=False)]


def word_piece_tokenizer(pieces: Sequence[str], unknown: str) -> dict[str, Any]:
    """Return what cuts texts as BERT does, in the form of `tokenizer.json`.

    Args:
        pieces: As `word_pieces` returns them.
        unknown: What stands for a word that cannot be made of pieces.
    """
    capitals = any(piece != piece.lower() for piece in pieces if not _in_brackets(piece))
    model = {
        "type": "WordPiece",
        "unk_token": unknown,
        "continuing_subword_prefix": _GOES_ON,
        "max_input_chars_per_word": _LONGEST_WORD,
        "vocab": {piece: token for token, piece in enumerate(pieces)},
    }
    return {
        # Accents go where capitals do.
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": not capitals,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": _GOES_ON, "cleanup": True},
        "model": model,
    }


def unigram_tokenizer(
    values: Values, tokens: Sequence[str], kinds: Sequence[int], scores: Sequence[float], unknown: int
) -> dict[str, Any]:
    """Return what cuts texts into the likeliest pieces, in the form of `tokenizer.json`.

    Args:
        values: Of the file.
        tokens: The pieces.
        kinds: Of each.
        scores: How likely each is, as a logarithm.
        unknown: The token for what no piece is for.

    Raises:
        BrokenModelError: The table that characters are replaced by is no row of bytes.
    """
    normalizers: list[dict[str, Any]] = []
    if charsmap := values.items(_CHARSMAP, int, "a list of bytes"):
        if not all(type(byte) is int and -128 <= byte < 256 for byte in charsmap):
            raise values.wrong(_CHARSMAP, "a list of bytes")
        packed = bytes([byte & 0xFF for byte in charsmap])
        normalizers.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(packed).decode()})
    if values.truth("tokenizer.ggml.remove_extra_whitespaces", default=True):
        normalizers.append({"type": "Strip", "strip_left": True, "strip_right": True})
        normalizers.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    prefix = values.truth("tokenizer.ggml.add_space_prefix", default=True)
    space = {
        "type": "Metaspace", "replacement": _SPACE, "prepend_scheme": "always" if prefix else "never", "split": True
    }  # fmt: skip
    model = {
        "type": "Unigram",
        "unk_id": unknown,
        "vocab": [[token, score] for token, score in zip(tokens, scores, strict=False)],
        "byte_fallback": _BYTE in kinds,
    }
    return {
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": space,
        "decoder": space,
        "model": model,
    }


def framing(tokens: Sequence[str], before: int | None, behind: int | None) -> dict[str, Any]:
    """Return what puts tokens around a text, in the form of `tokenizer.json`.

    Args:
        tokens: How each is written.
        before: The one in front of a text; None for none.
        behind: The one behind it.
    """
    first, last = ([token] if token is not None else [] for token in (before, behind))
    single = [
        *map(_special, (tokens[token] for token in first)),
        _TEXT,
        *map(_special, (tokens[token] for token in last)),
    ]
    around = {tokens[token]: token for token in (*first, *last)}
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {name: {"id": name, "ids": [token], "tokens": [name]} for name, token in around.items()},
    }


def _special(name: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": 0}}


def _spelt(token: str, kind: int) -> str:
    # Older converters kept whatever was in brackets.
    if kind in (_CONTROL, _UNKNOWN) or _in_brackets(token):
        return token
    return token.removeprefix(_SPACE) if token.startswith(_SPACE) else _GOES_ON + token


def _in_brackets(piece: str) -> bool:
    return piece.startswith("[") and piece.endswith("]")

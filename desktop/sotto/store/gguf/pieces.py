"""Converting the vocabularies of encoders to `tokenizer.json`: WordPiece (`bert`) and SentencePiece's Unigram (`t5`).

In a WordPiece vocabulary, a GGUF file marks the pieces that begin a word with SentencePiece's mark for a space, where
`tokenizer.json` marks the pieces that continue one with `##`. The file does not say whether texts are lowercased; a
vocabulary without capitals shows that they are.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from sotto.store.gguf.metadata_values import Values

_UNKNOWN, _CONTROL, _BYTE = 2, 3, 6
_SPACE = "\u2581"
_CONTINUES = "##"
_CHARSMAP = "tokenizer.ggml.precompiled_charsmap"
# Longer words become the unknown token, as in BERT and its successors.
_MAX_WORD = 100
_TEXT: Mapping[str, Any] = {"Sequence": {"id": "A", "type_id": 0}}


def word_pieces(tokens: Sequence[str], kinds: Sequence[int]) -> list[str]:
    """Return the tokens of a WordPiece vocabulary as `tokenizer.json` spells them."""
    return [_respell(token, kind) for token, kind in zip(tokens, kinds, strict=False)]


def word_piece_tokenizer(pieces: Sequence[str], unknown: str) -> dict[str, Any]:
    """Return the parts of a `tokenizer.json` that tokenizes as BERT does.

    Args:
        pieces: The vocabulary as `word_pieces` returns it.
        unknown: The token for words that cannot be composed of pieces.
    """
    capitals = any(piece != piece.lower() for piece in pieces if not _in_brackets(piece))
    model = {
        "type": "WordPiece",
        "unk_token": unknown,
        "continuing_subword_prefix": _CONTINUES,
        "max_input_chars_per_word": _MAX_WORD,
        "vocab": {piece: token for token, piece in enumerate(pieces)},
    }
    return {
        # Accents are stripped if `lowercase` is set.
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": not capitals,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": _CONTINUES, "cleanup": True},
        "model": model,
    }


def unigram_tokenizer(
    values: Values, tokens: Sequence[str], kinds: Sequence[int], scores: Sequence[float], unknown: int
) -> dict[str, Any]:
    """Return the parts of a `tokenizer.json` for a Unigram model, which chooses the likeliest pieces.

    Args:
        values: The values of the file.
        tokens: The pieces.
        kinds: The type of each piece.
        scores: The log-probability of each piece.
        unknown: The id of the token for characters without a piece.

    Raises:
        BrokenModelError: The table of character replacements is not a list of bytes.
    """
    normalizers: list[dict[str, Any]] = []
    if charsmap := values.array(_CHARSMAP, int, "a list of bytes"):
        if not all(type(byte) is int and -128 <= byte < 256 for byte in charsmap):
            raise values.error(_CHARSMAP, "a list of bytes")
        packed = bytes([byte & 0xFF for byte in charsmap])
        normalizers.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(packed).decode()})
    if values.boolean("tokenizer.ggml.remove_extra_whitespaces", default=True):
        normalizers.append({"type": "Strip", "strip_left": True, "strip_right": True})
        normalizers.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    prefix = values.boolean("tokenizer.ggml.add_space_prefix", default=True)
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


def post_processor(tokens: Sequence[str], before: int | None, after: int | None) -> dict[str, Any]:
    """Return the `post_processor` of a `tokenizer.json`, which puts tokens around a text.

    Args:
        tokens: The spelling of each token.
        before: Id of the token put before a text; None for none.
        after: Id of the token put after it; None for none.
    """
    first, last = ([token] if token is not None else [] for token in (before, after))
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


def _respell(token: str, kind: int) -> str:
    # Older converters left tokens in brackets unmarked.
    if kind in (_CONTROL, _UNKNOWN) or _in_brackets(token):
        return token
    return token.removeprefix(_SPACE) if token.startswith(_SPACE) else _CONTINUES + token


def _in_brackets(piece: str) -> bool:
    return piece.startswith("[") and piece.endswith("]")

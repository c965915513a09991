"""Checks of a `tokenizer.json` before the tokenizers library reads it.

WORKAROUND: the library trusts what it reads; check at upgrades. A file of a few bytes can make it allocate all memory,
which ends the process, or recurse until the stack is full; its errors for other files say little. So sizes, vocabulary,
added tokens and steps are checked first. All bounds are several times what any tokenizer has.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from sotto.engine.tokens.expressions.cost import Cost
from sotto.engine.tokens.tokenizer_steps import check_steps
from sotto.errors import BrokenModelError
from sotto.store.bounded_json import kind_of, parse_object
from sotto.store.printable import printable

_MAX_DEPTH = 16
_MAX_TOKEN_CHARACTERS = 8192
# Ids may have gaps, but not huge ones: the highest id is at most this many times the size of the vocabulary, and more.
_MAX_ID_RATIO = 16
_SPARE_IDS = 1 << 16
_MAX_AFFIX_CHARACTERS = 64
_MAX_WORD_CHARACTERS = 1000
# A piece of Unigram is a path in a trie, which is freed by recursion: half a kilobyte of stack for each byte.
_MAX_PIECE_BYTES = 512
# Each node of the trie takes 360 bytes.
_MAX_TRIE_NODES = 2 << 20
# Of all pieces together that one piece begins with: they are looked up at each character of a text.
_MAX_PREFIX_BYTES = 1 << 15
_MAX_ADDED_TOKENS = 1 << 17
_MAX_ADDED_CHARACTERS = 1024
# The library blocks all other threads while it builds an automaton of them, for two seconds at this limit.
_MAX_ADDED_BYTES = 2 << 20


def check_tokenizer(text: str) -> Cost:
    """Check the text of a `tokenizer.json`; return what its expressions cost.

    Raises:
        BrokenModelError: It is damaged, or could end or block the process.
    """
    data = text.encode(errors="surrogatepass")
    # Of a key that is there twice, other programs may read the other value.
    tokenizer = parse_object(data, "tokenizer.json: it", strict=True, max_depth=_MAX_DEPTH)
    model = tokenizer.get("model")
    if not isinstance(model, Mapping):
        raise BrokenModelError(f"tokenizer.json: model is {kind_of(model)}; it should be an object with a vocabulary.")
    # Old files do not say the model's type; its vocabulary shows it.
    vocabulary = model.get("vocab")
    if isinstance(vocabulary, Mapping):
        _check_vocabulary(vocabulary)
        _check_merges(model, vocabulary)
    elif isinstance(vocabulary, list):
        _check_pieces(vocabulary)
    else:
        raise BrokenModelError(
            f"tokenizer.json: the vocabulary is {kind_of(vocabulary)}; it should be a list of tokens."
        )
    _check_words(model)
    _check_added(tokenizer.get("added_tokens", []))
    return check_steps(tokenizer)


def _check_vocabulary(vocabulary: Mapping[str, Any]) -> None:
    most = _MAX_ID_RATIO * len(vocabulary) + _SPARE_IDS
    for token, number in vocabulary.items():
        if type(number) is not int or not 0 <= number < most:
            raise BrokenModelError(
                f"tokenizer.json: token '{printable(token, 40)}' has the id {printable(str(number), 40)}; in a "
                f"vocabulary of {len(vocabulary):,}, it should be a number from 0 to {most - 1:,}."
            )
    _check_length(max(vocabulary, key=len, default=""), _MAX_TOKEN_CHARACTERS)


def _check_merges(model: Mapping[str, Any], vocabulary: Mapping[str, Any]) -> None:
    """Check that each merge makes one token of two others."""
    merges = model.get("merges", [])
    prefix = model.get("continuing_subword_prefix") or ""
    if not isinstance(merges, list) or not isinstance(prefix, str):
        raise BrokenModelError(f"tokenizer.json: merges is {kind_of(merges)}; it should be a list of pairs of tokens.")
    for place, merge in enumerate(merges):
        if isinstance(merge, str) and merge.startswith("#version"):
            continue
        pair = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise BrokenModelError(f"tokenizer.json: merge {place} is not a pair of tokens.")
        left, right = pair
        # The library cuts off as many bytes as the prefix has, without checking that they are the prefix.
        whole = left + right[len(prefix) :] if right.startswith(prefix) else None
        if left not in vocabulary or right not in vocabulary or whole not in vocabulary:
            raise BrokenModelError(
                f"tokenizer.json: merge {place} joins '{printable(left, 40)}' and '{printable(right, 40)}'; these two "
                "and the result should be tokens of the vocabulary."
            )


def _check_pieces(vocabulary: Sequence[Any]) -> None:
    """Check the pieces of Unigram, each with its score."""
    pieces = []
    for place, entry in enumerate(vocabulary):
        if (
            not isinstance(entry, list)
            or len(entry) != 2
            or not isinstance(entry[0], str)
            or type(entry[1]) not in (int, float)
            or not math.isfinite(entry[1])
        ):
            raise BrokenModelError(
                f"tokenizer.json: token {place} of the vocabulary is not a pair of a text and a score."
            )
        pieces.append(entry[0].encode())
    _check_length(max(pieces, key=len, default=b""), _MAX_PIECE_BYTES)
    if sum(map(len, pieces)) > _MAX_TRIE_NODES and _nodes(pieces) > _MAX_TRIE_NODES:
        raise BrokenModelError("tokenizer.json: the tokens of the vocabulary are longer than those of any tokenizer.")
    every = set(pieces)
    for piece in pieces:
        # All beginnings of a shorter piece together have fewer bytes than the bound.
        if len(piece) ** 2 > 2 * _MAX_PREFIX_BYTES:
            begun = sum(end for end in range(1, len(piece)) if piece[:end] in every)
            if begun > _MAX_PREFIX_BYTES:
                raise BrokenModelError(
                    f"tokenizer.json: token '{printable(piece.decode(), 40)}' begins with too many others; "
                    "a text of its letters would take too long to tokenize."
                )


def _nodes(pieces: Sequence[bytes]) -> int:
    """Return how many nodes a trie of these pieces has."""
    ordered = sorted(set(pieces))
    shared = 0
    for one, other in pairwise(ordered):
        same = 0
        for mine, yours in zip(one, other, strict=False):
            if mine != yours:
                break
            same += 1
        shared += same
    return sum(map(len, ordered)) - shared


def _check_words(model: Mapping[str, Any]) -> None:
    """Check the marks of parts of words, and the longest word."""
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        mark = model.get(key)
        if isinstance(mark, str) and len(mark) > _MAX_AFFIX_CHARACTERS:
            raise BrokenModelError(
                f"tokenizer.json: {key} has {len(mark):,} characters; it should have {_MAX_AFFIX_CHARACTERS} at most."
            )
    longest = model.get("max_input_chars_per_word", 0)
    if type(longest) is not int or not 0 <= longest <= _MAX_WORD_CHARACTERS:
        raise BrokenModelError(
            f"tokenizer.json: max_input_chars_per_word is {printable(str(longest), 40)}; it should be a number up to "
            f"{_MAX_WORD_CHARACTERS}, as longer words take the cube of their length."
        )


def _check_added(added: object) -> None:
    if not isinstance(added, list):
        raise BrokenModelError(f"tokenizer.json: added_tokens is {kind_of(added)}; it should be a list of tokens.")
    if len(added) > _MAX_ADDED_TOKENS:
        raise BrokenModelError(
            f"tokenizer.json: it has {len(added):,} added tokens; it should have {_MAX_ADDED_TOKENS:,} at most."
        )
    total = 0
    for place, token in enumerate(added):
        content = token.get("content") if isinstance(token, Mapping) else None
        if not isinstance(content, str):
            raise BrokenModelError(f"tokenizer.json: added token {place} is not an object with a content.")
        _check_length(content, _MAX_ADDED_CHARACTERS)
        total += len(content.encode())
    if total > _MAX_ADDED_BYTES:
        raise BrokenModelError(
            f"tokenizer.json: its added tokens have {total:,} bytes; they should have {_MAX_ADDED_BYTES:,} at most."
        )


def _check_length(token: str | bytes, most: int) -> None:
    if len(token) > most:
        begin = token[:40].decode(errors="replace") if isinstance(token, bytes) else token[:40]
        raise BrokenModelError(
            f"tokenizer.json: the token that begins with '{printable(begin, 40)}' has a length of {len(token):,}; it "
            f"should be {most:,} at most."
        )

"""What is checked of a `tokenizer.json` before the tokenizers library sees it.

The library trusts what it reads. A file of a few bytes can have it ask for all memory there is, which ends the process,
or recurse until the stack is full; what it raises for other files says little. So its sizes, its vocabulary, its
added tokens and its steps are looked at first. All bounds are several times what any tokenizer has.
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

_DEEPEST = 16
_LONGEST_TOKEN = 8192
# Ids may have gaps, but not be all gaps.
_SPREAD = 16
_SPARE_IDS = 1 << 16
_LONGEST_MARK = 64
_LONGEST_WORD = 1000
# A piece of Unigram is a path in a trie, which is taken down by recursion: half a kilobyte of stack for each byte.
_LONGEST_PIECE = 512
# Each of its nodes takes 360 bytes.
_MOST_NODES = 2 << 20
# Bytes of all pieces that one piece begins with: they are looked up at each character of a text.
_MOST_BEGINNINGS = 1 << 15
_MOST_ADDED = 1 << 17
_LONGEST_ADDED = 1024
# The library keeps all other threads waiting while it makes an automaton of them, for two seconds at most.
_MOST_ADDED_TEXT = 2 << 20


def check_tokenizer(text: str) -> Cost:
    """Check the text of a `tokenizer.json`; return what its expressions take.

    Raises:
        BrokenModelError: It is damaged, or could end or hold the process.
    """
    data = text.encode(errors="surrogatepass")
    # What is there twice, others may read the other time.
    tokenizer = parse_object(data, "tokenizer.json: it", strict=True, max_depth=_DEEPEST)
    model = tokenizer.get("model")
    if not isinstance(model, Mapping):
        raise BrokenModelError(f"tokenizer.json: model is {kind_of(model)}; it should be an object with a vocabulary.")
    # Old files do not say the model's type; what it has tells.
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
    most = _SPREAD * len(vocabulary) + _SPARE_IDS
    for token, number in vocabulary.items():
        if type(number) is not int or not 0 <= number < most:
            raise BrokenModelError(
                f"tokenizer.json: token '{printable(token, 40)}' has the id {printable(str(number), 40)}; in a "
                f"vocabulary of {len(vocabulary):,}, it should be a number from 0 to {most - 1:,}."
            )
    _check_length(max(vocabulary, key=len, default=""), _LONGEST_TOKEN)


def _check_merges(model: Mapping[str, Any], vocabulary: Mapping[str, Any]) -> None:
    """Check that each merge makes a token of two others."""
    merges = model.get("merges", [])
    prefix = model.get("continuing_subword_prefix") or ""
    if not isinstance(merges, list) or not isinstance(prefix, str):
        raise BrokenModelError(f"tokenizer.json: merges is {kind_of(merges)}; it should be a list of pairs of tokens.")
    for place, merge in enumerate(merges):
        if isinstance(merge, str) and merge.startswith("#version"):
            continue
        pair = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise BrokenModelError(f"tokenizer.json: merge {place} is no pair of tokens.")
        left, right = pair
        # The library takes the prefix off without a look at what it takes.
        whole = left + right[len(prefix) :] if right.startswith(prefix) else None
        if left not in vocabulary or right not in vocabulary or whole not in vocabulary:
            raise BrokenModelError(
                f"tokenizer.json: merge {place} is of '{printable(left, 40)}' and '{printable(right, 40)}'; these two "
                "and what they make should be tokens of the vocabulary."
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
            raise BrokenModelError(f"tokenizer.json: token {place} of the vocabulary is no pair of a text and a score.")
        pieces.append(entry[0].encode())
    _check_length(max(pieces, key=len, default=b""), _LONGEST_PIECE)
    if sum(map(len, pieces)) > _MOST_NODES and _nodes(pieces) > _MOST_NODES:
        raise BrokenModelError("tokenizer.json: the tokens of the vocabulary are longer than those of any tokenizer.")
    every = set(pieces)
    for piece in pieces:
        # Of a shorter one, all beginnings together are fewer bytes than the bound.
        if len(piece) ** 2 > 2 * _MOST_BEGINNINGS:
            begun = sum(end for end in range(1, len(piece)) if piece[:end] in every)
            if begun > _MOST_BEGINNINGS:
                raise BrokenModelError(
                    f"tokenizer.json: token '{printable(piece.decode(), 40)}' begins with too many others; "
                    "a text of its letters would take too long."
                )


def _nodes(pieces: Sequence[bytes]) -> int:
    """Return how many nodes a trie of these has."""
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
    """Check what is written before and behind parts of words, and how long words may be."""
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        mark = model.get(key)
        if isinstance(mark, str) and len(mark) > _LONGEST_MARK:
            raise BrokenModelError(
                f"tokenizer.json: {key} has {len(mark):,} characters; it should have {_LONGEST_MARK} at most."
            )
    longest = model.get("max_input_chars_per_word", 0)
    if type(longest) is not int or not 0 <= longest <= _LONGEST_WORD:
        raise BrokenModelError(
            f"tokenizer.json: max_input_chars_per_word is {printable(str(longest), 40)}; it should be a number up to "
            f"{_LONGEST_WORD}, as longer words take the cube of their length."
        )


def _check_added(added: object) -> None:
    if not isinstance(added, list):
        raise BrokenModelError(f"tokenizer.json: added_tokens is {kind_of(added)}; it should be a list of tokens.")
    if len(added) > _MOST_ADDED:
        raise BrokenModelError(
            f"tokenizer.json: it has {len(added):,} added tokens; it should have {_MOST_ADDED:,} at most."
        )
    total = 0
    for place, token in enumerate(added):
        content = token.get("content") if isinstance(token, Mapping) else None
        if not isinstance(content, str):
            raise BrokenModelError(f"tokenizer.json: added token {place} is no object with a content.")
        _check_length(content, _LONGEST_ADDED)
        total += len(content.encode())
    if total > _MOST_ADDED_TEXT:
        raise BrokenModelError(
            f"tokenizer.json: its added tokens have {total:,} bytes; they should have {_MOST_ADDED_TEXT:,} at most."
        )


def _check_length(token: str | bytes, most: int) -> None:
    if len(token) > most:
        begin = token[:40].decode(errors="replace") if isinstance(token, bytes) else token[:40]
        raise BrokenModelError(
            f"tokenizer.json: the token that begins with '{printable(begin, 40)}' has a length of {len(token):,}; it "
            f"should be {most:,} at most."
        )

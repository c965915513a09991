"""Checks of the steps in a `tokenizer.json`: normalizer, pre-tokenizer, post-processor and decoder.

WORKAROUND: the tokenizers library trusts most values; check at upgrades. Some end the process, such as a table of
characters that claims to be as large as memory; others turn a short text into a huge one, or block a thread for hours.
Kinds of steps that are not known here are refused: the library takes an unknown one for a kind that it resembles.
"""

import base64
import binascii
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sotto.engine.tokens.expressions.cost import ANY_RUNS, Cost, EndlessError, Growth, cost_of
from sotto.errors import BrokenModelError
from sotto.store.bounded_json import kind_of
from sotto.store.printable import printable

_LISTS = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "post_processor": "processors",
    "decoder": "decoders",
}
_KINDS = {
    "normalizer": frozenset(
        """
        BertNormalizer ByteLevel Lowercase NFC NFD NFKC NFKD Nmt Precompiled Prepend Replace Sequence Strip
        StripAccents
        """.split()
    ),
    "pre_tokenizer": frozenset(
        """
        BertPreTokenizer ByteLevel CharDelimiterSplit Digits FixedLength Metaspace Punctuation Sequence Split
        UnicodeScripts Whitespace WhitespaceSplit
        """.split()
    ),
    "post_processor": frozenset("BertProcessing ByteLevel RobertaProcessing Sequence TemplateProcessing".split()),
    "decoder": frozenset(
        "BPEDecoder ByteFallback ByteLevel CTC Fuse Metaspace Replace Sequence Strip WordPiece".split()
    ),
}
# These leave the characters of a text as they are, or change only a few of them.
_PRESERVING = frozenset(
    """
    BertPreTokenizer CharDelimiterSplit Digits FixedLength NFC Punctuation Sequence Split Strip UnicodeScripts
    Whitespace WhitespaceSplit
    """.split()
)
# Several times what any tokenizer has.
_MAX_STEPS = 64
_MAX_DEPTH = 4
_MAX_TEXT_CHARACTERS = 8192
_MAX_TEMPLATE_TOKENS = 64
_MAX_STRIPPED_CHARACTERS = 256
# A few replacements in a row, each of a character by a long text, would turn a word into more than fits in memory.
_MAX_GROWTH = 64
# Several times the longest text that Unicode decomposes a character into.
_MAX_COMPOSED_BYTES = 128


def check_steps(tokenizer: Mapping[str, Any]) -> Cost:
    """Check all steps; return what their expressions cost.

    Raises:
        BrokenModelError: One of them is impossible, or can block or end the process.
    """
    cost = Cost()
    changed = False
    for name in _LISTS:
        longer = 1.0
        for step in _steps(name, tokenizer.get(name)):
            taken = _check_step(name, step)
            if name != "decoder":
                # After a step that changes the text, runs of characters are not those of the original.
                cost |= Cost(taken.growth, ANY_RUNS) if changed and taken.runs else taken
                changed = changed or step["type"] not in _PRESERVING
            longer *= max(1.0, _growth(name, step))
            if longer > _MAX_GROWTH:
                raise BrokenModelError(f"tokenizer.json: {name} makes texts more than {_MAX_GROWTH} times longer.")
    return cost


def _steps(name: str, part: object) -> Iterator[Mapping[str, Any]]:
    """Yield the steps of a part, including those inside sequences."""
    waiting: list[tuple[object, int]] = [(part, 0)] if part is not None else []
    count = 0
    while waiting:
        step, depth = waiting.pop()
        if not isinstance(step, Mapping):
            raise BrokenModelError(f"tokenizer.json: {name} is {kind_of(step)}; it should be an object with a type.")
        kind = step.get("type")
        if not isinstance(kind, str) or kind not in _KINDS[name]:
            said = f"'{printable(kind, 40)}'" if isinstance(kind, str) else "without a type"
            raise BrokenModelError(
                f"tokenizer.json: {name} has a step {said}, which is none of {', '.join(sorted(_KINDS[name]))}."
            )
        count += 1
        if count > _MAX_STEPS or depth > _MAX_DEPTH:
            raise BrokenModelError(
                f"tokenizer.json: {name} has more than {_MAX_STEPS} steps, or steps within each other more than "
                f"{_MAX_DEPTH} deep; those of tokenizers have a few."
            )
        if kind == "Sequence":
            inner = step.get(_LISTS[name])
            if not isinstance(inner, list):
                raise BrokenModelError(f"tokenizer.json: {name} is a sequence without a list of {_LISTS[name]}.")
            waiting += [(step, depth + 1) for step in reversed(inner)]
        else:
            yield step


def _check_step(name: str, step: Mapping[str, Any]) -> Cost:
    for key, value in step.items():
        if isinstance(value, str) and key != "precompiled_charsmap":
            _check_length(f"{key} in {name}", value)
    kind = step["type"]
    if kind in ("Split", "Replace"):
        return _check_pattern(name, step)
    if kind == "FixedLength":
        _check_number(name, step, "length", 1, 1 << 32)
    elif kind == "TemplateProcessing":
        _check_template(step)
    elif kind == "Strip" and name == "decoder":
        for key in ("start", "stop"):
            _check_number(name, step, key, 0, _MAX_STRIPPED_CHARACTERS)
    elif kind == "Precompiled":
        _charsmap(step)
    return Cost()


def _check_pattern(name: str, step: Mapping[str, Any]) -> Cost:
    pattern = step.get("pattern")
    if not isinstance(pattern, Mapping) or len(pattern) != 1:
        raise BrokenModelError(f"tokenizer.json: {name} has a pattern that is not an object with String or Regex.")
    ((kind, text),) = pattern.items()
    if kind not in ("String", "Regex") or not isinstance(text, str):
        raise BrokenModelError(f"tokenizer.json: {name} has a pattern that is not an object with String or Regex.")
    _check_length(f"a pattern in {name}", text)
    if kind == "String":
        return Cost()
    try:
        cost = cost_of(text)
    except EndlessError as error:
        raise BrokenModelError(
            f"tokenizer.json: the expression '{printable(text, 60)}' in {name} can take hours for a short text, as "
            f"{error}."
        ) from error
    if name == "decoder" and cost.growth is Growth.UNKNOWN:
        # The decoder runs for each token of an answer, on the thread that computes.
        raise BrokenModelError(
            f"tokenizer.json: nothing bounds how long the expression '{printable(text, 60)}' in {name} can take."
        )
    return cost


def _growth(name: str, step: Mapping[str, Any]) -> float:
    """Return how many times longer a step can make a text."""
    kind = step["type"]
    if kind == "Replace":
        # An empty pattern matches between any two characters and keeps them.
        content = len(_text(name, step, "content"))
        replaced = len(step["pattern"].get("String", ""))
        return content / replaced if replaced else 1 + content
    if kind == "Prepend":
        return len(_text(name, step, "prepend"))
    if kind == "ByteLevel" and name in ("normalizer", "pre_tokenizer"):
        # Most bytes become a character of two bytes, which the next such step expands again.
        return 2
    if kind == "Precompiled":
        longest = max(map(len, _charsmap(step).split(b"\0")))
        return longest / _MAX_COMPOSED_BYTES
    return 1


def _charsmap(step: Mapping[str, Any]) -> bytes:
    """Return the replacement texts of a table of characters, each followed by a zero byte.

    The table begins with the size of its trie, which the library allocates without checking it.
    """
    try:
        packed = base64.b64decode(_text("normalizer", step, "precompiled_charsmap"), validate=True)
        (size,) = struct.unpack_from("<I", packed)
    except (binascii.Error, ValueError, struct.error) as error:
        raise BrokenModelError(
            f"tokenizer.json: the charsmap in normalizer is not a table of characters: {error}."
        ) from error
    if size % 4 or size > len(packed) - 4:
        raise BrokenModelError(
            f"tokenizer.json: the charsmap in normalizer has {len(packed):,} bytes, and should have {size:,} for its "
            "trie alone."
        )
    return packed[4 + size :]


def _check_template(step: Mapping[str, Any]) -> None:
    """Check that a template puts a few tokens around a text."""
    pieces = [step.get(key) for key in ("single", "pair")]
    special = step.get("special_tokens")
    if not all(isinstance(each, list) for each in pieces) or not isinstance(special, Mapping):
        raise BrokenModelError("tokenizer.json: post_processor has a template without lists of single and pair.")
    ids = [token.get("ids") if isinstance(token, Mapping) else None for token in special.values()]
    if any(isinstance(each, Sequence) and len(each) > _MAX_TEMPLATE_TOKENS for each in (*pieces, *ids)):
        raise BrokenModelError(
            f"tokenizer.json: post_processor puts more than {_MAX_TEMPLATE_TOKENS} tokens around a text; few are right."
        )


def _check_number(name: str, step: Mapping[str, Any], key: str, least: int, most: int) -> None:
    value = step.get(key, least)
    if type(value) is not int or not least <= value <= most:
        raise BrokenModelError(
            f"tokenizer.json: {key} of {step['type']} in {name} is {printable(str(value), 40)}; it should be a number "
            f"from {least} to {most}."
        )


def _check_length(what: str, text: str) -> None:
    if len(text) > _MAX_TEXT_CHARACTERS:
        raise BrokenModelError(
            f"tokenizer.json: {printable(what, 60)} has {len(text):,} characters; it should have at most "
            f"{_MAX_TEXT_CHARACTERS:,}."
        )


def _text(name: str, step: Mapping[str, Any], key: str) -> str:
    value = step.get(key)
    if not isinstance(value, str):
        raise BrokenModelError(f"tokenizer.json: {step['type']} in {name} has no text called {key}.")
    return value

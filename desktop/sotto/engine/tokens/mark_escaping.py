"""Escaping of a model's marks in what users write, where they are text and not marks.

A quoted page may hold `<|im_end|>`, by chance or to pass what follows off as another turn, perhaps the system's. Chat
templates write such marks too, and in a rendered prompt the two cannot be told apart. So messages are escaped before
they are rendered: a character that no text contains goes in front of each mark in them, and when the prompt is
tokenized, marks after that character are spelled out like other words.
"""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Mapping

import tokenizers

from sotto.engine.tokens.infill_marks import INFILL_MARKS

# In front of marks that are text. A noncharacter, which Unicode sets apart for use inside programs.
ESCAPE = "\ufdd0"
# What marks look like that files do not declare special, such as DeepSeek's turns.
_MARKED = re.compile(r"<[|｜].+[|｜]>")
# For all marks together: in a hostile file, every half of many marks may be a mark as well.
_MAX_SPLITS = 10_000

Cut = Callable[[str], list[int]]


class TypedMarks:
    """Tells the marks that a template writes from those that users type."""

    def __init__(self, tokenizer: tokenizers.Tokenizer, added: Mapping[int, tokenizers.AddedToken], cut: Cut) -> None:
        """Find a vocabulary's marks; no other thread may use the tokenizer meanwhile.

        Args:
            tokenizer: The library's.
            added: Its added tokens by their ids.
            cut: Returns the tokens of a text.
        """
        marks = {
            token.content: token_id
            for token_id, token in added.items()
            if len(token.content) > 1
            and (token.special or token.content in INFILL_MARKS or _MARKED.fullmatch(token.content))
        }
        self._cut = cut
        self._escaped = re.compile(f"{ESCAPE}({_either(marks)})")
        self._words = _spelled_out(tokenizer, marks, cut)
        # Text after an escaped mark is tokenized behind a real mark: at its beginning, a text might get a space.
        plain = (
            token
            for token in added.values()
            if token.content in marks and not (token.lstrip or token.rstrip or token.single_word or token.normalized)
        )
        self._before = next((token.content for token in plain), "")

    def __contains__(self, text: str) -> bool:
        """Return whether a text is a mark, so that it can be escaped."""
        return text in self._words

    def escape(self, text: str) -> str:
        """Return a text with its marks escaped."""
        # Some vocabularies have thousands of marks, and hardly any text has one.
        there = [mark for mark in self._words if mark in text]
        return re.sub(_either(there), ESCAPE + r"\g<0>", text) if there else text

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text: escaped marks in it become words, others the tokens of marks."""
        cut = self._cut
        if ESCAPE not in text or not self._words:
            return cut(text)
        first, *others = self._escaped.split(text)
        ids = cut(first) if first else []
        for mark, behind in zip(others[::2], others[1::2], strict=True):
            ids += self._words[mark]
            if behind:
                ids += cut(self._before + behind)[1 if self._before else 0 :]
        return ids


def unescaped(marks: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds some marks in a text where they are not escaped."""
    return re.compile(f"(?<!{ESCAPE})(?:{_either(marks)})")


def _either(marks: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(marks, key=len, reverse=True)))


def _spelled_out(tokenizer: tokenizers.Tokenizer, marks: Mapping[str, int], cut: Cut) -> dict[str, list[int]]:
    """Return the tokens that spell each mark as ordinary text."""
    own = set(marks.values())
    letters = functools.cache(cut)
    tries = itertools.repeat(None, _MAX_SPLITS)

    def spelled(mark: str) -> list[int]:
        ids = cut(mark)
        if not own.intersection(ids):
            return ids
        # A mark that the file does not declare special is matched in a text all the same, but not in two halves of it.
        for place, _ in zip(range(1, len(mark)), tries, strict=False):
            ids = [*cut(mark[:place]), *cut(mark[place:])]
            if not own.intersection(ids):
                return ids
        # Letters that the vocabulary lacks become its unknown token, which is special itself.
        return [token for letter in mark for token in letters(letter)]

    tokenizer.encode_special_tokens = True
    try:
        return {mark: spelled(mark) for mark in marks}
    finally:
        tokenizer.encode_special_tokens = False

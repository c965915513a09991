"""Marks of a model that stand in what somebody says: text there, and no marks.

A page that somebody quotes may hold `<|im_end|>`, by chance or so that what follows is taken for another turn, of the
system perhaps. A template writes such marks, and nobody can tell those from others in the text that it makes. So what
is said is guarded before: a character that is no part of any text goes in front of each mark in it, and when the
prompt is cut into tokens, marks behind that character are spelled out like other words.
"""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Mapping

import tokenizers

from sotto.engine.tokens.infill_marks import INFILL_MARKS

# A noncharacter, which Unicode has set apart for use inside of programs.
_GUARD = "\ufdd0"
# How marks look that files do not call special, as those of DeepSeek's turns.
_MARKED = re.compile(r"<[|｜].+[|｜]>")
# Of all marks together: a file may have many of which every half is a mark as well.
_MOST_HALVES = 10_000

Cut = Callable[[str], list[int]]


class TypedMarks:
    """Tells the marks of a vocabulary that are written by a template from those that are typed."""

    def __init__(self, tokenizer: tokenizers.Tokenizer, added: Mapping[int, tokenizers.AddedToken], cut: Cut) -> None:
        """Find the marks; nobody else may use the tokenizer meanwhile.

        Args:
            tokenizer: The library's.
            added: Its added tokens by their ids.
            cut: Cuts texts into tokens by it.
        """
        marks = {
            token.content: token_id
            for token_id, token in added.items()
            if len(token.content) > 1
            and (token.special or token.content in INFILL_MARKS or _MARKED.fullmatch(token.content))
        }
        self._cut = cut
        self._guarded = re.compile(f"{_GUARD}({_either(marks)})")
        self._words = _spelled_out(tokenizer, marks, cut)
        # A mark in front of a text has it cut as it is behind a mark: at their beginning, texts may get a space.
        plain = (
            token
            for token in added.values()
            if token.content in marks and not (token.lstrip or token.rstrip or token.single_word or token.normalized)
        )
        self._before = next((token.content for token in plain), "")

    def guarded(self, text: str) -> str:
        """Return a text as it is said, in which no mark is one."""
        # Some vocabularies have thousands of marks, and hardly any text has one.
        there = [mark for mark in self._words if mark in text]
        return re.sub(_either(there), _GUARD + r"\g<0>", text) if there else text

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text: marks in it that are guarded become words, others their tokens."""
        cut = self._cut
        if _GUARD not in text or not self._words:
            return cut(text)
        first, *others = self._guarded.split(text)
        ids = cut(first) if first else []
        for mark, behind in zip(others[::2], others[1::2], strict=True):
            ids += self._words[mark]
            if behind:
                ids += cut(self._before + behind)[1 if self._before else 0 :]
        return ids


def _either(marks: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(marks, key=len, reverse=True)))


def _spelled_out(tokenizer: tokenizers.Tokenizer, marks: Mapping[str, int], cut: Cut) -> dict[str, list[int]]:
    """Return the tokens of each mark's letters."""
    own = set(marks.values())
    letters = functools.cache(cut)
    tries = itertools.repeat(None, _MOST_HALVES)

    def spelled(mark: str) -> list[int]:
        ids = cut(mark)
        if not own.intersection(ids):
            return ids
        # Where files do not call a mark special, it is found in a text all the same, but not in two halves of it.
        for place, _ in zip(range(1, len(mark)), tries, strict=False):
            ids = [*cut(mark[:place]), *cut(mark[place:])]
            if not own.intersection(ids):
                return ids
        # Letters that the vocabulary lacks are its token for that, which is special itself.
        return [token for letter in mark for token in letters(letter)]

    tokenizer.encode_special_tokens = True
    try:
        return {mark: spelled(mark) for mark in marks}
    finally:
        tokenizer.encode_special_tokens = False

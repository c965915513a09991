"""Quoting of texts for rules in llguidance's dialect of Lark."""

import json
import re
from collections.abc import Collection, Mapping


def literals(text: str, tokens: Mapping[str, int]) -> str:
    """Return a text as literals in a rule; special tokens in it become token references."""
    return " ".join(
        f"<[{tokens[part]}]>" if part in tokens else json.dumps(part, ensure_ascii=False)
        for part in split_marks(text, tokens)
    )


def split_marks(text: str, marks: Collection[str]) -> list[str]:
    """Split a text into its marks and the texts between them."""
    there = "|".join(map(re.escape, sorted((mark for mark in marks if mark in text), key=len, reverse=True)))
    return [part for part in (re.split(f"({there})", text) if there else [text]) if part]


def regex_of(text: str) -> str:
    """Escape a text for a regular expression between slashes."""
    return re.sub(r"([.^$*+?()\[\]{}|\\/])", r"\\\1", text).replace("\n", r"\n")

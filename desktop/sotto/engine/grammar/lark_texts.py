"""Texts as they stand in rules of llguidance's dialect of Lark."""

import json
import re
from collections.abc import Collection, Mapping


def literals(text: str, tokens: Mapping[str, int]) -> str:
    """Return what stands in a rule for a text; special tokens in it are those tokens."""
    return " ".join(
        f"<[{tokens[part]}]>" if part in tokens else json.dumps(part, ensure_ascii=False)
        for part in split_marks(text, tokens)
    )


def split_marks(text: str, marks: Collection[str]) -> list[str]:
    """Cut a text into the marks in it and what stands between them."""
    there = "|".join(map(re.escape, sorted((mark for mark in marks if mark in text), key=len, reverse=True)))
    return [part for part in (re.split(f"({there})", text) if there else [text]) if part]


def regex_of(text: str) -> str:
    """Return a text in a regular expression between slashes."""
    return re.sub(r"([.^$*+?()\[\]{}|\\/])", r"\\\1", text).replace("\n", r"\n")

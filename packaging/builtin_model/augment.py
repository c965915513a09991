"""Augmentation of training questions: variations and mistakes as people type them."""

import json
import re
from pathlib import Path
from random import Random
from typing import Any

_DATA: dict[str, Any] = json.loads((Path(__file__).parent / "corpus" / "rough.json").read_text(encoding="utf-8"))
_NEIGHBOURS: dict[str, str] = _DATA["neighbours"]
_SHORT: dict[str, str] = _DATA["short"]
_LONG: dict[str, str] = _DATA["long"]
_FILLER_BEFORE: list[str] = _DATA["before"]
_FILLER_AFTER: list[str] = _DATA["after"]
_SIMILAR: dict[str, list[str]] = _DATA["alike"]
_DROPPABLE, _QUESTION_WORDS = frozenset(_DATA["droppable"]), frozenset(_DATA["asking"])
_WORD = re.compile(r"[A-Za-z]{3,}")


def typo(word: str, random: Random) -> str:
    """Return a word with a typing error: a letter swapped, dropped, doubled, replaced or added."""
    if len(word) < 3:
        return word
    index = random.randrange(1, len(word) - 1) if len(word) > 3 else 1
    kind = random.randrange(6)
    if kind == 0:
        return word[:index] + word[index + 1] + word[index] + word[index + 2 :]
    if kind == 1:
        return word[:index] + word[index + 1 :]
    if kind == 2:
        return word[:index] + word[index] + word[index:]
    if kind == 3:
        return word[:index] + random.choice(_NEIGHBOURS.get(word[index].lower(), word[index])) + word[index + 1 :]
    if kind == 4:
        return word[:index] + random.choice(_NEIGHBOURS.get(word[index].lower(), word[index])) + word[index:]
    return word[:-1]


def _misspell(text: str, random: Random, rate: float) -> str:
    return _WORD.sub(lambda match: typo(match[0], random) if random.random() < rate else match[0], text)


def _replace_some(text: str, table: dict[str, str], random: Random, rate: float) -> str:
    for long, short in table.items():
        if long in text and random.random() < rate:
            text = re.sub(rf"\b{re.escape(long)}\b", short, text)
    return text


def _drop_words(text: str, random: Random) -> str:
    words = text.split()
    kept = [word for word in words if word.lower() not in _DROPPABLE or random.random() < 0.4]
    return " ".join(kept) if len(kept) >= 2 else text


def _replace_words(text: str, random: Random) -> str:
    def replacement(match: re.Match[str]) -> str:
        choices = _SIMILAR.get(match[0])
        return random.choice(choices) if choices and random.random() < 0.35 else match[0]

    return _WORD.sub(replacement, text)


def _omit_words(text: str, random: Random) -> str:
    """Omit words of any kind, so that the model relies on no single word."""
    words = text.split()
    if len(words) < 5:
        return text
    kept = [word for word in words if random.random() > 0.12]
    return " ".join(kept) if len(kept) > len(words) / 2 else text


def _join_words(text: str, random: Random) -> str:
    words = text.split()
    if len(words) < 3:
        return text
    index = random.randrange(len(words) - 1)
    return " ".join([*words[:index], words[index] + words[index + 1], *words[index + 2 :]])


def _sentence_case(text: str, random: Random) -> str:
    text = re.sub(r"\bi\b(?=['’ ]|$)", "I", text)
    text = text[:1].upper() + text[1:]
    if text[-1].isalnum() and random.random() < 0.8:
        first = text.split()[0].lower().rstrip(",")
        is_question = first in _QUESTION_WORDS or random.random() < 0.3
        text += "?" if is_question else "."
    return text


def roughen(text: str, random: Random, strength: float = 1.0) -> str:
    """Return a question with random changes of case, punctuation, politeness, contractions and typing errors.

    Args:
        text: The question.
        random: The source of randomness.
        strength: A factor of the probability of each change.
    """
    chance = random.random
    if chance() < 0.35 * strength:
        text = _replace_words(text, random)
    if chance() < 0.12 * strength:
        text = _omit_words(text, random)
    if chance() < 0.22 * strength:
        text = f"{random.choice(_FILLER_BEFORE)} {text}"
    if chance() < 0.10 * strength and not text.endswith("?"):
        text = f"{text} {random.choice(_FILLER_AFTER)}"
    if chance() < 0.10 * strength:
        text = _replace_some(text, _LONG, random, 0.7)
    if chance() < 0.16 * strength:
        text = _replace_some(text, _SHORT, random, 0.4)
    if chance() < 0.07 * strength:
        text = _drop_words(text, random)
    style = chance()
    if style < 0.42:
        text = _sentence_case(text, random)
    elif style < 0.60 and text[-1].isalnum():
        text += "?"
    elif style < 0.64:
        text = text.upper()
    elif style < 0.67:
        text = text.title()
    if chance() < 0.24 * strength:
        text = _misspell(text, random, random.choice((0.12, 0.2, 0.35)))
    if chance() < 0.03 * strength:
        text = _join_words(text, random)
    if chance() < 0.06:
        text = text.rstrip("?.!")
    if "'" in text:
        mark = chance()
        if mark < 0.15:
            text = text.replace("'", "’")
        elif mark < 0.35:
            text = text.replace("'", "")
    return text

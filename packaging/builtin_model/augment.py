"""Makes tidy questions look the way people type them."""

import re
from random import Random

_NEIGHBOURS = {
    "q": "wa", "w": "qes", "e": "wrd", "r": "etf", "t": "ryg", "y": "tuh", "u": "yij", "i": "uok", "o": "ipl", "p": "ol",
    "a": "qsz", "s": "awdx", "d": "sefc", "f": "drgv", "g": "fthb", "h": "gyjn", "j": "hukm", "k": "jil", "l": "kop",
    "z": "asx", "x": "zsdc", "c": "xdfv", "v": "cfgb", "b": "vghn", "n": "bhjm", "m": "njk",
}  # fmt: skip
_SHORT = {
    "you": "u", "are": "r", "please": "pls", "what is": "whats", "what's": "whats", "how do i": "how to", "i am": "im", "i'm": "im",
    "do not": "dont", "don't": "dont", "can't": "cant", "cannot": "cant", "does not": "doesnt", "doesn't": "doesnt", "is it": "isit",
    "for": "4", "to": "2", "your": "ur", "want to": "wanna", "going to": "gonna", "because": "cuz", "with": "w", "without": "w/o",
    "about": "abt", "something": "smth", "where is": "wheres", "who is": "whos", "and": "&", "thanks": "thx", "question": "q",
    "how do": "how 2", "model": "modl", "models": "modles", "really": "rly", "people": "ppl", "though": "tho", "it is": "its",
    "the": "teh", "computer": "pc", "message": "msg", "application": "app", "what are": "what r", "why": "y", "have to": "hafta",
    "should": "shud", "could": "cud", "would": "wud", "know": "no", "anyone": "any1", "give me": "gimme", "let me": "lemme",
    "how can i": "how can", "do you": "do u", "can you": "can u",
}  # fmt: skip
_LONG = {
    "can't": "cannot", "what's": "what is", "don't": "do not", "doesn't": "does not", "i'm": "i am", "it's": "it is", "won't": "will not",
    "how's": "how is", "who's": "who is", "where's": "where is", "you're": "you are", "isn't": "is not", "i'd": "i would",
}  # fmt: skip
_FILLER_BEFORE = (
    "hey", "hey,", "hi,", "hi", "hello,", "hello", "hey there,", "ok", "ok,", "okay so", "so", "so,", "um", "hmm", "please", "pls", "plz",
    "quick question:", "question:", "quick q", "one question,", "can you tell me", "could you tell me", "do you know",
    "tell me", "please tell me", "i want to know", "i'd like to know", "i was wondering", "just wondering,", "just curious,", "sorry but",
    "excuse me,", "and", "well", "now", "also", "btw", "by the way,", "one more thing:", "another question:", "i have a question:",
    "help,", "help me,", "sotto,", "hey sotto,", "dear sotto,", "yo", "good morning,", "good evening,", "no,", "yes,", "but",
    "stupid question but", "sorry for asking,", "i need to know", "any idea", "maybe you know", "can u tell me", "thanks.", "thanks,",
    "ok thanks,", "cool.", "great,", "alright,", "right,", "actually", "wait,", "i'm new here,", "first time user here,", "newbie question:",
    "my friend asks", "explain", "let me ask", "may i ask", "would you mind telling me", "then", "ok then", "next question:",
)  # fmt: skip
_FILLER_AFTER = (
    "please", "pls", "plz", "thanks", "thx", "thank you", "?", "??", "?!", "!", "...", "..", "please?", "here", "exactly", "actually", "then",
    "in sotto", "in this app", "right now", "today", "for me", "now", "again", "tho", "anyway", "mate", "buddy", "i wonder", "if i may ask",
    "thanks in advance", "do you know", "or not", "or what", "at all", "asap", "can you help", "help", "i forgot", "lol", ":)", "i don't get it",
    "by the way", "btw", "really", "bro", "man", "any idea", "i'm lost", "quick", "you know", "sorry",
)  # fmt: skip
_DROPPABLE = frozenset("do does did can could would should i you the a an is are am to of in on my me it this that for please just any some with".split())
_WORD = re.compile(r"[A-Za-z]{3,}")


def typo(word: str, random: Random) -> str:
    """Spell a word wrong in one of the ways fingers do."""
    if len(word) < 3:
        return word
    at = random.randrange(1, len(word) - 1) if len(word) > 3 else 1
    kind = random.randrange(6)
    if kind == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == 1:
        return word[:at] + word[at + 1 :]
    if kind == 2:
        return word[:at] + word[at] + word[at:]
    if kind == 3:
        return word[:at] + random.choice(_NEIGHBOURS.get(word[at].lower(), word[at])) + word[at + 1 :]
    if kind == 4:
        return word[:at] + random.choice(_NEIGHBOURS.get(word[at].lower(), word[at])) + word[at:]
    return word[:-1]


def _misspell(text: str, random: Random, rate: float) -> str:
    return _WORD.sub(lambda found: typo(found[0], random) if random.random() < rate else found[0], text)


def _replace_some(text: str, table: dict[str, str], random: Random, rate: float) -> str:
    for long, short in table.items():
        if long in text and random.random() < rate:
            text = re.sub(rf"\b{re.escape(long)}\b", short, text)
    return text


def _drop_words(text: str, random: Random) -> str:
    words = text.split()
    kept = [word for word in words if word.lower() not in _DROPPABLE or random.random() < 0.4]
    return " ".join(kept) if len(kept) >= 2 else text


def _run_together(text: str, random: Random) -> str:
    words = text.split()
    if len(words) < 3:
        return text
    at = random.randrange(len(words) - 1)
    return " ".join([*words[:at], words[at] + words[at + 1], *words[at + 2 :]])


def _sentence_case(text: str, random: Random) -> str:
    text = re.sub(r"\bi\b(?=['’ ]|$)", "I", text)
    text = text[:1].upper() + text[1:]
    if text[-1].isalnum() and random.random() < 0.8:
        first = text.split()[0].lower().rstrip(",")
        asks = first in _ASKING or random.random() < 0.3
        text += "?" if asks else "."
    return text


_ASKING = frozenset(
    "how what why where when who which can could does do is are will would should may did whats what's am was has have".split()
)


def roughen(text: str, random: Random, strength: float = 1.0) -> str:
    """Vary one question: case, punctuation, politeness, short forms and mistakes; `strength` scales how often."""
    chance = random.random
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
        text = _run_together(text, random)
    if chance() < 0.06:
        text = text.rstrip("?.!")
    if "'" in text:
        mark = chance()
        if mark < 0.15:
            text = text.replace("'", "’")
        elif mark < 0.35:
            text = text.replace("'", "")
    return text

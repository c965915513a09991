"""Checking whether a grammar accepts a text, byte by byte and without a model."""

import functools
import json

from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.engine.grammar.guides import Vocabulary
from walking import byte_level


@functools.cache
def vocabulary():
    """Return a vocabulary with a token for each byte, and its end token."""
    tokenizer = byte_level()
    return Vocabulary(tokenizer, tokenizer.vocab_size), min(tokenizer.eos_ids)


def guide_of(schema):
    """Return a guide for answers that conform to a JSON schema."""
    return vocabulary()[0].guide(Grammar(GrammarKind.JSON_SCHEMA, json.dumps(schema)))


def guide_of_regex(pattern):
    """Return a guide for answers that a pattern matches entirely."""
    return vocabulary()[0].guide(Grammar(GrammarKind.REGEX, pattern, "words.regex"))


def accepts(guide, text):
    """Return whether a text is a complete answer."""
    tokens = [*text.encode(), vocabulary()[1]]
    return guide.fork().followed(tokens) == len(tokens)


def to_json(value):
    """Return a value as compact JSON, the form that answers have."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

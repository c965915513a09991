"""Whether a text is a whole answer by a grammar, asked byte by byte and without any model."""

import functools
import json

from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.engine.grammar.guides import Vocabulary
from walking import byte_level


@functools.cache
def vocabulary():
    """Return a vocabulary of all bytes."""
    tokenizer = byte_level()
    return Vocabulary(tokenizer, tokenizer.vocab_size), min(tokenizer.eos_ids)


def guide_of(schema):
    """Return a guide for answers by a schema."""
    return vocabulary()[0].guide(Grammar(GrammarKind.JSON_SCHEMA, json.dumps(schema)))


def guide_of_regex(pattern):
    """Return a guide for answers that a pattern matches as a whole."""
    return vocabulary()[0].guide(Grammar(GrammarKind.REGEX, pattern, "words.regex"))


def accepts(guide, text):
    """Return whether a text is an answer, and may end."""
    tokens = [*text.encode(), vocabulary()[1]]
    return guide.fork().followed(tokens) == len(tokens)


def written(value):
    """Return a value as answers write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

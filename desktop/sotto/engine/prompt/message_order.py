"""Conversations in the order that a chat template knows.

Clients send several system prompts, some of them in the middle, and several messages of a user in a row. Many templates
were written for one system prompt at the beginning and for turns that alternate: they refuse anything else, or leave
it out without a word.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from sotto.engine.contract.requests import Message

_BETWEEN = "\n\n"


def has_systems(messages: Sequence[Message]) -> bool:
    """Return whether there are system prompts beside one at the beginning."""
    return any(message.role == "system" for message in messages[1:])


def has_rows(messages: Sequence[Message]) -> bool:
    """Return whether messages of a user follow each other."""
    return any(one.role == other.role == "user" for one, other in itertools.pairwise(messages))


def with_one_system(messages: Sequence[Message]) -> Sequence[Message]:
    """Return messages with all system prompts as one at the beginning, as Ollama gives them to its own templates."""
    system = [message for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    return [_joined(system), *others]


def without_rows(messages: Sequence[Message]) -> Sequence[Message]:
    """Return messages in which what a user said in a row is one message."""
    turns: list[Message] = []
    for message in messages:
        if turns and message.role == turns[-1].role == "user":
            turns[-1] = _joined((turns[-1], message))
        else:
            turns.append(message)
    return turns


def _joined(messages: Sequence[Message]) -> Message:
    return replace(messages[0], content=_BETWEEN.join(message.content for message in messages))

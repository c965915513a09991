"""Conversations rearranged for chat templates that expect one system prompt and alternating turns.

Clients send several system prompts, some of them in the middle, and several user messages in a row. Many templates
were written for one system prompt at the beginning and for alternating turns: they refuse anything else, or silently
leave it out.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from sotto.engine.contract.message_content import TextPart, content_of
from sotto.engine.contract.requests import Message

_SEPARATOR = "\n\n"


def has_later_system(messages: Sequence[Message]) -> bool:
    """Return whether there is a system prompt after the first message."""
    return any(message.role == "system" for message in messages[1:])


def has_consecutive_user(messages: Sequence[Message]) -> bool:
    """Return whether two user messages follow each other."""
    return any(first.role == second.role == "user" for first, second in itertools.pairwise(messages))


def merge_system(messages: Sequence[Message]) -> Sequence[Message]:
    """Join all system prompts into one at the beginning, as Ollama does for its own templates."""
    system = [message for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    return [_join(system), *others]


def merge_consecutive_user(messages: Sequence[Message]) -> Sequence[Message]:
    """Join consecutive user messages into one."""
    turns: list[Message] = []
    for message in messages:
        if turns and message.role == turns[-1].role == "user":
            turns[-1] = _join((turns[-1], message))
        else:
            turns.append(message)
    return turns


def _join(messages: Sequence[Message]) -> Message:
    parts = (part for message in messages for part in (TextPart(_SEPARATOR), *message.parts))
    return replace(messages[0], content=content_of(tuple(parts)[1:]))

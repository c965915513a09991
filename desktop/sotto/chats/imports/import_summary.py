"""The sentence about what an import has brought, and what could not be read."""

from collections import Counter

from sotto.chats.adding import Added
from sotto.chats.whole_chat import Lost


def summary(added: Added, lost: Counter[Lost]) -> str:
    """Return a sentence: `Imported 41 chats; 3 images and 1 chat could not be read.`, without the backquotes.

    Args:
        added: What was added.
        lost: What could not be read besides what was lost of the chats that were added.
    """
    clauses = []
    if added.new or not (added.grown or added.known):
        clauses.append(f"imported {_count(len(added.new), 'chat')}")
    if added.grown:
        clauses.append(f"{_count(len(added.grown), 'chat')} got new messages")
    if added.known:
        clauses.append(f"{_count(added.known, 'chat')} {'was' if added.known == 1 else 'were'} already here")
    everything = added.lost + lost
    parts = [_count(everything[what], what.value) for what in reversed(Lost) if everything[what]]
    if parts:
        listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        clauses.append(f"{listed} could not be read")
    sentence = "; ".join(clauses)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}{'' if number == 1 else 's'}"

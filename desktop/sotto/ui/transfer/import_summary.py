"""What an import has brought, and what could not be read."""

from collections import Counter

from sotto.chats.adding import Added
from sotto.chats.whole_chat import Lost
from sotto.ui.state import wording
from sotto.ui.state.names import join_names, join_sentences
from sotto.ui.toolkit.translation import tr


def summary(added: Added, lost: Counter[Lost]) -> str:
    """Return sentences: `Imported 41 chats. 3 images and 1 chat could not be read.`, without the backquotes.

    Args:
        added: What was added.
        lost: What could not be read besides what was lost of the chats that were added.
    """
    new, grown, known = len(added.new), len(added.grown), added.known
    sentences = []
    if new or not (grown or known):
        sentences.append(_counted(tr("Imported 1 chat.|Imported {count} chats.", "", new), new))
    if grown:
        sentences.append(grown_sentence(grown))
    if known:
        sentences.append(_counted(tr("1 chat was already here.|{count} chats were already here.", "", known), known))
    everything = added.lost + lost
    if parts := [_lost(what, everything[what]) for what in reversed(Lost) if everything[what]]:
        sentences.append(tr("{things} could not be read.").format(things=join_names(parts)))
    return join_sentences(sentences)


def grown_sentence(number: int) -> str:
    """Say how many chats have got new messages."""
    return _counted(tr("1 chat got new messages.|{count} chats got new messages.", "", number), number)


def _lost(what: Lost, number: int) -> str:
    things = {
        Lost.CHAT: tr("1 chat|{count} chats", "", number),
        Lost.MESSAGE: tr("1 message|{count} messages", "", number),
        Lost.IMAGE: tr("1 image|{count} images", "", number),
        Lost.RECORDING: tr("1 recording|{count} recordings", "", number),
        Lost.FILE: tr("1 file|{count} files", "", number),
        Lost.TOOL_CALL: tr("1 tool call|{count} tool calls", "", number),
        Lost.PART: tr("1 unknown part|{count} unknown parts", "", number),
    }
    return _counted(things[what], number)


def _counted(text: str, number: int) -> str:
    return text.format(count=wording.count(number))

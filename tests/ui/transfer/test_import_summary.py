"""What is said about an import."""

from collections import Counter

from sotto.chats.adding import Added
from sotto.chats.whole_chat import Lost
from sotto.ui.transfer.import_summary import summary


def told(new=0, grown=0, known=0, lost=None, besides=None):
    added = Added(list(range(new)), list(range(grown)), known, Counter(lost or {}))
    return summary(added, Counter(besides or {}))


def test_the_summary_says_what_came_and_what_did_not():
    assert told(41, lost={Lost.IMAGE: 3}, besides={Lost.CHAT: 1}) == (
        "Imported 41 chats. 3 images and 1 chat could not be read."
    )
    assert told(1) == "Imported 1 chat."
    assert told() == "Imported 0 chats."
    assert told(1200, known=1) == "Imported 1,200 chats. 1 chat was already here."
    assert told(known=12) == "12 chats were already here."
    assert told(grown=1, known=2) == "1 chat got new messages. 2 chats were already here."
    assert told(2, lost={Lost.TOOL_CALL: 1, Lost.FILE: 2}, besides={Lost.FILE: 1, Lost.CHAT: 2}) == (
        "Imported 2 chats. 1 tool call, 3 files and 2 chats could not be read."
    )


def test_everything_that_can_be_lost_has_a_name():
    for what in Lost:
        assert told(1, lost={what: 1}).startswith("Imported 1 chat. 1 "), what

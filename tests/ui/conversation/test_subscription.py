"""Connections that end together."""

from PySide6.QtCore import QObject, Signal

from sotto.ui.conversation.subscription import Subscription


class Source(QObject):
    """Two signals."""

    grew = Signal(int)
    ended = Signal()


def test_all_connections_end_together_and_no_others(qapp):
    heard, source = [], Source()
    source.grew.connect(lambda count: heard.append(("other", count)))
    subscription = Subscription((source.grew, heard.append), (source.ended, lambda: heard.append("end")))
    source.grew.emit(1)
    source.ended.emit()
    assert heard == [("other", 1), 1, "end"]
    for _ in range(2):
        subscription.close()
        source.grew.emit(2)
        source.ended.emit()
    assert heard[3:] == [("other", 2), ("other", 2)]


def test_what_is_gone_already_ends_in_silence(qapp):
    source = Source()
    subscription = Subscription((source.ended, lambda: None))
    del source
    subscription.close()

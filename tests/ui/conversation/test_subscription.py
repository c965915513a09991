"""Signal connections that are ended together."""

from PySide6.QtCore import QObject, Signal

from sotto.ui.conversation.subscription import Subscription


class Source(QObject):
    """An object with two signals."""

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


def test_ending_connections_of_a_deleted_object_is_silent(qapp):
    source = Source()
    subscription = Subscription((source.ended, lambda: None))
    del source
    subscription.close()

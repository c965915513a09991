"""Messages below each other: how they are measured."""

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sotto.chats.chat_records import Role, State, Turn
from sotto.ui.transcript.message_column import MessageColumn
from sotto.ui.transcript.message_widgets import UserMessage


class Neighbour(QWidget):
    """A widget outside the column, which counts the layouts that it is asked for."""

    requests = 0

    def event(self, event):
        self.requests += event.type() == QEvent.Type.LayoutRequest
        return super().event(event)


def test_measuring_a_message_lays_out_nothing_around_the_column(qtbot):
    around = Neighbour()
    qtbot.addWidget(around)
    column = MessageColumn(UserMessage)
    QVBoxLayout(around).addWidget(column)
    with qtbot.waitExposed(around):
        around.show()
    column.fill([Turn(1, None, Role.USER, "Good day", State.COMPLETE, 0.0)])
    QCoreApplication.sendPostedEvents(around, QEvent.Type.LayoutRequest)
    before = around.requests
    QCoreApplication.postEvent(around, QEvent(QEvent.Type.LayoutRequest))
    column.arrange()
    column.update_widgets(0, 400)
    column.arrange()
    assert around.requests == before
    assert column.widgets

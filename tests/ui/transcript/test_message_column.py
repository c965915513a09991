"""How a column of messages is measured."""

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sotto.chats.chat_records import Role, State, Turn
from sotto.ui.transcript.message_column import MessageColumn
from sotto.ui.transcript.user_message import UserMessage


class Container(QWidget):
    """A widget around the column that counts its layout requests."""

    requests = 0

    def event(self, event):
        self.requests += event.type() == QEvent.Type.LayoutRequest
        return super().event(event)


def test_measuring_a_message_does_not_lay_out_the_surroundings(qtbot):
    container = Container()
    qtbot.addWidget(container)
    column = MessageColumn(UserMessage)
    QVBoxLayout(container).addWidget(column)
    with qtbot.waitExposed(container):
        container.show()
    column.fill([Turn(1, None, Role.USER, "Good day", State.COMPLETE, 0.0)])
    QCoreApplication.sendPostedEvents(container, QEvent.Type.LayoutRequest)
    before = container.requests
    QCoreApplication.postEvent(container, QEvent(QEvent.Type.LayoutRequest))
    column.arrange()
    column.update_widgets(0, 400)
    column.arrange()
    assert container.requests == before
    assert column.widgets

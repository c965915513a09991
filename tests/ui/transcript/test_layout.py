"""Where messages stand: in line with the composer, whatever the scroll bar does, and what the pointer is over."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QScrollArea

from clicks import point_at
from scripted_loop import record
from sotto.chats.chat_records import State

SIZES = [(720, 480), (1120, 760), (1600, 1000)]
BOTH = pytest.mark.parametrize("direction", list(Qt.LayoutDirection)[:2])


def sides(window, widget):
    """Return the left and right edge of a widget in the window."""
    area = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())
    return area.left(), area.right()


def ask(stage, qtbot, text):
    before = len(stage.chat_session.turns)
    stage.window.send(text)
    qtbot.waitUntil(lambda: len(stage.chat_session.turns) == before + 2 and not stage.chat_session.busy)
    qtbot.waitUntil(lambda: stage.chat_session.turns[-1].id > 0)


@BOTH
def test_messages_are_as_wide_as_the_composer_and_stay_when_the_scroll_bar_appears(
    ready, qtbot, loop, directed, direction
):
    directed(direction)
    window, transcript = ready.window, ready.window.chat.transcript
    bar = transcript.verticalScrollBar()
    ask(ready, qtbot, "One")
    places = {}
    for size in SIZES:
        window.resize(*size)
        qtbot.waitUntil(lambda: sides(window, transcript.last_message) == sides(window, window.chat.composer))
        assert bar.maximum() == 0
        places[size] = sides(window, transcript.last_message)
        # Beside the settings of the chat, or below them where there is room for one of both.
        window.chat.toggle_choices()
        if transcript.isVisible():
            qtbot.waitUntil(lambda: sides(window, transcript.last_message) == sides(window, window.chat.composer))
        assert window.chat.composer.isVisible()
        window.chat.hide_choices()
    ready.script.chunks = ["line\n\n" * 80]
    ask(ready, qtbot, "Two")
    for size, place in places.items():
        window.resize(*size)
        qtbot.waitUntil(lambda place=place: bar.maximum() > 0 and sides(window, window.chat.composer) == place)
        qtbot.waitUntil(lambda place=place: {sides(window, each) for each in transcript.messages} == {place})


def hovered(widgets):
    return [index for index, widget in enumerate(widgets) if widget.underMouse()]


def beneath(widgets):
    """Return the widgets that the pointer really is over."""
    place = QCursor.pos()
    return [index for index, widget in enumerate(widgets) if widget.rect().contains(widget.mapFromGlobal(place))]


def test_no_row_or_message_keeps_its_hover_when_something_else_comes_under_the_pointer(ready, qtbot, loop):
    window = ready.window
    for number in range(30):
        ready.shelf.records.append(record(f"model-{number}:latest"))
    ready.session.library.rescan()
    window.resize(780, 560)
    qtbot.waitUntil(lambda: len(window.sidebar.rows) > 30)
    rows = window.sidebar.rows
    (area,) = [area for area in window.models.panel.findChildren(QScrollArea) if area.isAncestorOf(rows[0])]
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 500)

    # A list that is scrolled, by the wheel for example, moves under the pointer.
    point_at(rows[2])
    qtbot.waitUntil(lambda: hovered(rows) == [2])
    area.verticalScrollBar().setValue(180)
    assert beneath(rows) != [2]
    qtbot.waitUntil(lambda: hovered(rows) == beneath(rows))
    assert len(hovered(rows)) == 1
    # Rows that are filtered out leave others under the pointer.
    window.sidebar.search.setText("model-2")
    qtbot.waitUntil(lambda: [row for row in hovered(rows) if rows[row].isHidden()] == [])
    window.sidebar.search.setText("")
    # A menu, a list or another window over a row.
    area.verticalScrollBar().setValue(0)
    point_at(rows[2])
    qtbot.waitUntil(lambda: hovered(rows) == [2])
    window.choose_model()
    qtbot.waitUntil(lambda: hovered(rows) == [])
    window.models.picker.hide()
    # The window is closed to the tray, the pointer goes away, and the window comes back.
    point_at(rows[2])
    qtbot.waitUntil(lambda: hovered(rows) == [2])
    window.hide()
    QCursor.setPos(window.mapToGlobal(QPoint(window.width() + 5, 5)))
    window.show()
    qtbot.waitUntil(lambda: hovered(rows) == [])

    # Messages show their buttons in the same way.
    ready.script.chunks = ["line\n\n" * 12]
    for question in ("One", "Two", "Three"):
        ask(ready, qtbot, question)
    transcript = window.chat.transcript
    transcript.stop_following()
    transcript.verticalScrollBar().setValue(0)
    qtbot.waitUntil(lambda: transcript.settled)
    answers = transcript.messages[1::2]
    point_at(answers[0])
    qtbot.waitUntil(lambda: answers[0].actions_shown.shown)
    transcript.verticalScrollBar().setValue(answers[1].y() - 40)
    qtbot.waitUntil(lambda: not answers[0].actions_shown.shown and answers[1].actions_shown.shown)


def test_no_row_of_the_chats_keeps_its_hover(ready, qtbot, loop):
    def fill(store):
        for number in range(60):
            chat = store.add_chat()
            store.end_answer(
                store.begin_answer(store.ask(chat, f"Question {number}", None), "tiny"), "Yes.", State.COMPLETE
            )

    ready.keeper.do(fill, lambda _: ready.window.chat_library.refresh())
    view = ready.window.sidebar.chats.view
    bar = view.verticalScrollBar()
    qtbot.waitUntil(lambda: len(ready.window.sidebar.chats.model.rows) == 61 and bar.maximum() > 500)

    def painted():
        """Return the rows that are painted as hovered, by the colour of their left edge."""
        picture, height = view.viewport().grab().toImage(), view.viewport().height()
        rows = {view.indexAt(QPoint(4, y)).row(): y for y in range(0, height, 4)}
        plain = [row for row, y in rows.items() if picture.pixelColor(4, y) != picture.pixelColor(1, height - 1)]
        return sorted(set(plain) - {0, -1})

    point_at(view.viewport(), QPoint(40, 80))
    qtbot.waitUntil(lambda: painted() == [view.indexAt(QPoint(40, 80)).row()])
    bar.setValue(400)
    qtbot.waitUntil(lambda: painted() == [view.indexAt(QPoint(40, 80)).row()])
    point_at(ready.window.chat.composer)
    qtbot.waitUntil(lambda: painted() == [])

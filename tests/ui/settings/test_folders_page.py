"""Folders of the list of chats: made, named, filled, closed and deleted, with the mouse and by keys."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu

from sotto.chats.chat_records import Shelf
from sotto.ui.window.chat_list_model import CHAT_TYPE, FolderRow


@pytest.fixture
def three(ready, qtbot, loop):
    """The stage, with three chats, the last one at the top."""

    def ask():
        for question in ("One", "Two", "Three"):
            ready.window.current.new_chat()
            ready.window.send(question)
            qtbot.waitUntil(lambda: not ready.chat_session.busy and len(ready.chat_session.turns) == 2)
        qtbot.waitUntil(lambda: rows(ready) == ["Three", "Two", "One"])

    loop.starts.append(ask)
    return ready


def rows(stage):
    """Return what is listed, folders in brackets and what is in them with a step."""
    model = stage.window.sidebar.chats.model
    return [
        f"[{row.folder.name} {row.count}]"
        if isinstance(row, FolderRow)
        else ("  " if model.is_inside(number) else "") + row.chat.title
        for number, row in enumerate(model.rows)
    ]


def chat(stage, title):
    return next(e.chat for e in stage.window.sidebar.chats.model.entries if e.chat.title == title)


def act(menu, text):
    """Choose what is called `text` in a menu, or in one inside it."""
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu) and act(inner, text):
            return True
        if action.text() == text:
            action.trigger()
            return True
    return False


def name(stage, qtbot, text):
    """Type a name into the editor that is open, and leave it."""
    view = stage.window.sidebar.chats.view
    qtbot.waitUntil(lambda: view.findChild(QLineEdit) is not None)
    editor = view.findChild(QLineEdit)
    qtbot.keyClicks(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)


def folder_of(stage, qtbot, title, text):
    """Put a chat into a new folder."""
    chats = stage.window.sidebar.chats
    assert act(chats.chat_menu(chat(stage, title)), "New Folder…")
    name(stage, qtbot, text)
    qtbot.waitUntil(lambda: f"[{text} 1]" in rows(stage))


def test_a_folder_is_made_from_the_menu_bar_and_named_in_place(three, qtbot, loop):
    (action,) = [action for action in three.window.menus.actions() if action.text() == "New Chat Folder"]
    assert action.shortcut().toString() == "Ctrl+Shift+N"
    action.trigger()
    name(three, qtbot, "Work")
    qtbot.waitUntil(lambda: rows(three) == ["[Work 0]", "Three", "Two", "One"])
    row = three.window.sidebar.chats.model.index(0)
    assert row.data(Qt.ItemDataRole.AccessibleTextRole) == "Folder Work, 0 chats, open"


def test_chats_are_moved_by_menu_and_stay_when_the_folder_goes(three, qtbot, loop):
    chats, notice = three.window.sidebar.chats, three.window.chat.notice
    folder_of(three, qtbot, "Two", "Work")
    assert rows(three) == ["[Work 1]", "  Two", "Three", "One"]
    assert act(chats.chat_menu(chat(three, "One")), "Work")
    qtbot.waitUntil(lambda: rows(three) == ["[Work 2]", "  Two", "  One", "Three"])
    assert act(chats.chat_menu(chat(three, "Two")), "No Folder")
    qtbot.waitUntil(lambda: rows(three) == ["[Work 1]", "  One", "Three", "Two"])
    assert act(chats.folder_menu(chats.model.rows[0].folder), "Delete Folder; Its Chats Stay")
    qtbot.waitUntil(lambda: rows(three) == ["Three", "Two", "One"])
    assert (notice.title.text(), notice.button.text()) == ("Folder deleted", "Undo")
    notice.button.click()
    qtbot.waitUntil(lambda: rows(three) == ["[Work 1]", "  One", "Three", "Two"])


def test_chats_are_dragged_into_folders_and_out_of_them(three, qtbot, loop):
    view, model = three.window.sidebar.chats.view, three.window.sidebar.chats.model
    folder_of(three, qtbot, "One", "Work")

    def drag(title, on):
        row = model.row_of(chat=chat(three, title).id)
        data = model.mimeData([model.index(row)])
        assert data.hasFormat(CHAT_TYPE)
        place = QPointF(view.visualRect(model.index(on)).center() if on >= 0 else QPoint(5, 4000))
        buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        move = QDragMoveEvent(place.toPoint(), Qt.DropAction.MoveAction, data, buttons, keys)
        view.dragMoveEvent(move)
        assert move.isAccepted()
        assert view.itemDelegate().target == on
        view.dropEvent(QDropEvent(place, Qt.DropAction.MoveAction, data, buttons, keys))
        assert view.itemDelegate().target == -1

    drag("Three", 0)
    qtbot.waitUntil(lambda: rows(three) == ["[Work 2]", "  Three", "  One", "Two"])
    drag("Two", 2)
    qtbot.waitUntil(lambda: rows(three) == ["[Work 3]", "  Three", "  Two", "  One"])
    drag("One", -1)
    qtbot.waitUntil(lambda: rows(three) == ["[Work 2]", "  Three", "  Two", "One"])
    assert model.mimeData([model.index(0)]).formats() == []


def test_a_folder_is_closed_and_opened_by_keys_and_stays_so(three, qtbot, loop, tmp_path):
    view, model = three.window.sidebar.chats.view, three.window.sidebar.chats.model
    folder_of(three, qtbot, "One", "Work")
    view.setFocus()
    view.setCurrentIndex(model.index(1))
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert view.currentIndex().row() == 0
    qtbot.keyClick(view, Qt.Key.Key_Left)
    qtbot.waitUntil(lambda: rows(three) == ["[Work 1]", "Three", "Two"])
    view.setCurrentIndex(model.index(0))
    qtbot.keyClick(view, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: len(model.rows) == 4)
    view.setCurrentIndex(model.index(0))
    qtbot.keyClick(view, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(model.rows) == 3)
    # It is what the file says, so it is so at the next start.
    three.window.chat_library.refresh()
    qtbot.wait(100)
    assert rows(three) == ["[Work 1]", "Three", "Two"]
    view.setCurrentIndex(model.index(0))
    qtbot.keyClick(view, Qt.Key.Key_F2)
    name(three, qtbot, "Play")
    qtbot.waitUntil(lambda: rows(three) == ["[Play 1]", "Three", "Two"])


def test_what_is_looked_for_is_found_in_closed_folders_and_on_every_shelf(three, qtbot, loop):
    chats, shelf, search = three.window.sidebar.chats, three.window.chat_library, three.window.sidebar.search
    folder_of(three, qtbot, "One", "Work")
    shelf.close_folder(chats.model.rows[0].folder.id, closed=True)
    shelf.move_to_trash(chat(three, "Two"))
    shelf.archive(chat(three, "Three").id, archived=True)
    qtbot.waitUntil(lambda: rows(three) == ["[Work 1]"])
    for which, word, title in (
        (Shelf.CURRENT, "one", "One"),
        (Shelf.TRASH, "two", "Two"),
        (Shelf.ARCHIVED, "three", "Three"),
    ):
        shelf.show_shelf(which)
        search.setText(word)
        qtbot.waitUntil(lambda title=title: rows(three) == [title])
        # What the model said is found there too.
        search.setText("hello the")
        qtbot.waitUntil(lambda title=title: rows(three) == [title])


def test_a_name_that_is_being_typed_is_not_replaced(three, qtbot, loop):
    chats = three.window.sidebar.chats
    chats.rename(chat(three, "Two").id)
    editor = chats.view.findChild(QLineEdit)
    editor.setText("Deux")
    three.window.chat_library.refresh()
    qtbot.wait(100)
    assert editor.text() == "Deux"
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: rows(three) == ["Three", "Deux", "One"])


def test_names_of_folders_are_never_read_as_html_or_keys(three, qtbot, loop):
    folder_of(three, qtbot, "One", "<b>R&D</b>")
    chats = three.window.sidebar.chats
    assert "<b>" not in chats.model.index(0).data(Qt.ItemDataRole.ToolTipRole).replace("&lt;b&gt;", "")
    assert act(chats.chat_menu(chat(three, "Two")), "<b>R&&D</b>")
    qtbot.waitUntil(lambda: "[<b>R&D</b> 2]" in rows(three))


def test_letters_typed_on_the_list_are_for_the_message(three, qtbot, loop):
    view = three.window.sidebar.chats.view
    view.setFocus()
    view.setCurrentIndex(view.model().index(1))
    qtbot.keyClicks(view, "T")
    qtbot.waitUntil(three.window.chat.composer.draft.hasFocus)
    assert three.window.chat.composer.text == "T"
    assert view.currentIndex().row() == 1
    assert isinstance(QApplication.focusWidget(), type(three.window.chat.composer.draft))

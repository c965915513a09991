"""Folders in the list of chats: creating, naming, filling, closing and deleting them, by mouse and keyboard."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu

from sotto.chats.chat_records import Shelf
from sotto.ui.window.chat_list_model import CHAT_TYPE, FolderRow, GroupRow


@pytest.fixture
def three_chats(ready, qtbot, loop):
    """Return the stage with three chats, the newest one at the top."""

    def ask():
        for question in ("One", "Two", "Three"):
            ready.window.current.new_chat()
            ready.window.send(question)
            qtbot.waitUntil(lambda: not ready.chat_session.busy and len(ready.chat_session.turns) == 2)
        qtbot.waitUntil(lambda: rows(ready) == ["Three", "Two", "One"])

    loop.starts.append(ask)
    return ready


def rows(stage):
    """Return the listed rows, with folders in brackets and their chats indented."""
    model = stage.window.sidebar.chats.model
    return [
        f"[{row.folder.name} {row.count}]"
        if isinstance(row, FolderRow)
        else ("  " if model.is_inside(number) else "") + row.chat.title
        for number, row in enumerate(model.rows)
        if not isinstance(row, GroupRow)
    ]


def chat(stage, title):
    return next(e.chat for e in stage.window.sidebar.chats.model.entries if e.chat.title == title)


def trigger(menu, text):
    """Trigger the action labelled `text` in a menu or its submenus; return whether there is one."""
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu) and trigger(inner, text):
            return True
        if action.text() == text:
            action.trigger()
            return True
    return False


def type_name(stage, qtbot, text):
    """Type a name into the open editor, and commit it."""
    view = stage.window.sidebar.chats.view
    qtbot.waitUntil(lambda: view.findChild(QLineEdit) is not None)
    editor = view.findChild(QLineEdit)
    qtbot.keyClicks(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)


def move_to_new_folder(stage, qtbot, title, text):
    """Put a chat into a new folder."""
    chats = stage.window.sidebar.chats
    assert trigger(chats.chat_menu(chat(stage, title)), "New Folder…")
    type_name(stage, qtbot, text)
    qtbot.waitUntil(lambda: f"[{text} 1]" in rows(stage))


def test_a_folder_is_created_from_the_menu_bar_and_named_in_place(three_chats, qtbot, loop):
    (action,) = [action for action in three_chats.window.menus.actions() if action.text() == "New Chat Folder"]
    assert action.shortcut().toString() == "Ctrl+Shift+N"
    action.trigger()
    type_name(three_chats, qtbot, "Work")
    qtbot.waitUntil(lambda: rows(three_chats) == ["[Work 0]", "Three", "Two", "One"])
    row = three_chats.window.sidebar.chats.model.index(0)
    assert row.data(Qt.ItemDataRole.AccessibleTextRole) == "Folder Work, 0 chats, open"


def test_chats_are_moved_by_menu_and_stay_when_the_folder_is_deleted(three_chats, qtbot, loop):
    chats, notice = three_chats.window.sidebar.chats, three_chats.window.chat.notice
    move_to_new_folder(three_chats, qtbot, "Two", "Work")
    assert rows(three_chats) == ["[Work 1]", "  Two", "Three", "One"]
    assert trigger(chats.chat_menu(chat(three_chats, "One")), "Work")
    qtbot.waitUntil(lambda: rows(three_chats) == ["[Work 2]", "  Two", "  One", "Three"])
    assert trigger(chats.chat_menu(chat(three_chats, "Two")), "No Folder")
    qtbot.waitUntil(lambda: rows(three_chats) == ["[Work 1]", "  One", "Three", "Two"])
    assert trigger(chats.folder_menu(chats.model.rows[0].folder), "Delete Folder but Keep Chats")
    qtbot.waitUntil(lambda: rows(three_chats) == ["Three", "Two", "One"])
    assert (notice.title.text(), notice.button.text()) == ("Folder deleted", "Undo")
    notice.button.click()
    qtbot.waitUntil(lambda: rows(three_chats) == ["[Work 1]", "  One", "Three", "Two"])


def test_chats_are_dragged_into_folders_and_out_of_them(three_chats, qtbot, loop):
    view, model = three_chats.window.sidebar.chats.view, three_chats.window.sidebar.chats.model
    move_to_new_folder(three_chats, qtbot, "One", "Work")

    def drag(title, on):
        row = model.row_of(chat=chat(three_chats, title).id)
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
    qtbot.waitUntil(lambda: rows(three_chats) == ["[Work 2]", "  Three", "  One", "Two"])
    drag("Two", 2)
    qtbot.waitUntil(lambda: rows(three_chats) == ["[Work 3]", "  Three", "  Two", "  One"])
    drag("One", -1)
    qtbot.waitUntil(lambda: rows(three_chats) == ["[Work 2]", "  Three", "  Two", "One"])
    assert model.mimeData([model.index(0)]).formats() == []


def test_a_folder_is_closed_and_opened_by_keys_and_stays_that_way(three_chats, qtbot, loop, tmp_path):
    view, model = three_chats.window.sidebar.chats.view, three_chats.window.sidebar.chats.model
    move_to_new_folder(three_chats, qtbot, "One", "Work")
    view.setFocus()
    view.setCurrentIndex(model.index(1))
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert view.currentIndex().row() == 0
    qtbot.keyClick(view, Qt.Key.Key_Left)
    qtbot.waitUntil(lambda: rows(three_chats) == ["[Work 1]", "Three", "Two"])
    view.setCurrentIndex(model.index(0))
    qtbot.keyClick(view, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: len(model.rows) == 5)
    view.setCurrentIndex(model.index(0))
    qtbot.keyClick(view, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(model.rows) == 4)
    # The state comes from the file, so it survives a restart.
    three_chats.window.chat_library.refresh()
    qtbot.wait(100)
    assert rows(three_chats) == ["[Work 1]", "Three", "Two"]
    view.setCurrentIndex(model.index(0))
    qtbot.keyClick(view, Qt.Key.Key_F2)
    type_name(three_chats, qtbot, "Play")
    qtbot.waitUntil(lambda: rows(three_chats) == ["[Play 1]", "Three", "Two"])


def test_search_includes_closed_folders_and_all_shelves(three_chats, qtbot, loop):
    chats, shelf, search = (
        three_chats.window.sidebar.chats,
        three_chats.window.chat_library,
        three_chats.window.sidebar.search,
    )
    move_to_new_folder(three_chats, qtbot, "One", "Work")
    shelf.close_folder(chats.model.rows[0].folder.id, closed=True)
    shelf.move_to_trash(chat(three_chats, "Two"))
    shelf.archive(chat(three_chats, "Three").id, archived=True)
    qtbot.waitUntil(lambda: rows(three_chats) == ["[Work 1]"])
    for which, word, title in (
        (Shelf.CURRENT, "one", "One"),
        (Shelf.TRASH, "two", "Two"),
        (Shelf.ARCHIVED, "three", "Three"),
    ):
        shelf.show_shelf(which)
        search.setText(word)
        qtbot.waitUntil(lambda title=title: rows(three_chats) == [title])
        # The model's answers are found there too.
        search.setText("hello the")
        qtbot.waitUntil(lambda title=title: rows(three_chats) == [title])


def test_a_name_being_typed_is_not_replaced(three_chats, qtbot, loop):
    chats = three_chats.window.sidebar.chats
    chats.rename(chat(three_chats, "Two").id)
    editor = chats.view.findChild(QLineEdit)
    editor.setText("Deux")
    three_chats.window.chat_library.refresh()
    qtbot.wait(100)
    assert editor.text() == "Deux"
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: rows(three_chats) == ["Three", "Deux", "One"])


def test_folder_names_are_never_read_as_html_or_shortcuts(three_chats, qtbot, loop):
    move_to_new_folder(three_chats, qtbot, "One", "<b>R&D</b>")
    chats = three_chats.window.sidebar.chats
    assert "<b>" not in chats.model.index(0).data(Qt.ItemDataRole.ToolTipRole).replace("&lt;b&gt;", "")
    assert trigger(chats.chat_menu(chat(three_chats, "Two")), "<b>R&&D</b>")
    qtbot.waitUntil(lambda: "[<b>R&D</b> 2]" in rows(three_chats))


def test_letters_typed_on_the_list_go_to_the_draft(three_chats, qtbot, loop):
    view = three_chats.window.sidebar.chats.view
    view.setFocus()
    view.setCurrentIndex(view.model().index(1))
    qtbot.keyClicks(view, "T")
    qtbot.waitUntil(three_chats.window.chat.composer.draft.hasFocus)
    assert three_chats.window.chat.composer.text == "T"
    assert view.currentIndex().row() == 1
    assert isinstance(QApplication.focusWidget(), type(three_chats.window.chat.composer.draft))

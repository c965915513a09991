"""The sidebar: its sections are divided and folded, and in a small window it is a drawer over the chat."""

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from clipping import assert_whole
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.toolkit import motion

SMALL = (720, 480)
pytestmark = pytest.mark.usefixtures("same_machine")


@pytest.fixture
def chats(ready, qtbot, loop):
    """Return the numbers of three listed chats."""
    numbers = []

    def ask(store):
        for title in ("One", "Two", "Three"):
            numbers.append(store.add_chat())
            store.change(numbers[-1], title=title)
            store.ask(numbers[-1], title, None)

    def fill():
        ready.keeper.do(ask, lambda _: ready.window.chat_library.refresh())
        qtbot.waitUntil(lambda: len(ready.window.sidebar.chats.model.entries) == 3)

    loop.starts.append(fill)
    return numbers


def drag(splitter, by):
    """Drag the handle of a splitter down by so many pixels."""
    handle = splitter.handle(1)
    start = handle.mapToGlobal(handle.rect().center())
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    for kind, button, buttons, moved in (
        (QEvent.Type.MouseButtonPress, left, left, 0),
        (QEvent.Type.MouseMove, none, left, by),
        (QEvent.Type.MouseButtonRelease, left, none, by),
    ):
        there = start + QPoint(0, moved)
        event = QMouseEvent(kind, handle.mapFromGlobal(there), there, button, buttons, Qt.KeyboardModifier(0))
        QApplication.sendEvent(handle, event)


def test_the_sections_of_the_sidebar_are_divided_and_folded(ready, qtbot, loop, preferences, chats):
    window, sidebar = ready.window, ready.window.sidebar
    sections, models = sidebar.sections, sidebar.models
    window.resize(1120, 900)
    qtbot.waitUntil(lambda: sections.height() > 600)
    # The division follows in a later turn of the event loop.
    wanted = sidebar.chats.sizeHint().height()
    qtbot.waitUntil(lambda: sections.sizes()[0] == pytest.approx(min(wanted, sections.height() // 2), abs=8))
    before = sections.sizes()[0]
    drag(sections, 150)
    assert sections.sizes()[0] > before + 100
    qtbot.waitUntil(lambda: preferences.values.sidebar_share > 0)
    share = preferences.values.sidebar_share
    # The share stays when the window and the lists change.
    window.resize(1120, 700)
    qtbot.waitUntil(lambda: sections.height() < 600)
    ready.keeper.do(lambda store: store.add_chat(), lambda _: window.chat_library.refresh())
    qtbot.waitUntil(lambda: sections.sizes()[0] / sum(sections.sizes()) == pytest.approx(share, abs=0.02))

    # A folded section leaves its title, and the other one gets the room.
    sidebar.chats.title.setFocus()
    qtbot.keyClick(sidebar.chats.title, Qt.Key.Key_Space)
    assert sidebar.chats.title.accessibleName() == "Chats, collapsed"
    qtbot.waitUntil(lambda: sidebar.chats.height() < 2 * sidebar.chats.title.height())
    assert not sidebar.chats.view.isVisible()
    qtbot.waitUntil(lambda: models.height() > sections.height() - 2 * sidebar.chats.title.height())
    models.title.click()
    qtbot.waitUntil(lambda: models.height() < 2 * models.title.height())
    assert not models.area.isVisible()
    assert not models.get.isVisible()
    qtbot.waitUntil(lambda: models.y() < 2 * models.title.height())
    assert preferences.values.folded_sections == ("chats", "models")
    # A search shows what it finds in both.
    sidebar.search.setText("One")
    qtbot.waitUntil(lambda: len(sidebar.chats.model.entries) == 1 and sidebar.chats.view.isVisible())
    assert models.area.isVisible()
    sidebar.search.clear()
    assert not models.area.isVisible()
    # So does the way to the models by key.
    qtbot.keyClick(window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert models.rows[0].hasFocus()
    assert preferences.values.folded_sections == ("chats",)
    preferences.close()
    values = PreferenceStore(preferences.path).values
    assert (values.folded_sections, values.sidebar_share) == (("chats",), share)


@pytest.fixture
def arranged(preferences):
    """Let an earlier run have folded the models and divided the sidebar."""
    preferences.change(folded_sections=("models",), sidebar_share=0.7)


def test_the_sections_are_as_they_were_at_the_last_start(arranged, ready, qtbot, loop, chats):
    sidebar = ready.window.sidebar
    assert (sidebar.chats.title.folded, sidebar.models.title.folded) == (False, True)
    assert not sidebar.models.area.isVisible()
    sidebar.models.title.click()
    sizes = sidebar.sections.sizes
    qtbot.waitUntil(lambda: sizes()[0] / sum(sizes()) == pytest.approx(0.7, abs=0.02))


def test_in_a_small_window_the_sidebar_is_a_drawer(ready, qtbot, loop, preferences, chats):
    window, panes, sidebar = ready.window, ready.window.panes, ready.window.sidebar
    draft, button = window.chat.composer.draft, window.chat.sidebar_button
    assert not button.isVisible()
    window.resize(*SMALL)
    qtbot.waitUntil(button.isVisible)
    assert (window.width(), window.height()) == SMALL
    assert not sidebar.isVisible()
    assert window.chat.width() == SMALL[0]
    qtbot.waitUntil(lambda: assert_whole(window))

    def is_open():
        return sidebar.isVisible() and sidebar.geometry().left() == 0

    # By key: the focus goes in, and comes back with Esc.
    draft.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(is_open)
    assert sidebar.search.hasFocus()
    assert window.chat.width() == SMALL[0]
    qtbot.waitUntil(lambda: assert_whole(sidebar))
    sidebar.chats.view.setFocus()
    qtbot.keyClick(sidebar.chats.view, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not sidebar.isVisible())
    assert draft.hasFocus()

    # By the button, to which the focus returns after a click outside.
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    qtbot.waitUntil(is_open)
    outside = panes.childAt(panes.width() - 10, panes.height() // 2)
    assert not window.chat.isAncestorOf(outside)
    qtbot.mouseClick(outside, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not sidebar.isVisible())
    assert button.hasFocus()

    # A chat is chosen, also the one that is in view already.
    for _ in range(2):
        button.click()
        qtbot.waitUntil(is_open)
        view = sidebar.chats.view
        view.setCurrentIndex(view.model().index(sidebar.chats.model.row_of(chat=chats[0])))
        view.setFocus()
        qtbot.keyClick(view, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: not sidebar.isVisible())
        qtbot.waitUntil(lambda: window.current.session.chat == chats[0])
        assert draft.hasFocus()

    # A model's card opens beside the drawer, which stays.
    button.click()
    qtbot.waitUntil(is_open)
    qtbot.mouseClick(sidebar.rows[1], Qt.MouseButton.LeftButton)
    card = window.models.card
    qtbot.waitUntil(card.isVisible)
    assert card.geometry().left() > sidebar.geometry().right()
    assert window.centralWidget().rect().contains(card.geometry())
    card.take_focus()
    assert panes.drawer_open
    draft.setFocus()
    qtbot.waitUntil(lambda: not sidebar.isVisible())
    assert card.isHidden()

    # A download that is started appears in it.
    window.models.downloading.open()
    form = window.models.downloading.form
    assert window.centralWidget().rect().contains(form.geometry())
    qtbot.keyClicks(form.field, "llama3.2:3b")
    qtbot.keyClick(form.field, Qt.Key.Key_Return)
    qtbot.waitUntil(is_open)
    assert len(sidebar.models.downloads.rows) == 1
    draft.setFocus()
    qtbot.waitUntil(lambda: not sidebar.isVisible())

    # With room, it is beside the chat again, and none of this was a choice to hide it.
    window.resize(1120, 760)
    qtbot.waitUntil(lambda: sidebar.isVisible() and window.chat.x() == sidebar.width())
    assert not button.isVisible()
    assert not preferences.values.sidebar_hidden
    sidebar.hide_button.click()
    qtbot.waitUntil(button.isVisible)
    assert preferences.values.sidebar_hidden
    button.click()
    assert sidebar.isVisible()


@pytest.mark.parametrize("reduced", [False, True])
def test_the_drawer_respects_reduced_motion(ready, qtbot, loop, monkeypatch, directed, reduced):
    directed(Qt.LayoutDirection.RightToLeft)
    monkeypatch.setattr(motion, "provider", lambda: reduced)
    window, sidebar = ready.window, ready.window.sidebar
    window.resize(*SMALL)
    qtbot.waitUntil(window.chat.sidebar_button.isVisible)
    window.panes.toggle_sidebar()
    # In right-to-left layouts, it comes from the right.
    assert (sidebar.geometry().right() == window.panes.width() - 1) == reduced
    qtbot.waitUntil(lambda: sidebar.geometry().right() == window.panes.width() - 1)
    QApplication.sendPostedEvents()
    window.panes.toggle_sidebar()
    assert sidebar.isVisible() != reduced
    qtbot.waitUntil(lambda: not sidebar.isVisible())

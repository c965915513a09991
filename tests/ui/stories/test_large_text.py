"""Large text in the smallest window: nothing is cut off, and everything can be scrolled into view."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from clipping import assert_whole
from scripted_loop import record
from sotto.ui.models.model_row import minimum_row_height
from sotto.ui.preferences.preferences import MAX_ZOOM
from sotto.ui.state.model_state import Phase
from sotto.ui.toolkit.notice import NoticeText

MIN_SIZE = (720, 480)
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("same_machine")]
BOTH = pytest.mark.parametrize("direction", list(Qt.LayoutDirection)[:2])


@pytest.fixture
def full(ready, qtbot, loop):
    """Return the stage with the smallest window, models that run and one that does not, and a listed conversation."""

    def fill():
        ready.window.preferences.change(gauge_open=True)
        ready.shelf.records += [record("cannot", runnable=False), record("hf.co/someone/A-long-name-GGUF:Q4_K_M")]
        ready.session.library.rescan()
        ready.window.resize(*MIN_SIZE)
        qtbot.waitUntil(ready.window.chat.sidebar_button.isVisible)
        ready.window.send("How do I load a bigger model, and what does 4-bit mean?")
        qtbot.waitUntil(lambda: len(ready.window.sidebar.rows) == 4 and bool(ready.window.sidebar.chats.model.rows))
        qtbot.waitUntil(lambda: ready.session.state.phase is Phase.READY)
        qtbot.waitUntil(lambda: ready.window.composing.meter.use is not None)

    loop.starts.append(fill)
    return ready


@pytest.mark.covering(1)
@BOTH
@pytest.mark.parametrize("zoom", [1.0, 1.5, 2.0, MAX_ZOOM])
def test_the_sidebar_has_room_for_everything(full, qtbot, loop, preferences, directed, direction, zoom):
    window, sidebar = full.window, full.window.sidebar
    directed(direction)
    preferences.change(zoom=zoom)
    qtbot.waitUntil(lambda: assert_whole(window))
    window.panes.toggle_sidebar()

    def all_has_room():
        assert_whole(sidebar)
        assert (window.width(), window.height()) == MIN_SIZE
        # The sidebar is a drawer over the chat, a part of which stays visible.
        side = sidebar.geometry()
        assert (side.left() == 0) == (direction is Qt.LayoutDirection.LeftToRight)
        assert (side.right() == window.width() - 1) == (direction is Qt.LayoutDirection.RightToLeft)
        # At least one whole row of each list is visible.
        assert sidebar.chats.view.viewport().height() >= sidebar.chats.view.sizeHintForRow(0)
        assert sidebar.models.area.viewport().height() >= minimum_row_height()
        # Lines that are hidden are still in the tooltip.
        legends = [legend for legend in sidebar.gauge.legends if legend.isVisible()]
        assert bool(legends) == (zoom == 1.0)
        assert "Other programs" in sidebar.gauge.toolTip()
        assert sidebar.name.isVisible() == (zoom <= 1.5)
        # Up to twice the text size, only the lists scroll.
        assert (sidebar.area.verticalScrollBar().maximum() > 0) == (zoom > 2)

    # A layout change takes several iterations of the event loop.
    qtbot.waitUntil(all_has_room)


def test_tab_scrolls_the_focused_widget_into_view(full, qtbot, loop, preferences):
    window, sidebar = full.window, full.window.sidebar
    preferences.change(zoom=MAX_ZOOM)
    window.panes.toggle_sidebar()
    qtbot.waitUntil(lambda: sidebar.area.verticalScrollBar().maximum() > 0)
    # Wait for everything that may still move, because it would not be scrolled back into view.
    qtbot.waitUntil(lambda: not full.chat_session.busy)
    qtbot.waitUntil(lambda: assert_whole(window))
    qtbot.wait(100)
    reached = set()
    sidebar.search.setFocus()
    for _ in range(40):
        focused = QApplication.focusWidget()
        if not sidebar.isAncestorOf(focused):
            break
        reached.add(focused)
        # Qt centres widgets that barely fit, and rounds.
        inside = focused.rect().adjusted(1, 1, -1, -1)
        qtbot.waitUntil(lambda: focused.visibleRegion().boundingRect().contains(inside))  # noqa: B023
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    chats = sidebar.chats
    # The last Tab left the drawer, which closed it.
    assert not window.panes.drawer_open
    assert {sidebar.search, chats.shelf_button, chats.view, *sidebar.rows, sidebar.models.get} <= reached


def test_hidden_parts_return_when_they_fit_again(full, qtbot, loop, preferences):
    window, sidebar = full.window, full.window.sidebar
    window.panes.toggle_sidebar()
    preferences.change(zoom=2.0)
    qtbot.waitUntil(lambda: not sidebar.gauge.expanded)
    window.resize(720, 700)
    qtbot.waitUntil(lambda: sidebar.gauge.expanded and sidebar.name.isVisible())
    assert any(legend.isVisible() for legend in sidebar.gauge.legends)
    window.resize(*MIN_SIZE)
    qtbot.waitUntil(lambda: not sidebar.gauge.expanded)
    preferences.change(zoom=1.0)
    qtbot.waitUntil(lambda: sidebar.gauge.expanded and sidebar.name.isVisible())


@BOTH
def test_the_settings_of_a_chat_have_room(full, qtbot, loop, preferences, directed, direction):
    window, choices = full.window, full.window.chat.choices
    directed(direction)
    preferences.change(zoom=2.0)
    window.chat.toggle_choices()
    chosen_format = {"kind": "json_schema", "text": "{}", "name": "person.json"}
    full.window.chat.choices.show_choices("", {"think": "high", "format": chosen_format, "mirostat": 2})
    choices.more.click()
    choices.presets.button.setText(
        "Preset: A name that goes on and on & on, beyond the width of any window ▾".replace("&", "&&")
    )
    qtbot.waitUntil(lambda: assert_whole(choices))
    choices.presets.button.setFocus()
    qtbot.waitUntil(lambda: "on &amp; on" in choices.presets.button.toolTip())
    title, origin, field = choices.titles["temperature"], choices.origins["temperature"], choices.fields["temperature"]
    assert title.geometry().center().y() == field.geometry().center().y()
    # On a screen that is narrower than the smallest window, numbers are below their titles.
    window.setMinimumWidth(0)
    window.resize(420, 480)
    qtbot.waitUntil(lambda: title.y() == origin.y() < field.y())
    qtbot.waitUntil(lambda: assert_whole(choices))
    # With more room, a number and its title are on one line again.
    preferences.change(zoom=1.0)
    qtbot.waitUntil(lambda: title.geometry().center().y() == field.geometry().center().y())
    qtbot.waitUntil(lambda: assert_whole(choices))


@pytest.mark.covering(1)
@BOTH
@pytest.mark.parametrize(("zoom", "height"), [(1.0, 480), (1.5, 600), (2.0, 860)])
@pytest.mark.parametrize(
    "word", ["f" * 64, "models/blobs/sha256-" + "0f" * 32, "https://example.com/" + "a-b_c.d=e&" * 9]
)
def test_a_notice_has_room_for_the_longest_words(
    full, qtbot, loop, preferences, directed, direction, zoom, height, word
):
    window, notice = full.window, full.window.chat.notice
    directed(direction)
    preferences.change(zoom=zoom)
    window.resize(720, height)
    message = f"{word} is not a model; it should be one."
    notice.show_text(NoticeText("It cannot be opened", message, "Show the folder", lambda: None))
    qtbot.waitUntil(lambda: assert_whole(window))
    qtbot.waitUntil(lambda: (window.width(), window.height()) == (720, height))
    # The text itself is unchanged.
    assert word in notice.message.text()
    assert word in notice.accessibleName()

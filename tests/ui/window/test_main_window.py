"""The main window: drops, notices, composer, scrolling, accessible names, light and dark, and large text."""

import threading
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDesktopServices, QInputMethodEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPlainTextEdit, QToolButton

from clicks import double_click
from clipping import assert_unclipped
from drags import data_of, drop_on, enter
from scripted_loop import record
from sotto.chats.chat_records import Attachment
from sotto.errors import BrokenModelError
from sotto.ui.composer.drop_overlay import describe_drop
from sotto.ui.markdown.code_lexer import ROLES
from sotto.ui.state.drop_contents import DropContents, path_from_url, read_drop
from sotto.ui.state.model_state import Phase
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.colors import DARK, LIGHT
from window_checks import nameless

_NO_KEY = Qt.KeyboardModifier.NoModifier


def settled(stage):
    return stage.session.state.phase is Phase.READY and stage.window.chat.transcript.answer is None


def drop(window, data):
    accepted = enter(window, data)
    shown = window.overlay.isVisible(), window.overlay.title.text()
    drop_on(window, data)
    return accepted, *shown


def test_a_dropped_folder_is_loaded_and_the_draft_stays(stage, qtbot, loop, tmp_path):
    stage.shelf.at[tmp_path] = record("dropped", path=tmp_path)
    stage.window.chat.composer.draft.setPlainText("half a thou")
    accepted, shown, title = drop(stage.window, data_of(QUrl.fromLocalFile(str(tmp_path))))
    assert (accepted, shown, title) == (True, True, "Drop to load the model in this folder")
    assert stage.window.overlay.isHidden()
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.session.state.record.name == "dropped"
    assert stage.window.chat.composer.text == "half a thou"
    assert stage.session.state.record.name == "dropped"


def test_a_failed_drop_shows_the_reason_in_place(stage, qtbot, loop, tmp_path):
    broken = tmp_path / "latest"
    broken.write_text("{")
    stage.shelf.at[broken] = BrokenModelError("latest is not a manifest: it should be JSON.")
    drop(stage.window, data_of(QUrl.fromLocalFile(str(broken))))
    qtbot.waitUntil(lambda: stage.window.chat.notice.isVisible())
    assert stage.window.chat.notice.title.text() == "latest could not be loaded"
    assert stage.window.chat.notice.message.text() == "latest is not a manifest: it should be JSON."
    stage.window.chat.notice.dismiss.click()
    assert stage.window.chat.notice.isHidden()


def test_dropped_text_is_not_accepted(stage, loop):
    data = QMimeData()
    data.setText("hello")
    accepted, shown, _ = drop(stage.window, data)
    assert not accepted
    assert not shown


def test_no_field_accepts_drops_itself(stage, loop):
    fields = [*stage.window.findChildren(QPlainTextEdit), *stage.window.findChildren(QLineEdit)]
    assert len(fields) >= 2
    assert not any(field.acceptDrops() for field in fields)


def test_paths_keep_bytes_that_are_not_utf8():
    assert path_from_url(QUrl.fromEncoded(b"file:///tmp/caf%E9%20x")) == Path("/tmp/caf\udce9 x")
    assert path_from_url(QUrl.fromLocalFile("/home/me/a b#?%.json")) == Path("/home/me/a b#?%.json")
    assert path_from_url(QUrl("https://example.org/x")) is None


def test_the_description_of_a_drop(tmp_path):
    remote = read_drop(data_of(QUrl("https://example.org/x")))
    assert remote == DropContents((), ("https://example.org/x",))
    assert describe_drop(remote)[0] == "Not a file on this computer"
    assert (
        describe_drop(DropContents((tmp_path / "a.safetensors",), ()))[0] == "Drop to load the model with these weights"
    )
    assert "1 more" in describe_drop(DropContents((tmp_path / "latest", tmp_path), ()))[1]


def test_web_links_need_confirmation_and_others_are_ignored(ready, qtbot, loop, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: settled(ready))
    text = ready.window.chat.transcript.last_message.text
    for address in ("javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "smb://host/x"):
        text.anchorClicked.emit(QUrl(address))
        assert ready.window.chat.notice.isHidden()
    text.anchorClicked.emit(QUrl("https://example.org/a"))
    assert ready.window.chat.notice.isVisible()
    assert opened == []
    assert ready.window.chat.notice.message.text() == "https://example.org/a"
    ready.window.chat.notice.button.click()
    assert opened == ["https://example.org/a"]


def test_pictures_and_tags_of_a_message_are_never_fetched(ready, qtbot, loop, tmp_path):
    secret = tmp_path / "secret.png"
    ready.script.chunks = [f"![x]({secret.as_uri()}) <img src='{secret.as_uri()}'> <script>x</script> end"]
    ready.window.send("<b>bold?</b> **no**")
    qtbot.waitUntil(lambda: settled(ready))
    question, answer = ready.window.chat.transcript.messages
    assert question.text.toPlainText() == "<b>bold?</b> no"
    assert answer.text.toPlainText().endswith("<script>x</script> end")
    picture = answer.text.document().resource(2, QUrl(secret.as_uri()))
    assert (picture.width(), picture.height()) == (1, 1)


def test_enter_sends_and_shift_enter_inserts_a_line_break(ready, qtbot, loop):
    draft = ready.window.chat.composer.draft
    qtbot.keyClicks(draft, "one")
    qtbot.keyClick(draft, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(draft, "two")
    assert draft.toPlainText() == "one\ntwo"
    qtbot.keyClick(draft, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: settled(ready))
    assert ready.chat_session.conversation.messages[0].content == "one\ntwo"
    assert draft.toPlainText() == ""


def test_enter_does_not_send_while_an_input_method_composes(ready, qtbot, loop):
    draft = ready.window.chat.composer.draft
    draft.setPlainText("に")
    QApplication.sendEvent(draft, QInputMethodEvent("ほん", []))
    qtbot.keyClick(draft, Qt.Key.Key_Return)
    assert ready.script.requests == []
    done = QInputMethodEvent("", [])
    done.setCommitString("ほん")
    QApplication.sendEvent(draft, done)
    # Some systems deliver the Enter key that chose the word once more.
    qtbot.keyClick(draft, Qt.Key.Key_Return)
    qtbot.wait(20)
    assert ready.script.requests == []
    qtbot.keyClick(draft, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(ready.script.requests) == 1)


def test_the_draft_grows_to_eight_lines(stage, loop):
    draft = stage.window.chat.composer.draft
    heights = []
    for lines in (1, 4, 8, 20):
        draft.setPlainText("\n".join("x" * lines))
        heights.append(draft.height())
    assert heights[0] < heights[1] < heights[2] == heights[3]


def test_the_draft_can_be_written_in_every_state(stage, qtbot, loop):
    draft = stage.window.chat.composer.draft
    qtbot.keyClicks(draft, "a")
    stage.script.hold_load = threading.Event()
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    stage.session.load(stage.session.library.models[0])
    qtbot.keyClicks(draft, "b")
    stage.script.hold_load.set()
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    stage.script.hold_answer = threading.Event()
    stage.chat_session.send("x")
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.GENERATING)
    qtbot.keyClicks(draft, "c")
    qtbot.keyClick(draft, Qt.Key.Key_Return)
    assert draft.toPlainText() == "abc"
    qtbot.keyClick(draft, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: settled(stage))
    assert len(stage.script.requests) == 1


@pytest.mark.parametrize(
    "text",
    [
        "word " * 40_000,
        pytest.param("a line of words\n" * 12_500, marks=pytest.mark.full),
        pytest.param("x" * 200_000, marks=pytest.mark.full),
    ],
    ids=["words", "lines", "letters"],
)
def test_a_large_paste_costs_little_more_than_in_a_bare_field(ready, qtbot, loop, text):
    draft, bare = ready.window.chat.composer.draft, QPlainTextEdit()
    qtbot.addWidget(bare)
    bare.setFont(draft.font())
    bare.resize(draft.size())
    bare.show()
    QApplication.clipboard().setText(text)
    QApplication.processEvents()
    taken = [[measure_input(qtbot, field) for field in (draft, bare)] for _ in range(3)]
    assert len(draft.toPlainText()) == 200_001
    for step in ("paste", "key"):
        ours, least = (min(seconds[place][step] for seconds in taken) for place in (0, 1))
        # Allow the time of one extra frame, because the composer grows and counts tokens.
        assert ours <= 2 * least + 0.016, (step, ours, least)
    QApplication.clipboard().clear()


class Widths(QObject):
    """Collects the widths at which the lines of a field with a text are laid out anew."""

    def __init__(self, field):
        super().__init__(field)
        self._field, self.seen = field, []
        field.viewport().installEventFilter(self)

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Resize and event.size().width() != event.oldSize().width():
            self.seen += [event.size().width()] if self._field.document().lineCount() > 1 else []
        return super().eventFilter(watched, event)


def test_a_large_paste_is_laid_out_once_and_grows_the_field_at_once(ready, qtbot, loop):
    draft = ready.window.chat.composer.draft
    draft.setFocus()
    lowest, widths = draft.height(), Widths(draft)
    QApplication.clipboard().setText("word " * 40_000)
    qtbot.keyClick(draft, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert draft.height() > 5 * lowest
    QApplication.processEvents()
    qtbot.keyClick(draft, Qt.Key.Key_A)
    QApplication.processEvents()
    assert widths.seen == []
    assert draft.verticalScrollBar().isVisible()
    # A short text grows the field at once, too, and needs no scroll bar.
    draft.clear()
    QApplication.clipboard().setText("word " * 40)
    qtbot.keyClick(draft, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert lowest < draft.height() < 5 * lowest
    QApplication.processEvents()
    assert not draft.verticalScrollBar().isVisible()
    QApplication.clipboard().clear()


def measure_input(qtbot, field):
    """Paste into a field and type a key; return the seconds that the window's thread takes until each is drawn."""
    field.clear()
    field.setFocus()
    times = [time.thread_time()]
    for key, modifier in ((Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier), (Qt.Key.Key_A, _NO_KEY)):
        qtbot.keyClick(field, key, modifier)
        field.grab()
        times.append(time.thread_time())
    return {"paste": times[1] - times[0], "key": times[2] - times[1]}


def wheel_up(transcript):
    wheel = QWheelEvent(
        QPointF(200, 200), QPointF(200, 200), QPoint(0, 0), QPoint(0, 240), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(transcript.viewport(), wheel)


def test_following_ends_once_when_the_answer_outgrows_the_view(ready, qtbot, loop):
    transcript = ready.window.chat.transcript
    ready.script.chunks = [f"Paragraph {number} of a long answer.\n\n" for number in range(80)]
    ready.script.pause = 0.004
    ready.window.send("Go on")
    qtbot.waitUntil(lambda: settled(ready), timeout=10_000)
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 800)
    assert not transcript.following
    assert bar.value() < bar.maximum() / 2
    assert transcript.newest.isVisible()
    assert transcript.newest.accessibleName() == "Jump to latest"
    transcript.newest.click()
    assert bar.value() == bar.maximum()
    assert transcript.newest.isHidden()


def test_scrolling_up_keeps_the_readers_position(ready, qtbot, loop):
    transcript, bar = ready.window.chat.transcript, ready.window.chat.transcript.verticalScrollBar()
    ready.script.chunks = ["Line.\n\n"] * 60
    ready.window.send("First")
    qtbot.waitUntil(lambda: settled(ready))
    qtbot.waitUntil(lambda: bar.maximum() > 600)
    ready.script.pause = 0.005
    ready.window.send("Second")
    qtbot.waitUntil(lambda: transcript.answer is not None and transcript.answer.body.markdown != "")
    wheel_up(transcript)
    place = bar.value()
    assert "answer in progress" in transcript.newest.accessibleName()
    qtbot.waitUntil(lambda: settled(ready), timeout=10_000)
    assert abs(bar.value() - place) <= 1


def test_the_button_returns_to_the_end_and_follows_again(ready, qtbot, loop):
    transcript, bar = ready.window.chat.transcript, ready.window.chat.transcript.verticalScrollBar()
    ready.script.chunks, ready.script.pause = ["Line.\n\n"] * 150, 0.01
    ready.window.send("First")
    qtbot.waitUntil(lambda: bar.maximum() > 500)
    wheel_up(transcript)
    qtbot.waitUntil(transcript.newest.isVisible)
    assert transcript.newest.accessibleName() == "Jump to latest, answer in progress"
    transcript.newest.click()
    reached = bar.maximum()
    qtbot.waitUntil(lambda: bar.maximum() > reached + 300, timeout=10_000)
    assert bar.value() == bar.maximum()
    qtbot.waitUntil(lambda: settled(ready), timeout=10_000)
    qtbot.waitUntil(lambda: bar.value() == bar.maximum())
    assert transcript.newest.accessibleName() == "Jump to latest"


def test_the_position_is_kept_while_the_composer_and_the_window_resize(ready, qtbot, loop):
    transcript, bar = ready.window.chat.transcript, ready.window.chat.transcript.verticalScrollBar()
    ready.script.chunks = [
        "A line that is long enough to be broken where there is little room for it. " * 3 + "\n\n"
    ] * 8
    for question in ("First", "Second", "Third"):
        ready.window.send(question)
        qtbot.waitUntil(lambda: settled(ready) and ready.chat_session.turns[-1].id > 0)
    qtbot.waitUntil(lambda: bar.maximum() > 600)
    wheel_up(transcript)
    message = transcript.messages[2]
    qtbot.waitUntil(lambda: message.y() > 0)
    bar.setValue(message.y())
    qtbot.wait(50)
    value = bar.value()
    ready.window.chat.composer.draft.setPlainText("\n".join("x" * 8))
    qtbot.wait(50)
    assert abs(bar.value() - value) <= 1
    ready.window.resize(ready.window.width(), ready.window.height() - 100)
    qtbot.wait(50)
    assert abs(bar.value() - value) <= 1
    places = [value]
    for width in (760, 1300):
        ready.window.resize(width, ready.window.height())
        qtbot.wait(50)
        assert abs(bar.value() - message.y()) <= 1
        places.append(bar.value())
    assert places[1] > places[0] + 100  # the text above was wrapped differently


def test_without_following_the_view_stays_where_the_answer_began(ready, qtbot, loop):
    transcript, bar = ready.window.chat.transcript, ready.window.chat.transcript.verticalScrollBar()
    ready.window.preferences.change(follow=False)
    ready.script.chunks = ["Line.\n\n"] * 60
    ready.window.send("First")
    qtbot.waitUntil(lambda: settled(ready))
    qtbot.waitUntil(lambda: bar.maximum() > 600)
    ready.script.chunks, ready.script.pause = ["Line.\n\n"] * 8, 0.02
    ready.window.send("Second")
    qtbot.waitUntil(lambda: transcript.answer is not None and "Line" in transcript.answer.body.markdown)
    qtbot.waitUntil(lambda: not transcript.following)
    place = bar.value()
    assert place > 600
    qtbot.waitUntil(lambda: settled(ready))
    qtbot.waitUntil(transcript.newest.isVisible)
    assert bar.value() == place < bar.maximum() - 100
    transcript.newest.click()
    assert bar.value() == bar.maximum()


def test_copy_gives_the_markdown(ready, qtbot, loop):
    ready.script.chunks = ["**bold**"]
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: settled(ready))
    ready.window.chat.transcript.last_message.copy.click()
    assert QApplication.clipboard().text() == "**bold**"


def test_rows_of_models_search_selection_and_reasons(stage, qtbot, loop):
    sidebar = stage.window.sidebar
    stage.shelf.records += [record("big:8b", runnable=False, reason="big:8b is a GGUF model, which cannot run yet.")]
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    sidebar.models.rescan.click()
    qtbot.waitUntil(lambda: len(sidebar.rows) == 3)
    sidebar.search.setText("BIG")
    assert [row.record.name for row in sidebar.rows if not row.isHidden()] == ["big:8b"]
    row = sidebar.rows[2]
    before = row.sizeHint()
    row.click()
    assert row.sizeHint() == before
    assert stage.window.models.card.sentence.text() == row.record.reason
    assert "cannot run" in row.accessibleName()
    assert row.accessibleDescription() == row.record.reason
    assert row.record.reason in row.toolTip()
    sidebar.search.setText("nothing like it")
    assert "nothing like it" in sidebar.models.empty.text()
    sidebar.search.clear()
    first, second, _ = sidebar.rows
    first.click()
    qtbot.keyClick(first, Qt.Key.Key_Down)
    assert second.isChecked()
    assert not first.isChecked()
    double_click(second)
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.session.state.record == second.record


def test_text_from_files_is_never_read_as_html(stage, qtbot, loop):
    hostile = "<img src='file:///etc/passwd'><b>x"
    stage.shelf.records = [record(hostile, runnable=False, reason=f"{hostile} is bad.")]
    stage.window.sidebar.models.rescan.click()
    qtbot.waitUntil(lambda: len(stage.session.library.models) == 1)
    row = stage.window.sidebar.rows[0]
    stage.session.load(row.record)
    labels = [label for label in stage.window.findChildren(QLabel) if hostile in label.text()]
    assert labels
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in labels)
    for widget in (row, stage.window.chat.notice):
        assert "<img" not in widget.toolTip()


def test_every_button_and_field_has_a_name(ready, qtbot, loop):
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: settled(ready))
    assert nameless(ready.window) == []


def test_the_menus_list_the_apps_actions(stage, loop):
    shortcuts = {action.text(): action.shortcut().toString() for action in stage.window.menus.actions()}
    assert shortcuts["New Chat"] == "Ctrl+N"
    assert shortcuts["Open Model…"] == "Ctrl+O"
    assert shortcuts["Stop"] == "Esc"
    assert {"Eject Model", "Quit Sotto", "Copy", "Paste", "Larger Text", "About Sotto"} <= set(shortcuts)


def luminance(color):
    parts = [value / 255 for value in (color.red(), color.green(), color.blue())]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    light, dark = sorted((luminance(QColor(first)), luminance(QColor(second))), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_enough_contrast_on_every_background(tokens):
    grounds = ("sidebar", "page", "raised", "bubble", "code", "hover", "selection", "alert_ground")
    for ground in grounds:
        assert contrast(tokens.text, getattr(tokens, ground)) >= 7
        assert contrast(tokens.muted, getattr(tokens, ground)) >= 4.5, ground
    for ground in ("page", "raised", "bubble"):
        assert contrast(tokens.accent_text, getattr(tokens, ground)) >= 4.5, ground
    assert contrast(tokens.on_accent, tokens.accent) >= 4.5
    for role in ROLES:
        assert contrast(getattr(tokens, f"code_{role}"), tokens.code) >= 4.5, role
    assert contrast(tokens.accent, tokens.page) >= 3


def test_light_and_dark_change_live(ready, qtbot, loop, dressed):
    ready.script.chunks = ["Use `code` and [a link](https://x.y)."]
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: settled(ready))
    text = ready.window.chat.transcript.last_message.text
    assert LIGHT.accent_text in text.document().toHtml()
    light = ready.window.grab().toImage().pixelColor(5, 300)
    dressed.set_appearance("dark", 1.0)
    assert DARK.accent_text in text.document().toHtml()
    dark = ready.window.grab().toImage().pixelColor(5, 300)
    assert (light, dark) == (QColor(LIGHT.sidebar), QColor(DARK.sidebar))


def test_text_of_twice_the_size_is_not_clipped(ready, qtbot, loop, dressed):
    (larger,) = [action for action in ready.window.menus.actions() if action.text() == "Larger Text"]
    for _ in range(8):
        larger.trigger()
    assert dressed.zoom > 2
    ready.window.resize(1120, 760)
    ready.window.send("How do I load a bigger model, and what does 4-bit mean?")
    qtbot.waitUntil(lambda: settled(ready))
    # The status line under an answer is laid out when it appears.
    qtbot.waitUntil(lambda: assert_unclipped(ready.window))
    transcript = ready.window.chat.transcript
    assert transcript.widget().width() <= transcript.viewport().width()


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_attachments_and_warnings_of_twice_the_size_are_not_clipped(ready, qtbot, loop, dressed, qapp, direction):
    window, composer = ready.window, ready.window.chat.composer
    qapp.setLayoutDirection(direction)
    dressed.set_appearance("light", 2.0)
    window.resize(1120, 760)
    text = "line\n" * 1200
    ready.window.send("First")
    qtbot.waitUntil(lambda: settled(ready))
    ready.chat_session.draft.attach(
        [
            Attachment(f"a name that goes on and on and on {number}.txt", text, len(text), 0, len(text))
            for number in "12"
        ]
    )
    qtbot.waitUntil(composer.panel.isVisible)
    assert len(composer.attachments.chips) == 2
    try:
        shown = composer.attachments.chips
        qtbot.waitUntil(lambda: all(chip.isVisible() for chip in shown))
        qtbot.waitUntil(lambda: assert_unclipped(window))
        chips = [chip.geometry() for chip in composer.attachments.chips]
        assert not chips[0].intersects(chips[1])
        edge = composer.attachments.rect()
        assert all(edge.contains(chip) for chip in chips)
        if direction is Qt.LayoutDirection.RightToLeft:
            assert chips[0].right() == edge.right()
    finally:
        qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_icons_exist_in_both_colours(qapp, dressed):
    for button in ("stop", "eject", "copy", "new"):
        from sotto.ui.toolkit import icons

        image = icons.icon(button, theme.current().tokens.text, edge=20).pixmap(20, 20).toImage()
        assert any(image.pixelColor(x, y).alpha() > 200 for x in range(20) for y in range(20))


def test_the_send_button_stops_while_something_is_running(ready, qtbot, loop):
    button = ready.window.chat.composer.button
    assert isinstance(button, QToolButton)
    assert not button.isEnabled()
    ready.script.hold_answer = threading.Event()
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: button.accessibleName() == "Stop answering")
    assert button.isEnabled()
    button.click()
    qtbot.waitUntil(lambda: settled(ready))
    assert button.accessibleName() == "Send message"

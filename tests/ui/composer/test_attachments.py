"""Files attached to a message: how they are added, how they are shown, and what the model sees."""

import sqlite3
import threading

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtWidgets import QApplication, QFileDialog

from drags import data_of, drop_on, enter
from pdfs import pdf
from scripted_loop import record
from sotto.chats import attachable
from sotto.ui.composer.drop_overlay import describe_drop, split_drop
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.state.drop_contents import DropContents
from sotto.ui.state.model_state import Phase
from sotto.ui.transcript.attachment_chips import AttachmentChip
from sotto.ui.window.main_window import MainWindow


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes.md"
    path.write_text("# Rice\n\nTen minutes.\n")
    return path


SHOWN = "notes.md:\n```\n# Rice\n\nTen minutes.\n```"


def urls(*paths):
    return data_of(*(QUrl.fromLocalFile(str(path)) for path in paths))


def chips(stage):
    return [(chip.name.text(), chip.line.text()) for chip in stage.window.chat.composer.attachments.chips]


def attached(stage):
    return [attachment.name for attachment in stage.chat_session.draft.attachments]


def test_a_dropped_text_is_attached_with_its_cost_and_sent_along(ready, qtbot, loop, notes):
    composer, overlay = ready.window.chat.composer, ready.window.overlay
    composer.draft.setPlainText("How long?")
    data = urls(notes)
    assert enter(ready.window, data)
    assert (overlay.title.text(), overlay.line.text()) == ("Drop to attach this file to your message", "notes.md")
    drop_on(ready.window, data)
    assert overlay.isHidden()
    qtbot.waitUntil(lambda: chips(ready) == [("notes.md", f"21 B · {len(SHOWN)} tokens")])
    assert composer.text == "How long?"
    assert ready.shelf.opened == []
    composer.button.click()
    qtbot.waitUntil(lambda: len(ready.script.requests) == 1 and not ready.chat_session.busy)
    (message,) = ready.script.requests[0].messages
    assert message.content == f"{SHOWN}\n\nHow long?"
    assert composer.attachments.isHidden()
    question = ready.window.chat.transcript.messages[0]
    (chip,) = question.findChildren(AttachmentChip)
    assert (chip.name.text(), chip.line.text()) == ("notes.md", f"21 B · {len(SHOWN)} tokens")
    assert question.text.toPlainText() == "How long?"
    # The attachment is also sent along when another answer is requested.
    ready.window.chat.transcript.messages[-1].again.click()
    qtbot.waitUntil(lambda: len(ready.script.requests) == 2 and not ready.chat_session.busy)
    assert ready.script.requests[1].messages == ready.script.requests[0].messages


def test_a_file_that_is_attached_already_is_not_attached_again(ready, qtbot, loop, notes):
    notice, draft = ready.window.chat.notice, ready.chat_session.draft
    ready.window.composing.attach((notes, notes))
    qtbot.waitUntil(notice.isVisible)
    assert (notice.title.text(), notice.message.text()) == (
        "Not attached",
        "notes.md is already attached to this message.",
    )
    assert attached(ready) == ["notes.md"]
    # Another part of it, or what it contains now, can be sent as well.
    draft.cut_attachment(0, 0, 6)
    for _ in range(2):
        count = len(draft.attachments)
        ready.window.composing.attach((notes,))
        qtbot.waitUntil(lambda count=count: len(draft.attachments) == count + 1)
        notes.write_text("# Rice\n\nTwelve minutes.\n")


def test_a_document_can_be_sent_without_any_text(ready, qtbot, loop, notes):
    ready.window.composing.attach((notes,))
    button = ready.window.chat.composer.button
    qtbot.waitUntil(lambda: attached(ready) == ["notes.md"])
    assert button.isEnabled()
    button.click()
    qtbot.waitUntil(lambda: len(ready.script.requests) == 1 and not ready.chat_session.busy)
    assert ready.script.requests[0].messages[0].content == SHOWN
    qtbot.waitUntil(lambda: [e.chat.title for e in ready.window.sidebar.chats.model.entries] == ["notes.md"])


def test_files_are_chosen_with_the_button_or_from_the_menu(ready, qtbot, loop, notes, monkeypatch):
    # The dialog itself belongs to the system.
    files = iter((notes, notes.with_name("other.md")))
    notes.with_name("other.md").write_text("Rice")
    monkeypatch.setattr(QFileDialog, "open", lambda dialog: dialog.filesSelected.emit([str(next(files))]))
    (action,) = [action for action in ready.window.menus.actions() if action.text() == "Attach Files…"]
    assert action.shortcut().toString() == "Ctrl+Shift+A"
    for ask in (ready.window.chat.composer.clip.click, action.trigger):
        ask()
    qtbot.waitUntil(lambda: attached(ready) == ["notes.md", "other.md"])


def test_pasted_files_are_attached_and_pasted_text_is_text(ready, qtbot, loop, notes):
    draft, clipboard = ready.window.chat.composer.draft, QApplication.clipboard()
    clipboard.setMimeData(urls(notes))
    draft.setFocus()
    qtbot.keyClick(draft, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: attached(ready) == ["notes.md"])
    assert draft.toPlainText() == ""
    for address in ("https://example.org/a.txt", "plain words"):
        data = QMimeData()
        data.setText(address)
        if address.startswith("https"):
            data.setUrls([QUrl(address)])
        clipboard.setMimeData(data)
        draft.clear()
        draft.paste()
        assert draft.toPlainText() == address


def test_an_attachment_is_removed_by_keys(ready, qtbot, loop, notes):
    other = notes.with_name("other.md")
    other.write_text("Rice")
    ready.window.composing.attach((notes, other))
    qtbot.waitUntil(lambda: len(attached(ready)) == 2)
    bar = ready.window.chat.composer.attachments
    assert bar.chips[0].remove.accessibleName() == "Remove notes.md"
    bar.chips[0].remove.setFocus()
    qtbot.keyClick(bar.chips[0].remove, Qt.Key.Key_Space)
    assert attached(ready) == ["other.md"]
    assert bar.chips[0].remove.hasFocus()
    qtbot.keyClick(bar.chips[0].remove, Qt.Key.Key_Space)
    assert bar.isHidden()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("photo.png", b"\x89PNG\r\n\x1a\n\x00", "photo.png cannot be read: it is damaged or cut off"),
        ("tool", b"\x7fELF\x02\x01\x01\x00\xff", "tool is not text: attach text, source code, a PDF or an image."),
        ("old.txt", "Grüße aus Köln".encode("latin-1"), "old.txt is not in UTF-8"),
        ("bad.pdf", b"%PDF-1.7\nnothing", "bad.pdf could not be read: its PDF is damaged"),
    ],
)
def test_a_file_that_is_not_text_is_refused_with_a_reason(ready, qtbot, loop, tmp_path, name, content, why):
    path = tmp_path / name
    path.write_bytes(content)
    ready.window.composing.drop(DropContents((path,), ()))
    notice = ready.window.chat.notice
    qtbot.waitUntil(notice.isVisible, timeout=15_000)
    assert notice.title.text() == "Not attached"
    assert notice.message.text().startswith(why)
    assert attached(ready) == []
    assert ready.window.chat.composer.attachments.isHidden()


def test_a_pdf_is_read_off_the_windows_thread_and_shown_meanwhile(ready, qtbot, loop, tmp_path):
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf("First page", "Second page"))
    ready.window.chat.composer.draft.setPlainText("Summarise")
    ready.window.composing.attach((path,))
    assert chips(ready) == [("report.pdf", "Reading…")]
    # Nothing can be sent until it has been read.
    assert not ready.window.chat.composer.button.isEnabled()
    qtbot.keyClick(ready.window.chat.composer.draft, Qt.Key.Key_Return)
    assert ready.window.chat.composer.text == "Summarise"
    qtbot.waitUntil(lambda: attached(ready) == ["report.pdf"], timeout=15_000)
    assert ready.chat_session.draft.attachments[0].text == "First page\n\nSecond page"
    assert ready.window.chat.composer.button.isEnabled()


@pytest.fixture
def slow(monkeypatch):
    """Yield an event that holds up the reading of files until it is set."""
    go_on, read = threading.Event(), attachable.read_attachable

    def wait(path, stopped):
        while not go_on.wait(0.01):
            if stopped():
                break
        return read(path, stopped)

    monkeypatch.setattr(attachable, "read_attachable", wait)
    yield go_on
    go_on.set()


def test_reading_can_be_stopped(ready, qtbot, loop, notes, slow):
    ready.window.composing.attach((notes, notes))
    assert len(chips(ready)) == 2
    ready.window.chat.composer.attachments.chips[0].remove.click()
    assert chips(ready) == [("notes.md", "Reading…")]
    slow.set()
    qtbot.waitUntil(lambda: attached(ready) == ["notes.md"])
    qtbot.wait(50)
    assert attached(ready) == ["notes.md"]


def test_a_chip_that_is_pressed_while_another_file_was_read_is_removed(ready, qtbot, loop, notes, slow):
    slow.set()
    ready.window.composing.attach((notes,))
    qtbot.waitUntil(lambda: attached(ready) == ["notes.md"])
    slow.clear()
    other, third = notes.with_name("other.md"), notes.with_name("third.md")
    other.write_text("Rice")
    third.write_text("Beans")
    ready.window.composing.attach((other, third))
    bar = ready.window.chat.composer.attachments
    first = bar.chips[0]
    qtbot.mousePress(first.remove, Qt.MouseButton.LeftButton)
    slow.set()
    qtbot.waitUntil(
        lambda: attached(ready) == ["notes.md", "other.md", "third.md"] and not ready.chat_session.draft.pending
    )
    qtbot.mouseRelease(first.remove, Qt.MouseButton.LeftButton)
    assert attached(ready) == ["other.md", "third.md"]


def test_the_focus_stays_with_a_file_once_it_is_read(ready, qtbot, loop, notes, slow):
    other = notes.with_name("other.md")
    other.write_text("Rice")
    ready.window.composing.attach((notes, other))
    bar = ready.window.chat.composer.attachments
    bar.chips[1].remove.setFocus()
    slow.set()
    qtbot.waitUntil(lambda: attached(ready) == ["notes.md", "other.md"] and not ready.chat_session.draft.pending)
    assert [chip.remove.hasFocus() for chip in bar.chips] == [False, True]
    qtbot.keyClick(bar.chips[1].remove, Qt.Key.Key_Space)
    # The last one is gone, and the one before it has the focus.
    assert [chip.remove.hasFocus() for chip in bar.chips] == [True]


def test_a_file_is_attached_to_the_conversation_it_was_added_to(ready, qtbot, loop, notes, slow):
    ready.window.send("First")
    qtbot.waitUntil(lambda: not ready.chat_session.busy and ready.chat_session.chat is not None)
    first = ready.chat_session.chat
    ready.window.composing.attach((notes,))
    ready.window.current.new_chat()
    assert chips(ready) == []
    slow.set()
    qtbot.waitUntil(lambda: not ready.window.composing.attachments.attaching.busy)
    assert attached(ready) == []
    ready.window.current.open(first)
    qtbot.waitUntil(lambda: attached(ready) == ["notes.md"])


def test_a_file_still_being_read_is_shown_again_with_its_conversation(ready, qtbot, loop, notes, slow):
    ready.window.send("First")
    qtbot.waitUntil(lambda: not ready.chat_session.busy and ready.chat_session.chat is not None)
    first = ready.chat_session.chat
    ready.window.composing.attach((notes,))
    ready.window.current.new_chat()
    ready.window.current.open(first)
    qtbot.waitUntil(lambda: chips(ready) == [("notes.md", "Reading…")])
    slow.set()
    qtbot.waitUntil(lambda: attached(ready) == ["notes.md"])
    # Attaching another file does not discard earlier ones.
    slow.clear()
    notes.write_text("Other notes.")
    ready.window.composing.attach((notes,))
    ready.window.current.new_chat()
    slow.set()
    qtbot.waitUntil(lambda: not ready.window.composing.attachments.attaching.busy)
    qtbot.waitUntil(lambda: ready.window.sessions.find(first) is None)
    ready.window.current.open(first)
    qtbot.waitUntil(lambda: attached(ready) == ["notes.md", "notes.md"])


def test_attachments_stay_with_the_draft_across_a_restart(qtbot, loop, ready, preferences, notes, tmp_path, destroyed):
    ready.window.chat.composer.draft.setPlainText("unsent")
    ready.window.composing.attach((notes,))
    qtbot.waitUntil(lambda: bool(chips(ready)) and "tokens" in chips(ready)[0][1])
    qtbot.wait(600)
    keeper = ChatThread(tmp_path / "data" / "chats.sqlite3")
    window = MainWindow(ready.session, keeper, preferences)
    window.current.begin()
    qtbot.waitUntil(lambda: window.chat.composer.text == "unsent")
    qtbot.waitUntil(
        lambda: [attachment.name for attachment in window.current.session.draft.attachments] == ["notes.md"]
    )
    assert len(window.chat.composer.attachments.chips) == 1
    window.sessions.close()
    keeper.close()
    destroyed(window, keeper)


def test_a_failed_send_restores_the_attachments(ready, qtbot, loop, notes, tmp_path):
    ready.window.composing.attach((notes,))
    qtbot.waitUntil(lambda: attached(ready) == ["notes.md"])
    ready.script.chunks, ready.script.fail_answer = [], "The prompt is longer than the context."
    ready.window.send("Read it")
    qtbot.waitUntil(lambda: ready.window.chat.composer.text == "Read it" and attached(ready) == ["notes.md"])

    def kept():
        with sqlite3.connect(f"{(tmp_path / 'data' / 'chats.sqlite3').as_uri()}?mode=ro", uri=True) as connection:
            found = connection.execute("SELECT message, name FROM attachments").fetchall()
        connection.close()
        return found

    qtbot.waitUntil(lambda: kept() == [(None, "notes.md")])


def test_an_edited_question_keeps_its_attachments(ready, qtbot, loop, notes):
    ready.window.composing.attach((notes,))
    qtbot.waitUntil(lambda: attached(ready) == ["notes.md"])
    ready.window.send("How long?")
    qtbot.waitUntil(lambda: not ready.chat_session.busy and ready.chat_session.turns[0].versions != ())
    assert ready.chat_session.edit(ready.chat_session.turns[0].id, "How hot?")
    qtbot.waitUntil(lambda: len(ready.script.requests) == 2 and not ready.chat_session.busy)
    assert ready.script.requests[1].messages[0].content == f"{SHOWN}\n\nHow hot?"


def test_the_number_of_files_is_limited(ready, qtbot, loop, tmp_path):
    paths = [tmp_path / f"{number}.txt" for number in range(22)]
    for path in paths:
        path.write_text("x")
    ready.window.composing.attach(tuple(paths))
    assert ready.window.chat.notice.message.text().startswith("A message can have at most 20 files")
    qtbot.waitUntil(lambda: len(attached(ready)) == 20, timeout=30_000)


@pytest.mark.parametrize(
    ("name", "content", "document"),
    [
        ("notes.txt", b"hello", True),
        ("script.py", b"print()", True),
        ("LICENSE", b"MIT", True),
        ("data.json", b'{"a": 1}', True),
        ("photo.png", b"\x89PNG", True),
        ("report.pdf", b"%PDF-1.7", True),
        ("latest", b'{"schemaVersion": 2}', False),
        ("latest", b"{", False),
        ("0.6b-mlx", b'{"schemaVersion": 2}', False),
        ("1.5b", b"{", False),
        ("manifest.json", b'{\n  "schemaVersion": 2}', False),
        ("config.json", b'{"architectures": ["LlamaForCausalLM"]}', False),
        ("model.safetensors", b"\x10\x00\x00\x00\x00\x00\x00\x00{}", False),
        ("model.safetensors.index.json", b'{"metadata": {}, "weight_map": {}}', False),
        ("model.gguf", b"GGUF", False),
        ("sha256-" + "a" * 64, b"GGUF", False),
    ],
)
def test_a_dropped_file_is_a_document_or_a_model(tmp_path, name, content, document):
    path = tmp_path / name
    path.write_bytes(content)
    split = split_drop(DropContents((path, tmp_path, tmp_path / "gone"), ("https://example.org",)))
    assert (split.documents, split.exports) == ((path,) if document else (), ())
    assert split.models.paths == (() if document else (path,)) + (tmp_path, tmp_path / "gone")
    assert split.models.remote == ("https://example.org",)


def test_the_drag_says_what_a_drop_will_do(tmp_path):
    for name, content in (("a.txt", "a"), ("b.py", "b"), ("c.png", "c"), ("latest", '{"schemaVersion": 2}')):
        (tmp_path / name).write_text(content)

    def described(*names):
        return describe_drop(DropContents(tuple(tmp_path / name for name in names), ()))

    assert described("a.txt") == ("Drop to attach this file to your message", "a.txt")
    assert described("a.txt", "b.py") == ("Drop to attach 2 files to your message", "a.txt and b.py")
    assert described("latest", "a.txt") == ("Drop to load a model and attach this file", "latest; a.txt")
    assert described("latest") == ("Drop to load this model", "latest")
    assert described("c.png") == ("Drop to attach this file to your message", "c.png")


def test_a_model_and_a_document_dropped_together_are_told_apart(ready, qtbot, loop, notes, tmp_path):
    manifest = tmp_path / "latest"
    manifest.write_text('{"schemaVersion": 2}')
    ready.shelf.at[manifest] = record("dropped", path=manifest)
    data = urls(manifest, notes)
    assert enter(ready.window, data)
    drop_on(ready.window, data)
    qtbot.waitUntil(lambda: ready.session.state.record.name == "dropped" and attached(ready) == ["notes.md"])
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.READY)

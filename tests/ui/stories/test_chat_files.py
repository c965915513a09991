"""A story: chats of other programs come into the window, and chats leave it as files and on paper."""

import json
import time

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtWidgets import QFileDialog

from chat_exports import FOLDER, export_of, write_jan, write_json, write_ollama, write_zip
from drags import data_of, drop_on, enter


def titles(stage):
    return [entry.chat.title for entry in stage.window.sidebar.chats.model.entries]


def choose(stage, entry, *paths):
    """Choose files in the dialog of a menu entry, as a person does."""
    action = next(action for action in stage.window.menus.actions() if action.text() == entry)
    action.trigger()
    dialog = stage.window.findChild(QFileDialog)
    dialog.setDirectory(str(paths[0].parent))
    dialog.filesSelected.emit([str(path) for path in paths])
    dialog.reject()
    return dialog


def drop(stage, *paths):
    data = data_of(*(QUrl.fromLocalFile(str(path)) for path in paths))
    assert enter(stage.window, data)
    title = stage.window.overlay.title.text()
    drop_on(stage.window, data)
    return title


def test_chats_of_other_programs_come_by_menu_and_by_drop(ready, qtbot, loop, tmp_path):
    window = ready.window
    notice = window.chat.notice

    def said(sentence, title="Chats imported"):
        qtbot.waitUntil(lambda: notice.title.text() == title and not window.chat_files.importing.busy)
        assert notice.message.text() == sentence

    # By the menu: an archive as ChatGPT sends it, and a file that is none of this.
    archive = write_zip(
        tmp_path / "export.zip",
        {"user.json": b"{}", "conversations.json": json.dumps([*export_of("chatgpt"), {"mapping": 1}]).encode()},
    )
    dialog = choose(ready, "Import Chats…", archive)
    assert dialog.fileMode() is QFileDialog.FileMode.ExistingFiles
    said("Imported 2 chats; 1 tool call, 1 file, 1 image and 1 chat could not be read.")
    qtbot.waitUntil(lambda: titles(ready) == ["Rice"])  # the other one is archived
    assert notice.button.isHidden()
    choose(ready, "Import Chats…", write_json(tmp_path / "shopping.json", {"milk": 2}))
    said(
        "shopping.json has no chats that can be imported: choose an export of Sotto, ChatGPT, Claude, Open WebUI, "
        "LM Studio, Jan or Ollama.",
        "Nothing was imported",
    )

    # By a drop: Ollama's database, which opens from the notice.
    write_ollama(tmp_path / "db.sqlite").close()
    assert drop(ready, tmp_path / "db.sqlite") == "Drop to import chats"
    said("Imported 1 chat; 1 tool call and 1 image could not be read.")
    assert notice.button.text() == "Open chat"
    notice.button.click()
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 2)
    question, answer = ready.chat_session.turns
    assert (question.text, question.attachments[0].name) == ("Why is snow white?", "snow.md")
    message = window.chat.transcript.last_message
    qtbot.waitUntil(lambda: "It scatters light." in message.text.toPlainText())
    assert answer.model == "gpt-oss:20b"
    assert message.body.parts[0].title.text() == "Thought for 8 s"

    # A folder of Jan's, a file of LM Studio's, and everything once more.
    threads = write_jan(tmp_path / "threads" / "jan_1").parent
    choose(ready, "Import Chat Folder…", threads)
    said("Imported 1 chat; 1 tool call and 1 image could not be read.")
    drop(ready, write_json(tmp_path / "bread.conversation.json", export_of("lm-studio")), FOLDER / "claude.json")
    said("Imported 3 chats; 2 tool calls and 3 images could not be read.")
    qtbot.waitUntil(lambda: titles(ready)[0] == "Bread")  # it is pinned
    before = sorted(titles(ready))
    drop(ready, archive, tmp_path / "db.sqlite", threads, tmp_path / "bread.conversation.json")
    said("5 chats were already here; 1 chat could not be read.")
    assert sorted(titles(ready)) == before == sorted(["A haiku", "Bread", "Rice", "Snow", "Stars", "Weather"])
    # Nothing was attached or loaded.
    assert ready.chat_session.draft.attachments == ()
    assert ready.shelf.opened == []


def test_a_large_import_leaves_the_window_alive_and_can_be_cancelled(ready, qtbot, loop, tmp_path, monkeypatch):
    window = ready.window
    notice, importing = window.chat.notice, window.chat_files.importing
    rice = export_of("chatgpt")[0]
    chats = [rice | {"create_time": 1.6e9 + number, "title": f"Rice {number}"} for number in range(1500)]
    path = write_json(tmp_path / "conversations.json", chats)
    importing._timer.setInterval(20)
    late, last = [], time.perf_counter()

    def beat():
        nonlocal last
        late.append(time.perf_counter() - last)
        last = time.perf_counter()

    timer = QTimer(interval=10)
    timer.timeout.connect(beat)
    timer.start()
    seen = []
    importing.progressed.connect(seen.append)
    drop(ready, path)
    qtbot.waitUntil(lambda: any("chats added" in text for text in seen))
    assert (notice.title.text(), notice.button.text()) == ("Importing chats", "Cancel")
    notice.button.click()
    qtbot.waitUntil(lambda: notice.title.text() == "Import cancelled")
    assert not importing.busy
    window.chat_library.refresh()
    counted = []
    ready.keeper.do(lambda store: len(store.chats()), counted.append)
    qtbot.waitUntil(lambda: counted == [0])
    drop(ready, path)
    qtbot.waitUntil(lambda: notice.message.text() == "Imported 1,500 chats.")
    timer.stop()
    assert len(late) > 20
    # The median: single beats are late on a busy machine.
    assert sorted(late)[len(late) // 2] < 0.1


def test_a_dismissed_progress_does_not_come_back(ready, qtbot, loop):
    files, notice = ready.window.chat_files, ready.window.chat.notice
    files._told = False
    files.importing.progressed.emit("10 chats read")
    assert notice.message.text() == "10 chats read"
    files.importing.progressed.emit("20 chats read")
    assert notice.message.text() == "20 chats read"
    notice.dismiss.click()
    files.importing.progressed.emit("30 chats read")
    assert notice.isHidden()

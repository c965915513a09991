"""A story: chats of other programs come into the window, and chats leave it as files and on paper."""

import contextlib
import json
import sqlite3
import threading
import time
from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest
from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtWidgets import QFileDialog

from chat_exports import FOLDER, export_of, write_jan, write_json, write_ollama, write_zip
from drags import data_of, drop_on, enter
from sotto.chats.adding import Adding
from sotto.chats.chat_records import State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.documents import read_document
from sotto.chats.imports.reading import Reading
from sotto.chats.imports.reading_process import ReadChats
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.transfer import chat_exporting
from sotto.ui.window.main_window import MainWindow


def titles(stage):
    return [entry.chat.title for entry in stage.window.sidebar.chats.model.entries]


def entry_of(stage, text):
    """Return an entry of the menus."""
    (found,) = [action for action in stage.window.menus.actions() if action.text() == text]
    return found


def dialog_of(stage, kind=QFileDialog):
    """Return the dialog that is open; closed ones are deleted later."""
    (found,) = [dialog for dialog in stage.window.findChildren(kind) if dialog.isVisible()]
    return found


def choose(stage, entry, *paths):
    """Choose files in the dialog of a menu entry."""
    entry_of(stage, entry).trigger()
    dialog = dialog_of(stage)
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

    def said(sentence, title="Import complete"):
        qtbot.waitUntil(lambda: notice.title.text() == title and not window.chat_files.importing.busy)
        assert notice.message.text() == sentence

    # By the menu: an archive as ChatGPT sends it, and a file that is none of this.
    archive = write_zip(
        tmp_path / "export.zip",
        {"user.json": b"{}", "conversations.json": json.dumps([*export_of("chatgpt"), {"mapping": 1}]).encode()},
    )
    dialog = choose(ready, "Import Chats…", archive)
    assert dialog.fileMode() is QFileDialog.FileMode.ExistingFiles
    said("Imported 2 chats. 1 tool call, 1 file, 1 image and 1 chat could not be read.")
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
    said("Imported 1 chat. 1 tool call and 1 image could not be read.")
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
    said("Imported 1 chat. 1 tool call and 1 image could not be read.")
    drop(ready, write_json(tmp_path / "bread.conversation.json", export_of("lm-studio")), FOLDER / "claude.json")
    said("Imported 3 chats. 2 tool calls and 3 images could not be read.")
    qtbot.waitUntil(lambda: titles(ready)[0] == "Bread")  # it is pinned
    before = sorted(titles(ready))
    drop(ready, archive, tmp_path / "db.sqlite", threads, tmp_path / "bread.conversation.json")
    said("5 chats were already here. 1 chat could not be read.")
    assert sorted(titles(ready)) == before == sorted(["A haiku", "Bread", "Rice", "Snow", "Stars", "Weather"])
    # Nothing was attached or loaded.
    assert ready.chat_session.draft.attachments == ()
    assert ready.shelf.opened == []


def test_a_large_import_leaves_the_window_alive_and_can_be_cancelled(ready, qtbot, loop, tmp_path, monkeypatch):
    window = ready.window
    notice, importing = window.chat.notice, window.chat_files.importing
    path = write_json(tmp_path / "conversations.json", rice(1500))
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


def rice(count):
    """Return an export of ChatGPT with many chats."""
    one = export_of("chatgpt")[0]
    return [one | {"create_time": 1.6e9 + number, "title": f"Rice {number}"} for number in range(count)]


@dataclass
class Held:
    """An import that is held in front of a chat.

    Attributes:
        reached: Set when it is there.
        release: Set it to let the import go on.
        events: The numbers of the chats that were read, in order; tests add what else happens.
    """

    reached: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)
    events: list = field(default_factory=list)


@pytest.fixture
def hold_at(monkeypatch):
    """Return a function that holds imports in front of the chat of a number."""
    read = ReadChats.__iter__

    def hold(number):
        held = Held()

        def chats(self):
            for place, chat in enumerate(read(self)):
                if place == number:
                    held.reached.set()
                    assert held.release.wait(30)
                held.events.append(place)
                yield chat

        monkeypatch.setattr(ReadChats, "__iter__", chats)
        return held

    return hold


def test_a_question_asked_during_an_import_is_saved_before_the_rest(ready, qtbot, loop, tmp_path, monkeypatch, hold_at):
    monkeypatch.setattr("sotto.chats.adding.STEP", 5000)
    held, asked = hold_at(100), ChatStore.ask
    monkeypatch.setattr(ChatStore, "ask", lambda self, *args: held.events.append("question") or asked(self, *args))
    drop(ready, write_json(tmp_path / "conversations.json", rice(500)))
    qtbot.waitUntil(held.reached.is_set)
    ready.window.send("Is anyone there?")
    assert held.events == list(range(100))
    held.release.set()
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 2 and not ready.chat_session.busy)
    qtbot.waitUntil(lambda: ready.window.chat.notice.message.text() == "Imported 500 chats.")
    # Only the step that was under way was in front of it: a few chats of 500 characters, and of as much for their rows.
    assert len(held.events) == 501
    assert 100 <= held.events.index("question") <= 110


def test_a_cancelled_import_says_which_chats_have_got_more(ready, qtbot, loop, tmp_path, monkeypatch, hold_at):
    files, notice = ready.window.chat_files, ready.window.chat.notice
    monkeypatch.setattr("sotto.chats.adding.STEP", 1)
    first = rice(3)
    question = first[1]["mapping"]["q2"]
    shorter = {name: node for name, node in first[1]["mapping"].items() if name != "a3"}
    shorter["q2"] = question | {"children": []}
    drop(ready, write_json(tmp_path / "first.json", [first[1] | {"mapping": shorter, "current_node": "q2"}]))
    qtbot.waitUntil(lambda: titles(ready) == ["Rice 1"])
    held = hold_at(2)
    drop(ready, write_json(tmp_path / "conversations.json", first))
    qtbot.waitUntil(held.reached.is_set)
    files.importing.stop()
    held.release.set()
    qtbot.waitUntil(lambda: notice.title.text() == "Import cancelled")
    assert notice.message.text() == "1 chat got new messages."
    ready.window.chat_library.refresh()
    qtbot.waitUntil(lambda: titles(ready) == ["Rice 1"])
    # The file can be imported again at once.
    drop(ready, tmp_path / "conversations.json")
    qtbot.waitUntil(lambda: len(titles(ready)) == 3)
    assert notice.message.text().startswith("Imported 2 chats. 1 chat was already here.")


def test_what_an_import_left_that_did_not_end_is_erased_at_the_next_start(
    qtbot, loop, tasks, stage, preferences, tmp_path, destroyed, monkeypatch
):
    path = tmp_path / "other" / "chats.sqlite3"
    path.parent.mkdir()
    store = ChatStore(Database(path))
    monkeypatch.setattr("sotto.chats.adding.STEP", 1)
    adding = Adding(store.database, list(Reading([FOLDER / "chatgpt.json"]).chats()))
    for _ in range(3):
        adding.step()
    store.database.close()

    def left():
        with contextlib.closing(sqlite3.connect(path)) as connection:
            return connection.execute("SELECT count(*) FROM messages").fetchone()[0]

    assert left() == 2
    keeper = ChatThread(path)
    window = MainWindow(stage.session, keeper, preferences)
    window.begin(tasks)
    qtbot.waitUntil(lambda: left() == 0)
    window.sessions.close()
    qtbot.waitUntil(lambda: not tasks.running)
    keeper.close()
    destroyed(window, keeper)


def test_chats_of_any_shape_are_shown_and_continued(ready, qtbot, loop, tmp_path):
    shapes = {"answer first": "au", "questions only": "uuu", "answers in a row": "uaau", "one answer": "a"}
    chats = []
    for number, (title, roles) in enumerate(shapes.items()):
        names = {"u": "user", "a": "assistant"}
        messages = [{"role": names[role], "text": f"{role}{place}", "parent": place - 1 if place else None}
                    for place, role in enumerate(roles)]  # fmt: skip
        chats.append({"title": title, "created": 1.7e9 + number, "messages": messages})
    drop(ready, write_json(tmp_path / "all.json", {"format": "sotto-chats", "version": 1, "chats": chats}))
    qtbot.waitUntil(lambda: len(titles(ready)) == len(shapes))
    for entry in ready.window.sidebar.chats.model.entries:
        shown = [f"{role}{place}" for place, role in enumerate(shapes[entry.chat.title])]
        ready.window.current.open(entry.chat.id)
        qtbot.waitUntil(lambda shown=shown: [turn.text for turn in ready.chat_session.turns] == shown)
        ready.window.send("And now?")
        qtbot.waitUntil(lambda shown=shown: len(ready.chat_session.turns) == len(shown) + 2)
        qtbot.waitUntil(lambda: not ready.chat_session.busy)
        assert ready.chat_session.turns[-1].text == "Hello there."


def test_chats_that_cannot_be_saved_are_not_imported(ready, qtbot, loop):
    ready.keeper.do(lambda store: store.database.connection.execute("PRAGMA query_only = ON"))
    drop(ready, FOLDER / "claude.json")
    notice = ready.window.chat.notice
    qtbot.waitUntil(lambda: notice.title.text() == "Nothing was imported")
    assert notice.message.text() == f"{ready.keeper.path} could not be written: attempt to write a readonly database."


def test_a_dismissed_progress_does_not_come_back(ready, qtbot, loop):
    files, notice = ready.window.chat_files, ready.window.chat.notice
    files._import_shown = False
    files.importing.progressed.emit("10 chats read")
    assert notice.message.text() == "10 chats read"
    files.importing.progressed.emit("20 chats read")
    assert notice.message.text() == "20 chats read"
    notice.dismiss.click()
    files.importing.progressed.emit("30 chats read")
    assert notice.isHidden()


ANSWER = """<think>
It is $x^2$.
</think>

## Squares

Write `x * x`, or <script>alert(1)</script>:

```python
def square(x):  # by hand
    return x * x
```

| x | $x^2$ |
|---|---:|
| 3 | 9 |

$$\\int_0^1 x^2 \\, dx$$

![a picture](https://example.org/a.png) and [a page](https://example.org/page)
"""


class Page(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)

    def of(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def test_a_chat_leaves_in_every_form_and_is_printed(ready, qtbot, loop, tmp_path, monkeypatch):
    window, notice = ready.window, ready.window.chat.notice
    entry = entry_of(ready, "Print…")
    entry.trigger()
    assert notice.message.text() == "This chat has no messages yet."
    ready.script.chunks = [ANSWER]
    window.send("What is a <b>square</b>?\nIn two lines.")
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 2 and not ready.chat_session.busy)

    def export(form, path):
        entry_of(ready, f"Export as {form}…").trigger()
        qtbot.waitUntil(lambda: any(dialog.isVisible() for dialog in window.findChildren(QFileDialog)))
        dialog = dialog_of(ready)
        suggested = dialog.selectedFiles()[0].rpartition("/")[2]
        dialog.fileSelected.emit(str(path))
        dialog.close()
        qtbot.waitUntil(lambda: notice.isVisible() and str(path) in notice.message.text())
        return suggested

    paths = {form: tmp_path / f"out.{form.lower()}" for form in ("Markdown", "JSON", "HTML", "PDF")}
    names = [export(form, path) for form, path in paths.items()]
    assert names == [f"What is a b square b In two lines.{suffix}" for suffix in ("md", "json", "html", "pdf")]
    assert all(path.stat().st_mode & 0o077 == 0 for path in paths.values())
    markdown = paths["Markdown"].read_text(encoding="utf-8")
    assert "> **Thought**\n> \n> It is $x^2$.\n\n## Squares" in markdown
    (chat,) = Reading([paths["JSON"]]).chats()
    assert [message.text for message in chat.messages] == [turn.text for turn in ready.chat_session.turns]

    # The page has nothing that runs or that would be fetched.
    page = Page(paths["HTML"].read_text(encoding="utf-8"))
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert all(image["src"].startswith("data:image/svg+xml;base64,") for image in page.of("img"))
    assert [image["alt"] for image in page.of("img")] == ["$x^2$", "$x^2$", "$$\\int_0^1 x^2 \\, dx$$"]
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert [link["href"] for link in page.of("a")] == ["https://example.org/a.png", "https://example.org/page"]
    assert "default-src 'none'" in page.of("meta")[1]["content"]
    assert {"class": "keyword"} in page.of("span")
    assert len(page.of("details")) == 1
    text = "".join(page.texts)
    assert "What is a <b>square</b>?\nIn two lines." in text
    assert "or <script>alert(1)</script>:" in text

    def check_pdf(path):
        words = " ".join(read_document(path).text.split())
        for piece in ("What is a <b>square</b>?", "Squares", "return x * x", "tiny:latest", "alert(1)", "1 / 1"):
            assert piece in words, (piece, words)

    check_pdf(paths["PDF"])

    # Paper: the dialog of the system, with a file as the printer.
    entry.trigger()
    qtbot.waitUntil(lambda: bool(window.findChildren(QPrintDialog)))
    dialog = dialog_of(ready, QPrintDialog)
    assert entry.shortcut().toString() == "Ctrl+P"
    dialog.printer().setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    dialog.printer().setOutputFileName(str(tmp_path / "paper.pdf"))
    dialog.done(QPrintDialog.DialogCode.Accepted)
    qtbot.waitUntil(lambda: notice.title.text() == "Printed")
    check_pdf(tmp_path / "paper.pdf")

    # What fails leaves nothing behind, and what was there before.
    before = sorted(tmp_path.iterdir())
    for form in paths:
        export(form, tmp_path / "missing" / "out")
        assert notice.title.text() == "Nothing was exported"
    blocked = tmp_path / "folder.pdf"
    blocked.mkdir()
    export("PDF", blocked)
    assert notice.message.text() == f"{blocked} could not be written: Is a directory."
    assert sorted(tmp_path.iterdir()) == sorted([*before, blocked])


def test_the_menu_of_a_chat_exports_and_prints_it(ready, qtbot, loop, tmp_path, monkeypatch):
    window, chats = ready.window, ready.window.sidebar.chats
    drop(ready, FOLDER / "claude.json")
    qtbot.waitUntil(lambda: titles(ready) == ["Weather", "A haiku"])
    haiku = chats.model.entries[1].chat
    menu = chats.chat_menu(haiku)
    (export,) = [action.menu() for action in menu.actions() if action.text() == "Export"]
    assert [action.text() for action in export.actions()] == [
        "Export as Markdown…",
        "Export as JSON…",
        "Export as HTML…",
        "Export as PDF…",
    ]
    export.actions()[2].trigger()
    dialog = dialog_of(ready)
    assert dialog.selectedFiles()[0].endswith("A haiku.html")
    dialog.fileSelected.emit(str(tmp_path / "haiku.html"))
    dialog.close()
    qtbot.waitUntil(lambda: window.chat.notice.title.text() == "Exported")
    page = Page((tmp_path / "haiku.html").read_text(encoding="utf-8"))
    assert "frogs, pond" in page.texts
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    assert window.chat.notice.button.text() == "Show folder"
    window.chat.notice.button.click()
    assert opened == [QUrl.fromLocalFile(str(tmp_path))]
    entry_of(ready, "Export All as JSON…").trigger()
    dialog = dialog_of(ready)
    dialog.fileSelected.emit(str(tmp_path / "all.json"))
    dialog.close()
    qtbot.waitUntil(lambda: window.chat.notice.message.text() == f"Written to {tmp_path / 'all.json'}.")
    assert {chat.title for chat in Reading([tmp_path / "all.json"]).chats()} == {"A haiku", "Weather"}


# All chats in a folder


def add_titled(stage, qtbot, *titles):
    """Add chats with these titles, and wait until they are on the disk."""
    done = []

    def add(store):
        for title in titles:
            chat = store.add_chat()
            answer = store.begin_answer(store.ask(chat, f"About {title}?", None), "small")
            store.end_answer(answer, f"All about {title}.", State.COMPLETE)
            store.change(chat, title=title)

    stage.keeper.do(add, done.append)
    qtbot.waitUntil(lambda: bool(done))


def export_all(stage, form, folder):
    entry_of(stage, f"Export All as {form}…").trigger()
    dialog = dialog_of(stage)
    assert dialog.fileMode() is QFileDialog.FileMode.Directory
    dialog.fileSelected.emit(str(folder))
    dialog.reject()


def test_all_chats_leave_as_a_folder_with_a_file_for_each(ready, qtbot, loop, tmp_path):
    notice = ready.window.chat.notice
    export_all(ready, "Markdown", tmp_path)
    qtbot.waitUntil(lambda: notice.message.text() == "There are no chats yet.")
    titles = ("Rice", "rice", "../../etc/passwd", "Über Öl: 50 % <b>?", "   ", "nul", "Rice")
    add_titled(ready, qtbot, *titles)
    ready.keeper.do(lambda store: store.keep_draft(None, "never sent"))
    ready.keeper.do(lambda store: store.throw_away([7]))
    ready.keeper.do(lambda store: store.change(6, archived=True))
    for form, suffix in (("Markdown", "md"), ("HTML", "html"), ("PDF", "pdf")):
        export_all(ready, form, tmp_path)
        folder = tmp_path / f"Chats as {form}"
        qtbot.waitUntil(lambda: notice.message.text() == f"Written to {folder}.")  # noqa: B023
        assert sorted(path.name for path in folder.iterdir()) == sorted(
            f"{name}.{suffix}" for name in ("Rice", "rice 2", "etc passwd", "Über Öl 50 b", "chat", "chat 2")
        )
        assert folder.stat().st_mode & 0o077 == 0
    texts = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "Chats as Markdown").iterdir()}
    assert texts["Rice.md"].startswith("# Rice\n")
    assert "All about rice." in texts["rice 2.md"]
    assert "All about nul." in texts["chat.md"] + texts["chat 2.md"]
    assert "etc/passwd." in read_document(tmp_path / "Chats as PDF" / "etc passwd.pdf").text
    # Nothing is overwritten.
    export_all(ready, "Markdown", tmp_path)
    qtbot.waitUntil(lambda: notice.message.text() == f"Written to {tmp_path / 'Chats as Markdown 2'}.")
    folders = {path.name for path in tmp_path.iterdir() if path.name.startswith("Chats")}
    assert folders == {f"Chats as {name}" for name in ("Markdown", "Markdown 2", "HTML", "PDF")}


def test_what_fails_or_is_cancelled_leaves_no_part_of_a_folder(ready, qtbot, loop, tmp_path, monkeypatch):
    notice = ready.window.chat.notice
    add_titled(ready, qtbot, *(f"Chat {number}" for number in range(5)))
    target = tmp_path / "target"
    target.mkdir()
    write, third, release = chat_exporting.replace_atomically, threading.Event(), threading.Event()

    def broken(path, content):
        if len(list(path.parent.iterdir())) == 2:
            raise OSError(28, "No space left on device")
        write(path, content)

    monkeypatch.setattr(chat_exporting, "replace_atomically", broken)
    export_all(ready, "HTML", target)
    qtbot.waitUntil(lambda: notice.title.text() == "Nothing was exported")
    assert notice.message.text() == f"{target / 'Chats as HTML'} could not be written: No space left on device."
    assert list(target.iterdir()) == []

    def slow(path, content):
        if len(list(path.parent.iterdir())) == 2:
            third.set()
            assert release.wait(30)
        write(path, content)

    monkeypatch.setattr(chat_exporting, "replace_atomically", slow)
    export_all(ready, "HTML", target)
    qtbot.waitUntil(lambda: third.is_set() and notice.message.text() == "2 of 5 chats written")
    assert (notice.title.text(), notice.button.text()) == ("Exporting", "Cancel")
    notice.button.click()
    release.set()
    qtbot.waitUntil(lambda: notice.title.text() == "Export cancelled")
    assert notice.message.text() == "Nothing was written."
    assert list(target.iterdir()) == []
    # The next one is not cancelled.
    export_all(ready, "HTML", target)
    qtbot.waitUntil(lambda: notice.title.text() == "Exported")
    assert len(list((target / "Chats as HTML").iterdir())) == 5

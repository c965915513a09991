"""The main window in another language: its menus, lists, pages, dialogs and notices, and what the session reports.

Every text that `window` and `session` mark is seen, or the story fails: so it goes wherever these say something.
"""

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QLocale, Qt, QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu

from scripted_loop import record
from sotto.api.request_log import Stage
from sotto.api.server import ApiServer
from sotto.chats.chat_records import Role, Shelf, State
from sotto.errors import BrokenModelError
from sotto.store.records import Source
from sotto.ui.session.api_host import ApiHost
from sotto.ui.session.api_switch import ApiState, ApiSwitch
from sotto.ui.state.drop_contents import DropContents
from sotto.ui.state.load_pace import LoadPace
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.transfer.chat_exporting import ChatExporting, Form
from sotto.ui.window import help_window
from sotto.ui.window.chat_list_model import GroupRow
from sotto.ui.window.licences import Part
from translation_reader import Counter, Reader, popup_of

pytestmark = pytest.mark.slow
DAY = 86_400


@dataclass
class Visit:
    """What the parts of the story share."""

    reader: Reader
    around: object
    qtbot: object
    folder: Path

    @property
    def window(self):
        return self.around.shell.window

    def told(self, title):
        """Wait for a notice with this title, and read it."""
        notice = self.window.panes.pane.notice
        self.qtbot.waitUntil(lambda: notice.title.text() == title)
        for part in (notice.title, notice.message, notice.button):
            self.reader.note("window", part.text())


def test_nothing_in_the_main_window_stays_english(reader, shell, around, qtbot, loop, tmp_path, monkeypatch):
    reader.data |= set("POST Unauthorized RuntimeError Calmer none Esc".split())
    # Qt translates the names of months.
    reader.data |= {QLocale().standaloneMonthName(month).capitalize() for month in range(1, 13)}
    visit = Visit(reader, around, qtbot, tmp_path)
    around.shelf.records = []
    shell.open_window()
    qtbot.waitUntil(lambda: not around.session.library.searching)
    read_questions_without_a_model(visit)
    around.shelf.records = [record(), record("other:latest")]
    around.session.library.rescan()
    around.load(qtbot)
    read_states_of_the_model(visit)
    read_chats(visit)
    read_menus(visit)
    read_notices_of_chats(visit)
    read_files(visit, monkeypatch)
    read_dialogs(visit, monkeypatch)
    read_server(visit, monkeypatch)
    read_loads(visit)
    read_opened_models(visit)
    read_checks(visit, monkeypatch)
    assert reader.english == {}
    assert {package: reader.unread(package) for package in ("window", "session")} == {"window": [], "session": []}


def read_questions_without_a_model(visit):
    visit.reader.look(visit.window)
    visit.reader.note("session", visit.around.session.model_name)
    visit.window.send("Calm")
    visit.told("⟦No model is loaded⟧")
    visit.window.current.session.draft.text = ""


def read_states_of_the_model(visit):
    welcome, header, session = visit.window.chat.welcome, visit.window.chat.header, visit.around.session
    builtin = record(source=Source.BUILTIN)
    for state in (
        ModelState(),
        ModelState(Phase.FAILED, record()),
        ModelState(Phase.LOADING, record(), pace=LoadPace(shown=True)),
        ModelState(Phase.READY, record()),
        ModelState(Phase.READY, builtin),
    ):
        welcome.show_state(state)
        visit.reader.look(welcome)
    header.show_other(record("other:latest"))
    visit.reader.look(header)
    state = session.state
    session.state = replace(state, info=replace(state.info, writes=False))
    visit.window.send("Calm")
    visit.told("⟦This model cannot chat⟧")
    session.state = state


def read_chats(visit):
    around, library, chats = visit.around, visit.window.chat_library, visit.window.sidebar.chats

    def fill(store):
        folder = store.add_folder("Calm")
        for days in (0, 1, 3, 40, 400, 0, 0, 0):
            chat = store.add_chat()
            answer = store.begin_answer(store.ask(chat, "Calm", None), "tiny:latest")
            store.end_answer(answer, "Brisk", State.COMPLETE)
            store.database.connection.execute("UPDATE chats SET changed = changed - ? WHERE id = ?", (days * DAY, chat))
        store.change(chat - 1, pinned=True)
        store.change(chat - 2, folder=folder)
        return folder

    folders = []
    around.keeper.do(fill, folders.append)
    visit.qtbot.waitUntil(lambda: bool(folders))
    library.refresh()
    visit.qtbot.waitUntil(lambda: len(chats.model.entries) == 8)
    visit.reader.look(visit.window)
    titles = [row.title for row in chats.model.rows if isinstance(row, GroupRow)]
    assert titles[:4] == ["⟦Pinned⟧", "⟦Today⟧", "⟦Yesterday⟧", "⟦Previous 7 days⟧"]
    chats.model.show_answering(frozenset(entry.chat.id for entry in chats.model.entries))
    visit.reader.look(chats)
    chats.model.show_answering(frozenset())
    around.keeper.do(lambda store: store.change(chats.model.entries[0].chat.id, folder=folders[0]))
    library.close_folder(folders[0], closed=True)
    visit.qtbot.waitUntil(lambda: any("closed" in str(text) for text in read_aloud(chats)))
    visit.reader.look(chats)
    chats.rename(chats.model.entries[-1].chat.id)
    visit.reader.look(chats)
    visit.qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    for shelf, title in ((Shelf.ARCHIVED, "⟦Archive⟧"), (Shelf.TRASH, "⟦Trash⟧")):
        library.show_shelf(shelf)
        visit.qtbot.waitUntil(lambda title=title: chats.title.text().strip() == title)
        visit.reader.look(chats)
    library.show_shelf(Shelf.CURRENT)
    visit.window.sidebar.search.setText("nowhere")
    visit.qtbot.waitUntil(lambda: chats.empty_note.text() == "⟦No results.⟧")
    visit.reader.look(chats)
    visit.window.sidebar.search.clear()
    visit.qtbot.waitUntil(lambda: bool(chats.model.rows))


def read_aloud(chats):
    rows = range(chats.model.rowCount())
    return [chats.model.index(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in rows]


def read_menus(visit):
    chats = visit.window.sidebar.chats
    chat, folder = chats.model.entries[-1].chat, chats.model.rows[0].folder
    for changes in ({}, {"pinned": True}, {"archived": True}, {"trashed": 1.0}):
        visit.reader.look(chats.chat_menu(replace(chat, **changes)))
    for closed in (False, True):
        visit.reader.look(chats.folder_menu(replace(folder, closed=closed)))
    visit.reader.look(popup_of(chats.shelf_button.click))
    QApplication.activePopupWidget().close()
    for menu in chats.findChildren(QMenu):
        menu.deleteLater()
    visit.window.commands.open()
    palette = visit.window.commands.palette
    visit.qtbot.waitUntil(lambda: len(palette.results) > 30)
    visit.reader.look(palette)
    palette.dismiss()


def read_notices_of_chats(visit):
    window, chats = visit.window, visit.window.sidebar.chats
    window.ask_link("https://example.org/a")
    visit.told("⟦Open this link in your browser?⟧")
    next(action for action in window.menus.actions() if action.text() == "⟦Copy Report⟧").trigger()
    visit.told("⟦Writing a report⟧")
    visit.told("⟦Report copied⟧")
    window.current.session.summary.begun.emit()
    visit.told("⟦Writing a summary⟧")
    chat, folder = chats.model.entries[-1].chat, chats.model.rows[0].folder
    chats.trash_wanted.emit(chat)
    visit.told("⟦Moved to the trash⟧")
    chats.erase_wanted.emit(chat)
    visit.told("⟦Delete “⟧Calm⟦” for good?⟧")
    chats.empty_wanted.emit()
    visit.told("⟦Empty the trash?⟧")
    chats.folder_removed.emit(folder)
    visit.told("⟦Folder deleted⟧")
    visit.around.keeper.noticed.emit(SimpleNamespace(text="Calm"))
    visit.told("⟦About your chats⟧")
    visit.around.keeper.failed.emit("Calm")
    visit.told("⟦Not saved⟧")
    for questions, answers, title in (
        (1, 0, "⟦Question deleted⟧"),
        (0, 1, "⟦0:⟧1⟦ answers deleted⟧"),
        (0, 2, "⟦1:⟧2⟦ answers deleted⟧"),
        (1, 5, "⟦2:⟧⟦Question and ⟧5⟦ answers deleted⟧"),
    ):
        counts = {Role.USER: questions, Role.ASSISTANT: answers}
        window.current.session.branches.deleted.emit(SimpleNamespace(count=counts.get, adopted=(1,)))
        visit.told(title)


def read_files(visit, monkeypatch):
    window, files = visit.window, visit.window.chat_files
    window.current.new_chat()
    files.export_current(Form.PDF)
    visit.told("⟦Nothing to export⟧")
    files.print_current()
    visit.told("⟦Nothing to print⟧")
    files.choose_import()
    window.dialogs.choose_model()
    for dialog in window.findChildren(QFileDialog):
        for names in dialog.nameFilters():
            visit.reader.note("window", names.partition(" (")[0])
    files.choose_import_folder()
    files.export_all(Form.JSON)
    files.export_all(Form.HTML)
    files.export(window.sidebar.chats.model.entries[-1].chat, Form.PDF)
    for choose in (
        window.dialogs.choose_model_folder,
        window.dialogs.choose_attachments,
    ):
        choose()
    dialogs = window.findChildren(QFileDialog)
    assert len(dialogs) == 8
    for dialog in dialogs:
        visit.reader.look(dialog)
        dialog.close()
    monkeypatch.setattr(ChatExporting, "busy", True)
    patience = files.findChild(QTimer, options=Qt.FindChildOption.FindDirectChildrenOnly)
    patience.timeout.emit()
    visit.told("⟦Exporting⟧")
    monkeypatch.setattr(ChatExporting, "progress", (1, 2))
    patience.timeout.emit()
    visit.told("⟦Exporting⟧")
    files.exporting.stopped.emit()
    visit.told("⟦Export cancelled⟧")
    files.exporting.exported.emit(visit.folder)
    visit.told("⟦Exported⟧")
    files.exporting.printed.emit("Calm")
    visit.told("⟦Printed⟧")
    files.importing.progressed.emit("Calm")
    visit.told("⟦Importing chats⟧")
    files.importing.progressed.emit("Calmer")
    visit.qtbot.waitUntil(lambda: window.chat.notice.message.text() == "Calmer")
    files.importing.stopped.emit("")
    visit.told("⟦Import cancelled⟧")
    files.importing.imported.emit(SimpleNamespace(new=(1,), grown=()), "Calm", False)
    visit.told("⟦Import complete⟧")


def read_dialogs(visit, monkeypatch):
    window = visit.window
    window.menus.actions()[-1].trigger()
    visit.reader.look(window)
    (pages := visit.folder / "help" / "pl").mkdir(parents=True)
    for name in help_window.PAGES:
        (pages / f"{name}.md").write_text(f"# ⟦{name}⟧\n", encoding="utf-8")
    (text := visit.folder / "calm").write_text("calm")
    parts = (Part("calm", "", "", (text,)), Part("calm", "calm", "calm", ()))
    monkeypatch.setattr(help_window, "resources_dir", lambda: visit.folder)
    monkeypatch.setattr(help_window, "parts", lambda: parts)
    visit.reader.data |= {"calm", "calmcalm", "download", "io", "qt"}
    for page in ("", "shortcuts", "licences"):
        window.dialogs.show_help(page)
        visit.reader.look(window.dialogs.help)
        for line in window.dialogs.help.page.toPlainText().splitlines():
            visit.reader.note("window", line)
    window.dialogs.help.page.link_asked.emit("licence/0")
    for line in window.dialogs.help.page.toPlainText().splitlines():
        visit.reader.note("window", line)
    window.dialogs.help.close()


def read_server(visit, monkeypatch):
    host = ApiHost(visit.around.session)
    switch = ApiSwitch(host, visit.around.preferences)
    window, card, log = visit.window, visit.window.server, switch.feed.log
    window.show_api(switch)
    visit.reader.look(window)
    visit.around.preferences.change(api_enabled=True, api_key="1234", api_port=11535)
    window.server.toggle()
    for state in (ApiState(), ApiState(address="http://127.0.0.1:11535")):
        switch.state = state
        switch.changed.emit()
        visit.reader.look(window)
    for revealed in (True, False):
        card.reveal.setChecked(revealed)
        visit.reader.look(card)
    for button in (card.copy_address, card.copy_key):
        button.click()
        visit.reader.look(card)
    for number, stage in enumerate(Stage, 1):
        request = log.begin("POST", "/v1/chat")
        request.ask_for("tiny:latest")
        request.enter(stage)
        request.add_tokens(number, number - 1)
        visit.qtbot.waitUntil(lambda number=number: len(card.requests.rows.rows) == number)
        visit.reader.look(window)
    request.cancel()
    request.end(200, whole=False)
    log.begin("POST", "/v1/chat").end(401, whole=True)
    visit.qtbot.waitUntil(lambda: any(row.ended and row.status == 401 for row in card.requests.rows.rows))
    visit.reader.look(window)

    def fail(server):
        raise RuntimeError("Calm")

    monkeypatch.setattr(ApiServer, "start", fail)
    visit.around.preferences.change(api_enabled=False)
    switch.begin()
    visit.around.preferences.change(api_enabled=True)
    visit.qtbot.waitUntil(lambda: "RuntimeError" in switch.state.problem)
    visit.reader.look(window)
    visit.around.preferences.change(api_enabled=False)
    switch.close()


def read_loads(visit):
    around, session = visit.around, visit.around.session
    script, (tiny, other) = around.script, around.session.library.models
    session.load(replace(other, present=False))
    visit.told("other⟦ is not there⟧")
    session.load(replace(other, runnable=False, reason="Calm"))
    visit.told("other⟦ cannot run here⟧")
    script.fail_load = "Calm"
    session.load(other)
    visit.told("other⟦ could not be loaded⟧")
    script.fail_load, script.loaded_context = "", 1000
    session.load(tiny, num_ctx=4000)
    visit.told("⟦The context is shorter than requested⟧")
    script.loaded_context, script.template_note = None, "Calm"
    script.has_template = False
    session.load(other)
    visit.told("⟦This model has no chat template⟧")
    script.has_template, script.reads_messages = True, False
    session.load(tiny)
    visit.told("⟦The chat template ignores questions⟧")
    script.crash = "Calm"
    session.load(other)
    visit.qtbot.waitUntil(lambda: session.state.phase is Phase.FAILED)
    visit.reader.note("session", visit.window.chat.notice.title.text())
    session.load(tiny)


def read_opened_models(visit):
    around, library = visit.around, visit.around.session.library
    around.shelf.at = {Path(f"/models/{name}"): record(f"{name}:latest") for name in ("Calm", "Brisk", "tiny", "other")}
    for paths, remote, title in (
        ((), ("https://example.org/a",), "⟦Not on this computer⟧"),
        (("none",), (), "none⟦ could not be loaded⟧"),
        (("none",), ("https://example.org/a",), "⟦Not everything was loaded⟧"),
        (("Calm", "Brisk"), (), "⟦Only one model was loaded⟧"),
        (("Calm", "Brisk", "tiny", "other"), (), "⟦Only one model was loaded⟧"),
    ):
        around.shelf.at[Path("/models/none")] = BrokenModelError("Calm")
        # A load hides what was said before it.
        visit.qtbot.waitUntil(lambda: around.session.state.phase is Phase.READY)
        visit.window.chat.notice.hide()
        library.open(DropContents(tuple(Path("/models") / name for name in paths), remote))
        visit.told(title)


def read_checks(visit, monkeypatch):
    around, library = visit.around, visit.around.session.library

    def refuse(*arguments):
        raise BrokenModelError("Calm")

    visit.qtbot.waitUntil(lambda: around.session.state.phase is Phase.READY)
    library.verify(record())
    visit.told("⟦No damage found⟧")
    around.shelf.damage, hold = "Calm", threading.Event()
    monkeypatch.setattr(around.shelf, "verify", lambda *arguments: hold.wait(9) and "Calm")
    library.verify(record())
    visit.told("⟦Checking files⟧")
    hold.set()
    visit.told("tiny⟦ is damaged⟧")
    monkeypatch.setattr(around.shelf, "verify", refuse)
    library.verify(record())
    visit.told("tiny⟦ could not be checked⟧")

    def fail(folders):
        raise RuntimeError("Calm")

    monkeypatch.setattr(around.shelf, "find", fail)
    library.rescan()
    visit.told("⟦The models could not be listed⟧")


def test_nothing_is_translated_while_lists_are_painted(ready, preferences, qtbot, loop, qapp, destroyed):
    switch = ApiSwitch(host := ApiHost(ready.session), preferences)
    window, log = ready.window, switch.feed.log
    window.show_api(switch)
    window.send("Hi")
    qtbot.waitUntil(lambda: not ready.chat_session.busy and len(window.sidebar.chats.model.rows) == 2)
    preferences.change(api_enabled=True)
    switch.state = ApiState(address="http://127.0.0.1:11535")
    window.server.toggle()
    log.begin("POST", "/v1/chat").add_tokens(20)
    log.begin("POST", "/v1/chat").end(200, whole=False)
    qtbot.waitUntil(lambda: len(window.server.requests.rows.rows) == 2 and window.server.requests.isVisible())
    counter = Counter(qapp)
    qapp.installTranslator(counter)
    qapp.processEvents()
    counter.asked.clear()
    window.grab()
    assert counter.asked == []
    # It counts.
    window.server.requests.rows.show_time()
    assert "Working" in counter.asked
    qapp.removeTranslator(counter)
    switch.close()
    destroyed(counter, switch, host)

"""Chats in another language: messages, what is said about them, and the files that they come from and go to.

Every text of these packages is visited: one that is shown in English is found as well as one that is not visited.
"""

import json
import sqlite3
import threading
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage
from PySide6.QtPrintSupport import QPrinter
from PySide6.QtWidgets import QApplication, QFileDialog

from chat_exports import export_of, write_json, write_zip
from scripted_loop import record
from sotto.chats.adding import Added
from sotto.chats.chat_records import Attachment, Branch, Chat, Role, State, Turn
from sotto.chats.whole_chat import Lost
from sotto.engine.contract.events import DoneReason, ModelInfo, PrefillProgress
from sotto.engine.contract.requests import Message, Think
from sotto.engine.memory.memory_figures import Measured
from sotto.engine.memory.memory_needs import ModelNeeds
from sotto.ui.conversation.answer_announcer import AnswerAnnouncer
from sotto.ui.conversation.answer_wording import (
    answer_line,
    figures_line,
    prefill_line,
    short_answer_line,
    thought_line,
)
from sotto.ui.conversation.chat_loading import LoadedChat
from sotto.ui.conversation.prefix_reuse import PromptState, reread_reason
from sotto.ui.conversation.row_ids import MessageRowId
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit, MachineMemory, project
from sotto.ui.state.model_state import ModelState, Phase, Problem, Remedy
from sotto.ui.toolkit.file_dialog import FileDialog
from sotto.ui.toolkit.translation import tr
from sotto.ui.transcript.message_menu import MessagePlace, message_menu
from sotto.ui.transcript.picture_viewer import PictureViewer
from sotto.ui.transfer.chat_exporting import Form
from sotto.ui.transfer.chat_page import paper_parts
from sotto.ui.transfer.import_summary import summary
from translation_reader import ask, popup_of

pytestmark = pytest.mark.slow

THOUGHT = "<think>\n1\n</think>\n\n"
CALL = '<tool_call>\n{"name": "find", "arguments": {"a": 1}}\n</tool_call>'
QUESTION = Turn(1, None, Role.USER, "1", State.COMPLETE, 1.7e9)
ANSWER = Turn(2, 1, Role.ASSISTANT, "2", State.COMPLETE, 1.7e9, "tiny")


class Visit:
    """The window of the app in another language, and what its reader has seen."""

    def __init__(self, reader, around, qtbot):
        self.reader, self.around, self.qtbot = reader, around, qtbot
        self.script, self.window = around.script, around.shell.window
        self.transcript = self.window.chat.transcript
        # The model's tag, its call of a tool, and what `sotto.chats` writes into titles and files.
        reader.data |= set("latest find name arguments tool call toolcall json Branch of UTC".split())

    @property
    def chat(self):
        return self.window.current.session

    @property
    def question(self):
        return self.transcript.messages[-2]

    @property
    def answer(self):
        return self.transcript.last_message

    def look(self, *more):
        """Read the window, and its notice, which says what packages below the window's have to say."""
        self.reader.look(self.window, *more)
        if (text := self.window.chat.notice.text) is not None:
            for each in (text.title, text.message, text.label):
                self.reader.note("conversation", each)

    def wait(self, condition):
        self.qtbot.waitUntil(lambda: bool(condition()))

    def ask(self, text, answer):
        ask(self.around, self.qtbot, text, answer)

    def idle(self):
        return not self.chat.busy and all(turn.id > 0 for turn in self.chat.turns)


def visit_answers(visit):
    """Look at an answer in every state in which it can be, while it is announced."""
    window, script, chat, transcript = visit.window, visit.script, visit.chat, visit.transcript
    announcer = AnswerAnnouncer(window, lambda about, text: visit.reader.note("conversation", text))
    announcer.bind(chat)
    # A question that waits for a model, and then for its prompt.
    script.hold_load, script.hold_prefill = threading.Event(), threading.Event()
    visit.around.session.load(visit.around.session.library.models[0])
    visit.wait(lambda: visit.around.session.state.phase is Phase.LOADING)
    window.send("1")
    visit.wait(lambda: chat.awaiting)
    visit.look()
    script.hold_load.set()
    visit.wait(lambda: chat.answering)
    visit.look()
    chat.prefilled.emit(PrefillProgress("", 1, 2, 0), "")
    visit.look()
    chat.stop()
    visit.wait(visit.idle)
    visit.look()
    # One that arrives: its thoughts, a tool, and the text.
    script.hold_prefill, script.hold_answer = None, threading.Event()
    script.chunks = ["<think>\n1 ", "2 ", f"</think>\n\n3. {CALL}"]
    window.send("2")
    visit.wait(lambda: visit.answer.body.parts)
    visit.look()
    thought = visit.answer.body.parts[0]
    for _ in range(2):
        thought.button.click()
        visit.look()
    chat.pace.measured.emit(5, 2.0)
    visit.look()
    script.hold_answer.set()
    visit.wait(visit.idle)
    visit.answer.body.parts[-1].button.click()
    visit.look()
    script.chunks, script.hold_answer = ["1 ", CALL[:30], CALL[30:]], threading.Event()
    window.send("3")
    visit.wait(lambda: len(visit.answer.body.parts) == 2)
    transcript.newest.show_arriving(True)
    visit.look()
    chat.stop()
    visit.wait(visit.idle)
    transcript.newest.show_arriving(False)
    visit.look()
    # One that fails, goes on, and is the only answer of its question or is retracted.
    script.hold_answer, script.chunks, script.fail_answer = None, ["1. ", "2"], "'refused'"
    window.send("4")
    visit.wait(visit.idle)
    visit.look()
    script.fail_answer = ""
    visit.answer.more.click()
    visit.wait(visit.idle)
    script.fail_answer, script.chunks = "'refused'", []
    window.send("5")
    visit.wait(visit.idle)
    visit.look()
    script.fail_answer, script.chunks = "", ["1"]
    chat.draft.set_choices("", {"format": "json"})
    window.send("6")
    visit.wait(visit.idle)
    chat.draft.set_choices("", {})
    transcript.add_answer("").append("1")
    visit.look()
    transcript.remove_last()


def visit_lines(visit):
    """Read the lines that answers have in states that would take a crash or a long time."""
    ended = {"tokens": 1, "prompt": 5, "cached": 3, "first": 10**8, "nanoseconds": 10**9, "dropped": 1}
    lines = [figures_line({**ended, "reason": reason.value}) for reason in DoneReason]
    lines += [figures_line({**ended, "tokens": 2, "dropped": 2, "first": 3 * 10**11})]
    lines += [figures_line({"reason": DoneReason.CANCELLED.value, "tokens": 0})]
    lines += [thought_line(65), visit.chat.awaited[1]]
    states = [replace(ANSWER, state=state, text=text) for state in State for text in ("", "1")]
    states += [replace(ANSWER, figures={"edited": True})]
    lines += [line(turn) for line in (answer_line, short_answer_line) for turn in states]
    before = PromptState("m", (Message("user", "a"), Message("assistant", "b")))
    system, other = Message("system", "c"), Message("user", "d")
    for now in (
        before,
        replace(before, model="n"),
        replace(before, trims=True),
        replace(before, think=Think.HIGH),
        replace(before, messages=(system, *before.messages)),
        replace(before, messages=(other,)),
    ):
        why = reread_reason(before, 100, now, 0)
        lines += [prefill_line(PrefillProgress("", 1, 2, cached), why) for cached in (0, 1)]
    for line in lines:
        visit.reader.note("conversation", line)


def visit_messages(visit):
    """Look at the versions, the menus and the editors of messages, and at what is found in them."""
    transcript, script = visit.transcript, visit.script
    visit.window.current.new_chat()
    document = Attachment("a.txt", "1" * 100, 100, 0, 100, 30)
    parts = [(0, 100), (0, 40), (60, 100), (20, 60)]
    visit.chat.draft.attach([replace(document, begins=begins, ends=ends) for begins, ends in parts])
    visit.chat.draft.attach([replace(document, tokens=1)])
    bar = visit.window.chat.composer.attachments
    bar.show_pending(["b.txt"])
    visit.look(bar.parts_menu(0))
    bar.show_pending([])
    visit.ask("1", "2 [3](https://example.org/a)")
    visit.look()
    visit.answer.again.click()
    visit.wait(lambda: visit.idle() and len(visit.chat.turns[-1].versions) == 2)
    visit.question.edit.click()
    visit.answer.begin_edit()
    visit.look()
    for message in (visit.question, visit.answer):
        message.editor.refuse()
    visit.look()
    for message in (visit.question, visit.answer):
        message.end_edit()
        message.copy.click()
    visit.look()
    visit.answer.text.selectAll()
    link = next(QPoint(x, 8) for x in range(0, 300, 2) if visit.answer.text.anchorAt(QPoint(x, 8)))
    at = visit.answer.text.viewport().mapToGlobal(link)
    visit.answer.more.show()
    for authors in ((Role.USER,), (Role.ASSISTANT,), (Role.USER, Role.ASSISTANT), (Role.USER, *2 * (Role.ASSISTANT,))):
        menu = message_menu(visit.answer, MessagePlace(True, authors), at)
        visit.look(menu)
        menu.deleteLater()
    visit.look(popup_of(visit.answer.menu_button.click))
    QApplication.activePopupWidget().close()
    visit.answer.requests.branch_wanted.emit(visit.question.turn_id)
    visit.wait(lambda: len(visit.chat.turns) == 1)
    question = transcript.last_message
    visit.look(popup_of(question.menu_button.click))
    QApplication.activePopupWidget().close()
    find_bar = visit.window.chat.find_bar
    find_bar.open()
    for text in ("1", "none"):
        find_bar.field.setText(text)
        visit.look()
    find_bar.closed.emit()
    script.chunks = ["1"]


def visit_notices(visit, folder):
    """Look at what is said about conversations."""
    window, chat, notices = visit.window, visit.chat, visit.window.notices
    notices.keep_problem(7, Problem("'title'", ""), lambda: None)
    visit.look()
    for remedy in Remedy:
        notices.show_problem(Problem("'title'", "", remedy=remedy))
        visit.look()
    # Files that cannot be attached, or not again.
    bad = [folder / f"{number}.txt" for number in range(2)]
    good = folder / "3.txt"
    good.write_text("1")
    problems = []
    window.composing.attachments.attaching.problem.connect(problems.append)
    for paths in ([bad[0]], bad, [good] * 2, [bad[0]] * 21):
        problems.clear()
        window.composing.attachments.attaching.attach(paths, chat.draft)
        visit.wait(lambda: problems and not window.composing.attachments.attaching.busy)
        for problem in problems:
            visit.reader.note("conversation", problem.title)
        if paths[0] is good or len(paths) > 20:
            visit.reader.note("conversation", problems[0].message)
    # Conversations of which something is lost.
    for lost in (1, 2):
        problem = LoadedChat(7, None, (), {}, Branch((), lost)).problem
        visit.reader.note("conversation", problem.title)
        visit.reader.note("conversation", problem.message)
    with pytest.raises(Exception, match="⟦") as refused:
        MessageRowId().require()
    visit.reader.note("conversation", refused.value.message)
    failures = []
    visit.around.keeper.failed.connect(failures.append)

    def fail(store):
        raise sqlite3.OperationalError("'locked'")

    visit.around.keeper.do(fail)
    visit.wait(lambda: failures)
    visit.reader.note("conversation", failures[0])
    # A summary that the model does not write.
    window.current.new_chat()
    visit.ask("1", "2")
    visit.script.chunks = [" "]
    chat = visit.chat
    chat.summarize()
    visit.wait(lambda: not chat.busy)
    visit.look()
    # The name of a new folder, which the user then changes.
    added = []
    window.chat_library.folder_added.connect(added.append)
    window.chat_library.add_folder()
    visit.wait(lambda: added)
    folders = []
    visit.around.keeper.do(lambda store: store.folders(), folders.extend)
    visit.wait(lambda: folders)
    visit.reader.note("conversation", folders[0].name)


def visit_images(visit, folder):
    """Look at an image in a message and whole."""
    path, data = folder / "a.png", QImage(4, 4, QImage.Format.Format_RGB32)
    data.fill(0)
    data.save(str(path))
    visit.window.current.new_chat()
    visit.window.composing.attach((path,))
    visit.wait(lambda: visit.chat.draft.attachments)
    visit.ask("1", "2")
    visit.look()
    visit.question.attachments.pictures[0].click()
    (viewer,) = (each for each in QApplication.topLevelWidgets() if isinstance(each, PictureViewer))
    visit.reader.look(viewer)
    visit.wait(lambda: not viewer.image.isNull())
    viewer.copy.click()
    viewer.save.click()
    visit.reader.look(viewer, *viewer.findChildren(FileDialog))
    viewer._save(path)
    visit.wait(lambda: viewer.save.accessibleName() != "")
    visit.qtbot.wait(100)
    visit.reader.look(viewer)
    viewer.close()


def visit_states(visit):
    """Read the values that other packages show."""
    spans = (5, 60, 3600, 3700)
    lines = [wording.duration(seconds) for seconds in spans] + [wording.exact_duration(65), wording.seconds(10**7)]
    lines += [wording.ago(seconds) for seconds in (0, 60, 3600, 7200, 90_000, 180_000)]
    lines += [tr(fit.value) for fit in Fit]
    info = ModelInfo("", "tiny", "", 1, 1, 1, "", "", has_chat_template=True, load_duration=1, writes=False)
    lines += [ModelState(Phase.READY, record(), info=info).chat_refusal]
    needs = ModelNeeds(10, 0, (), (), 4096)
    for measured in (None, Measured("", None), Measured("", needs)):
        lines.append(project(measured, MachineMemory()).reason)
    for line in lines:
        visit.reader.note("state", line)


def test_no_chat_stays_english(reader, shell, around, qtbot, loop, tmp_path):
    shell.open_window()
    qtbot.waitUntil(lambda: bool(around.session.library.models))
    visit = Visit(reader, around, qtbot)
    visit.script.sees = True
    visit_answers(visit)
    visit_lines(visit)
    visit_messages(visit)
    visit_images(visit, tmp_path)
    visit_notices(visit, tmp_path)
    visit_states(visit)
    assert reader.english == {}
    for package in ("conversation", "state", "transcript"):
        assert reader.unread(package) == [], package


def visit_imports(visit, folder, monkeypatch):
    """Look at the dialogs and the results of imports."""
    files, notice = visit.window.chat_files, visit.window.chat.notice
    importing, problems, lines = files.importing, [], []
    importing.problem.connect(problems.append)
    importing.progressed.connect(lines.append)
    importing.imported.connect(lambda added, sentence, partial: lines.append(sentence))
    for act in (files.choose_import, files.choose_import_folder):
        act()
        (dialog,) = [dialog for dialog in visit.window.findChildren(QFileDialog) if dialog.isVisible()]
        visit.look()
        dialog.close()
    archive = write_zip(
        folder / "export.zip",
        {"user.json": b"{}", "conversations.json": json.dumps([*export_of("chatgpt"), {"mapping": 1}]).encode()},
    )
    for paths in ([archive], [archive], [write_json(folder / "a.json", {"milk": 2})]):
        before = len(lines) + len(problems)
        importing.start(paths)
        visit.wait(lambda before=before: len(lines) + len(problems) > before and not importing.busy)
        visit.reader.note("transfer", notice.title.text())
    for read, count in ((0, 0), (1, 0), (2, 0), (2, 1), (2, 2)):
        importing._read, importing._count = read, count
        importing._tell()
    for count in (1, 2):
        lost = Counter(dict.fromkeys(Lost, count))
        lines += [summary(Added(list(range(count)), list(range(count)), count, lost), Counter())]
    locked = sqlite3.OperationalError("'locked'")
    for error, grown in ((locked, []), (locked, [1]), (RuntimeError("'unknown'"), [])):
        monkeypatch.setattr("sotto.chats.adding.Adding.step", failing(error, grown))
        problems.clear()
        importing.start([archive])
        visit.wait(lambda: problems and not importing.busy)
        lines += [problems[0].title, problems[0].message]
    for line in lines:
        visit.reader.note("transfer", line)


def failing(error, grown):
    """Return a step of an import that fails after chats of these numbers have got new messages."""

    def fail(adding):
        adding.added.grown += grown
        raise error

    return fail


class Page(HTMLParser):
    """Collects the texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.within = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.within = tag

    def handle_data(self, data):
        if self.within != "style":
            self.texts.append(data)


def visit_exports(visit, folder):
    """Read a chat with everything in it in the forms in which it is exported, and look at what is said about that."""
    exporting, problems = visit.window.chat_files.exporting, []
    exporting.problem.connect(problems.append)
    exporting.export_each(Form.HTML, folder)
    visit.wait(lambda: len(problems) == 1)
    visit.window.current.new_chat()
    visit.chat.draft.set_choices("3", {})
    visit.chat.draft.attach([Attachment("a.txt", "1" * length, length, 0, length) for length in (1, 2)])
    visit.ask("1", f"{THOUGHT}2\n\n{CALL}")
    visit.script.cut_short, visit.script.chunks = True, ["1 ", CALL[:30]]
    visit.window.send("2")
    visit.wait(visit.idle)
    visit.script.cut_short = False
    chat, told = visit.chat.chat, []
    exporting.exported.connect(told.append)
    for form in Form:
        exporting.export(chat, form, folder / f"out{form.suffix}")
        visit.wait(lambda form=form: told == [folder / f"out{form.suffix}"])
        visit.look()
        told.clear()
    for text in Page((folder / "out.html").read_text(encoding="utf-8")).texts:
        visit.reader.note("transfer", text)
    for line in (folder / "out.md").read_text(encoding="utf-8").splitlines():
        visit.reader.note("transfer", line)
    visit.around.keeper.do(lambda store: store.change(chat, title="?"))
    told.clear()
    exporting.export_each(Form.MARKDOWN, folder)
    visit.wait(lambda: told)
    for path in (told[0], *told[0].iterdir()):
        visit.reader.note("transfer", path.stem)
    told.clear()
    visit.around.keeper.do(lambda store: store.change(chat, title=""))
    exporting.export(chat, Form.MARKDOWN, folder / "untitled.md")
    visit.wait(lambda: told)
    visit.reader.note("transfer", (folder / "untitled.md").read_text(encoding="utf-8").partition("\n")[0])
    untitled = Chat(7, "", 1.7e9, 1.7e9)
    question = replace(QUESTION, attachments=visit.chat.turns[0].attachments)
    for part in paper_parts(untitled, (question, replace(ANSWER, model="")), str, lambda image: ""):
        for text in Page(part).texts:
            visit.reader.note("transfer", text)
    # What cannot be written, printed or found.
    exporting.export(chat, Form.HTML, folder / "missing" / "out.html")
    visit.wait(lambda: len(problems) == 2)
    printer = QPrinter()
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(folder / "missing" / "out.pdf"))
    exporting.print_chat(chat, printer)
    visit.wait(lambda: len(problems) == 3)
    exporting.export(999, Form.HTML, folder / "out.html")
    visit.wait(lambda: len(problems) == 4)
    for text in (text for problem in problems for text in (problem.title, problem.message)):
        visit.reader.note("transfer", text.replace("No such file or directory", ""))


@pytest.mark.qt_log_ignore("QPainter::begin")
def test_no_file_of_chats_stays_english(reader, shell, around, qtbot, loop, tmp_path, monkeypatch):
    around.load(qtbot)
    shell.open_window()
    visit = Visit(reader, around, qtbot)
    visit_exports(visit, tmp_path)
    visit_imports(visit, tmp_path, monkeypatch)
    assert reader.english == {}
    assert reader.unread("transfer") == []

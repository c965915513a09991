"""The app in another language: nothing that people read stays English, and each text is whole.

The language is made from the sources by Qt's own tools, so a text that they do not find stays English, too.
"""

import threading

import pytest
from PySide6.QtCore import QTranslator, QUrl
from PySide6.QtWidgets import QApplication, QFileDialog

from drags import data_of, enter
from scripted_loop import record
from sotto.ui.app import tray
from sotto.ui.markdown.code_header import CodeHeader
from sotto.ui.palette.command_finder import Command, Kind
from sotto.ui.platform.global_shortcut import GlobalShortcut
from sotto.ui.settings.answers_page import AnswersPage
from sotto.ui.settings.api_page import ApiPage
from sotto.ui.settings.appearance_page import AppearancePage
from sotto.ui.settings.data_page import DataPage
from sotto.ui.settings.engine_page import EnginePage
from sotto.ui.settings.folders_page import FoldersPage
from sotto.ui.settings.memory_page import MemoryPage
from sotto.ui.settings.quick_page import QuickPage
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.toolkit.announcements import speakable
from sotto.ui.toolkit.section_title import SectionTitle
from sotto.ui.toolkit.translation import tr
from translation_reader import Counter, ask, labels, popup_of

pytestmark = pytest.mark.slow

ANSWER = f"```python\nprint({'1' * 300})\n```\n\n| a | b |\n|---|---|\n| {'1' * 300} | 2 |\n\n```\n1\n```"


def test_nothing_in_the_window_stays_english(reader, shell, around, qtbot, loop, tmp_path):
    around.load(qtbot)
    shell.open_window()
    window = shell.window
    composer, choices = window.chat.composer, window.chat.choices
    reader.data.add("x" * 60)
    reader.look(window)

    # Conversations, and what the composer says in each state.
    ask(around, qtbot, "x" * 300, ANSWER)
    qtbot.waitUntil(lambda: len(window.chat.transcript.findChildren(CodeHeader)) == 2)
    reader.look(window)
    around.script.chunks, around.script.hold_answer = ["Hello"], threading.Event()
    window.send("Hi")
    qtbot.waitUntil(lambda: window.current.session.answering)
    composer.draft.setPlainText("More")
    composer.draft.entered.emit()
    reader.look(window)
    around.script.hold_answer.set()
    qtbot.waitUntil(lambda: not window.current.session.busy and len(window.current.session.turns) == 6)
    around.script.hold_load, around.script.loaded_context = threading.Event(), 3900
    around.session.load(around.session.library.models[1])
    qtbot.waitUntil(lambda: around.session.state.phase is Phase.LOADING)
    reader.look(window)
    around.script.hold_load.set()
    qtbot.waitUntil(lambda: around.session.state.phase is Phase.READY)

    # Too little room in the context, and files that are dropped.
    document = tmp_path / "a.txt"
    document.write_text("z" * 6000)
    window.composing.attach((document,))
    composer.draft.setPlainText("z" * 100)
    qtbot.waitUntil(lambda: offers(composer, "⟦Only the beginning of ⟧a.txt"))
    reader.look(window)
    window.current.session.draft.detach(0)
    composer.draft.setPlainText("z" * 2750)
    qtbot.waitUntil(lambda: offers(composer, "⟦Drop oldest messages⟧"))
    reader.look(window)
    composer.panel.buttons[0].click()
    qtbot.waitUntil(lambda: window.composing.meter.use.shortened)
    reader.look(window)
    composer.draft.clear()
    for drop in drops(tmp_path):
        enter(window, drop)
        reader.look(window)
    window.overlay.hide()

    # The settings of the chat.
    window.chat.toggle_choices()
    window.presets.save("Calm", "Be calm.", {})
    for menu in (choices.thinking.menu(), composer.think.menu(), choices.presets.menu()):
        reader.look(menu)
    for think in ("on", "off", "low", "medium", "high", "max"):
        choices.show_choices("", {"think": think})
        composer.show_choices({"think": think}, {})
        reader.look(choices, composer)
    for kind, name in (("json_schema", "a.txt"), ("regex", "a.txt"), ("regex", "The regular expression")):
        held = {"kind": kind, "text": "{}", "name": name}
        choices.show_choices("", {"format": held})
        composer.show_choices({"format": held}, {})
        reader.look(choices, composer)
    window.preferences.change(options={"think": "high"}, system="Brisk")
    choices.presets.applied.emit(window.presets.with_name("Calm"))
    reader.look(choices, choices.presets.menu(), choices.thinking.menu())
    choices.system.setPlainText("Be calmer.")
    rename = choices.presets.menu()
    reader.look(rename)
    rename.actions()[3].trigger()
    for name in ("", "x" * 61, "Calm"):
        choices.presets.name.setText(name)
        choices.presets.name.returnPressed.emit()
        reader.look(choices)
    choices.presets.name.escaped.emit()
    choices.presets.applied.emit(window.presets.with_name("Calm"))
    choices.presets.menu().actions()[-1].trigger()
    choices.more.click()
    choices.fields["seed"].refused.connect(lambda why: reader.note("toolkit", why))
    for name in ("seed", "top_p"):
        choices.fields[name].fixup("hot")
        reader.look(choices)
    choices.format.choose.click()
    reader.look(window)
    for dialog in window.findChildren(QFileDialog):
        reader.note("composer", dialog.nameFilters()[0])
        dialog.close()

    # The command palette.
    window.commands.open()
    palette = window.commands.palette
    palette.finder.set_commands([Command.create(kind, kind, "Calm", "", 1) for kind in Kind], ())
    reader.look(palette)
    palette.finder.set_commands((), ())
    reader.look(palette)
    palette.dismiss()

    # What has no widgets of its own here.
    for phase in Phase:
        for entry in tray.menu_entries(ModelState(phase, record()), ()):
            reader.note("app", entry.text)
    reader.note("app", tray.menu_entries(ModelState(), ())[0].text)
    shortcut = GlobalShortcut()
    for keys in ("A", "Nothing+Such", "Ctrl+Alt+Space"):
        shortcut.set_keys(keys)
        reader.note("platform", shortcut.problem)
    reader.note("toolkit", speakable("```\n1\n```"))
    title = SectionTitle("Calm")
    for folded in (False, True):
        title.set_folded(folded)
        reader.look(title)
    assert reader.english == {}
    # It has seen what it should.
    assert {"⟦Send message⟧", "⟦Stop loading⟧", "⟦No results.⟧", "⟦Think: low⟧", "⟦Too long⟧"} <= reader.read


def offers(composer, text):
    return composer.panel.isVisible() and text in [button.text() for button in composer.panel.buttons]


def drops(folder):
    """Return drags of each kind."""
    picture, manifest = folder / "b.png", folder / "other"
    picture.touch()
    (model := folder / "tiny").mkdir()
    manifest.write_text('{"schemaVersion": 2}')
    texts = [folder / f"{number}.txt" for number in range(5)]
    for path in texts:
        path.touch()
    for paths in (
        [model],
        [model / "c.safetensors"],
        [manifest, model],
        [picture],
        texts,
        texts[:1],
        [manifest, *texts[:2]],
    ):
        yield data_of(*(QUrl.fromLocalFile(str(path)) for path in paths))
    yield data_of(QUrl("https://example.org/a"))


def test_nothing_in_the_settings_stays_english(reader, shell, around, qtbot, loop, tmp_path):
    around.load(qtbot)
    shell.open_window()
    dialogs = shell.window.dialogs
    dialogs.show_settings()
    settings = dialogs.settings
    for name in settings.names:
        dialogs.show_settings(name)
    data, folders, memory = settings.page(DataPage), settings.page(FoldersPage), settings.page(MemoryPage)
    qtbot.waitUntil(lambda: "⟦None⟧" in labels(data))
    reader.look(settings)
    for count in ("⟦0:⟧1⟦ chats⟧", "⟦1:⟧2⟦ chats⟧"):
        ask(around, qtbot, "Hi", "Hello")
        shell.window.current.new_chat()
        data.refresh()
        qtbot.waitUntil(lambda count=count: any(label.startswith(count) for label in labels(data)))
    qtbot.waitUntil(lambda: memory.limit.placeholderText() != "")
    reader.look(settings)
    for button in (data.chats, data.cache, data.settings, data.everything):
        button.setEnabled(True)
        button.click()
        reader.look(data)
        button.clearFocus()

    def refuse(row_field, text):
        row_field.setText(text)
        row_field.editingFinished.emit()
        reader.look(settings)

    settings.page(AppearancePage).zoom.fixup("900")
    answers, engine, api = settings.page(AnswersPage), settings.page(EnginePage), settings.page(ApiPage)
    answers.system.setPlainText("x" * 20_001)
    answers.commit()
    qtbot.waitUntil(lambda: engine.memory_bytes > 0)
    engine.host.buttons["process"].click()
    refuse(engine.memory, "1 MB")
    refuse(folders.speed, "fast")
    refuse(folders.speed, "1 KB")
    refuse(api.host, "no host")
    refuse(api.origins, ", ".join(f"https://{number}.example.org" for number in range(200)))
    api.enabled.click()
    reader.look(settings)
    (own := tmp_path / "other").mkdir()
    folders.folders.add(own)
    qtbot.waitUntil(lambda: "other" in labels(folders))
    for folder in (own, tmp_path / "gone"):
        folders.refusal.clear()
        folders.folders.add(folder)
        qtbot.waitUntil(lambda: folders.refusal.text() != "")
        reader.look(folders)
    quick = settings.page(QuickPage)
    shell.window.preferences.change(quick_shortcut="Ctrl+Alt+Space")
    qtbot.waitUntil(lambda: quick.keys_row.error.text() != "")
    reader.look(settings)
    folders.add_button.click()
    reader.look(settings)
    for dialog in settings.findChildren(QFileDialog):
        dialog.close()
    assert reader.english == {}
    assert {"⟦Memory and cache⟧", "⟦Delete everything?⟧"} <= reader.read


def test_nothing_in_the_quick_prompt_stays_english(reader, shell, around, qtbot, loop):
    QApplication.clipboard().setText("Some words that were copied.")
    shell.quick.show()
    panel = around.panel
    reader.look(panel, popup_of(panel.more.click))
    QApplication.activePopupWidget().close()
    panel.show_models(())
    reader.look(popup_of(panel.choose_model))
    QApplication.activePopupWidget().close()
    around.load(qtbot)
    for phase in (Phase.LOADING, Phase.FAILED, Phase.UNLOADING, Phase.READY):
        panel.show_state(ModelState(phase, record()), answering=False)
        reader.look(panel)
    panel.clipboard.click()
    reader.look(panel)
    assert panel.composer.hint.text() == "⟦2:⟧28⟦ characters from the clipboard⟧"
    assert reader.english == {}


def test_english_has_its_two_plural_forms_and_polish_its_three(reader, qapp):
    def said():
        return [tr("1 chat|{count} chats", "", n).format(count=n) for n in (0, 1, 2, 5)]

    assert said() == ["⟦2:⟧0⟦ chats⟧", "⟦0:⟧1⟦ chats⟧", "⟦1:⟧2⟦ chats⟧", "⟦2:⟧5⟦ chats⟧"]
    for translator in qapp.findChildren(QTranslator):
        qapp.removeTranslator(translator)
    assert said() == ["0 chats", "1 chat", "2 chats", "5 chats"]


def test_nothing_is_translated_while_the_window_is_painted_or_somebody_types(ready, qtbot, loop, qapp, destroyed):
    window = ready.window
    window.send("Hi")
    qtbot.waitUntil(lambda: not ready.chat_session.busy and len(ready.chat_session.turns) == 2)
    # What the answer changes in the list has been written by then.
    qtbot.waitUntil(lambda: ready.chat_session.turns[-1].id > 0)
    with qtbot.waitSignal(window.chat_library.listed):
        window.chat_library.refresh()
    window.chat.toggle_choices()
    window.commands.open()
    qtbot.waitUntil(lambda: len(window.commands.palette.results) > 5)
    counter = Counter(qapp)
    qapp.installTranslator(counter)
    qapp.processEvents()
    counter.asked.clear()
    window.grab()
    assert counter.asked == []
    window.commands.palette.dismiss()
    draft = window.chat.composer.draft
    qtbot.keyClicks(draft, "W")  # the first letter also enables the button
    counter.asked.clear()
    qtbot.keyClicks(draft, "ords that somebody types.")
    assert counter.asked == []
    # It counts.
    window.chat.composer.show_state(ready.session.state)
    assert "Send message" in counter.asked
    qapp.removeTranslator(counter)
    destroyed(counter)

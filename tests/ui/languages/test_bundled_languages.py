"""The app in each language that it brings along: all texts are translated, and none is cut off or covers another.

The made-up language that is written from right to left is one of them, but for the translations.
"""

import pytest

from clipping import assert_unclipped
from pseudo_language import RIGHT_TO_LEFT, ROOT, load_script
from sotto.ui.app.uncaught import UncaughtErrors
from sotto.ui.preferences.languages import available_languages

TRANSLATIONS = ROOT / "resources" / "translations"
LANGUAGES = [code for code in available_languages() if code != "en"]


@pytest.fixture(params=[*LANGUAGES, RIGHT_TO_LEFT])
def spoken(request, speak):
    """Return one of the languages, which is that of everything created afterwards."""
    made_up = request.getfixturevalue("right_to_left") if request.param == RIGHT_TO_LEFT else None
    assert speak(request.param, folder=made_up) == request.param
    return request.param


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_text_is_translated(code, tmp_path):
    script, file = load_script(), tmp_path / f"sotto_{code}.ts"
    file.write_bytes((TRANSLATIONS / file.name).read_bytes())
    script.update(file)
    assert [message.source for message in script.messages(file) if not message.finished] == []


def test_no_text_of_the_window_is_cut_off(spoken, around, qtbot, loop):
    around.load(qtbot)
    window = around.shell.window
    around.shell.open_window()
    window.resize(1280, 800)
    assert window.chat.composer.draft.placeholderText() != "Write a message"
    qtbot.waitUntil(lambda: assert_unclipped(window))
    window.send("Hi")
    qtbot.waitUntil(lambda: not window.current.session.busy and window.current.session.turns[-1].id > 0)
    window.chat.toggle_choices()
    held = {"kind": "json_schema", "text": "{}", "name": "person.json"}
    window.current.session.draft.set_choices("", {"think": "high", "format": held, "mirostat": 2})
    window.current.changed.emit(window.current.session)
    qtbot.waitUntil(lambda: assert_unclipped(window))
    window.models.open_page()
    qtbot.waitUntil(lambda: assert_unclipped(window))


def test_no_text_of_the_settings_is_cut_off(spoken, around, qtbot, loop):
    around.load(qtbot)
    dialogs = around.shell.window.dialogs
    around.shell.open_window()
    dialogs.show_settings()
    for name in dialogs.settings.names:
        dialogs.show_settings(name)
        qtbot.waitUntil(lambda: assert_unclipped(dialogs.settings))


def test_no_text_of_the_quick_prompt_is_cut_off(spoken, around, qtbot, loop):
    around.load(qtbot)
    around.shell.quick.toggle()
    qtbot.waitUntil(around.panel.isVisible)
    qtbot.waitUntil(lambda: assert_unclipped(around.panel))


def test_no_text_of_a_report_is_cut_off(spoken, qtbot, destroyed):
    uncaught = UncaughtErrors()
    uncaught.take(ValueError, ValueError("an error in a slot"))
    qtbot.waitUntil(lambda: uncaught.dialog is not None)
    dialog = uncaught.dialog
    qtbot.waitUntil(lambda: assert_unclipped(dialog))
    dialog.copy_button.click()
    qtbot.waitUntil(lambda: assert_unclipped(dialog))
    dialog.close()
    destroyed(uncaught)

"""Presets: named choices, in a human-readable file and in the settings of a chat."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, Qt

from sotto.ui.preferences.presets import MAX_NAME_LENGTH, Preset, PresetStore
from sotto.ui.preferences.sampling_options import ALL_NUMBERS, inherited_value, valid_options
from sotto.ui.toolkit.number import Origin


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config" / "presets.json"


def entry(bar, text):
    (found,) = [action for action in bar.menu().actions() if action.text() == text]
    return found


def entries(bar):
    return [action.text() for action in bar.menu().actions() if action.text() and action.isEnabled()]


def test_presets_survive_a_restart_in_a_readable_file(qapp, path):
    store = PresetStore(path)
    store.save("  Story \n teller ", "Erzähl es.", {"temperature": 1.1})
    store.save("brief", "", {"top_k": 0})
    store.close()
    assert [preset.name for preset in PresetStore(path).presets] == ["brief", "Story teller"]
    assert PresetStore(path).presets == store.presets
    assert json.loads(path.read_text())["presets"][1] == {
        "name": "Story teller",
        "system": "Erzähl es.",
        "options": {"temperature": 1.1},
    }
    assert "Erzähl" in path.read_text()


def test_what_a_newer_version_has_written_is_kept(qapp, path):
    newer = [
        {"name": "brief", "system": "Be brief.", "options": {"temperature": 0.5, "mood": "calm"}, "colour": "red"},
        {"name": "pictures", "system": ["not", "a", "text"]},
        {"name": "story", "system": "", "options": {"top_k": 3, "mood": "wild"}},
    ]
    path.parent.mkdir()
    path.write_text(json.dumps({"presets": newer, "order": ["story"]}))
    store = PresetStore(path)
    assert [preset.name for preset in store.presets] == ["brief", "story"]
    store.replace("story", "Tell it.", {"top_k": 4})
    store.save("more", "", {})
    store.close()
    written = json.loads(path.read_text())
    assert written["order"] == ["story"]
    assert written["presets"] == [
        newer[0],
        {"name": "more", "system": "", "options": {}},
        {"name": "story", "system": "Tell it.", "options": {"top_k": 4}},
        newer[1],
    ]
    store.clear()
    store.close()
    assert json.loads(path.read_text())["presets"] == []


def test_presets_that_cannot_be_read_are_kept(qapp, path):
    path.parent.mkdir()
    path.write_text("[1]")
    store = PresetStore(path)
    store.save("brief", "", {})
    store.close()
    assert [preset.name for preset in PresetStore(path).presets] == ["brief"]
    assert path.with_name("presets.json.unreadable").read_text() == "[1]"


def test_preset_names_are_valid_and_unique(qapp, path):
    store = PresetStore(path)
    store.save("Brief", "a", {})
    store.save("Long", "b", {})
    for name, why in (
        (" ", "needs a name"),
        ("brief", "already"),
        ("x" * (MAX_NAME_LENGTH + 1), f"{MAX_NAME_LENGTH} characters; this one has {MAX_NAME_LENGTH + 1}"),
        ("a\u202eb", "needs a name"),
    ):
        with pytest.raises(ValueError, match=why):
            store.save(name, "", {})
        with pytest.raises(ValueError, match=why):
            store.rename("Long", name)
    assert store.rename("Brief", "BRIEF") == "BRIEF"
    store.delete("BRIEF")
    assert [preset.name for preset in store.presets] == ["Long"]


@pytest.mark.parametrize("text", ["", "[]", '{"presets": 3}', '{"presets": [', "\0"])
def test_a_damaged_file_is_ignored(qapp, path, text, caplog):
    path.parent.mkdir()
    path.write_text(text)
    assert PresetStore(path).presets == ()


def test_invalid_entries_are_left_out_and_the_rest_is_kept(qapp, path, caplog):
    path.parent.mkdir()
    good = {"name": "Good", "system": "x", "options": {"temperature": 0.5, "top_k": "many", "rm": 1, "seed": -4}}
    bad = [3, {}, {"name": 4}, {"name": ""}, {"name": "a\nb"}, {"name": "A", "system": 1}, {"name": "GOOD"}]
    path.write_text(json.dumps({"presets": [good, *bad]}))
    assert PresetStore(path).presets == (Preset("Good", "x", {"temperature": 0.5}),)
    assert caplog.text.count("makes no sense") == len(bad)


def test_a_file_that_cannot_be_written_is_reported(qapp, tmp_path):
    (tmp_path / "config").write_text("")
    store = PresetStore(tmp_path / "config" / "presets.json")
    failures = []
    store.failed.connect(failures.append)
    store.save("a", "\ud800", {})
    store.close()
    QCoreApplication.sendPostedEvents(store)
    assert len(failures) == 1
    assert "presets.json cannot be written" in failures[0]


values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()))


@given(st.dictionaries(st.sampled_from([number.name for number in ALL_NUMBERS] + ["other"]), values))
def test_only_values_that_can_be_chosen_are_valid(options):
    kept = valid_options(options)
    assert valid_options(kept) == kept
    for number in ALL_NUMBERS:
        assert (number.name in kept) == (number.name in options and number.fits(options[number.name]))
        held = inherited_value(number, kept, options)
        assert held.text
        assert (held.origin is Origin.SETTINGS) == (number.name in kept)


def test_a_preset_is_saved_applied_changed_renamed_and_deleted_in_the_panel(ready, qtbot, loop, tmp_path):
    choices = ready.window.chat.choices
    bar, store = choices.presets, ready.window.presets
    ready.window.chat.header.choices.click()
    assert bar.button.accessibleName() == "Preset: None"
    assert entries(bar) == []
    choices.system.setPlainText("Be brief.")
    choices.fields["temperature"].setValue(0.2)
    entry(bar, "Save as Preset…").trigger()
    assert bar.name.hasFocus()
    qtbot.keyClick(bar.name, Qt.Key.Key_Return)
    assert bar.note.text() == "A preset needs a name."
    qtbot.keyClicks(bar.name, "Brief & clear")
    qtbot.keyClick(bar.name, Qt.Key.Key_Return)
    assert store.presets == (Preset("Brief & clear", "Be brief.", {"temperature": 0.2}),)
    assert bar.button.accessibleName() == "Preset: Brief & clear"
    assert "&&" in bar.button.text()

    # The same preset is applied to another chat.
    ready.window.current.new_chat()
    assert bar.current is None
    entry(bar, "Brief && clear").trigger()
    assert (ready.chat_session.draft.system, ready.chat_session.draft.options) == ("Be brief.", {"temperature": 0.2})
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    assert dict(ready.script.requests[-1].options) == {"temperature": 0.2}

    # Changed values can be saved to the preset.
    choices.fields["top_k"].setValue(3)
    assert bar.current is None
    entry(bar, "Save Changes to “Brief && clear”").trigger()
    assert store.presets[0].options == {"temperature": 0.2, "top_k": 3}
    entry(bar, "Rename…").trigger()
    bar.name.setText("Short")
    qtbot.keyClick(bar.name, Qt.Key.Key_Return)
    assert bar.button.accessibleName() == "Preset: Short"
    entry(bar, "Rename…").trigger()
    qtbot.keyClick(bar.name, Qt.Key.Key_Escape)
    assert bar.button.isVisible()
    assert choices.isVisible()
    entry(bar, "Delete").trigger()
    assert store.presets == ()
    assert choices.system.toPlainText() == "Be brief."
    bar.undo.click()
    assert [preset.name for preset in store.presets] == ["Short"]


def test_each_value_shows_its_origin(ready, qtbot, loop):
    choices = ready.window.chat.choices
    origins = choices.origins
    info = ready.session.state.info

    def origin(name):
        field = choices.system if name == "system" else choices.fields[name]
        assert field.accessibleDescription() == origins[name].text()
        return origins[name].text()

    assert (origin("temperature"), origin("system")) == ("default", "")
    described = replace(info, options={"temperature": 0.6, "num_predict": -1, "top_k": "x"}, system="You are small.")
    choices.show_state(replace(ready.session.state, info=described))
    assert (origin("temperature"), choices.fields["temperature"].text()) == ("from the model", "0.60")
    assert (origin("num_predict"), choices.fields["num_predict"].text()) == ("from the model", "no limit")
    assert (origin("system"), choices.system.placeholderText()) == ("from the model", "You are small.")
    ready.window.preferences.change(options={"temperature": 0.3}, system="Be kind.")
    assert (origin("temperature"), choices.fields["temperature"].text()) == ("from Settings", "0.30")
    assert (origin("system"), choices.system.placeholderText()) == ("from Settings", "Be kind.")
    choices.fields["temperature"].stepUp()
    assert (origin("temperature"), choices.fields["temperature"].text()) == ("set here", "0.40")
    choices.system.setPlainText("Mine.")
    assert origin("system") == "set here"
    choices.reset.click()
    assert (origin("temperature"), origin("system")) == ("from Settings", "from Settings")
    assert not choices.reset.isEnabled()


def test_invalid_input_in_the_panel_is_refused_in_place(ready, qtbot, loop):
    choices = ready.window.chat.choices
    ready.window.chat.header.choices.click()
    field = choices.fields["top_p"]
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "7")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert choices.refusal.text() == "Top-p must be a number from 0.00 to 1.00, not '7'."
    assert choices.options == {}


def test_the_last_save_is_written_at_the_end(ready, loop, tmp_path):
    ready.window.presets.save("Last", "x", {})
    ready.window.preferences.close()
    assert "Last" in (tmp_path / "config" / "presets.json").read_text()

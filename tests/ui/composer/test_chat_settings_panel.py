"""Settings of one conversation: they are saved with it, and reach the engine."""

import json
import sqlite3

import pytest
from PySide6.QtCore import Qt

from sotto.engine.contract.options import request_options
from sotto.engine.contract.requests import Think
from sotto.ui.preferences.sampling_options import ALL_NUMBERS, THINK_BUDGET


def kept(tmp_path):
    with sqlite3.connect(f"{(tmp_path / 'data' / 'chats.sqlite3').as_uri()}?mode=ro", uri=True) as connection:
        try:
            found = connection.execute("SELECT system, options FROM chats ORDER BY id").fetchall()
        except sqlite3.OperationalError:
            found = []  # the file is being made
    connection.close()
    return [(system, json.loads(options)) for system, options in found]


def ask(stage, qtbot, text):
    stage.window.send(text)
    qtbot.waitUntil(lambda: not stage.chat_session.busy and stage.chat_session.turns[-1].id > 0)
    return stage.script.requests[-1]


def test_choices_reach_the_engine_and_stay_with_their_chat(ready, qtbot, loop, tmp_path):
    choices = ready.window.chat.choices
    request = ask(ready, qtbot, "Plain")
    assert (request.sampling, request.options, request.messages[0].role) == (None, {}, "user")
    first = ready.chat_session.chat
    ready.window.chat.header.choices.click()
    assert choices.isVisible()
    assert (choices.fields["temperature"].text(), choices.origins["temperature"].text()) == ("0.80", "default")
    choices.system.setPlainText("Answer in French.")
    choices.fields["temperature"].setValue(0.2)
    choices.fields["top_k"].setValue(0)
    qtbot.keyClick(choices.system, Qt.Key.Key_Escape)
    assert choices.isHidden()
    qtbot.waitUntil(lambda: kept(tmp_path) == [("Answer in French.", {"temperature": 0.2, "top_k": 0})])
    request = ask(ready, qtbot, "Chosen")
    assert dict(request.options) == {"temperature": 0.2, "top_k": 0}
    assert [(turn.role, turn.content) for turn in request.messages[:2]] == [
        ("system", "Answer in French."),
        ("user", "Plain"),
    ]
    ready.window.current.new_chat()
    assert (choices.system.toPlainText(), choices.options) == ("", {})
    request = ask(ready, qtbot, "Another chat")
    assert (request.options, request.messages[0].role) == ({}, "user")
    ready.window.current.open(first)
    qtbot.waitUntil(lambda: choices.options == {"temperature": 0.2, "top_k": 0})
    assert choices.system.toPlainText() == "Answer in French."


def test_the_panel_is_created_when_it_is_wanted_and_shows_what_applies(ready, qtbot, loop):
    ready.chat_session.draft.set_choices("Be brief.", {"top_k": 5})
    ready.window.preferences.change(system="Answer in French.", options={"temperature": 0.3})
    assert not ready.window.chat.has_choices
    ready.window.chat.header.choices.click()
    choices = ready.window.chat.choices
    assert choices.isVisible()
    assert (choices.system.toPlainText(), choices.options) == ("Be brief.", {"top_k": 5})
    assert (choices.fields["temperature"].text(), choices.origins["temperature"].text()) == ("0.30", "from Settings")
    choices.reset.click()
    assert choices.system.placeholderText() == "Answer in French."


def test_thinking_can_be_chosen_before_the_panel_was_opened(ready, qtbot, loop):
    assert not ready.window.chat.has_choices
    ready.window.chat.composer.think_chosen.emit(Think.OFF)
    assert ready.chat_session.draft.options == {"think": Think.OFF}


def test_choices_made_before_the_first_question_are_saved_with_it(ready, qtbot, loop, tmp_path):
    choices = ready.window.chat.choices
    choices.fields["seed"].setValue(7)
    request = ask(ready, qtbot, "First")
    assert dict(request.options) == {"seed": 7}
    assert kept(tmp_path) == [("", {"seed": 7})]


def test_everything_can_be_reset_to_the_models_defaults(ready, qtbot, loop, tmp_path):
    choices = ready.window.chat.choices
    choices.system.setPlainText("Be brief.")
    choices.fields["num_predict"].setValue(5)
    qtbot.waitUntil(lambda: kept(tmp_path) == [("Be brief.", {"num_predict": 5})])
    choices.reset.click()
    qtbot.waitUntil(lambda: kept(tmp_path) == [("", {})])
    assert ask(ready, qtbot, "Free").options == {}


def test_values_that_cannot_have_been_chosen_are_not_shown(ready, loop):
    choices = ready.window.chat.choices
    choices.show_choices("x", {"temperature": "hot", "top_k": True, "seed": None, "unknown": 1, "min_p": 99})
    assert choices.options == {"min_p": 1.0}


def test_advanced_options_are_folded_away_and_reach_the_engine(ready, qtbot, loop):
    choices, keeper = ready.window.chat.choices, ready.window.presets
    ready.window.chat.header.choices.click()
    field = choices.fields["mirostat"]
    assert not field.isVisible()
    assert field.text() == "0"
    choices.more.click()
    assert field.isVisible()
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "3")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert (choices.refusal.text(), choices.options) == ("Mirostat must be a whole number from 0 to 2, not '3'.", {})
    field.selectAll()
    qtbot.keyClicks(field, "1")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    choices.fields["dry_penalty_last_n"].setValue(-1)
    request = ask(ready, qtbot, "Chosen")
    assert dict(request.options) == {"mirostat": 1, "dry_penalty_last_n": -1}
    # The engine reads the value that was chosen.
    assert request_options({}, request.options).sampling.mirostat == 1
    # They are unfolded if one of them is set.
    keeper.save("Calm", "", choices.options)
    ready.window.current.new_chat()
    assert not field.isVisible()
    choices.presets.applied.emit(keeper.with_name("Calm"))
    assert field.isVisible()


@pytest.mark.parametrize("number", ALL_NUMBERS, ids=lambda number: number.name)
def test_the_engine_takes_every_number_that_can_be_chosen(number):
    if number is not THINK_BUDGET:
        for value in (number.least, number.most):
            assert number.fits(value)
            request_options({}, {number.name: value})

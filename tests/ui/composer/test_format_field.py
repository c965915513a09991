"""The answer format of a chat: chosen in its settings, indicated at the composer, and shown in the transcript."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from sotto.chats.chat_records import Role, State, Turn
from sotto.engine.contract.requests import GrammarKind
from sotto.runner.host import THREAD
from sotto.ui.conversation.json_layout import JsonLayout
from sotto.ui.conversation.plain_markdown import to_markdown
from sotto.ui.preferences.answer_options import is_format_option, read_answer_options
from sotto.ui.preferences.sampling_options import valid_options
from sotto.ui.session.engine_hosts import make_host
from sotto.ui.transcript.answer_message import AnswerMessage
from sotto.ui.transfer.chat_exporting import Form

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "sizes": {"type": "array", "maxItems": 0}},
    "required": ["name", "sizes"],
    "additionalProperties": False,
}
WAIT = 30_000
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('a"\\{}[],: \n', max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


def sent_request(stage, qtbot, text="Go"):
    stage.window.send(text)
    qtbot.waitUntil(lambda: not stage.chat_session.busy and stage.chat_session.turns[-1].id > 0)
    return stage.script.requests[-1]


@given(values, st.sampled_from([(",", ":"), (", ", ": "), (" ,\n\t", " : ")]), st.integers(1, 7))
def test_json_is_laid_out_the_same_however_it_was_written_and_cut(value, separators, length):
    written = json.dumps(value, separators=separators, ensure_ascii=False)
    layout = JsonLayout()
    pieces = [layout.feed(written[at : at + length]) for at in range(0, len(written), length)]
    assert "".join(pieces) == json.dumps(value, indent=2, ensure_ascii=False)


def test_a_pasted_schema_is_checked_and_takes_effect(ready, qtbot, loop):
    choices, composer = ready.window.chat.choices, ready.window.chat.composer
    field = choices.format
    assert (choices.origins["format"].text(), composer.format.isVisible()) == ("default", False)
    ready.window.chat.header.choices.click()
    field.segments.buttons["json"].click()
    assert (choices.origins["format"].text(), composer.format.isVisible()) == ("set here", True)
    assert composer.format.accessibleName() == "Answers are JSON objects."
    grammar = sent_request(ready, qtbot).grammar
    assert (grammar.kind, json.loads(grammar.text)) == (GrammarKind.JSON_SCHEMA, {"type": "object"})

    # A schema that is not supported is refused in place, and none of it takes effect.
    field.segments.buttons["schema"].click()
    assert field.text.hasFocus()
    assert field.value is None
    for text, why in (
        ('{"not": {}}', "The JSON schema cannot be guaranteed: not is not supported here."),
        ("{", "The JSON schema is not JSON"),
    ):
        field.text.setPlainText(text)
        qtbot.waitUntil(lambda why=why: why in field.error.text())
        assert field.line.text() == "Answers stay text until you enter one."
        assert field.text.accessibleDescription() == field.error.text()
        assert sent_request(ready, qtbot).grammar is None
    field.text.setPlainText(json.dumps(SCHEMA))
    qtbot.waitUntil(lambda: field.value is not None)
    assert field.error.isHidden()
    assert json.loads(sent_request(ready, qtbot).grammar.text) == SCHEMA
    first = ready.chat_session.chat

    # The format belongs to the chat: a preset can save it, and it is there again when the chat is reopened.
    ready.window.presets.save("Person", "", choices.options)
    ready.window.current.new_chat()
    assert (field.value, field.text.toPlainText(), composer.format.isVisible()) == (None, "", False)
    assert sent_request(ready, qtbot).grammar is None
    choices.presets.applied.emit(ready.window.presets.with_name("Person"))
    assert composer.format.accessibleName() == "Answers follow the JSON schema."
    ready.window.current.new_chat()
    ready.window.current.open(first)
    qtbot.waitUntil(lambda: field.value is not None)
    assert json.loads(field.text.toPlainText()) == SCHEMA
    # The indicator at the composer leads to the setting.
    ready.window.chat.hide_choices()
    qtbot.mouseClick(composer.format, Qt.MouseButton.LeftButton)
    assert field.segments.buttons["schema"].hasFocus()
    choices.reset.click()
    assert sent_request(ready, qtbot).grammar is None


def test_the_format_is_read_from_a_file(ready, qtbot, loop, tmp_path):
    field = ready.window.chat.choices.format
    ready.window.chat.header.choices.click()
    field.segments.buttons["schema"].click()
    for name, content, why in (
        ("gone.json", None, "gone.json"),
        ("a.txt", b"x", "must end in .json, .regex, .lark"),
        ("a.regex", b"(", "a.regex cannot be guaranteed: the pattern ( has an unclosed group at character 1."),
        ("a.lark", b"\xff", "is not UTF-8 text (invalid start byte at 0)."),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        field.read(tmp_path / name)
        qtbot.waitUntil(lambda why=why: why in field.error.text())
        assert field.value is None
    (tmp_path / "time.regex").write_text(r"\d\d:\d\d" + "\n")
    field.read(tmp_path / "time.regex")
    qtbot.waitUntil(lambda: field.value is not None)
    assert field.value == {"kind": "regex", "text": r"\d\d:\d\d", "name": "time.regex"}
    assert field.line.text() == "Answers match time.regex."
    assert sent_request(ready, qtbot).grammar.kind is GrammarKind.REGEX
    assert not ready.chat_session.turns[-1].is_json
    # Once edited it is still a regular expression, but no longer linked to the file.
    field.text.setPlainText(r"\d+")
    qtbot.waitUntil(lambda: field.value["text"] == r"\d+")
    assert field.line.text() == "Answers match the regular expression."


GOOD = {"kind": "regex", "text": "a", "name": "n"}


@pytest.mark.parametrize(
    "kept",
    [
        *(None, 1, "xml", [], {}, GOOD | {"kind": "x"}, GOOD | {"text": ""}, GOOD | {"text": "a" * (1 << 21)}),
        *(GOOD | {"name": "a\nb"}, GOOD | {"name": "n" * 999}, GOOD | {"more": 1}, GOOD | {"text": 3}),
    ],
)
def test_a_value_that_cannot_have_been_chosen_is_not_a_format(kept):
    assert is_format_option(GOOD)
    assert not is_format_option(kept)
    assert valid_options({"format": kept}) == {}
    assert read_answer_options({"format": kept, "think": kept, "think_budget": kept, "top_k": 3}, None).sampling == {
        "top_k": 3
    }
    assert read_answer_options({"format": kept}, None).grammar is None


def test_an_answer_that_began_as_text_continues_as_text(ready, qtbot, loop):
    ready.script.chunks = ["Some ", "prose."]
    for held in (False, True):
        if held:
            ready.window.current.new_chat()
            ready.window.chat.choices.format.segments.buttons["json"].click()
        sent_request(ready, qtbot)
        last = ready.chat_session.turns[-1]
        ready.chat_session.turns[-1] = replace(last, state=State.STOPPED)
        ready.window.chat.choices.format.segments.buttons["json"].click()
        ready.chat_session.continue_answer(last.id)
        qtbot.waitUntil(lambda: not ready.chat_session.busy)
        assert (ready.script.requests[-1].grammar is not None) is held
        assert ready.chat_session.turns[-1].is_json is held


@pytest.mark.parametrize("live", [True, False])
def test_json_is_shown_as_code_and_copied_as_json(dressed, qtbot, live):
    answer = '{"a":"```\\n","b":[{},{"c":1.50}]}'
    shown = '{\n  "a": "```\\n",\n  "b": [\n    {},\n    {\n      "c": 1.50\n    }\n  ]\n}'
    turn = Turn(2, 1, Role.ASSISTANT, answer, State.COMPLETE, 0.0, "m", {"format": "json"})
    message = AnswerMessage("m")
    qtbot.addWidget(message)
    if live:
        message.set_format(turn)
        for letter in answer:
            message.append(letter)
        message.end(turn)
    else:
        message.show_complete(turn)
    (region,) = message.text.regions.found
    assert message.text.code_of(region) == shown
    message.copy.click()
    assert QApplication.clipboard().text() == shown
    assert to_markdown(turn) == f"````json\n{shown}\n````"
    # The text that the model wrote is kept unchanged, and goes back to the model with the next question.
    assert message.body.markdown == answer


@pytest.fixture
def window(real_window):
    """Return the window over the real engine, with the built-in model."""
    return real_window(make_host(THREAD))


def test_an_answer_of_the_real_engine_is_shown_as_json_while_streaming_and_afterwards(qtbot, window, loop, tmp_path):
    current, transcript, choices = window.current, window.chat.transcript, window.chat.choices
    (tmp_path / "person.json").write_text(json.dumps(SCHEMA))
    choices.format.segments.buttons["schema"].click()
    choices.format.read(tmp_path / "person.json")
    qtbot.waitUntil(lambda: choices.format.value is not None, timeout=WAIT)
    choices.fields["temperature"].setValue(0)
    grown = []
    current.session.answer_grew.connect(lambda pieces: grown.append(transcript.answer.text.regions.found))
    window.send("Who are you?")
    qtbot.waitUntil(lambda: not current.session.busy and current.session.turns[-1].id > 0, timeout=WAIT)
    answer = json.loads(current.session.turns[-1].text)
    assert answer.keys() == {"name", "sizes"}
    assert len(answer["name"]) <= 8
    assert all(len(regions) == 1 for regions in grown[1:])

    def shown():
        (region,) = transcript.last_message.text.regions.found
        return transcript.last_message.text.code_of(region)

    assert shown() == json.dumps(answer, indent=2, ensure_ascii=False)
    first = current.session.chat
    current.new_chat()
    current.open(first)
    qtbot.waitUntil(lambda: not transcript.empty and transcript.last_message is not None, timeout=WAIT)
    assert shown() == json.dumps(answer, indent=2, ensure_ascii=False)
    window.chat_files.exporting.export(first, Form.MARKDOWN, tmp_path / "chat.md")
    qtbot.waitUntil((tmp_path / "chat.md").exists, timeout=WAIT)
    code = (tmp_path / "chat.md").read_text().partition("```json\n")[2].partition("\n```")[0]
    assert json.loads(code) == answer

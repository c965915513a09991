"""Templates that a person assigns to a model in the window, and notes about templates that are not the model's own."""

import pytest

from scripted_loop import record
from sotto.store.user_templates import read_user_template
from sotto.ui.state.model_state import Phase

GO = "{{ range .Messages }}{{ .Content }}{{ end }}"
NOTE = "Its prompts are made by the template that you gave it."


def texts(stage):
    return [action.text() for action in stage.window.models.panel.menu_of(record()).actions()]


@pytest.fixture
def problems(stage):
    found = []
    stage.session.problem.connect(found.append)
    return found


def test_a_template_is_assigned_and_removed(stage, qtbot, loop, tmp_path, problems):
    templates, digest = stage.window.models.templates, record().digest
    file = tmp_path / "t.gotmpl"
    file.write_text(GO)
    assert "Use a Template…" in texts(stage)
    assert "Use the Model’s Template" not in texts(stage)
    templates.assign(record(), file)
    qtbot.waitUntil(lambda: read_user_template(digest) == GO)
    assert "Use the Model’s Template" in texts(stage)
    qtbot.waitUntil(lambda: stage.window.chat.notice.title.text() == "Template set")
    assert stage.window.chat.notice.message.text() == ("It makes the prompts of tiny from the next load on.")
    stage.window.models.panel.template_unwanted.emit(record())
    qtbot.waitUntil(lambda: read_user_template(digest) == "")
    assert "Use the Model’s Template" not in texts(stage)
    qtbot.waitUntil(lambda: stage.window.chat.notice.title.text() == "Template reset")
    assert not problems


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{{ if .System }}", "The template you gave cannot be read: line 1: a block has no {{ end }}."),
        ("{% if %}", "The template you gave cannot be read: line 1: Expected an expression"),
        ("", "is empty; it should be a template."),
        ("You are a poet.", "The template you gave makes the same prompt whatever is asked"),
        ("{{ range .Messages }}{{ .Role }}{{ end }}", "it should have the messages in it"),
    ],
)
def test_an_invalid_template_changes_nothing(stage, qtbot, loop, tmp_path, problems, content, why):
    file = tmp_path / "t.txt"
    file.write_text(content)
    stage.window.models.templates.assign(record(), file)
    qtbot.waitUntil(lambda: bool(problems))
    assert problems[0].title == "tiny keeps its template"
    assert why in problems[0].message
    assert read_user_template(record().digest) == ""


def test_a_model_in_use_is_reloaded_with_its_new_template(stage, qtbot, loop, tmp_path):
    session, models, header = stage.session, stage.window.models, stage.window.chat.header
    session.load(record())
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY)
    assert NOTE.removesuffix(".") not in header.line.text()
    stage.script.template_note = NOTE
    file = tmp_path / "t.gotmpl"
    file.write_text(GO)
    models.templates.assign(record(), file)
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY and session.state.info.template_note == NOTE)
    assert NOTE.removesuffix(".") in header.line.text()
    qtbot.waitUntil(lambda: bool(models.panel.rows))
    models.show_details(record())
    assert models.card.sentence.text() == NOTE
    assert models.card.sentence.isVisible()
    assert stage.window.chat.notice.message.text() == "It makes the prompts of tiny from now on."
    assert [load[0] for load in stage.script.loads] == ["tiny:latest"] * 2


def test_a_missing_template_is_reported_when_the_model_is_loaded(stage, qtbot, loop, problems):
    stage.script.has_template, stage.script.template_note = False, "It brings no chat template, so it may answer badly."
    stage.session.load(record())
    qtbot.waitUntil(lambda: bool(problems))
    assert (problems[0].title, problems[0].message) == ("This model has no chat template", stage.script.template_note)

"""Whether a model thinks first: chosen for one chat or for all chats, and passed on to the engine."""

import pytest
from PySide6.QtCore import Qt

from sotto.engine.contract.requests import Think
from sotto.runner.host import PROCESS, THREAD
from sotto.ui.session.engine_hosts import make_host
from sotto.ui.state.drop_contents import DropContents
from sotto.ui.state.model_state import Phase
from tiny_random import TEMPLATE, write_model

WAIT = 30_000
# Each letter is one token for these models, so a prompt's length reveals which values the template received.
REVEALING_TEMPLATE = TEMPLATE.replace(
    "[assistant]",
    "[{{ 'usual' if enable_thinking is not defined else 'deep' if enable_thinking else 'no' }}{{ reasoning_effort }}]",
)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Return folders of two tiny models: one whose template writes the thinking options, and one that ignores them."""
    root = tmp_path_factory.mktemp("models")
    return {
        name: write_model(root / name, "plain", text)
        for name, text in (("says", REVEALING_TEMPLATE), ("mute", TEMPLATE))
    }


def sent_request(stage, qtbot):
    stage.window.send("Go")
    qtbot.waitUntil(lambda: not stage.chat_session.busy and stage.chat_session.turns[-1].id > 0)
    return stage.script.requests[-1]


def entries(button):
    return [action.text() for action in button.menu().actions()]


def pick(button, text):
    (action,) = [action for action in button.menu().actions() if action.text() == text]
    action.trigger()


def test_thinking_is_chosen_for_a_chat_and_stays_with_it(ready, qtbot, loop):
    composer, choices = ready.window.chat.composer, ready.window.chat.choices
    button, origin = choices.thinking, choices.origins["think"]
    assert composer.think.isVisible()
    assert (button.text().strip(), origin.text()) == ("Default ▾", "from the model")
    assert sent_request(ready, qtbot).think is None
    assert entries(composer.think) == ["Default", "On", "Off"]
    pick(composer.think, "Off")
    assert (composer.think.text().strip(), composer.think.accessibleName()) == ("Think: off", "Thinking: Off")
    assert (button.text().strip(), origin.text()) == ("Off ▾", "set here")
    choices.fields["think_budget"].setValue(64)
    request = sent_request(ready, qtbot)
    assert (request.think, request.think_budget, request.options) == (Think.OFF, 64, {})
    first = ready.chat_session.chat

    # Presets include it; other chats do not inherit it.
    ready.window.presets.save("Quick", "", choices.options)
    ready.window.current.new_chat()
    assert composer.think.text().strip() == "Think"
    pick(button, "On")
    assert (composer.think.text().strip(), sent_request(ready, qtbot).think) == ("Think: on", Think.ON)
    choices.presets.applied.emit(ready.window.presets.with_name("Quick"))
    assert sent_request(ready, qtbot).think is Think.OFF
    choices.reset.click()
    assert sent_request(ready, qtbot).think is None
    ready.window.current.open(first)
    qtbot.waitUntil(lambda: composer.think.text().strip() == "Think: off")


def test_the_settings_apply_to_chats_that_choose_nothing(ready, qtbot, loop):
    ready.window.dialogs.show_settings("answers")
    page = ready.window.dialogs.settings.stack.currentWidget()
    assert entries(page.thinking) == ["Default", "On", "Off", "Low", "Medium", "High", "Max"]
    pick(page.thinking, "High")
    choices, composer = ready.window.chat.choices, ready.window.chat.composer
    assert ready.window.preferences.values.options == {"think": "high"}
    assert (choices.thinking.text().strip(), choices.origins["think"].text()) == ("High ▾", "from Settings")
    assert composer.think.text().strip() == "Think: high"
    assert entries(composer.think)[0] == "From Settings: High"
    assert sent_request(ready, qtbot).think is Think.HIGH
    pick(composer.think, "Off")
    assert sent_request(ready, qtbot).think is Think.OFF
    pick(composer.think, "From Settings: High")
    pick(page.thinking, "Default")
    assert (sent_request(ready, qtbot).think, ready.window.preferences.values.options) == (None, {})


def load_anew(stage, qtbot, **abilities):
    """Load the model in use again, with other abilities."""
    for name, value in abilities.items():
        setattr(stage.script, name, value)
    stage.session.reload(4096)
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.LOADING)
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)


def test_a_model_that_cannot_think_is_not_asked_to_and_says_so(ready, qtbot, loop):
    choices, composer = ready.window.chat.choices, ready.window.chat.composer
    pick(composer.think, "On")
    load_anew(ready, qtbot, thinks=False)
    ready.window.chat.header.choices.click()
    assert not composer.think.isVisible()
    assert not choices.thinking.isEnabled()
    assert not choices.fields["think_budget"].isEnabled()
    why = "No thinking mode"
    assert choices.unable.isVisible()
    assert choices.unable.text() == choices.thinking.accessibleDescription() == why
    request = sent_request(ready, qtbot)
    assert (request.think, request.think_budget) == (None, None)
    # The choice is kept for another model, which may know levels.
    load_anew(ready, qtbot, thinks=True, knows_efforts=True)
    assert not choices.unable.isVisible()
    assert entries(composer.think) == ["Default", "On", "Off", "Low", "Medium", "High", "Max"]
    assert sent_request(ready, qtbot).think is Think.ON


def test_the_button_is_reached_by_keys(ready, qtbot, loop):
    composer = ready.window.chat.composer
    composer.draft.setFocus()
    reached = set()
    for _ in range(6):
        qtbot.keyClick(ready.window.focusWidget(), Qt.Key.Key_Tab)
        reached.add(ready.window.focusWidget())
    assert composer.think in reached


@pytest.fixture(params=[THREAD, PROCESS])
def window(request, real_window):
    """Return the window over the real engine."""
    return real_window(make_host(request.param))


def test_the_choice_reaches_the_real_engine(qtbot, window, loop, models):
    session, current, composer = window.session, window.current, window.chat.composer

    def load(name):
        session.library.open(DropContents((models[name],), ()))
        qtbot.waitUntil(
            lambda: session.state.phase is Phase.READY and session.state.record.path == models[name], timeout=WAIT
        )

    def prompt_of_an_answer():
        current.new_chat()
        window.chat.choices.fields["num_predict"].setValue(1)
        window.send("Go")
        qtbot.waitUntil(lambda: not current.session.busy and current.session.turns[-1].id > 0, timeout=WAIT)
        return current.session.turns[-1].figures["prompt"]

    load("says")
    page_options = window.preferences.change
    fixed = len("[user]Go") + 1 + len("[]")
    assert composer.think.isVisible()
    assert prompt_of_an_answer() == fixed + len("usual")
    for think, written in (("on", "deep"), ("off", "no"), ("medium", "deepmedium")):
        page_options(options={"think": think})
        assert prompt_of_an_answer() == fixed + len(written)
    load("mute")
    assert not composer.think.isVisible()
    assert prompt_of_an_answer() == len("[user]Go") + 1 + len("[assistant]")

"""Adapters that a person adds to a model on its card."""

import json

import mlx.core as mx
import pytest

from scripted_loop import record
from sotto.store.adapters.user_adapters import read_user_adapter
from sotto.ui.models.model_templates import ModelAdapters
from sotto.ui.state.model_state import Phase
from sotto.ui.toolkit.file_dialog import FileDialog


@pytest.fixture
def poet(tmp_path):
    folder = tmp_path / "poet"
    folder.mkdir()
    mx.save_safetensors(
        str(folder / "adapters.safetensors"), {"a.lora_a": mx.zeros((4, 2)), "a.lora_b": mx.zeros((2, 4))}
    )
    (folder / "adapter_config.json").write_text(json.dumps({"lora_parameters": {"rank": 2, "scale": 1.0}}))
    return folder


def card_of(stage, qtbot):
    """Open the card of the model; to be called in a test, as the list is filled by the loop."""
    models = stage.window.models
    qtbot.waitUntil(lambda: bool(models.panel.rows))
    models.show_details(record())
    return models.card


def test_an_adapter_is_added_and_removed_on_the_card(stage, qtbot, loop, poet):
    digest, card = record().digest, card_of(stage, qtbot)
    assert (card.adapter.text(), card.adapt.text()) == ("No adapter", "Add adapter…")
    assert card.adapt.isVisible()
    card.adapt.click()
    dialog = stage.window.findChild(FileDialog)
    assert dialog.fileMode() is FileDialog.FileMode.Directory
    dialog.fileSelected.emit(str(poet))
    dialog.close()
    # Whatever refreshes the card once the choice is saved shows the adapter, also before the notice.
    notice = stage.window.chat.notice
    qtbot.waitUntil(lambda: (card.adapter.text(), notice.title.text()) == ("Adapter: poet", "Adapter added"))
    assert read_user_adapter(digest) == poet
    assert card.adapt.text() == card.adapt.accessibleName() == "Remove adapter"
    assert notice.message.text() == "tiny answers with it from the next load on."
    card.adapt.click()
    qtbot.waitUntil(lambda: (card.adapter.text(), notice.title.text()) == ("No adapter", "Adapter removed"))
    assert read_user_adapter(digest) is None
    assert notice.message.text() == "tiny answers without one from the next load on."


def test_a_model_in_use_is_reloaded_with_it_and_measured_again(stage, qtbot, loop, poet):
    session, models = stage.session, stage.window.models
    session.load(record())
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY)
    models.adapters.assign(record(), poet)
    qtbot.waitUntil(lambda: len(stage.script.loads) == 2)
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY)
    assert stage.window.chat.notice.message.text() == "tiny answers with it from now on."


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("adapter_config.json", "{}", "it should have peft_type, as PEFT writes it, or lora_parameters"),
        ("adapters.safetensors", "cut", "is only 3 bytes long"),
    ],
)
def test_what_is_no_adapter_changes_nothing(stage, qtbot, loop, poet, name, content, why):
    problems = []
    stage.session.problem.connect(problems.append)
    (poet / name).write_text(content)
    stage.window.models.adapters.assign(record(), poet)
    qtbot.waitUntil(lambda: bool(problems))
    assert problems[0].title == "tiny keeps its adapter"
    assert why in problems[0].message
    assert ModelAdapters.name(record()) == ""

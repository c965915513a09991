"""Memory plans, favourites and the order of models, and the card with details of one model."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from clicks import double_click
from planned import GB, NEEDS, machine_with, measured
from scripted_loop import record
from sotto.engine.memory import estimates
from sotto.store.records import Place, Source
from sotto.ui.models.model_description import FIT_SIGNS
from sotto.ui.state import memory_estimate
from sotto.ui.state.memory_estimate import Fit, MemorySample
from sotto.ui.state.model_state import Phase

REPACKED = replace(NEEDS, repacked="Q4_K in 4 bits, Q6_K rounded to 8 bits")
BLIND = "Images are not shown to it: the towers of big models are not supported yet."
BIG = record("big:8b", size=4 * GB, also=(Place("big", Source.HUGGINGFACE, record().path),), vision_reason=BLIND)


@pytest.fixture
def models(stage, qtbot, loop, monkeypatch):
    """Return the controller on a machine with 16 GB, where `big` needs 4 GB and 100 KB for each token."""
    monkeypatch.setattr(memory_estimate, "sample_memory", lambda: MemorySample(16 * GB, 12 * GB))
    stage.shelf.records = [record(), BIG]
    stage.script.needs = {"big:8b": REPACKED}

    def begin():
        stage.window.sidebar.gauge.sample_timer.stop()
        qtbot.waitUntil(lambda: stage.window.models.planner.measured(BIG) is not None)
        # A first sample is under way, which must not replace what a test sets.
        qtbot.waitUntil(lambda: stage.window.models.planner.memory.sample is not None)
        set_available(stage.window.models, qtbot, 12, Fit.FITS)

    loop.starts.append(begin)
    return stage.window.models


def set_available(models, qtbot, available, fit):
    """Set the number of gigabytes available, and wait until the row shows the given fit."""
    sample = MemorySample(16 * GB, available * GB)

    def shown():
        # The window may have had another sample under way.
        if models.planner.memory.sample != sample:
            models.planner.set_sample(sample)
        return row(models).fit is fit

    qtbot.waitUntil(shown)


def row(models, name="big:8b"):
    return next(row for row in models.panel.rows if row.record.name == name)


def order(models):
    return [row.record.name for row in models.panel.rows]


def test_a_row_describes_whether_the_model_fits(models, qtbot, loop, stage):
    assert "fits into memory" in row(models).accessibleName()
    assert "unknown whether it fits" in row(models, "tiny:latest").accessibleName()
    set_available(models, qtbot, 5, Fit.TIGHT)
    assert "a tight fit" in row(models).accessibleName()
    set_available(models, qtbot, 3, Fit.NO)
    assert "does not fit into memory" in row(models).accessibleName()
    assert len({FIT_SIGNS[fit] for fit in Fit}) == 4


def test_a_limit_in_the_settings_changes_what_fits(models, qtbot, loop, stage):
    models.planner.set_sample(MemorySample(16 * GB, 12 * GB, allowed=3 * GB))
    qtbot.waitUntil(lambda: row(models).fit is Fit.NO)
    row(models).click()
    assert "the limit in Settings" in models.card.sentence.text()


def test_the_card_shows_how_gguf_types_are_held_in_memory(models, qtbot, loop, stage):
    row(models).click()
    assert models.card.numbers["weights"].toolTip() == "Converted to Q4_K in 4 bits, Q6_K rounded to 8 bits"


def test_the_slider_of_the_card_changes_only_the_context(models, qtbot, loop, stage):
    row(models).click()
    card, gauge = models.card, stage.window.sidebar.gauge
    assert card.isVisible()
    assert card.verdict.text() == "Fits"
    assert "75 %" not in card.sentence.text()
    assert card.tokens.text() == "32,768 tokens"
    before = {name: number.text() for name, number in card.numbers.items()}
    assert before["weights"] == "4.0 GB"
    ghosts = [segment.nbytes for segment in gauge.segments if segment.ghost]
    card.slider.setValue(0)
    after = {name: number.text() for name, number in card.numbers.items()}
    assert (after["weights"], after["context"]) == ("4.0 GB", "102 MB")
    assert before["context"] == "3.3 GB"
    moved = [segment.nbytes for segment in gauge.segments if segment.ghost]
    assert moved[0] == ghosts[0]
    assert moved[1] < ghosts[1]
    qtbot.waitUntil(lambda: models.notes.context_of(BIG) == 1024)
    card.close_button.click()
    assert not any(segment.ghost for segment in gauge.segments)


def test_a_model_is_loaded_with_the_context_that_was_chosen(models, qtbot, loop, stage):
    row(models).click()
    models.card.slider.setValue(2)
    models.card.load.click()
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.script.loads[-1] == ("big:8b", 2048, False)
    assert models.card.isHidden()
    assert stage.window.chat.composer.draft.hasFocus()
    stage.session.eject()
    double_click(row(models))
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.script.loads[-1] == ("big:8b", 2048, False)


@pytest.mark.parametrize(("available", "fit"), [(5, Fit.TIGHT), (3, Fit.NO)])
def test_a_model_that_fills_memory_is_loaded_only_from_its_card(models, qtbot, loop, stage, available, fit):
    set_available(models, qtbot, available, fit)
    double_click(row(models))
    assert [name for name, *_ in stage.script.loads if name == "big:8b"] == []
    assert models.card.isVisible()
    assert models.card.load.text() == "Load anyway"
    assert "GB" in models.card.sentence.text()
    qtbot.keyClick(models.card.load, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.script.loads[-1][0::2] == ("big:8b", True)


def test_a_model_with_an_unknown_fit_can_be_loaded(models, qtbot, loop, stage):
    row(models, "tiny:latest").click()
    card = models.card
    assert card.verdict.text() == "Unknown whether it fits"
    assert card.sentence.text() == "tiny:latest is not in the script."
    assert not card.plan_rows.isVisible()
    assert card.load.text() == "Load"


def test_the_card_is_operated_by_keyboard(models, qtbot, loop, stage):
    models.panel.focus_selected()
    row(models).setFocus()
    qtbot.keyClick(row(models), Qt.Key.Key_Right)
    assert models.card.isVisible()
    assert models.card.slider.hasFocus()
    value = models.card.slider.value()
    qtbot.keyClick(models.card.slider, Qt.Key.Key_Left)
    assert models.card.slider.value() == value - 1
    assert models.card.slider.accessibleDescription() == models.card.tokens.text()
    qtbot.keyClick(models.card, Qt.Key.Key_Escape)
    assert models.card.isHidden()
    assert row(models).hasFocus()


def test_the_card_closes_when_it_loses_the_focus(models, qtbot, loop, stage):
    QTest.mouseClick(row(models), Qt.MouseButton.LeftButton)
    assert models.card.isVisible()
    stage.window.chat.composer.draft.setFocus()
    assert models.card.isHidden()


def test_a_loaded_model_is_ejected_from_its_card(models, qtbot, loop, stage):
    stage.session.load(BIG)
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert not row(models).eject.isHidden()
    row(models).click()
    assert (models.card.verdict.text(), models.card.load.text()) == ("Loaded", "Eject")
    models.card.load.click()
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.FOUND)


def test_predicted_and_actual_memory_are_shown_side_by_side(models, qtbot, loop, stage, monkeypatch, tmp_path):
    monkeypatch.setattr(estimates.paths, "cache_dir", lambda: tmp_path / "cache")
    stage.script.taken = 6 * GB
    stage.session.load(BIG)
    qtbot.waitUntil(lambda: stage.session.state.actual == 6 * GB)
    assert row(models).accessibleDescription() == "Predicted 4.0 GB, uses 6.0 GB"
    row(models).click()
    assert (models.card.numbers["predicted"].text(), models.card.numbers["actual"].text()) == ("4.0 GB", "6.0 GB")
    # The prediction is off by half, so the ratio is learned and the model is measured again.
    qtbot.waitUntil(lambda: estimates.ratio("llama") == 1.5)
    assert row(models).accessibleDescription() == "Predicted 4.0 GB, uses 6.0 GB"


def test_favourites_come_first_and_the_order_can_be_chosen(models, qtbot, loop, preferences):
    assert order(models) == ["tiny:latest", "big:8b"]
    row(models).click()
    models.card.star.click()
    assert order(models) == ["big:8b", "tiny:latest"]
    assert "favourite" in row(models).accessibleName()
    assert preferences.values.favourites == (BIG.digest,)
    models.card.star.click()
    assert order(models) == ["tiny:latest", "big:8b"]
    actions = {action.text(): action for action in models.panel.order_menu().actions()}
    assert list(actions) == ["Recently Used", "Name", "Size", "Fit"]
    for text, expected in (
        ("Name", ["big:8b", "tiny:latest"]),
        ("Size", ["tiny:latest", "big:8b"]),
        ("Fit", ["big:8b", "tiny:latest"]),
    ):
        actions[text].trigger()
        assert order(models) == expected, text
    assert preferences.values.model_order == "fit"


def test_the_model_used_last_comes_first(models, qtbot, loop, stage, preferences):
    preferences.change(last_used={BIG.name: 1.0})
    assert order(models) == ["tiny:latest", "big:8b"]  # rows do not move under the pointer
    stage.session.library.rescan()
    qtbot.waitUntil(lambda: order(models) == ["big:8b", "tiny:latest"])


def test_the_card_shows_where_a_model_is_stored(models, qtbot, loop):
    row(models).click()
    pills = [models.card.pills.itemAt(number).widget() for number in range(2)]
    assert [pill.text() for pill in pills] == ["Ollama", "Hugging Face"]
    assert models.card.facts.text().startswith("4.0 GB · ")
    assert "4,096-token context" in models.card.facts.text()


def test_the_card_says_why_images_are_not_shown_to_a_model_with_a_tower(models, qtbot, loop, stage):
    card = models.card
    row(models).click()
    assert (card.blindness.isVisible(), card.blindness.text()) == (True, BLIND)
    card.load.click()
    qtbot.waitUntil(lambda: stage.session.state.loaded and stage.session.state.info.vision_note == BLIND)
    row(models).click()
    assert (card.load.text(), card.blindness.isVisible(), card.blindness.text()) == ("Eject", True, BLIND)
    row(models, "tiny:latest").click()
    assert (card.isVisible(), card.blindness.isVisible()) == (True, False)


def test_a_chosen_context_is_saved(models, loop, preferences):
    models.notes.choose_context(BIG, 2048)
    models.notes.choose_context(record(), 512)
    assert (models.notes.context_of(BIG), models.notes.context_of(record())) == (2048, 512)
    models.notes.choose_context(BIG, None)
    assert (models.notes.context_of(BIG), models.notes.context_of(record())) == (None, 512)
    preferences.change(contexts=("nonsense", f"{BIG.digest}:x", f"{BIG.digest}:-4", f"{BIG.digest}:99999999999999"))
    assert models.notes.context_of(BIG) is None


def test_a_new_default_context_is_planned_at_once(models, qtbot, loop, stage, preferences):
    usual = models.planner.projection(BIG).plan.context
    for tokens, planned in ((2048, 2048), (0, usual)):
        preferences.change(num_ctx=tokens)
        qtbot.waitUntil(lambda planned=planned: models.planner.projection(BIG).plan.context == planned, timeout=5000)
        assert stage.session.context_for(BIG) == planned


def test_the_card_and_the_row_share_one_plan(models, loop):
    assert models.planner.projection(BIG) == models.planner.preview(BIG, None)
    assert models.planner.measured(BIG).needs == measured(REPACKED).needs
    assert machine_with(16, 12).sample == models.planner.memory.sample

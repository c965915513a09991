"""The memory gauge: its segments, its wording, and when it does not sample."""

import pytest
from PySide6.QtCore import Qt

from planned import GB, machine_with, measured
from scripted_loop import record
from sotto.engine.memory.memory_figures import MemoryFigures, ModelFigures
from sotto.ui.models import memory_gauge as gauges
from sotto.ui.state import memory_estimate
from sotto.ui.state.memory_estimate import MemorySample


def test_the_gauge_describes_itself_in_words(stage, loop):
    gauge = stage.window.sidebar.gauge
    gauge.show_sample(MemorySample(16_000_000_000, 1_600_000_000))
    gauge.show_figures(MemoryFigures(2_000_000_000, 500_000_000, 0, 0, 0, 3_000_000_000, 200_000_000))
    assert "nearly full" in gauge.accessibleName()
    spoken = "This model 2.0 GB, Context in use 200 MB, Prompt cache 300 MB, Contexts take at most 3.0 GB"
    assert spoken in gauge.accessibleName()
    assert "Other programs 11.9 GB" in gauge.accessibleName()
    gauge.show_sample(None)
    assert gauge.free.text() == "—"
    assert gauge.accessibleName().startswith("Memory unknown")


def test_the_segments_of_the_bar_add_up(stage, loop):
    gauge = stage.window.sidebar.gauge
    gauge.show_model("llama")
    gauge.show_sample(MemorySample(16 * GB, 6 * GB))
    gauge.show_figures(MemoryFigures(4 * GB, GB, 5 * GB, 0, 5 * GB, live=GB // 4))
    assert [(segment.name, segment.nbytes) for segment in gauge.segments] == [
        ("Other programs", 5 * GB),
        ("llama", 4 * GB),
        ("Context in use", GB // 4),
        ("Prompt cache", GB - GB // 4),
    ]
    for segment in gauge.segments:
        assert segment.name.lower() in gauge.accessibleName().lower()
        assert segment.name in gauge.toolTip()


def test_weights_of_several_models_are_labelled_with_their_number(stage, loop):
    gauge = stage.window.sidebar.gauge
    gauge.show_model("llama")
    two = (ModelFigures("1", 3 * GB, 0, 0), ModelFigures("2", GB, 0, 0))
    gauge.show_figures(MemoryFigures(4 * GB, 0, 4 * GB, 0, 4 * GB, models=two))
    assert [(segment.name, segment.nbytes) for segment in gauge.segments if segment.nbytes] == [("2 models", 4 * GB)]
    gauge.show_figures(MemoryFigures(3 * GB, 0, 3 * GB, 0, 3 * GB, models=two[:1]))
    assert [(segment.name, segment.nbytes) for segment in gauge.segments if segment.nbytes] == [("llama", 3 * GB)]


def test_planned_memory_is_a_ghost_of_which_only_the_context_changes(stage, loop):
    gauge = stage.window.sidebar.gauge
    gauge.show_sample(MemorySample(16 * GB, 12 * GB))
    ghosts = []
    for tokens in (8192, 16_384):
        gauge.show_plan("big", memory_estimate.project(measured(), machine_with(16, 12), tokens))
        ghosts.append([segment.nbytes for segment in gauge.segments if segment.ghost])
    (weights, short), (same, long) = ghosts
    assert weights == same == 4 * GB
    assert long - short == pytest.approx(100_000 * 8192, rel=0.02)
    gauge.show_plan("", None)
    assert not any(segment.ghost for segment in gauge.segments)


@pytest.mark.parametrize("appearance", ["light", "dark"])
def test_colour_word_and_number_follow_each_sample(stage, loop, dressed, appearance):
    dressed.set_appearance(appearance, 1.0)
    gauge, seen = stage.window.sidebar.gauge, []
    for taken in (MemorySample(100, 60), MemorySample(100, 22), MemorySample(100, 9, shortage=2), None):
        gauge.show_sample(taken)
        seen.append((gauge.free.text(), gauge.free.palette().color(gauge.free.foregroundRole()).name()))
    texts, colors = zip(*seen, strict=True)
    assert texts == ("60 B free", "22 B free · getting tight", "9 B free · critical", "—")
    assert list(colors[1:3]) == [dressed.tokens.warn, dressed.tokens.alert]
    assert len(set(texts)) == 4
    gauge.show_sample(MemorySample(100, 9, shortage=2))
    assert "critical" in gauge.accessibleName()


def test_memory_is_sampled_only_while_it_can_be_seen(stage, qtbot, loop, monkeypatch):
    gauge, requests = stage.window.sidebar.gauge, []
    qtbot.waitUntil(lambda: gauge.free.text() != "—")
    assert gauges.SAMPLE_EVERY_MS == 3000
    gauge.sample_timer.setInterval(20)
    gauge.sample_wanted.connect(lambda: requests.append(True))
    qtbot.waitUntil(lambda: len(requests) > 2)
    for rest, wake in ((stage.window.hide, stage.window.show), (minimize, restore)):
        rest() if rest == stage.window.hide else rest(stage.window)
        requests.clear()
        qtbot.wait(300)
        assert requests == []
        wake() if wake == stage.window.show else wake(stage.window)
        qtbot.waitUntil(lambda: len(requests) > 2)


def minimize(window):
    window.setWindowState(Qt.WindowState.WindowMinimized)


def restore(window):
    window.setWindowState(Qt.WindowState.WindowNoState)


def test_a_failed_sample_is_shown_as_a_dash(stage, qtbot, loop, monkeypatch):
    def fail():
        raise OSError("no /proc")

    gauge = stage.window.sidebar.gauge
    qtbot.waitUntil(lambda: gauge.free.text() != "—")
    monkeypatch.setattr(memory_estimate, "sample_memory", fail)
    stage.window.models.sample_memory()
    qtbot.waitUntil(lambda: gauge.free.text() == "—")


def test_the_model_in_memory_is_named(ready, qtbot, loop):
    qtbot.waitUntil(lambda: "tiny 1.1 MB" in ready.window.sidebar.gauge.accessibleName())
    assert ready.session.state.record == record()

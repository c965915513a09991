"""The progress line of a load: nothing at first, then bytes, speed, time left, and stalls."""

from dataclasses import replace

import pytest

from scripted_loop import record
from sotto.engine.contract.events import LoadProgress
from sotto.ui.models.state_line import loading_line, state_line
from sotto.ui.state.load_pace import LoadClock
from sotto.ui.state.model_state import ModelState, Phase


class Clock:
    """A clock that the test sets."""

    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def load_clock(qapp, clock):
    made = LoadClock(now=clock)
    made.begin()
    yield made
    made.end()


def weights(done, total=4_000_000_000):
    return LoadProgress("weights", done, total)


def line(load_clock, progress):
    return loading_line(ModelState(Phase.LOADING, record(), progress, pace=load_clock.pace))


def test_nothing_is_shown_of_a_short_load(load_clock, clock):
    load_clock.update(weights(1_000_000_000))
    clock.time += 0.7
    assert line(load_clock, weights(1_000_000_000)) == ""
    assert state_line(ModelState(Phase.LOADING, record(), weights(1), pace=load_clock.pace)) == ""


def test_bytes_speed_and_time_left(load_clock, clock):
    for second in range(1, 3):
        clock.time += 1
        load_clock.update(weights(second * 1_000_000_000))
    assert line(load_clock, weights(2_000_000_000)) == "2.0 GB of 4.0 GB · 1.0 GB/s · 2 s left"


def test_the_speed_is_that_of_the_last_seconds(load_clock, clock):
    done = 0
    for speed in [1_000_000_000] + [100_000_000] * 5:
        clock.time += 1
        done += speed
        load_clock.update(weights(done))
    assert load_clock.pace.speed == pytest.approx(100_000_000)


def test_a_stall_is_shown_with_its_duration(load_clock, clock):
    clock.time += 1
    load_clock.update(weights(1_000_000_000))
    clock.time += 2.5
    assert "no news" not in line(load_clock, weights(1_000_000_000))
    clock.time += 4
    assert line(load_clock, weights(1_000_000_000)) == "1.0 GB of 4.0 GB · no progress for 6 s"
    load_clock.update(weights(2_000_000_000))
    assert load_clock.pace.seconds_silent == 0


def test_phases_have_labels(load_clock, clock):
    clock.time += 1
    assert line(load_clock, None) == "Loading…"
    assert line(load_clock, LoadProgress("tokenizer", 1, 1)) == "Reading the tokenizer"
    assert line(load_clock, LoadProgress("warm-up", 1, 1)) == "Warming up"


def test_a_row_shows_a_load_once_it_takes_a_while(stage, qtbot, loop):
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    row = stage.window.sidebar.rows[0]
    loading = ModelState(Phase.LOADING, row.record, weights(1_000_000_000))
    before = row.sizeHint()
    row.show_state(loading)
    assert "stop" not in row.__dict__
    row.show_state(replace(loading, pace=replace(loading.pace, shown=True)))
    assert row.sizeHint() == before
    assert row.stop.accessibleName() == "Stop loading tiny"
    row.stop.click()

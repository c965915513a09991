"""The memory of a large model is freed soon after it is ejected, and before the next model is loaded.

Run by `test_memory_back.py` in a process of its own.
"""

import gc
import os
import subprocess
import sys
import time

import psutil
import pytest

from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import LoadProgress
from sotto.engine.memory.memory_figures import MemoryFigures
from sotto.runner.loop import EngineLoop
from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.state.drop_contents import DropContents
from sotto.ui.state.model_state import Phase

MB = 10**6
WAIT = 60_000
WRITE = """
import sys
from pathlib import Path
from tiny_random import write_zeros
changes = {"num_hidden_layers": 3, "hidden_size": 1024, "intermediate_size": int(sys.argv[2]), "num_attention_heads": 8}
write_zeros(Path(sys.argv[1]), "plain", **changes)
"""


def write_model_elsewhere(folder, width):
    """Write a model from another process, so that this one stays small."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", WRITE, str(folder), str(width)], env=environment, check=True)
    return folder


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return the folder of a model of more than 500 MB."""
    folder = write_model_elsewhere(tmp_path_factory.mktemp("models") / "large", 14336)
    assert (folder / "model.safetensors").stat().st_size > 500 * MB
    return folder


@pytest.fixture(scope="module")
def smaller(tmp_path_factory):
    """Return the folder of a model of more than half that size."""
    return write_model_elsewhere(tmp_path_factory.mktemp("models") / "smaller", 8192)


@pytest.fixture
def limits():
    """Return the memory limits of models; the last one applies."""
    return [None]


@pytest.fixture
def window(real_window, limits):
    def make_loop(emit):
        return EngineLoop(emit, lambda: EngineSettings(memory_limit=limits[-1]))

    return real_window(EngineThread(make_loop=make_loop))


def resident():
    return psutil.Process().memory_info().rss


def load(qtbot, window, path):
    window.session.library.open(DropContents((path,), ()))
    qtbot.waitUntil(
        lambda: window.session.state.actual > 0 and window.session.state.record.path == path,
        timeout=WAIT,
    )


def test_ejecting_frees_the_memory_and_the_next_model_loads(qtbot, window, loop, large):
    load(qtbot, window, large)
    before, actual = resident(), window.session.state.actual
    assert actual > 500 * MB
    window.session.eject()
    began = time.monotonic()
    qtbot.waitUntil(lambda: gc.collect() >= 0 and before - resident() >= 450 * MB, timeout=WAIT)
    assert time.monotonic() - began <= 2.0
    (builtin,) = [record for record in window.session.library.models if record.builtin]
    window.session.load(builtin)
    qtbot.waitUntil(lambda: window.session.state.phase is Phase.READY, timeout=WAIT)


def test_if_two_models_do_not_fit_the_old_one_is_unloaded_first(qtbot, window, limits, loop, large, smaller):
    load(qtbot, window, large)
    first = window.session.state.actual
    limits.append(int(1.3 * first))
    events = []
    window.session.host.event_received.connect(events.append)
    load(qtbot, window, smaller)
    since_load = events[next(number for number, event in enumerate(events) if isinstance(event, LoadProgress)) :]
    figures = [event for event in since_load if isinstance(event, MemoryFigures)]
    assert figures
    # The smaller model takes less than the larger one, so staying below that means that they never coexist.
    assert first > window.session.state.actual > 0.4 * first
    assert all(event.active + event.pool < first for event in figures)


def test_predicted_and_actual_of_a_real_model_agree(qtbot, window, loop, large):
    load(qtbot, window, large)
    planner, record = window.models.planner, window.session.state.record
    qtbot.waitUntil(lambda: planner.predicted(record) > 0, timeout=WAIT)
    assert window.session.state.actual == pytest.approx(planner.predicted(record), rel=0.01)

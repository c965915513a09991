"""Memory of a large model is back soon after it is ejected, and gone before the next one comes.

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


def written(folder, width):
    """Have a model written by another process: this one is to stay small."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", WRITE, str(folder), str(width)], env=environment, check=True)
    return folder


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A model of more than 500 MB."""
    folder = written(tmp_path_factory.mktemp("models") / "large", 14336)
    assert (folder / "model.safetensors").stat().st_size > 500 * MB
    return folder


@pytest.fixture(scope="module")
def smaller(tmp_path_factory):
    """One of more than half as much."""
    return written(tmp_path_factory.mktemp("models") / "smaller", 8192)


@pytest.fixture
def limits():
    """What models may take in memory, the last of them now."""
    return [None]


@pytest.fixture
def window(real_window, limits):
    def engines(emit):
        return EngineLoop(emit, lambda: EngineSettings(memory_limit=limits[-1]))

    return real_window(EngineThread(make_loop=engines))


def resident():
    return psutil.Process().memory_info().rss


def load(qtbot, window, path):
    window.session.library.open(DropContents((path,), ()))
    qtbot.waitUntil(
        lambda: window.session.state.actual > 0 and window.session.state.record.path == path,
        timeout=WAIT,
    )


def test_eject_gives_the_memory_back_and_the_next_model_loads(qtbot, window, loop, large):
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


def test_where_two_do_not_fit_the_old_model_is_gone_before_the_new_one_comes(
    qtbot, window, limits, loop, large, smaller
):
    load(qtbot, window, large)
    first = window.session.state.actual
    limits.append(int(1.3 * first))
    heard = []
    window.session.host.event_received.connect(heard.append)
    load(qtbot, window, smaller)
    coming = heard[next(number for number, event in enumerate(heard) if isinstance(event, LoadProgress)) :]
    figures = [event for event in coming if isinstance(event, MemoryFigures)]
    assert figures
    # All of the smaller one is less than the larger one, which is not there beside any of it.
    assert first > window.session.state.actual > 0.4 * first
    assert all(event.active + event.pool < first for event in figures)


def test_predicted_and_actual_of_a_real_model_agree(qtbot, window, loop, large):
    load(qtbot, window, large)
    planner, record = window.models.planner, window.session.state.record
    qtbot.waitUntil(lambda: planner.predicted(record) > 0, timeout=WAIT)
    assert window.session.state.actual == pytest.approx(planner.predicted(record), rel=0.01)

"""Memory of a large model is back soon after it is ejected, and gone before the next one comes.

Run by `test_memory_back.py` in a process of its own.
"""

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sotto.engine.memory_figures import MemoryFigures
from sotto.engine.types import Loaded, LoadProgress
from sotto.ui.drops import Dropped
from sotto.ui.engine_thread import EngineThread
from sotto.ui.states import Phase

MB = 10**6
WAIT = 60_000
WRITE = """
import sys
from pathlib import Path
from tiny_random import CONFIGS, write_model
CONFIGS["large"] = CONFIGS["plain"] | {"hidden_size": 1024, "intermediate_size": 14336, "num_attention_heads": 8}
write_model(Path(sys.argv[1]), "large")
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A model of more than 500 MB, written by another process: this one is to stay small."""
    folder = tmp_path_factory.mktemp("models") / "large"
    support = Path(__file__).resolve().parents[1] / "support"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(support), *sys.path])}
    subprocess.run([sys.executable, "-c", WRITE, str(folder)], env=environment, check=True)
    assert (folder / "model.safetensors").stat().st_size > 500 * MB
    return folder


@pytest.fixture
def window(real_window):
    return real_window(EngineThread())


def resident():
    return psutil.Process().memory_info().rss


def load(qtbot, window, path):
    window.session.open(Dropped((path,), ()))
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
    (builtin,) = [record for record in window.session.models if record.builtin]
    window.session.load(builtin)
    qtbot.waitUntil(lambda: window.session.state.phase is Phase.READY, timeout=WAIT)


def test_the_old_model_is_gone_before_the_new_one_comes(qtbot, window, loop, large):
    load(qtbot, window, large)
    heard = []
    window.session.host.happened.connect(heard.append)
    (builtin,) = [record for record in window.session.models if record.builtin]
    window.session.load(builtin)
    qtbot.waitUntil(lambda: any(isinstance(event, Loaded) for event in heard), timeout=WAIT)
    qtbot.waitUntil(lambda: isinstance(heard[-1], MemoryFigures), timeout=WAIT)
    coming = heard[next(number for number, event in enumerate(heard) if isinstance(event, LoadProgress)) :]
    figures = [event for event in coming if isinstance(event, MemoryFigures)]
    assert figures
    assert all(event.active + event.pool < 100 * MB for event in figures)


def test_predicted_and_actual_of_a_real_model_agree(qtbot, window, loop, large):
    load(qtbot, window, large)
    planner, record = window.desk.planner, window.session.state.record
    qtbot.waitUntil(lambda: planner.predicted(record) > 0, timeout=WAIT)
    assert window.session.state.actual == pytest.approx(planner.predicted(record), rel=0.01)

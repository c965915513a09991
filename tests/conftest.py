"""Settings and folders for every test."""

import gc
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sotto.engine.kernels import device
from thoroughness import mark_full

# Before anything imports MLX, or the tests would compute with whatever BLAS the system has.
device.prepare()

# Windows and pictures are drawn without a display.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# Tests and the processes that they start neither read nor write the user's own files.
_USER_FOLDERS = tempfile.TemporaryDirectory(prefix="sotto-tests-")
for _name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
    os.environ[_name] = str(Path(_USER_FOLDERS.name) / _name)

# The same examples on every machine, without deadlines: a failure must be due to the change at hand.
settings.register_profile(
    "sotto",
    deadline=None,
    derandomize=True,
    max_examples=25,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("full", settings.get_profile("sotto"), max_examples=100)
settings.load_profile("sotto")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    mark_full(items)
    # What takes longest begins first, so that no process is left alone with it at the end.
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish():
    """Leave modules and tests out of every garbage collection: visiting them would take longer than most tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def frozen():
    """Leave what the tests of other modules have left behind out of the collections of this one."""
    gc.freeze()

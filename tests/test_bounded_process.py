"""What a process may take is held to, whatever it does."""

import sys

import psutil
import pytest

from sotto import bounded_process
from sotto.bounded_process import BoundedProcessError, Bounds, Exceeded, run
from sotto.errors import CancelledError

ROOMY = Bounds(seconds=60, cpu_seconds=60, memory=1 << 30, output=1 << 20)
BEGIN = "import sys, time, os; from sotto.bounded_process import Bounds, limit; "


@pytest.fixture
def child(monkeypatch):
    """Return what runs a line of Python as a process with bounds."""
    monkeypatch.setattr(bounded_process, "command", lambda *words: [sys.executable, "-c", *words])

    def made(line, bounds=ROOMY, **more):
        before = psutil.Process().children(recursive=True)
        try:
            return run(BEGIN + line, bounds=bounds, **more)
        finally:
            assert set(psutil.Process().children(recursive=True)) <= set(before)

    return made


def test_what_it_writes_comes_back(child):
    assert child("sys.stdout.write(sys.stdin.read().upper())", given=b"given") == b"GIVEN"


@pytest.mark.parametrize(
    ("line", "bounds", "exceeded"),
    [
        ("time.sleep(60)", Bounds(0.5, 60, 1 << 30, 1 << 20), Exceeded.TIME),
        ("limit(Bounds(60, 0.2, 1 << 33, 1))\nwhile True: pass", ROOMY, Exceeded.TIME),
        ("data = b'1' * (200 << 20); time.sleep(60)", Bounds(60, 60, 100 << 20, 1 << 20), Exceeded.MEMORY),
        ("limit(Bounds(60, 60, 64 << 20, 1)); data = b'1' * (1 << 30)", ROOMY, Exceeded.ENDED),
        ("os.write(1, b'1' * 5000); time.sleep(60)", Bounds(60, 60, 1 << 30, 1000), Exceeded.OUTPUT),
        ("os.abort()", ROOMY, Exceeded.ENDED),
        ("sys.exit(3)", ROOMY, Exceeded.ENDED),
    ],
)
def test_bounds_hold(child, line, bounds, exceeded):
    with pytest.raises(BoundedProcessError) as error:
        child(line, bounds)
    assert error.value.exceeded is exceeded


def test_it_ends_when_nobody_wants_it_any_more(child):
    with pytest.raises(CancelledError):
        child("time.sleep(60)", stopped=lambda: True)

"""Runs `memory_back.py` in its own process, because it would otherwise count memory that other tests left behind."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.full]


def test_memory_is_freed_after_a_large_model():
    cases = Path(__file__).with_name("memory_back.py")
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(cases)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout

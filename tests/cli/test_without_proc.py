"""The program on a Linux that hides `/proc` and `/sys`, as some containers and sandboxes do."""

import json
import re
import signal
import subprocess
import time
import urllib.request

import psutil
import pytest

from commands import SOTTO
from mounts import without_proc
from sotto.engine.kernels.native import thread_count
from sotto.engine.memory.physical_memory import physical_memory
from sotto.engine.memory.system_memory import Pressure, SystemMemory

pytestmark = pytest.mark.slow


@pytest.fixture
def hidden(env):
    """Return a function that starts a command there."""
    before = without_proc()

    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [*before, *SOTTO, *arguments],
            env=env | {"QT_QPA_PLATFORM": "offscreen"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    """Let psutil read an empty folder instead of /proc."""
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path))


def test_the_memory_is_that_of_the_c_library(nothing, monkeypatch, tmp_path):
    found = physical_memory()
    monkeypatch.undo()
    assert (found.total, found.exact) == (psutil.virtual_memory().total, False)
    assert 0 < found.available < found.total


def test_a_small_rest_is_no_shortage_where_caches_are_unknown(nothing, monkeypatch, tmp_path):
    monkeypatch.setattr("os.sysconf", lambda name: {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.get(name, 1))
    memory = SystemMemory(tmp_path)
    assert memory.pressure() is Pressure.NONE
    limits = memory.limits(reserve=0)
    assert (limits.budget, limits.total, limits.source) == (
        4096,
        4096_000,
        "what is free; /proc is missing, which tells more",
    )


def test_there_are_as_many_threads_as_usable_cores(nothing, monkeypatch):
    def hide(logical):
        raise FileNotFoundError("/proc/cpuinfo")

    monkeypatch.setattr(psutil, "cpu_count", hide)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    monkeypatch.setattr("sotto.engine.kernels.native.cpu_quota", lambda: None)
    monkeypatch.setattr("sys.platform", "linux")
    assert thread_count() == 3


def test_doctor_says_what_is_unknown(hidden):
    process = hidden("doctor")
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert re.search(
        r"^Memory +[\d.]+ GB, [\d.]+ [GM]B free; more may be available, which is unknown without /proc$", out, re.M
    )


def test_an_answer_by_a_form_is_computed(hidden, tmp_path):
    (tmp_path / "form.regex").write_text("[0-9]{3}")
    out, err = hidden("run", "sotto", "A number", "--format", str(tmp_path / "form.regex")).communicate(timeout=120)
    assert re.fullmatch(r"\d{3}\n", out), err


@pytest.mark.parametrize("host", ["", "process"])
def test_it_serves(hidden, env, host):
    env["SOTTO_ENGINE_HOST"] = host
    process = hidden("serve", "--port", "0")
    line = process.stdout.readline()
    assert line.startswith("Listening on "), process.communicate()
    body = json.dumps({"model": "sotto", "prompt": "Hello", "stream": False}).encode()
    with urllib.request.urlopen(line.split()[2] + "/api/generate", body, timeout=60) as answer:
        assert json.load(answer)["response"]
    process.send_signal(signal.SIGTERM)
    assert (*process.communicate(timeout=60), process.returncode) == ("", "", 0)


def test_the_window_opens_and_takes_a_later_start(hidden, tmp_path):
    first = hidden()
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob("app.socket")):
        assert first.poll() is None, first.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    later = hidden("--new")
    assert (*later.communicate(timeout=60), later.returncode) == ("", "", 0)
    first.send_signal(signal.SIGTERM)
    out, err = first.communicate(timeout=60)
    # Qt has no windows to raise offscreen.
    assert (out, set(err.splitlines()) - {"This plugin does not support raise()"}, first.returncode) == ("", set(), 0)

"""What pip is doing, in words, and how much of it is left."""

import io
import os
import pty
import re
import time
from pathlib import Path

import pytest

import native_build
import progress
from progress import PipRun, Progress

WHEEL = "pyside6_essentials-6.11.3-cp310-abi3-manylinux_2_34_x86_64.whl"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PipRun:
    for name in ("temporary/pip-unpack-1", "site", "objects"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(native_build, "OBJECTS", tmp_path / "objects")
    monkeypatch.setattr(native_build, "unsupported_platform", lambda: "")
    monkeypatch.setattr(native_build, "count_objects", lambda: 30)
    return PipRun(tmp_path / "temporary", tmp_path / "site")


def test_what_is_looked_up_is_counted(run: PipRun) -> None:
    assert run.describe() == "Looking up packages"
    for line in ("Collecting jinja2>=3.1.6\n", "  Downloading jinja2-3.1.6-py3-none-any.whl.metadata (2.8 kB)\n"):
        assert not run.read(line)
    assert run.describe() == "Looking up packages, 1 so far"


def test_a_large_file_shows_how_much_of_it_has_arrived(run: PipRun, tmp_path: Path) -> None:
    run.read("Collecting PySide6-Essentials<6.12,>=6.8\n")
    assert run.read(f"  Downloading {WHEEL} (80.3 MB)\n")
    assert run.describe() == "Fetching package 1: pyside6_essentials 6.11.3, 80 MB"
    (tmp_path / "temporary" / "pip-unpack-1" / WHEEL).write_bytes(bytes(43_000_000))
    assert run.describe() == "Fetching package 1: pyside6_essentials 6.11.3, 43 of 80 MB"


def test_once_all_are_known_each_is_one_of_them(run: PipRun) -> None:
    for name in ("jinja2", "numpy"):
        run.read(f"Collecting {name}\n")
        run.read(f"  Downloading {name}-3.1.6-py3-none-any.whl.metadata (2.8 kB)\n")
    assert not run.read("Downloading jinja2-3.1.6-py3-none-any.whl (134 kB)\n")
    assert run.describe() == "Fetching package 1 of 2"
    assert run.read("Downloading numpy-3.1.6-py3-none-any.whl (16.9 MB)\n")
    assert run.describe() == "Fetching package 2 of 2: numpy 3.1.6, 17 MB"
    assert not run.read("Using cached numpy-3.1.6-py3-none-any.whl (16.9 MB)\n")


def test_what_is_installed_is_counted(run: PipRun, tmp_path: Path) -> None:
    old = tmp_path / "site" / "older-1.dist-info"
    old.mkdir()
    (old / "RECORD").touch()
    os.utime(old / "RECORD", (1, 1))
    assert not run.installs
    assert run.read("Installing collected packages: idna, h11, httpx\n")
    assert run.installs
    assert run.describe() == "Installing 3 packages, 0 of them done"
    (tmp_path / "site" / "idna-3.dist-info").mkdir()
    (tmp_path / "site" / "idna-3.dist-info" / "RECORD").touch()
    assert run.describe() == "Installing 3 packages, 1 of them done"
    assert run.read("Installing collected packages: sotto\n")
    assert run.describe() == "Installing 1 package"


def test_what_is_compiled_is_counted(run: PipRun, tmp_path: Path) -> None:
    assert run.read("  Installing build dependencies: started\n")
    assert run.describe() == "Fetching what the native kernels need"
    assert not run.read("  Preparing editable metadata (pyproject.toml): finished with status 'done'\n")
    for line in ("  Preparing metadata (pyproject.toml): started\n", "Preparing editable metadata (a): started\n"):
        assert run.read(line)
    (tmp_path / "objects" / "a.o").touch()
    assert run.describe() == "Compiling the native kernels, 1 of 30 files done"


def test_a_full_disk_is_noticed(run: PipRun) -> None:
    run.read("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n")
    assert run.disk_is_full


def test_silence_is_broken(run: PipRun) -> None:
    output = io.StringIO()
    with Progress([run, run], output, quiet_s=0.05) as shown:
        run.read("Installing collected packages: a, b\n")
        shown.begin(run)
        deadline = time.monotonic() + 10
        while output.getvalue().count("\n") < 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        shown.say("WARNING: something")
    lines = output.getvalue().splitlines()
    assert lines[-1] == "WARNING: something"
    assert set(lines[:-1]) == {"  Installing 2 packages, 0 of them done ..."}


def test_a_terminal_has_one_line_that_changes(run: PipRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_REDRAW_S", 0.02)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "30")
    reading, writing = pty.openpty()
    with open(writing, "w", encoding="utf-8") as terminal, Progress([run], terminal) as shown:  # noqa: PTH123
        run.read("Installing collected packages: a, b\n")
        shown.begin(run)
        seen = b""
        while seen.count(b"Installing") < 2:
            seen += os.read(reading, 1000)
        shown.say("WARNING: something")
        while b"something" not in seen:
            seen += os.read(reading, 1000)
    os.close(reading)
    text = seen.decode()
    assert "\x1b[KInstalling 2 packages, 0 of t\r" in text, "it is as wide as the terminal, and no line is begun"
    assert re.findall(r"[^\r\n\x1b]+\r?\n", text) == ["[KWARNING: something\r\n"]

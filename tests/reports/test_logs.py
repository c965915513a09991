"""The log file: bounded, written by several processes, and without what people write."""

import logging
import os
import re
import subprocess
import sys
import threading

import pytest

from sotto import paths
from sotto.reports import logs


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    return paths.log_dir()


@pytest.fixture
def log():
    made = logging.Logger("sotto.test")
    handler = logs.FileHandler()
    handler.setFormatter(logs.Formatter("test 1"))
    made.addHandler(handler)
    return made


WRITER = """
import logging, sys
from sotto.reports import logs
logs._MOST_BYTES = 60_000
log = logging.Logger("sotto.test")
handler = logs.FileHandler()
handler.setFormatter(logs.Formatter(sys.argv[1]))
log.addHandler(handler)
for number in range(400):
    log.warning("%d %s", number, sys.argv[1] * 60)
"""


def test_several_processes_write_one_log(folder, monkeypatch):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, name]) for name in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    sizes = [logs.file(age).stat().st_size for age in range(3)]
    assert max(sizes) <= 61_000
    assert not logs.file(3).exists()
    content = "".join(logs.file(age).read_text() for age in (2, 1, 0))
    for line in content.splitlines():
        assert re.fullmatch(r"\S+ \S+ ([abc]) WARNING sotto.test: \d+ \1{60}", line)
    # The last lines of each are there, in order.
    for name in "abc":
        numbers = [int(number) for number in re.findall(rf"(\d+) {name}{{60}}\n", content)]
        assert numbers == sorted(numbers)
        assert len(numbers) == 400 - numbers[0]


def test_threads_write_whole_lines(log, folder):
    threads = [threading.Thread(target=lambda: [log.warning("x" * 500) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = logs.file().read_text().splitlines()
    assert len(lines) == 200
    assert {line.rpartition(" ")[2] for line in lines} == {"x" * 500}


def test_only_the_owner_reads_it(log, folder):
    log.warning("something")
    assert folder.stat().st_mode & 0o077 == logs.file().stat().st_mode & 0o077 == 0


def test_errors_and_other_packages_are_logged_without_values(log, folder, tmp_path):
    question = "my secret question"
    try:
        int(question)
    except ValueError as error:
        log.error("%s and %s", error, tmp_path / "x", exc_info=error)
    log.name = "asyncio"
    log.error("Task exception was never retrieved: %s\nmy secret question", "<Task exception=ValueError('my secret')>")
    text = logs.file().read_text()
    assert "secret" not in text
    assert str(tmp_path) not in text
    assert "ERROR sotto.test: invalid literal for int() with base 10: … and ~/x\n" in text
    assert "Task exception was never retrieved" in text
    assert "test_logs.py:" in text


def test_a_message_stays_one_line(log):
    log.warning("a %s", "name\n2026-01-01 00:00:00 test 1 ERROR forged\x1b[31m\u202e")
    assert len(logs.file().read_text().splitlines()) == 1
    assert "\x1b" not in logs.file().read_text()


def test_the_last_lines_go_on_in_older_files(log, monkeypatch):
    monkeypatch.setattr(logs, "_MOST_BYTES", 300)
    for number in range(9):
        log.warning("line %d", number)
    assert [line.rpartition(" ")[2] for line in logs.last_lines(7)] == ["2", "3", "4", "5", "6", "7", "8"]


def test_a_full_disk_is_told_once(log, monkeypatch, capsys):
    def full(*more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    log.warning("one")
    log.warning("two")
    assert (
        capsys.readouterr().err == "The log in ~/.local/state/Sotto/log cannot be written: No space left on device.\n"
    )

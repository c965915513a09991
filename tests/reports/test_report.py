"""Reports of errors and of fatal signals as files."""

import fcntl
import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from people import person
from sotto import paths
from sotto.reports import fatal, report
from sotto.reports.report import Trouble

NAMES = st.text("abcdefghijäöé0123456789-", min_size=4, max_size=12)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    found = paths.log_dir()
    found.mkdir(parents=True)
    return found


@given(NAMES, NAMES, NAMES, NAMES)
def test_a_report_names_nobody(place, user, host, secret):
    user, home, host, secret = f"zq{user}", f"/vb{place}/zq{user}", f"xk{host}", f"wj{secret}"
    with person(home, user, "", host, API_KEY=secret):
        text = f"  {home}/x.py:1 run\nValueError: no {user} on {host} with {secret}\n  /mnt/{user}s-models/y.py:2"
        said = report.compose(Trouble("key", text), [f"Qt for {user}"]).casefold()
        assert not [mark for mark in ("zq", "xk", "wj", "vb") if mark in said]
        assert "~/x.py:1 run" in said


def test_the_last_ten_reports_are_kept_whether_seen_or_not(folder):
    written = []
    for number in range(13):
        written.append(report.write(f"{number}\n\nThe last lines of the log:\n\nold\n"))
        if number % 2:
            written[-1] = report.mark_seen(written[-1])
    assert sorted(folder.iterdir(), key=report._age) == written[-10:]
    assert report.unseen() == [path for path in written[-10:] if "new" in path.name]
    assert report.last() == "12\n"


def test_reports_of_fatal_signals_are_made_only_for_processes_that_have_ended(folder):
    """Files of living processes stay, also those that are not locked yet."""
    crashed, living, starting, ended = (folder / f"fatal-{number}.txt" for number in (1, 2, 3, 4))
    crashed.write_text(f'Fatal Python error: Aborted\n\n  File "{os.environ["HOME"]}/a.py", line 3 in run\n')
    living.write_text("Fatal Python error: not yet\n")
    for path in (starting, ended):
        path.touch()
    os.utime(ended, (time.time() - 3600,) * 2)
    with living.open("rb") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        texts = list(fatal._left_behind())
    assert texts == [f"Fatal Python error: Aborted\n\n  {os.environ['HOME']}/a.py:3 run"]
    assert sorted(folder.iterdir()) == [living, starting]


def test_a_process_that_ends_in_order_leaves_nothing(folder):
    code = (
        "import sys; from sotto.reports import fatal; fatal.begin(); print(len(list(fatal.paths.log_dir().iterdir())))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
    assert list(folder.iterdir()) == []


def test_a_log_folder_that_cannot_be_written_is_no_reason_to_fail(folder, caplog):
    folder.rmdir()
    folder.touch()
    fatal.begin()
    assert "Fatal signals cannot be noted" in caplog.text

"""One app for each data folder: who is it, and what becomes of the others."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from sotto.chats.chat_records import State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.errors import SottoError
from sotto.ui.app.start_requests import StartRequests
from sotto.ui.platform.single_instance import LONGEST, TAKEN, Show, StartRequest, enter


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def held(folder):
    instance = enter(folder, StartRequest())
    yield instance
    instance.close()


@pytest.fixture
def door(held, qapp, destroyed):
    owner = QObject()
    made = StartRequests(held.listener, owner)
    made.heard = []
    made.received.connect(made.heard.append)
    yield made
    made.close()
    destroyed(owner)


def elsewhere(folder, request, patience=10.0):
    """Come in on another thread, as another start does; return what comes of it when it is there."""
    result = []

    def come():
        try:
            result.append(enter(folder, request, patience))
        except SottoError as error:
            result.append(error)

    thread = threading.Thread(target=come)
    thread.start()
    return thread, result


def connect(folder):
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(5)
    made.connect(str(folder / "app.socket"))
    return made


def test_the_second_start_hands_over_what_it_is_for(folder, door, qtbot):
    odd = Path(os.fsdecode(b"/models/caf\xe9 \n1"))
    thread, result = elsewhere(folder, StartRequest(Show.TOGGLE, (odd, Path("here")), "proof"))
    qtbot.waitUntil(lambda: bool(door.heard))
    thread.join()
    assert result == [None]
    assert door.heard == [StartRequest(Show.TOGGLE, (odd, Path.cwd() / "here"), "proof")]


def test_starts_that_come_before_the_app_listens_wait_for_it(folder, held, qtbot, destroyed):
    coming = [elsewhere(folder, StartRequest(show)) for show in (Show.QUICK, Show.NEW_CHAT)]
    time.sleep(0.2)
    assert [result for _, result in coming] == [[], []]
    owner, heard = QObject(), []
    door = StartRequests(held.listener, owner)
    door.received.connect(heard.append)
    qtbot.waitUntil(lambda: len(heard) == 2)
    for thread, _ in coming:
        thread.join()
    door.close()
    destroyed(owner)
    assert {request.show for request in heard} == {Show.QUICK, Show.NEW_CHAT}


def test_a_socket_that_a_killed_app_left_is_taken_over(folder):
    held = enter(folder, StartRequest())
    held.listener.close()
    os.close(held._lock)
    assert (folder / "app.socket").exists()
    again = enter(folder, StartRequest())
    assert again is not None
    again.close()


def test_a_start_while_the_app_ends_becomes_the_app(folder, held, door, qtbot):
    door.close()
    thread, result = elsewhere(folder, StartRequest())
    time.sleep(0.2)
    assert result == []
    held.close()
    thread.join()
    assert result[0] is not None
    result[0].close()
    held._lock = os.open(folder, os.O_RDONLY)  # for the fixture to close


def test_an_app_that_does_not_answer_is_told_and_left_alone(folder, held):
    with pytest.raises(SottoError, match=r"data.* does not answer"):
        enter(folder, StartRequest(), patience=0.3)
    assert (folder / "app.socket").exists()


def test_only_the_person_may_come_in(folder, held):
    assert (folder / "app.socket").stat().st_mode & 0o777 == 0o600
    assert (folder / "app.lock").stat().st_mode & 0o777 == 0o600


def test_a_folder_with_a_long_name_has_room_for_the_socket(tmp_path):
    folder = tmp_path / ("long" * 30) / ("name" * 30)
    held = enter(folder, StartRequest())
    held.close()


@pytest.mark.parametrize(
    "line",
    [
        b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"version": 2}',
        b'{"version": 1, "show": "everything", "paths": [], "token": ""}',
        b'{"version": 1, "show": "quick", "paths": "a", "token": ""}',
        b'{"version": 1, "show": "quick", "paths": [1], "token": ""}',
        b'{"version": 1, "show": "quick", "paths": ["a\\u0000b"], "token": ""}',
        b'{"version": 1, "show": "quick", "paths": [], "token": null}',
    ],
)  # fmt: skip
def test_what_is_no_wish_is_refused(folder, door, qtbot, line):
    visitor = connect(folder)
    visitor.sendall(line + b"\n")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(visitor.makefile("rb").readline()))
    thread.start()
    qtbot.waitUntil(lambda: bool(answers))
    thread.join()
    visitor.close()
    assert answers[0] != TAKEN
    assert door.heard == []


def test_a_newer_app_says_so(folder, held, door, qtbot, monkeypatch):
    monkeypatch.setattr(StartRequest, "line", lambda self: json.dumps({"version": 99}).encode() + b"\n")
    thread, result = elsewhere(folder, StartRequest())
    qtbot.waitUntil(lambda: bool(result))
    thread.join()
    assert "Another version of Sotto runs already" in result[0].message


def test_whoever_says_too_much_is_turned_away(folder, door, qtbot):
    visitor = connect(folder)
    ended = []

    def pour():
        try:
            for _ in range(LONGEST // 65536 + 20):
                visitor.sendall(b"x" * 65536)
            visitor.recv(1)
        except OSError:
            pass
        ended.append(True)

    thread = threading.Thread(target=pour)
    thread.start()
    qtbot.waitUntil(lambda: bool(ended))
    thread.join()
    visitor.close()
    assert door.heard == []


def sotto(home, *arguments):
    environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
    environment |= {"HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.Popen(
        [sys.executable, "-m", "sotto", *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def answers(home):
    """Return whether an app of this home takes what others want."""
    folder = home / ".local" / "share" / "Sotto"
    return (folder / "app.socket").exists() and enter(folder, StartRequest(Show.NOTHING), 20) is None


def test_one_home_has_one_app_and_two_homes_have_two(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    running = [sotto(one, "--background"), sotto(two, "--background")]
    try:
        end = time.monotonic() + 30
        while not all(answers(home) for home in (one, two)):
            assert time.monotonic() < end
            time.sleep(0.1)
        for home in (one, two):
            later = sotto(home, "--background")
            out, err = later.communicate(timeout=30)
            assert (later.returncode, out, err) == (0, b"", b"")
        assert [app.poll() for app in running] == [None, None]
    finally:
        for app in running:
            app.terminate()
        ends = [app.communicate(timeout=30) for app in running]
    # Neither of them lost what it was about when the others came.
    assert [app.returncode for app in running] == [0, 0]
    assert all(b"Traceback" not in err for _, err in ends)


def test_a_start_that_hands_over_imports_nothing_of_qt(tmp_path):
    app = sotto(tmp_path, "--background")
    try:
        end = time.monotonic() + 30
        while not answers(tmp_path):
            assert time.monotonic() < end
            time.sleep(0.1)
        code = (
            "import sys\n"
            "from sotto.cli.main import main\n"
            "status = main(['--background'])\n"
            "late = 'PySide6', 'sotto.ui.window.main_window'\n"
            "print(status, [name for name in sys.modules if name.startswith(late)])\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
            | {"HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
        assert (done.stdout.strip(), done.stderr) == ("0 []", "")
    finally:
        app.terminate()
        app.communicate(timeout=30)


def test_a_second_start_leaves_answers_that_are_being_written_alone(tmp_path):
    database = Database(tmp_path / ".local" / "share" / "Sotto" / "chats.sqlite3")
    store = ChatStore(database)
    chat = store.add_chat()
    store.begin_answer(store.ask(chat, "Short?", None), "model")
    running = sotto(tmp_path, "--background")
    try:
        end = time.monotonic() + 30
        while not answers(tmp_path):
            assert time.monotonic() < end
            time.sleep(0.1)
        # The app opens the chats when it is first shown, and then ends the answers of one that crashed.
        assert sotto(tmp_path, "--toggle").communicate(timeout=30) == (b"", b"")
        while store.branch(chat).turns[-1].state is State.STREAMING:
            assert time.monotonic() < end
            time.sleep(0.1)
        answer = store.begin_answer(store.ask(chat, "Long?", None), "model")
        for arguments in (["--background"], ["--toggle"]):
            assert sotto(tmp_path, *arguments).communicate(timeout=30) == (b"", b"")
        assert store.branch(chat).turns[-1].state is State.STREAMING
        store.end_answer(answer, "Done.", State.COMPLETE)
        database.close()
    finally:
        running.terminate()
        running.communicate(timeout=30)

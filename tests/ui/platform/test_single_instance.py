"""One app instance for each data folder, and how later starts hand over their requests."""

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
def receiver(held, qapp, destroyed):
    owner = QObject()
    made = StartRequests(held.listener, owner)
    made.requests = []
    made.received.connect(made.requests.append)
    yield made
    made.close()
    destroyed(owner)


def enter_on_thread(folder, request, patience=10.0):
    """Enter from another thread, as another start would; return the thread and a list that receives the result."""
    result = []

    def try_to_enter():
        try:
            result.append(enter(folder, request, patience))
        except SottoError as error:
            result.append(error)

    thread = threading.Thread(target=try_to_enter)
    thread.start()
    return thread, result


def connect(folder):
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(5)
    made.connect(str(folder / "app.socket"))
    return made


def test_the_second_start_hands_over_its_request(folder, receiver, qtbot):
    odd = Path(os.fsdecode(b"/models/caf\xe9 \n1"))
    thread, result = enter_on_thread(folder, StartRequest(Show.TOGGLE, (odd, Path("here")), "proof", "sotto://model/ä"))
    qtbot.waitUntil(lambda: bool(receiver.requests))
    thread.join()
    assert result == [None]
    assert receiver.requests == [StartRequest(Show.TOGGLE, (odd, Path.cwd() / "here"), "proof", "sotto://model/ä")]


def test_starts_before_the_app_listens_wait_for_it(folder, held, qtbot, destroyed):
    starts = [enter_on_thread(folder, StartRequest(show)) for show in (Show.QUICK, Show.NEW_CHAT)]
    time.sleep(0.2)
    assert [result for _, result in starts] == [[], []]
    owner, requests = QObject(), []
    receiver = StartRequests(held.listener, owner)
    receiver.received.connect(requests.append)
    qtbot.waitUntil(lambda: len(requests) == 2)
    for thread, _ in starts:
        thread.join()
    receiver.close()
    destroyed(owner)
    assert {request.show for request in requests} == {Show.QUICK, Show.NEW_CHAT}


def test_a_socket_that_a_killed_app_left_is_taken_over(folder):
    held = enter(folder, StartRequest())
    held.listener.close()
    os.close(held.lock)
    assert (folder / "app.socket").exists()
    again = enter(folder, StartRequest())
    assert again is not None
    again.close()


def test_a_start_while_the_app_ends_becomes_the_app(folder, held, receiver, qtbot):
    receiver.close()
    thread, result = enter_on_thread(folder, StartRequest())
    time.sleep(0.2)
    assert result == []
    held.close()
    thread.join()
    assert result[0] is not None
    result[0].close()
    held.lock = os.open(folder, os.O_RDONLY)  # the fixture closes this


def test_an_app_that_does_not_answer_is_reported_and_left_alone(folder, held):
    with pytest.raises(SottoError, match=r"data.* does not answer"):
        enter(folder, StartRequest(), patience=0.3)
    assert (folder / "app.socket").exists()


def test_only_the_owner_can_connect(folder, held):
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
def test_an_invalid_request_is_refused(folder, receiver, qtbot, line):
    client = connect(folder)
    client.sendall(line + b"\n")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(client.makefile("rb").readline()))
    thread.start()
    qtbot.waitUntil(lambda: bool(answers))
    thread.join()
    client.close()
    assert answers[0] != TAKEN
    assert receiver.requests == []


def test_another_version_is_reported(folder, held, receiver, qtbot, monkeypatch):
    monkeypatch.setattr(StartRequest, "line", lambda self: json.dumps({"version": 99}).encode() + b"\n")
    thread, result = enter_on_thread(folder, StartRequest())
    qtbot.waitUntil(lambda: bool(result))
    thread.join()
    assert "Another version of Sotto is already running" in result[0].message


def test_an_oversized_request_is_refused(folder, receiver, qtbot):
    client = connect(folder)
    ended = []

    def send_too_much():
        try:
            for _ in range(LONGEST // 65536 + 20):
                client.sendall(b"x" * 65536)
            client.recv(1)
        except OSError:
            pass
        ended.append(True)

    thread = threading.Thread(target=send_too_much)
    thread.start()
    qtbot.waitUntil(lambda: bool(ended))
    thread.join()
    client.close()
    assert receiver.requests == []


def sotto(home, *arguments):
    environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
    environment |= {"HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.Popen(
        [sys.executable, "-m", "sotto", *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def answers(home):
    """Return whether an app of this home accepts requests of other starts."""
    folder = home / ".local" / "share" / "Sotto"
    return (folder / "app.socket").exists() and enter(folder, StartRequest(Show.NOTHING), 20) is None


def test_one_home_has_one_app_and_two_homes_have_two(tmp_path):
    first, second = tmp_path / "one", tmp_path / "two"
    first.mkdir()
    second.mkdir()
    running = [sotto(first, "--background"), sotto(second, "--background")]
    try:
        end = time.monotonic() + 30
        while not all(answers(home) for home in (first, second)):
            assert time.monotonic() < end
            time.sleep(0.1)
        for home in (first, second):
            later = sotto(home, "--background")
            out, err = later.communicate(timeout=30)
            assert (later.returncode, out, err) == (0, b"", b"")
        assert [app.poll() for app in running] == [None, None]
    finally:
        for app in running:
            app.terminate()
        outputs = [app.communicate(timeout=30) for app in running]
    # The later starts disturbed neither app.
    assert [app.returncode for app in running] == [0, 0]
    assert all(b"Traceback" not in err for _, err in outputs)


def test_a_start_that_hands_over_does_not_import_qt(tmp_path):
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
        # The app opens its chats when it is first shown, and then ends the answers that a crash interrupted.
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

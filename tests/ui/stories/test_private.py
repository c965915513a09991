"""Files that a session of the real app writes are accessible only to their owner."""

import contextlib
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from places import TESTS
from sotto.chats.database import Database
from sotto.paths import cache_dir, config_dir, data_dir, make_folder, state_dir
from sotto.store.atomic_writing import write_atomically
from sotto.ui.platform.single_instance import StartRequest, enter

OLDER = TESTS / "chats" / "versions" / "1.sql"

SESSION = """
import os, signal, sys
os.umask(int(sys.argv[1], 8))
signal.alarm(60)
from pathlib import Path
from PySide6.QtCore import QTimer
import sotto.ui.app.app as app
from sotto.paths import data_dir
from sotto.ui.transfer.chat_exporting import Form
from sotto.ui.platform.single_instance import StartRequest, enter
from sotto.ui.state.model_state import Phase
done = set()
def step():
    application = app.QApplication.instance()
    window = next(widget for widget in application.topLevelWidgets() if isinstance(widget, app.MainWindow))
    exporting, model = window.chat_files.exporting, window.session.state
    if model.phase is Phase.READY and not window.current.session.turns and "asked" not in done:
        done.add("asked")
        window.send("Tell me about rice, and about the kitchen that it is boiled in. " * 20)
    turns = window.current.session.turns
    whole = len(turns) == 2 and turns[1].text and window.chat.transcript.answer is None
    if whole and "written" not in done:
        done.add("written")
        exporting.exported.connect(lambda path: done.add(path.suffix))
        exporting.export_all(data_dir() / "all.json")
        exporting.export(window.current.session.chat, Form.PDF, data_dir() / "one.pdf")
        window.presets.save("Brief", "Be brief.", {})
        window.preferences.change(zoom=1.1, api_key="s3cret")
    if {".json", ".pdf"} <= done and "told" not in done:
        done.add("told")
        QTimer.singleShot(1000, lambda: print("now", flush=True))
painted = app.show_window
def paint(window):
    painted(window)
    window.ticks = QTimer(window, interval=50)
    window.ticks.timeout.connect(step)
    window.ticks.start()
app.show_window = paint
sys.exit(app.run(StartRequest(), enter(data_dir(), StartRequest())))
"""


@pytest.fixture
def home(own_home, monkeypatch):
    """Return a home in which all of Sotto's files of one kind are in one folder, as on any machine."""
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(own_home / name.lower()))
    return own_home


def roots():
    return [root for root in (data_dir(), cache_dir(), config_dir(), state_dir()) if root.exists()]


def open_to_others(*folders):
    """Return the entries of some folders that anybody but the owner could read, write or enter."""
    found = []
    for root in folders:
        for path in (root, *root.rglob("*")):
            # Files of an open database may disappear meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if path.lstat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                    found.append((str(path.relative_to(root.parent)), stat.filemode(path.lstat().st_mode)))
    return found


def older_chats(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(OLDER.read_text(encoding="utf-8"))
        connection.commit()


def damaged_chats(path):
    Path(f"{path}-wal").write_bytes(b"nothing")
    path.write_bytes(b"SQLite format 3\x00" + b"?" * 5000)


@pytest.mark.parametrize(
    ("umask", "host", "before", "aside"),
    [("022", "thread", older_chats, "chats.version-1.sqlite3"), ("000", "process", damaged_chats, "chats.damaged-*")],
)
def test_nobody_else_can_read_the_files_of_a_session(home, umask, host, before, aside):
    data, config = data_dir(), config_dir()
    for folder in (data, config, cache_dir() / "prefixes" / "old"):
        folder.mkdir(parents=True)
        folder.chmod(0o755)
    before(data / "chats.sqlite3")
    (config / "app.json").write_text("{}")
    (config / "engine.json").write_text(json.dumps({"disk_budget": 1 << 30}))
    for path in (*data.iterdir(), *config.iterdir()):
        path.chmod(0o644)
    app = subprocess.Popen(
        [sys.executable, "-c", SESSION, umask],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen", "SOTTO_ENGINE_HOST": host},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = app.stdout.readline()
        names = {path.name for path in data.iterdir()}
        during = open_to_others(*roots())
    finally:
        app.send_signal(signal.SIGTERM)
        _, errors = app.communicate(timeout=60)
    assert (line, app.returncode) == ("now\n", 0), errors
    assert {"chats.sqlite3", "chats.sqlite3-wal", "chats.sqlite3-shm", "app.socket", "app.lock"} <= names
    assert {"all.json", "one.pdf"} <= names
    assert during == []
    assert open_to_others(*roots()) == []
    # Check that the session really wrote these files.
    assert list(data.glob(aside))
    assert "Be brief." in (config / "presets.json").read_text()
    assert json.loads((config / "app.json").read_text())["api_key"] == "s3cret"
    assert list((cache_dir() / "prefixes").rglob("*.safetensors*"))


@pytest.fixture(params=[0o022, 0o000])
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


def test_an_existing_folder_is_made_private_on_entry(tmp_path, umask):
    folder = tmp_path / "deep" / "data"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    enter(folder, StartRequest()).close()
    assert open_to_others(folder) == []


def test_a_chat_database_is_made_private_with_its_side_files(tmp_path, umask):
    path = tmp_path / "data" / "chats.sqlite3"
    path.parent.mkdir(mode=0o755)
    older_chats(path)
    database = Database(path)
    database.connection.execute("CREATE TABLE more (id)")
    assert len(list(path.parent.iterdir())) == 4
    assert open_to_others(path.parent) == []
    database.close()
    old = path.with_name("chats.damaged-0123456789ab.sqlite3")
    old.write_bytes(b"")
    old.chmod(0o644)
    damaged_chats(path)
    Database(path).close()
    assert len(list(path.parent.glob("chats.damaged-*.sqlite3"))) == 2
    assert open_to_others(path.parent) == []


def test_folders_of_the_person_keep_their_modes(home, umask):
    folder = home / "Documents"
    folder.mkdir()
    folder.chmod(0o755)
    write_atomically(folder / "new" / "chats.json", "{}")
    assert open_to_others(folder) == [("Documents", "drwxr-xr-x")]


def test_models_keep_their_modes_in_a_private_folder(home, umask):
    blob = data_dir() / "models" / "blobs" / "sha256-0"
    blob.parent.mkdir(parents=True)
    blob.write_bytes(b"weights")
    blob.chmod(0o644)
    (data_dir() / "link").symlink_to(home)
    home.chmod(0o755)
    make_folder(data_dir() / "models" / "staging")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (data_dir(), data_dir() / "models", blob, home)]
    assert modes == [0o700, 0o700, 0o644, 0o755]


def test_a_folder_that_cannot_be_made_private_is_logged_and_used(tmp_path, monkeypatch, caplog):
    def refuse(path, mode):
        if path == tmp_path:
            raise PermissionError(1, "Operation not permitted")
        change(path, mode)

    tmp_path.chmod(0o755)
    change = Path.chmod
    monkeypatch.setattr(Path, "chmod", refuse)
    enter(tmp_path, StartRequest()).close()
    assert f"{tmp_path} cannot be closed to other users: Operation not permitted" in caplog.text

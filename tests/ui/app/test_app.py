"""Starting and ending the application, and files that the system asks it to open."""

import os
import shutil
import socket
import subprocess
import sys

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from scripted_loop import record
from sotto.paths import resources_dir
from sotto.ui.state.model_state import Phase
from thoroughness import some


def child(code, arguments=(), **environment):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_nothing_heavy_is_imported_before_the_window_is_painted():
    finished = child(
        "import sys\n"
        "import sotto.ui.app.app as app\n"
        "from sotto.ui.session.session import Session\n"
        "application = app.Application(['sotto'])\n"
        "thread = app.EngineThread()\n"
        "from pathlib import Path\n"
        "preferences = app.PreferenceStore(Path('app.json'))\n"
        "app.apply_appearance(preferences)\n"
        "shell = app.Shell(Session(thread, preferences), app.ChatThread(Path('chats.sqlite3')), preferences)\n"
        "shell.api = app.ApiSwitch(app.ApiHost(shell.session), preferences)\n"
        "app.show_window(shell.window)\n"
        "assert shell.window.was_painted and shell.window.server.status.isVisible()\n"
        "heavy = {'mlx', 'mlx_lm', 'numpy', 'transformers', 'tokenizers', 'markdown_it', 'asyncio', 'qasync',\n"
        "         'jinja2', 'safetensors', 'psutil', 'sotto.runner.loop', 'sotto.engine.engine',\n"
        "         'sotto.store.discovery', 'sqlite3', 'concurrent.futures', 'uvicorn', 'starlette', 'pygments',\n"
        "         'ziamath', 'PySide6.QtNetwork', 'PySide6.QtDBus', 'jeepney', 'httpx', 'ssl',\n"
        "         'PySide6.QtPrintSupport', 'sotto.store.pull.queue'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    assert (finished.stdout.strip(), finished.returncode) == ("[]", 0), finished.stderr


def test_qt_keeps_a_reference_to_none(qapp):
    from sotto.ui.app.app import qt_keeps_references

    assert qt_keeps_references()


def test_a_file_opened_before_the_app_can_open_it_is_loaded_once(around, qtbot, loop, qapp, tmp_path):
    early, late = tmp_path / "early", tmp_path / "late é #1"
    around.shelf.at = {early: record("early", path=early), late: record("late", path=late)}
    QApplication.sendEvent(qapp, QFileOpenEvent(QUrl.fromLocalFile(str(early))))
    assert around.shelf.opened == []
    qapp.serve(around.shell)
    qtbot.waitUntil(lambda: around.session.state.phase is Phase.READY)
    assert around.session.state.record.name == "early"
    QApplication.sendEvent(qapp, QFileOpenEvent(QUrl.fromLocalFile(str(late))))
    qtbot.waitUntil(lambda: around.session.state.phase is Phase.READY and around.session.state.record.name == "late")
    assert around.shelf.opened == [early, late]
    assert around.shell.window.isVisible()
    qapp.shell = None


def test_arguments_are_loaded(stage, qtbot, loop, tasks, tmp_path):
    path = tmp_path / "model"
    stage.shelf.at = {path: record("given", path=path)}
    stage.session.begin(tasks, (path,))
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.session.state.record.name == "given"


RUN = """
import sys
from PySide6.QtCore import QTimer
import sotto.ui.app.app as app
def close():
    application = app.QApplication.instance()
    window = next(widget for widget in application.topLevelWidgets() if isinstance(widget, app.MainWindow))
    QTimer.singleShot({delay}, window.close)
painted = app.show_window
def paint(window):
    painted(window)
    close()
app.show_window = paint
sys.exit(app.run())
"""


OPENED = """
import sys
from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QFileOpenEvent
import sotto.ui.app.app as app
from sotto.ui.state.model_state import Phase
painted = app.show_window
def paint(window):
    application = app.QApplication.instance()
    # As the system does it: while the first events are handled, before anything has begun.
    application.sendEvent(application, QFileOpenEvent(QUrl.fromLocalFile(sys.argv[1])))
    painted(window)
    timer = QTimer(window, interval=20)
    def look():
        state = application.shell.session.state
        if state.phase is Phase.READY:
            print(state.record.name, window.isVisible(), flush=True)
            timer.stop()
            window.close()
    timer.timeout.connect(look)
    timer.start()
app.show_window = paint
sys.exit(app.run())
"""


def test_a_manifest_that_the_system_opens_while_the_app_starts_is_loaded_by_it(tmp_path):
    """Send the real app what a double-click sends on a Mac; the built-in model must not take its place."""
    shutil.copytree(resources_dir() / "store", tmp_path / "store")
    manifests = tmp_path / "store" / "manifests" / "registry.ollama.ai" / "library"
    (manifests / "sotto").rename(manifests / "dropped")
    manifest = manifests / "dropped" / "latest"
    # Another digest than that of the built-in model, with which it would be one.
    manifest.write_text(manifest.read_text() + "\n")
    finished = child(OPENED, arguments=[str(manifest)])
    assert finished.returncode == 0
    assert finished.stdout == "dropped:latest True\n"


def test_the_engine_runs_in_the_chosen_host(own_home):
    config = own_home / ".config" / "Sotto" / "app.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"engine_host": "process"}')
    watch = (
        "import sotto.ui.app.app as app\nmake = app.make_host\napp.make_host = lambda kind: print(kind) or make(kind)\n"
    )
    finished = child(watch + RUN.format(delay=600), XDG_CONFIG_HOME=str(config.parents[1]))
    assert (finished.stdout.strip(), finished.returncode, finished.stderr) == ("process", 0, "")


@pytest.mark.covering(1)
@pytest.mark.parametrize("host", ["thread", "process"])
@pytest.mark.parametrize("delay", some([0, 20, 150, 600, 1500], 3))
def test_starting_and_ending_at_any_moment_is_clean(delay, host):
    finished = child(RUN.format(delay=delay), SOTTO_ENGINE_HOST=host)
    assert (finished.returncode, finished.stderr) == (0, "")


SERVED = """
import json, sys, threading, time, urllib.request
from PySide6.QtCore import QMetaObject, Qt
import sotto.ui.app.app as app
from sotto.paths import config_dir
config_dir().mkdir(parents=True, exist_ok=True)
(config_dir() / "app.json").write_text(json.dumps({"api_enabled": True, "api_port": int(sys.argv[1])}))
painted = app.show_window
def paint(window):
    painted(window)
    threading.Thread(target=ask, args=(window,)).start()
def ask(window):
    body = {"model": "sotto", "messages": [{"role": "user", "content": "Who are you?"}]}
    request = urllib.request.Request(
        f"http://127.0.0.1:{sys.argv[1]}/v1/chat/completions", json.dumps(body).encode()
    )
    for _ in range(200):
        time.sleep(0.05)
        try:
            answer = json.loads(urllib.request.urlopen(request, timeout=20).read())
            print(answer["choices"][0]["message"]["content"], flush=True)
            break
        except OSError:
            pass
    QMetaObject.invokeMethod(window, "close", Qt.ConnectionType.QueuedConnection)
app.show_window = paint
sys.argv = sys.argv[:2]
sys.exit(app.run())
"""


def test_the_api_listens_on_the_chosen_port(own_home):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    finished = child(SERVED, arguments=[str(port)])
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "Sotto" in finished.stdout

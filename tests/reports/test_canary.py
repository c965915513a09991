"""What people write is in no file of the log folder and not on stderr, also where answering it fails."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.slow

CANARY = "canary4711"
SENTENCE = f"Tell me about {CANARY}, please."
KEY = "key-canary4711"


def requests() -> list[tuple[str, object]]:
    """Return requests in every dialect, right ones and wrong ones."""
    messages = [{"role": "user", "content": SENTENCE}]
    short = {"model": "sotto", "stream": False}
    return [
        ("/api/chat", short | {"messages": messages, "options": {"num_predict": 8}}),
        ("/api/generate", short | {"prompt": SENTENCE, "options": {"num_predict": 8}}),
        ("/api/generate", short | {"prompt": SENTENCE, "template": f"{{{{ .{CANARY} }}}} {{{{ if }}}}"}),
        ("/api/generate", short | {"prompt": SENTENCE, "options": {"num_predict": CANARY}}),
        ("/api/embed", {"model": "sotto", "input": [SENTENCE, 7]}),
        ("/v1/chat/completions", short | {"messages": messages, "max_tokens": 8}),
        ("/v1/chat/completions", short | {"messages": messages, "stream": True, "max_tokens": 8}),
        ("/v1/chat/completions", short | {"messages": [{"role": CANARY, "content": SENTENCE}]}),
        ("/v1/chat/completions", short | {"messages": messages, "response_format": {"type": CANARY}}),
        ("/v1/completions", short | {"prompt": SENTENCE, "max_tokens": 8, "stop": [CANARY] * 50}),
        ("/v1/responses", short | {"input": SENTENCE, "max_output_tokens": 8}),
        ("/v1/embeddings", {"model": f"{CANARY}:none", "input": SENTENCE}),
        ("/v1/messages", short | {"messages": messages, "max_tokens": 8}),
        ("/v1/messages/count_tokens", {"model": "sotto", "messages": messages}),
        ("/v1/messages", short | {"messages": SENTENCE, "max_tokens": 8}),
        ("/infill", {"input_prefix": SENTENCE, "input_suffix": "", "n_predict": 4}),
        (f"/api/{CANARY}?question={CANARY}", {}),
        ("/api/chat", f'{{"model": "sotto", "messages": [{{"content": "{SENTENCE}'),
    ]


def log_folder(home: Path) -> Path:
    return home / ("Library/Logs/Sotto" if sys.platform == "darwin" else ".local/state/Sotto/log")


def ask(address: str, path: str, body: object, key: str = KEY) -> int:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(address + path, data, headers), timeout=60) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.read()
        return error.code


# A fault in Sotto itself, with the question in its message.
FAULTY = """
import sys
from sotto.cli.main import main
if sys.argv[1] == "faulty":
    from sotto.engine.prompt import request_preparation as preparer
    prepare = preparer.Preparer.prepare
    def broken(self, request, *more, **options):
        if "please." in repr(request):
            raise ValueError("cannot prepare %r" % (request,))
        return prepare(self, request, *more, **options)
    preparer.Preparer.prepare = broken
sys.exit(main(["serve", "--port", "0", "--key", sys.argv[2]]))
"""


@pytest.mark.parametrize(("host", "kind"), [("thread", "sound"), ("thread", "faulty"), ("process", "sound")])
def test_no_question_to_the_api_is_in_the_logs(host: str, kind: str, tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "SOTTO_ENGINE_HOST": host}
    environment.pop("XDG_STATE_HOME", None)
    command = [sys.executable, "-c", FAULTY, kind, KEY]
    with (tmp_path / "stderr").open("w") as errors:
        server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert server.stdout is not None
        (address,) = re.findall(r"http://\S+", server.stdout.readline())
        statuses = {ask(address, path, body) for path, body in requests()}
        statuses.add(ask(address, *requests()[0], key="wrong"))
        assert {200, 400, 401, 404} - ({200} if kind == "faulty" else set()) <= statuses
        if host == "process":
            # The engine's process crashes, and is started again.
            (engine,) = psutil.Process(server.pid).children()
            engine.send_signal(signal.SIGSEGV)
            time.sleep(0.5)
            assert ask(address, *requests()[0]) == 200
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=30)
        assert server.returncode == 0
    texts = {path.name: path.read_text() for path in log_folder(tmp_path).iterdir()} | {
        "stderr": (tmp_path / "stderr").read_text()
    }
    assert set(texts) == {"sotto.log", "stderr"}
    assert "begins" in texts["sotto.log"]
    if kind == "faulty":
        assert "ValueError: cannot prepare GenerateRequest(" in texts["sotto.log"]
    if host == "process":
        assert "SIGSEGV" in texts["sotto.log"]
    for name, text in texts.items():
        assert CANARY not in text, name
        assert str(tmp_path) not in text, name


WINDOW = """
import sys
from PySide6.QtCore import QTimer
import sotto.ui.app.app as app
question = sys.argv[1]
painted = app.show_window
def paint(window):
    painted(window)
    def look():
        session = window.current.session
        if window.session.state.phase.name == "READY" and not session.turns:
            window.send(question)
        elif len(session.turns) > 1 and not session.busy:
            timer.stop()
            QTimer.singleShot(0, broken)
            QTimer.singleShot(200, window.quit_wanted.emit)
    def broken():
        raise ValueError("%r in a slot" % question)
    timer = QTimer(window, interval=20)
    timer.timeout.connect(look)
    timer.start()
app.show_window = paint
sys.exit(app.run())
"""


def test_no_question_in_the_window_is_in_the_logs(tmp_path: Path) -> None:
    settings = tmp_path / ".config" / "Sotto"
    settings.mkdir(parents=True)
    (settings / "app.json").write_text(json.dumps({"api_key": [CANARY], "api_port": CANARY, "theme": CANARY}))
    (settings / "presets.json").write_text(json.dumps({"presets": [{"name": 7, "system": SENTENCE}, SENTENCE]}))
    environment = {**os.environ, "HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen", "SOTTO_ENGINE_HOST": "thread"}
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", WINDOW, SENTENCE], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    texts = {path.name: path.read_text() for path in log_folder(tmp_path).iterdir()} | {"stderr": done.stderr}
    assert len(texts) == 3
    assert "a preset that makes no sense" in texts["sotto.log"]
    assert "api_port in ~/.config/Sotto/app.json must be" in texts["sotto.log"]
    assert "ValueError: … in a slot" in texts["sotto.log"]
    for name, text in texts.items():
        assert CANARY not in text, name
        assert str(tmp_path) not in text, name

"""The window: its start-up time, and the lateness of its timer while the engine works, each in a separate process."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench_models import Models
from fresh_home import fresh_home
from rows import Row, at_most

HERE = Path(__file__).resolve().parent / "ui"


def startup_rows(*, quick: bool) -> Iterator[Row]:
    """Compare the start-up time of the app with that of an empty window."""
    rounds = 2 if quick else 7
    empty = min(_child("ui_startup.py", str(time.time()), "empty")["paint"] for _ in range(rounds))
    marks = [_child("ui_startup.py", str(time.time())) for _ in range(rounds)]
    for name, title, limit in (("paint", "first paint", 5.0), ("token", "first token of the greeting", None)):
        seconds = min(mark[name] for mark in marks)
        detail = f"{seconds * 1e3:.0f} ms, empty window {empty * 1e3:.0f} ms"
        yield at_most(f"app: start to {title} / empty Qt window", seconds / empty, limit, detail)


def lateness_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Measure the lateness of the window's timer while the engine works, on a thread and in a separate process."""
    model = models.get("smollm2-135m", "4bit")
    for host, where in (("thread", "with the engine on a thread"), ("process", "with the engine in its own process")):
        found = _child("ui_lateness.py", "--host", host, str(model.folder), "64" if quick else "512")
        for index, name in enumerate(("p50", "p99", "max")):
            detail = f"idle {found['idle'][index]:.2f} ms; {found['ticks']} ticks, {found['rate']:.1f} tok/s"
            limit = 16.0 if name == "p99" else None
            title = f"{model.name}: lateness of a 16 ms timer {where}, {name}"
            yield at_most(title, found["busy"][index], limit, detail, unit="ms")


def chat_rows(*, quick: bool) -> Iterator[Row]:
    """Measure how the window copes with long chats, with many chats, and with a long answer that streams fast."""
    messages, chats, length = (200, 20, 24_000) if quick else (1000, 200, 100_000)
    with tempfile.TemporaryDirectory() as folder:
        found = _child("ui_chats.py", folder, str(messages), str(chats))
    middle = found["open"][len(found["open"]) // 2]
    detail = f"{len(found['open'])} times, {found['open'][0]:.0f} to {found['open'][-1]:.0f} ms"
    title = f"app: opening a chat of {messages} messages, from the click to the paint"
    yield at_most(title, middle, 300.0, detail, unit="ms")
    for name, late in zip(("p50", "p99", "max"), found["scroll"], strict=True):
        title = f"app: lateness of a 16 ms timer while the whole chat is scrolled, {name}"
        yield at_most(title, late, 16.0 if name == "p99" else None, f"{found['ticks']} ticks", unit="ms")
    few, many = found["memory"]
    detail = f"{few / 1e6:.0f} and {many / 1e6:.0f} MB"
    yield at_most(f"app: memory after {chats} chats were opened / after {chats // 10}", many / few, 1.1, detail)
    with tempfile.TemporaryDirectory() as folder:
        found = _child("ui_stream.py", folder, str(length))
    first, last = found["cost"]
    detail = f"{first:.0f} and {last:.0f} us per character, window's thread busy {found['share']:.0%}"
    yield at_most(f"app: cost per character at {length:,} / in the first 10,000", last / first, 1.5, detail)
    for name, late in zip(("p50", "p99", "max"), found["late"], strict=True):
        title = f"app: lateness of a 16 ms timer during 200 tok/s of Markdown, {length:,} characters, {name}"
        yield at_most(title, late, {"p99": 16.0, "max": 50.0}.get(name), unit="ms")


def _child(script: str, *arguments: str) -> dict[str, Any]:
    """Run a script in the folder `ui` with its own home and without a screen; return the JSON of its last line."""
    with tempfile.TemporaryDirectory() as home:
        environment = fresh_home(home) | {"QT_QPA_PLATFORM": "offscreen"}
        command = [sys.executable, str(HERE / script), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{script} failed: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])

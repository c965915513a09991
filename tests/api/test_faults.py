"""Faults during requests over HTTP: the requests concerned end with an error message, and others are not affected."""

import json
import os
import signal
import socket
import struct
import threading
import time
from contextlib import closing

import httpx
import psutil
import pytest

from sotto.api.server import Address, ApiServer
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import LoadProgress, PrefillProgress, TextChunk
from sotto.runner.catalogue import catalogue
from sotto.runner.isolated.process import RunnerProcess
from sotto.runner.loop_host import LoopHost
from thoroughness import some

CHAT = {"model": "sotto", "messages": [{"role": "user", "content": "Tell me a story"}], "stream": False}
# The temperature is so high that the answer continues until the context is full, which takes seconds.
ENDLESS = {
    "model": "sotto",
    "prompt": "Once",
    "raw": True,
    "options": {"num_predict": 4000, "temperature": 5.0, "top_k": 0, "top_p": 1.0, "seed": 4},
}
# Computing this prompt takes some hundred milliseconds.
LONG = ENDLESS | {"prompt": "a story about it " * 700}
# Requests that run at the same time.
TOGETHER = 8
KILLED = "The engine's process was ended by SIGKILL (Killed): systems do that when memory runs out."


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Children:
    """The processes in which a host's engines have run. `kill_at` kills the latest one.

    Attributes:
        made: The processes, the latest one last.
        begun: The requests whose answers have begun since `kill_at`.
    """

    def __init__(self, root):
        self.made = []
        self.begun = set()
        self._settings = EngineSettings(disk_root=root, disk_budget=1 << 30)
        self._kind, self._requests, self._seen = (), 0, set()

    def kill_at(self, kind, requests):
        """Kill the process once this many requests have had events of a kind."""
        self._kind, self._requests, self._seen, self.begun = kind, requests, set(), set()

    def make(self, emit):
        def kill_and_emit(event):
            if isinstance(event, TextChunk):
                self.begun.add(event.request_id)
            if isinstance(event, self._kind):
                self._seen.add(getattr(event, "request_id", ""))
                if len(self._seen) == self._requests:
                    self._kind = ()
                    os.kill(self.made[-1].pid, signal.SIGKILL)
            emit(event)

        self.made.append(RunnerProcess(kill_and_emit, self._settings))
        return self.made[-1]


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    return tmp_path_factory.mktemp("disk")


@pytest.fixture(scope="module")
def children(disk):
    return Children(disk)


@pytest.fixture(scope="module")
def client(own_home, children):
    """Yield a client of a server whose engine runs in a separate process."""
    host = LoopHost(make_loop=children.make, models=lambda: catalogue().records)
    server = ApiServer(host, Address("127.0.0.1", 0))
    server.start()
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client
    assert server.stop()
    assert host.close()


def ends_of(client, bodies):
    """Request several streams at once; return the status and the last line of each."""
    ends = []

    def ask(body):
        with httpx.stream("POST", f"{client.base_url}/api/generate", json=body, timeout=60) as answer:
            ends.append((answer.status_code, json.loads(list(answer.iter_lines())[-1])))

    threads = [threading.Thread(target=ask, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ends


@pytest.mark.one_in(2)
@pytest.mark.parametrize("moment", some([LoadProgress, PrefillProgress, TextChunk], 2))
def test_a_killed_engine_fails_its_requests_with_a_message(client, children, moment):
    assert client.post("/api/chat", json=CHAT).status_code == 200
    if moment is LoadProgress:
        assert client.post("/api/generate", json={"model": "sotto", "keep_alive": 0}).status_code == 200
    count, before = 1 if moment is LoadProgress else TOGETHER, len(children.made)
    children.kill_at(moment, count)
    request = ENDLESS if moment is TextChunk else LONG
    # The beginnings differ, because a prompt would wait for another one that computes their common prefix.
    ends = ends_of(client, [request | {"prompt": f"{number} {request['prompt']}"} for number in range(count)])
    assert [end.get("error") for _, end in ends] == [KILLED] * count
    # An answer that had begun has already sent its status. Some begin before the last prompt, if that comes late.
    statuses = sorted(status for status, _ in ends)
    assert set(statuses) <= {200, 500}
    assert statuses.count(200) <= len(children.begun)
    assert moment is TextChunk or statuses[-1] == 500
    assert client.get("/api/version").status_code == 200
    wait_until(lambda: client.post("/api/chat", json=CHAT).status_code == 200)
    assert len(children.made) == before + 1


def reset(connection):
    """Reset a connection, as a machine does after a reboot."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def half_close(connection):
    """Close the sending side of a connection, which can still be read."""
    connection.shutdown(socket.SHUT_WR)


def read_all(connection):
    """Return everything that the server sends until it closes the connection."""
    received = b""
    while piece := connection.recv(1 << 16):
        received += piece
    return received


@pytest.mark.one_in(3)
@pytest.mark.parametrize("leave", [reset, half_close, socket.socket.close])
@pytest.mark.parametrize("asked", [LONG, ENDLESS | {"stream": False}, ENDLESS], ids=["reading", "whole", "stream"])
def test_disconnecting_ends_the_answer_and_affects_no_other_request(served, caplog, leave, asked):
    expected = served.http.post("/api/chat", json=CHAT).json()["message"]
    body = json.dumps(asked).encode()
    head = f"POST /api/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    address, port = served.url.removeprefix("http://").rsplit(":", 1)
    with closing(socket.create_connection((address, int(port)), timeout=20)) as connection:
        connection.sendall(head + body)
        wait_until(lambda: served.host._answering)
        if asked is ENDLESS:
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
        leave(connection)
        assert served.http.post("/api/chat", json=CHAT).json()["message"] == expected
        wait_until(lambda: not served.host._answering)
        if leave is half_close:
            received = read_all(connection)
            assert b'"done":true' not in received
            assert b'{"error":"The client closed its side of the connection before the answer was complete' in received
            assert received.startswith(b"HTTP/1.1 400") == (asked is not ENDLESS)
            assert received.endswith(b"0\r\n\r\n" if asked is ENDLESS else b"}")
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


def entries(disk):
    return [path for path in disk.rglob("*.safetensors*") if path.stat().st_size]


def test_answers_survive_a_full_disk(client, children, disk):
    request = CHAT | {"messages": [{"role": "user", "content": "Tell me a story about it. " * 60}]}
    last_request = request | {"keep_alive": 0}

    def unloaded():
        return children.made[-1].pid is None

    assert client.post("/api/chat", json=CHAT).status_code == 200
    for path in entries(disk):
        path.unlink()
    # From now on files cannot exceed this size, so writing fails as on a full disk.
    psutil.Process(children.made[-1].pid).rlimit(psutil.RLIMIT_FSIZE, (4096, 4096))
    texts = [
        client.post("/api/chat", json=each).json()["message"]["content"] for each in (request, request, last_request)
    ]
    wait_until(unloaded)
    assert entries(disk) == []
    again = client.post("/api/chat", json=last_request).json()
    wait_until(unloaded)
    assert {*texts, again["message"]["content"]} == {texts[0]}
    assert texts[0]
    assert entries(disk)

"""Many idle or slow connections do not keep other requests from being answered."""

import json
import resource
import select
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress

import httpx
import pytest

from raw_http import address_of, send_raw
from sotto.runner.serving.doorway import Doorway

# The temperature is so high that the answer continues for thousands of tokens, which take seconds.
HOT = {"num_predict": 3000, "temperature": 5.0, "top_k": 0, "top_p": 1.0, "seed": 4}
RAW = {"model": "sotto", "prompt": "Once", "raw": True, "options": HOT}
HEAD = b"POST /api/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def has_ended(connection):
    """Return whether the other side has ended a connection."""
    if not select.select([connection], [], [], 0)[0]:
        return False
    with suppress(ConnectionResetError):
        return connection.recv(1 << 16) == b""
    return True


@pytest.fixture
def few(serve, monkeypatch):
    """Return a server that allows only a few connections, and its doorway."""
    doorway = Doorway(16)
    monkeypatch.setattr("sotto.api.server.Doorway", lambda: doorway)
    return serve(), doorway


def test_the_oldest_idle_connections_are_closed(few):
    served, doorway = few
    with ExitStack() as strangers:
        connections = [
            strangers.enter_context(socket.create_connection(address_of(served.url), timeout=20)) for _ in range(40)
        ]
        wait_until(lambda: sum(map(has_ended, connections)) >= 40 - doorway.heads_each)
        assert not has_ended(connections[-1])
        connections[-1].sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connections[-1].recv(12) == b"HTTP/1.1 200"
        # A connection whose request has been answered is idle again.
        connections += [
            strangers.enter_context(socket.create_connection(address_of(served.url), timeout=20)) for _ in range(40)
        ]
        wait_until(lambda: has_ended(connections[39]))


def test_slow_requests_make_way_for_complete_ones(few):
    served, doorway = few
    with ExitStack() as strangers:
        slow = []
        for number in range(doorway.requests):
            slow.append(strangers.enter_context(socket.create_connection(address_of(served.url), timeout=20)))
            slow[-1].sendall(HEAD + b"{")
            wait_until(lambda: len(doorway._reading) == number + 1)  # noqa: B023
        assert httpx.get(served.url).status_code == 200
        wait_until(lambda: has_ended(slow[0]))
        assert not any(has_ended(connection) for connection in slow[1:])


def test_one_request_too_many_is_refused_as_busy(few):
    served, doorway = few
    body = json.dumps(RAW).encode()
    head = f"POST /api/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with ExitStack() as answers:
        for number in range(doorway.requests):
            answer = answers.enter_context(socket.create_connection(address_of(served.url), timeout=20))
            answer.sendall(head + body)
            wait_until(lambda: len(doorway._whole) == number + 1)  # noqa: B023
        for path, keys in (("/api/tags", ("error",)), ("/v1/models", ("error", "message"))):
            answer = httpx.get(served.url + path)
            body = answer.json()
            for name in keys:
                body = body[name]
            assert (answer.status_code, "server busy" in body) == (503, True)
    wait_until(lambda: httpx.get(served.url).status_code == 200)


def _with_few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def test_more_unfinished_heads_than_descriptors_block_no_request(own_home):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    line = [sys.executable, "-m", "sotto", "serve", "--port", str(port)]
    server = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_with_few_descriptors
    )
    url = f"http://127.0.0.1:{port}"
    body = RAW | {"options": HOT | {"num_predict": 30}}
    try:
        assert "Listening on" in server.stdout.readline()
        alone = httpx.post(f"{url}/api/generate", json=body | {"stream": False}, timeout=60).json()["response"]
        with ExitStack() as strangers:
            for number in range(300):
                stranger = strangers.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
                with suppress(ConnectionResetError, BrokenPipeError):
                    stranger.sendall(b"POST /api/generate HTTP/1.1\r\nHost: loc"[: number % 40])
            answer = httpx.post(f"{url}/api/generate", json=body, timeout=20)
            # Open more connections in the middle of an answer.
            assert "".join(json.loads(line)["response"] for line in answer.iter_lines()) == alone
            with httpx.stream("POST", f"{url}/api/generate", json=RAW, timeout=20) as long:
                lines = long.iter_lines()
                next(lines)
                for _ in range(100):
                    strangers.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
                assert [json.loads(next(lines))["done"] for _ in range(50)] == [False] * 50
            assert send_raw(url, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").endswith(
                b"Ollama is running"
            )
    finally:
        server.terminate()
        _, errors = server.communicate(timeout=30)
    assert (server.returncode, errors) == (0, "")

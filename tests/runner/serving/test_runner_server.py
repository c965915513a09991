"""The private API of an engine process, called over plain HTTP."""

import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing

import psutil
import pytest

from hosts import Host, is_a, request
from sotto.engine.contract.events import DoneReason, Embedded, Failed, Finished, Loaded, PrefillProgress, TextChunk
from sotto.engine.contract.requests import EmbedRequest
from sotto.engine.engine import Engine
from sotto.runner.catalogue import find
from sotto.runner.codec import Hello, Listening, decode, encode
from sotto.runner.commands import Embed, Generate, Load
from sotto.runner.isolated import spawned
from sotto.runner.isolated.process import RunnerProcess
from sotto.runner.loop import EngineLoop
from sotto.runner.serving.runner_server import Server
from sotto.runner.serving.switchboard import Switchboard

pytestmark = pytest.mark.slow

GREEDY = {"temperature": 0}


@pytest.fixture(scope="module")
def host():
    host = Host(RunnerProcess)
    host.loop.send(Load(find("sotto")))
    host.wait(is_a(Loaded))
    yield host
    host.close()


@pytest.fixture(scope="module")
def address(host):
    return host.loop._life.address


class Reply:
    def __init__(self, reply):
        self.status, self.headers, self.body = reply.status, reply.headers, reply.read()

    @property
    def text(self):
        return self.body.decode()

    @property
    def lines(self):
        return [json.loads(line) for line in self.body.splitlines()]


def call(address, method, path, body=None, token=None):
    port, right = address
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        sent = json.dumps(body) if isinstance(body, dict | list) else body
        connection.request(method, path, sent, {"Authorization": f"Bearer {right if token is None else token}"})
        return Reply(connection.getresponse())


@pytest.mark.parametrize("token", ["", "x", "é".encode().decode("latin-1"), "x" * 43])
@pytest.mark.parametrize(
    "path", ["status", "models", "completions", "embeddings", "tokenize", "detokenize", "session", "nothing"]
)
def test_a_wrong_token_is_refused(address, path, token):
    method = "GET" if path in ("status", "nothing") else "POST"
    assert call(address, method, f"/v1/{path}", b"", token).status == 401


def test_a_missing_token_is_refused(address):
    with closing(http.client.HTTPConnection("127.0.0.1", address[0])) as connection:
        connection.request("GET", "/v1/status")
        assert connection.getresponse().status == 401


def test_it_listens_only_on_loopback(host):
    listening = [
        connection
        for connection in psutil.Process(host.loop.pid).net_connections()
        if connection.status == psutil.CONN_LISTEN
    ]
    assert [connection.laddr.ip for connection in listening] == ["127.0.0.1"]


def test_the_status_describes_the_engine(address):
    status = json.loads(call(address, "GET", "/v1/status").body)
    assert (status["Status"], status["Progress"], status["ContextLength"]) == (0, 100, 4096)
    assert status["Memory"] > 4_000_000
    assert json.loads(call(address, "POST", "/v1/models").body) == {"Success": True}


def test_the_status_does_not_wait_for_a_step_of_the_engine(monkeypatch):
    inside, answered, ended = threading.Event(), threading.Event(), threading.Event()
    board, step = Switchboard(), Engine.step

    def held_step(engine):
        inside.set()
        assert answered.wait(20)
        return step(engine)

    def emit(event):
        board.emit(event)
        if isinstance(event, Finished | Failed):
            ended.set()

    monkeypatch.setattr(Engine, "step", held_step)
    loop, listening = EngineLoop(emit), socket.create_server(("127.0.0.1", 0))
    server = Server(loop, board, "right", listening)
    running = threading.Thread(target=loop.run)
    running.start()
    server.start()
    try:
        loop.send(Load(find("sotto")))
        loop.send(Generate(request("a", "Once upon a time")))
        assert inside.wait(20)
        # The engine is evaluating the prompt, and continues only after this response.
        status = json.loads(call((listening.getsockname()[1], "right"), "GET", "/v1/status").body)
        assert (status["Status"], status["ContextLength"]) == (0, 4096)
        assert status["Memory"] > 4_000_000
        assert not ended.is_set()
    finally:
        answered.set()
        assert ended.wait(20)
        loop.close()
        running.join(20)
        server.stop(5)


@pytest.mark.parametrize(("old", "new"), [("/health", "/v1/status"), ("/load", "/v1/models")])
def test_old_paths_are_redirected(address, old, new):
    reply = call(address, "GET", old)
    assert (reply.status, reply.headers["location"]) == (308, new)


def test_other_methods_and_paths_are_refused(address):
    assert call(address, "DELETE", "/v1/completions").status == 405
    assert call(address, "POST", "/v1/status").status == 405
    assert call(address, "GET", "/v1/nothing").status == 404


def test_a_completion_is_streamed_in_lines(host, address):
    host.loop.send(Generate(request("same", "Once upon a time", num_predict=12)))
    expected = host.ended("same")
    body = {"Prompt": "Once upon a time", "Options": {"num_predict": 12, **GREEDY}}
    reply = call(address, "POST", "/v1/completions", body)
    assert reply.headers["content-type"] == "application/jsonl"
    *lines, last = reply.lines
    assert "".join(line["Content"] for line in lines) == expected.text
    assert not any(line["Done"] for line in lines)
    assert (last["Done"], last["DoneReason"], last["Error"]) == (True, 1, None)
    assert (last["PromptEvalCount"], last["EvalCount"]) == (expected.prompt_tokens, 12)
    assert last["EvalDuration"] > 0
    assert lines[0]["Progress"]["Total"] == expected.prompt_tokens


def test_completions_take_turns_with_the_hosts_own_requests(host, address):
    host.loop.send(Generate(request("long", num_predict=2500, ignore_eos=True)))
    host.wait(lambda event: isinstance(event, TextChunk) and event.request_id == "long")
    reply = call(address, "POST", "/v1/completions", {"Prompt": "Yes", "Options": {"num_predict": 5, **GREEDY}})
    assert reply.lines[-1]["EvalCount"] == 5
    assert host.ended("long").done_reason is DoneReason.LENGTH
    assert not [event for event in host.events if getattr(event, "request_id", "").startswith("completion")]


def test_tokens_come_with_their_logprobs(address):
    body = {"Prompt": "Once upon a time", "Logprobs": True, "TopLogprobs": 2, "Options": {"num_predict": 5, **GREEDY}}
    lines = [json.loads(line) for line in call(address, "POST", "/v1/completions", body).text.splitlines()]
    entries = [entry for line in lines for entry in line["Logprobs"] or ()]
    assert len(entries) == 5
    assert "".join(entry["token"] for entry in entries) == "".join(line["Content"] for line in lines)
    for entry in entries:
        # With greedy decoding, each sampled token is the likeliest.
        assert entry["top_logprobs"][0] == {"token": entry["token"], "logprob": entry["logprob"]}
        assert 0 >= entry["logprob"] > entry["top_logprobs"][1]["logprob"]
    plain = call(address, "POST", "/v1/completions", body | {"Logprobs": False}).text
    assert all(json.loads(line)["Logprobs"] is None for line in plain.splitlines())


def close(connection):
    connection.close()


def reset(connection):
    """Reset the connection, as a machine does after a reboot."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def shut_down_sending(connection):
    """Close the sending side of the connection only."""
    connection.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("leave", [close, reset, shut_down_sending])
def test_disconnecting_cancels_the_request(host, address, leave):
    port, token = address
    body = json.dumps({"Prompt": "On and on", "Options": {"num_predict": 4000, "stop": [], **GREEDY}})
    head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    with ExitStack() as stack:
        # Four requests run at once: unless they are cancelled, the next one waits until their contexts are full.
        for _ in range(4):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
            leave(connection)
        name = f"after {leave.__name__}"
        host.loop.send(Generate(request(name)))
        assert host.ended(name).done_reason is DoneReason.LENGTH


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "Bad Request"),
        (b"{", "Bad Request"),
        (b"[" * 100_000, "Bad Request"),
        ({"Prompt": 5}, "Bad Request"),
        ({"Prompt": ""}, "empty prompt"),
        ({"Prompt": "x y " * 5000}, "exceeds the model's maximum context length"),
        ({"Prompt": "a", "Options": [1]}, "Options must be an object"),
        ({"Prompt": "a", "Options": {"temperature": "hot"}}, "temperature"),
        ({"Prompt": "a", "Media": [{"id": 1}]}, "does not support media"),
        ({"Prompt": "a", "Options": {"warp": 1}}, "Option warp is not known"),
        ({"Prompt": "a", "Logprobs": 1}, "Logprobs must be true or false."),
        ({"Prompt": "a", "Logprobs": True, "TopLogprobs": 21}, "TopLogprobs must be a whole number from 0 to 20."),
        ({"Prompt": "a", "Format": {}}, "'Format' is not a field"),
        ({"Prompt": "\ud800"}, "half of a character"),
    ],
)
def test_an_invalid_request_is_refused_before_the_first_line(address, body, told):
    reply = call(address, "POST", "/v1/completions", body)
    assert reply.status == 400
    assert told in reply.text


def test_the_vector_of_a_text(host, address):
    host.loop.send(Embed(EmbedRequest("same", ("Grüße, World", "Another"), normalise=True)))
    expected = host.wait(lambda event: isinstance(event, Embedded) and event.request_id == "same")
    answer = json.loads(call(address, "POST", "/v1/embeddings", {"content": "Grüße, World"}).body)
    assert answer["embedding"] == pytest.approx(expected.vectors[0], abs=1e-5)
    assert answer["prompt_eval_count"] == len(
        json.loads(call(address, "POST", "/v1/tokenize", "Grüße, World".encode()).body)
    )
    short = json.loads(call(address, "POST", "/v1/embeddings", {"content": "Grüße, World", "dimensions": 8}).body)
    length = sum(number**2 for number in expected.vectors[0][:8]) ** 0.5
    assert short["embedding"] == pytest.approx([number / length for number in expected.vectors[0][:8]], abs=1e-5)


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"{", 400, "Bad Request"),
        ({"content": 5}, 400, "Bad Request"),
        ({"content": ""}, 400, "An input is empty"),
        ({"content": "x y " * 5000}, 413, "exceeds the context length"),
        ({"content": "a", "dimensions": "8"}, 400, "dimensions must be a whole number"),
        ({"content": "a", "dimensions": 10**6}, 400, "dimensions is 1000000"),
        ({"content": "a", "media": [1]}, 400, "does not support media"),
        ({"content": "a", "warp": 1}, 400, "'warp' is not a field of an embedding"),
        ({"content": "\ud800"}, 400, "half of a character"),
    ],
)
def test_an_invalid_embedding_request_is_refused(address, body, status, told):
    reply = call(address, "POST", "/v1/embeddings", body)
    assert (reply.status, told in reply.text) == (status, True), reply.text


def test_texts_and_tokens(address):
    ids = json.loads(call(address, "POST", "/v1/tokenize", "Grüße, World".encode()).body)
    assert all(isinstance(token, int) for token in ids)
    assert call(address, "POST", "/v1/detokenize", ids).text.strip() == "Grüße, World"
    assert call(address, "POST", "/v1/tokenize", b"\xff").text == "The text is not UTF-8 at byte 0."
    for wrong in (b"{}", b'["a"]', b"[-1]", b"[true]", b"[1e99]", b"["):
        assert call(address, "POST", "/v1/detokenize", wrong).status == 400
    assert call(address, "POST", "/v1/detokenize", [10**6]).status in (200, 400)


def test_the_size_of_a_body_is_limited(address):
    port, token = address
    with socket.create_connection(("127.0.0.1", port), 20) as talking:
        headers = f"Host: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 999999999\r\n"
        talking.sendall(f"POST /v1/tokenize HTTP/1.1\r\n{headers}\r\n".encode())
        for _ in range(65):
            talking.sendall(b"x" * (1 << 20))
        # It does not wait for the rest of the request.
        assert talking.recv(4096).startswith(b"HTTP/1.1 400")
    assert call(address, "POST", "/v1/tokenize", b"a").status == 200


def test_a_second_session_is_refused(address):
    assert call(address, "POST", "/v1/session", b"").status == 409


@pytest.fixture
def child():
    """Start a process without a host, and return it with its stderr."""
    made = []

    def start(*arguments):
        line = [*spawned.command(), *arguments]
        process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        made.append(process)
        process.stdin.write(encode(Hello("right")))
        process.stdin.flush()
        listening = decode(process.stdout.readline())
        assert isinstance(listening, Listening)
        return process, (listening.port, "right")

    yield start
    for process in made:
        process.kill()
        process.communicate()


def test_a_model_named_on_the_command_line_is_loaded(child):
    _, address = child("--model", "sotto")
    until, seen = time.monotonic() + 20, set()
    while 0 not in seen and time.monotonic() < until:
        try:
            seen.add(json.loads(call(address, "GET", "/v1/status").body)["Status"])
        except ConnectionError:
            time.sleep(0.01)
    assert 0 in seen
    assert seen <= {0, 1, 3}
    assert call(address, "POST", "/v1/completions", {"Prompt": "a", "Options": {"num_predict": 1}}).status == 200


def test_requests_without_a_model_are_refused(child):
    _, address = child()
    assert json.loads(call(address, "GET", "/v1/status").body)["Status"] == 1
    for path, body in (("completions", {"Prompt": "a"}), ("tokenize", b"a"), ("detokenize", [1])):
        reply = call(address, "POST", f"/v1/{path}", body)
        assert (reply.status, reply.text) == (400, "No model is loaded: load one before asking it.")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_process_cleanly(child, sent):
    process, address = child("--model", "sotto")
    call(address, "GET", "/v1/status")
    process.send_signal(sent)
    assert process.wait(10) == 0


def test_the_end_of_a_session_cancels_its_requests(child):
    from sotto.runner.serving.wire import Wire

    _, address = child()
    for round_number in range(2):
        wire = Wire(*address)
        wire.send(Load(find("sotto")))
        for number in range(4):
            wire.send(Generate(request(f"{round_number} {number}", num_predict=4000, ignore_eos=True)))
        seen = []
        while not any(isinstance(event, PrefillProgress) for event in seen):
            seen += wire.receive()
            time.sleep(0.005)
        wire.close()
        began = time.monotonic()
        assert call(address, "POST", "/v1/completions", {"Prompt": "a", "Options": {"num_predict": 1}}).status == 200
        assert time.monotonic() - began < 5


def test_an_unknown_model_ends_the_process_with_a_message():
    line = [*spawned.command(), "--model", "nothing-of-that-name"]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 1
    assert done.stderr.startswith("sotto: No model is called 'nothing-of-that-name'")


def test_a_broken_model_ends_the_process_with_a_message(child, tmp_path):
    from tiny_random import write_model

    folder = write_model(tmp_path / "broken", "plain")
    (folder / "tokenizer.json").write_text("{}")
    process, _ = child("--model", str(folder))
    assert process.wait(20) == 1
    assert f"error: {folder / 'tokenizer.json'}: model is null" in process.stderr.read().decode()


def test_a_process_without_a_valid_greeting_ends():
    line = spawned.command()
    for line_sent in ("", "hello\n", '{"is":"Unload"}\n'):
        done = subprocess.run(line, input=line_sent, capture_output=True, text=True, check=False, timeout=30)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("error: ")


def test_the_process_does_not_import_qt():
    code = (
        "import sys, sotto.runner.isolated.child, sotto.runner.serving.runner_server, sotto.cli.runner; "
        "import sotto.engine.engine; "
        "print({'PySide6', 'shiboken6', 'qasync'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_command_is_hidden_from_the_help():
    def sotto(*arguments):
        line = [sys.executable, "-m", "sotto", *arguments]
        return subprocess.run(line, capture_output=True, text=True, check=False, timeout=30)

    assert "runner" not in sotto("--help").stdout
    assert "runner" not in sotto("walk").stderr
    assert "'99999' is not a port" in sotto("runner", "--port", "99999").stderr
    assert sotto("runner", "--walk").returncode == 2


def test_a_port_in_use_is_reported():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = [sys.executable, "-m", "sotto", "runner", "--port", str(port)]
        done = subprocess.run(
            line, input=encode(Hello("x")).decode(), capture_output=True, text=True, check=False, timeout=30
        )
    assert done.stderr == f"error: Port {port} cannot be listened on: Address already in use.\n"
    assert done.returncode == 1

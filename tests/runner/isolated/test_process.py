"""An engine process: crashes, failed starts, processes that misbehave, and ending with the parent process."""

import os
import queue
import signal
import subprocess
import sys
import textwrap
import threading
import time

import psutil
import pytest

from hosts import Host, is_a, request
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Failed, Finished, Loaded, LoadProgress, PrefillProgress, TextChunk, Unloaded
from sotto.engine.memory.memory_figures import MemoryFigures
from sotto.errors import EngineError, ProcessEndedError
from sotto.runner.catalogue import find
from sotto.runner.codec import Listening, encode
from sotto.runner.commands import Generate, Load, Unload
from sotto.runner.isolated import spawned
from sotto.runner.isolated.process import RunnerProcess
from sotto.runner.loop_host import LoopHost
from sotto.runner.residents import Admit, ModelRequest
from sotto.runner.status import State, Status
from sotto.store.opening import record_of
from tiny_random import write_model

pytestmark = pytest.mark.slow

GONE_SECONDS = 3.0
BIG = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 4, "max_position_embeddings": 2048}


@pytest.fixture(scope="module")
def builtin():
    return find("sotto")


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """Return a model that loads slowly, and whose prompts take seconds to evaluate."""
    import mlx.core as mx
    from mlx.utils import tree_flatten

    from sotto.engine.architectures.zoo import build
    from tiny_random import CONFIGS

    folder = write_model(tmp_path_factory.mktemp("big") / "big", "plain", **BIG)
    model, _ = build({**CONFIGS["plain"], **BIG})
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(model.parameters())))
    return record_of(folder)


@pytest.fixture
def host():
    host = Host(RunnerProcess)
    yield host
    host.close()


def gone(pid, seconds=GONE_SECONDS):
    """Return whether a process ends within a number of seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def killed_at(moment, record):
    """Return a host whose process is killed at the first event of a type, during two requests."""
    host = Host(RunnerProcess)
    host.react(is_a(moment), lambda: os.kill(host.loop.pid, signal.SIGKILL))
    host.loop.send(Load(record))
    host.loop.send(Generate(request("running", "x" * 1000, num_predict=None, ignore_eos=True)))
    host.loop.send(Generate(request("waiting")))
    host.thread.join(20)
    host.close()
    return host


@pytest.mark.one_in(3)
@pytest.mark.parametrize("moment", [LoadProgress, PrefillProgress, TextChunk])
def test_a_killed_process_ends_everything_with_one_failure(moment, big, builtin):
    record = builtin if moment is TextChunk else big
    host = killed_at(moment, record)
    for _ in range(5):
        # The load may have finished before its progress arrived.
        if moment is LoadProgress and any(map(is_a(Loaded), host.events)):
            host = killed_at(moment, record)
    assert isinstance(host.error, ProcessEndedError)
    for name in ("running", "waiting"):
        (end,) = [event for event in host.events if isinstance(event, Finished | Failed) and event.request_id == name]
        assert isinstance(end, Failed)
        assert end.message == (
            "The engine's process was ended by SIGKILL (Killed): systems do that when memory runs out."
        )
        assert end.message == host.error.message
    # A load in progress fails with the error, which is reported once.
    loads = [
        event
        for event in host.events
        if isinstance(event, Loaded) or (isinstance(event, Failed) and not event.request_id)
    ]
    assert [type(event) for event in loads] == ([] if moment is LoadProgress else [Loaded])


def test_a_crash_in_native_code_is_reported_with_its_signal(host, builtin):
    host.react(is_a(TextChunk), lambda: os.kill(host.loop.pid, signal.SIGSEGV))
    host.loop.send(Load(builtin))
    host.loop.send(Generate(request("a", num_predict=None, ignore_eos=True)))
    failed = host.ended("a")
    assert failed.message == "The engine's process was ended by SIGSEGV (Segmentation fault)."
    assert failed.bug
    assert "Segmentation fault" in failed.details


def test_an_idle_process_that_dies_is_noticed_at_once(host, builtin):
    host.loop.send(Load(builtin))
    host.wait(is_a(Loaded))
    began = time.monotonic()
    os.kill(host.loop.pid, signal.SIGKILL)
    host.thread.join(10)
    assert time.monotonic() - began < 3
    assert "SIGKILL" in host.error.message


def test_unloading_ends_the_process_and_the_next_load_starts_another(host, builtin):
    host.loop.send(Load(builtin))
    host.wait(is_a(Loaded))
    first = host.loop.pid
    host.loop.send(Unload())
    host.wait(is_a(Unloaded))
    assert gone(first, 0.1)
    assert host.loop.pid is None
    host.loop.send(Load(builtin))
    host.wait(is_a(Loaded), 2)
    assert host.loop.pid not in (None, first)


def test_a_process_that_hangs_is_unloaded_by_force(host, builtin, monkeypatch):
    monkeypatch.setattr("sotto.runner.isolated.process._UNLOAD_SECONDS", 0.5)
    host.loop.send(Load(builtin))
    host.wait(is_a(Loaded))
    first = host.loop.pid
    host.react(is_a(TextChunk), lambda: os.kill(first, signal.SIGSTOP))
    host.loop.send(Generate(request("a", num_predict=None, ignore_eos=True)))
    host.wait(is_a(TextChunk))

    def ping_repeatedly(seconds):
        """Ping until there is no reply, as the signal stops the threads one after another."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            host.loop.ping(0.2)

    with pytest.raises(EngineError, match="does not answer"):
        ping_repeatedly(5)
    host.loop.send(Unload())
    host.wait(is_a(Unloaded))
    assert gone(first, 0.1)
    assert host.ended("a").done_reason.value == "cancelled"
    host.loop.send(Load(builtin))
    host.wait(is_a(Loaded), 2)


def test_a_process_that_hangs_is_closed_within_seconds(host, builtin):
    host.loop.send(Load(builtin))
    host.wait(is_a(Loaded))
    pid = host.loop.pid
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    host.close()
    assert 4 < time.monotonic() - began < 15
    assert gone(pid, 0.1)
    assert host.events[-1] == Unloaded()


def test_the_status_is_available_while_a_prompt_is_evaluated(host, big):
    host.loop.send(Load(big))
    figures = host.wait(lambda event: isinstance(event, MemoryFigures) and event.weights)
    memory = figures.active + figures.pool
    assert host.loop.ping() == Status(State.READY, 100, 2048, memory)
    host.loop.send(Generate(request("a", "x" * 1900)))
    host.wait(is_a(PrefillProgress))

    def chunks():
        return sum(isinstance(event, PrefillProgress) for event in host.events)

    within = []
    while not any(isinstance(event, TextChunk) for event in host.events) and len(within) < 40:
        before = chunks()
        host.loop.ping()
        within.append(chunks() == before)
    # If the status waited for the engine, it would only be answered at the end of a chunk.
    assert len(within) > 5
    assert sum(within) > len(within) / 2


def fake(monkeypatch, body):
    """Run a script in place of the child process."""
    script = textwrap.dedent(
        """
        import socket, sys, time
        listening = socket.create_server(("127.0.0.1", 0))
        hello = sys.stdin.buffer.readline()
        def announce():
            sys.stdout.write('{"is":"Listening","port":%d}\\n' % listening.getsockname()[1])
            sys.stdout.flush()
        def answer(data, head=b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"):
            announce()
            talking, _ = listening.accept()
            talking.recv(1 << 16)
            talking.sendall(head + data)
            return talking
        def chunk(data):
            return b"%x\\r\\n%s\\r\\n" % (len(data), data)
        """
    ) + textwrap.dedent(body)
    monkeypatch.setattr(spawned, "command", lambda: [sys.executable, "-S", "-c", script])


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("print('hello')\ntime.sleep(60)", "b'hello' is not a JSON object"),
        ("sys.stdout.write('x' * 10000)\nsys.stdout.flush()\ntime.sleep(60)", "A line is longer than 4096 bytes."),
        ('print(\'{"is":"Unload"}\')\ntime.sleep(60)', "does not say where it listens"),
        ('print(\'{"is":"Listening","port":99999}\')\ntime.sleep(60)', "does not say where it listens"),
        ('print(\'{"is":"Listening","port":1}\')\ntime.sleep(60)', "cannot be reached on port 1"),
        ("sys.exit('error: no engine today')", "ended with exit status 1: error: no engine today."),
        ("raise RuntimeError('boom')", "ended with exit status 1: RuntimeError: boom."),
        ("import os\nos.close(1)\ntime.sleep(60)", "stopped sending events"),
        ("keep = answer(b'garbage \\xff\\r\\n\\r\\n', b'')\ntime.sleep(60)", "The answer is not HTTP"),
        ("keep = answer(b'', b'HTTP/1.1 401 No\\r\\nContent-Length: 0\\r\\n\\r\\n')\ntime.sleep(60)", "status 401"),
        ("keep = answer(chunk(b'\\xff\\x00\\n'))\ntime.sleep(60)", "is not a JSON object"),
        ('keep = answer(chunk(b\'{"is":"Load"}\\n\'))\ntime.sleep(60)', "does not have exactly its fields"),
        ('keep = answer(chunk(b\'{"is":"Unload"}\\n\'))\ntime.sleep(60)', "says Unload, which is not an event"),
        ('keep = answer(chunk(b\'{"is":"Fini\'))\nkeep.close()\nsys.exit(3)', "ended with exit status 3."),
        ("keep = answer(b'0\\r\\n\\r\\n')\ntime.sleep(60)", "stopped sending events"),
    ],
)
def test_garbage_ends_in_one_failure_and_never_hangs(monkeypatch, body, told, builtin):
    fake(monkeypatch, body)
    host = Host(RunnerProcess)
    host.loop.send(Load(builtin))
    host.loop.send(Generate(request("a")))
    host.thread.join(10)
    assert not host.thread.is_alive()
    assert told in host.error.message
    assert [(type(event), event.request_id, event.message) for event in host.events] == [
        (Failed, "a", host.error.message)
    ]


def test_a_process_that_cannot_be_started_is_a_failure_too(monkeypatch, builtin):
    requested = threading.Event()
    monkeypatch.setattr(spawned, "command", lambda: ["/nowhere/at/all"] if requested.wait(10) else [])
    host = Host(RunnerProcess)
    host.loop.send(Load(builtin))
    host.loop.send(Generate(request("a")))
    requested.set()
    host.thread.join(10)
    assert host.error.message == "The engine's process could not be started (No such file or directory)."
    assert host.events == [Failed("a", host.error.message, bug=True)]


def test_garbage_during_shutdown_is_not_a_failure(monkeypatch, builtin):
    fake(
        monkeypatch,
        """
        import signal
        keep = answer(b"")
        signal.signal(signal.SIGINT, lambda *_: keep.sendall(chunk(b"garbage\\n")))
        while True:
            time.sleep(0.01)
        """,
    )
    host = Host(RunnerProcess)
    host.loop.send(Load(builtin))
    host.loop.send(Generate(request("a")))
    until = time.monotonic() + 10
    while not host.loop._unanswered and time.monotonic() < until:
        time.sleep(0.01)
    host.loop.send(Unload())
    host.wait(is_a(Unloaded), 2)
    assert [type(event) for event in host.events] == [Unloaded, Finished, Unloaded, MemoryFigures]
    host.close()


@pytest.mark.parametrize("body", ["time.sleep(60)", "keep = answer(b'', b'')\ntime.sleep(60)"])
def test_a_silent_process_is_a_failure_too(monkeypatch, body, builtin):
    monkeypatch.setattr("sotto.runner.isolated.life._START_SECONDS", 0.5)
    fake(monkeypatch, body)
    host = Host(RunnerProcess)
    host.loop.send(Load(builtin))
    host.loop.send(Generate(request("a")))
    host.thread.join(10)
    assert host.error.message == "The engine's process did not start in time."
    assert host.events == [Failed("a", host.error.message, bug=True)]


def test_unsolicited_events_are_dropped(monkeypatch, builtin):
    events = b"".join(
        map(encode, [Failed("b", "x"), Failed("", "real"), Failed("", "twice"), Unloaded(), Failed("a", "real")])
    )
    fake(monkeypatch, f"keep = answer(b'')\ntime.sleep(0.3)\nkeep.sendall(chunk({events!r}))\ntime.sleep(60)")
    host = Host(RunnerProcess)
    host.loop.send(Load(builtin))
    host.loop.send(Generate(request("a")))
    host.ended("a")
    assert host.events == [Failed("", "real"), Failed("a", "real")]
    monkeypatch.setattr("sotto.runner.isolated.process._CLOSE_SECONDS", 0.2)
    host.close()


def test_the_last_message_of_native_code_is_reported(monkeypatch, builtin):
    fake(
        monkeypatch,
        """
        import faulthandler, os
        faulthandler.enable()
        sys.stderr.write("terminate called after throwing an instance of 'std::runtime_error'\\n")
        sys.stderr.write("  what():  [METAL] Command buffer execution failed: Insufficient Memory\\n")
        os.abort()
        """,
    )
    host = Host(RunnerProcess)
    host.loop.send(Load(builtin))
    host.thread.join(20)
    assert host.error.message == (
        "The engine's process was ended by SIGABRT (Aborted): "
        "what():  [METAL] Command buffer execution failed: Insufficient Memory."
    )
    assert "Fatal Python error: Aborted" in host.error.details


def test_a_flood_on_stderr_does_not_block_and_only_errors_are_kept(monkeypatch, builtin, caplog):
    fake(
        monkeypatch,
        """
        for number in range(30000):
            sys.stderr.write("noise %d\\n" % number)
            if not number % 10:
                sys.stderr.write("mlx: error number %d\\n" % number)
        sys.stderr.flush()
        sys.exit(2)
        """,
    )
    with caplog.at_level("INFO", "sotto.runner.isolated.spawned"):
        host = Host(RunnerProcess)
        host.loop.send(Load(builtin))
        host.thread.join(20)
    assert host.error.message.endswith("exit status 2: mlx: error number 29990.")
    assert "noise" not in host.error.details
    assert 7000 < len(host.error.details) <= 8 << 10
    assert len(caplog.messages) == 33000


def test_a_host_continues_with_another_process_after_a_crash(builtin):
    made, events = [], queue.SimpleQueue()

    def make(emit):
        made.append(RunnerProcess(emit, EngineSettings()))
        return made[-1]

    host = LoopHost(make_loop=make)

    def wait_for(kind):
        while not isinstance(event := events.get(timeout=20), kind):
            pass
        return event

    host.want(ModelRequest(builtin), events.put)
    seat = wait_for(Admit).resident.seat
    host.ask(Generate(request("a", num_predict=None, ignore_eos=True), seat), events.put)
    wait_for(TextChunk)
    os.kill(made[0].pid, signal.SIGKILL)
    assert "SIGKILL" in wait_for(Failed).message
    deadline = time.monotonic() + 10
    while host.resident_models and time.monotonic() < deadline:
        time.sleep(0.01)
    host.want(ModelRequest(builtin), events.put)
    host.ask(Generate(request("b"), wait_for(Admit).resident.seat), events.put)
    assert len(wait_for(Finished).token_ids) == 5
    assert len(made) == 2
    assert host.close()


PARENT = """
import os, sys, time
from pathlib import Path
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.requests import *
from sotto.runner.commands import Generate, Load
from sotto.runner.isolated.process import RunnerProcess
from sotto.runner.residents import Admit, ModelRequest
from sotto.runner.status import State, Status
from sotto.store.opening import record_of
import threading
moment = sys.argv[2]
def heard(event):
    if type(event).__name__ == moment:
        print(host.pid, flush=True)
host = RunnerProcess(heard, EngineSettings())
threading.Thread(target=host.run).start()
host.send(Load(record_of(Path(sys.argv[1]))))
if moment != "Loaded":
    host.send(Generate(GenerateRequest("a", prompt="x" * 1900, ignore_eos=True)))
time.sleep(60)
"""


@pytest.mark.parametrize("moment", ["LoadProgress", "Loaded", "PrefillProgress"])
def test_the_process_ends_when_its_parent_is_killed(moment, big):
    line = [sys.executable, "-c", PARENT, str(big.path), moment]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    assert gone(pid)


def test_a_process_ends_when_its_stdin_does(big):
    """Check that the end of stdin ends the process: some systems have no other way to tie it to its parent."""
    from sotto.runner.codec import Hello
    from sotto.runner.serving.wire import Wire

    with subprocess.Popen(spawned.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdin.write(encode(Hello("secret")))
        child.stdin.flush()
        from sotto.runner.codec import decode

        listening = decode(child.stdout.readline())
        assert isinstance(listening, Listening)
        wire = Wire(listening.port, "secret")
        wire.send(Load(big))
        wire.send(Generate(request("a", "x" * 1900)))
        seen = []
        while not any(isinstance(event, PrefillProgress) for event in seen):
            seen += wire.receive()
            time.sleep(0.01)
        child.stdin.close()
        assert gone(child.pid)
        wire.close()


def test_a_process_notices_when_its_parent_changes():
    code = """
import os, subprocess, sys, time
reading, writing = os.pipe()
inner = (
    "import os; parent = os.getppid(); from sotto.runner.isolated.child import wait_for_end; "
    "wait_for_end(%d, parent); print('noticed')"
)
child = subprocess.Popen([sys.executable, "-c", inner % reading], pass_fds=[reading, writing])
time.sleep(1)
os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout == "noticed\n"


def test_the_client_needs_neither_mlx_nor_qt():
    code = (
        "import sys, sotto.runner.isolated.process; "
        "print({'mlx', 'mlx_lm', 'PySide6', 'uvicorn', 'starlette', 'asyncio'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

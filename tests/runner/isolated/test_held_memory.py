"""The memory limit of an engine process, and ending a process that exceeds it."""

import os
import queue
import subprocess
import sys
import time

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten

from hosts import Host, is_a, request
from sotto.engine.architectures.zoo import build
from sotto.engine.contract.engine_settings import EngineSettings, change_settings
from sotto.engine.contract.events import Failed, Finished, Loaded
from sotto.errors import InvalidRequestError, ProcessEndedError
from sotto.runner.catalogue import find
from sotto.runner.commands import Generate, Load
from sotto.runner.isolated.held_memory import held_bytes, most_memory, planned_within
from sotto.runner.isolated.process import RunnerProcess
from sotto.runner.loop_host import LoopHost
from sotto.runner.residents import Admit, ModelRequest
from sotto.store.opening import record_of
from tiny_random import CONFIGS, write_model

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="the limit exists on Linux only")]
WIDE = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 24, "max_position_embeddings": 16384}
WIDE |= {"num_attention_heads": 8, "num_key_value_heads": 8}


@pytest.fixture
def builtin():
    return find("sotto")


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Return a small model with large contexts."""
    folder = write_model(tmp_path_factory.mktemp("wide") / "wide", "plain", **WIDE)
    model, _ = build({**CONFIGS["plain"], **WIDE})
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(model.parameters())))
    return record_of(folder)


def process_limited_to(limit):
    def make(emit, _=None):
        return RunnerProcess(emit, EngineSettings(process_memory=limit))

    return make


def test_an_answer_over_the_limit_fails_with_a_reason_and_the_next_one_succeeds(builtin, wide):
    made, events = [], queue.SimpleQueue()

    def make(emit):
        made.append(process_limited_to(4 * 10**9)(emit))
        return made[-1]

    host = LoopHost(make_loop=make)

    def wait_for(kind):
        while not isinstance(event := events.get(timeout=30), kind):
            pass
        return event

    host.want(ModelRequest(wide, num_ctx=16384, anyway=True), events.put)
    seat = wait_for(Admit).resident.seat
    # Lower the limit only now: had the process started with it, the model would not have been loaded.
    made[0]._life.child.most_memory = 200 * 10**6
    host.ask(Generate(request("a", "x" * 6000, num_predict=5), seat), events.put)
    assert wait_for(Failed).message == (
        "The engine's process reached its memory limit of 200 MB and was ended: choose a smaller model or a shorter "
        "context, or raise the limit in the settings (Engine) or by SOTTO_ENGINE_MEMORY."
    )
    deadline = time.monotonic() + 20
    while host.resident_models and time.monotonic() < deadline:
        time.sleep(0.01)
    host.want(ModelRequest(builtin), events.put)
    host.ask(Generate(request("b"), wait_for(Admit).resident.seat), events.put)
    assert len(wait_for(Finished).token_ids) == 5
    assert len(made) == 2
    assert host.close()


def test_a_load_over_the_limit_fails_with_the_same_reason(wide):
    host = Host(process_limited_to(4 * 10**9))
    while host.loop.port is None:
        time.sleep(0.01)
    host.loop._life.child.most_memory = 75 * 10**6
    host.loop.send(Load(wide))
    host.thread.join(60)
    assert isinstance(host.error, ProcessEndedError)
    assert "reached its memory limit of 75 MB" in host.error.message


def test_models_are_planned_to_fit_the_limit_of_the_process(wide):
    host = Host(process_limited_to(256 * 10**6))
    host.loop.send(Load(wide, num_ctx=16384))
    refused = host.wait(is_a(Failed))
    assert "fit" in refused.message
    host.loop.send(Load(wide, seat="other"))
    assert 0 < host.wait(is_a(Loaded)).info.context_length < 4096
    host.close()
    assert planned_within(EngineSettings(process_memory=300 * 10**6)).memory_limit == 200 * 10**6
    assert planned_within(EngineSettings(process_memory=300 * 10**6, memory_limit=7)).memory_limit == 7
    assert planned_within(EngineSettings(memory_limit=7)).memory_limit == 7
    assert planned_within(EngineSettings()).memory_limit is None


def test_held_bytes_are_the_memory_of_one_process():
    code = "kept = bytearray(300 << 20); kept[::4096] = b'x' * len(kept[::4096]); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        assert 300 << 20 < held_bytes(child.pid) < 350 << 20
        child.communicate(b"\n")
    assert held_bytes(child.pid) == 0


def test_the_environment_variable_overrides_the_setting(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    chosen = EngineSettings(process_memory=10**9)
    assert most_memory(EngineSettings()) is None
    assert most_memory(chosen) == 10**9
    monkeypatch.setenv("SOTTO_ENGINE_MEMORY", "8G")
    assert most_memory(chosen) == most_memory(EngineSettings()) == 8 * 10**9
    for text, why in (("much", "SOTTO_ENGINE_MEMORY: A size is a number"), ("1M", "must be at least 256 MB, not '1M'")):
        monkeypatch.setenv("SOTTO_ENGINE_MEMORY", text)
        with pytest.raises(InvalidRequestError, match=why):
            most_memory(chosen)
        line = [sys.executable, "-m", "sotto", "serve", "--port", "0"]
        done = subprocess.run(line, capture_output=True, text=True, env=os.environ, timeout=60, check=False)
        assert (done.returncode, why.split("'")[0] in done.stderr) == (1, True)
    with pytest.raises(InvalidRequestError, match="process_memory must be a number of bytes, at least"):
        change_settings({"process_memory": 5})

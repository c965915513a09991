"""The contract of a hosted model with its callers, in the app's process and in a separate one."""

import os
import signal
import threading
import time
from contextlib import closing

import mlx.core as mx
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosts import request
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import DoneReason, Failed, Finished, LoadProgress, PrefillProgress, TextChunk
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import EngineError, FaultError, InvalidRequestError, ProcessEndedError
from sotto.runner.blocking_client import ProcessClient, ThreadClient
from sotto.runner.catalogue import find
from sotto.runner.status import State
from sotto.store.opening import open_model, record_of
from thoroughness import examples
from tiny_random import write_model

TEXT = "Grüße, 世界 \U0001f642\u200d\u2764\ufe0f e\u0301"
KINDS = {"thread": ThreadClient, "process": lambda: ProcessClient(EngineSettings())}


@pytest.fixture(scope="module")
def builtin():
    return find("sotto")


@pytest.fixture(scope="module")
def truth(builtin):
    return Tokenizer.from_source(open_model(builtin))


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module", params=KINDS)
def client(request, builtin):
    with KINDS[request.param]() as client:
        client.load(builtin, 512)
        client.wait_until_running()
        yield client


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    folder = write_model(tmp_path_factory.mktemp("models") / "broken", "plain")
    record = record_of(folder)
    (folder / "model.safetensors").write_bytes(b"nothing")
    return record


def wait_until(condition, seconds=10.0):
    """Wait until a condition is true, and return whether it is."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def endless_request(name):
    return request(name, num_predict=None, ignore_eos=True)


def answer(client, name, **options):
    return list(client.completion(request(name, **options)))


def test_a_model_is_loaded_used_and_released(kind, builtin):
    with KINDS[kind]() as client:
        with pytest.raises(InvalidRequestError, match="No model is loaded"):
            client.wait_until_running()
        with pytest.raises(EngineError, match=r"No model is loaded|does not listen"):
            client.tokenize("a")
        held = mx.get_active_memory()
        assert (client.context_length, client.memory_size(), client.device_infos()) == (0, 0, ())
        seen = []
        client.load(builtin, 256)
        info = client.wait_until_running(60, lambda event: seen.append((threading.current_thread(), event)))
        assert seen
        assert {thread for thread, _ in seen} == {threading.current_thread()}
        assert all(isinstance(event, LoadProgress) and event.done <= event.total for _, event in seen)
        assert client.wait_until_running() == info
        assert info.context_length == client.context_length == 256
        assert wait_until(lambda: client.memory_size() >= info.weight_bytes)
        assert [type(event) for event in answer(client, "a")][-1] is Finished
        pid = client.pid
        assert (pid == os.getpid()) is (kind == "thread")
        # Memory figures arrive a little after the answer.
        assert wait_until(lambda: client.vram_by_device() == {info.device: client.memory_size()})
        for _ in range(2):
            client.close()
            assert client.has_exited
            assert (client.memory_size(), client.context_length, client.vram_by_device()) == (0, 0, {})
        if kind == "process":
            assert not psutil.pid_exists(pid)
            assert client.pid is client.port is None
        else:
            assert mx.get_active_memory() < held + info.weight_bytes / 2
        calls = (
            lambda: client.load(builtin),
            client.wait_until_running,
            client.ping,
            lambda: answer(client, "late"),
            lambda: client.embedding(["late"]),
            lambda: client.tokenize("late"),
            lambda: client.detokenize([1]),
        )
        for call in calls:
            with pytest.raises(EngineError, match="The engine has been closed"):
                call()


def test_the_status_is_available_while_computing(client):
    info = client.wait_until_running()
    with closing(client.completion(endless_request("busy"))) as events:
        assert isinstance(next(events), PrefillProgress)
        status = client.ping()
        assert (status.state, status.progress, status.context_length) == (State.READY, 100, 512)
        assert status.memory >= info.weight_bytes
    (device,) = client.device_infos()
    assert (device.name, device.compute_type) == (info.device, info.compute_type)
    listening = [
        connection.laddr.port
        for connection in psutil.Process(client.pid).net_connections()
        if connection.status == "LISTEN"
    ]
    assert client.port is None if client.pid == os.getpid() else listening == [client.port]
    assert not client.has_exited


def test_an_answer_is_cancelled_and_the_next_one_is_complete(client):
    whole = answer(client, "whole", num_predict=20)
    with closing(client.completion(endless_request("half"))) as events:
        assert any(isinstance(event, TextChunk) for event in events)
        with pytest.raises(InvalidRequestError, match="'half' is under way"):
            answer(client, "half")
    # It has ended, so its id is free again, and no other request sees its events.
    after = answer(client, "half", num_predict=20)
    assert {event.request_id for event in after} == {"half"}
    assert isinstance(after[-1], Finished)
    assert (after[-1].text, after[-1].done_reason) == (whole[-1].text, DoneReason.LENGTH)
    assert "".join(event.text for event in after if isinstance(event, TextChunk)) == after[-1].text


def test_answers_and_calls_of_several_threads_do_not_mix(client, truth):
    found = {}

    def ask(name):
        found[name] = (answer(client, name, prompt=name, num_predict=8)[-1].text, client.tokenize(name))

    names = [f"{number} times" for number in range(6)]
    threads = [threading.Thread(target=ask, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == {
        name: (answer(client, name, prompt=name, num_predict=8)[-1].text, truth.encode(name)) for name in names
    }


def test_invalid_requests_are_refused_with_a_reason(client):
    (failed,) = answer(client, "empty", prompt="")
    assert failed == Failed("empty", "empty prompt")
    with pytest.raises(EngineError, match="An input is empty"):
        client.embedding(["a", ""])
    for wrong in ([-1], [1 << 32]):
        with pytest.raises(InvalidRequestError, match=f"{wrong[0]} is not a token"):
            client.detokenize(wrong)
    with pytest.raises(InvalidRequestError, match=r"half of a character|not UTF-8"):
        client.tokenize("\ud800")


def test_embeddings_and_texts_are_the_same_on_both_hosts(builtin):
    found = []
    for make in KINDS.values():
        with make() as client:
            client.load(builtin)
            client.wait_until_running()
            vectors = client.embedding(["Once upon a time", TEXT], dimensions=8).vectors
            found.append((vectors, answer(client, "a", num_predict=12)[-1].token_ids, client.tokenize(TEXT)))
    assert found[0] == found[1]
    assert [len(vector) for vector in found[0][0]] == [8, 8]


@examples(20)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_tokenizing_any_text_is_reversible(client, truth, text):
    for sample in (TEXT, text):
        ids = client.tokenize(sample)
        assert ids == truth.encode(sample)
        assert client.detokenize(ids) == sample


def test_a_failed_load_gives_its_reason_and_the_next_one_works(kind, builtin, broken):
    with KINDS[kind]() as client:
        client.load(broken)
        for _ in range(2):
            with pytest.raises(EngineError, match=r"model\.safetensors") as error:
                client.wait_until_running(60)
            assert not isinstance(error.value, FaultError)
        status = client.ping()
        assert (status.state, status.progress, status.context_length) == (State.EMPTY, 0, 0)
        # The last load counts, whatever the outcome of those before.
        client.load(broken)
        client.load(builtin)
        assert client.wait_until_running(60).digest == builtin.digest


def test_another_load_ends_the_requests_to_the_model(kind, builtin):
    with KINDS[kind]() as client:
        client.load(builtin)
        client.wait_until_running()
        events = client.completion(endless_request("a"))
        assert isinstance(next(events), PrefillProgress)
        client.load(builtin, 128)
        assert list(events)[-1].done_reason is DoneReason.CANCELLED
        client.wait_until_running()
        assert client.context_length == 128


def test_waiting_for_a_load_times_out_and_the_load_continues(builtin):
    may_load = threading.Event()

    def settings():
        may_load.wait()
        return EngineSettings()

    with ThreadClient(settings) as client:
        client.load(builtin)
        with pytest.raises(EngineError, match="nothing has happened for 0 seconds"):
            client.wait_until_running(0)
        may_load.set()
        assert client.wait_until_running().digest == builtin.digest


@pytest.mark.one_in(3)
@pytest.mark.parametrize("during", ["load", "answer", "rest"])
def test_a_killed_child_is_reported_to_all_callers(builtin, during):
    reason = "The engine's process was ended by SIGKILL"
    with ProcessClient(EngineSettings()) as client:
        client.load(builtin)
        if during == "load":
            assert wait_until(lambda: client.port is not None)
            os.kill(client.pid, signal.SIGKILL)
            with pytest.raises(FaultError, match=reason):
                client.wait_until_running()
        else:
            client.wait_until_running()
            events = client.completion(endless_request("a"))
            if during == "answer":
                next(events)
            os.kill(client.pid, signal.SIGKILL)
        if during == "answer":
            last = list(events)[-1]
            assert isinstance(last, Failed)
            assert last.message.startswith(reason)
        assert wait_until(lambda: client.has_exited)
        for call in (
            client.ping,
            lambda: client.embedding(["a"]),
            lambda: answer(client, "b"),
            lambda: client.tokenize("a"),
        ):
            with pytest.raises(ProcessEndedError, match=reason):
                call()
        assert (client.memory_size(), client.pid, client.port) == (0, None, None)

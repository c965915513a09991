"""What a model on a host promises to whoever calls it, in the app's process and in one of its own."""

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
from sotto.runner.blocking_client import ProcessServer, ThreadServer
from sotto.runner.catalogue import find
from sotto.runner.status import State
from sotto.store.opening import open_model, record_of
from thoroughness import examples
from tiny_random import write_model

TEXT = "Grüße, 世界 \U0001f642\u200d\u2764\ufe0f e\u0301"
KINDS = {"thread": ThreadServer, "process": lambda: ProcessServer(EngineSettings())}


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
def server(request, builtin):
    with KINDS[request.param]() as server:
        server.load(builtin, 512)
        server.wait_until_running()
        yield server


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    folder = write_model(tmp_path_factory.mktemp("models") / "broken", "plain")
    record = record_of(folder)
    (folder / "model.safetensors").write_bytes(b"nothing")
    return record


def soon(true, seconds=10.0):
    """Wait until something is true."""
    until = time.monotonic() + seconds
    while not true() and time.monotonic() < until:
        time.sleep(0.01)
    return true()


def long(name):
    return request(name, num_predict=None, ignore_eos=True)


def answer(server, name, **options):
    return list(server.completion(request(name, **options)))


def test_a_model_is_loaded_with_progress_asked_and_given_back(kind, builtin):
    with KINDS[kind]() as server:
        with pytest.raises(InvalidRequestError, match="No model is loaded"):
            server.wait_until_running()
        with pytest.raises(EngineError, match=r"No model is loaded|does not listen"):
            server.tokenize("a")
        held = mx.get_active_memory()
        assert (server.context_length, server.memory_size(), server.device_infos()) == (0, 0, ())
        seen = []
        server.load(builtin, 256)
        info = server.wait_until_running(60, lambda one: seen.append((threading.current_thread(), one)))
        assert seen
        assert {thread for thread, _ in seen} == {threading.current_thread()}
        assert all(isinstance(one, LoadProgress) and one.done <= one.total for _, one in seen)
        assert server.wait_until_running() == info
        assert info.context_length == server.context_length == 256
        assert soon(lambda: server.memory_size() >= info.weight_bytes)
        assert [type(one) for one in answer(server, "a")][-1] is Finished
        pid = server.pid
        assert (pid == os.getpid()) is (kind == "thread")
        # What memory holds is told a little after the answer.
        assert soon(lambda: server.vram_by_device() == {info.device: server.memory_size()})
        for _ in range(2):
            server.close()
            assert server.has_exited
            assert (server.memory_size(), server.context_length, server.vram_by_device()) == (0, 0, {})
        if kind == "process":
            assert not psutil.pid_exists(pid)
            assert server.pid is server.port is None
        else:
            assert mx.get_active_memory() < held + info.weight_bytes / 2
        calls = (
            lambda: server.load(builtin),
            server.wait_until_running,
            server.ping,
            lambda: answer(server, "late"),
            lambda: server.embedding(["late"]),
            lambda: server.tokenize("late"),
            lambda: server.detokenize([1]),
        )
        for call in calls:
            with pytest.raises(EngineError, match="The engine has been closed"):
                call()


def test_how_it_stands_is_answered_while_it_computes(server):
    info = server.wait_until_running()
    with closing(server.completion(long("busy"))) as events:
        assert isinstance(next(events), PrefillProgress)
        status = server.ping()
        assert (status.state, status.progress, status.context_length) == (State.READY, 100, 512)
        assert status.memory >= info.weight_bytes
    (device,) = server.device_infos()
    assert (device.name, device.compute_type) == (info.device, info.compute_type)
    listening = [one.laddr.port for one in psutil.Process(server.pid).net_connections() if one.status == "LISTEN"]
    assert server.port is None if server.pid == os.getpid() else listening == [server.port]
    assert not server.has_exited


def test_an_answer_is_cancelled_half_way_and_the_next_one_is_whole(server):
    whole = answer(server, "whole", num_predict=20)
    with closing(server.completion(long("half"))) as events:
        assert any(isinstance(event, TextChunk) for event in events)
        with pytest.raises(InvalidRequestError, match="'half' is under way"):
            answer(server, "half")
    # It has ended, so that its name is free, and nobody else hears of it.
    after = answer(server, "half", num_predict=20)
    assert {event.request_id for event in after} == {"half"}
    assert isinstance(after[-1], Finished)
    assert (after[-1].text, after[-1].done_reason) == (whole[-1].text, DoneReason.LENGTH)
    assert "".join(event.text for event in after if isinstance(event, TextChunk)) == after[-1].text


def test_answers_and_calls_of_several_threads_do_not_mix(server, truth):
    found = {}

    def ask(name):
        found[name] = (answer(server, name, prompt=name, num_predict=8)[-1].text, server.tokenize(name))

    names = [f"{number} times" for number in range(6)]
    threads = [threading.Thread(target=ask, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == {
        name: (answer(server, name, prompt=name, num_predict=8)[-1].text, truth.encode(name)) for name in names
    }


def test_what_cannot_be_honoured_is_told(server):
    (failed,) = answer(server, "empty", prompt="")
    assert failed == Failed("empty", "empty prompt")
    with pytest.raises(EngineError, match="An input is empty"):
        server.embedding(["a", ""])
    for wrong in ([-1], [1 << 32]):
        with pytest.raises(InvalidRequestError, match=f"{wrong[0]} is no token"):
            server.detokenize(wrong)
    with pytest.raises(InvalidRequestError, match=r"half of a character|not UTF-8"):
        server.tokenize("\ud800")


def test_vectors_and_texts_are_alike_on_both_hosts(builtin):
    found = []
    for make in KINDS.values():
        with make() as server:
            server.load(builtin)
            server.wait_until_running()
            vectors = server.embedding(["Once upon a time", TEXT], dimensions=8).vectors
            found.append((vectors, answer(server, "a", num_predict=12)[-1].token_ids, server.tokenize(TEXT)))
    assert found[0] == found[1]
    assert [len(vector) for vector in found[0][0]] == [8, 8]


@examples(20)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_tokens_of_any_text_make_it_again(server, truth, text):
    for one in (TEXT, text):
        ids = server.tokenize(one)
        assert ids == truth.encode(one)
        assert server.detokenize(ids) == one


def test_a_load_that_fails_says_why_and_the_next_one_works(kind, builtin, broken):
    with KINDS[kind]() as server:
        server.load(broken)
        for _ in range(2):
            with pytest.raises(EngineError, match=r"model\.safetensors") as told:
                server.wait_until_running(60)
            assert not isinstance(told.value, FaultError)
        status = server.ping()
        assert (status.state, status.progress, status.context_length) == (State.EMPTY, 0, 0)
        # The last load counts, whatever becomes of those before.
        server.load(broken)
        server.load(builtin)
        assert server.wait_until_running(60).digest == builtin.digest


def test_a_load_that_comes_in_between_ends_what_was_asked_of_the_model(kind, builtin):
    with KINDS[kind]() as server:
        server.load(builtin)
        server.wait_until_running()
        events = server.completion(long("a"))
        assert isinstance(next(events), PrefillProgress)
        server.load(builtin, 128)
        assert list(events)[-1].done_reason is DoneReason.CANCELLED
        server.wait_until_running()
        assert server.context_length == 128


def test_whoever_waits_too_long_for_a_load_is_told_and_the_load_goes_on(builtin):
    may_load = threading.Event()

    def settings():
        may_load.wait()
        return EngineSettings()

    with ThreadServer(settings) as server:
        server.load(builtin)
        with pytest.raises(EngineError, match="for 0 seconds nothing has happened"):
            server.wait_until_running(0)
        may_load.set()
        assert server.wait_until_running().digest == builtin.digest


@pytest.mark.parametrize("during", ["load", "answer", "rest"])
def test_a_child_that_is_killed_says_so_to_everybody(builtin, during):
    told = "The engine's process was ended by SIGKILL"
    with ProcessServer(EngineSettings()) as server:
        server.load(builtin)
        if during == "load":
            assert soon(lambda: server.port is not None)
            os.kill(server.pid, signal.SIGKILL)
            with pytest.raises(FaultError, match=told):
                server.wait_until_running()
        else:
            server.wait_until_running()
            events = server.completion(long("a"))
            if during == "answer":
                next(events)
            os.kill(server.pid, signal.SIGKILL)
        if during == "answer":
            last = list(events)[-1]
            assert isinstance(last, Failed)
            assert last.message.startswith(told)
        assert soon(lambda: server.has_exited)
        for call in (
            server.ping,
            lambda: server.embedding(["a"]),
            lambda: answer(server, "b"),
            lambda: server.tokenize("a"),
        ):
            with pytest.raises(ProcessEndedError, match=told):
                call()
        assert (server.memory_size(), server.pid, server.port) == (0, None, None)

import threading
import time

import pytest

from hosts import Host, is_a, request
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import (
    DoneReason,
    Failed,
    Finished,
    Loaded,
    LoadProgress,
    PrefillProgress,
    TextChunk,
    Unloaded,
)
from sotto.engine.memory.memory_figures import Measured, MemoryFigures
from sotto.engine.memory.memory_needs import CacheKind
from sotto.runner.commands import Cancel, CancelLoad, Generate, Load, Measure, Unload
from sotto.runner.loop import SLOTS, EngineLoop
from sotto.store.opening import record_of
from tiny_random import write_model


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {kind: record_of(write_model(root / kind, kind)) for kind in ("plain", "window", "recurrent")}


@pytest.fixture
def host():
    host = Host()
    yield host
    host.close()


@pytest.fixture
def loaded(host, records):
    host.loop.send(Load(records["plain"]))
    host.wait(is_a(Loaded))
    return host


def test_changed_settings_apply_to_the_next_load(records):
    limits = [50_000, None]
    host = Host(lambda emit, _: EngineLoop(emit, lambda: EngineSettings(memory_limit=limits.pop(0))))
    host.loop.send(Load(records["plain"]))
    assert "the limit in Settings" in host.wait(is_a(Failed)).message
    host.loop.send(Load(records["plain"]))
    host.wait(is_a(Loaded))
    host.close()


def test_a_model_is_loaded_used_and_unloaded_on_one_thread(host, records):
    host.loop.send(Load(records["plain"]))
    host.loop.send(Generate(request("a")))
    finished = host.ended("a")
    host.loop.send(Unload())
    host.wait(is_a(Unloaded))
    kinds = [type(event) for event in host.events if not isinstance(event, MemoryFigures)]
    tidy = [kind for index, kind in enumerate(kinds) if index == 0 or kinds[index - 1] is not kind]
    assert tidy == [LoadProgress, Loaded, PrefillProgress, TextChunk, Finished, Unloaded]
    assert finished.done_reason is DoneReason.LENGTH
    assert host.threads == {"owner"}


def test_requests_begin_in_order_and_in_a_limited_number_at_once(loaded):
    count = SLOTS + 3
    for index in range(count):
        loaded.loop.send(Generate(request(str(index), "x" * (index + 1), num_predict=30, ignore_eos=True)))
    for index in range(count):
        assert loaded.ended(str(index)).done_reason is DoneReason.LENGTH
    begun, running = [], set()
    for event in loaded.events:
        if isinstance(event, PrefillProgress | TextChunk) and event.request_id not in begun:
            begun.append(event.request_id)
            running.add(event.request_id)
            assert len(running) <= SLOTS
        elif isinstance(event, Finished):
            running.discard(event.request_id)
    assert begun == sorted(begun, key=int)


def test_a_short_request_does_not_wait_for_a_long_answer(loaded):
    loaded.react(is_a(TextChunk), lambda: loaded.loop.send(Generate(request("short", "yes"))))
    loaded.loop.send(Generate(request("long", num_predict=200, ignore_eos=True)))
    loaded.ended("long")
    assert [event.request_id for event in loaded.events if isinstance(event, Finished)] == ["short", "long"]


def test_a_request_during_a_load_is_served_after_it(host, records):
    host.react(is_a(LoadProgress), lambda: host.loop.send(Generate(request("early"))))
    host.loop.send(Load(records["plain"]))
    assert isinstance(host.ended("early"), Finished)


def test_a_running_answer_can_be_stopped(loaded):
    loaded.react(is_a(TextChunk), lambda: loaded.loop.send(Cancel("long")))
    loaded.loop.send(Generate(request("long", num_predict=None, ignore_eos=True)))
    finished = loaded.ended("long")
    assert finished.done_reason is DoneReason.CANCELLED
    assert len(finished.token_ids) == 1
    assert finished.text
    loaded.loop.send(Generate(request("next")))
    assert loaded.ended("next").done_reason is DoneReason.LENGTH


def test_a_waiting_request_that_is_cancelled_ends_at_once(loaded):
    def cancel_second():
        loaded.loop.send(Cancel("second"))

    loaded.react(is_a(TextChunk), cancel_second)
    for index in range(SLOTS):
        loaded.loop.send(Generate(request(f"first {index}", num_predict=60, ignore_eos=True)))
    loaded.loop.send(Generate(request("second")))
    loaded.loop.send(Generate(request("third")))
    loaded.ended("third")
    ends = [event for event in loaded.events if isinstance(event, Finished)]
    assert ends[0].request_id == "second"
    assert ends[0].done_reason is DoneReason.CANCELLED
    assert {event.done_reason for event in ends[1:]} == {DoneReason.LENGTH}


def test_cancelling_an_unknown_request_changes_nothing(loaded):
    loaded.loop.send(Cancel("nobody"))
    loaded.loop.send(CancelLoad())
    loaded.loop.send(Generate(request("a")))
    assert isinstance(loaded.ended("a"), Finished)


def test_a_request_without_a_model_fails_with_a_reason(host):
    host.loop.send(Generate(request("a")))
    failed = host.ended("a")
    assert failed.message == "No model is loaded: load one before asking it."
    assert not failed.bug


def test_an_invalid_request_does_not_affect_others(loaded):
    loaded.loop.send(Generate(request("empty", "")))
    loaded.loop.send(Generate(request("long", "x" * 300)))
    loaded.loop.send(Generate(request("good")))
    assert isinstance(loaded.ended("good"), Finished)
    assert "empty prompt" in loaded.ended("empty").message
    assert "exceeds the model's maximum context length" in loaded.ended("long").message


def test_a_load_can_be_stopped_and_leaves_nothing(host, records):
    host.react(is_a(LoadProgress), lambda: host.loop.send(CancelLoad()))
    host.loop.send(Load(records["plain"]))
    host.wait(is_a(Unloaded))
    host.loop.send(Generate(request("a")))
    assert isinstance(host.ended("a"), Failed)
    host.loop.send(Load(records["plain"]))
    host.wait(is_a(Loaded))
    assert not [event for event in host.events if isinstance(event, Failed) and event.request_id == ""]


def test_a_failed_load_gives_its_reason_and_the_next_one_works(host, records, tmp_path):
    folder = write_model(tmp_path / "broken", "plain")
    record = record_of(folder)
    (folder / "model.safetensors").write_bytes(b"nothing")
    host.loop.send(Load(record))
    failed = host.wait(is_a(Failed))
    assert failed.request_id == ""
    assert not failed.bug
    assert "model.safetensors" in failed.message
    host.loop.send(Load(records["plain"]))
    assert host.wait(is_a(Loaded)).info.name == records["plain"].name


@pytest.mark.parametrize("change", ["unload", "load"])
def test_unloading_ends_running_and_waiting_requests(loaded, records, change):
    def act():
        if change == "unload":
            loaded.loop.send(Unload())
        else:
            loaded.loop.send(Load(records["window"]))
        loaded.loop.send(Generate(request("after")))

    loaded.react(is_a(TextChunk), act)
    loaded.loop.send(Generate(request("running", num_predict=None, ignore_eos=True)))
    loaded.loop.send(Generate(request("waiting")))
    after = loaded.ended("after")
    assert loaded.ended("running").done_reason is DoneReason.CANCELLED
    assert loaded.ended("waiting").done_reason is DoneReason.CANCELLED
    if change == "unload":
        assert isinstance(after, Failed)
        kinds = [type(event) for event in loaded.events if isinstance(event, Finished | Unloaded | Failed)]
        assert kinds == [Finished, Finished, Unloaded, Failed]
    else:
        assert loaded.wait(is_a(Loaded), 2).info.name == records["window"].name
        assert isinstance(after, Finished)


def test_a_load_during_another_replaces_it(host, records):
    host.react(is_a(LoadProgress), lambda: host.loop.send(Load(records["window"])))
    host.loop.send(Load(records["plain"]))
    assert host.wait(is_a(Loaded)).info.name == records["window"].name
    kinds = [type(event) for event in host.events if isinstance(event, Loaded | Unloaded | Failed)]
    assert kinds == [Unloaded, Loaded]


def test_memory_is_reported_after_each_change(loaded):
    loaded.wait(is_a(MemoryFigures))
    loaded.loop.send(Generate(request("a")))
    loaded.ended("a")
    working = loaded.wait(lambda event: isinstance(event, MemoryFigures) and event.cache > 0)
    assert working.weights > 0
    loaded.loop.send(Unload())
    loaded.wait(lambda event: isinstance(event, MemoryFigures) and event.weights == 0 and event.cache == 0)


def test_memory_is_reported_at_most_twice_a_second_while_working(loaded):
    loaded.loop.send(Generate(request("a", num_predict=240, ignore_eos=True)))
    started = time.monotonic()
    loaded.ended("a")
    elapsed = time.monotonic() - started
    during = [event for event in loaded.events if isinstance(event, MemoryFigures)]
    assert 1 <= len(during) <= 3 + elapsed / 0.5


def test_models_are_measured_when_there_is_nothing_else_to_do(loaded, records, tmp_path):
    broken = record_of(write_model(tmp_path / "broken", "plain"))
    (tmp_path / "broken" / "config.json").write_text("{")

    def ask():
        for record in (records["plain"], records["window"], broken):
            loaded.loop.send(Measure(record))
        loaded.loop.send(Load(records["window"]))

    loaded.react(is_a(TextChunk), ask)
    loaded.loop.send(Generate(request("a", num_predict=50)))
    info = loaded.wait(is_a(Loaded), 2).info
    plain, window, failure = (loaded.wait(is_a(Measured), number) for number in (1, 2, 3))
    assert loaded.events.index(plain) > loaded.events.index(loaded.wait(is_a(Loaded), 2))
    assert [plain.digest, window.digest] == [records["plain"].digest, records["window"].digest]
    assert window.needs.weight_bytes == info.weight_bytes
    assert [measured.needs.layers[0].kind for measured in (plain, window)] == [CacheKind.FULL, CacheKind.SLIDING]
    assert (failure.digest, failure.needs) == (broken.digest, None)
    assert "config.json" in failure.reason


def test_an_internal_error_is_reported_with_its_traceback(loaded, monkeypatch):
    from sotto.engine.caches import prefix_cache

    def fail(self, prompt, whole):
        raise RuntimeError("boom")

    monkeypatch.setattr(prefix_cache.PrefixCache, "begin", fail)
    loaded.loop.send(Generate(request("a")))
    failed = loaded.ended("a")
    assert failed.bug
    assert "boom" in failed.message
    assert "Traceback" in failed.details
    assert "in fail" in failed.details
    monkeypatch.undo()
    loaded.loop.send(Generate(request("b")))
    assert isinstance(loaded.ended("b"), Finished)


def test_closing_ends_everything_and_unloaded_is_the_last_event(records):
    host = Host()
    host.react(is_a(TextChunk), host.loop.close)
    host.loop.send(Load(records["plain"]))
    host.loop.send(Generate(request("running", num_predict=None, ignore_eos=True)))
    host.loop.send(Generate(request("waiting")))
    host.thread.join(60)
    assert not host.thread.is_alive()
    assert host.ended("running").done_reason is DoneReason.CANCELLED
    assert host.ended("waiting").done_reason is DoneReason.CANCELLED
    assert host.events[-1] == Unloaded()


def test_closing_during_a_load_stops_it(records):
    host = Host()
    host.react(is_a(LoadProgress), host.loop.close)
    host.loop.send(Load(records["plain"]))
    host.thread.join(60)
    assert not host.thread.is_alive()
    assert not [event for event in host.events if isinstance(event, Loaded)]


def test_an_idle_loop_closes():
    Host().close()


def test_many_threads_may_send_requests_at_once(loaded):
    def ask(name):
        for index in range(5):
            loaded.loop.send(Generate(request(f"{name}{index}", num_predict=2)))
            if index % 2:
                loaded.loop.send(Cancel(f"{name}{index}"))

    threads = [threading.Thread(target=ask, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in "abcd":
        for index in range(5):
            assert isinstance(loaded.ended(f"{name}{index}"), Finished)
    assert len([event for event in loaded.events if isinstance(event, Finished)]) == 20


def test_importing_the_loop_does_not_import_mlx():
    import subprocess
    import sys

    code = "import sys, sotto.runner.loop, sotto.runner.catalogue; print([m for m in sys.modules if 'mlx' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

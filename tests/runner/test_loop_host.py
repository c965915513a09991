"""A host that has nothing but an engine: here one that plays a script, and once the real one."""

import threading

import pytest

from scripted_loop import Script, ScriptedLoop, record
from sotto.engine.types import (
    DoneReason,
    Failed,
    Finished,
    GenerateRequest,
    Loaded,
    SamplingOptions,
    TextChunk,
    Unloaded,
)
from sotto.runner.loop_host import LoopHost
from sotto.store.opening import record_of
from tiny_random import write_model

ONE, TWO = record("one:latest"), record("two:latest")


class Heard:
    """What came, and a way to wait for it."""

    def __init__(self):
        self.events = []
        self._said = threading.Condition()

    def __call__(self, event):
        with self._said:
            self.events.append(event)
            self._said.notify_all()

    def end(self):
        with self._said:
            ended = (Loaded, Unloaded, Failed, Finished)
            assert self._said.wait_for(lambda: self.events and isinstance(self.events[-1], ended), timeout=20)
            return self.events[-1]


@pytest.fixture
def script():
    return Script()


@pytest.fixture
def host(script):
    made = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, script), models=lambda: (ONE, TWO))
    yield made
    assert made.close()


def loaded(host, record=ONE, num_ctx=None):
    heard = Heard()
    host.load(record, num_ctx, heard)
    return heard.end()


def asked(host, record=ONE, name="r"):
    heard = Heard()
    host.generate(record, GenerateRequest(id=name, prompt="a"), heard)
    return heard


def test_nothing_runs_before_it_is_asked(host):
    assert host.close()
    assert host.standing.record is None
    host.cancel("nothing")
    assert host._thread is None


def test_a_model_is_loaded_asked_and_unloaded(host):
    assert isinstance(loaded(host, num_ctx=8192), Loaded)
    standing = host.standing
    assert (standing.record, standing.info.name, standing.num_ctx, standing.lent) == (ONE, "one:latest", 8192, True)
    assert host.serves(ONE, 8192)
    assert host.serves(ONE, 4096)  # as much as there is
    assert not host.serves(ONE, None)
    assert not host.serves(TWO, 512)
    heard = asked(host)
    assert heard.end().text == "Hello there."
    assert [event.text for event in heard.events if isinstance(event, TextChunk)] == ["Hello ", "there."]
    gone = Heard()
    host.unload(gone)
    assert isinstance(gone.end(), Unloaded)
    assert host.standing.record is None


def test_a_model_that_is_not_loaded_is_not_asked(host, script):
    assert "unloaded" in asked(host).end().message
    loaded(host, TWO)
    assert isinstance(asked(host, ONE).end(), Failed)
    assert script.requests == []


def test_cancelling_ends_an_answer(host, script):
    script.hold_answer = threading.Event()
    loaded(host)
    heard = asked(host)
    host.cancel("r")
    assert heard.end().done_reason is DoneReason.CANCELLED


def test_what_was_asked_last_is_what_there_is(host, script):
    script.hold_load = threading.Event()
    first, second = Heard(), Heard()
    host.load(ONE, None, first)
    host.load(TWO, None, second)
    assert isinstance(first.end(), Unloaded)
    script.hold_load.set()
    assert isinstance(second.end(), Loaded)
    assert host.standing.record == TWO


def test_a_load_that_fails_leaves_nothing(host, script):
    script.fail_load = "The weights are damaged."
    assert loaded(host).message == "The weights are damaged."
    assert host.standing.record is None


def test_an_engine_that_is_lost_is_told_and_made_anew(host, script):
    loaded(host)
    script.crash = "out of order"
    end = asked(host).end()
    assert "out of order" in end.message
    assert end.bug
    assert "Traceback" in end.details
    assert host.standing.record is None
    assert isinstance(loaded(host), Loaded)


def test_closing_answers_whoever_waits(script):
    host = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, script))
    loaded(host)
    script.crash = ""
    heard = Heard()
    host._answering["never"] = heard
    assert host.close()
    assert heard.end() == Failed("never", "The engine has been stopped.")


def test_the_real_engine(tmp_path):
    write_model(tmp_path / "model", "plain")
    there = record_of(tmp_path / "model")
    host = LoopHost(models=lambda: (there,))
    assert isinstance(loaded(host, there), Loaded)
    assert host.standing.info.context_length > 0
    heard = Heard()
    asking = GenerateRequest(id="r", prompt="Once", sampling=SamplingOptions(temperature=0), num_predict=5)
    host.generate(there, asking, heard)
    assert len(heard.end().token_ids) == 5
    assert host.standing.figures.weights > 0
    assert host.close()

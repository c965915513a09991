"""The host for code without a window, mostly with a scripted engine, and once with real ones."""

import threading

import pytest

from scripted_loop import Script, ScriptedLoop, record
from sotto.engine.contract.events import DoneReason, Embedded, Failed, Finished, TextChunk
from sotto.engine.contract.requests import EmbedRequest, GenerateRequest, SamplingOptions
from sotto.runner.commands import Embed, Generate
from sotto.runner.loop_host import LoopHost
from sotto.runner.residents import Admit, ModelRequest, Refuse
from sotto.store.opening import record_of
from tiny_random import write_model

ONE, TWO = record("one:latest"), record("two:latest")


class EventLog:
    """Records events, and waits for them."""

    def __init__(self):
        self.events = []
        self._changed = threading.Condition()

    def __call__(self, event=None):
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def end(self):
        with self._changed:
            ended = (Admit, Refuse, Failed, Finished, Embedded, type(None))
            assert self._changed.wait_for(lambda: self.events and isinstance(self.events[-1], ended), timeout=20)
            return self.events[-1]


@pytest.fixture
def script():
    return Script(room=2)


@pytest.fixture
def host(script):
    made = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, script), models=lambda: (ONE, TWO))
    yield made
    assert made.close()


def visit_model(host, record=ONE, **request):
    """Request a model, and return the answer and the number of the visit."""
    events = EventLog()
    visit = host.want(ModelRequest(record, **request), events)
    return visit, events.end()


def send_request(host, seat, name="r"):
    events = EventLog()
    host.ask(Generate(GenerateRequest(id=name, prompt="a"), seat), events)
    return events


def names(host):
    return [resident.record.name for resident in host.resident_models]


def test_no_thread_runs_before_the_first_request(host):
    assert host.close()
    assert host.resident_models == []
    host.cancel("nothing")
    assert host._thread is None


def test_models_are_loaded_together_used_and_unloaded(host):
    visit, admitted = visit_model(host, num_ctx=2048)
    other, beside = visit_model(host, TWO)
    assert names(host) == ["one:latest", "two:latest"]
    assert [resident.info.context_length for resident in host.resident_models] == [2048, 4096]
    assert [resident.nbytes for resident in host.resident_models] == [ONE.size + (1 << 20)] * 2
    for seat in (admitted.resident.seat, beside.resident.seat):
        events = send_request(host, seat)
        assert events.end().text == "Hello there."
        assert [event.text for event in events.events if isinstance(event, TextChunk)] == ["Hello ", "there."]
    unloaded = EventLog()
    host.dismiss(ONE, unloaded)
    unloaded.end()  # returns at once, as the model is in use
    assert names(host) == ["one:latest", "two:latest"]
    host.leave(visit)
    unloaded = EventLog()
    host.dismiss(ONE, unloaded)
    unloaded.end()
    assert names(host) == ["two:latest"]
    host.leave(other)


def test_a_model_is_unloaded_when_its_keep_alive_ends(host):
    visit, _ = visit_model(host, keep_alive=0.05)
    assert 0 < host.resident_models[0].stays <= 0.05
    host.leave(visit)
    unloaded = EventLog()
    host._keeper._on_unloaded[host.resident_models[0].seat] = [unloaded]
    unloaded.end()
    assert host.resident_models == []


def test_a_request_to_a_model_that_is_not_loaded_fails(host, script):
    assert "unloaded" in send_request(host, "nowhere").end().message
    assert script.requests == []


@pytest.mark.parametrize("lacking", ["has_template", "reads_messages"])
def test_a_note_about_the_template_is_logged(host, script, caplog, lacking):
    visit_model(host, TWO)
    assert not caplog.messages
    setattr(script, lacking, False)
    script.template_note = "It brings no chat template."
    visit_model(host)
    assert caplog.messages == ["one:latest: It brings no chat template."]


def test_cancelling_ends_an_answer(host, script):
    script.hold_answer = threading.Event()
    _, admitted = visit_model(host)
    events = send_request(host, admitted.resident.seat)
    host.cancel("r")
    assert events.end().done_reason is DoneReason.CANCELLED


def test_a_load_that_fails_leaves_nothing(host, script):
    script.fail_load = "The weights are damaged."
    assert visit_model(host)[1].failed.message == "The weights are damaged."
    assert host.resident_models == []


def test_a_lost_engine_is_reported_and_replaced(host, script):
    visit, admitted = visit_model(host)
    script.crash = "out of order"
    end = send_request(host, admitted.resident.seat).end()
    assert "out of order" in end.message
    assert end.bug
    assert "Traceback" in end.details
    host.leave(visit)
    assert isinstance(visit_model(host)[1], Admit)


def test_closing_answers_all_waiting_requests(script):
    host = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, script))
    _, admitted = visit_model(host)
    script.hold_answer = script.hold_load = threading.Event()
    events, waiting = send_request(host, admitted.resident.seat), EventLog()
    host._answering["never"] = never = EventLog()
    host.want(ModelRequest(TWO), waiting)
    assert host.close()
    assert never.end() == Failed("never", "The engine has been stopped.")
    assert isinstance(waiting.end(), Refuse)
    assert isinstance(events.end(), Finished)


def test_the_real_engines(tmp_path):
    models = [record_of(write_model(tmp_path / kind, kind)) for kind in ("plain", "window")]
    host = LoopHost(models=lambda: models)
    answers = {}
    for model in (*models, models[0]):
        visit, admitted = visit_model(host, model)
        events = EventLog()
        asking = GenerateRequest(id="r", prompt="Once", sampling=SamplingOptions(temperature=0), num_predict=5)
        host.ask(Generate(asking, admitted.resident.seat), events)
        assert answers.setdefault(model.name, events.end().token_ids) == events.end().token_ids
        vectors = EventLog()
        host.ask(Embed(EmbedRequest("v", ("Once",)), admitted.resident.seat), vectors)
        assert len(vectors.end().vectors) == 1
        host.leave(visit)
    assert len(answers) == 2
    assert [resident.record for resident in host.resident_models] == models
    assert all(resident.nbytes > resident.info.weight_bytes for resident in host.resident_models)
    assert host.close()

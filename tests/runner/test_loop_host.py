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


class Heard:
    """Records events, and waits for them."""

    def __init__(self):
        self.events = []
        self._said = threading.Condition()

    def __call__(self, event=None):
        with self._said:
            self.events.append(event)
            self._said.notify_all()

    def end(self):
        with self._said:
            ended = (Admit, Refuse, Failed, Finished, Embedded, type(None))
            assert self._said.wait_for(lambda: self.events and isinstance(self.events[-1], ended), timeout=20)
            return self.events[-1]


@pytest.fixture
def script():
    return Script(room=2)


@pytest.fixture
def host(script):
    made = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, script), models=lambda: (ONE, TWO))
    yield made
    assert made.close()


def entered(host, record=ONE, **request):
    """Request a model, and return the answer and the number of the visit."""
    heard = Heard()
    visit = host.want(ModelRequest(record, **request), heard)
    return visit, heard.end()


def asked(host, seat, name="r"):
    heard = Heard()
    host.ask(Generate(GenerateRequest(id=name, prompt="a"), seat), heard)
    return heard


def names(host):
    return [one.record.name for one in host.resident_models]


def test_nothing_runs_before_it_is_asked(host):
    assert host.close()
    assert host.resident_models == []
    host.cancel("nothing")
    assert host._thread is None


def test_models_are_loaded_beside_each_other_asked_and_unloaded(host):
    visit, admitted = entered(host, num_ctx=2048)
    other, beside = entered(host, TWO)
    assert names(host) == ["one:latest", "two:latest"]
    assert [one.info.context_length for one in host.resident_models] == [2048, 4096]
    assert [one.nbytes for one in host.resident_models] == [ONE.size + (1 << 20)] * 2
    for seat in (admitted.resident.seat, beside.resident.seat):
        heard = asked(host, seat)
        assert heard.end().text == "Hello there."
        assert [event.text for event in heard.events if isinstance(event, TextChunk)] == ["Hello ", "there."]
    gone = Heard()
    host.dismiss(ONE, gone)
    gone.end()  # returns at once, as the model is in use
    assert names(host) == ["one:latest", "two:latest"]
    host.leave(visit)
    gone = Heard()
    host.dismiss(ONE, gone)
    gone.end()
    assert names(host) == ["two:latest"]
    host.leave(other)


def test_a_model_leaves_when_its_time_is_over(host):
    visit, _ = entered(host, keep_alive=0.05)
    assert 0 < host.resident_models[0].stays <= 0.05
    host.leave(visit)
    gone = Heard()
    host._keeper._on_unloaded[host.resident_models[0].seat] = [gone]
    gone.end()
    assert host.resident_models == []


def test_a_model_that_is_not_loaded_is_not_asked(host, script):
    assert "unloaded" in asked(host, "nowhere").end().message
    assert script.requests == []


@pytest.mark.parametrize("lacking", ["has_template", "reads_messages"])
def test_who_runs_it_is_told_of_a_model_that_has_to_do_with_plain_text_or_gets_no_question(
    host, script, caplog, lacking
):
    entered(host, TWO)
    assert not caplog.messages
    setattr(script, lacking, False)
    script.template_note = "It brings no chat template."
    entered(host)
    assert caplog.messages == ["one:latest: It brings no chat template."]


def test_cancelling_ends_an_answer(host, script):
    script.hold_answer = threading.Event()
    _, admitted = entered(host)
    heard = asked(host, admitted.resident.seat)
    host.cancel("r")
    assert heard.end().done_reason is DoneReason.CANCELLED


def test_a_load_that_fails_leaves_nothing(host, script):
    script.fail_load = "The weights are damaged."
    assert entered(host)[1].failed.message == "The weights are damaged."
    assert host.resident_models == []


def test_an_engine_that_is_lost_is_told_and_made_anew(host, script):
    visit, admitted = entered(host)
    script.crash = "out of order"
    end = asked(host, admitted.resident.seat).end()
    assert "out of order" in end.message
    assert end.bug
    assert "Traceback" in end.details
    host.leave(visit)
    assert isinstance(entered(host)[1], Admit)


def test_closing_answers_whoever_waits(script):
    host = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, script))
    _, admitted = entered(host)
    script.hold_answer = script.hold_load = threading.Event()
    heard, waiting = asked(host, admitted.resident.seat), Heard()
    host._answering["never"] = never = Heard()
    host.want(ModelRequest(TWO), waiting)
    assert host.close()
    assert never.end() == Failed("never", "The engine has been stopped.")
    assert isinstance(waiting.end(), Refuse)
    assert isinstance(heard.end(), Finished)


def test_the_real_engines(tmp_path):
    there = [record_of(write_model(tmp_path / kind, kind)) for kind in ("plain", "window")]
    host = LoopHost(models=lambda: there)
    answers = {}
    for model in (*there, there[0]):
        visit, admitted = entered(host, model)
        heard = Heard()
        asking = GenerateRequest(id="r", prompt="Once", sampling=SamplingOptions(temperature=0), num_predict=5)
        host.ask(Generate(asking, admitted.resident.seat), heard)
        assert answers.setdefault(model.name, heard.end().token_ids) == heard.end().token_ids
        vectors = Heard()
        host.ask(Embed(EmbedRequest("v", ("Once",)), admitted.resident.seat), vectors)
        assert len(vectors.end().vectors) == 1
        host.leave(visit)
    assert len(answers) == 2
    assert [one.record for one in host.resident_models] == there
    assert all(one.nbytes > one.info.weight_bytes for one in host.resident_models)
    assert host.close()

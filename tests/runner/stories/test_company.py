"""Several models at once, on both hosts: real engines that take turns, make room for each other and are unloaded."""

import threading

import pytest

from hosts import Host, is_a, request, thread_loop
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
from sotto.runner.catalogue import find
from sotto.runner.commands import Generate, Load, Measure, Unload
from sotto.runner.isolated.process import RunnerProcess
from sotto.runner.loop import EngineLoop
from sotto.runner.loop_host import LoopHost
from sotto.runner.residents import Admit, ModelRequest
from sotto.store.opening import record_of
from tiny_random import write_model


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    made = {kind: record_of(write_model(root / kind, kind)) for kind in ("plain", "window")}
    return made | {"builtin": find("sotto")}


@pytest.fixture(params=[thread_loop, RunnerProcess], ids=["thread", "process"])
def host(request):
    host = Host(request.param)
    yield host
    host.close()
    assert host.error is None


def loaded(host, record, seat, **options):
    host.loop.send(Load(record, seat=seat, **options))
    return host.wait(lambda event: isinstance(event, Loaded | Failed) and event.seat == seat)


def progress_of(host, request_id):
    return [
        event
        for event in host.events
        if isinstance(event, PrefillProgress | TextChunk) and event.request_id == request_id
    ]


def test_models_take_turns_and_answer_as_if_they_were_alone(host, records):
    alone = {}
    for round_number in range(2):
        seats = {"a": "builtin", "b": "plain"} if round_number else {"a": "builtin"}
        for seat, name in seats.items():
            assert isinstance(loaded(host, records[name], seat), Loaded)
        for number in range(2):
            host.loop.send(Generate(request(f"a{round_number}{number}", num_predict=120, ignore_eos=True), seat="a"))
        if round_number:
            host.loop.send(Generate(request("b", num_predict=120, ignore_eos=True), seat="b"))
            assert len(host.ended("b").token_ids) == 120
        tokens = [host.ended(f"a{round_number}{number}").token_ids for number in range(2)]
        assert alone.setdefault("a", tokens) == tokens
    ends = [event for event in host.events if isinstance(event, Finished)]
    assert len(ends) == 5
    figures = host.wait(lambda event: isinstance(event, MemoryFigures) and len(event.models) == 2)
    assert figures.weights == sum(figures_of_model.weights for figures_of_model in figures.models)
    assert {figures_of_model.seat for figures_of_model in figures.models} == {"a", "b"}
    # Unloading one leaves the other unchanged, and unloading the last frees everything.
    host.loop.send(Unload("a"))
    host.wait(lambda event: event == Unloaded("a"))
    host.loop.send(Generate(request("gone"), seat="a"))
    assert "No model is loaded" in host.ended("gone").message
    host.loop.send(Generate(request("still"), seat="b"))
    assert host.ended("still").done_reason is DoneReason.LENGTH
    host.loop.send(Unload("b"))
    host.wait(lambda event: event == Unloaded("b"))
    host.wait(lambda event: isinstance(event, MemoryFigures) and event.weights == event.pool == 0)
    assert getattr(host.loop, "pid", None) is None


def test_loading_and_unloading_one_model_does_not_affect_another(host, records):
    def others():
        host.loop.send(Load(records["plain"], seat="b"))
        host.loop.send(Load(records["window"], seat="b"))
        host.loop.send(Unload("b"))

    loaded(host, records["builtin"], "a")
    host.react(is_a(TextChunk), others)
    host.loop.send(Generate(request("long", num_predict=900, ignore_eos=True), seat="a"))
    host.wait(lambda event: isinstance(event, Loaded | Unloaded) and event.seat == "b", 3)
    assert host.ended("long").done_reason is DoneReason.LENGTH
    ends = [type(event) for event in host.events if isinstance(event, Loaded | Unloaded) and event.seat == "b"]
    assert len(ends) == 3
    assert ends[-1] is Unloaded


def test_a_loaded_model_answers_while_another_is_loaded(records):
    host = Host()
    loaded(host, records["builtin"], "a")
    host.react(is_a(TextChunk), lambda: host.loop.send(Load(records["plain"], seat="b")))
    host.loop.send(Generate(request("long", num_predict=400, ignore_eos=True), seat="a"))
    host.ended("long")
    kinds = [
        type(event)
        for event in host.events
        if isinstance(event, TextChunk) or (isinstance(event, LoadProgress | Loaded) and event.seat == "b")
    ]
    first, last = kinds.index(LoadProgress), kinds.index(Loaded)
    assert TextChunk in kinds[first:last]
    host.close()


def test_a_person_takes_precedence_over_programs_without_stopping_them(records):
    host = Host()
    loaded(host, records["builtin"], "a")
    loaded(host, records["plain"], "b")
    host.react(
        is_a(TextChunk), lambda: host.loop.send(Generate(request("person", num_predict=40, ignore_eos=True), seat="b"))
    )
    host.loop.send(Generate(request("program", num_predict=400, ignore_eos=True), seat="a", background=True))
    host.ended("person")
    events = list(host.events)
    during = events[events.index(progress_of(host, "person")[0]) : events.index(host.ended("person"))]
    mine, others = ([event for event in during if event in progress_of(host, name)] for name in ("person", "program"))
    assert 0 < len(others) <= len(mine) // 3 + 1
    host.ended("program")
    host.close()


def test_people_go_first_where_several_wait_for_one_model(records):
    host = Host()
    loaded(host, records["builtin"], "a")

    def ask():
        for number in range(5):
            host.loop.send(Generate(request(f"p{number}", num_predict=3), seat="a", background=True))
        host.loop.send(Generate(request("person", num_predict=3), seat="a"))

    host.react(is_a(TextChunk), ask)
    for number in range(4):
        host.loop.send(Generate(request(f"first{number}", num_predict=50, ignore_eos=True), seat="a", background=True))
    for number in range(5):
        host.ended(f"p{number}")
    begun = []
    for event in host.events:
        if isinstance(event, PrefillProgress) and event.request_id not in begun:
            begun.append(event.request_id)
    assert begun.index("person") < min(begun.index(f"p{number}") for number in range(5))
    host.close()


@pytest.fixture(scope="module")
def need(records):
    """Return the bytes that one model needs with its full context."""
    host = Host()
    host.loop.send(Measure(records["plain"]))
    needs = host.wait(is_a(Measured)).needs
    host.close()
    context = needs.longest_context
    computing = needs.cache_bytes(context) + needs.work_bytes(context, context)
    return needs.weight_bytes + max(needs.loading_bytes, computing)


def host_limited_to(nbytes):
    """Return a host with a memory limit for all models together."""
    return Host(lambda emit, _: EngineLoop(emit, lambda: EngineSettings(memory_limit=int(nbytes))))


def test_a_model_without_room_fails_and_loads_once_there_is_room(records, need):
    host = host_limited_to(1.3 * need)
    loaded(host, records["plain"], "a")
    failed = loaded(host, records["window"], "b", roomy=True)
    assert (failed.shortage, failed.seat, failed.bug) == (True, "b", False)
    assert "the limit in Settings" in failed.message
    # The other model is unaffected.
    host.loop.send(Generate(request("a"), seat="a"))
    assert host.ended("a").done_reason is DoneReason.LENGTH
    host.loop.send(Unload("a"))
    host.loop.send(Load(records["window"], seat="b"))
    assert host.wait(is_a(Loaded), 2).seat == "b"
    host.close()


def test_a_model_that_can_never_fit_is_not_a_shortage(records, need):
    host = host_limited_to(0.2 * need)
    failed = loaded(host, records["plain"], "a", roomy=True)
    assert not failed.shortage
    host.close()


def test_two_models_that_fit_are_loaded_together(records, need):
    host = host_limited_to(3.0 * need)
    for seat in "ab":
        assert isinstance(loaded(host, records["plain"], seat, roomy=True), Loaded)
    host.close()


@pytest.mark.parametrize(("share", "left"), [(1.3, ["window"]), (3.0, ["plain", "window"])])
def test_a_host_unloads_idle_models_only_if_it_has_to(records, need, share, left):
    host = LoopHost(lambda: EngineSettings(memory_limit=int(share * need)))
    for name in ("plain", "window"):
        answered, answers = threading.Event(), []
        visit = host.want(
            ModelRequest(records[name]),
            lambda answer, answers=answers, answered=answered: (answers.append(answer), answered.set()),
        )
        assert answered.wait(20)
        assert isinstance(answers[0], Admit), answers
        host.leave(visit)
    assert [answer.record for answer in host.resident_models] == [records[name] for name in left]
    assert host.close()


def test_a_load_that_runs_out_of_memory_is_retried_with_less_context(records, monkeypatch):
    from sotto.engine.weights import weights

    read, failures = weights.read, [1]

    def failing_read(*arguments):
        if failures:
            failures.pop()
            raise MemoryError
        return read(*arguments)

    monkeypatch.setattr(weights, "read", failing_read)
    host = Host()
    info = loaded(host, records["builtin"], "a").info
    assert info.context_length == 1024
    assert info.context_note == "Memory ran out while it was loaded, so it has a context of 1,024 tokens only."
    # A requested context is not reduced, nor is any other while models can be unloaded instead.
    for options in ({"num_ctx": 2048}, {"roomy": True}):
        failures.append(1)
        failed = loaded(host, records["plain"], f"b{options}", **options)
        assert isinstance(failed, Failed)
        assert failed.shortage
    # Two rounds are enough.
    failures += [1, 1]
    assert loaded(host, records["builtin"], "c").message.startswith("Memory ran out")
    host.close()

"""The contract of every engine host, in the app's process and in a separate one."""

import math
import random
import re
import threading
import time

import psutil
import pytest

from embedding import minilm
from hosts import Host, is_a, request, thread_loop
from sotto.engine.contract.events import (
    Counted,
    DoneReason,
    Embedded,
    Failed,
    Finished,
    Loaded,
    LoadProgress,
    PrefillProgress,
    TextChunk,
    Unloaded,
)
from sotto.engine.contract.requests import (
    CountRequest,
    EmbedRequest,
    Grammar,
    GrammarKind,
    Message,
    Overflow,
    SamplingOptions,
)
from sotto.engine.contract.tool_choice import ToolChoice
from sotto.engine.memory.memory_figures import Measured, MemoryFigures
from sotto.engine.prompt.tools import read_tools
from sotto.runner.catalogue import find
from sotto.runner.commands import Cancel, CancelLoad, Count, Embed, Generate, Load, Measure, Unload
from sotto.runner.isolated.process import RunnerProcess
from sotto.runner.loop import SLOTS
from sotto.store.opening import record_of
from thinking_models import HERMES, write_family
from thoroughness import some
from tiny_random import write_model, write_zeros

pytestmark = pytest.mark.slow

# A few hundred megabytes, so that evaluating a prompt takes seconds.
WIDE = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 6,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "max_position_embeddings": 2048,
}


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    made = {kind: record_of(write_model(root / kind, kind)) for kind in ("plain", "window")}
    return made | {"builtin": find("sotto"), "hermes": record_of(write_family(root / "hermes", HERMES))}


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    return record_of(write_zeros(tmp_path_factory.mktemp("wide") / "wide", "plain", **WIDE))


# For tests that depend on values sent between processes, or on the end of one; the loop does the rest in both hosts.
in_both_hosts = pytest.mark.parametrize(
    "shared_host",
    [pytest.param(thread_loop, marks=pytest.mark.full), RunnerProcess],
    ids=["thread", "process"],
    indirect=True,
    scope="module",
)


@pytest.fixture(
    scope="module",
    params=[thread_loop, pytest.param(RunnerProcess, marks=pytest.mark.full)],
    ids=["thread", "process"],
)
def shared_host(request):
    """Yield one host for all tests, because starting a process takes longer than most of them."""
    host = Host(request.param)
    yield host
    host.close()
    assert host.error is None
    assert host.events[-1] == Unloaded()
    assert host.threads == {"owner"}


@pytest.fixture
def host(shared_host):
    yield shared_host
    shared_host.start_over()


@pytest.fixture
def loaded(host, records):
    host.loop.send(Load(records["plain"]))
    host.wait(is_a(Loaded))
    return host


@in_both_hosts
def test_an_answer_is_the_required_call(host, records):
    host.loop.send(Load(records["hermes"]))
    host.wait(is_a(Loaded))
    digit = {"type": "integer", "maximum": 9, "minimum": 0}
    schema = {"type": "object", "properties": {"n": digit}, "required": ["n"], "additionalProperties": False}
    tools = read_tools([{"name": "find", "parameters": schema}, {"name": "stop"}], "tools")
    conversation = {"messages": (Message("user", "Find it."),), "tools": tools, "num_predict": 200}
    choice = ToolChoice(required=True, tool="find", single=True)
    host.loop.send(Generate(request("a", None, tool_choice=choice, think_budget=5, **conversation)))
    host.loop.send(Generate(request("b", None, tool_choice=ToolChoice(required=True, tool="fly"), **conversation)))
    (call,) = host.ended("a").calls
    assert call.name == "find"
    assert call.arguments["n"] in range(10)
    assert host.ended("b") == Failed("b", "tool_choice asks for fly, and tools has only find, stop.")


def ends_of(host, request_id):
    return [event for event in host.events if isinstance(event, Finished | Failed) and event.request_id == request_id]


def resident():
    """Return the bytes of private memory of this process and its children.

    File-backed pages, which the system can evict and read again, are excluded where it reports them separately.
    """
    process = psutil.Process()
    taken = [memory.memory_info() for memory in (process, *process.children())]
    return sum(memory.rss - getattr(memory, "shared", 0) for memory in taken)


def kinds_of(host):
    """Return the types of events in order, without immediate repetitions."""
    kinds = [type(event) for event in host.events if not isinstance(event, MemoryFigures)]
    return [kind for place, kind in enumerate(kinds) if place == 0 or kinds[place - 1] is not kind]


@in_both_hosts
def test_a_model_is_loaded_used_and_unloaded(host, records):
    host.loop.send(Load(records["builtin"]))
    host.loop.send(Generate(request("a", "Once upon a time")))
    finished = host.ended("a")
    host.loop.send(Unload())
    host.wait(is_a(Unloaded))
    assert kinds_of(host) == [LoadProgress, Loaded, PrefillProgress, TextChunk, Finished, Unloaded]
    assert finished.done_reason is DoneReason.LENGTH
    chunks = [event for event in host.events if isinstance(event, TextChunk)]
    assert "".join(chunk.text for chunk in chunks) == finished.text
    assert tuple(token for chunk in chunks for token in chunk.token_ids) == finished.token_ids
    info = host.wait(is_a(Loaded)).info
    assert (info.name, info.digest) == (records["builtin"].name, records["builtin"].digest)


def test_seeded_sampling_gives_the_same_answer_in_both_hosts(records):
    answers = []
    for make in (thread_loop, RunnerProcess):
        host = Host(make)
        host.loop.send(Load(records["builtin"], 512))
        host.loop.send(
            Generate(
                request(
                    "a",
                    None,
                    messages=(Message("system", "Be brief, “please”."), Message("user", "Who are you? \U0001f642")),
                    sampling=SamplingOptions(temperature=0.9, top_p=0.95, seed=5),
                    num_predict=40,
                    stop=("\n\n",),
                )
            )
        )
        finished = host.ended("a")
        assert host.wait(is_a(Loaded)).info.context_length == 512
        answers.append((finished.text, finished.token_ids, finished.done_reason, finished.prompt_tokens))
        host.close()
    assert answers[0] == answers[1]
    assert answers[0][0]


@in_both_hosts
def test_both_hosts_enforce_a_format(host, records):
    host.loop.send(Load(records["builtin"]))
    host.wait(is_a(Loaded))
    digits = Grammar(GrammarKind.REGEX, "[0-9]{3}é", "digits.regex")
    host.loop.send(Generate(request("a", grammar=digits, num_predict=20)))
    host.loop.send(Generate(request("b", grammar=Grammar(GrammarKind.REGEX, "(", "digits.regex"))))
    host.loop.send(Generate(request("c")))
    answer = host.ended("a")
    assert re.fullmatch("[0-9]{3}é", answer.text)
    assert answer.done_reason is DoneReason.STOP
    refused = host.ended("b")
    assert isinstance(refused, Failed)
    assert refused.message == "digits.regex cannot be guaranteed: the pattern ( has an unclosed group at character 1."
    assert not refused.bug
    assert isinstance(host.ended("c"), Finished)


@in_both_hosts
def test_options_by_name_reach_the_engine(loaded):
    loaded.loop.send(
        Generate(request("a", sampling=None, num_predict=None, options={"num_predict": 3, "temperature": 0}))
    )
    assert len(loaded.ended("a").token_ids) == 3
    loaded.loop.send(Generate(request("b", sampling=None, options={"temperature": "hot"})))
    assert "temperature" in loaded.ended("b").message


@in_both_hosts
def test_sampling_options_and_logprobs_cross_processes(host, records):
    host.loop.send(Load(records["builtin"]))
    sampling = SamplingOptions(
        seed=3,
        typical_p=0.9,
        xtc_probability=0.5,
        dry_multiplier=0.8,
        dry_sequence_breakers=("\n", "é"),
        logit_bias=((70, -100.0), (71, 2.5)),
    )
    host.loop.send(Generate(request("a", sampling=sampling, logprobs=2, num_predict=20)))
    finished = host.ended("a")
    entries = [entry for event in host.events if isinstance(event, TextChunk) for entry in event.logprobs]
    assert tuple(entry.sampled.token_id for entry in entries) == finished.token_ids
    assert b"".join(entry.sampled.data for entry in entries).decode(errors="replace") == finished.text
    assert {len(entry.top) for entry in entries} == {2}
    loop = SamplingOptions(temperature=0, logit_bias=((70, 100.0),))
    host.loop.send(Generate(request("b", sampling=loop, num_predict=-1)))
    assert host.ended("b").done_reason is DoneReason.LOOP


WRONG = [
    ({"sampling": SamplingOptions(temperature=math.inf)}, "Option temperature must be from 0 to 100, not inf."),
    (
        {"sampling": SamplingOptions(seed=2**64)},
        f"Option seed must be from {-(2**63)} to {2**64 - 1}, not {2**64}.",
    ),
    ({"sampling": None, "options": {"top_q": 1}}, "Option top_q is not known; did you mean top_p?"),
    ({"logprobs": 21}, "logprobs must be from 0 to 20, not 21."),
    ({"prompt": ""}, "empty prompt"),
]


def test_values_out_of_range_are_refused_with_a_reason(loaded):
    for number, (wrong, sentence) in enumerate(WRONG):
        loaded.loop.send(Generate(request(str(number), **wrong)))
        failed = loaded.ended(str(number))
        assert (failed.message, failed.bug) == (sentence, False)


def test_an_answer_can_be_stopped_while_its_prompt_is_evaluated(host, wide):
    def stop():
        host.loop.send(Cancel("a"))

    host.loop.send(Load(wide))
    host.wait(is_a(Loaded))
    host.react(is_a(PrefillProgress), stop)
    host.loop.send(Generate(request("a", "x" * 1900)))
    finished = host.ended("a")
    assert finished.done_reason is DoneReason.CANCELLED
    assert not finished.token_ids
    assert max(event.done for event in host.events if isinstance(event, PrefillProgress)) < 1900


@in_both_hosts
def test_an_answer_can_be_stopped_while_it_is_generated(host, records):
    host.loop.send(Load(records["builtin"]))
    host.react(is_a(TextChunk), lambda: host.loop.send(Cancel("a")))
    host.loop.send(Generate(request("a", num_predict=None, ignore_eos=True)))
    finished = host.ended("a")
    assert finished.done_reason is DoneReason.CANCELLED
    assert 0 < len(finished.token_ids) < 4000
    host.loop.send(Generate(request("b")))
    assert host.ended("b").done_reason is DoneReason.LENGTH


def test_a_short_answer_does_not_wait_for_a_long_one(host, records):
    host.loop.send(Load(records["builtin"]))
    host.react(is_a(TextChunk), lambda: host.loop.send(Generate(request("short", "yes"))))
    host.loop.send(Generate(request("long", num_predict=2000, ignore_eos=True)))
    host.ended("long")
    assert [event.request_id for event in host.events if isinstance(event, Finished)] == ["short", "long"]


def test_more_requests_than_run_at_once_are_all_answered(loaded):
    for number in range(SLOTS + 3):
        loaded.loop.send(Generate(request(str(number), "x" * (number + 1), num_predict=30, ignore_eos=True)))
    for number in range(SLOTS + 3):
        assert loaded.ended(str(number)).done_reason is DoneReason.LENGTH


def test_a_waiting_request_can_be_cancelled(host, records):
    host.loop.send(Load(records["builtin"]))
    host.wait(is_a(Loaded))
    for number in range(SLOTS):
        host.loop.send(Generate(request(str(number), num_predict=150, ignore_eos=True)))
    host.loop.send(Generate(request("waiting")))
    host.loop.send(Cancel("waiting"))
    host.loop.send(Cancel("nobody"))
    assert host.ended("waiting").done_reason is DoneReason.CANCELLED
    assert not any(ends_of(host, str(number)) for number in range(SLOTS))
    for number in range(SLOTS):
        assert host.ended(str(number)).done_reason is DoneReason.LENGTH


@pytest.mark.parametrize("instead", ["load", "unload"])
def test_a_load_or_unload_ends_the_running_answer(host, records, instead):
    def act():
        if instead == "load":
            host.loop.send(Load(records["window"]))
        else:
            host.loop.send(Unload())
        host.loop.send(Generate(request("after")))

    host.loop.send(Load(records["builtin"]))
    host.react(is_a(TextChunk), act)
    host.loop.send(Generate(request("running", num_predict=None, ignore_eos=True)))
    after = host.ended("after")
    assert host.ended("running").done_reason is DoneReason.CANCELLED
    if instead == "load":
        assert host.wait(is_a(Loaded), 2).info.name == records["window"].name
        assert isinstance(after, Finished)
        assert kinds_of(host)[-4:] == [Loaded, PrefillProgress, TextChunk, Finished]
    else:
        assert after.message == "No model is loaded: load one before asking it."
        assert kinds_of(host)[-3:] == [Finished, Unloaded, Failed]


def test_a_request_during_a_load_is_served_after_it(host, records):
    host.react(is_a(LoadProgress), lambda: host.loop.send(Generate(request("early"))))
    host.loop.send(Load(records["plain"]))
    assert isinstance(host.ended("early"), Finished)


@in_both_hosts
def test_a_load_can_be_stopped_and_leaves_nothing(host, wide, records):
    host.react(is_a(LoadProgress), lambda: host.loop.send(CancelLoad()))
    host.loop.send(Load(wide))
    host.wait(is_a(Unloaded))
    host.loop.send(Generate(request("a")))
    assert isinstance(host.ended("a"), Failed)
    host.loop.send(Load(records["plain"]))
    host.wait(is_a(Loaded))


def test_a_load_during_another_replaces_it(host, wide, records):
    host.react(is_a(LoadProgress), lambda: host.loop.send(Load(records["plain"])))
    host.loop.send(Load(wide))
    assert host.wait(is_a(Loaded)).info.name == records["plain"].name
    assert [type(event) for event in host.events if isinstance(event, Loaded | Unloaded | Failed)] == [Unloaded, Loaded]


@in_both_hosts
def test_a_broken_model_fails_with_a_reason_and_the_next_one_works(host, records, tmp_path):
    folder = write_model(tmp_path / "broken é", "plain")
    record = record_of(folder)
    (folder / "model.safetensors").write_bytes(b"nothing")
    host.loop.send(Load(record))
    failed = host.wait(is_a(Failed))
    assert (failed.request_id, failed.bug) == ("", False)
    assert "model.safetensors" in failed.message
    host.loop.send(Load(records["plain"]))
    assert host.wait(is_a(Loaded)).info.name == records["plain"].name


def test_an_invalid_request_does_not_affect_others(loaded):
    loaded.loop.send(Generate(request("empty", "")))
    loaded.loop.send(Generate(request("long", "x" * 300)))
    loaded.loop.send(Generate(request("half", "\ud800")))
    loaded.loop.send(Generate(request("good")))
    assert isinstance(loaded.ended("good"), Finished)
    assert loaded.ended("empty").message == "empty prompt"
    assert "exceeds the model's maximum context length" in loaded.ended("long").message
    assert "half of a character" in loaded.ended("half").message


@in_both_hosts
def test_a_request_without_a_model_fails_with_a_reason(host):
    host.loop.send(Generate(request("a")))
    assert host.ended("a").message == "No model is loaded: load one before asking it."


def test_unloading_without_a_model_is_acknowledged_too(host):
    host.loop.send(Unload())
    host.wait(is_a(Unloaded))
    host.loop.send(Unload())
    host.wait(is_a(Unloaded), 2)


@in_both_hosts
def test_memory_is_reported_and_freed(host, records, wide):
    def empty(event):
        return isinstance(event, MemoryFigures) and event.weights == event.cache == event.pool == 0

    # Memory of modules that are imported once remains.
    host.loop.send(Load(records["plain"]))
    host.wait(is_a(Loaded))
    host.loop.send(Unload())
    host.wait(is_a(Unloaded))
    before = resident()
    host.loop.send(Load(wide))
    full = host.wait(lambda event: isinstance(event, MemoryFigures) and event.weights > 300_000_000)
    assert full.active >= full.weights
    assert resident() > before + 300_000_000
    known = len([event for event in host.events if empty(event)])
    host.loop.send(Unload())
    host.wait(is_a(Unloaded), 2)
    assert resident() < before + 60_000_000
    host.wait(empty, known + 1)


@pytest.mark.parametrize("moment", some([LoadProgress, PrefillProgress, TextChunk, None], 2))
def test_closing_at_any_moment_ends_everything(moment, wide):
    for make in (thread_loop, RunnerProcess):
        host = Host(make)
        if moment is None:
            host.loop.close()
        else:
            host.react(is_a(moment), host.loop.close)
            host.loop.send(Load(wide))
            host.loop.send(Generate(request("running", "x" * 700, num_predict=None, ignore_eos=True)))
            host.loop.send(Generate(request("waiting")))
        began = time.monotonic()
        host.thread.join(60)
        assert not host.thread.is_alive()
        assert time.monotonic() - began < 30
        assert host.error is None
        assert host.events[-1] == Unloaded()
        for name in ("running", "waiting") if moment else ():
            (end,) = ends_of(host, name)
            assert end.done_reason is DoneReason.CANCELLED


@in_both_hosts
def test_each_request_of_any_thread_is_answered_once(host, records):
    names = [f"{thread}{number}" for thread in "abc" for number in range(8)]
    loads = []

    def ask_some(thread):
        chance = random.Random(thread)
        for number in range(8):
            host.loop.send(Generate(request(f"{thread}{number}", num_predict=chance.randrange(1, 40), ignore_eos=True)))
            what = chance.random()
            if what < 0.3:
                host.loop.send(Cancel(f"{thread}{chance.randrange(8)}"))
            elif what < 0.4:
                host.loop.send(Load(records[chance.choice(["plain", "window"])]))
                loads.append(1)
            elif what < 0.45:
                host.loop.send(Unload())
                loads.append(1)
            elif what < 0.5:
                host.loop.send(CancelLoad())
            time.sleep(chance.random() / 50)

    host.loop.send(Load(records["plain"]))
    threads = [threading.Thread(target=ask_some, args=(thread,)) for thread in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in names:
        host.ended(name)
    host.loop.send(Unload())
    host.wait(lambda event: isinstance(event, Loaded | Unloaded), len(loads) + 2)
    assert all(len(ends_of(host, name)) == 1 for name in names)
    assert len([event for event in host.events if isinstance(event, Loaded | Unloaded)]) == len(loads) + 2


@in_both_hosts
def test_tokens_are_counted_during_an_answer(loaded):
    messages = (Message("user", "hello " * 20),)
    loaded.react(is_a(TextChunk), lambda: loaded.loop.send(Count(CountRequest("count", messages, ("hello",)))))
    loaded.loop.send(Generate(request("long", num_predict=2000, ignore_eos=True, overflow=Overflow.SHIFT)))
    counted = loaded.wait(is_a(Counted))
    loaded.ended("long")
    places = [event.request_id for event in loaded.events if isinstance(event, Counted | Finished)]
    assert places == ["count", "long"]
    loaded.loop.send(Generate(request("same", None, messages=messages, num_predict=1)))
    assert counted.tokens == counted.last == loaded.ended("same").prompt_tokens
    assert len(counted.texts) == 1


def test_a_prompt_of_tokens_is_used_unchanged(loaded):
    loaded.loop.send(Generate(request("of text", "hello", num_predict=4, echo=True)))
    of_text = loaded.ended("of text")
    assert of_text.text.startswith("hello")
    loaded.loop.send(Generate(request("tokens", (3, 4, 5), num_predict=4, echo=True)))
    of_tokens = loaded.ended("tokens")
    assert of_tokens.prompt_tokens == 3
    chunks = [event for event in loaded.events if isinstance(event, TextChunk) and event.request_id == "tokens"]
    assert "".join(chunk.text for chunk in chunks) == of_tokens.text
    assert sum(len(chunk.token_ids) for chunk in chunks) == len(of_tokens.token_ids)
    loaded.loop.send(Generate(request("without", (3, 4, 5), num_predict=4)))
    without = loaded.ended("without")
    assert without.token_ids == of_tokens.token_ids
    assert of_tokens.text.endswith(without.text)
    assert len(of_tokens.text) > len(without.text)
    loaded.loop.send(Generate(request("beyond", (3, 10**9))))
    assert loaded.ended("beyond").message.startswith("prompt names token 1000000000, and this model's are 0 to ")


def test_nothing_is_counted_without_a_model(host, records):
    host.loop.send(Count(CountRequest("early", (Message("user", "hello"),))))
    assert "No model is loaded" in host.ended("early").message
    host.loop.send(Load(records["plain"]))
    host.wait(is_a(Loaded))
    host.loop.send(Count(CountRequest("none", ())))
    assert "nothing to count" in host.ended("none").message
    host.loop.send(Count(CountRequest("tools", (Message("user", "hello"),), tools=({"type": "function"},))))
    assert "knows nothing of tools" in host.ended("tools").message
    host.loop.send(Unload())
    host.wait(is_a(Unloaded))
    host.loop.send(Count(CountRequest("late", (Message("user", "hello"),))))
    assert "No model is loaded" in host.ended("late").message


def vectors_of(host, request_id, *texts, **options):
    host.loop.send(Embed(EmbedRequest(request_id, texts, **options)))
    return host.wait(lambda event: getattr(event, "request_id", None) == request_id)


@in_both_hosts
def test_an_encoder_makes_embeddings_and_does_not_chat(host):
    host.loop.send(Load(record_of(minilm())))
    assert not host.wait(is_a(Loaded)).info.writes
    done = vectors_of(host, "v", "Hello world", "Good morning", dimensions=16)
    assert isinstance(done, Embedded)
    assert [len(vector) for vector in done.vectors] == [16, 16]
    assert all(sum(number**2 for number in vector) == pytest.approx(1, abs=1e-5) for vector in done.vectors)
    host.loop.send(Generate(request("a", "Hi")))
    assert "makes embeddings only" in host.ended("a").message


def test_embeddings_are_the_same_in_both_hosts(records):
    found = []
    for make in (thread_loop, RunnerProcess):
        host = Host(make)
        host.loop.send(Load(records["builtin"]))
        found.append(vectors_of(host, "v", "Once upon a time", "there was", (5, 6, 7)).vectors)
        host.close()
    assert found[0] == found[1]


@in_both_hosts
def test_embeddings_are_made_during_an_answer(loaded):
    loaded.loop.send(Generate(request("a", num_predict=200, ignore_eos=True)))
    loaded.wait(is_a(TextChunk))
    assert isinstance(vectors_of(loaded, "v", "some text"), Embedded)
    assert len(loaded.ended("a").token_ids) == 200


def test_embeddings_can_be_cancelled(loaded):
    loaded.loop.send(Embed(EmbedRequest("v", ("word " * 45,) * 5000)))
    loaded.loop.send(Cancel("v"))
    assert loaded.ended("v").done_reason is DoneReason.CANCELLED


@pytest.mark.parametrize("instead", ["load", "unload"])
def test_a_load_or_unload_ends_embeddings_too(loaded, records, instead):
    loaded.loop.send(Embed(EmbedRequest("v", ("word " * 45,) * 5000)))
    if instead == "load":
        loaded.loop.send(Load(records["window"]))
    else:
        loaded.loop.send(Unload())
    assert loaded.ended("v").done_reason is DoneReason.CANCELLED


def test_a_failed_embedding_does_not_affect_others(loaded):
    assert vectors_of(loaded, "v", "").message == "An input is empty: give texts of at least one token."
    assert isinstance(vectors_of(loaded, "w", "a"), Embedded)


def test_embeddings_without_a_model_fail_with_a_reason(host):
    assert "No model is loaded" in vectors_of(host, "v", "a").message


@in_both_hosts
def test_models_are_measured_while_another_is_loaded(loaded, records):
    loaded.loop.send(Measure(records["window"]))
    measured = loaded.wait(is_a(Measured))
    assert measured.digest == records["window"].digest
    assert measured.needs.weight_bytes > 0
    assert measured.needs.cache_bytes(64) > 0

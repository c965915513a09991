import gc
import json
import shutil
import subprocess
import sys
import threading
from dataclasses import replace

import mlx.core as mx
import pytest

from material import material
from places import REFERENCES
from sotto.engine import engine as engine_module
from sotto.engine.architectures.cache_types import room_for
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import DoneReason, Finished, LoadProgress, PrefillProgress, TextChunk
from sotto.engine.contract.requests import GenerateRequest, Message, Overflow, SamplingOptions
from sotto.engine.engine import Engine
from sotto.engine.footprint import load_planning
from sotto.engine.footprint.model_needs import needs_of
from sotto.engine.memory.memory_plan import Limits, Verdict, plan
from sotto.errors import BrokenModelError, CancelledError, InvalidRequestError, UnsupportedModelError
from sotto.store.opening import open_model, record_of
from stores import assert_line, assert_sentence
from thoroughness import share
from tiny_random import CONFIGS, EOS, VOCABULARY, write_model

GREEDY = SamplingOptions(temperature=0)
kinds = pytest.mark.parametrize("kind", sorted(CONFIGS))


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {kind: open_model(record_of(write_model(root / kind, kind))) for kind in CONFIGS}


@pytest.fixture
def engine():
    engine = Engine()
    yield engine
    engine.unload()


@pytest.fixture
def plain(engine, sources):
    engine.load(sources["plain"])
    return engine


def ask(engine, prompt=None, messages=(), **options):
    request = GenerateRequest(
        id="r", prompt=prompt, messages=messages, **{"sampling": GREEDY, "num_predict": 10, **options}
    )
    return list(engine.generate(engine.prepare(request)))


def test_a_loaded_model_says_what_it_is(engine, sources):
    progress = []
    info = engine.load(sources["plain"], progress=progress.append)
    assert engine.info is info
    assert info.name == sources["plain"].record.name
    assert info.digest == sources["plain"].record.digest
    assert (info.architecture, info.context_length) == ("llama", 256)
    assert info.weight_bytes == sources["plain"].weight_bytes
    assert info.kv_bytes_per_token == 2 * 2 * 2 * 8 * 4
    assert info.has_chat_template
    assert info.template_note == ""
    assert info.load_duration > 0
    assert {event.phase for event in progress} >= {"weights", "tokenizer"}
    assert all(isinstance(event, LoadProgress) and 0 <= event.done <= event.total for event in progress)
    shares = [event.done / event.total for event in progress]
    assert shares == sorted(shares)


def test_a_smaller_context_may_be_asked_for(engine, sources):
    assert engine.load(sources["plain"], num_ctx=64).context_length == 64
    assert engine.load(sources["plain"], num_ctx=100_000).context_length == 256
    assert engine.load(sources["plain"], num_ctx=1).context_length == 4


@kinds
def test_answers_do_not_depend_on_what_was_asked_before(engine, sources, kind):
    engine.load(sources[kind])
    first = ask(engine, "The first question? ")[-1]
    ask(engine, "The first answer")
    ask(engine, "Something else")
    again = ask(engine, "The first question? ")[-1]
    assert again.token_ids == first.token_ids
    assert again.text == first.text
    assert again.cached_tokens < again.prompt_tokens == 20


@kinds
def test_a_conversation_is_computed_once(engine, sources, kind):
    engine.load(sources[kind])
    turns = [Message("user", "Where is the ball, please?")]
    ask(engine, messages=tuple(turns), ignore_eos=True)
    turns += [Message("assistant", "rendered differently"), Message("user", "And now?")]
    second = ask(engine, messages=tuple(turns), ignore_eos=True)[-1]
    history = len("[user]Where is the ball, please?") + 1
    assert second.cached_tokens >= history
    fresh = Engine()
    fresh.load(sources[kind])
    assert ask(fresh, messages=tuple(turns), ignore_eos=True)[-1].token_ids == second.token_ids


def test_messages_go_through_the_template(plain):
    said = (Message("system", "Be."), Message("user", "Hi"), Message("assistant", "Yo"))
    # The end-of-sequence text counts as the one token that it is.
    asked = ask(plain, messages=(*said, Message("user", "So")))
    assert asked[-1].prompt_tokens == len("[system]Be./[user]Hi/[assistant]Yo/[user]So/[assistant]")
    going_on = ask(plain, messages=said)
    assert going_on[-1].prompt_tokens == len("[system]Be./[user]Hi/[assistant]Yo")


def test_the_same_seed_gives_the_same_answer(plain):
    def drawn(seed):
        return ask(plain, "Once", sampling=SamplingOptions(temperature=1.0, seed=seed), num_predict=30)[-1].token_ids

    assert drawn(3) == drawn(3)
    assert len({drawn(seed) for seed in range(4)}) > 1


def test_ignored_end_of_sequence_tokens_are_never_drawn(plain):
    def answers(ignore_eos):
        wild = [SamplingOptions(temperature=5.0, top_k=0, top_p=1.0, seed=seed) for seed in range(4)]
        return [ask(plain, "x", sampling=one, num_predict=200, ignore_eos=ignore_eos)[-1] for one in wild]

    assert DoneReason.STOP in {finished.done_reason for finished in answers(False)}
    for finished in answers(True):
        assert finished.done_reason is DoneReason.LENGTH
        assert len(finished.token_ids) == 200
        assert EOS not in finished.token_ids


def test_stop_strings_end_the_answer(plain):
    text = ask(plain, "Once")[-1].text
    stopped = ask(plain, "Once", stop=(text[4:6],))[-1]
    assert stopped.text == text[: text.index(text[4:6])]
    assert stopped.done_reason is DoneReason.STOP


@pytest.mark.parametrize("asked", [None, 0, -1, 500])
def test_an_answer_ends_with_the_context(plain, asked):
    finished = ask(plain, "x" * 250, num_predict=asked, ignore_eos=True)[-1]
    assert len(finished.token_ids) == 6
    assert finished.done_reason is DoneReason.LENGTH


def test_requests_that_cannot_be_honoured_are_refused(engine, sources):
    with pytest.raises(InvalidRequestError, match="No model is loaded"):
        engine.prepare(GenerateRequest(id="r", prompt="x"))
    engine.load(sources["plain"])
    for request in (GenerateRequest(id="r"), GenerateRequest(id="r", prompt="x", messages=(Message("user", "x"),))):
        with pytest.raises(InvalidRequestError, match="exactly one"):
            engine.prepare(request)
    with pytest.raises(InvalidRequestError, match="empty prompt"):
        engine.prepare(GenerateRequest(id="r", prompt=""))
    with pytest.raises(InvalidRequestError) as error:
        engine.prepare(GenerateRequest(id="r", prompt="x" * 256))
    assert str(error.value) == "input length (256 tokens) exceeds the model's maximum context length (256 tokens)"
    engine.load(sources["plain"], num_ctx=32)
    with pytest.raises(InvalidRequestError) as error:
        engine.prepare(GenerateRequest(id="r", prompt="x" * 32))
    assert str(error.value) == "input length (32 tokens) exceeds the context length asked for, num_ctx (32 tokens)"


def test_what_was_prepared_for_another_model_is_refused(engine, sources):
    engine.load(sources["plain"])
    prepared = engine.prepare(GenerateRequest(id="r", prompt="x"))
    engine.load(sources["window"])
    with pytest.raises(InvalidRequestError, match="not loaded any more"):
        engine.generate(prepared)


def test_preparing_may_happen_on_another_thread_while_the_owner_generates(plain):
    results = []
    events = plain.generate(plain.prepare(GenerateRequest(id="a", prompt="One", sampling=GREEDY, num_predict=5)))
    next(events)
    thread = threading.Thread(
        target=lambda: results.append(plain.prepare(GenerateRequest(id="b", prompt="Two", sampling=GREEDY)))
    )
    thread.start()
    rest = list(events)
    thread.join()
    assert isinstance(rest[-1], Finished)
    assert isinstance(list(plain.generate(results[0]))[-1], Finished)


@pytest.fixture
def uncollected():
    """Let Python look for no garbage, as beside a window: what is given back has to be free of cycles."""
    gc.collect()
    # Steps of earlier tests that are still computed free their arrays when they end.
    mx.synchronize()
    gc.disable()
    yield
    gc.enable()


@kinds
def test_unloading_gives_the_memory_back(sources, kind, uncollected):
    engine = Engine()
    before = mx.get_active_memory()
    for _ in range(2):
        engine.load(sources[kind])
        figures = engine.memory()
        assert figures.weights > 0
        assert figures.cache == 0
        ask(engine, "Some words to keep in the cache")
        figures = engine.memory()
        assert figures.cache > 0
        assert figures.active >= figures.weights
        assert figures.peak >= figures.active
        engine.unload()
        assert engine.info is None
        assert mx.get_active_memory() == before
        assert (engine.memory().weights, engine.memory().cache, engine.memory().pool) == (0, 0, 0)


def test_a_load_can_be_stopped(engine, sources, uncollected):
    before = mx.get_active_memory()
    with pytest.raises(CancelledError):
        engine.load(sources["plain"], cancelled=lambda: True)
    assert engine.info is None
    engine.unload()
    assert mx.get_active_memory() == before
    engine.load(sources["plain"])
    assert ask(engine, "Once")[-1].text


def test_a_load_that_fails_leaves_nothing(engine, sources, tmp_path, uncollected):
    before = mx.get_active_memory()
    engine.load(sources["plain"])
    folder = write_model(tmp_path / "broken", "plain", hidden_size=64)
    with pytest.raises(BrokenModelError):
        engine.load(open_model(record_of(folder)))
    assert engine.info is None
    assert mx.get_active_memory() == before


def test_the_models_own_system_prompt_comes_first_unless_there_is_one(tmp_path, engine):
    source = open_model(record_of(write_model(tmp_path / "plain", "plain")))
    engine.load(replace(source, system="Be kind."))
    user = Message("user", "Hi")
    lengths = [
        len(engine.prepare(GenerateRequest(id="r", messages=messages)).prompt)
        for messages in ((user,), (Message("system", "No."), user), (Message("system", ""), user))
    ]
    assert lengths == [
        len("[system]Be kind./[user]Hi/[assistant]"),
        len("[system]No./[user]Hi/[assistant]"),
        len("[user]Hi/[assistant]"),
    ]


def test_options_of_the_manifest_fill_in_what_a_request_leaves_open(tmp_path, engine):
    source = open_model(record_of(write_model(tmp_path / "plain", "plain")))
    engine.load(replace(source, params={"temperature": 0, "num_predict": 3, "stop": ["never"], "num_ctx": 100}))
    assert engine.info.context_length == 100
    left_open = engine.prepare(GenerateRequest(id="r", prompt="x"))
    assert (left_open.sampling, left_open.max_tokens, left_open.stop) == (GREEDY, 3, ("never",))
    given = engine.prepare(GenerateRequest(id="r", prompt="x", num_predict=5, stop=("a",)))
    assert (given.sampling, given.max_tokens, given.stop) == (GREEDY, 5, ("a",))
    complete = engine.prepare(GenerateRequest(id="r", prompt="x", sampling=SamplingOptions()))
    assert (complete.sampling, complete.max_tokens, complete.stop) == (SamplingOptions(), 99, ())
    assert engine.load(source, num_ctx=50).context_length == 50


def test_a_model_without_a_template_does_not_speak_for_the_user(tmp_path, engine):
    info = engine.load(open_model(record_of(write_model(tmp_path / "plain", "plain", template=""))))
    assert not info.has_chat_template
    assert info.template_note.startswith("It brings no chat template, so it reads a conversation as plain text")
    chat = GenerateRequest(id="r", messages=(Message("user", "Hi"),), stop=("a",))
    assert engine.prepare(chat).stop == ("a", "\nUser:")
    assert engine.prepare(GenerateRequest(id="r", prompt="Hi")).stop == ()


def test_a_definition_that_fails_while_computing_is_told_in_a_sentence(tmp_path, engine):
    folder = write_model(tmp_path / "model", "plain")
    config = json.loads((REFERENCES / "mamba2" / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"time_step_limit": {"from": 0, "to": 1}}))
    shutil.copy(REFERENCES / "mamba2" / "model.safetensors", folder)
    with pytest.raises(UnsupportedModelError, match="The definition of mamba2 models cannot compute it: ") as refused:
        engine.load(open_model(record_of(folder)))
    assert_line(refused.value.message, folder)
    assert engine.info is None


def test_what_a_definition_says_is_the_end_of_a_sentence(tmp_path, engine):
    folder = write_model(tmp_path / "model", "plain")
    config = json.loads((REFERENCES / "stablelm" / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps(config | {"partial_rotary_factor": 0.4, "rope_parameters": None, "rope_theta": 1e4})
    )
    shutil.copy(REFERENCES / "stablelm" / "model.safetensors", folder)
    with pytest.raises(UnsupportedModelError, match="must be even") as refused:
        engine.load(open_model(record_of(folder)))
    assert_sentence(refused.value.message, folder)


def test_a_token_that_the_model_does_not_have_is_refused(tmp_path, engine):
    folder = write_model(tmp_path / "plain", "plain")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["added_tokens"].append(tokenizer["added_tokens"][0] | {"id": VOCABULARY, "content": "<beyond>"})
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    engine.load(open_model(record_of(folder)))
    assert engine.prepare(GenerateRequest(id="r", prompt="fine")).prompt
    with pytest.raises(BrokenModelError, match=rf"token {VOCABULARY}, but the model has only {VOCABULARY} tokens"):
        engine.prepare(GenerateRequest(id="r", prompt="one <beyond> all"))


def test_a_real_model_tells_the_story_of_the_reference(engine):
    folder = material("stories260k")
    engine.load(open_model(record_of(folder)))
    for case in json.loads((folder / "expected.json").read_text()):
        events = ask(engine, case["prompt"], num_predict=case["steps"])
        text = "".join(event.text for event in events if isinstance(event, TextChunk))
        assert (case["prompt"] + text).startswith(case["text"])


def test_long_prompts_report_their_progress(engine):
    engine.load(open_model(record_of(material("stories260k"))))
    events = ask(engine, "Once upon a time there was a dog. " * 48, num_predict=1)
    progress = [event.done for event in events if isinstance(event, PrefillProgress)]
    assert progress == sorted(progress)
    assert len(progress) > 3
    assert progress[-1] == events[-1].prompt_tokens


SCRIPT = """
import sys, threading
from pathlib import Path
from sotto.engine.kernels import device
device.prepare()

def work():
    from sotto.engine.engine import Engine
    from sotto.engine.contract.requests import GenerateRequest
    from sotto.store.opening import open_model, record_of
    engine = Engine()
    engine.load(open_model(record_of(Path(sys.argv[1]))))
    events = engine.generate(engine.prepare(GenerateRequest(id="r", prompt="Once", num_predict=3)))
    for index, _ in enumerate(events):
        if index == int(sys.argv[2]):
            break
    del events
    engine.close()
    print("done")

thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


@pytest.mark.slow
def test_a_process_with_the_engine_on_a_thread_ends_well_every_time(tmp_path):
    folder = write_model(tmp_path / "plain", "plain")
    for run in range(share(20, 5)):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(folder), str(run % 5)], capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_a_model_that_will_not_fit_is_refused_before_anything_is_read(sources, monkeypatch):
    monkeypatch.setattr(engine_module, "limits_here", lambda: Limits(50_000, 60_000, "a test"))
    engine = Engine()
    with pytest.raises(UnsupportedModelError, match=r"only .* can be used"):
        engine.load(sources["plain"])
    assert engine.info is None
    engine.unload()


def test_a_limit_of_memory_holds_for_the_next_load(sources):
    engine = Engine(EngineSettings(memory_limit=50_000))
    with pytest.raises(UnsupportedModelError, match="the limit in Settings"):
        engine.load(sources["plain"])
    engine.settings = EngineSettings()
    assert engine.load(sources["plain"]).name
    engine.unload()


def test_a_context_that_will_not_fit_is_refused_and_otherwise_made_to_fit(sources, monkeypatch):
    needs = needs_of(sources["plain"], Limits(10**9, 10**9, "a test"))
    # Room for the shortest chunks and about half of the 256 tokens that the model was made for.
    budget = max(
        needs.weight_bytes + needs.loading_bytes,
        needs.weight_bytes + needs.cache_bytes(128) + needs.work_bytes(128, 32),
    )
    monkeypatch.setattr(engine_module, "limits_here", lambda: Limits(budget, budget, "a test"))
    monkeypatch.setattr(load_planning, "_LEAST_CONTEXT", 16)
    engine = Engine()
    assert plan(needs, Limits(budget, budget, "a test"), 256).verdict is Verdict.WILL_NOT_FIT
    with pytest.raises(UnsupportedModelError, match="256 tokens"):
        engine.load(sources["plain"], num_ctx=256)
    info = engine.load(sources["plain"])
    assert 16 <= info.context_length < 256
    assert "With 256 tokens it takes" in info.context_note
    with pytest.raises(InvalidRequestError, match="memory has room for"):
        engine.prepare(GenerateRequest(id="r", prompt="x" * 255))
    engine.unload()


def test_a_conversation_goes_on_from_disk_after_a_restart(sources, tmp_path):
    chosen = EngineSettings(disk_budget=1 << 30, disk_root=tmp_path)
    request = GenerateRequest(id="r", prompt="many words " * 10, sampling=GREEDY, num_predict=5)
    answers = []
    for _ in range(2):
        engine = Engine(chosen)
        engine.load(sources["plain"])
        answers.append(list(engine.generate(engine.prepare(request)))[-1])
        engine.unload()
    assert [answer.cached_tokens for answer in answers] == [0, answers[0].prompt_tokens - 1]
    assert answers[0].token_ids == answers[1].token_ids


def test_a_long_answer_forgets_its_beginning_and_goes_on(plain):
    most = plain.info.context_length
    request = GenerateRequest(
        id="r", prompt="Once", sampling=GREEDY, num_predict=most + 50, ignore_eos=True, overflow=Overflow.SHIFT
    )
    finished = list(plain.generate(plain.prepare(request)))[-1]
    assert len(finished.token_ids) == most + 50
    assert finished.dropped_tokens > 50
    assert finished.done_reason is DoneReason.LENGTH


def test_a_conversation_that_is_too_long_is_told_what_was_left_out(plain):
    turns = [Message("user" if index % 2 == 0 else "assistant", "words " * 6) for index in range(9)]
    finished = ask(plain, messages=tuple(turns), overflow=Overflow.TRUNCATE)[-1]
    assert finished.dropped_tokens > 0
    assert finished.prompt_tokens < plain.info.context_length


def test_what_is_kept_never_has_more_room_than_the_context(engine, sources):
    engine.load(sources["plain"], num_ctx=100)
    finished = ask(engine, "x" * 60, num_predict=None, ignore_eos=True)[-1]
    assert finished.prompt_tokens + len(finished.token_ids) == 100
    assert 0 < engine.memory().cache <= 100 * engine.info.kv_bytes_per_token


def test_the_most_that_prefixes_may_take_is_told(sources):
    for chosen in (None, 5_000_000):
        engine = Engine(EngineSettings(prefix_budget=chosen))
        assert engine.memory().budget == 0
        engine.load(sources["plain"])
        assert engine.memory().budget == chosen or (chosen is None and engine.memory().budget > 10**8)
        engine.unload()
        assert engine.memory().budget == 0


def test_few_bits_are_told_and_nothing_else_where_all_is_well(sources):
    for bits, note in (
        (None, ""),
        (
            8,
            "0 of 2 layers hold keys and values in 8 bits; "
            "sliding windows and heads whose width is not a multiple of 32",
        ),
    ):
        engine = Engine(EngineSettings(kv_bits=bits))
        info = engine.load(sources["window"])
        assert info.kv_note == (f"{note} are left as they are" if note else "")
        assert info.context_note == ""
        engine.unload()


def test_a_context_of_the_manifest_is_made_smaller_where_memory_is_short(sources, monkeypatch):
    source = replace(sources["plain"], params={"num_ctx": 256})
    needs = needs_of(source, Limits(10**9, 10**9, "a test"))
    budget = max(
        needs.weight_bytes + needs.loading_bytes,
        needs.weight_bytes + needs.cache_bytes(128) + needs.work_bytes(128, 32),
    )
    monkeypatch.setattr(engine_module, "limits_here", lambda: Limits(budget, budget, "a test"))
    monkeypatch.setattr(load_planning, "_LEAST_CONTEXT", 16)
    engine = Engine()
    info = engine.load(source)
    assert 16 <= info.context_length < 256
    assert info.context_note.startswith("With 256 tokens it takes")
    engine.unload()


def test_more_answers_begin_only_where_memory_has_room_for_their_contexts(plain):
    prepared = plain.prepare(GenerateRequest("a", prompt="a b c", num_predict=20))
    prefix, needed = plain._ready.prefix, 3 * room_for(prepared.expected_tokens) * plain.info.kv_bytes_per_token
    for number, fits in ((needed, True), (needed - 1, False)):
        plain.start(prepared)
        plain.start(prepared)
        prefix.budget = number
        assert plain.has_room(prepared) is fits
        plain.abort()

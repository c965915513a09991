import json

import mlx.core as mx
import pytest

from generating import Always
from sotto.engine.caches.disk_budget import folders, usage
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Finished, LoadProgress
from sotto.engine.contract.requests import GenerateRequest, Message, SamplingOptions
from sotto.engine.engine import Engine
from sotto.engine.generation import memory_guard
from sotto.engine.generation.speculation import LookupDepths
from sotto.engine.generation.speculator import Speculator
from sotto.engine.memory.system_memory import Pressure
from sotto.errors import BrokenModelError, CancelledError, InvalidRequestError, UnsupportedModelError
from sotto.store.opening import open_model, record_of
from sotto.store.own_draft import own_draft
from stores import Store
from tiny_random import CONFIGS, VOCABULARY, write_model

GREEDY = SamplingOptions(temperature=0)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {kind: open_model(record_of(write_model(root / kind, kind))) for kind in CONFIGS}


@pytest.fixture(autouse=True)
def never_with_the_text(monkeypatch):
    """Which of two proposes is decided by what they take on this machine now; here only the draft model does."""
    monkeypatch.setattr("sotto.engine.assembly.Speculator", lambda draft: Speculator(LookupDepths(0), draft))


@pytest.fixture
def engine():
    engine = Engine(EngineSettings(prefix_budget=1 << 26))
    yield engine
    engine.unload()


def rewritten(folder, change):
    """Change a folder's tokenizer and open it."""
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return open_model(record_of(folder))


def ask(engine, *messages, sampling=GREEDY, length=30):
    request = GenerateRequest("r", messages=messages, sampling=sampling, num_predict=length)
    (found,) = [event for event in engine.generate(engine.prepare(request)) if isinstance(event, Finished)]
    return found


@pytest.mark.parametrize("kind", sorted(CONFIGS))
def test_answers_with_a_draft_model_are_those_without(engine, sources, kind):
    other = sorted(CONFIGS)[sorted(CONFIGS).index(kind) - 1]
    question = Message("user", "Tell me, tell me, tell me what follows what follows.")
    samplings = (GREEDY, SamplingOptions(seed=4, repeat_penalty=1.2))
    assert engine.load(sources[kind]).draft == ""
    plain = [ask(engine, question, sampling=sampling) for sampling in samplings]
    info = engine.load(sources[kind], draft=sources[other])
    assert info.draft == sources[other].record.name
    for sampling, first in zip(samplings, plain, strict=True):
        found = ask(engine, question, sampling=sampling)
        assert found.token_ids == first.token_ids
        turns = (question, Message("assistant", found.text), Message("user", "And then?"))
        assert ask(engine, *turns).cached_tokens > 50


def test_the_memory_of_both_is_counted_and_given_back(engine, sources):
    engine.unload()
    before = mx.get_active_memory()
    alone = engine.load(sources["plain"]).weight_bytes
    second = engine.load(sources["recurrent"]).weight_bytes
    engine.load(sources["plain"], draft=sources["recurrent"])
    assert engine.memory().weights == alone + second
    assert engine.memory().active >= before + alone + second
    draft = engine._ready.draft
    assert draft.prefix.budget == (1 << 26) // 8
    assert engine._ready.prefix.budget + draft.prefix.budget == 1 << 26
    del draft
    ask(engine, Message("user", "Hello"))
    engine.unload()
    assert engine.memory().weights == engine.memory().cache == 0
    assert mx.get_active_memory() <= before


def test_the_draft_makes_room_for_no_more_than_the_planned_context(engine, sources, tmp_path):
    shorter = open_model(record_of(write_model(tmp_path / "shorter", "plain", max_position_embeddings=48)))
    for draft, num_ctx, most in ((sources["hybrid"], 100, 100), (shorter, 100, 48), (shorter, 32, 32)):
        engine.load(sources["plain"], num_ctx=num_ctx, draft=draft)
        caches = engine._ready.draft.prefix.begin([1, 2]).ranged
        assert caches
        assert {leaf.max_tokens for leaf in caches} == {most}


def test_pressure_shrinks_what_is_kept_for_the_draft_as_well(engine, sources, monkeypatch):
    monkeypatch.setattr(memory_guard, "_CHECK_SECONDS", 0.0)
    engine.load(sources["plain"], draft=sources["window"])
    ask(engine, Message("user", "Tell me, tell me, tell me what follows what follows."))
    ready = engine._ready
    assert ready.prefix.nbytes > 0
    assert ready.draft.prefix.nbytes > 0
    ready.scheduler._guard._memory = Short()
    ask(engine, Message("user", "Hello"), length=1)
    ready.scheduler._guard.look()
    assert ready.prefix.nbytes == ready.draft.prefix.nbytes == 0


class Short:
    """Memory of which nothing is left."""

    def pressure(self):
        return Pressure.CRITICAL


class Reading:
    """A model that keeps count of the tokens that it is fed."""

    def __init__(self, draft):
        self._model, self.count = draft.model, 0
        draft.model, draft.depths = self, Always(4)

    def __call__(self, ids, cache):
        self.count += ids.shape[1]
        return self._model(ids, cache=cache)


@pytest.mark.parametrize("kind", sorted(CONFIGS))
def test_what_the_draft_has_read_is_there_after_a_restart(sources, tmp_path, kind):
    settings = EngineSettings(prefix_budget=1 << 26, disk_budget=1 << 26, disk_root=tmp_path)
    answering = sources["window" if kind == "plain" else "plain"]
    text = "Tell me what follows " * 5
    question, found = Message("user", text), []
    for number in range(2):
        engine = Engine(settings)
        engine.load(answering, draft=sources[kind])
        model = Reading(engine._ready.draft)
        answer = ask(engine, question, length=8)
        assert answer.drafted_tokens > 0
        assert (answer.cached_tokens > len(text)) == (number == 1)
        found.append((answer.text, model.count))
        engine.unload()
    (first, read), (again, less) = found
    assert first == again
    assert read > len(text)
    # What is fed anew is the end of the prompt and what was proposed.
    assert less < len(text) / 2


def test_both_share_what_there_is_on_disk(sources, tmp_path):
    budget = 200_000
    settings = EngineSettings(prefix_budget=0, disk_budget=budget, disk_root=tmp_path)
    engine = Engine(settings)
    for number in range(4):
        engine.load(sources["plain"], draft=sources["window"])
        Reading(engine._ready.draft)
        ask(engine, Message("user", str(number) * 90), length=8)
        engine.unload()
        kept = usage(tmp_path)
        assert 0 < kept.nbytes <= budget
    assert len(list(folders(tmp_path))) == 2


def test_progress_is_of_both_and_never_falls(engine, sources):
    told = []
    engine.load(sources["plain"], progress=told.append, draft=sources["hybrid"])
    shares = [(part.done, part.total) for part in told if isinstance(part, LoadProgress)]
    assert shares == sorted(shares, key=lambda pair: pair[0])
    assert shares[-1][0] == shares[-1][1] == sources["plain"].weight_bytes + sources["hybrid"].weight_bytes
    polls = iter([False] * 3)
    with pytest.raises(CancelledError):
        engine.load(sources["plain"], cancelled=lambda: next(polls, True), draft=sources["hybrid"])
    assert engine.info is None


def with_own_draft(root, kind, draft, **changes):
    """Write a store with a model that brings another one along, and open it."""
    store, layers = Store(root / "store"), []
    for own, prefix, files in ((kind, "", ""), (draft, "draft.", "draft/")):
        folder = write_model(root / own, own, **(changes if prefix else {}))
        for name, weight in mx.load(str(folder / "model.safetensors")).items():
            mx.save_safetensors(str(root / "one.safetensors"), {prefix + name: weight})
            layers.append(store.layer("tensor", (root / "one.safetensors").read_bytes(), prefix + name))
        names = ("config.json", *(() if prefix else ("tokenizer.json", "tokenizer_config.json")))
        layers += [store.layer("json", (folder / name).read_bytes(), files + name) for name in names]
    return open_model(record_of(store.manifest("both", layers, store.config(draft={"architecture": draft}))))


def test_the_draft_that_a_manifest_brings_along_proposes_as_by_itself(engine, sources, tmp_path):
    source = with_own_draft(tmp_path, "plain", "hybrid")
    question = Message("user", "Tell me, tell me, tell me what follows what follows.")
    drafted = []
    for one, draft in ((source, own_draft(source)), (sources["plain"], sources["hybrid"])):
        info = engine.load(one, draft=draft)
        assert info.draft == draft.record.name
        assert engine.memory().weights == one.weight_bytes + draft.weight_bytes
        model = Reading(engine._ready.draft)
        found = ask(engine, question)
        drafted.append((found.token_ids, found.drafted_tokens, found.accepted_tokens, model.count))
    assert drafted[0] == drafted[1]
    assert drafted[0][1] > 0


def test_an_own_draft_of_a_kind_that_cannot_run_is_told_before_anything_is_loaded(engine, tmp_path):
    source = with_own_draft(tmp_path, "plain", "window", model_type="gemma4_assistant")
    told = []
    with pytest.raises(UnsupportedModelError, match=r"both:latest \(own draft\) cannot .*gemma4_assistant"):
        engine.load(source, draft=own_draft(source), progress=told.append)
    assert told == []
    assert engine.info is None
    engine.load(source)  # by itself it runs


def test_a_model_cannot_draft_for_itself(engine, sources):
    with pytest.raises(InvalidRequestError, match="cannot be its own draft model"):
        engine.load(sources["plain"], draft=sources["plain"])
    assert engine.info is None


def test_a_token_that_is_another_text_is_told(engine, sources, tmp_path):
    def swap(content):
        vocabulary = content["model"]["vocab"]
        vocabulary["a"], vocabulary["b"] = vocabulary["b"], vocabulary["a"]

    draft = rewritten(write_model(tmp_path / "swapped", "plain"), swap)
    with pytest.raises(
        InvalidRequestError, match="swapped cannot be the draft model of plain: 2 tokens differ"
    ) as told:
        engine.load(sources["plain"], draft=draft)
    assert "'a'" in str(told.value)
    assert "'b'" in str(told.value)
    assert engine.info is None


def test_vocabularies_of_other_lengths_go_together(engine, sources, tmp_path):
    def more(content):
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        content["added_tokens"].append({"id": VOCABULARY, "content": "<more>", "special": True, **flags})

    folder = write_model(tmp_path / "longer", "plain")
    draft = rewritten(folder, more)
    question = Message("user", "Tell me, tell me, tell me what follows.")
    engine.load(sources["window"])
    plain = ask(engine, question)
    engine.load(sources["window"], draft=draft)
    assert ask(engine, question).token_ids == plain.token_ids


def test_a_draft_model_that_cannot_be_loaded_is_told_and_nothing_is_loaded(engine, sources, tmp_path):
    broken = open_model(record_of(write_model(tmp_path / "broken", "plain", vocab_size=50)))
    with pytest.raises((BrokenModelError, UnsupportedModelError)):
        engine.load(sources["plain"], draft=broken)
    assert engine.info is None

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
def without_prompt_lookup(monkeypatch):
    """Let only the draft model propose, because the choice between it and prompt lookup depends on timings."""
    monkeypatch.setattr("sotto.engine.assembly.Speculator", lambda draft: Speculator(LookupDepths(0), draft))


@pytest.fixture
def engine():
    engine = Engine(EngineSettings(prefix_budget=1 << 26))
    yield engine
    engine.unload()


def rewritten(folder, change):
    """Change the tokenizer in a model folder, and open the model."""
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
def test_a_draft_model_does_not_change_answers(engine, sources, kind):
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


def test_the_memory_of_both_models_is_counted_and_freed(engine, sources):
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


def test_the_caches_of_the_draft_model_are_limited_to_the_planned_context(engine, sources, tmp_path):
    shorter = open_model(record_of(write_model(tmp_path / "shorter", "plain", max_position_embeddings=48)))
    for draft, num_ctx, limit in ((sources["hybrid"], 100, 100), (shorter, 100, 48), (shorter, 32, 32)):
        engine.load(sources["plain"], num_ctx=num_ctx, draft=draft)
        caches = engine._ready.draft.prefix.begin([1, 2]).ranged
        assert caches
        assert {leaf.max_tokens for leaf in caches} == {limit}


def test_memory_pressure_also_shrinks_the_prefix_cache_of_the_draft_model(engine, sources, monkeypatch):
    monkeypatch.setattr(memory_guard, "_CHECK_SECONDS", 0.0)
    engine.load(sources["plain"], draft=sources["window"])
    ask(engine, Message("user", "Tell me, tell me, tell me what follows what follows."))
    ready = engine._ready
    assert ready.prefix.nbytes > 0
    assert ready.draft.prefix.nbytes > 0
    ready.scheduler._guard._memory = CriticalMemory()
    ask(engine, Message("user", "Hello"), length=1)
    ready.scheduler._guard.look()
    assert ready.prefix.nbytes == ready.draft.prefix.nbytes == 0


class CriticalMemory:
    """System memory under critical pressure."""

    def pressure(self):
        return Pressure.CRITICAL


class CountingDraft:
    """Counts the tokens that a draft model is fed, and makes it always propose 4 drafts."""

    def __init__(self, draft):
        self._model, self.count = draft.model, 0
        draft.model, draft.depths = self, Always(4)

    def __call__(self, ids, cache):
        self.count += ids.shape[1]
        return self._model(ids, cache=cache)


@pytest.mark.parametrize("kind", sorted(CONFIGS))
def test_prefixes_of_the_draft_model_are_kept_across_restarts(sources, tmp_path, kind):
    settings = EngineSettings(prefix_budget=1 << 26, disk_budget=1 << 26, disk_root=tmp_path)
    answering = sources["window" if kind == "plain" else "plain"]
    text = "Tell me what follows " * 5
    question, found = Message("user", text), []
    for number in range(2):
        engine = Engine(settings)
        engine.load(answering, draft=sources[kind])
        model = CountingDraft(engine._ready.draft)
        answer = ask(engine, question, length=8)
        assert answer.drafted_tokens > 0
        assert (answer.cached_tokens > len(text)) == (number == 1)
        found.append((answer.text, model.count))
        engine.unload()
    (first, read), (again, less) = found
    assert first == again
    assert read > len(text)
    # Only the end of the prompt and the drafts are fed again.
    assert less < len(text) / 2


def test_both_models_share_the_disk_budget(sources, tmp_path):
    budget = 200_000
    settings = EngineSettings(prefix_budget=0, disk_budget=budget, disk_root=tmp_path)
    engine = Engine(settings)
    for number in range(4):
        engine.load(sources["plain"], draft=sources["window"])
        CountingDraft(engine._ready.draft)
        ask(engine, Message("user", str(number) * 90), length=8)
        engine.unload()
        kept = usage(tmp_path)
        assert 0 < kept.nbytes <= budget
    assert len(list(folders(tmp_path))) == 2


def test_progress_covers_both_models_and_never_falls(engine, sources):
    events = []
    engine.load(sources["plain"], progress=events.append, draft=sources["hybrid"])
    progress = [(event.done, event.total) for event in events if isinstance(event, LoadProgress)]
    assert progress == sorted(progress, key=lambda pair: pair[0])
    assert progress[-1][0] == progress[-1][1] == sources["plain"].weight_bytes + sources["hybrid"].weight_bytes
    polls = iter([False] * 3)
    with pytest.raises(CancelledError):
        engine.load(sources["plain"], cancelled=lambda: next(polls, True), draft=sources["hybrid"])
    assert engine.info is None


def with_own_draft(root, kind, draft, **changes):
    """Write a store with a model that includes its own draft model, and open it."""
    store, layers = Store(root / "store"), []
    for each, prefix, files in ((kind, "", ""), (draft, "draft.", "draft/")):
        folder = write_model(root / each, each, **(changes if prefix else {}))
        for name, weight in mx.load(str(folder / "model.safetensors")).items():
            mx.save_safetensors(str(root / "one.safetensors"), {prefix + name: weight})
            layers.append(store.layer("tensor", (root / "one.safetensors").read_bytes(), prefix + name))
        names = ("config.json", *(() if prefix else ("tokenizer.json", "tokenizer_config.json")))
        layers += [store.layer("json", (folder / name).read_bytes(), files + name) for name in names]
    return open_model(record_of(store.manifest("both", layers, store.config(draft={"architecture": draft}))))


def test_a_draft_model_in_the_manifest_proposes_the_same_as_a_separate_one(engine, sources, tmp_path):
    source = with_own_draft(tmp_path, "plain", "hybrid")
    question = Message("user", "Tell me, tell me, tell me what follows what follows.")
    drafted = []
    for main, draft in ((source, own_draft(source)), (sources["plain"], sources["hybrid"])):
        info = engine.load(main, draft=draft)
        assert info.draft == draft.record.name
        assert engine.memory().weights == main.weight_bytes + draft.weight_bytes
        model = CountingDraft(engine._ready.draft)
        found = ask(engine, question)
        drafted.append((found.token_ids, found.drafted_tokens, found.accepted_tokens, model.count))
    assert drafted[0] == drafted[1]
    assert drafted[0][1] > 0


def test_an_own_draft_model_that_cannot_run_is_refused_before_anything_is_loaded(engine, tmp_path):
    source = with_own_draft(tmp_path, "plain", "window", model_type="gemma4_assistant")
    events = []
    with pytest.raises(UnsupportedModelError, match=r"both:latest \(own draft\) cannot .*gemma4_assistant"):
        engine.load(source, draft=own_draft(source), progress=events.append)
    assert events == []
    assert engine.info is None
    engine.load(source)  # without its draft it runs


def test_a_model_cannot_draft_for_itself(engine, sources):
    with pytest.raises(InvalidRequestError, match="cannot be its own draft model"):
        engine.load(sources["plain"], draft=sources["plain"])
    assert engine.info is None


def test_a_draft_model_with_different_tokens_is_refused(engine, sources, tmp_path):
    def swap(content):
        vocabulary = content["model"]["vocab"]
        vocabulary["a"], vocabulary["b"] = vocabulary["b"], vocabulary["a"]

    draft = rewritten(write_model(tmp_path / "swapped", "plain"), swap)
    with pytest.raises(
        InvalidRequestError, match="swapped cannot be the draft model of plain: 2 tokens differ"
    ) as raised:
        engine.load(sources["plain"], draft=draft)
    assert "'a'" in str(raised.value)
    assert "'b'" in str(raised.value)
    assert engine.info is None


def test_vocabularies_may_have_different_lengths(engine, sources, tmp_path):
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


def test_nothing_is_loaded_if_the_draft_model_cannot_be_loaded(engine, sources, tmp_path):
    broken = open_model(record_of(write_model(tmp_path / "broken", "plain", vocab_size=50)))
    with pytest.raises((BrokenModelError, UnsupportedModelError)):
        engine.load(sources["plain"], draft=broken)
    assert engine.info is None

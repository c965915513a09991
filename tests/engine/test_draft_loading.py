import json

import mlx.core as mx
import pytest

from sotto.engine.engine import Engine
from sotto.engine.types import EngineSettings, Finished, GenerateRequest, LoadProgress, Message, SamplingOptions
from sotto.errors import BrokenModelError, CancelledError, InvalidRequestError, UnsupportedModelError
from sotto.store.opening import open_model, record_of
from tiny_random import CONFIGS, VOCABULARY, write_model

GREEDY = SamplingOptions(temperature=0)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {kind: open_model(record_of(write_model(root / kind, kind))) for kind in CONFIGS}


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


def ask(engine, *messages, sampling=GREEDY, length=60):
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

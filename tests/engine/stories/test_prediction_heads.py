"""A loaded model uses the head for multi-token prediction that its files hold, unless that is switched off."""

import pytest

from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Finished
from sotto.engine.contract.requests import EmbedRequest, GenerateRequest, SamplingOptions
from sotto.engine.engine import Engine
from sotto.engine.generation.prediction_drafts import PredictionDrafts
from sotto.runner.catalogue import find
from sotto.store.opening import open_model
from tiny_random import write_model, write_predicting


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_predicting(tmp_path_factory.mktemp("models") / "ahead")


@pytest.fixture
def source(folder):
    return open_model(find(str(folder)))


@pytest.fixture
def loaded():
    engines = []

    def load(source, draft=None, **settings):
        engine = Engine(EngineSettings(**settings))
        engines.append(engine)
        return engine, engine.load(source, draft=draft)

    yield load
    for engine in engines:
        engine.unload()


def answered(engine, length=60):
    request = GenerateRequest(
        "r", prompt="What, what?", sampling=SamplingOptions(seed=3), num_predict=length, ignore_eos=True
    )
    *_, last = engine.generate(engine.prepare(request))
    assert isinstance(last, Finished)
    return last


def test_it_is_used_and_does_not_change_the_answer(loaded, source):
    engine, info = loaded(source)
    plain, without = loaded(source, prediction=False)
    assert (info.predicts, without.predicts) == (True, False)
    assert isinstance(engine._ready.scheduler._speculator._draft, PredictionDrafts)
    assert plain._ready.scheduler._speculator._draft is None
    found, wanted = answered(engine), answered(plain)
    assert found.token_ids == wanted.token_ids
    assert found.drafted_tokens > 0 == wanted.drafted_tokens
    again = answered(engine)
    assert (again.token_ids, again.cached_tokens > 0) == (found.token_ids, True)


def test_its_memory_is_planned_and_shown(loaded, source):
    (engine, info), (plain, without) = loaded(source), loaded(source, prediction=False)
    assert info.weight_bytes > without.weight_bytes
    for each, known in ((engine, info), (plain, without)):
        assert each.measure(source).needs.weight_bytes == known.weight_bytes


def test_a_draft_model_takes_its_place(loaded, source, tmp_path):
    draft = open_model(find(str(write_model(tmp_path / "small", "plain"))))
    engine, info = loaded(source, draft)
    assert (info.predicts, info.draft) == (False, "small")
    assert answered(engine).token_ids == answered(loaded(source)[0]).token_ids


def test_quantized_caches_leave_the_head_as_it_is(loaded, source):
    engine, info = loaded(source, kv_bits=8)
    assert "the prediction head" in info.kv_note
    assert answered(engine).token_ids


def test_the_model_can_still_be_embedded_with(loaded, source):
    (engine, _), (plain, _) = loaded(source), loaded(source, prediction=False)
    vectors = []
    for each in (engine, plain):
        each.embed(each.prepare_texts(EmbedRequest("e", ("What?", "Who?"))))
        events = []
        while each.running:
            events += each.step()
        vectors.append([number for vector in events[-1].vectors for number in vector])
    assert vectors[0] == pytest.approx(vectors[1], abs=1e-5)


def test_caches_come_back_from_the_disk(loaded, source, tmp_path):
    kept = {"disk_root": tmp_path, "disk_budget": 10**8}
    engine, _ = loaded(source, **kept)
    first = answered(engine)
    engine.unload()
    engine.load(source)
    second = answered(engine)
    assert second.token_ids == first.token_ids
    assert second.cached_tokens > 0

"""A model with an adapter in the engine: its answers, and caches that it shares with no other."""

import json
from dataclasses import replace

import pytest

from adapters import write_adapter
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Finished
from sotto.engine.contract.requests import GenerateRequest, SamplingOptions
from sotto.engine.engine import Engine
from sotto.store.adapters.adapter_files import open_adapter
from sotto.store.opening import open_model, record_of
from tiny_random import write_model

LONG = "What is it that you want to know? " * 3


@pytest.fixture
def engine(tmp_path):
    made = Engine(EngineSettings(disk_root=tmp_path / "disk", disk_budget=10**8))
    yield made
    made.unload()


@pytest.fixture
def folder(tmp_path):
    return write_model(tmp_path / "model", "plain")


def answered(engine, prompt=LONG):
    request = GenerateRequest("1", prompt=prompt, num_predict=8, sampling=SamplingOptions(temperature=0))
    finished = list(engine.generate(engine.prepare(request)))[-1]
    assert isinstance(finished, Finished)
    return finished


def test_the_same_model_with_and_without_an_adapter_shares_no_caches(engine, folder, tmp_path):
    plain = open_model(record_of(folder))
    first, second = (
        replace(plain, adapters=(open_adapter(write_adapter(tmp_path / name, folder, seed)),))
        for seed, name in enumerate(("first", "second"))
    )
    answers = {}
    for source in (plain, first, second):
        info = engine.load(source)
        assert info.adapter == source.adapter_names
        answers[source.digest] = answered(engine)
        # Nothing that was written to the disk for another is taken for this one.
        assert answers[source.digest].cached_tokens == 0
    assert len({answer.token_ids for answer in answers.values()}) == 3
    for source in (plain, first, second):
        engine.load(source)
        again = answered(engine)
        assert again.cached_tokens > 0
        assert again.token_ids == answers[source.digest].token_ids


def test_an_adapter_that_was_trained_again_is_another(folder, tmp_path):
    plain = open_model(record_of(folder))
    digests = set()
    for seed in range(2):
        adapter = open_adapter(write_adapter(tmp_path / "adapter", folder, seed))
        digests.add(replace(plain, adapters=(adapter,)).digest)
    assert len(digests | {plain.digest}) == 3


def test_a_damaged_adapter_leaves_nothing_loaded(engine, folder, tmp_path):
    adapter = write_adapter(tmp_path / "adapter", folder)
    config = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps(config | {"lora_parameters": {"rank": 5, "scale": 1.0}}))
    source = replace(open_model(record_of(folder)), adapters=(open_adapter(adapter),))
    with pytest.raises(Exception, match=r"has rank 4, but adapter_config\.json says 5\."):
        engine.load(source)
    assert engine.info is None

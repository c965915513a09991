"""Imported embedding models compared with the models that they were made of."""

import mlx.core as mx
import pytest

from embedding import embed, minilm
from sotto.engine.engine import Engine
from sotto.engine.quantizing.importer import plan_import, run_import
from sotto.store.opening import open_model, record_of, resolve

TEXTS = ("A cat sleeps.", "The cat is asleep.", "Interest rates rise.")


def vectors(source):
    engine = Engine()
    engine.load(source)
    return mx.array(embed(engine, *TEXTS).vectors)


@pytest.mark.parametrize(("recipe", "least"), [("", 0.999999), ("int8", 0.999)])
def test_vectors_are_those_of_the_folder(recipe, least):
    run_import(plan_import(minilm(), recipe), "minilm", lambda progress: None, lambda: False)
    source = open_model(resolve("minilm:latest"))
    folder = open_model(record_of(minilm()))
    assert [(module.kind, dict(module.config)) for module in source.modules] == [
        (module.kind, dict(module.config)) for module in folder.modules
    ]
    assert source.record.capabilities == ("embedding",)
    assert source.record.context_length == folder.record.context_length
    similar = (vectors(source) * vectors(folder)).sum(axis=-1)
    assert similar.min().item() > least

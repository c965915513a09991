"""`modules.json` and the folders that it names: read if valid, and refused with a message if they lead elsewhere."""

import json

import pytest

from sotto.errors import BrokenModelError
from sotto.store.opening import open_model, record_of
from stores import folder

TRANSFORMER = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
POOLING = {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
NORMALIZE = {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}


@pytest.fixture
def model(tmp_path):
    return folder(tmp_path / "model")


def write(model, modules, **configs):
    (model / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    for name, config in configs.items():
        path = model / name / "config.json" if name != "sentence_bert_config" else model / "sentence_bert_config.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(config), encoding="utf-8")


def test_modules_are_read_in_order_with_their_configs(model):
    configs = {"sentence_bert_config": {"max_seq_length": 256}, "1_Pooling": {"pooling_mode": "mean"}}
    write(model, [TRANSFORMER, POOLING, NORMALIZE], **configs)
    record = record_of(model)
    assert record.runnable
    assert record.capabilities == ("embedding",)
    assert [(module.kind, dict(module.config)) for module in open_model(record).modules] == [
        ("Transformer", {"max_seq_length": 256}),
        ("Pooling", {"pooling_mode": "mean"}),
        ("Normalize", {}),
    ]


def test_without_such_files_there_are_no_modules(model):
    record = record_of(model)
    assert record.capabilities == ("completion",)
    assert open_model(record).modules == ()


def test_another_pooling_makes_another_model(model):
    digests = {record_of(model).digest}
    for mode in ("mean", "cls"):
        write(model, [TRANSFORMER, POOLING], **{"1_Pooling": {"pooling_mode": mode}})
        digests.add(record_of(model).digest)
    assert len(digests) == 3


@pytest.mark.parametrize(
    ("modules", "words"),
    [
        ({"a": 1}, "holds an object; it should be a JSON list"),
        ([3], "entry 0 is a number; it should be an object"),
        ([{"type": "a.Pooling"}], "path of entry 0 is null; it should be a text"),
        ([{"type": 3, "path": ""}], "type of entry 0 is a number; it should be a text"),
        ([TRANSFORMER | {"path": "../other"}], "is not a step"),
        ([TRANSFORMER | {"path": "/etc"}], "is not a step"),
        ([TRANSFORMER | {"path": ".."}], "is not a step"),
        ([TRANSFORMER] * 17, "lists 17 steps; 16 are the most"),
    ],
)
def test_an_invalid_list_of_modules_is_refused_with_a_message(model, modules, words):
    write(model, modules)
    with pytest.raises(BrokenModelError, match=words) as refused:
        record_of(model)
    assert "modules.json" in refused.value.message


def test_a_module_outside_the_folder_is_refused(model, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.json").write_text("{}", encoding="utf-8")
    write(model, [TRANSFORMER, POOLING])
    (model / "1_Pooling").symlink_to(elsewhere)
    with pytest.raises(BrokenModelError, match="leads out of"):
        record_of(model)


def test_a_module_whose_config_is_not_an_object_is_refused(model):
    write(model, [TRANSFORMER, POOLING], **{"1_Pooling": [1]})
    with pytest.raises(BrokenModelError, match="it should be a JSON object"):
        record_of(model)

"""The wording of a model's properties."""

from scripted_loop import record
from sotto.engine.contract.events import ModelInfo
from sotto.ui.models.model_description import abilities

INFO = ("0" * 64, "qwen3", "qwen3", 12_000, 10**9, None, "float32", "cpu", True, 0)


def test_abilities_are_those_of_the_files_and_of_what_is_loaded():
    able = record(capabilities=("completion", "tools"))
    assert abilities(able) == abilities(able, ModelInfo(*INFO)) == "Text · Tools"
    assert abilities(able, ModelInfo(*INFO, predicts=True)) == "Text · Tools · predicts tokens ahead"
    assert abilities(record(capabilities=()), ModelInfo(*INFO, predicts=True)) == "predicts tokens ahead"

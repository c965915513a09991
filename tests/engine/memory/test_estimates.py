"""Wrong predictions are corrected the next time."""

import logging

import pytest

from checkpoints import LLAMA, source_of
from loading import PLENTY, quantized_checkpoint, random_weights
from sotto.engine.footprint.model_needs import needs_of
from sotto.engine.memory import estimates

GB = 10**9


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setattr(estimates.paths, "cache_dir", lambda: tmp_path / "cache")


def test_a_ratio_of_one_and_a_half_corrects_the_next_estimate(tmp_path, caplog):
    files, _ = quantized_checkpoint(tmp_path, random_weights(LLAMA), "int4")
    source = source_of(files, LLAMA)
    first = needs_of(source, PLENTY)
    with caplog.at_level(logging.WARNING):
        assert estimates.learn(source.record.architecture, 4 * GB, 6 * GB)
    assert source.record.architecture in caplog.text
    second = needs_of(source, PLENTY)
    assert second.weight_bytes == pytest.approx(1.5 * first.weight_bytes, rel=0.05)
    assert second.layers == first.layers
    assert not estimates.learn(source.record.architecture, 6 * GB, 6 * GB)
    assert estimates.ratio(source.record.architecture) == 1.5
    assert estimates.ratio("other") == 1.0


def test_a_second_correction_is_relative_to_the_first():
    estimates.learn("llama", 4 * GB, 6 * GB)
    estimates.learn("llama", 6 * GB, 4 * GB)
    assert estimates.ratio("llama") == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("predicted", "actual"), [(4 * GB, 4.7 * GB), (10**7, 5 * 10**7), (10**7, GB), (0, GB), (GB, 0), (-GB, GB)]
)
def test_small_or_implausible_differences_are_not_learnt(predicted, actual, caplog):
    assert not estimates.learn("llama", round(predicted), round(actual))
    assert estimates.ratio("llama") == 1.0
    assert caplog.text == ""


@pytest.mark.parametrize("text", ["", "[]", '{"llama": "x"}', '{"llama": 1e9}', '{"llama": NaN}', '{"llama": true}'])
def test_a_damaged_file_is_ignored(text, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "estimates.json").write_text(text)
    assert estimates.ratio("llama") == 1.0

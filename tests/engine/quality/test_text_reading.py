"""Measuring two models: which tokens are predicted, from which context, and what is refused."""

from collections import namedtuple
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from loading import PLENTY
from quality_sums import flat, sums
from smollm2 import smollm2, write_quantized, write_unquantized
from sotto.engine.quality import text_reading
from sotto.engine.quality.text_reading import measure, text_to_read
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.engine.weights.loader import load
from sotto.errors import CancelledError, InvalidRequestError, StoreError
from sotto.store.opening import open_model, record_of
from stores import assert_sentence
from tiny_random import BOS, CONFIGS, write_model


@pytest.fixture(autouse=True)
def short_text(monkeypatch, tmp_path):
    text = text_to_read()[:2100]
    monkeypatch.setattr(text_reading, "text_to_read", lambda: text)
    monkeypatch.setattr(text_reading, "cache_dir", lambda: tmp_path / "cache")
    return text


def opened(folder):
    return open_model(record_of(folder))


def rounded(source: Path, folder: Path) -> Path:
    """Copy a model folder with its weights rounded to 16 bits."""
    folder.mkdir()
    for path in source.glob("*.json"):
        (folder / path.name).write_bytes(path.read_bytes())
    weights = mx.load(str(source / "model.safetensors"))
    coarse = {name: array.astype(mx.bfloat16).astype(array.dtype) for name, array in weights.items()}
    mx.save_safetensors(str(folder / "model.safetensors"), coarse)
    return folder


def whole_logits(source, pieces):
    """Return the logits of pieces computed at once, without caches, of their second halves."""
    loaded = load(source, limits=PLENTY, progress=lambda _: None, cancelled=lambda: False)
    rows = [np.array(loaded.model(mx.array([piece]))[0].astype(mx.float32))[len(piece) // 2 : -1] for piece in pieces]
    return np.concatenate(rows)


@pytest.mark.parametrize("kind", sorted(CONFIGS))
def test_second_halves_of_pieces_are_predicted(kind, tmp_path, short_text):
    folder = write_model(tmp_path / "original", kind, max_position_embeddings=192)
    original, other = opened(folder), opened(rounded(folder, tmp_path / "other"))
    ids = Tokenizer.from_source(original).encode(short_text, add_bos=False)
    size = min(512, original.record.context_length or 512)
    pieces = [ids[start : start + size] for start in range(0, len(ids) - size + 1, size)]
    targets = [token for piece in pieces for token in piece[len(piece) // 2 + 1 :]]
    wanted = dict(flat(sums(whole_logits(original, pieces), whole_logits(other, pieces), targets)))
    seen = []
    figures = dict(flat(measure(original, other, progress=lambda *done: seen.append(done)).as_json()))
    assert figures["tokens"] == len(targets)
    assert figures == pytest.approx(wanted, rel=2e-2, abs=1e-4)
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]


def test_pieces_begin_as_texts_of_the_model_do(tmp_path, short_text):
    folder = write_model(tmp_path / "model", "plain")
    settings = folder / "tokenizer_config.json"
    settings.write_text(settings.read_text().replace('"add_bos_token": false', '"add_bos_token": true'))
    source = opened(folder)
    ids = Tokenizer.from_source(source).encode(short_text, add_bos=False)
    pieces = text_reading._pieces(source, source)
    assert len(pieces) == len(ids) // 256
    assert pieces[1] == [BOS, *ids[257:512]]


def test_models_with_different_vocabularies_are_refused(tmp_path):
    first, second = (write_model(tmp_path / name, "plain") for name in ("first", "second"))
    tokenizer = second / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"a": 65', '"a": 66').replace('"b": 66', '"b": 65'))
    with pytest.raises(InvalidRequestError, match="different vocabularies") as caught:
        measure(opened(first), opened(second))
    assert_sentence(caught.value.message)


def test_a_full_disk_is_reported_before_anything_is_written(tmp_path, monkeypatch):
    source = opened(write_model(tmp_path / "model", "plain"))
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(text_reading.shutil, "disk_usage", lambda _: usage(10**9, 10**9, 10**8))
    with pytest.raises(StoreError, match="measuring needs") as caught:
        measure(source, source)
    assert_sentence(caught.value.message)


def test_measuring_can_be_stopped_and_leaves_nothing(tmp_path):
    source = opened(write_model(tmp_path / "model", "plain"))
    read = []
    with pytest.raises(CancelledError):
        measure(source, source, progress=lambda *done: read.append(done), cancelled=lambda: len(read) > 3)
    assert len(read) == 4
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.slow
def test_more_bits_lose_less_of_a_trained_model(tmp_path, monkeypatch):
    smollm2()
    monkeypatch.undo()
    plain = write_unquantized(tmp_path / "plain")
    eight, four = (write_quantized(tmp_path / f"{bits}", plain, bits) for bits in (8, 4))
    found = [measure(opened(plain), opened(folder)) for folder in (eight, four)]
    for quality in found:
        assert quality.tokens == 3060
        # `transformers` computes 22.0395 from the same weights and tokens in 32 bits.
        assert quality.original_perplexity.value == pytest.approx(22.04, abs=0.05)
        assert 0 < quality.median_divergence < quality.divergence.value < quality.high_divergence < 20
        assert 0 < quality.divergence.error < quality.divergence.value / 10
    better, worse = found
    assert better.divergence.value < 0.05 < worse.divergence.value
    assert better.same_token.value > 0.95 > worse.same_token.value > 0.3
    assert abs(better.ratio.value - 1) < 0.01 < worse.ratio.value - 1

"""Damaged and hostile GGUF files: each is refused in a sentence, or is a model that can be computed."""

import gguf
import mlx.core as mx
import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from checkpoints import LLAMA, QWEN3_MOE
from gguf_writing import write_model
from loading import load, random_weights
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.generation.first_forward import first_forward
from sotto.engine.prompt.templates import ChatTemplate
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import SottoError
from sotto.store.gguf.file import read_gguf_file
from sotto.store.opening import open_model, record_of
from thoroughness import examples

CONFIGS = {"llama": LLAMA, "qwen3_moe": QWEN3_MOE}


@pytest.fixture(scope="module", params=CONFIGS)
def valid(request, tmp_path_factory):
    """Return a valid file."""
    config = CONFIGS[request.param]
    weights = {name: np.array(array) for name, array in random_weights(config).items()}
    path = tmp_path_factory.mktemp(request.param) / "model.gguf"
    write_model(path, config, weights, gguf.GGMLQuantizationType.Q8_0)
    return path


def header_of(path):
    """Return the size in bytes of everything before the tensors."""
    return min(tensor.start for tensor in read_gguf_file(path).tensors.values())


def refusal(path):
    """Open, load and compute a file; return the sentence that refuses it, or an empty text."""
    try:
        source = open_model(record_of(path))
        tokenizer = Tokenizer.from_source(source)
        ChatTemplate.from_source(source, tokenizer)
        tokenizer.encode("ab c")
        loaded = load(source)
        sequence = first_forward(source, loaded, EngineSettings()).sequence
    except SottoError as error:
        return error.message
    mx.eval(loaded.model(mx.array([[1, 2, 3]]), cache=sequence.caches))
    return ""


def assert_refused_or_computed(path):
    message = refusal(path)
    assert not message or (message.isprintable() and message.endswith((".", "?")))


@examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_file_with_changed_bytes(valid, tmp_path, changes):
    whole, header = valid.read_bytes(), header_of(valid)
    changed = bytearray(whole)
    for place, anywhere, byte in changes:
        changed[int(place * ((len(whole) if anywhere else header) - 1))] = byte
    path = tmp_path / "model.gguf"
    path.write_bytes(changed)
    assert_refused_or_computed(path)


@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0, 1))
def test_a_file_that_is_cut_off(valid, tmp_path, place):
    whole = valid.read_bytes()
    path = tmp_path / "model.gguf"
    path.write_bytes(whole[: int(place * (len(whole) - 1))])
    with pytest.raises(SottoError):
        load(open_model(record_of(path)))


NUMBERS = [0, 1, 3, 2**16, 2**31 - 1, 2**32 - 1]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("number", NUMBERS)
def test_every_integer_of_a_header_can_be_wrong(valid, tmp_path, number):
    whole, header = valid.read_bytes(), header_of(valid)
    path = tmp_path / "model.gguf"
    path.write_bytes(whole)
    for key, value in read_gguf_file(path).values.items():
        if type(value) is not int:
            continue
        place = whole.index(len(key).to_bytes(8, "little") + key.encode()) + 8 + len(key) + 4
        assert place < header
        path.write_bytes(whole[:place] + number.to_bytes(4, "little") + whole[place + 4 :])
        assert_refused_or_computed(path)

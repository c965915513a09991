"""GGUF files from the disk to the answer: real ones, and what is planned, reported and refused on the way."""

import json

import mlx.core as mx
import numpy as np
import pytest

from checkpoints import LLAMA, Watch
from gguf_writing import write_model
from loading import PLENTY, load, random_weights
from material import material
from sotto.engine import native
from sotto.engine.model_needs import needs_of, plan_model
from sotto.engine.tokenizer import Tokenizer
from sotto.errors import BrokenModelError, CancelledError, UnsupportedModelError
from sotto.store.opening import open_model, record_of
from stores import assert_sentence


def story_model():
    return open_model(record_of(material("ollama-store", "manifests/registry.ollama.ai/library/stories260k/latest")))


def tiny(folder, kind=None, **changes):
    """Write a llama of random weights and open it."""
    config = LLAMA | changes
    weights = {name: np.array(array) for name, array in random_weights(config).items()}
    path = write_model(folder / "model.gguf", config, weights, *([] if kind is None else [kind]))
    return open_model(record_of(path))


def greedy(model, tokens, count, ends):
    """Return the likeliest tokens behind these."""
    from mlx_lm.models.cache import KVCache

    cache, drawn, following = [KVCache() for _ in model.layers], [], mx.array([tokens])
    while len(drawn) < count:
        token = int(mx.argmax(model(following, cache=cache)[0, -1]))
        if token in ends:
            break
        drawn.append(token)
        following = mx.array([[token]])
    return drawn


def test_a_real_file_tells_the_same_story_as_its_twin():
    source = story_model()
    tokenizer, model = Tokenizer.from_source(source), load(source).model
    for story in json.loads(material("stories260k", "expected.json").read_text(encoding="utf-8")):
        prompt = tokenizer.encode(story["prompt"])
        drawn = greedy(model, prompt, story["steps"] - len(prompt) + 1, {1, 2})
        assert story["prompt"] + tokenizer.decode(drawn) == story["text"]


def test_what_is_planned_is_what_is_held(tmp_path):
    import gguf

    for kind in (gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.Q5_0, gguf.GGMLQuantizationType.F16):
        source = tiny(tmp_path, kind)
        needs = needs_of(source, PLENTY, native.kernels())
        assert not needs.unknown
        assert needs.weight_bytes == load(source).weight_bytes


def test_the_plan_says_how_types_are_held(tmp_path):
    import gguf

    assert plan_model(tiny(tmp_path), PLENTY).repacked == ""
    assert plan_model(tiny(tmp_path, gguf.GGMLQuantizationType.Q5_1), PLENTY).repacked == "Q5_1 in 5 bits"
    path = tmp_path / "model.gguf"
    # The same bytes, called Q6_K and Q4_K: types of 256 elements, which only rows of 256 can be of.
    tiny(tmp_path, gguf.GGMLQuantizationType.Q8_0, hidden_size=256, intermediate_size=256)
    for old, new in ((b"attn_q", 14), (b"ffn_up", 12)):
        raw = path.read_bytes()
        for layer in (0, 1):
            name = b"blk.%d.%s.weight" % (layer, old)
            place = raw.index(name) + len(name) + 4 + 16
            raw = raw[:place] + new.to_bytes(4, "little") + raw[place + 4 :]
        path.write_bytes(raw)
    assert plan_model(open_model(record_of(path)), PLENTY).repacked == (
        "Q8_0 in 8 bits, Q6_K rounded to 8 bits, Q4_K in 4 bits"
    )


def test_progress_counts_the_bytes_of_the_file_and_can_be_stopped(tmp_path):
    source, watch = tiny(tmp_path), Watch()
    load(source, watch)
    done = [event.done for event in watch.events]
    assert done == sorted(done)
    assert done[-1] == watch.events[-1].total == source.weight_bytes
    with pytest.raises(CancelledError):
        load(source, Watch(stop_after=2))


def test_a_file_that_became_shorter_is_told(tmp_path):
    source = tiny(tmp_path)
    path = source.tensor_files[0].path
    path.write_bytes(path.read_bytes()[:-4096])
    with pytest.raises(BrokenModelError, match="was changed") as refused:
        load(source)
    assert_sentence(refused.value.message, path)


def test_a_tensor_that_no_layer_has_is_refused(tmp_path):
    config = LLAMA
    weights = {name: np.array(array) for name, array in random_weights(config).items()}
    path = write_model(tmp_path / "model.gguf", config, weights)
    content = path.read_bytes().replace(b"blk.0.ffn_up.weight", b"blk.0.ffn_op.weight")
    path.write_bytes(content)
    with pytest.raises(UnsupportedModelError, match=r"blk\.0\.ffn_op\.weight"):
        load(open_model(record_of(path)))

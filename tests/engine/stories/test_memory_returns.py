"""That a process is as small after a model was unloaded as it was before, measured from outside of MLX, too."""

import json
import os
import subprocess
import sys

import mlx.core as mx
import pytest

from sotto.engine.architectures.zoo import build
from tiny_random import CONFIGS, flat_weights, write_model

ENOUGH = 100_000_000
# Enough layers of this to be some hundred megabytes.
WIDE = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 6,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "max_position_embeddings": 1024,
}

_SCRIPT = """
import json, sys
from pathlib import Path
from sotto.engine.kernels import device
device.prepare()
import mlx.core as mx
import psutil
from sotto.engine.engine import Engine
from sotto.engine.contract.requests import GenerateRequest, SamplingOptions
from sotto.store.opening import open_model, record_of

def resident():
    return psutil.Process().memory_info().rss

def answer(engine):
    prompt = "abcdefgh" * 8
    request = GenerateRequest(id="r", prompt=prompt, sampling=SamplingOptions(temperature=0), num_predict=8)
    for event in engine.generate(engine.prepare(request)):
        pass

engine = Engine()
small = open_model(record_of(Path(sys.argv[1])))
engine.load(small)
answer(engine)
engine.unload()
rounds = []
large = open_model(record_of(Path(sys.argv[2])))
for _ in range(2):
    before = resident()
    engine.load(large)
    answer(engine)
    loaded = resident()
    weights = engine.memory().weights
    engine.unload()
    rounds.append({
        "before": before, "loaded": loaded, "after": resident(), "weights": weights,
        "active": mx.get_active_memory(), "pool": mx.get_cache_memory(),
    })
engine.close()
print(json.dumps(rounds))
"""


def write_wide_model(folder):
    """Write a model of some hundred megabytes; layers share their random numbers, which no reader can tell."""
    write_model(folder, "plain", **WIDE)
    model, _ = build({**CONFIGS["plain"], **WIDE})
    made, weights = {}, {}
    for name, array in flat_weights(model).items():
        if array.shape not in made:
            made[array.shape] = mx.random.uniform(-0.02, 0.02, array.shape)
        weights[name] = made[array.shape]
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    return folder


@pytest.fixture(scope="module", params=["1", "0"], ids=["native", "plain"])
def rounds(request, tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    small = write_model(root / "small", "plain")
    large = write_wide_model(root / "large")
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(small), str(large)],
        capture_output=True,
        text=True,
        timeout=240,
        env=os.environ | {"SOTTO_NATIVE": request.param},
    )
    (large / "model.safetensors").unlink()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_model_was_there(rounds):
    for each in rounds:
        assert each["weights"] > 3e8
        assert each["loaded"] - each["before"] > 3e8


def test_mlx_holds_nothing_of_the_model_after_unloading(rounds):
    assert [(each["active"], each["pool"]) for each in rounds] == [(0, 0), (0, 0)]


def test_the_process_is_as_small_as_before(rounds):
    for each in rounds:
        assert each["after"] - each["before"] <= ENOUGH, rounds
    assert rounds[1]["after"] - rounds[0]["before"] <= ENOUGH, rounds

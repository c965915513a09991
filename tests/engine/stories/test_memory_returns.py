"""That a process is as small after a model was unloaded as it was before, measured from outside of MLX, too."""

import json
import os
import subprocess
import sys

import pytest

from tiny_random import write_model, write_zeros

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


@pytest.fixture(scope="module", params=["1", "0"], ids=["native", "plain"])
def rounds(request, tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    small = write_model(root / "small", "plain")
    large = write_zeros(root / "large", "plain", **WIDE)
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


@pytest.mark.one_in(2)
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

"""The memory that an import takes, of its process and of the one that computes."""

import json
import os
import subprocess
import sys

import pytest

from sotto.store.safetensors_header import read_header

# Prints the most memory that this process and its only child have had; the system counts for each.
_IMPORT = """
import json, resource, sys
from pathlib import Path
from sotto.engine.quantizing.importer import plan_import, run_import
adapter = Path(sys.argv[3]) if sys.argv[3] else None
run_import(plan_import(Path(sys.argv[1]), sys.argv[2], adapter), "m", lambda progress: None, lambda: False)
child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
# On Linux, the usage of a process includes that of its parent until it was replaced by another program.
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
own = next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), None)
own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if own is None else own
print(json.dumps((own + child) * (1 if sys.platform == "darwin" else 1024)))
"""
_MOST_FREE = 300 << 20


def write_adapter(folder, shape, layer):
    import mlx.core as mx

    folder.mkdir()
    down, up = mx.ones((shape[1], 16)), mx.ones((16, shape[0]))
    mx.save_safetensors(str(folder / "adapters.safetensors"), {f"{layer}.lora_a": down, f"{layer}.lora_b": up})
    config = {"num_layers": -1, "lora_parameters": {"rank": 16, "scale": 1.0, "dropout": 0.0}}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return str(folder)


@pytest.mark.parametrize(("recipe", "fuses"), [("", False), ("int4", False), ("", True), ("int4", True)])
def test_memory_does_not_grow_with_a_tensor(data, tmp_path, family, recipe, fuses):
    folder = family("llama")
    # One tensor of 256 MB, without a byte on the disk.
    shape = [1 << 18, 512]
    name = "model.layers.0.mlp.up_proj.weight"
    header = json.dumps(
        {name: {"dtype": "BF16", "shape": shape, "data_offsets": [0, 2 * shape[0] * shape[1]]}}
    ).encode()
    path = folder / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    os.truncate(path, 8 + len(header) + 2 * shape[0] * shape[1])
    largest = read_header(path).tensors[name].nbytes
    adapter = write_adapter(tmp_path / "adapter", shape, name.removesuffix(".weight")) if fuses else ""
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT, str(folder), recipe, adapter], capture_output=True, text=True, check=True
    )
    # Three times the largest tensor may be taken, but slices need next to nothing.
    assert json.loads(done.stdout) < largest + _MOST_FREE

"""What the machine's memory allows: a sweep that only reads, and the bytes that a token of an answer has to read.

`OPENBLAS_NUM_THREADS=1 python memory_limit.py` prints the GB/s of the sweep with as many threads as the kernels use.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from sotto.engine.kernels.native import thread_count
from sotto.store.gguf.file import read_gguf_file

_SWEPT_BYTES = 1 << 30
_SWEEPS = 12
_HALF, _FULL = 2, 4


def read_rate() -> float:
    """Return the bytes per second that the cores of this process can read together, measured in a new process."""
    # Each of our threads calls BLAS, which must not start more.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout) * 1e9


def gguf_active_bytes(path: Path, config: Mapping[str, Any]) -> int:
    """Return the bytes of a GGUF file's weights that one token of an answer reads."""
    tensors = read_gguf_file(path).tensors
    total = 0.0
    for name, tensor in tensors.items():
        if name == "token_embd.weight" and "output.weight" in tensors:
            continue
        share = config["num_experts_per_tok"] / config["num_experts"] if "_exps" in name else 1
        total += tensor.nbytes * share
    return round(total)


def llama_context_bytes(config: Mapping[str, Any], depth: int) -> int:
    """Return the bytes that `depth` tokens leave in llama.cpp: keys and values in 16 bits, recurrent states in 32."""
    window, pattern = config.get("sliding_window"), config.get("sliding_window_pattern")
    layers, interval = config["num_hidden_layers"], config.get("full_attention_interval", 1)
    tokens = sum(
        min(depth, window) if window and pattern and (layer + 1) % pattern else depth
        for layer in range(interval - 1, layers, interval)
    )
    pairs = tokens * 2 * config["num_key_value_heads"] * config["head_dim"] * _HALF
    if interval == 1 or not depth:
        return pairs
    width, size = config["linear_num_value_heads"] * config["linear_value_head_dim"], config["linear_key_head_dim"]
    mixed = width + 2 * config["linear_num_key_heads"] * size
    state = width * size + mixed * (config["linear_conv_kernel_dim"] - 1)
    return pairs + (layers - layers // interval) * state * _FULL


def _sweep() -> float:
    """Return GB/s: the best of several sweeps, as other programs can only slow one down."""
    threads = thread_count()
    numbers = np.ones((threads, 2, _SWEPT_BYTES // 8 // threads), np.float32)
    best = 0.0
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(_SWEEPS):
            began = time.perf_counter()
            # Two streams for each thread, which are read faster than one.
            list(pool.map(np.vdot, numbers[:, 0], numbers[:, 1]))
            best = max(best, numbers.nbytes / (time.perf_counter() - began) / 1e9)
    return best


if __name__ == "__main__":
    print(json.dumps(_sweep()))

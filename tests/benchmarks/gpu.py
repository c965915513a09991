"""Does everything work on this machine's graphics processor, and how fast? Parity tests, then a table of speeds.

    .venv/bin/python tests/benchmarks/gpu.py [--minutes 9] [--only GROUP] [--quick] [--device cpu]

What MLX computes is compared with MLX on the CPU in float32, and with reference logits of transformers. Each group runs
in a process of its own. The end is a list of what is wrong, and the exit status is 1 if anything is. What the time is
too short for is named and left out.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from sotto.engine.kernels import device

# Before MLX is imported.
device.prepare()

# ruff: noqa: E402
import mlx.core as mx
from bench_models import BenchmarkModel, Models
from graphics.gpu_models import answers, drafts, families, memory
from graphics.gpu_operations import Check, operations
from hosting import Host
from mlx.utils import tree_flatten
from peer_llama_cpp import LlamaCpp, find
from peers import MlxPeer, Rates
from rows import machine
from shapes import SHAPES

from sotto.engine.advice.graphics_advice import graphics_advice
from sotto.engine.advice.machine import Machine
from sotto.engine.architectures.zoo import build
from sotto.engine.footprint.model_needs import limits_here

# The groups, in order, and the share of the time that is left which each may take.
_GROUPS = {"operations": 0.25, "families": 0.3, "answers": 0.3, "memory": 0.4, "speed": 1.0}
_PROGRAM = [sys.executable, __file__]
# A child that takes longer than its time by this much hangs.
_PATIENCE_S = 60.0
_NONE = (
    "There is no graphics processor here that MLX can use: it needs a Mac with Apple silicon, or Linux with an NVIDIA "
    "card of the generation Turing or newer, its driver and mlx[cuda13]; --device cpu tries the script itself."
)
_PROMPT, _ANSWER, _ROUNDS = 512, 64, 2
# Slower than mlx-lm by more than this is wrong.
_LEAST_RATIO = 0.9
# Both programs hold the model, and need room to compute.
_MEMORY_SHARE = 0.3
_BYTES = {"4bit": 0.5625, "8bit": 1.0625, "bf16": 2.0}


class Run:
    """The time of a run, and what was found to be wrong in it."""

    def __init__(self, minutes: float) -> None:
        self.wrong: list[str] = []
        self.left_out: list[str] = []
        self._ends = time.monotonic() + minutes * 60

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._ends - time.monotonic())

    def check(self, checks: Iterable[Check]) -> None:
        """Run checks, print the result of each, and remember what is wrong."""
        for name, check in checks:
            if not self.left:
                self.left_out.append(name)
                continue
            began = time.monotonic()
            try:
                wrong = check()
            except Exception as error:
                # Whatever MLX raises here is a finding, and the other checks are still worth running.
                wrong = f"{type(error).__name__}: {' '.join(str(error).split())}"
            print(f"{'WRONG' if wrong else 'ok':<6} {time.monotonic() - began:5.1f} s  {name}  {wrong}", flush=True)
            if wrong:
                self.wrong.append(f"{name}: {wrong}")

    def group(self, name: str, options: list[str]) -> None:
        """Run a group in a process of its own, as a fault of a driver can end it, and remember what is wrong."""
        seconds = self.left * _GROUPS[name]
        with tempfile.TemporaryDirectory(prefix="sotto-gpu-") as folder:
            found = Path(folder) / "found.json"
            command = [*_PROGRAM, "--only", name, "--minutes", str(seconds / 60), "--found", str(found), *options]
            try:
                status = subprocess.run(command, check=False, timeout=seconds + _PATIENCE_S).returncode
            except subprocess.TimeoutExpired:
                self.wrong.append(f"{name}: the last check that is printed, or the one after it, does not end")
                return
            if not found.is_file():
                self.wrong.append(
                    f"{name}: the process ended with status {status} after the last check that is printed"
                )
                return
            known = json.loads(found.read_text(encoding="utf-8"))
        self.wrong += known["wrong"]
        self.left_out += known["left_out"]


def main() -> int:
    """Run what is asked for, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=9.0, help="the time that a run may take")
    parser.add_argument("--only", choices=_GROUPS, action="append", help="run this group alone; may be repeated")
    parser.add_argument("--quick", action="store_true", help="run a few cases of each group")
    parser.add_argument("--device", choices=("gpu", "cpu"), default="gpu", help="cpu tries the script without one")
    parser.add_argument("--found", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.device == "cpu":
        os.environ[device.SWITCH] = "cpu"
    elif device.device() == "cpu":
        found = device.describe()
        sys.exit(" ".join([_NONE, *graphics_advice(Machine(), found, device.cuda_distribution())]))
    run = Run(options.minutes)
    if options.found is not None:
        with tempfile.TemporaryDirectory(prefix="sotto-gpu-") as folder:
            _run_group(run, options.only[0], Models(Path(folder)), quick=options.quick)
        options.found.write_text(json.dumps({"wrong": run.wrong, "left_out": run.left_out}), encoding="utf-8")
        return 0
    print(f"{machine()}\n{_described(mx.device_info())}", flush=True)
    for group in options.only or _GROUPS:
        print(f"\n{group}", flush=True)
        run.group(group, ["--device", options.device, *(["--quick"] if options.quick else [])])
    for name in run.left_out:
        print(f"Left out, because there was no time: {name}")
    print(f"\nWrong: {len(run.wrong)}", *(f"- {wrong}" for wrong in run.wrong), sep="\n", flush=True)
    return 1 if run.wrong else 0


def _run_group(run: Run, group: str, models: Models, *, quick: bool) -> None:
    """Run a group in this process; models are written when they are needed."""
    if group == "operations":
        run.check(operations(quick=quick))
    elif group == "families":
        run.check(families(models.folder, quick=quick))
    elif group == "answers":
        run.check(answers(models.folder, quick=quick))
        if not quick:
            run.check(drafts(models))
    elif group == "memory":
        filled = (
            (("smollm2-135m", "4bit", 1024),) if quick else (("qwen3-0.6b", "4bit", 8192), ("qwen3-0.6b", "bf16", 4096))
        )
        for shape, weights, context in filled:
            run.check(memory(models.get(shape, weights), context))
    else:
        speed(run, models, quick=quick)


def _described(info: dict[str, str | int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(info.items()) if name != "uuid")


def speed(run: Run, models: Models, *, quick: bool) -> None:
    """Print a row for each benchmark model that memory and time have room for: ours, mlx-lm's and llama.cpp's rates."""
    program = find()
    heads = ("prefill", "mlx-lm", "llama", "decode", "mlx-lm", "llama")
    print(f"{'tokens per second':<24} {' '.join(f'{head:>9}' for head in heads)}")
    room = limits_here().budget
    took = 0.0
    for shape, config in SHAPES.items():
        parameters = sum(array.size for _, array in tree_flatten(build(config)[0].parameters()))
        for weights in _BYTES:
            name = f"{shape}-{weights}"
            if quick and took:
                return
            # A model takes about as long as the one before, or longer if it is larger.
            if run.left < 1.5 * took or not run.left:
                run.left_out.append(f"speed of {name}")
            elif room is None or parameters * _BYTES[weights] <= _MEMORY_SHARE * room:
                began = time.monotonic()
                _compare(run, models, models.get(shape, weights), program)
                took = time.monotonic() - began
            else:
                print(f"{name:<24} does not fit beside itself into the memory")


def _compare(run: Run, models: Models, model: BenchmarkModel, program: Path | None) -> None:
    """Measure a model in all programs, which take turns, and print a row."""
    found: dict[str, list[Rates]] = {"ours": [], "mlx-lm": [], "llama": []}
    with Host(model.folder) as host, MlxPeer(model.folder, "own") as peer:
        host.prefill(_PROMPT)
        host.decode(_ANSWER)
        peer.measure("mlx-lm", _PROMPT, _ANSWER, 2)
        for _ in range(_ROUNDS):
            host.forget()
            found["ours"].append(Rates(host.prefill(_PROMPT), host.decode(_ANSWER)))
            found["mlx-lm"].append(peer.measure("mlx-lm", _PROMPT, _ANSWER, 5))
    if program is not None:
        twin = models.gguf(model.shape, model.gguf_type)
        llama = LlamaCpp(program, twin.folder)
        found["llama"] = [llama.measure(_PROMPT, _ANSWER) for _ in range(_ROUNDS)]
        models.remove(twin)
    cells = []
    for what in Rates._fields:
        rates = {name: [getattr(rate, what) for rate in measured] for name, measured in found.items()}
        ratio = statistics.median(mine / other for mine, other in zip(rates["ours"], rates["mlx-lm"], strict=True))
        if ratio < _LEAST_RATIO:
            run.wrong.append(f"{what} of {model.name} is {ratio:.2f} times as fast as mlx-lm's")
        cells += [f"{statistics.median(rates[name]):9.1f}" if rates[name] else f"{'':>9}" for name in found]
    print(f"{model.name:<24} {' '.join(cells)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

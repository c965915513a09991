"""Whether the native kernels are used, and the reported reason if they are not."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import mlx.core as mx
import pytest
from mlx import nn

from native_kernels import KERNELS, LEVELS, needs_kernels
from sotto.engine.kernels import native
from sotto.engine.kernels.cpu_linear import CpuQuantizedLinear, adapt_to_cpu

RECORD = f"{sysconfig.get_config_var('SOABI')}.json"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="MLX computes on the CPU on Linux only")


@pytest.fixture(autouse=True)
def _uninstall_afterwards():
    yield
    native.uninstall()


def record(folder: Path, **changes: object) -> Path:
    contents = {"built": True, "reason": "", "mlx": mx.__version__, "nanobind": "1", "compiler": "g++"}
    (folder / RECORD).write_text(json.dumps(contents | changes))
    return folder


def test_an_installation_without_kernels_says_so(tmp_path):
    assert native.load_from(tmp_path) == (None, "this installation was not built with any")


def test_the_error_of_the_build_is_the_reason(tmp_path):
    folder = record(tmp_path, built=False, reason="the build failed: x.cpp:1: error: no")
    assert native.load_from(folder) == (None, "the build failed: x.cpp:1: error: no")


@needs_kernels
def test_kernels_built_for_another_mlx_are_not_opened(tmp_path):
    folder = record(tmp_path, mlx="0.1.0")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    shutil.copy(native.FOLDER / f"kernels{suffix}", folder)
    found, reason = native.load_from(folder)
    assert found is None
    assert reason.startswith(f"built for MLX 0.1.0, but {mx.__version__} is installed")
    # The same file is accepted if the record names the installed version.
    found, reason = native.load_from(record(folder))
    assert reason == ""
    assert found.mlx_version() == mx.__version__


def test_a_damaged_module_is_not_an_error(tmp_path):
    folder = record(tmp_path)
    (folder / f"kernels{sysconfig.get_config_var('EXT_SUFFIX')}").write_bytes(b"\x7fELF and no more")
    found, reason = native.load_from(folder)
    assert found is None
    assert reason.startswith("they cannot be loaded: ")


@LINUX
def test_an_environment_variable_switches_kernels_off(monkeypatch):
    monkeypatch.setenv(native.SWITCH, "0")
    assert native.kernels() is None
    assert native.status() == native.NativeStatus("", 0, "switched off by SOTTO_NATIVE=0")
    original = mx.quantized_matmul
    assert not native.install()
    assert mx.quantized_matmul is original


@pytest.mark.parametrize(("kind", "name"), [("metal", "Metal"), ("cuda", "CUDA")])
def test_kernels_are_never_used_on_a_graphics_processor(kind, name, monkeypatch):
    monkeypatch.setattr(native.device, "device", lambda: kind)
    assert native.status().reason == f"not needed: {name} computes"
    assert native.kernels() is None
    assert not native.install()


@needs_kernels
def test_functions_are_replaced_and_restored():
    places = [(mx, "quantized_matmul"), (mx, "gather_qmm"), (mx, "gather_mm"), (nn.Linear, "__call__")]
    originals = [getattr(place, name) for place, name in places]
    assert native.install()
    assert native.install()
    assert all(getattr(place, name) is not original for (place, name), original in zip(places, originals, strict=True))
    native.uninstall()
    native.uninstall()
    assert all(getattr(place, name) is original for (place, name), original in zip(places, originals, strict=True))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(96, 64)
        self.dense = nn.Linear(64, 48)
        self.four = nn.QuantizedLinear(64, 48)
        self.three = nn.QuantizedLinear(64, 48, bits=3)

    def __call__(self, tokens):
        x = self.embed(tokens)
        return self.dense(x), self.four(x), self.three(x), self.embed.as_linear(x)


@needs_kernels
def test_kernels_compute_the_layers_that_they_support():
    model = Model()
    tokens = mx.array([[1, 2, 3]])
    plain = model(tokens)
    mx.eval(plain)
    adapt_to_cpu(model)
    assert type(model.four) is nn.QuantizedLinear
    assert type(model.three) is CpuQuantizedLinear
    found = model(tokens)
    shapes = [ours.shape for ours in found]
    assert shapes == [theirs.shape for theirs in plain]
    for ours, theirs in zip(found, plain, strict=True):
        assert ours.dtype == theirs.dtype
        assert mx.allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@needs_kernels
def test_inputs_that_kernels_do_not_support_go_to_mlx():
    weight = mx.random.normal((64, 64))
    quantized, scales, biases = mx.quantize(weight, bits=3)
    x = mx.random.normal((2, 64))
    expected = [
        mx.quantized_matmul(x, quantized, scales, biases, bits=3),
        mx.quantized_matmul(x, *mx.quantize(weight), transpose=False),
        mx.gather_qmm(x, quantized[None], scales[None], biases[None], rhs_indices=mx.array([0, 0]), bits=3),
        mx.gather_mm(x, weight[None], rhs_indices=mx.array([0])),
    ]
    mx.eval(expected)
    native.install()
    found = [
        mx.quantized_matmul(x, quantized, scales, biases, bits=3),
        mx.quantized_matmul(x, *mx.quantize(weight), transpose=False),
        mx.gather_qmm(x, quantized[None], scales[None], biases[None], rhs_indices=mx.array([0, 0]), bits=3),
        mx.gather_mm(x, weight[None], rhs_indices=mx.array([0])),
    ]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype
        assert mx.allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@needs_kernels
@pytest.mark.parametrize("level", LEVELS[:2])
def test_the_environment_can_limit_the_instruction_level(level):
    code = "from sotto.engine.kernels import native; print(native.kernels().level())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"SOTTO_NATIVE_LEVEL": level},
    )
    assert done.stdout.strip() == level


@needs_kernels
def test_a_forked_process_has_its_own_threads():
    code = (
        "import os, mlx.core as mx; from sotto.engine.kernels import native; k = native.kernels(); k.set_threads(3)\n"
        "k.set_threads(2); k.run_on_all_threads()\n"
        "child = os.fork()\n"
        "k.run_on_all_threads()\n"
        "if child: print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        "else: os._exit(0 if k.threads() >= 1 else 3)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "0"


def test_a_containers_quota_limits_the_threads(monkeypatch):
    monkeypatch.setattr(native, "cpu_quota", lambda: None)
    whole = native.thread_count()
    for quota in (1, whole, whole + 1):
        monkeypatch.setattr(native, "cpu_quota", lambda quota=quota: quota)
        assert native.thread_count() == min(quota, whole)


@needs_kernels
def test_there_are_no_more_threads_than_cores_of_this_process():
    assert native.thread_count() == native.status().threads <= len(os.sched_getaffinity(0))
    assert KERNELS.best_level() in LEVELS

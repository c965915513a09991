"""The device of the engine, which is chosen before MLX is imported; so each test runs a new process."""

import json
import os
import subprocess
import sys

import pytest

from sotto.engine.kernels import device

# Prints the best time of a matrix product, and the description of the device.
SPEED = (
    "import json, dataclasses, time, mlx.core as mx; a = mx.random.normal((512, 512)); mx.eval(a);"
    "clock = lambda: (time.process_time(), mx.eval(a @ a), time.process_time());"
    "best = min(end - start for start, _, end in [clock() for _ in range(8)]);"
    "print(json.dumps(dataclasses.asdict(device.describe()) | {'seconds': best}))"
)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="MLX computes on the CPU on Linux only")


def run(code, **environment):
    """Run code in a fresh interpreter, with changes to the environment, and return the JSON that it prints."""
    inherited = {name: value for name, value in os.environ.items() if name != "MLX_DISABLE_COMPILE"}
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=inherited | environment,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_preparing_does_not_import_mlx():
    code = (
        "import sys, json; from sotto.engine.kernels import device; device.prepare();"
        " print(json.dumps('mlx' in sys.modules))"
    )
    assert run(code) is False


@LINUX
def test_a_fast_blas_is_loaded_before_mlx_and_reported():
    if (
        not device._FORWARDER.is_file()
        and subprocess.run(
            [sys.executable, "-c", "import ctypes; ctypes.CDLL('libopenblas.so.0')"], check=False
        ).returncode
    ):
        pytest.skip("needs the forwarder, or the system's OpenBLAS (on Debian: libopenblas0-pthread)")
    # One thread and its processor time, because other programs may be busy on the machine.
    fast = run(
        f"from sotto.engine.kernels import device; device.prepare(); device.prepare(); {SPEED}",
        OPENBLAS_NUM_THREADS="1",
    )
    slow = run(f"from sotto.engine.kernels import device; {SPEED}")
    assert fast["blas"].startswith("/")
    assert "openblas" in fast["blas"]
    assert slow["blas"] == ""
    assert fast["seconds"] < slow["seconds"] / 2


@LINUX
@pytest.mark.skipif(not device._FORWARDER.is_file(), reason="the forwarder is not built here")
def test_products_through_the_forwarder_are_correct():
    code = """
import json
from sotto.engine.kernels import device
device.prepare()
import mlx.core as mx
if {divided}:
    from sotto.engine.kernels import native
    assert native.install()
worst = 0.0
for m, k, n in [(1, 70, 33), (70, 33, 1), (1, 1, 1), (7, 9, 5), (300, 257, 290), (3, 1, 4), (1, 0, 3)]:
    for a in (mx.random.normal((m, k)), mx.random.normal((k, m)).T, mx.random.normal((m, k + 2))[:, :k]):
        for b in (mx.random.normal((k, n)), mx.random.normal((n, k)).T, mx.random.normal((k, n + 2))[:, :n]):
            exact = (a.astype(mx.float64, stream=mx.cpu)[:, :, None] * b.astype(mx.float64)[None]).sum(1)
            worst = max(worst, mx.abs((a @ b).astype(mx.float64) - exact).max().item() / (k + 1))
            added = mx.addmm(mx.ones((m, n)), a, b).astype(mx.float64) - 1
            worst = max(worst, mx.abs(added - exact).max().item() / (k + 1))
print(json.dumps([worst, device.describe().blas.rpartition("/")[2]]))
"""
    for divided in (False, True):
        worst, name = run(code.format(divided=divided))
        assert worst < 1e-6
        assert name.startswith("libscipy_openblas")


@LINUX
def test_without_preparation_no_blas_is_reported():
    code = (
        "import json, mlx.core; from sotto.engine.kernels import device; device.prepare();"
        "print(json.dumps(device.describe().blas))"
    )
    assert run(code) == ""


@LINUX
@pytest.mark.parametrize("prepared", [True, False])
def test_nothing_is_compiled_on_the_cpu(prepared, tmp_path):
    compiler = tmp_path / "g++"
    compiler.write_text(f"#!/bin/sh\n: > {tmp_path}/called\nexit 1\n")
    compiler.chmod(0o755)
    code = (
        "import json; from sotto.engine.kernels import device\n"
        f"if {prepared}: device.prepare()\n"
        "import mlx.core as mx\n"
        "info = device.describe()\n"
        "f = mx.compile(lambda x: mx.exp(x) * 2 + x); mx.eval(f(mx.ones((8,))))\n"
        "print(json.dumps([info.device, info.compile, info.compute_type]))"
    )
    path = f"{tmp_path}:{os.environ['PATH']}"
    assert run(code, TMPDIR=str(tmp_path), PATH=path) == ["cpu", False, "float32"]
    assert not (tmp_path / "called").exists()


@pytest.mark.parametrize(
    ("found", "metal", "environment", "device"),
    [
        (1, True, {}, "metal"),
        (1, False, {}, "cuda"),
        (1, True, {"SOTTO_DEVICE": "cpu"}, "cpu"),
        # MLX for CUDA on a machine without a graphics processor.
        (0, False, {}, "cpu"),
    ],
)
def test_a_graphics_processor_computes_where_mlx_finds_one(found, metal, environment, device):
    code = f"""
import json, mlx.core as mx
chosen = []
mx.is_available = lambda kind: {found} > 0 and kind == mx.gpu
mx.metal.is_available = lambda: {metal}
mx.cuda.is_available = lambda: not {metal}
mx.set_default_device = lambda kind: chosen.append(kind == mx.cpu)
from sotto.engine.kernels import device
print(json.dumps([device.device(), device.compute_dtype() is not None, any(chosen)]))
"""
    on_cpu = device == "cpu"
    assert run(code, **environment) == [device, on_cpu, on_cpu]


@LINUX
def test_compilation_is_disabled_before_the_first_import_of_mlx():
    code = (
        "import json, os; from sotto.engine.kernels import device; device.prepare();"
        " print(json.dumps(dict(os.environ)))"
    )
    assert run(code)["MLX_DISABLE_COMPILE"] == "1"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
@pytest.mark.parametrize(
    ("soft", "hard", "expected"), [(256, 10000, 4096), (256, 1000, 1000), (5000, 10000, 5000), (300, 300, 300)]
)
def test_the_soft_limit_of_open_files_only_ever_rises(soft, hard, expected):
    code = (
        f"import json, resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}));"
        "from sotto.engine.kernels import device; device.raise_file_limit();"
        "print(json.dumps(resource.getrlimit(resource.RLIMIT_NOFILE)))"
    )
    if __import__("resource").getrlimit(__import__("resource").RLIMIT_NOFILE)[1] < hard:
        pytest.skip(f"may not open {hard} files here")
    assert run(code) == [expected, hard]

"""The script that tests a graphics processor, on machines that have none."""

import os
import subprocess
import sys

import pytest

from places import TESTS
from sotto.engine.kernels import device

FOLDER = TESTS / "benchmarks"


def run(*command, **environment):
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=FOLDER,
        env=os.environ | environment,
    )


@pytest.mark.skipif(device.device() != "cpu", reason="there is a graphics processor here")
def test_without_a_graphics_processor_it_says_what_is_needed():
    done = run("gpu.py")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("There is no graphics processor here that MLX can use: it needs a Mac")


@pytest.mark.slow
def test_on_the_cpu_nothing_is_wrong():
    parts = ("--only", "operations", "--only", "families", "--only", "answers")
    done = run("gpu.py", "--device", "cpu", "--quick", "--minutes", "3", *parts)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("\nWrong: 0\n")
    for name in ("products in mxfp4", "attention", "GGUF types", " in bfloat16", "the cache on the disk"):
        assert name in done.stdout
    assert "Left out" not in done.stdout


def test_what_is_wrong_is_listed_and_what_has_no_time_is_named():
    child = """
import sys, gpu
def broken():
    raise RuntimeError("no such kernel")
checks = [("the first", lambda: ""), ("the second", lambda: "off by 2"), ("the third", broken)]
gpu.operations = lambda quick: iter(checks)
sys.exit(gpu.main())
"""
    parent = f"""
import sys, gpu
gpu._PROGRAM = [sys.executable, "-c", {child!r}]
sys.argv += ["--device", "cpu", "--only", "operations"]
sys.exit(gpu.main())
"""
    done = run("-c", parent)
    assert done.returncode == 1, done.stderr
    assert done.stdout.endswith("Wrong: 2\n- the second: off by 2\n- the third: RuntimeError: no such kernel\n")
    done = run("-c", parent, "--minutes", "0")
    assert done.returncode == 0, done.stderr
    assert "Left out, because there was no time: the third" in done.stdout


def test_a_process_that_crashes_or_hangs_is_listed():
    code = """
import sys, gpu
gpu._PROGRAM = [sys.executable, "-c", "import os, sys, time; 'memory' in sys.argv or os.abort(); time.sleep(60)"]
gpu._PATIENCE_S = 0.5
sys.argv += ["--device", "cpu", "--only", "operations", "--only", "memory", "--minutes", "0"]
sys.exit(gpu.main())
"""
    done = run("-c", code)
    assert done.returncode == 1, done.stderr
    assert "- operations: the process ended with status -6 after the last check that is printed\n" in done.stdout
    assert "- memory: the last check that is printed, or the one after it, does not end\n" in done.stdout


def test_a_wrong_kernel_is_found():
    code = """
import mlx.core as mx
from graphics import gpu_operations
right, calls = mx.fast.rms_norm, []
def wrong(*arguments):
    calls.append(1)
    return right(*arguments) * (1.1 if len(calls) == 1 else 1.0)
mx.fast.rms_norm = wrong
print(gpu_operations._smaller((mx.float32,)))
"""
    done = run("-c", code, SOTTO_NATIVE="0")
    assert done.stdout == "a norm in float32: off by 0.1 of the values\n", done.stderr

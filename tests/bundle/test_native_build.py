"""The build of the native kernels, as far as it can be tested without compiling all of them."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the kernels are built on Linux only")


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the build module, set up to write to a temporary folder."""
    spec = importlib.util.spec_from_file_location("native_build", ROOT / "packaging" / "native_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "TARGET", tmp_path / "made")
    monkeypatch.setattr(module, "OBJECTS", tmp_path / "objects")
    return module


def build_failure(builder: ModuleType) -> str:
    record = builder.build()
    assert not record["built"]
    assert json.loads((builder.TARGET / builder.record_name()).read_text()) == record
    assert not any(path.exists() for path in builder.products())
    return str(record["reason"])


@pytest.mark.parametrize(("platform", "machine"), [("darwin", "arm64"), ("linux", "riscv64"), ("win32", "AMD64")])
def test_other_platforms_build_nothing_and_need_nothing(
    builder: ModuleType, platform: str, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder.sys, "platform", platform)
    monkeypatch.setattr(builder.platform, "machine", lambda: machine)
    assert builder.requirements() == []
    assert build_failure(builder).startswith("there are none for ")


@LINUX
def test_a_missing_compiler_is_the_reason(builder: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/nowhere/c++ -O1")
    assert build_failure(builder) == "there was no C++ compiler (/nowhere/c++ -O1) when Sotto was installed"


@LINUX
def test_the_first_compiler_error_is_the_reason(
    builder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "c++"
    compiler.write_text(
        "#!/bin/sh\necho 'In file included from a.h' >&2\necho 'x.cpp:3:1: error: no such thing' >&2\nexit 1\n"
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    pytest.importorskip("nanobind", reason="comes with the extra `test` on Linux")
    (builder.TARGET).mkdir()
    for path in builder.products():
        path.write_text("of an earlier build")
    assert build_failure(builder) == "the build failed: x.cpp:3:1: error: no such thing"
    assert not list((tmp_path / "objects").iterdir())


@LINUX
def test_the_build_needs_the_installed_mlx_version(builder: ModuleType) -> None:
    mlx, nanobind = builder.requirements()
    assert mlx.startswith("mlx[cpu]==")
    assert nanobind.startswith("nanobind==")
    assert f'"{nanobind}; sys_platform' in (ROOT / "pyproject.toml").read_text()


def test_files_for_special_instructions_include_no_inline_code() -> None:
    """Check the includes: inline functions compiled for those instructions could be linked into the other code."""
    native = ROOT / "desktop" / "native"
    found = [path for path in native.rglob("*.cpp") if path.stem.endswith(("_avx2", "_avx512", "_vnni", "_amx"))]
    assert found
    for path in found:
        included = {
            line.split()[1].strip('<>"') for line in path.read_text().splitlines() if line.startswith("#include")
        }
        assert not {name for name in included if name.startswith(("mlx/", "nanobind/"))}, path
        assert {name for name in included if "." not in name} <= {"cstddef", "cstdint"}, path

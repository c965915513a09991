"""What was done to make the folder smaller: what remains computes and reads as before."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from artefacts import definition, elf

PROGRAMS = Path(__file__).with_name("programs")


def said(program: str, *arguments: object, **environment: str) -> str:
    """Return what a program prints in the Python of this environment."""
    command = [sys.executable, PROGRAMS / program, *map(str, arguments)]
    result = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_every_function_of_linear_algebra_computes_what_numpy_does(portable: Path) -> None:
    inside = portable / "_internal"
    wanted = elf.undefined(inside / "mlx" / "lib" / "libmlx.so")
    (lapack,) = (inside / "mlx_cpu.libs").glob("liblapack-*")
    (blas,) = (inside / "mlx_cpu.libs").glob("libblas-*")
    assert lapack.stat().st_size + blas.stat().st_size < 100 << 10
    named = {name for name in wanted if re.fullmatch(r"cblas_\w+|[sdcz][a-z]{2,}[a-z0-9]*_", name)}
    assert {"cblas_sgemm", "sgesdd_", "cheevd_"} < named <= elf.exported(lapack) | elf.exported(blas)
    said("linear_algebra.py", inside, PYTHONPATH=str(inside))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_languages_are_read_as_before(portable: Path, zone: str) -> None:
    (library,) = portable.glob("_internal/PySide6/Qt/lib/libicudata.so.*")
    assert library.stat().st_size < 8 << 20
    before, after = (
        said("languages.py", TZ=zone, LD_PRELOAD=path, QT_QPA_PLATFORM="offscreen") for path in ("", str(library))
    )
    assert len(before.splitlines()) > 40
    for one, other in zip(before.splitlines(), after.splitlines(), strict=True):
        assert one == other


def test_nothing_reads_what_is_left_out() -> None:
    """Qt takes the names of time zones, and old encodings, from the part of ICU's data that is left out."""
    left_out = r"LongFormat|QTimeZone|\btttt\b|QDateTimeEdit|QStringDecoder|QStringConverter|QTextStream"
    for path in (definition.ROOT / "desktop" / "sotto").rglob("*.py"):
        assert not re.search(left_out, path.read_text(encoding="utf-8")), path

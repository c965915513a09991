"""Wheels with the native kernels in them, so that nobody who installs one needs a compiler."""

from __future__ import annotations

import json
import platform
import zipfile
from pathlib import Path

from artefacts import definition, older_glibc
from artefacts.workshop import Workshop
from installing import InstallError, run_pip, say


def build(workshop: Workshop) -> Path:
    """Build the wheel for the workshop's Python, and return its path.

    Raises:
        InstallError: It cannot be built with the kernels.
    """
    say("Building the wheel.")
    plain, repaired = workshop.fresh("plain-wheel"), workshop.fresh("wheel")
    # With the workshop's MLX, whose path is the same the next time, so that less is compiled then.
    building = ("--no-deps", "--no-build-isolation", "--wheel-dir", str(plain))
    run_pip(workshop.python, [["wheel", *building, str(definition.ROOT)]])
    (wheel,) = plain.glob("*.whl")
    check_kernels(wheel)
    # MLX's library is that of the installed MLX, loaded before the kernels.
    standard = f"manylinux_{older_glibc.GLIBC.replace('.', '_')}_{platform.machine()}"
    repairing = ("--plat", standard, "--exclude", "libmlx.so", "--wheel-dir", repaired)
    workshop.run("-m", "auditwheel", "repair", *repairing, wheel)
    (wheel,) = repaired.glob("*.whl")
    return wheel


def check_kernels(wheel: Path) -> None:
    """Check that a wheel has the native kernels and the library that lets MLX use OpenBLAS.

    Raises:
        InstallError: It has not; the message says why.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("sotto/_native/")]
        records = [json.loads(archive.read(name)) for name in names if name.endswith(".json")]
    missing = {"kernels", "libsotto_blas"} - {Path(name).name.partition(".")[0] for name in names}
    if missing:
        reasons = "; ".join(record["reason"] for record in records) or "the build said nothing about them"
        raise InstallError(f"{wheel.name} lacks {' and '.join(sorted(missing))}: {reasons}.")

"""Replaces the BLAS and LAPACK of MLX's wheel, and the Fortran library that they need, by those inside OpenBLAS.

Both are in every installation. The new libraries have the file names of the old ones and the few functions that MLX
asks for, each a name for OpenBLAS's. Products of matrices still pass through the forwarder in `desktop/native`.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from artefacts import elf


def replace(site: Path) -> None:
    """Replace the libraries in the folder that has `mlx`, `mlx_cpu.libs` and `scipy_openblas32`."""
    libraries = site / "mlx_cpu.libs"
    wanted = elf.undefined(site / "mlx" / "lib" / "libmlx.so")
    for name in ("lapack", "blas"):
        (old,) = libraries.glob(f"lib{name}-*.so*")
        _replace(old, wanted & elf.exported(old), site)
    for name in ("gfortran", "quadmath"):
        # The latter is not there on ARM.
        for unused in libraries.glob(f"lib{name}-*.so*"):
            unused.unlink()


def _replace(old: Path, names: set[str], site: Path) -> None:
    """Replace a library by one with functions of these names."""
    (openblas,) = (site / "scipy_openblas32" / "lib").glob("libscipy_openblas*.so")
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "names.c", Path(folder) / "made.so"
        source.write_text("".join(map(_forwarding, sorted(names))))
        command = ["gcc", "-shared", "-fPIC", "-O2", f"-Wl,-soname,{elf.soname(old)}", "-Wl,-s", str(source)]
        # Where the loader finds OpenBLAS from the place of the old library, and from that of PyInstaller's link to it.
        inside = openblas.parent.relative_to(site)
        path = f"-Wl,-rpath,$ORIGIN/../{inside}:$ORIGIN/{inside}"
        subprocess.run([*command, str(openblas), path, "-o", str(made)], check=True)
        old.write_bytes(made.read_bytes())


def _forwarding(name: str) -> str:
    """Return C code that gives OpenBLAS's function another name, whatever its arguments are."""
    return (
        f"void scipy_{name}(void);\n"
        f"static void (*find_{name}(void))(void) {{ return scipy_{name}; }}\n"
        f'void {name}(void) __attribute__((ifunc("find_{name}")));\n'
    )

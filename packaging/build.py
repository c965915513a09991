"""Build what people install: `python3 packaging/build.py wheel|tarball|deb|appimage|flatpak|app|sbom ... --out DIR`.

    wheel     a wheel with the native kernels, for the Python that builds it
    tarball   a folder that runs from anywhere on Linux, packed
    deb       the same folder as a package for Debian and Ubuntu
    appimage  the same folder in one file that runs, for which --runtime names the program at its beginning
    flatpak   a folder that flatpak-builder makes a Flatpak from, out of the tarball
    sbom      what is in that folder, as CycloneDX
    app       Sotto.app for Macs with Apple silicon, built on Linux or a Mac, with the Python of --python-support

Needs Python 3.11 or newer, and other than for the app Linux, a C++ compiler and Qt's system libraries; on Debian, as
root, it installs the latter two. Everything else is installed in `build/artefacts`. `packaging/README.md` says how each
is made.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from artefacts import appimage, debian, definition, flatpak, portable, release, sbom, wheels
from artefacts.workshop import Workshop
from installing import InstallError, ask, say

ARTEFACTS = ("wheel", "tarball", "deb", "appimage", "flatpak", "app", "sbom")
# Those that both Sotto and the newest Qt for the oldest macOS run with.
MAC_PYTHONS = ("3.11", "3.12", "3.13")


def main(arguments: list[str]) -> int:
    """Build the artefacts, print their paths, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="build.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("artefacts", nargs="+", choices=ARTEFACTS, metavar="|".join(ARTEFACTS))
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the artefacts go")
    parser.add_argument(
        "--python", type=Path, default=Path(sys.executable), metavar="PATH", help="the Python to build for and with"
    )
    parser.add_argument("--runtime", type=Path, metavar="PATH", help="the runtime of the AppImage")
    parser.add_argument(
        "--python-support", type=Path, metavar="PATH", help="for the app: an archive or folder with Python for the Mac"
    )
    parsed = parser.parse_args(arguments)
    try:
        runtime = appimage.check_runtime(parsed.runtime) if "appimage" in parsed.artefacts else None
        for path in build(parsed.artefacts, parsed.out, parsed.python, runtime, parsed.python_support):
            print(path)
    except InstallError as error:
        say(str(error))
        return 1
    return 0


def build(
    artefacts: list[str], out: Path, python: Path, runtime: Path | None = None, python_support: Path | None = None
) -> list[Path]:
    """Build the artefacts in the folder `out`, and return their paths.

    Args:
        artefacts: Some of `ARTEFACTS`.
        out: The folder.
        python: The Python to build for and with.
        runtime: The runtime of the AppImage, which is built only with one.
        python_support: The Python in the app for macOS; None leaves it out.

    Raises:
        InstallError: One cannot be built.
    """
    release.check()
    out.mkdir(parents=True, exist_ok=True)
    made = [_build_app(out, python, python_support)] if "app" in artefacts else []
    if set(artefacts) <= {"app"}:
        return made
    workshop = Workshop.open(python)
    wheel = wheels.build(workshop)
    made += [Path(shutil.copy2(wheel, out))] if "wheel" in artefacts else []
    if set(artefacts) <= {"app", "wheel"}:
        return made
    folder = portable.build(workshop, wheel)
    if {"tarball", "flatpak"} & set(artefacts):
        made.append(tarball := portable.pack(folder, out))
        if "flatpak" in artefacts:
            made.append(flatpak.build(tarball, out))
    if "deb" in artefacts:
        made.append(debian.build(folder, workshop, out))
    if runtime is not None:
        made.append(appimage.build(folder, runtime, workshop, out))
    if "sbom" in artefacts:
        made.append(Path(shutil.copy2(folder / sbom.NAME, out / f"{portable.name()}.cdx.json")))
    return made


def _build_app(out: Path, python: Path, python_support: Path | None) -> Path:
    """Build the app for macOS with the tools that this needs, in a process that has them."""
    version = ask(python, "import sys; print('%d.%d' % sys.version_info[:2])")
    if version not in MAC_PYTHONS:
        raise InstallError(
            f"The app for macOS is made for Python {', '.join(MAC_PYTHONS)}, not {version}: name one with --python."
        )
    workshop = Workshop.with_tools(python, "macos")
    script = definition.ROOT / "packaging" / "macos" / "app.py"
    command: list[str | Path] = [workshop.python, script, "--out", out, "--work", workshop.folder / "work"]
    if python_support is not None:
        command += ["--python-support", python_support]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise InstallError("The app for macOS was not built.")
    return Path(result.stdout.strip())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Build packages in a clean Debian: `python3 packaging/in_debian.py ARTEFACT ... --out DIR`.

    python3 packaging/in_debian.py wheel --out dist --arch arm64
    python3 packaging/in_debian.py wheel --suite trixie --out dist

Makes a Debian in `build/debian` with debootstrap, copies this checkout there, and runs `build.py` with that Debian's
Python. Other options go to `build.py`. For another architecture, everything runs in an emulator (qemu-user-static) and
takes much longer. Needs Linux, root and debootstrap.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from artefacts import desktop_files
from installing import ROOT, InstallError, can_install_packages, install_packages, say

_MIRROR = "http://deb.debian.org/debian"
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
# That of Debian 12: newer ones build what needs a newer C++ library than MLX does.
_COMPILER = "g++-12"
_PACKAGES = ("ca-certificates", "g++", _COMPILER, "python3-dev", "python3-pip", "python3-venv")
_CERTIFICATES = Path("etc/ssl/certs/ca-certificates.crt")
_EMULATORS = Path("/proc/sys/fs/binfmt_misc")
# In the Debian.
_CHECKOUT, _OUT = "srv/sotto", "srv/out"


def main(arguments: list[str]) -> int:
    """Build the artefacts, print their paths, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="in_debian.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the artefacts go")
    parser.add_argument("--suite", default="bookworm", metavar="NAME", help="the release of Debian")
    parser.add_argument("--arch", default=_host(), choices=_MACHINES, metavar="NAME", help="amd64 or arm64")
    parsed, rest = parser.parse_known_args(arguments)
    try:
        root = prepare(parsed.suite, parsed.arch)
        for path in build(root, parsed.arch, rest, parsed.out):
            print(path)
    except InstallError as error:
        say(str(error))
        return 1
    return 0


def prepare(suite: str, arch: str) -> Path:
    """Make the Debian, unless it is there, and return its folder.

    Raises:
        InstallError: It cannot be made here.
    """
    if os.name != "posix" or os.geteuid() != 0:
        raise InstallError("Only root can make a Debian in a folder: start this with sudo.")
    if not shutil.which("debootstrap") and can_install_packages():
        install_packages(["debootstrap"])
    if not shutil.which("debootstrap"):
        raise InstallError("debootstrap is missing (on Debian: sudo apt-get install debootstrap).")
    if arch != _host() and not (_EMULATORS / f"qemu-{_MACHINES[arch]}").exists():
        raise InstallError(
            f"This machine cannot run programs for {arch}: install qemu-user-static and binfmt-support, and mount "
            f"binfmt_misc in {_EMULATORS}."
        )
    root = ROOT / "build" / "debian" / f"{suite}-{arch}"
    if (root / "ready").is_file():
        return root
    say(f"Making a Debian {suite} for {arch} in {root.relative_to(ROOT)}.")
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    names = f"--include={','.join(_PACKAGES)}"
    _run("debootstrap", f"--arch={arch}", "--variant=minbase", names, suite, root, _MIRROR)
    (root / "ready").touch()
    return root


def build(root: Path, arch: str, arguments: list[str], out: Path) -> list[Path]:
    """Run `build.py` in a Debian, and return the paths of what it has built.

    Raises:
        InstallError: It fails; its own messages have been printed.
    """
    for name in (Path("etc/resolv.conf"), _CERTIFICATES):
        if (Path("/") / name).is_file():
            shutil.copyfile(Path("/") / name, root / name)
    checkout = root / _CHECKOUT
    shutil.rmtree(root / _OUT, ignore_errors=True)
    # What was built there before stays, so that less is compiled.
    for path in checkout.glob("*"):
        if path.name != "build":
            _run("rm", "-r", path)
    checkout.mkdir(parents=True, exist_ok=True)
    listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, capture_output=True, check=True).stdout
    packed = ["tar", "-C", str(ROOT), "--null", "--files-from=-", "--ignore-failed-read", "-c"]
    archive = subprocess.run(packed, input=files, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(checkout)], input=archive, check=True)
    environment = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    environment |= {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8", "CXX": _COMPILER}
    environment["SOURCE_DATE_EPOCH"] = str(int(desktop_files.date().timestamp()))
    command = ["/usr/bin/python3", f"/{_CHECKOUT}/packaging/build.py", *arguments, "--out", f"/{_OUT}"]
    # With its own processes, and what needs them.
    words = [
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "sh",
        "-c",
        'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"',
    ]
    result = subprocess.run([*words, str(root), *command], env=environment, stdout=subprocess.DEVNULL)
    if result.returncode != 0:
        raise InstallError("Building failed, see the messages above.")
    out.mkdir(parents=True, exist_ok=True)
    made = sorted((root / _OUT).iterdir())
    for path in made:
        subprocess.run(["cp", "-r", "--no-preserve=ownership", str(path), str(out)], check=True)
    return [out / path.name for path in made]


def _host() -> str:
    """Return Debian's name of this machine's architecture."""
    return next((arch for arch, machine in _MACHINES.items() if machine == platform.machine()), "amd64")


def _run(*command: object) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    result = subprocess.run(
        [*map(str, command)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if result.returncode != 0:
        raise InstallError(f"{' '.join(map(str, command))} failed:\n{result.stdout.strip()[-2000:]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

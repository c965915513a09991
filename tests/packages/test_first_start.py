"""The first start of a checkout on a bare Debian whose Python is the newest that Sotto knows, with a real network."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SUITE, _MIRROR = "forky", "http://deb.debian.org/debian"
# An older debootstrap does not know that release; it is made as all recent ones are.
_SCRIPT = "/usr/share/debootstrap/scripts/sid"
_CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"


@pytest.fixture(scope="module")
def root() -> Path:
    """Return a bare Debian with Python and a checkout in it; the Debian is kept for the next run."""
    if not shutil.which("debootstrap") or os.geteuid() != 0:
        pytest.skip("needs root, and debootstrap (apt-get install debootstrap)")
    folder = Path(os.environ["SOTTO_PACKAGES"]).absolute()
    base, made = folder / f"debian-{_SUITE}-python", folder / "debian-start"
    if not (base / "usr" / "bin" / "python3").exists():
        command = ["debootstrap", "--variant=minbase", "--include=python3,ca-certificates"]
        subprocess.run([*command, _SUITE, base, _MIRROR, _SCRIPT], check=True, timeout=900)
    shutil.rmtree(made, ignore_errors=True)
    subprocess.run(["cp", "-a", base, made], check=True)
    for name in ("etc/resolv.conf", _CERTIFICATES):
        shutil.copy(f"/{name}", made / name)
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    checkout = made / "root" / "a place ä ☃"
    checkout.mkdir()
    subprocess.run(["xargs", "-0", "cp", "--parents", "-t", checkout], cwd=ROOT, input=files, check=True)
    return made


def start(root: Path, *arguments: str, network: bool) -> "subprocess.CompletedProcess[str]":
    """Start the checkout in that Debian, as somebody does who has no display."""
    kept = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    settings = {"HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
    settings |= dict.fromkeys(("PIP_CERT", "SSL_CERT_FILE"), f"/{_CERTIFICATES}")
    inside = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
    parts = ["--mount", "--pid", "--fork", *(() if network else ("--net",))]
    command = ["unshare", *parts, "sh", "-c", inside, root, "python3", "/root/a place ä ☃/packaging/start.py"]
    return subprocess.run([*command, *arguments], env=kept | settings, capture_output=True, text=True, timeout=1800)


def test_it_sets_everything_up_and_answers(root: Path) -> None:
    version = subprocess.run(["chroot", root, "python3", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("Python 3.14.")
    first = start(root, "run", "sotto", "Hello", network=True)
    assert first.returncode == 0, first.stderr
    assert len(first.stdout) > 10
    assert re.search(r"^  Installing \d+ packages, \d+ of them done", first.stderr, re.MULTILINE)
    assert re.search(r"Compiling the native kernels, \d+ of \d+ files done", first.stderr)
    said = start(root, "doctor", network=False)
    assert re.search(r"^Native kernels +yes, ", said.stdout, re.MULTILINE), said.stdout
    assert said.stderr == "", "the second start needs neither a network nor words"

"""Building in a clean Debian, as far as none has to be made."""

import os
import re
import sys
from pathlib import Path

import pytest

import in_debian

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Debians are made on Linux")


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Be root on a machine without programs, and return the folder of its emulators."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    emulators = tmp_path / "emulators"
    emulators.mkdir()
    monkeypatch.setattr(in_debian, "_EMULATORS", emulators)
    return emulators


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert in_debian.main(["wheel", "--out", "dist", *arguments]) == 1
    return capsys.readouterr().err.strip()


def test_only_root_makes_a_debian(capsys, monkeypatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert said(capsys) == "Only root can make a Debian in a folder: start this with sudo."


def test_missing_programs_are_named(capsys, root, tmp_path, monkeypatch) -> None:
    assert said(capsys) == "debootstrap is missing (on Debian: sudo apt-get install debootstrap)."
    (tmp_path / "debootstrap").write_text("#!/bin/sh\necho no such release\nexit 1\n")
    (tmp_path / "debootstrap").chmod(0o755)
    other = "arm64" if in_debian._host() == "amd64" else "amd64"
    assert re.match(
        f"This machine cannot run programs for {other}: install qemu-user-static", said(capsys, "--arch", other)
    )
    monkeypatch.setattr(in_debian, "ROOT", tmp_path)
    assert re.search(
        r"debootstrap --arch=\w+ .+ nothing .+ failed:\nno such release$", said(capsys, "--suite", "nothing")
    )

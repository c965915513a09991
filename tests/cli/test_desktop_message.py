"""What a person sees after a double-click where Qt's libraries are missing."""

import os
from pathlib import Path

import pytest

from sotto.cli import desktop, linux_packages
from sotto.errors import SottoError
from sotto.ui.platform.single_instance import Show

SENTENCE = "The window needs libGL.so.1 (sudo apt-get install --no-install-recommends libgl1)."
ALL = ("zenity", "kdialog", "xmessage", "notify-send", "x-terminal-emulator", "gnome-terminal", "konsole", "xterm")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder with programs, on a desktop that lacks a library."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("DISPLAY", ":3")
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(linux_packages, "missing", lambda *, windows: {"libGL.so.1": "libgl1"})
    # As after a double-click, whoever runs the tests.
    monkeypatch.setattr(os, "isatty", lambda descriptor: False)
    return folder


def install(folder: Path, name: str, status: int = 0) -> Path:
    """Write a program that notes its arguments, and return the path of its notes."""
    notes = folder.parent / f"{name}.txt"
    (folder / name).write_text(f"""#!/bin/sh
printf '%s\\n' "$@" > {notes}
exit {status}
""")
    (folder / name).chmod(0o755)
    return notes


@pytest.mark.parametrize("name", ALL)
def test_a_program_of_the_desktop_says_what_is_missing(programs, name):
    notes = install(programs, name)
    with pytest.raises(SottoError, match="The window needs libGL"):
        desktop.run(Show.WINDOW, ())
    assert f"Sotto cannot open its window. {SENTENCE}" in " ".join(notes.read_text().split())


def test_only_the_first_program_says_it(programs):
    # The status says how the message was closed.
    notes = [install(programs, name, status=1) for name in ALL]
    with pytest.raises(SottoError):
        desktop.run(Show.QUICK, ())
    assert [path.exists() for path in notes] == [True, *[False] * (len(ALL) - 1)]


def test_a_notification_that_nobody_shows_does_not_count(programs):
    install(programs, "notify-send", status=1)
    notes = install(programs, "xterm")
    with pytest.raises(SottoError):
        desktop.run(Show.WINDOW, ())
    assert SENTENCE in notes.read_text()


@pytest.mark.parametrize("case", ["no program", "no screen", "a terminal"])
def test_otherwise_the_terminal_gets_it(programs, monkeypatch, case, capsys):
    notes = install(programs, "zenity")
    if case == "no program":
        (programs / "zenity").unlink()
    elif case == "no screen":
        monkeypatch.delenv("DISPLAY")
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    else:
        monkeypatch.setattr(os, "isatty", lambda descriptor: True)
    monkeypatch.setattr("sotto.cli.chat.in_terminal", lambda name: 0)
    assert desktop.run(Show.WINDOW, ()) == 0
    assert "The chat opens here in the terminal instead." in capsys.readouterr().err
    assert not notes.exists()

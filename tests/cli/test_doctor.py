"""`sotto doctor` in a child process with an empty home folder."""

import re
import stat
import struct
import sys
from pathlib import Path

import pytest
import ziafont

from commands import sotto
from sotto.runner import faults

pytestmark = pytest.mark.slow


def test_doctor_names_what_runs_here(env: dict[str, str]) -> None:
    done = sotto(env, "doctor")
    assert done.returncode == 0, done.stderr
    for word in ("Python", "mlx", "Device", "Memory", "Store builtin"):
        assert word in done.stdout
    assert re.search("^Shared steps +none failed$", done.stdout, re.MULTILINE)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have these fonts")
def test_doctor_names_packages_for_missing_fonts(env: dict[str, str], tmp_path: Path) -> None:
    config, folder, emoji, letters = tmp_path / "fonts.conf", tmp_path / "fonts", "🚀🎉🤖", "漢か한"
    config.write_text(f"<fontconfig><dir>{folder}</dir><cachedir>{tmp_path}/cache</cachedir></fontconfig>")
    folder.mkdir()
    install = "sudo apt-get install --no-install-recommends"
    for chars, line in (
        ("", f"no font for emoji or for Chinese, Japanese and Korean: {install} fonts-noto-color-emoji fonts-noto-cjk"),
        (letters, f"no font for emoji: {install} fonts-noto-color-emoji"),
        (emoji + letters[:2], f"no font for Chinese, Japanese and Korean: {install} fonts-noto-cjk"),
        (emoji + letters, "emoji, Chinese, Japanese and Korean"),
    ):
        (folder / f"{len(chars)}.ttf").write_bytes(font_with(chars or "a"))
        done = sotto(env | {"FONTCONFIG_FILE": str(config)}, "doctor")
        assert re.search(f"^Fonts +{re.escape(line)}$", done.stdout, re.MULTILINE), done.stdout
        (folder / f"{len(chars)}.ttf").unlink()


def font_with(chars: str) -> bytes:
    """Return a font that has only these characters: another font with its table of characters replaced."""
    font = bytearray((Path(ziafont.__file__).parent / "fonts" / "DejaVuSans.ttf").read_bytes())
    groups = b"".join(struct.pack(">III", ord(char), ord(char), 36) for char in sorted(chars))
    table = struct.pack(">HHHHI", 0, 1, 3, 10, 12) + struct.pack(
        ">HHIII", 12, 0, 16 + len(groups), 0, len(groups) // 12
    )
    entry = font.index(b"cmap")
    struct.pack_into(">II", font, entry + 8, len(font), len(table + groups))
    return bytes(font + table + groups)


def test_doctor_reports_faults_in_shared_steps(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", env["HOME"])
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    for reason in ("RuntimeError: one", "ValueError: two\nlines"):
        faults.record("tiny:latest", reason)
    assert stat.S_IMODE(faults.file().stat().st_mode) == 0o600
    with faults.file().open("a") as file:
        file.write("not JSON\n")
    done = sotto(env, "doctor")
    assert done.returncode == 0, done.stderr
    assert re.search(
        "^Shared steps +2 answers continued alone after a step failed, since 20", done.stdout, re.MULTILINE
    )
    assert "tiny:latest: ValueError: two\\x0alines" in done.stdout

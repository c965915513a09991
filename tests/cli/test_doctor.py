"""`sotto doctor` in a child process with an empty home folder."""

import platform
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


def test_doctor_says_what_slows_the_engine_down(env: dict[str, str]) -> None:
    there = {name: value for name, value in env.items() if not name.startswith(("SOTTO_", "OPENBLAS_"))}
    done = sotto(there | {"SOTTO_NATIVE": "0"}, "doctor", "--report")
    assert done.returncode == 0, done.stderr
    if sys.platform == "linux" and "cpu" in (line.split()[-1] for line in done.stdout.splitlines() if "Device" in line):
        assert "The native kernels are switched off by SOTTO_NATIVE=0" in done.stdout
    assert re.search("^Speed +", done.stdout, re.MULTILINE)


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


def test_a_report_has_what_a_bug_needs_and_no_names(tmp_path: Path, env: dict[str, str]) -> None:
    home = tmp_path / "Jané Dœ's home" / "janedoe"
    log = home / ".local" / "state" / "Sotto" / "log"
    log.mkdir(parents=True)
    (log / "sotto.log").write_text(f"2026-01-01 00:00:00 window 1 INFO sotto: {home}/a key-of-mine\n")
    trace = "  sotto/ui/app.py:1 run\nValueError"
    (log / "report-20260101-000000-000000.txt").write_text(f"Sotto 1\n\n{trace}\n\nThe last lines of the log:\n\nold\n")
    models = tmp_path / "janedoesmodels"
    (models / "manifests" / "registry.ollama.ai" / "library" / "broken").mkdir(parents=True)
    (models / "manifests" / "registry.ollama.ai" / "library" / "broken" / "latest").write_text("{")
    secret = env | {
        "HOME": str(home),
        "USER": "janedoe",
        "SOTTO_API_KEY": "key-of-mine",
        "OLLAMA_MODELS": str(models),
        "SOTTO_ENGINE_HOST": "process",
    }
    done = sotto(secret, "doctor", "--report")
    assert done.returncode == 0, done.stderr
    for word in ("janedoe", "Jan", "key-of-mine", platform.node()):
        assert word.casefold() not in done.stdout.casefold()
    assert re.search("^Own models +~/.local/share/Sotto/models$", done.stdout, re.MULTILINE)
    assert re.search("^SOTTO_ENGINE_HOST +process$", done.stdout, re.MULTILINE)
    assert "<user>smodels" in done.stdout
    assert f"The last report:\n\nSotto 1\n\n{trace}\n" in done.stdout
    assert "window 1 INFO sotto: ~/a <secret>\n" in done.stdout
    assert "old" not in done.stdout
    again = sotto(secret, "doctor", "--report")
    assert without_sizes(done.stdout) == without_sizes(again.stdout), "a report must not write to the log"


def without_sizes(report: str) -> str:
    """Return ``report`` without the sizes in it: memory and disk change between two reports."""
    return re.sub(r"\d[\d.,]* (?=[kMGT]?B\b)", "", report)

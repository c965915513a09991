"""The fuzz of a minute: some inputs of every target, always the same ones; and the tool finds what was planted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from thoroughness import share

FUZZ = Path(__file__).with_name("fuzz.py")
# Inputs of each target in a run of everything, which takes a minute; otherwise a share of them.
COUNTS = {
    "api": 200,
    "chats": 200,
    "config": 60,
    "gguf": 80,
    "gotemplate": 200,
    "jinja": 120,
    "manifest": 60,
    "pdf": 100,
    "safetensors": 60,
    "schema": 300,
    "tokenizer": 200,
}
PLANTED = {
    "crash": "SIGSEGV",
    "exception": "IndexError",
    "hang": "planted.py",
    "memory": "MB",
    "sentence": "shows our insides",
    "slow": "s of the processor",
}


def fuzz(*arguments):
    """Run the tool as a person does; return its exit status and what it printed."""
    command = [sys.executable, str(FUZZ), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280)
    return done.returncode, done.stdout


@pytest.mark.parametrize("target", COUNTS)
def test_nothing_is_found_and_the_fuzz_goes_deep(tmp_path, target):
    report = tmp_path / "report.json"
    count = share(COUNTS[target], 20)
    status, said = fuzz("--target", target, "--count", count, "--keep", tmp_path, "--report", report)
    assert status == 0, said
    counted = json.loads(report.read_text())[target]
    assert counted["inputs"] == count
    assert not counted["shallow"], said
    # Where all that is refused is refused for a reason or two, little of the program was seen.
    assert counted["sentences"] > 3, said


def test_every_target_has_its_part():
    status, said = fuzz("--help")
    assert status == 0
    assert set(COUNTS) == set(said.partition("one of ")[2].partition(";")[0].replace(",", " ").split())


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """What the tool says of a target with faults, and the folder in which it keeps them."""
    folder = tmp_path_factory.mktemp("planted")
    status, said = fuzz("--target", "planted", "--count", 30, "--keep", folder, "--report", folder / "report.json")
    assert status == 1
    return said, folder


@pytest.mark.parametrize("kind", PLANTED)
def test_faults_are_found_once_kept_and_replayed(planted, kind):
    said, folder = planted
    if kind == "memory" and not Path("/proc/self/clear_refs").exists():
        pytest.skip("this system does not tell how much memory was taken")
    kept = sorted(folder.glob(f"planted.{kind}.*.input"))
    # Memory that is taken, and memory that is asked for in vain, are raised at different places.
    assert len(kept) == (2 if kind == "memory" else 1), said
    assert any(PLANTED[kind] in path.with_suffix(".txt").read_text() for path in kept)
    assert f"--replay {kept[0]}" in said
    status, again = fuzz("--replay", kept[0])
    assert status == 1
    assert again.startswith(f"finding: {kind} ")


def test_it_is_counted_how_far_inputs_got(planted):
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


def test_a_fuzz_that_stays_at_the_surface_is_called_shallow(tmp_path):
    """All of these inputs are refused at once: none gets as far as it should."""
    report = tmp_path / "report.json"
    _, said = fuzz("--target", "planted", "--count", 1, "--seed", "refusal", "--keep", tmp_path, "--report", report)
    assert "too shallow" in said
    assert "reached 'done'" in json.loads(report.read_text())["planted"]["shallow"]

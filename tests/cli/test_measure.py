"""`sotto measure` run as a user runs it."""

import json
import re
from pathlib import Path

import pytest

from commands import sotto
from tiny_random import write_model

# The second rotates positions by other angles, as if its weights had been changed.
VERSIONS = {"original": {}, "changed": {"rope_theta": 100.0}}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    return tuple(str(write_model(tmp_path / name, "plain", **changes)) for name, changes in VERSIONS.items())


def test_a_comparison_as_json(env: dict[str, str], folders: tuple[str, str]) -> None:
    original, changed = folders
    done = sotto(env, "measure", changed, "--against", original, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["model"], report["original"]) == ("changed", "original")
    assert report["size"] > 0
    assert report["original_size"] > 0
    assert report["tokens"] > 1000
    assert report["divergence"]["value"] > report["divergence"]["error"] > 0
    assert report["median_divergence"] < report["high_divergence"]
    assert report["perplexity"] != report["original_perplexity"]
    assert report["ratio"]["value"] == pytest.approx(
        report["perplexity"]["value"] / report["original_perplexity"]["value"]
    )
    assert 0 < report["same_token"]["value"] < 1


def test_a_comparison_as_a_readable_page(env: dict[str, str], folders: tuple[str, str]) -> None:
    original, _ = folders
    done = sotto(env, "measure", original, "--against", original)
    assert done.returncode == 0, done.stderr
    assert re.match(r"original beside original, by \d,\d{3} predictions:\n", done.stdout)
    assert re.search(r"^  size           \S+ \S?B, 100% of ", done.stdout, re.MULTILINE)
    assert "1.000 ± 0.000 times the original's" in done.stdout
    assert re.search(r"^  KL divergence  0\.00000 ± 0\.00000 on average", done.stdout, re.MULTILINE)
    assert re.search(r"^  same token     100\.00 ± 0\.00 %$", done.stdout, re.MULTILINE)
    assert done.stderr == ""


def test_an_import_is_measured_beside_what_was_imported(env: dict[str, str], folders: tuple[str, str]) -> None:
    done = sotto(env, "import", folders[0], "small", "--quantize", "mxfp8", "--measure", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["quantization"] == "mxfp8"
    measured = report["measured"]
    assert (measured["model"], measured["original"]) == ("small:latest", "original")
    assert measured["size"] < measured["original_size"]
    assert measured["divergence"]["value"] > 0
    printed = sotto(env, "import", folders[0], "small", "--quantize", "mxfp4", "--measure", "--replace").stdout
    assert re.match(r"small:latest imported, \S+ \S?B\.\nsmall:latest beside original, by ", printed)


def test_an_import_without_quantization_is_not_measured(env: dict[str, str], folders: tuple[str, str]) -> None:
    done = sotto(env, "import", folders[0], "small", "--measure")
    assert (done.returncode, done.stdout) == (1, "")
    assert "it needs --quantize" in done.stderr
    assert "small" not in sotto(env, "list").stdout


def test_models_that_cannot_be_compared_are_reported(env: dict[str, str], folders: tuple[str, str]) -> None:
    done = sotto(env, "measure", folders[0], "--against", "sotto")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"sotto: original and sotto:latest have different vocabularies; .+\.\n", done.stderr)


def test_the_original_must_be_named(env: dict[str, str]) -> None:
    done = sotto(env, "measure", "sotto")
    assert done.returncode == 2
    assert "--against" in done.stderr

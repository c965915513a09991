"""`sotto plan` run as a user runs it."""

import json
from pathlib import Path

from commands import sotto
from embedding import minilm
from tiny_random import write_model


def test_the_built_in_model_fits(env: dict[str, str]) -> None:
    done = sotto(env, "plan", "sotto")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "It fits" in done.stdout
    for label in ("weights", "cache", "computing", "largest context"):
        assert label in done.stdout


def test_a_plan_of_an_encoder_speaks_of_texts(env: dict[str, str]) -> None:
    done = sotto(env, "plan", str(minilm()))
    assert done.returncode == 0, done.stderr
    assert "with texts of 256 tokens\n" in done.stdout
    assert not [word for word in ("cache", "prefixes", "prompts") if word in done.stdout]


def test_a_plan_as_an_object_adds_up(env: dict[str, str], tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", "window")
    done = sotto(env, "plan", str(folder), "--num-ctx", "64", "--json")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert (made["verdict"], made["context"], made["largest_context"]) == ("fits", 64, 256)
    assert made["needed_bytes"] == made["weight_bytes"] + max(
        made["loading_bytes"], made["cache_bytes"] + made["work_bytes"]
    )
    assert made["needed_bytes"] < made["budget_bytes"] <= made["total_bytes"]
    path = folder / "model.safetensors"
    assert made["weight_bytes"] == path.stat().st_size - _header(path)


def test_keys_and_values_in_few_bits_take_less_of_a_plan(env: dict[str, str]) -> None:
    caches = {}
    for bits in ("8", "4"):
        done = sotto(env, "plan", "sotto", "--kv-bits", bits, "--json")
        assert done.returncode == 0, done.stderr
        caches[bits] = json.loads(done.stdout)["cache_bytes"]
    whole = json.loads(sotto(env, "plan", "sotto", "--json").stdout)["cache_bytes"]
    assert caches["4"] < caches["8"] < whole / 2


def _header(path: Path) -> int:
    """Return the size of a file's header in bytes."""
    with path.open("rb") as file:
        return 8 + int.from_bytes(file.read(8), "little")


def test_what_is_no_model_is_said(env: dict[str, str]) -> None:
    done = sotto(env, "plan", "no-such-model")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "no-such-model" in done.stderr

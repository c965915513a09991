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


def test_a_plan_of_an_encoder_mentions_texts(env: dict[str, str]) -> None:
    done = sotto(env, "plan", str(minilm()))
    assert done.returncode == 0, done.stderr
    assert "for texts of 256 tokens\n" in done.stdout
    assert not [word for word in ("cache", "prefixes", "prompts") if word in done.stdout]


def test_a_plan_as_json_adds_up(env: dict[str, str], tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", "window")
    done = sotto(env, "plan", str(folder), "--num-ctx", "64", "--json")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert (plan["verdict"], plan["context"], plan["largest_context"]) == ("fits", 64, 256)
    assert plan["needed_bytes"] == plan["weight_bytes"] + max(
        plan["loading_bytes"], plan["cache_bytes"] + plan["work_bytes"]
    )
    assert plan["needed_bytes"] < plan["budget_bytes"] <= plan["total_bytes"]
    path = folder / "model.safetensors"
    assert plan["weight_bytes"] == path.stat().st_size - _header(path)


def test_caches_of_fewer_bits_need_less_memory(env: dict[str, str]) -> None:
    caches = {}
    for bits in ("16", "8", "4"):
        done = sotto(env, "plan", "sotto", "--kv-bits", bits, "--json")
        assert done.returncode == 0, done.stderr
        caches[bits] = json.loads(done.stdout)["cache_bytes"]
    whole = json.loads(sotto(env, "plan", "sotto", "--json").stdout)["cache_bytes"]
    assert caches["4"] < caches["8"] < caches["16"] == whole / 2


def _header(path: Path) -> int:
    """Return the size of a file's header in bytes."""
    with path.open("rb") as file:
        return 8 + int.from_bytes(file.read(8), "little")


def test_a_path_that_is_not_a_model_is_reported(env: dict[str, str]) -> None:
    done = sotto(env, "plan", "no-such-model")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "no-such-model" in done.stderr

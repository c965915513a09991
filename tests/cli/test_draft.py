"""`sotto run --draft`: a draft model does not change the answer."""

import json
from pathlib import Path

from commands import sotto
from tiny_random import write_model


def test_a_draft_model_does_not_change_the_answer(env: dict[str, str], tmp_path: Path) -> None:
    model, draft = str(write_model(tmp_path / "big", "plain")), str(write_model(tmp_path / "small", "window"))
    line = ("run", model, "What, what?", "--seed", "3", "--num-predict", "40", "--json")
    plain, fast = (sotto(env, *line, *more) for more in ((), ("--draft", draft)))
    assert plain.returncode == fast.returncode == 0, fast.stderr
    assert json.loads(plain.stdout)["token_ids"] == json.loads(fast.stdout)["token_ids"]


def test_an_unsuitable_draft_model_is_refused_with_a_message(env: dict[str, str], tmp_path: Path) -> None:
    model = str(write_model(tmp_path / "big", "plain"))
    same = sotto(env, "run", model, "Hello", "--draft", model)
    assert (same.returncode, same.stdout) == (1, "")
    assert same.stderr == "sotto: big cannot be its own draft model: choose a smaller one of the same family.\n"
    missing = sotto(env, "run", model, "Hello", "--draft", "nobody-has-this")
    assert missing.returncode == 1
    assert "nobody-has-this" in missing.stderr


def test_a_model_without_its_own_draft_is_reported(env: dict[str, str], tmp_path: Path) -> None:
    model = str(write_model(tmp_path / "big", "plain"))
    for command in ("run", "plan", "bench"):
        failed = sotto(env, command, model, "--draft", "own", *(("Hello",) if command == "run" else ()))
        assert (failed.returncode, failed.stdout) == (1, "")
        assert failed.stderr == "sotto: big has no draft model of its own; name another model as its draft.\n"


def test_a_plan_includes_both_models(env: dict[str, str], tmp_path: Path) -> None:
    model, draft = write_model(tmp_path / "big", "plain"), write_model(tmp_path / "small", "hybrid")
    alone, second, both = (
        json.loads(sotto(env, "plan", "--json", "--num-ctx", "200", *of).stdout)
        for of in ((str(model),), (str(draft),), (str(model), "--draft", str(draft)))
    )
    assert (alone["draft"], both["draft"]) == ("", "small")
    for part in ("weight_bytes", "cache_bytes"):
        assert both[part] == alone[part] + second[part]
    assert both["work_bytes"] >= alone["work_bytes"]
    assert both["prefix_budget_bytes"] <= alone["prefix_budget_bytes"]
    planned = sotto(env, "plan", str(model), "--draft", str(draft))
    assert planned.returncode == 0
    assert planned.stdout.startswith("big with small: It fits: with 256 tokens ")


def test_a_plan_with_an_unsuitable_draft_model_is_refused(env: dict[str, str], tmp_path: Path) -> None:
    model = str(write_model(tmp_path / "big", "plain"))
    failed = sotto(env, "plan", model, "--draft", "sotto")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "cannot be the draft model of big" in failed.stderr


def test_a_measurement_uses_the_draft_model(env: dict[str, str], tmp_path: Path) -> None:
    model, draft = write_model(tmp_path / "big", "plain"), write_model(tmp_path / "small", "window")
    done = sotto(env, "bench", str(model), "--draft", str(draft), "--quick", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["draft"] == "small"
    files = [folder / "model.safetensors" for folder in (model, draft)]
    assert report["weight_bytes"] == sum(file.stat().st_size - header(file) for file in files)
    assert 0 <= report["accepted_tokens"] <= report["drafted_tokens"]
    assert report["planned_bytes"] > report["weight_bytes"]


def header(path: Path) -> int:
    """Return the size of a file's header in bytes."""
    with path.open("rb") as file:
        return 8 + int.from_bytes(file.read(8), "little")

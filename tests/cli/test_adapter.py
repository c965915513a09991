"""`--adapter`: what a model answers and needs with an adapter, on the command line."""

import json
from pathlib import Path

from adapters import write_adapter
from commands import sotto
from tiny_random import write_model


def test_an_answer_with_an_adapter(env: dict[str, str], tmp_path: Path) -> None:
    model = write_model(tmp_path / "big", "plain")
    adapter = str(write_adapter(tmp_path / "poet", model))
    line = ("run", str(model), "What?", "--temperature", "0", "--num-predict", "12", "--json")
    plain, changed, without = (sotto(env, *line, *more) for more in ((), ("--adapter", adapter), ("--adapter", "none")))
    assert plain.returncode == changed.returncode == 0, changed.stderr
    assert json.loads(plain.stdout)["token_ids"] != json.loads(changed.stdout)["token_ids"]
    assert json.loads(plain.stdout)["token_ids"] == json.loads(without.stdout)["token_ids"]
    assert changed.stderr == "sotto: With the adapter poet.\n" + plain.stderr


def test_a_plan_includes_the_adapter(env: dict[str, str], tmp_path: Path) -> None:
    model = write_model(tmp_path / "big", "plain")
    adapter = write_adapter(tmp_path / "poet", model)
    alone, both = (
        json.loads(sotto(env, "plan", "--json", "--num-ctx", "200", str(model), *more).stdout)
        for more in ((), ("--adapter", str(adapter)))
    )
    assert (alone["adapter"], both["adapter"]) == ("", "poet")
    assert both["weight_bytes"] > alone["weight_bytes"]
    planned = sotto(env, "plan", str(model), "--adapter", str(adapter))
    assert planned.stdout.startswith("big with poet: It fits: ")


def test_an_adapter_that_is_none_is_refused(env: dict[str, str], tmp_path: Path) -> None:
    model = str(write_model(tmp_path / "big", "plain"))
    for command in (("run", model, "Hello"), ("plan", model), ("bench", model)):
        failed = sotto(env, *command, "--adapter", str(tmp_path / "big"))
        assert (failed.returncode, failed.stdout) == (1, "")
        assert failed.stderr.startswith(f"sotto: {tmp_path / 'big'} holds no adapter; it should have ")

"""What the commands say about a model's head for multi-token prediction, and how it is switched off."""

import json
from pathlib import Path

from commands import sotto
from tiny_random import write_model, write_predicting


def test_show_says_whether_there_is_one(env: dict[str, str], tmp_path: Path) -> None:
    ahead, plain = write_predicting(tmp_path / "ahead"), write_model(tmp_path / "plain", "hybrid")
    assert json.loads(sotto(env, "show", str(ahead), "--json").stdout)["prediction_head"] is True
    assert json.loads(sotto(env, "show", str(plain), "--json").stdout)["prediction_head"] is False
    assert "prediction head  yes" in sotto(env, "show", str(ahead)).stdout


def test_it_is_planned_for_unless_it_is_switched_off(env: dict[str, str], tmp_path: Path) -> None:
    ahead, plain = write_predicting(tmp_path / "ahead"), write_model(tmp_path / "plain", "hybrid")

    def weights(folder: Path, *more: str) -> int:
        done = sotto(env, "plan", str(folder), "--num-ctx", "200", "--json", *more)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["weight_bytes"]

    assert weights(ahead) > weights(plain) == weights(ahead, "--draft", "none")
    done = sotto(env, "cache", "--prediction", "off", "--json")
    assert json.loads(done.stdout)["prediction"] is False
    assert weights(ahead) == weights(plain)
    sotto(env, "cache", "--prediction", "on")
    assert weights(ahead) > weights(plain)


def test_it_does_not_change_the_answer(env: dict[str, str], tmp_path: Path) -> None:
    line = ("run", str(write_predicting(tmp_path / "ahead")), "What?", "--seed", "3", "--num-predict", "40", "--json")
    fast, plain = (json.loads(sotto(env, *line, *more).stdout) for more in ((), ("--draft", "none")))
    assert fast["token_ids"] == plain["token_ids"]

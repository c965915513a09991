"""`sotto run --draft`: a second model changes no answer."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tiny_random import write_model


def sotto(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = ("PATH", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
    env = {name: os.environ[name] for name in kept if name in os.environ} | {"HOME": str(home)}
    command = [sys.executable, "-m", "sotto", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)


def test_a_draft_model_changes_no_answer(tmp_path: Path) -> None:
    model, draft = str(write_model(tmp_path / "big", "plain")), str(write_model(tmp_path / "small", "window"))
    asked = ("run", model, "What, what?", "--seed", "3", "--num-predict", "40", "--json")
    plain, fast = (sotto(tmp_path, *asked, *more) for more in ((), ("--draft", draft)))
    assert plain.returncode == fast.returncode == 0, fast.stderr
    assert json.loads(plain.stdout)["token_ids"] == json.loads(fast.stdout)["token_ids"]


def test_a_draft_model_that_is_none_is_told_in_a_sentence(tmp_path: Path) -> None:
    model = str(write_model(tmp_path / "big", "plain"))
    same = sotto(tmp_path, "run", model, "Hello", "--draft", model)
    assert (same.returncode, same.stdout) == (1, "")
    assert same.stderr == "sotto: big cannot be its own draft model: choose a smaller one of the same family.\n"
    missing = sotto(tmp_path, "run", model, "Hello", "--draft", "nobody-has-this")
    assert missing.returncode == 1
    assert "nobody-has-this" in missing.stderr

"""`sotto create` and `sotto show --modelfile` as a user runs them."""

import json
import os
import random
import signal
import subprocess
import time

import pytest

from commands import SOTTO, sotto

BOB = "FROM sotto\nSYSTEM You are Bob.\nPARAMETER temperature 0\nMESSAGE user Hi\nMESSAGE assistant Hello.\n"


def test_a_model_is_created_shown_and_created_again(env, tmp_path):
    (tmp_path / "Modelfile").write_text(BOB)
    done = sotto(env, "create", "bob", "-f", str(tmp_path / "Modelfile"))
    assert (done.returncode, done.stdout) == (0, "bob:latest created.\n"), done.stderr
    assert done.stderr.splitlines()[0] == "reading model metadata"
    shown = sotto(env, "show", "bob", "--modelfile").stdout
    assert shown.splitlines()[1] == "FROM bob:latest"
    assert "SYSTEM You are Bob." in shown
    again = sotto(env, "create", "other:v1", "-f", "-", "--json", stdin=shown)
    made = json.loads(again.stdout)
    rows = {row["digest"]: row for row in json.loads(sotto(env, "list", "--json").stdout)}
    row = rows[made["digest"]]
    assert (made["name"], made["size"]) == ("other:v1", row["size"])
    assert {row["name"], *(place["name"] for place in row["also"])} == {"bob:latest", "other:v1"}
    assert json.loads(sotto(env, "show", "bob", "--json").stdout)["options"]["temperature"] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SYSTEM Hi", "The Modelfile has no FROM line; it should name the model that the new one is made from."),
        ("FROM sotto\nFOO", "The Modelfile, line 2: 'FOO' is no instruction; it should be FROM, SYSTEM, TEMPLATE"),
        ("FROM sotto\nPARAMETER top_q 1", "Option top_q is not known; did you mean top_p?"),
    ],
)
def test_errors(env, text, message):
    done = sotto(env, "create", "bob", "-f", "-", stdin=text)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"sotto: {message}")
    assert done.stdout == ""


def test_a_missing_file_and_what_cannot_be_quantized(env):
    missing = sotto(env, "create", "bob")
    assert (missing.returncode, missing.stderr) == (1, "sotto: Modelfile is missing.\n")
    wrong = sotto(env, "create", "bob", "-f", "-", "--quantize", "int4", stdin="FROM sotto")
    assert "it should be a GGUF file, or a folder" in wrong.stderr
    assert wrong.returncode == 1


def test_killed_at_any_moment_the_store_stays_sound(env, tmp_path):
    """Kill the command at random moments: what is listed afterwards is whole, and the next run leaves nothing over."""
    home = tmp_path / ".local/share/Sotto/models"
    (tmp_path / "Modelfile").write_text(BOB)
    command = [*SOTTO, "create", "bob", "-f", str(tmp_path / "Modelfile")]
    began = time.monotonic()
    subprocess.run(command, env=env, check=True, capture_output=True, timeout=60)
    takes = time.monotonic() - began
    moments = random.Random(3)
    outcomes = set()
    for round_ in range(int(os.environ.get("SOTTO_KILLS", "4"))):
        subprocess.run(["rm", "-rf", home], check=True)
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.3, 1.02) * takes)
        process.send_signal(signal.SIGKILL)
        process.wait()
        rows = [row for row in json.loads(sotto(env, "list", "--json").stdout) if row["source"] == "sotto"]
        outcomes.add(len(rows))
        assert all(row["runnable"] for row in rows), round_
        if rows:
            assert sotto(env, "verify", "bob").returncode == 0
        assert sotto(env, "create", "bob", "-f", str(tmp_path / "Modelfile")).returncode == 0
        assert sotto(env, "verify", "bob").returncode == 0
    # What was killed leaves nothing that pruning would not find an hour later.
    hour_ago = time.time() - 3700
    for path in home.rglob("*"):
        os.utime(path, (hour_ago, hour_ago))
    assert sotto(env, "prune").returncode == 0
    assert not any((home / "working").glob("*"))
    assert sotto(env, "verify", "bob").returncode == 0
    assert outcomes <= {0, 1}

"""`sotto import` run as a user runs it, in processes that may be killed at any moment."""

import json
import os
import pty
import random
import re
import select
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from adapters import write_adapter
from commands import SOTTO, environment, sotto
from sotto.store.removal import IMPORTED
from stores import assert_sentence
from thoroughness import some
from tiny_random import write_model


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path / "home")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    # Rows of 256 elements in 8 layers, which mxfp4 takes a moment to quantize.
    shape = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 8, "tie_word_embeddings": True}
    folder = tmp_path / "source"
    write_model(folder, "plain")
    config = json.loads((folder / "config.json").read_text()) | shape
    (folder / "config.json").write_text(json.dumps(config))
    write_weights(folder, config)
    return folder


def write_weights(folder: Path, config: dict) -> None:
    import mlx.core as mx

    from loading import random_weights

    weights = {name: array.astype(mx.bfloat16) for name, array in random_weights(config).items()}
    mx.save_safetensors(str(folder / "model.safetensors"), weights)


def store(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".local" / "share" / "Sotto" / "models"


def own_rows(env: dict[str, str]) -> list[dict]:
    return [row for row in json.loads(sotto(env, "list", "--json").stdout) if row["source"] == "sotto"]


def assert_whole(env: dict[str, str], tmp_path: Path) -> None:
    """Check that there is one model, which is intact and loads, and nothing else in the store."""
    (row,) = own_rows(env)
    assert (row["runnable"], row["quantization"]) == (True, "mxfp4")
    verified = sotto(env, "verify", "m")
    assert verified.returncode == 0, verified.stderr
    answered = sotto(env, "run", "m", "hi", "--num-predict", "2", "--temperature", "0")
    assert answered.returncode == 0, answered.stderr
    (manifest,) = [path for path in (store(tmp_path) / "manifests").rglob("*") if path.is_file()]
    entries = json.loads(manifest.read_bytes())
    named = {entry["digest"].replace(":", "-") for entry in (entries["config"], *entries["layers"])}
    assert {path.name for path in (store(tmp_path) / "blobs").iterdir()} == named
    assert not (store(tmp_path) / "staging").exists()


def test_a_folder_is_imported_and_answers(env, source, tmp_path):
    done = sotto(env, "import", str(source), "m", "--quantize", "mxfp4")
    assert (done.returncode, bool(re.fullmatch(r"m:latest imported, \d\.\d MB\.\n", done.stdout))) == (0, True), done
    assert "\r" not in done.stderr
    shares = [int(share) for share in re.findall(r"(\d+)%", done.stderr)]
    assert shares == sorted(shares)
    assert len(done.stderr.splitlines()) < 20
    assert_whole(env, tmp_path)
    again = sotto(env, "import", str(source), "m", "--quantize", "mxfp4")
    assert again.returncode == 1
    assert_sentence(again.stderr.splitlines()[-1].removeprefix("sotto: "), "m:latest")
    assert sotto(env, "import", str(source), "m", "--quantize", "mxfp4", "--replace").returncode == 0
    assert_whole(env, tmp_path)


def test_the_plan_tells_the_size_beforehand(env, source, tmp_path):
    planned = json.loads(sotto(env, "import", str(source), "m", "--quantize", "int4", "--plan", "--json").stdout)
    assert not store(tmp_path).exists()
    done = json.loads(sotto(env, "import", str(source), "m", "--quantize", "int4", "--json").stdout)
    assert done == planned
    (row,) = own_rows(env)
    assert (row["size"], row["parameters"]) == (planned["size"], planned["parameters"])
    text = sotto(env, "import", str(source), "m", "--quantize", "mixed_3_6", "--plan").stdout
    assert re.match(r"m:latest: llama, \d+\.\dM parameters, mixed_3_6, \d\.\d MB\.\n", text), text
    assert "Ollama cannot run it" in text


def test_nothing_needs_mlx_where_nothing_is_computed(env, source):
    script = (
        "import sys; sys.modules['mlx'] = None; sys.modules['mlx.core'] = None\n"
        "from sotto.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    line = [SOTTO[0], "-c", script, "import", str(source), "m"]
    done = subprocess.run(line, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_progress_overwrites_one_line_on_a_terminal(env, source):
    master, slave = pty.openpty()
    line = [*SOTTO, "import", str(source), "m", "--quantize", "mxfp4"]
    child = subprocess.Popen(line, env=env | {"COLUMNS": "60"}, stdout=subprocess.PIPE, stderr=slave, text=True)
    os.close(slave)
    seen = b""
    while child.poll() is None or select.select([master], [], [], 0)[0]:
        if select.select([master], [], [], 0.1)[0]:
            try:
                seen += os.read(master, 65_536)
            except OSError:
                break
    os.close(master)
    assert child.communicate(timeout=30)[0].startswith("m:latest imported")
    text = seen.decode()
    assert "\n" not in text
    assert text.endswith("\r\x1b[K")
    assert max(len(line.removesuffix("\x1b[K")) for line in text.split("\r")) < 60


def test_failures_are_one_line(env, source, tmp_path):
    def error_of(*arguments: str) -> str:
        done = sotto(env, "import", *arguments)
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        (line,) = done.stderr.splitlines()
        return line.removeprefix("sotto: ")

    assert_sentence(error_of(str(tmp_path / "none"), "m"), tmp_path / "none")
    assert_sentence(error_of(str(source), "a/b/c/d/e"), "a/b/c/d/e")
    assert_sentence(error_of(str(source), "m", "--quantize", "int7"), "int7")
    (source / "model.safetensors").unlink()
    (source / "pytorch_model.bin").write_bytes(b"\x80")
    assert_sentence(error_of(str(source), "m"), "pytorch_model.bin")


class Running:
    """An import in a process of its own."""

    def __init__(self, env: dict[str, str], source: Path) -> None:
        line = [*SOTTO, "import", str(source), "m", "--quantize", "mxfp4"]
        self.process = subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for_blobs(self, tmp_path: Path, count: int) -> None:
        """Wait until so many blobs are finished, or it has ended."""
        deadline = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < deadline and blobs(tmp_path) < count:
            time.sleep(0.002)

    def kill(self) -> None:
        """Kill it, and wait until the process that computes for it has noticed."""
        children = psutil.Process(self.process.pid).children() if self.process.poll() is None else []
        self.process.kill()
        self.process.communicate()
        assert psutil.wait_procs(children, timeout=20)[1] == []


def blobs(tmp_path: Path) -> int:
    return len(list((store(tmp_path) / "staging").rglob("sha256-*"))) + len(
        list((store(tmp_path) / "blobs").glob("sha256-*"))
    )


def test_ctrl_c_keeps_what_is_finished(env, source, tmp_path):
    running = Running(env, source)
    running.wait_for_blobs(tmp_path, 5)
    running.process.send_signal(signal.SIGINT)
    out, err = running.process.communicate(timeout=30)
    assert (running.process.returncode, out, "Traceback" in err) == (130, "", False)
    assert re.search(r"of m:latest imported so far; `sotto import .* m --quantize mxfp4` goes on", err.splitlines()[-1])
    assert sotto(env, "import", str(source), "m", "--discard").returncode == 0
    assert {path.name for path in store(tmp_path).rglob("*") if path.is_file()} <= {"lock"}


@pytest.mark.parametrize("seed", some(range(50), 2))
def test_an_import_killed_at_random_moments_is_resumed(env, source, tmp_path, seed):
    """Check that an import that is killed four times is not listed before it is whole, and leaves nothing behind."""
    dice = random.Random(seed)
    for _ in range(4):
        running = Running(env, source)
        # All 75 blobs are finished only for moments.
        running.wait_for_blobs(tmp_path, dice.randrange(0, 85))
        time.sleep(dice.random() * 0.02)
        running.kill()
        if rows := own_rows(env):
            # It was killed after it had finished, or while it was cleaning up.
            assert rows[0]["runnable"]
            assert sotto(env, "verify", "m").returncode == 0
    if seed % 3 == 2 and not own_rows(env):
        assert sotto(env, "import", str(source), "m", "--discard").returncode == 0
        assert {path.name for path in store(tmp_path).rglob("*") if path.is_file()} <= {"lock"}
        return
    before = own_rows(env)
    done = sotto(env, "import", str(source), "m", "--quantize", "mxfp4")
    assert done.returncode == 0 or (before and "already" in done.stderr), done.stderr
    assert_whole(env, tmp_path)


@pytest.mark.parametrize("moment", ["staged", "moved", "installed"])
def test_an_import_killed_while_it_is_installed_is_completed(env, source, tmp_path, moment):
    script = f"""
import os, signal, sys
from pathlib import Path
from sotto.cli.main import main
replace, unlink = Path.replace, Path.unlink
def dying_replace(path, target):
    at = {{"staged": "blobs" in str(target) and "staging" in str(path), "moved": path.name == {IMPORTED!r}}}
    if at.get({moment!r}):
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(path, target)
def dying_unlink(path, **more):
    if {moment!r} == "installed" and path.name == "source" and path.exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return unlink(path, **more)
Path.replace, Path.unlink = dying_replace, dying_unlink
sys.exit(main(sys.argv[1:]))
"""
    line = [SOTTO[0], "-c", script, "import", str(source), "m", "--quantize", "mxfp4"]
    assert subprocess.run(line, env=env, capture_output=True).returncode == -signal.SIGKILL
    assert len(own_rows(env)) == (moment == "installed")
    done = sotto(env, "import", str(source), "m", "--quantize", "mxfp4")
    assert done.returncode == 0, done.stderr
    assert_whole(env, tmp_path)


def test_an_adapter_is_fused_and_a_killed_import_goes_on(env, source, tmp_path):
    adapter = write_adapter(tmp_path / "adapter", source)
    script = """
import os, signal, sys
from pathlib import Path
from sotto.cli.main import main
replace, finished = Path.replace, []
def dying_replace(path, target):
    finished.append(path)
    if len(finished) == 12:
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(path, target)
Path.replace = dying_replace
sys.exit(main(sys.argv[1:]))
"""
    words = ["import", str(source), "m", "--quantize", "mxfp4", "--adapter", str(adapter)]
    killed = subprocess.run([SOTTO[0], "-c", script, *words], env=env, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    begun = {path.name for path in (store(tmp_path) / "staging").rglob("sha256-*")}
    assert begun
    done = sotto(env, *words, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["adapter"] == str(adapter)
    assert begun <= {path.name for path in (store(tmp_path) / "blobs").iterdir()}
    assert_whole(env, tmp_path)
    plain = sotto(env, "import", str(source), "plain", "--quantize", "mxfp4")
    assert plain.returncode == 0, plain.stderr
    assert len({row["digest"] for row in own_rows(env)}) == 2
    refused = sotto(env, "import", str(source), "other", "--adapter", str(source))
    assert refused.returncode == 1
    assert_sentence(refused.stderr.strip(), source, "holds no adapter")

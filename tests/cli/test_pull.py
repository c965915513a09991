"""`sotto pull` run as a user runs it, with a registry on loopback."""

import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from commands import SOTTO, environment, sotto
from registry_server import Registry, corrupt, drop, large_model, serving, silent, status
from sotto.cli.printing import human_share, human_time
from stores import assert_sentence


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path / "home")


@pytest.fixture
def registry(tmp_path: Path):
    with serving(large_model(tmp_path / "origin")) as registry:
        yield registry


def name(registry: Registry) -> str:
    return f"{registry.host}/library/m:latest"


def test_a_model_is_downloaded_listed_and_complete(env, registry):
    registry.fail("/blobs/", drop(0.5))
    done = sotto(env, "pull", name(registry), "--insecure")
    assert (done.returncode, done.stdout) == (0, f"{name(registry)} downloaded, 787 kB.\n"), done.stderr
    assert "\r" not in done.stderr
    assert all(line.startswith(name(registry)) for line in done.stderr.splitlines())
    rows = json.loads(sotto(env, "list", "--json").stdout)
    row = next(row for row in rows if row["source"] == "sotto")
    assert (row["name"], row["runnable"], row["size"]) == (name(registry), True, 786_905)
    verified = sotto(env, "verify", name(registry))
    assert verified.returncode == 0
    assert "all digests match" in verified.stdout
    again = sotto(env, "pull", name(registry), "--insecure")
    assert again.returncode == 0
    assert again.stdout == done.stdout.replace("downloaded", "is up to date")


def test_progress_lines_report_each_tenth_once(env, registry):
    registry.pause = 0.05
    done = sotto(env, "pull", name(registry), "--insecure")
    shares = [int(share) for share in re.findall(r"(\d+)%", done.stderr)]
    assert shares == sorted(shares)
    assert len({share // 10 for share in shares}) > 5
    assert len(done.stderr.splitlines()) < 20
    assert re.search(r"  0\.\d of 787 kB|  \d+ of 787 kB  \d+%  .*/s  \d+ s left", done.stderr), done.stderr


def test_progress_overwrites_one_line_on_a_terminal(env, registry):
    registry.pause = 0.03
    master, slave = pty.openpty()
    line = [*SOTTO, "pull", name(registry), "--insecure"]
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
    assert child.communicate(timeout=30)[0] == f"{name(registry)} downloaded, 787 kB.\n"
    text = seen.decode()
    assert "\n" not in text
    assert text.endswith("\r\x1b[K")
    lines = [line.removesuffix("\x1b[K") for line in text.split("\r")]
    assert max(map(len, lines)) < 60
    assert any(re.search(r"\d+ of 787 kB  \d+%", line) for line in lines)


@pytest.mark.parametrize("moment", ["loading", "silence"])
def test_ctrl_c_keeps_downloaded_bytes(env, registry, tmp_path, moment):
    registry.pause = 0.05
    if moment == "silence":
        registry.fail("/blobs/", *[silent(0.5)] * 40)
    line = [*SOTTO, "pull", name(registry), "--insecure"]
    child = subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    # When connections stall, only parts of the blobs are staged.
    enough = 100_000 if moment == "loading" else 1
    while staged_bytes(tmp_path) < enough and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = child.communicate(timeout=30)
    assert time.monotonic() - began < 5
    assert (child.returncode, out) == (130, "")
    assert "Traceback" not in err
    last = err.splitlines()[-1]
    assert re.fullmatch(
        rf"sotto: \d+ of 787 kB of {re.escape(name(registry))} downloaded so far; "
        rf"`sotto pull {re.escape(name(registry))} --insecure` resumes\.",
        last,
    ), last
    registry.forgive()
    registry.pause = 0
    before = len(registry.requests)
    assert sotto(env, "pull", name(registry), "--insecure").returncode == 0
    assert any("range" in request.headers for request in registry.requests[before:])


def staged_bytes(tmp_path: Path) -> int:
    size = 0
    for folder, _, files in os.walk(tmp_path / "home"):
        for file in files:
            # One that is complete has another name by now.
            with contextlib.suppress(FileNotFoundError):
                size += Path(folder, file).stat().st_size if file.endswith(".part") else 0
    return size


def test_failures_are_one_line(env, registry):
    def error_of(*arguments: str) -> str:
        done = sotto(env, "pull", *arguments)
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        last = done.stderr.splitlines()[-1].removeprefix("sotto: ")
        assert_sentence(last, *[argument for argument in arguments if "/" in argument], registry.host.partition(":")[0])
        return last

    assert "no model" in error_of(f"{registry.host}/library/other:latest", "--insecure")
    registry.store.model("strange", config={"model_type": "strange"})
    done = sotto(env, "pull", f"{registry.host}/library/strange", "--insecure")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "sotto: Sotto has no definition for models of type 'strange'."
    registry.fail("/blobs/", *[corrupt] * 99)
    done = sotto(env, "pull", name(registry), "--insecure")
    assert done.returncode == 1
    assert "another digest" in done.stderr.splitlines()[-1]
    registry.forgive()
    registry.fail("/manifests/", status(403))
    assert sotto(env, "pull", name(registry), "--insecure").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "returned", "words"),
    [
        (("pull",), 2, "NAME"),
        (("pull", "a//b"), 1, "a//b"),
        (("pull", "m", "--limit", "much"), 1, "much"),
        (("pull", "http://h/n/m"), 1, "https://"),
    ],
)
def test_invalid_command_lines(env, tmp_path, arguments, returned, words):
    done = sotto(env, *arguments)
    assert (done.returncode, done.stdout) == (returned, "")
    assert words in done.stderr
    assert not (tmp_path / "home").exists()


def test_a_speed_limit(env, registry):
    began = time.monotonic()
    assert sotto(env, "pull", name(registry), "--insecure", "--limit", "400k").returncode == 0
    assert time.monotonic() - began > 1.5


@pytest.mark.parametrize(
    ("done", "total", "text"),
    [
        (0, 0, "0 of 0 B"),
        (999, 1000, "0.9 of 1.0 kB"),
        (1_999_999, 4_100_000_000, "0.0 of 4.1 GB"),
        (4_099_999_999, 4_100_000_000, "4.0 of 4.1 GB"),
        (120_999_999, 240_000_000, "120 of 240 MB"),
        (4_100_000_000, 4_100_000_000, "4.1 of 4.1 GB"),
    ],
)
def test_amounts_have_one_unit_and_are_never_rounded_up(done, total, text):
    assert human_share(done, total) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (80, "1 min 20 s"),
        (3_600, "1 h"),
        (3_900, "1 h 5 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_times(seconds, text):
    assert human_time(seconds) == text

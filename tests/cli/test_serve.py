"""`sotto serve` as a person types it."""

import os
import signal
import subprocess
import sys
import urllib.request

import pytest

SOTTO = [sys.executable, "-m", "sotto", "serve"]


@pytest.fixture
def env(tmp_path):
    kept = ("PATH", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "PYTHONPATH")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"HOME": str(tmp_path)}


def begun(env, *arguments):
    """Start a server; return the process and where it says that it listens."""
    process = subprocess.Popen([*SOTTO, *arguments], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert line.startswith("Sotto listens on http://127.0.0.1:"), process.communicate()
    return process, line.split()[3].rstrip(";")


def asked(url, **headers):
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read().decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_end(env, number):
    process, url = begun(env, "--port", "0")
    assert '"sotto:latest"' in asked(url + "/api/tags")
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_key_from_the_environment(env):
    process, url = begun(env | {"SOTTO_API_KEY": "s3cret"}, "--port=0")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        asked(url + "/api/tags")
    assert "sotto" in asked(url + "/api/tags", Authorization="Bearer s3cret")
    process.terminate()
    assert process.communicate(timeout=30)[1] == ""


def test_what_cannot_be_is_said_in_a_sentence(env):
    process, url = begun(env, "--port", "0")
    port = url.rsplit(":", 1)[1]
    for arguments, status, message in (
        (["--port", port], 1, f"sotto: 127.0.0.1:{port} is taken by another program; choose another port.\n"),
        (["--host", "0.0.0.0"], 1, "sotto: Other machines can reach 0.0.0.0: set an API key first, or listen on 127"),
        (["--port", "70000"], 2, "'70000' is no port"),
    ):
        done = subprocess.run([*SOTTO, *arguments], env=env, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (status, "")
        assert message in done.stderr
    process.terminate()
    process.communicate(timeout=30)

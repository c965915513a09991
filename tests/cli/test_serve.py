"""`sotto serve` run as a user runs it."""

import json
import signal
import subprocess
import urllib.request

import psutil
import pytest

from commands import SOTTO, sotto


def start_server(env, *arguments):
    """Start a server, and return the process and the URL that it prints."""
    process = subprocess.Popen(
        [*SOTTO, "serve", *arguments], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    line = process.stdout.readline()
    assert line.startswith("Listening on http://127.0.0.1:"), process.communicate()
    return process, line.split()[2]


def get(url, **headers):
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read().decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal_ends_it(env, number):
    process, url = start_server(env, "--port", "0")
    assert '"sotto:latest"' in get(url + "/api/tags")
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_key_and_pages_from_the_environment(env):
    process, url = start_server(env | {"SOTTO_API_KEY": "s3cret", "OLLAMA_ORIGINS": "https://page.example"}, "--port=0")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        get(url + "/api/tags", Authorization="Bearer s3cret", Origin="https://other.example")
    assert "sotto" in get(url + "/api/tags", Authorization="Bearer s3cret", Origin="https://page.example")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        get(url + "/api/tags")
    assert "sotto" in get(url + "/api/tags", Authorization="Bearer s3cret")
    process.terminate()
    assert process.communicate(timeout=30)[1] == ""


def test_engines_run_in_a_separate_process_if_configured(env):
    process, url = start_server(env | {"SOTTO_ENGINE_HOST": "process"}, "--port=0")
    assert not psutil.Process(process.pid).children()
    body = json.dumps({"model": "sotto", "prompt": "Hello", "stream": False}).encode()
    with urllib.request.urlopen(url + "/api/generate", body, timeout=60) as answer:
        assert json.load(answer)["response"]
    (engine,) = psutil.Process(process.pid).children()
    process.terminate()
    assert (*process.communicate(timeout=30), process.returncode) == ("", "", 0)
    assert not engine.is_running()


def test_invalid_settings_are_reported_in_one_line(env):
    process, url = start_server(env, "--port", "0")
    port = url.rsplit(":", 1)[1]
    for arguments, status, message in (
        (["--port", port], 1, f"sotto: Port {port} is in use by another program; choose another port.\n"),
        (["--host", "0.0.0.0"], 1, "sotto: 0.0.0.0 is open to other machines: set an API key first, or use 127.0.0.1."),
        (["--origins", "nonsense"], 1, "sotto: 'nonsense' is not an origin; it should look like https://example.com"),
        (["--port", "70000"], 2, "'70000' is not a port"),
    ):
        done = sotto(env, "serve", *arguments)
        assert (done.returncode, done.stdout) == (status, "")
        assert message in done.stderr
    process.terminate()
    process.communicate(timeout=30)

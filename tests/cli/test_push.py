"""`sotto push` as a user runs it, to a registry on loopback."""

import json

from commands import sotto
from push_server import receiving


def test_a_model_is_uploaded(env):
    with receiving() as registry:
        name = f"{registry.host}/me/bob"
        assert sotto(env, "create", name, "-f", "-", stdin="FROM sotto\nSYSTEM Hi").returncode == 0
        done = sotto(env, "push", name, "--insecure")
        assert (done.returncode, done.stdout) == (0, f"{name}:latest uploaded to {registry.host}.\n"), done.stderr
        lines = done.stderr.splitlines()
        assert lines[0] == "retrieving manifest"
        assert lines[1].startswith("uploading 4.6 MB in ")
        assert lines[1].endswith(f"files to {registry.host}")
        assert list(registry.manifests) == ["me/bob:latest"]
        again = json.loads(sotto(env, "push", name, "--insecure", "--json").stdout)
        assert again["name"] == f"{name}:latest"


def test_errors(env):
    missing = sotto(env, "push", "nobody/none")
    assert missing.returncode == 1
    assert missing.stderr.startswith("sotto: No model is called 'nobody/none:latest' on this machine")
    insecure = sotto(env, "push", "sotto", "--insecure")
    assert "insecure is for a registry on this machine" in insecure.stderr

"""`sotto copy`, `rename`, `delete` and `prune` run as a user runs them, and the disk space in `list` and `show`."""

import json
import os
import pty
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from builtin_repository import builtin_files
from commands import SOTTO, environment, sotto
from stores import Store, assert_sentence, fingerprint, repository

pytestmark = pytest.mark.slow


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path) | {"OLLAMA_MODELS": str(tmp_path / "ollama"), "XDG_DATA_HOME": str(tmp_path / "data")}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return Sotto's own store with two models that share blobs."""
    made = Store(tmp_path / "data" / "Sotto" / "models")
    made.model("one")
    made.model("two", fill=1)
    return made


@pytest.fixture
def theirs(tmp_path: Path) -> Store:
    made = Store(tmp_path / "ollama")
    made.model("theirs", fill=2)
    return made


def rows(env):
    """Return what `sotto list --json` says of each model but the built-in one, by name."""
    found = json.loads(sotto(env, "list", "--json").stdout)
    return {row["name"]: row for row in found if not row["builtin"]}


def answer(env, *arguments):
    """Return the JSON that a command prints."""
    done = sotto(env, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(env, *arguments):
    """Return the sentence of a command that fails."""
    done = sotto(env, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    message = done.stderr.removeprefix("sotto: ").strip()
    assert_sentence(message)
    return message


def test_a_foreign_model_becomes_ours(env, store, theirs):
    before = fingerprint(theirs.root)
    done = sotto(env, "copy", "theirs", "mine")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "mine:latest is a copy of theirs:latest."
    adopted = answer(env, "copy", "theirs", "again:v1")
    assert (adopted["name"], adopted["copied"] + adopted["linked"] + adopted["cloned"]) == ("again:v1", 0)
    assert fingerprint(theirs.root) == before
    for path in (theirs.root / "manifests").rglob("latest"):
        path.unlink()
    assert sotto(env, "verify", "mine").returncode == 0
    assert rows(env).keys() == {"again:v1", "one:latest", "two:latest"}
    assert "There is a one:latest already" in refused(env, "copy", "mine", "one")
    assert "not a model name" in refused(env, "copy", "mine", "a b")


def test_a_model_of_the_cache_answers_after_the_cache_is_gone(env, tmp_path):
    cache = tmp_path / ".cache" / "huggingface" / "hub"
    repository(cache, "org/model", builtin_files())
    before, line = fingerprint(cache), ("Who are you?", "--seed", "3")
    answered = sotto(env, "run", "org/model", *line).stdout
    adopted = answer(env, "copy", "org/model", "mine")
    assert (adopted["source"], adopted["copied"], adopted["present"]) == ("huggingface", 0, 0)
    assert fingerprint(cache) == before
    assert rows(env).keys() == {"mine:latest", "org/model"}
    shutil.rmtree(cache)
    assert "all digests match" in sotto(env, "verify", "mine").stdout
    assert "Sotto" in answered
    assert sotto(env, "run", "mine", *line).stdout == answered


def test_own_models_are_copied_and_renamed(env, store, theirs):
    size = rows(env)["one:latest"]["size"]
    assert answer(env, "copy", "one", "ns/copy")["present"] == size
    assert answer(env, "rename", "two", "three:v1") == {"name": "three:v1", "before": "two:latest"}
    assert sotto(env, "rename", "three:v1", "two").stdout == "three:v1 is two:latest now.\n"
    assert "other stores are read-only" in refused(env, "rename", "theirs", "mine")
    assert "No model is called 'gone'" in refused(env, "rename", "gone", "mine")
    assert rows(env).keys() == {"ns/copy:latest", "two:latest", "theirs:latest"}


def test_a_deleted_model_comes_back_until_the_trash_is_emptied(env, store, theirs):
    before = rows(env)
    assert answer(env, "delete", "one", "two")["freed"] > before["one:latest"]["frees"] + before["two:latest"]["frees"]
    assert rows(env).keys() == {"theirs:latest"}
    assert answer(env, "prune") == {"deletions": 0, "blobs": 0, "freed": 0, "dry_run": False}
    assert answer(env, "delete", "--undo") == {"restored": ["two:latest"]}
    assert sotto(env, "delete", "--undo", "one").stdout == "one:latest is back.\n"
    assert rows(env) == before
    assert "The trash is empty" in refused(env, "delete", "--undo")
    done = sotto(env, "delete", "one")
    assert done.stdout.startswith("one:latest deleted; `sotto delete --undo` brings back the last one within an hour")
    assert "these are: one:latest." in refused(env, "delete", "--undo", "two")
    would = answer(env, "prune", "--trash", "--dry-run")
    assert would == {"deletions": 1, "blobs": 2, "freed": before["one:latest"]["frees"], "dry_run": True}
    assert answer(env, "prune", "--trash") == would | {"dry_run": False}
    assert rows(env)["two:latest"]["frees"] == rows(env)["two:latest"]["size"]


def test_nothing_is_deleted_unless_every_name_is_ours(env, store, theirs):
    before = fingerprint(theirs.root)
    assert "theirs is not in Sotto's own store" in refused(env, "delete", "one", "theirs")
    assert "No model is called 'on'" in refused(env, "delete", "on")
    assert "Name the models to delete" in refused(env, "delete")
    assert rows(env).keys() == {"one:latest", "two:latest", "theirs:latest"}
    assert fingerprint(theirs.root) == before


@pytest.mark.parametrize(("reply", "deleted"), [("n\n", False), ("\n", False), ("y\n", True), (None, True)])
def test_a_terminal_is_asked_first(env, store, reply, deleted):
    """With --yes, which stands for no reply, it is not asked."""
    end, terminal = pty.openpty()
    command = [*SOTTO, "delete", "one", *(["--yes"] if reply is None else [])]
    process = subprocess.Popen(command, env=env, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if reply is not None:
        os.write(end, reply.encode())
    _, errors = process.communicate(timeout=60)
    for handle in (end, terminal):
        os.close(handle)
    assert process.returncode == 0
    assert (b"Delete one:latest, which frees" in errors) == (reply is not None)
    assert ("one:latest" not in rows(env)) == deleted


def test_pruning_deletes_what_is_older_than_an_hour(env, store):
    digest, _ = store.blob(b"orphan")
    assert answer(env, "prune")["blobs"] == 0
    long_ago = time.time() - 4000
    os.utime(store.blob_path(digest), (long_ago, long_ago))
    assert sotto(env, "prune", "--dry-run").stdout == "Would free 6 B: 1 file.\n"
    assert sotto(env, "prune").stdout == "Freed 6 B: 1 file.\n"
    assert sotto(env, "prune").stdout == "Freed 0 B: 0 files.\n"
    bad = store.raw_manifest("bad", b"{")
    assert str(bad) in refused(env, "prune")


def test_disk_use_counts_shared_files_once(env, store, theirs):
    sotto(env, "copy", "theirs", "mine")
    lines = sotto(env, "list").stdout.splitlines()
    assert lines[0].split()[:3] == ["NAME", "SIZE", "FREES"]
    assert lines[-1].startswith("4 models, ")
    assert lines[-1].endswith(" on disk")
    found = rows(env)
    inodes = {path.stat().st_ino for path in (store.root / "blobs").iterdir()}
    linked = inodes & {path.stat().st_ino for path in (theirs.root / "blobs").iterdir()}
    assert (found["mine:latest"]["frees"] == 0) == bool(linked)
    assert found["one:latest"]["frees"] < found["one:latest"]["size"] == found["one:latest"]["disk"]
    shown = {line.split("  ")[0]: line.split()[1:] for line in sotto(env, "show", "one").stdout.splitlines()}
    assert shown["frees"] == [str(found["one:latest"]["frees"]), "B"]

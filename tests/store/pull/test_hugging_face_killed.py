"""Downloads from Hugging Face whose process is killed: the store stays consistent, and the next one completes it."""

import json
import random
import subprocess
import sys
import time

import pytest

from hub_server import hub_serving
from places import SUPPORT
from pulling import leftovers, models_in, open_queue, pull
from sotto.store.discovery import discover
from sotto.store.pull.progress import PullState
from sotto.store.records import Source
from sotto.store.removal import delete_unused_blobs
from sotto.store.roots import Root
from sotto.store.verify import verify
from stores import LLAMA, TOKENIZER, safetensors
from thoroughness import some

pytestmark = pytest.mark.slow

CHILD = SUPPORT / "store" / "pull_child.py"
NAME = "Org/Tiny"
STORED = "hf.co/Org/Tiny:latest"


@pytest.fixture
def hub(monkeypatch):
    """Serve a repository of two shards on loopback."""
    for variable in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH"):
        monkeypatch.delenv(variable, raising=False)
    with hub_serving() as (hub, storage):
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        hub.other = storage
        hub.add(NAME, files(1))
        yield hub


def files(fill):
    return {
        "config.json": json.dumps(LLAMA).encode(),
        "tokenizer.json": TOKENIZER,
        "LICENSE": b"Take it.",
        "model-00001-of-00002.safetensors": safetensors({"a": ("F32", (200, 256))}, fill=fill),
        "model-00002-of-00002.safetensors": safetensors({"b": ("F32", (200, 256))}, fill=7),
    }


def child(root, *how):
    return subprocess.Popen([sys.executable, CHILD, root, NAME, *map(str, how)], stdout=subprocess.PIPE, text=True)


def assert_consistent(root):
    """Check that whatever is listed is complete and intact, and that each blob belongs to something."""
    listing = discover([Root(Source.SOTTO, root, False)])
    assert listing.problems == ()
    for record in listing.records:
        assert verify(record, lambda done, total: None, lambda: False).problems == ()
    blobs = {path.name.removeprefix("sha256-") for path in (root / "blobs").glob("sha256-*")}
    assert delete_unused_blobs(root, blobs) == 0
    return listing.records


def complete(root):
    last = pull(root, NAME).reports[-1]
    assert last.state is PullState.DONE, last
    (record,) = assert_consistent(root)
    assert record.name == STORED
    assert leftovers(root) == []


@pytest.mark.parametrize("number", some(range(200), 5))
def test_a_download_that_is_killed_at_a_random_moment(root, hub, number):
    """Check a first download, or the update of a model that is there, for odd numbers."""
    dice = random.Random(number)
    if number % 2:
        complete(root)
        hub.repositories[NAME].commit(files(2))
    hub.other.pause = 0.02
    staging = root / "staging" / "hf.co" / "Org" / "Tiny" / "latest"
    for _ in range(2):
        process = child(root)
        while not staging.exists() and process.poll() is None:
            time.sleep(0.002)
        time.sleep(dice.random() * 0.4)
        process.kill()
        process.communicate()
        assert len(assert_consistent(root)) >= number % 2
        with open_queue(root) as (queue, _):
            assert [left.name for left in queue.unfinished()] in ([], [STORED])
    hub.other.pause = 0.0
    complete(root)


@pytest.mark.parametrize("number", some(range(1, 22), 5))
def test_a_download_that_is_killed_before_each_rename(root, hub, number):
    process = child(root, "rename", number)
    output = process.communicate(timeout=60)[0]
    # The manifest and four small blobs are staged, two weights completed, seven moved, and the manifest last.
    assert process.returncode == (-9 if number <= 15 else 0), output
    assert len(assert_consistent(root)) == (number > 15)
    before = len(hub.other.requests)
    complete(root)
    # Complete blobs are not requested again.
    assert len(hub.other.requests) - before <= (2 if number <= 6 else 1 if number <= 7 else 0)
    assert set(models_in(root)) == {STORED}

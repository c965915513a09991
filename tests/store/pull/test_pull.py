"""Downloading: models arrive complete despite any faults on the way."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from material import material
from pulling import HASTY, RESTLESS, assert_complete, leftovers, models_in, name_at, open_queue, pull
from registry_server import another_part, corrupt, drop, large_model, longer, serving, shorter, silent, status
from sotto.store.discovery import discover
from sotto.store.gguf.header import is_gguf
from sotto.store.pull.progress import PullState
from sotto.store.records import Source
from sotto.store.roots import Root
from sotto.store.verify import verify
from stores import LLAMA, assert_line, assert_sentence
from thoroughness import examples


def test_a_model_arrives_complete(root, registry):
    log = pull(root, name_at(registry))
    last = log.reports[-1]
    assert (last.state, last.note) == (PullState.DONE, "")
    assert last.done == last.total == sum(path.stat().st_size for path in (root / "blobs").iterdir())
    assert log.states() == [
        PullState.WAITING, PullState.CHECKING, PullState.DOWNLOADING, PullState.VERIFYING, PullState.DONE
    ]  # fmt: skip
    assert last.name == assert_complete(root, registry).name
    assert len(registry.requests) == 1 + len(list((root / "blobs").iterdir()))


def test_small_files_are_downloaded_before_the_weights(root, registry):
    pull(root, name_at(registry))
    manifest = json.loads(registry.store.path("library/m").read_bytes())
    config = next(layer for layer in manifest["layers"] if layer.get("name") == "config.json")
    assert {path.rpartition("/")[2] for path in registry.paths("/blobs/")[:2]} == {
        manifest["config"]["digest"],
        config["digest"],
    }


def test_at_most_four_blobs_are_downloaded_at_once(root, tmp_path):
    with serving(large_model(tmp_path / "many", tensors=12, rows=64)) as registry:
        registry.pause = 0.01
        pull(root, name_at(registry))
        assert registry.max_concurrent == 4
        assert_complete(root, registry)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "faults",
    [
        [drop(0.3)],
        [drop(0.3), drop(0.3), drop(0.0), drop(0.3), drop(0.3), drop(0.3)],
        [status(403)],
        [status(500), status(503), status(429, Retry_After="0")],
        [shorter],
        [longer],
        [corrupt],
        [corrupt, drop(0.5), corrupt],
        [drop(0.5), another_part],
        [drop(0.5), status(416)],
    ],
    ids=["drop", "drops", "403", "busy", "shorter", "longer", "corrupt", "mixed", "another part", "416"],
)
@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "no ranges"])
def test_faults_are_retried(root, registry, large, faults, ranges):
    registry.ranges = ranges
    registry.fail(large, *faults)
    log = pull(root, name_at(registry))
    assert log.reports[-1].state is PullState.DONE, log.reports[-1]
    assert_complete(root, registry)
    # Only the faulty blob is fetched again.
    others = [path for path in registry.paths("/blobs/") if large not in path]
    assert len(others) == len(set(others))


FAULTS = [
    drop(0.0), drop(0.6), status(403), status(404), status(500), status(302, Location="/v2/"), shorter, longer, corrupt,
    another_part,
]  # fmt: skip


@examples(15)
@given(
    manifest=st.lists(st.sampled_from(FAULTS), max_size=2),
    blobs=st.lists(st.sampled_from(FAULTS), max_size=12),
    ranges=st.booleans(),
)
def test_any_combination_of_faults(tmp_path_factory, manifest, blobs, ranges):
    """Check that a download ends with a complete model, or with a message, no listed model and a resumable download."""
    folder = tmp_path_factory.mktemp("any")
    root = folder / "models"
    with serving(large_model(folder / "origin", rows=40)) as registry:
        registry.ranges = ranges
        registry.fail("/manifests/", *manifest)
        registry.fail("/blobs/", *blobs)
        last = pull(root, name_at(registry), patience=replace(HASTY, first_wait=0.001)).reports[-1]
        if last.state is PullState.FAILED:
            assert_line(last.note)
            assert models_in(root) == {}
            registry.forgive()
            assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE
        assert_complete(root, registry)


def test_a_dropped_file_is_resumed_where_it_stopped(root, registry, large):
    registry.fail(large, drop(0.3))
    pull(root, name_at(registry))
    first, second = (request for request in registry.requests if large in request.path)
    assert "range" not in first.headers
    start = int(second.headers["range"].removeprefix("bytes=").removesuffix("-"))
    assert start >= 0.25 * registry.store.blob_path(large).stat().st_size


@pytest.mark.parametrize("part", [None, 0.0, 0.3], ids=["no head", "no bytes", "some bytes"])
def test_a_stall_is_reported_and_retried(root, registry, part):
    """Check that a stall is reported and retried if all connections fall silent at once."""
    # Two connections begin. A retry that got something would end the stall of one, maybe before the other has begun.
    registry.fail("/blobs/", *[silent(part)] * 2, *[silent(None)] * 4)
    log = pull(root, name_at(registry), patience=RESTLESS)
    stalled = next(progress for progress in log.reports if progress.state is PullState.STALLED)
    assert_sentence(stalled.note, "127.0.0.1", "0.5 seconds")
    assert (stalled.speed, stalled.seconds_left) == (None, None)
    assert log.reports[-1].state is PullState.DONE
    assert log.reports[-1].note == ""
    assert_complete(root, registry)


def test_one_silent_connection_among_others_is_not_reported(root, registry, large):
    registry.pause = 0.1
    registry.fail(large, silent(0.1))
    log = pull(root, name_at(registry), patience=RESTLESS)
    assert len(registry.paths(large)) == 2
    assert PullState.STALLED not in log.states()
    assert_complete(root, registry)


def test_a_connection_far_slower_than_others_is_replaced(root, tmp_path):
    with serving(large_model(tmp_path / "many", tensors=9)) as registry:
        slowest = json.loads(registry.store.path("library/m").read_bytes())["layers"][8]["digest"]

        def crawl(handler, content, start):
            handler.close_connection = True
            handler.send_response(200)
            handler.end_headers()
            for position in range(len(content)):
                handler.wfile.write(content[position : position + 1])
                if handler.registry.released.wait(0.02):
                    return

        registry.fail(slowest, *[crawl] * 2)
        log = pull(root, name_at(registry), patience=replace(HASTY, slow_after=0.3))
        assert log.reports[-1].state is PullState.DONE
        assert [request.headers.get("range", "")[:6] for request in registry.requests if slowest in request.path] == [
            "", "bytes=", "bytes="
        ]  # fmt: skip
        assert_complete(root, registry)


@pytest.mark.parametrize(
    "faults",
    [[drop(0.5)], [silent(0.5)], [shorter], [longer], [corrupt], []],
    ids=["drop", "silent", "shorter", "longer", "corrupt", "none"],
)
def test_a_large_file_arrives_whole_despite_faults(root, tmp_path, faults):
    """Check a file of which most is read from the connection itself."""
    with serving(large_model(tmp_path / "big", tensors=1, rows=12_000)) as registry:
        blobs = (registry.store.root / "blobs").iterdir()
        big = max(blobs, key=lambda path: path.stat().st_size).name.removeprefix("sha256-")
        registry.fail(big, *faults)
        log = pull(root, name_at(registry), patience=RESTLESS)
        assert log.reports[-1].state is PullState.DONE, log.reports[-1]
        assert_complete(root, registry)
        assert (PullState.STALLED in log.states()) == (faults != [] and faults[0].__qualname__.startswith("silent"))
        ranges = [request.headers.get("range") for request in registry.requests if big in request.path]
        assert len(ranges) == 1 + len(faults)


def test_retries_are_reported_with_their_reason(root, registry):
    registry.fail("/manifests/", status(503), status(502))
    log = pull(root, name_at(registry))
    retrying = [progress for progress in log.reports if progress.state is PullState.RETRYING]
    assert [note.note for note in retrying] == [f"127.0.0.1 is busy or failing (status {code})." for code in (503, 502)]
    assert log.reports[-1].state is PullState.DONE


def test_retries_end_but_downloaded_bytes_are_kept(root, registry, large):
    registry.fail(large, drop(0.5), *[drop(0.0)] * 40)
    log = pull(root, name_at(registry))
    failed = log.reports[-1]
    assert failed.state is PullState.FAILED
    assert_sentence(failed.note, "127.0.0.1")
    assert models_in(root) == {}
    assert 0 < failed.done < failed.total
    registry.forgive()
    before = len(registry.requests)
    with open_queue(root) as (queue, log):
        assert [(progress.state, progress.done, progress.total) for progress in queue.unfinished()] == [
            (PullState.PAUSED, failed.done, failed.total)
        ]
        queue.resume(failed.name)
        assert log.end().state is PullState.DONE
        assert queue.unfinished() == ()
    assert_complete(root, registry)
    assert registry.requests[before + 1].headers["range"].startswith("bytes=")


def test_a_blob_that_stays_corrupt_is_given_up(root, registry, large):
    registry.fail(large, *[corrupt] * 40)
    log = pull(root, name_at(registry))
    assert log.reports[-1].state is PullState.FAILED
    assert_sentence(log.reports[-1].note, large)
    assert len(registry.paths(large)) == HASTY.digest_tries
    assert models_in(root) == {}


def test_existing_blobs_are_not_downloaded_again(root, registry):
    registry.store.model("n", fill=7)
    pull(root, name_at(registry))
    manifest = json.loads(registry.store.path("library/n").read_bytes())
    shared = {path.name for path in (root / "blobs").iterdir()}
    before = len(registry.requests)
    log = pull(root, name_at(registry, "n:latest"))
    requested = {path.rpartition(":")[2] for path in registry.paths()[before + 1 :]}
    wanted = {layer["digest"].removeprefix("sha256:") for layer in (manifest["config"], *manifest["layers"])}
    assert requested == {digest for digest in wanted if f"sha256-{digest}" not in shared}
    assert requested < wanted
    assert log.reports[-1].done == log.reports[-1].total
    assert set(models_in(root)) == {name_at(registry), name_at(registry, "n:latest")}


def test_a_damaged_model_is_repaired(root, registry, large):
    pull(root, name_at(registry))
    blob = root / "blobs" / f"sha256-{large}"
    damaged = bytearray(blob.read_bytes())
    damaged[100] ^= 1
    blob.write_bytes(damaged)
    record = models_in(root)[name_at(registry)]
    assert verify(record, lambda done, total: None, lambda: False).problems
    before = len(registry.requests)
    log = pull(root, name_at(registry))
    assert log.reports[-1].state is PullState.DONE
    assert [path.rpartition(":")[2] for path in registry.paths()[before + 1 :]] == [large]
    assert_complete(root, registry)


def test_a_new_version_replaces_the_old_one(root, registry):
    pull(root, name_at(registry))
    old = {path.name for path in (root / "blobs").iterdir()}
    registry.store.model("m", fill=9)
    pull(root, name_at(registry))
    assert_complete(root, registry)
    new = {path.name for path in (root / "blobs").iterdir()}
    assert old - new
    assert len(models_in(root)) == 1


def test_a_new_version_replaces_an_unfinished_download(root, registry, large):
    registry.fail(large, drop(0.5), *[drop(0.0)] * 40)
    assert pull(root, name_at(registry)).reports[-1].state is PullState.FAILED
    registry.store.model("m", fill=9)
    assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE
    assert_complete(root, registry)


@pytest.mark.parametrize("length", ["shorter", "exact", "damaged", "longer"])
def test_any_leftovers_of_an_earlier_run(root, registry, large, length):
    registry.fail(large, *[drop(0.5)], *[drop(0.0)] * 40)
    pull(root, name_at(registry))
    (part,) = root.glob(f"staging/*/*/*/*/sha256-{large}.part")
    whole = registry.store.blob_path(large).read_bytes()
    part.write_bytes(
        {"shorter": whole[:1000], "exact": whole, "damaged": bytes(1000), "longer": whole + b"more"}[length]
    )
    registry.forgive()
    before = len(registry.requests)
    assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE
    ranges = [request.headers.get("range") for request in registry.requests[before:] if large in request.path]
    assert (
        ranges == {"shorter": ["bytes=1000-"], "exact": [], "damaged": ["bytes=1000-", None], "longer": [None]}[length]
    )
    assert_complete(root, registry)


@pytest.mark.parametrize(
    ("config", "entries", "why"),
    [
        (LLAMA, {}, "No, thank you."),
        (LLAMA, {"remote_host": "https://far.example"}, "far.example"),
        (LLAMA, {"model_format": "gguf"}, "format"),
    ],
)
def test_a_model_that_cannot_run_is_refused_before_its_weights(root, registry, config, entries, why):
    registry.store.model("bad", config=config, **entries)
    log = pull(root, name_at(registry, "bad:latest"), judge=lambda config: "No, thank you.")
    assert log.reports[-1].state is PullState.FAILED
    assert_sentence(log.reports[-1].note, why)
    assert len(registry.paths("/blobs/")) <= 2
    assert leftovers(root) == []
    assert list(root.rglob("*sha256*")) == []


def gguf_model(registry, family, content, *layers):
    """Add a GGUF model to the registry, and return its name there."""
    store = registry.store
    config = store.config(model_format="gguf", model_family=family)
    store.manifest("g", [store.layer("model", content), *layers], config)
    return name_at(registry, "g:latest")


def test_a_gguf_model_arrives_complete(root, registry):
    blobs = material("ollama-store", "blobs")
    content = next(path.read_bytes() for path in blobs.iterdir() if is_gguf(path))
    assert pull(root, gguf_model(registry, "llama", content)).reports[-1].state is PullState.DONE
    assert_complete(root, registry, "g:latest")


def test_a_gguf_model_that_cannot_run_is_refused_before_its_weights(root, registry):
    log = pull(root, gguf_model(registry, "rwkv6", b"GGUF"))
    assert log.reports[-1].state is PullState.FAILED
    assert_sentence(log.reports[-1].note, "'rwkv6'", "GGUF")
    assert len(registry.paths("/blobs/")) <= 2
    assert leftovers(root) == []


def test_other_models_are_listed_whatever_is_staged(root, registry, large):
    registry.store.model("n", fill=7)
    pull(root, name_at(registry, "n:latest"))
    registry.fail(large, *[drop(0.1)], *[drop(0.0)] * 40)
    pull(root, name_at(registry))
    listing = discover([Root(Source.SOTTO, root, False)])
    assert [record.name for record in listing.records] == [name_at(registry, "n:latest")]
    assert listing.problems == ()

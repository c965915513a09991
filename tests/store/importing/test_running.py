"""Carrying out imports of which nothing has to be computed: resumed, stopped, refused and discarded ones."""

import json
import os
import threading

import pytest

from sotto.errors import CancelledError, StoreError
from sotto.store.discovery import discover
from sotto.store.importing import running, writing
from sotto.store.importing.folder_plan import plan_folder
from sotto.store.importing.import_plan import ImportState
from sotto.store.opening import open_model
from sotto.store.pull import disk_room
from sotto.store.pull.staging import Staging
from sotto.store.records import Source
from sotto.store.removal import delete_unused_blobs
from sotto.store.roots import Root
from sotto.store.sources.harvest import everything_runs
from sotto.store.sources.model_names import parse_name
from sotto.store.verify import verify
from stores import assert_sentence, fingerprint, folder, safetensors

NAME = parse_name("org/m:new")
PARTS = {f"model.layers.{number}.mlp.up_proj.weight": ("F32", (64, 512)) for number in range(8)}


@pytest.fixture
def source(tmp_path):
    return folder(tmp_path / "source", **{"model.safetensors": safetensors(PARTS)})


class Log:
    """A callback that records the progress, and tells to stop after some reports."""

    def __init__(self, stop_after=None):
        self.reports = []
        self._stop_after = stop_after

    def __call__(self, progress):
        self.reports.append(progress)

    def stop(self):
        return self._stop_after is not None and len(self.reports) >= self._stop_after


def run(root, source, log=None, *, name=NAME, replace=False, write=writing.copy_blobs):
    log = log or Log()
    plan = plan_folder(source, "", everything_runs)
    running.run_import(plan, name, root, progress=log, stop=log.stop, write=write, replace=replace)
    return log


def models(root):
    listing = discover([Root(Source.SOTTO, root, False)])
    assert listing.problems == ()
    return listing.records


def assert_whole(root):
    """Check that the one model is intact, and that nothing else is in the store."""
    (record,) = models(root)
    assert verify(record, lambda done, total: None, lambda: False).problems == ()
    assert {name for file in open_model(record).tensor_files for name in file.tensors} == PARTS.keys()
    entries = json.loads(record.path.read_bytes())
    named = {entry["digest"].replace(":", "-") for entry in (entries["config"], *entries["layers"])}
    assert {path.name for path in (root / "blobs").iterdir()} == named
    assert not (root / "staging").exists()


def test_an_import_is_listed_opened_and_intact(root, source):
    before = fingerprint(source)
    log = run(root, source)
    assert_whole(root)
    assert models(root)[0].name == "org/m:new"
    assert fingerprint(source) == before
    done = [report.done for report in log.reports]
    assert done == sorted(done)
    assert done[-1] == log.reports[-1].total == sum(path.stat().st_size for path in source.iterdir()) - header(source)
    assert log.reports[-1].state is ImportState.DONE
    assert "model.layers.7.mlp.up_proj.weight" in {report.tensor for report in log.reports}
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in (root / "blobs").iterdir())


def header(source):
    """Return the size of what is not taken over: the header of the weights, as each blob has its own."""
    return (source / "model.safetensors").stat().st_size - 8 * 64 * 512 * 4


def test_a_stopped_import_goes_on_where_it_stopped(root, source):
    with pytest.raises(CancelledError):
        run(root, source, Log(stop_after=8))
    assert models(root) == ()
    finished = running.unfinished_import(root, NAME)
    assert finished > 0
    written = []

    def write(tasks, watcher):
        written.extend(task.blob for task in tasks)
        writing.copy_blobs(tasks, watcher)

    log = run(root, source, write=write)
    assert_whole(root)
    assert ImportState.CHECKING in {report.state for report in log.reports}
    (record,) = models(root)
    assert sum(blob.size for blob in written) <= record.size - finished + 200
    assert running.unfinished_import(root, NAME) is None


def test_a_damaged_blob_of_an_earlier_run_is_written_again(root, source):
    with pytest.raises(CancelledError):
        run(root, source, Log(stop_after=12))
    blobs = [path for path in (root / "staging").rglob("sha256-*") if path.stat().st_size > 1000]
    content = bytearray(blobs[0].read_bytes())
    content[-1] ^= 1
    blobs[0].write_bytes(content)
    run(root, source)
    assert_whole(root)


def test_another_source_starts_anew(root, source, tmp_path):
    with pytest.raises(CancelledError):
        run(root, source, Log(stop_after=12))
    os.utime(source / "config.json", ns=(1, 1))
    run(root, source)
    assert_whole(root)


def test_discarding_frees_everything(root, source):
    with pytest.raises(CancelledError):
        run(root, source, Log(stop_after=12))
    running.discard_import(root, NAME)
    assert running.unfinished_import(root, NAME) is None
    assert [path.name for path in root.rglob("*") if path.is_file()] == ["lock"]
    # There is nothing to discard any more.
    running.discard_import(root, NAME)


def test_a_name_that_exists_is_only_replaced_on_request(root, source, tmp_path):
    other = folder(tmp_path / "other", fill=3)
    run(root, other)
    before = fingerprint(root)
    with pytest.raises(StoreError) as raised:
        run(root, source)
    assert_sentence(raised.value.message, "org/m:new")
    assert fingerprint(root).keys() == before.keys()
    run(root, source, replace=True)
    assert_whole(root)


def test_two_imports_of_one_name_at_once(root, source):
    begun, go_on = threading.Event(), threading.Event()

    def write(tasks, watcher):
        begun.set()
        go_on.wait(20)
        writing.copy_blobs(tasks, watcher)

    first = threading.Thread(target=run, args=(root, source), kwargs={"write": write})
    first.start()
    assert begun.wait(20)
    for act in (lambda: run(root, source), lambda: running.discard_import(root, NAME)):
        with pytest.raises(StoreError) as raised:
            act()
        assert_sentence(raised.value.message, "org/m:new", "importing")
    go_on.set()
    first.join()
    assert_whole(root)


def test_imports_of_the_same_files_under_two_names_share_blobs(root, source):
    run(root, source)
    run(root, source, name=parse_name("copy"))
    (record,) = models(root)
    assert len(record.places) == 2


def test_a_download_that_was_refused_keeps_an_import_to_resume(root, source):
    with pytest.raises(CancelledError):
        run(root, source, Log(stop_after=12))
    with Staging(root, NAME).lock():
        pass
    assert running.unfinished_import(root, NAME) > 0


def test_a_refused_import_keeps_a_download_to_resume(root, source):
    staging = Staging(root, NAME)
    with staging.lock():
        staging.manifest_file.write_bytes(b"{}")
    staging.target.parent.mkdir(parents=True)
    staging.target.write_bytes(b"{}")
    with pytest.raises(StoreError):
        run(root, source)
    assert staging.is_staged()


def test_blobs_that_are_being_installed_survive_the_deletion_of_others(root, source, monkeypatch):
    """Check that a model deleted at this moment does not take along blobs that both share."""
    install = Staging.install

    def deleting(staging, manifest):
        for digest in manifest.blobs:
            staging.blob_file(digest).replace(root / "blobs" / f"sha256-{digest}")
        delete_unused_blobs(root, manifest.blobs)
        install(staging, manifest)

    (root / "blobs").mkdir(parents=True)
    monkeypatch.setattr(Staging, "install", deleting)
    run(root, source)
    assert_whole(root)


def test_a_full_disk_is_noticed_before_the_first_byte(root, source, monkeypatch):
    monkeypatch.setattr(running, "free_bytes", lambda path: disk_room.RESERVE + 1000)
    with pytest.raises(StoreError) as raised:
        run(root, source)
    assert_sentence(raised.value.message, root, "free some space")
    assert not list(root.rglob("sha256-*"))


def test_a_source_that_changes_meanwhile_is_refused(root, source):
    def write(tasks, watcher):
        writing.copy_blobs(tasks, watcher)
        (source / "config.json").write_text("{}")

    with pytest.raises(StoreError) as raised:
        run(root, source, write=write)
    assert_sentence(raised.value.message, source / "config.json")
    assert models(root) == ()


def test_a_source_that_vanishes_is_named(root, source):
    plan = plan_folder(source, "", everything_runs)
    (source / "model.safetensors").unlink()
    with pytest.raises(StoreError) as raised:
        running.run_import(plan, NAME, root, progress=lambda _: None, stop=lambda: False)
    assert_sentence(raised.value.message, source / "model.safetensors")


def test_a_store_of_another_program_is_never_written(source, tmp_path, monkeypatch):
    other = tmp_path / "ollama"
    (other / "blobs").mkdir(parents=True)
    monkeypatch.setenv("OLLAMA_MODELS", str(other))
    root = tmp_path / "models"
    root.symlink_to(other)
    before = fingerprint(other)
    with pytest.raises(StoreError):
        run(root, source)
    assert fingerprint(other) == before

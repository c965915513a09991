"""The disk space of models, compared with the files in the folders."""

from dataclasses import replace

from sotto.store import removal
from sotto.store.discovery import discover
from sotto.store.disk_use import disk_use
from sotto.store.records import Source
from sotto.store.removal import erase, remove
from sotto.store.roots import Root
from sotto.store.sources.model_names import parse_name
from sotto.store.upkeep.adopting import adopt
from stores import Store, folder, gguf, repository


def on_disk(*roots):
    """Return the bytes of all files below folders, each inode once, without what describes a store."""
    files = {}
    for root in roots:
        for path in root.rglob("*"):
            if path.is_file() and not {"manifests", "refs"} & set(path.relative_to(root).parts):
                files[path.stat().st_ino] = path.stat().st_size
    return sum(files.values())


def found(*roots):
    return {record.name: record for record in discover([Root(kind, path, True) for kind, path in roots]).records}


def test_shared_blobs_are_counted_once_in_the_total(tmp_path):
    store = Store(tmp_path / "ollama")
    store.model("one")
    store.model("two", fill=1)
    models = found((Source.OLLAMA, store.root))
    use = disk_use(models.values())
    assert use.total == on_disk(store.root)
    # They share the configuration and the tokenizer.
    assert use.total < sum(use.models.values())
    assert use.models == {record.digest: record.size for record in models.values()}


def test_copies_count_and_links_do_not(tmp_path):
    one, copy, cache = tmp_path / "folder", tmp_path / "copy", tmp_path / "hub"
    files = {path.name: path.read_bytes() for path in folder(one / "model").iterdir()}
    folder(copy / "model")
    repository(cache, "someone/model", files)
    linked = folder(tmp_path / "linked" / "other", fill=5)
    (linked / "model.safetensors").unlink()
    (linked / "model.safetensors").hardlink_to(folder(tmp_path / "linked" / "first", fill=5) / "model.safetensors")
    roots = [
        (Source.FOLDER, one),
        (Source.FOLDER, copy),
        (Source.HUGGINGFACE, cache),
        (Source.FOLDER, tmp_path / "linked"),
    ]
    models = found(*roots)
    use = disk_use(models.values())
    assert use.total == on_disk(*(path for _, path in roots))
    assert use.models[models["model"].digest] == 3 * models["model"].size


def test_what_there_is_of_a_damaged_model_counts(tmp_path):
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    root = tmp_path / "models"
    folder(
        root / "half",
        **{
            "model.safetensors": None,
            "model.safetensors.index.json": index,
            "model-00001-of-00002.safetensors": b"0" * 5000,
        },
    )
    (root / "gguf").mkdir()
    (root / "gguf" / "tiny.gguf").write_bytes(gguf())
    models = found((Source.FOLDER, root))
    use = disk_use(models.values())
    assert use.models[models["half"].digest] >= 5000
    assert use.models[models["gguf"].digest] == len(gguf())
    absent = replace(models["gguf"], present=False)
    assert disk_use([absent]).models == {}
    (root / "gguf" / "tiny.gguf").unlink()
    assert disk_use([models["gguf"]]).total == 0


def test_deleting_frees_what_no_other_model_and_no_other_program_uses(tmp_path, monkeypatch):
    monkeypatch.setattr(removal, "data_dir", lambda: tmp_path / "data")
    store, theirs = Store(removal.own_store()), Store(tmp_path / "ollama")
    for name, fill in (("one", 0), ("two", 1), ("one-again", 0)):
        store.model(name, fill=fill)
    theirs.model("theirs", fill=7)
    models = found((Source.SOTTO, store.root), (Source.OLLAMA, theirs.root))
    adopt(
        models["theirs:latest"], models["theirs:latest"].places[0], parse_name("kept"), lambda *_: None, lambda: False
    )
    records = discover([Root(Source.SOTTO, store.root, True), Root(Source.OLLAMA, theirs.root, True)]).records
    freed = disk_use(records).freed
    assert len(freed) == len(records) == 3
    # A hard link of a file that the other program keeps frees nothing.
    linked = any(path.stat().st_nlink > 1 for path in (store.root / "blobs").iterdir())
    assert linked == (freed[models["theirs:latest"].digest] == 0)
    for record in records:
        # What each frees depends on those that are left.
        promised = disk_use(discover([Root(Source.SOTTO, store.root, True)]).records).freed[record.digest]
        before = on_disk(store.root, theirs.root)
        assert erase(remove(record)) == promised
        assert before - on_disk(store.root, theirs.root) == promised


def test_deleting_frees_nothing_while_a_manifest_is_unreadable(tmp_path, monkeypatch):
    monkeypatch.setattr(removal, "data_dir", lambda: tmp_path / "data")
    store = Store(removal.own_store())
    store.model("one")
    assert all(disk_use(found((Source.SOTTO, store.root)).values()).freed.values())
    store.raw_manifest("bad", b"{")
    assert not any(disk_use(found((Source.SOTTO, store.root)).values()).freed.values())

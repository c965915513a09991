"""Projectors beside GGUF models: which belongs to which, and what keeps them together."""

import shutil
import struct
from pathlib import Path

import pytest

from sotto.store.creating.model_base import base_of_gguf
from sotto.store.discovery import discover
from sotto.store.disk_use import disk_use
from sotto.store.importing.gguf_plan import plan_gguf
from sotto.store.opening import open_model, open_texts, record_of
from sotto.store.records import Place, Source
from sotto.store.roots import Root
from sotto.store.sources.projector_names import projectors_for
from sotto.store.upkeep.foreign_models import read_foreign
from sotto.store.verify import verify
from stores import PREFIX, Store, assert_sentence, gguf, gguf_text, repository

CONVERTED = Path(__file__).parents[2] / "engine" / "vision" / "converted"
TEXT, NUMBER, YES = 8, 4, (7, b"\1")


def model(architecture="gemma3", width=32, fill=7, **more):
    values = [
        ("general.architecture", TEXT, gguf_text(architecture)),
        (f"{architecture}.embedding_length", NUMBER, struct.pack("<I", width)),
    ]
    values += [(f"{architecture}.vision.{key}", NUMBER, struct.pack("<I", value)) for key, value in more.items()]
    return gguf(values, {"w": [fill]})


def projector(kind="gemma3", width=32, fill=3, sees=YES):
    values = [
        ("general.architecture", TEXT, gguf_text("clip")),
        ("general.type", TEXT, gguf_text("mmproj")),
        ("clip.has_vision_encoder", *sees),
        ("clip.vision.projection_dim", NUMBER, struct.pack("<I", width)),
    ]
    values += [("clip.projector_type", TEXT, gguf_text(kind))] if kind else []
    return gguf(values, {"v": [fill]})


def found(folder, kind=Source.FOLDER):
    listing = discover([Root(kind, folder, True)])
    assert not listing.problems
    return {record.name: record for record in listing.records}


def written(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.gguf").write_bytes(content)
    return folder


def test_a_projector_beside_a_model_gives_it_sight(tmp_path):
    (record,) = found(written(tmp_path / "alone", model=model())).values()
    assert (record.capabilities, record.vision_reason) == (("completion",), "")
    folder = written(tmp_path / "both", **{"model": model(), "mmproj-F16": projector()})
    (seeing,) = found(folder).values()
    assert (seeing.capabilities, seeing.vision_reason) == (("completion", "vision"), "")
    assert seeing.size == sum(path.stat().st_size for path in folder.iterdir())
    (folder / "mmproj-F16.gguf").write_bytes(projector(fill=4))
    (other,) = found(folder).values()
    assert len({record.digest, seeing.digest, other.digest}) == 3


def test_one_projector_serves_all_quantizations(tmp_path):
    files = {"tiny-Q4_K_M": model(), "tiny-Q8_0": model(fill=8), "mmproj-tiny-f16": projector()}
    records = found(written(tmp_path / "org" / "tiny", **files), Source.LMSTUDIO)
    assert len(records) == 2
    assert all(record.capabilities == ("completion", "vision") for record in records.values())


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["tiny-Q4_0.gguf", "mmproj-Q8_0.gguf", "mmproj-F32.gguf", "mmproj-BF16.gguf", "mmproj-F16.gguf"],
         ["mmproj-F16.gguf", "mmproj-BF16.gguf", "mmproj-F32.gguf", "mmproj-Q8_0.gguf"]),
        (["tiny-Q4_0.gguf", "mmproj-model-q4_0.gguf", "tiny.mmproj-q8_0.gguf"],
         ["tiny.mmproj-q8_0.gguf", "mmproj-model-q4_0.gguf"]),
        (["tiny-Q4_0.gguf", "Other-7B.gguf", "mmproj-tiny-f16.gguf", "mmproj-Other-7B-f16.gguf"],
         ["mmproj-tiny-f16.gguf"]),
        (["tiny-Q4_0.gguf", "Other-7B.gguf", "mmproj-model-f16.gguf"], ["mmproj-model-f16.gguf"]),
        (["tiny-Q4_0.gguf", "tiny-instruct-Q8_0-00001-of-00002.gguf", "mmproj-tiny-instruct-f16.gguf"], []),
        (["tiny-Q4_0.gguf", "config.json"], []),
    ],
)  # fmt: skip
def test_projectors_are_told_by_their_names(names, wanted):
    assert projectors_for("tiny-Q4_0.gguf", names) == wanted


@pytest.mark.parametrize("other", [projector(width=64), projector(sees=(7, b"\0"))], ids=["width", "sound"])
def test_a_projector_of_another_model_is_left_alone(tmp_path, other):
    (record,) = found(written(tmp_path, model=model(), mmproj=other)).values()
    assert (record.capabilities, record.vision_reason) == (("completion",), "")


@pytest.mark.parametrize(
    ("kind", "architecture", "why"),
    [
        ("internvl", "qwen2", "'internvl' are not supported yet; those of gemma3"),
        ("gemma3", "llama", "which belongs to models of the architecture gemma3"),
    ],
)
def test_what_cannot_be_seen_with_is_refused_by_name(tmp_path, kind, architecture, why):
    (record,) = found(written(tmp_path, model=model(architecture), mmproj=projector(kind))).values()
    assert (record.runnable, record.capabilities) == (True, ("completion",))
    assert_sentence(record.vision_reason, why)


def test_the_first_kind_of_projector_has_no_name(tmp_path):
    (record,) = found(written(tmp_path, model=model("llama"), mmproj=projector("", width=768))).values()
    assert record.capabilities == ("completion", "vision")


def test_a_damaged_projector_leaves_a_model_that_writes(tmp_path):
    (record,) = found(written(tmp_path, model=model(), mmproj=projector()[:60])).values()
    assert (record.runnable, record.capabilities) == (True, ("completion",))
    assert_sentence(record.vision_reason, tmp_path / "mmproj.gguf", "is not a readable GGUF file")


def test_towers_in_the_file_of_a_model_are_found(tmp_path):
    (record,) = found(written(tmp_path / "a", model=model(block_count=2))).values()
    assert record.capabilities == ("completion", "vision")
    (record,) = found(written(tmp_path / "b", model=model("qwen3next", block_count=2))).values()
    assert record.capabilities == ("completion",)
    assert_sentence(record.vision_reason, "'qwen3next' are not supported yet")


@pytest.mark.parametrize("kind", ["gemma3", "internvl"])
def test_a_projector_in_a_manifest_gives_sight(tmp_path, kind):
    store = Store(tmp_path)
    config = store.config(model_format="gguf", capabilities=["completion", "vision", "tools"])
    layers = [store.layer("model", model()), store.layer("projector", projector(kind))]
    store.manifest("g", layers, config)
    (record,) = found(tmp_path, Source.OLLAMA).values()
    seen = ("vision",) if kind == "gemma3" else ()
    assert (record.capabilities, bool(record.vision_reason)) == (("completion", "tools", *seen), not seen)


def test_a_snapshot_keeps_its_projector_above_the_folders_of_its_models(tmp_path):
    files = {"Q4/tiny-Q4_0.gguf": model(), "Q8/tiny-Q8_0.gguf": model(fill=8), "mmproj-F16.gguf": projector()}
    repository(tmp_path, "org/tiny", files)
    records = found(tmp_path, Source.HUGGINGFACE)
    assert len(records) == 2
    assert all(record.capabilities == ("completion", "vision") for record in records.values())


@pytest.fixture
def seeing(tmp_path):
    """A folder with a whole model and its projector."""
    return Path(shutil.copytree(CONVERTED / "gemma3", tmp_path / "gemma3", ignore=shutil.ignore_patterns("*.json")))


def test_all_files_of_a_model_are_opened_verified_and_counted(seeing):
    record = record_of(seeing)
    source = open_model(record)
    assert [file.path.name for file in source.tensor_files] == ["model.gguf", "mmproj.gguf"]
    assert source.weight_bytes > sum(tensor.nbytes for tensor in source.tensor_files[0].tensors.values())
    assert open_texts(record).config == source.config
    report = verify(record, lambda *_: None, lambda: False)
    assert [path.name for path in report.unverifiable] == ["model.gguf", "mmproj.gguf"]
    assert disk_use([record]).total == record.size == sum(path.stat().st_size for path in seeing.iterdir())


def test_keeping_a_copy_keeps_the_projector(seeing):
    foreign = read_foreign(Place("gemma3", Source.FOLDER, seeing / "model.gguf"))
    assert [path.name for path, _ in foreign.files] == ["model.gguf", "mmproj.gguf"]
    manifest, _ = foreign.manifest({path: ("0" * 64, 1) for path, _ in foreign.files})
    assert f"{PREFIX}projector".encode() in manifest


def test_importing_a_file_takes_the_projector_along(seeing):
    plan = plan_gguf(seeing / "model.gguf")
    assert [(blob.kind, blob.whole_file and blob.whole_file.name) for blob in plan.blobs] == [
        ("model", "model.gguf"),
        ("projector", "mmproj.gguf"),
    ]
    assert set(plan.files) == set(seeing.iterdir())


def test_a_model_made_from_a_file_keeps_its_projector(seeing):
    base = base_of_gguf(seeing / "model.gguf", lambda done, total: None)
    kinds = [layer["mediaType"].removeprefix(PREFIX) for layer in base.layers]
    assert kinds == ["model", "projector"]
    assert [base.files[layer["digest"].removeprefix("sha256:")].name for layer in base.layers] == [
        "model.gguf",
        "mmproj.gguf",
    ]

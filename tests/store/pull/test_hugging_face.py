"""Models of Hugging Face: they arrive complete, whatever form their repository has, and whatever goes wrong."""

import hashlib
import json
from dataclasses import replace

import mlx.core as mx
import pytest

from gguf_writing import write_parts
from hub_server import HubRepository, git_id, hub_serving
from loading import load
from places import REFERENCES
from pulling import ENDED, HASTY, leftovers, models_in, open_queue, pull
from registry_server import corrupt, drop, status
from sotto.errors import InvalidNameError
from sotto.store.discovery import discover
from sotto.store.disk_use import disk_use
from sotto.store.opening import gguf_file, open_model, open_texts, record_of, resolve
from sotto.store.pull import disk_room
from sotto.store.pull.progress import PullState
from sotto.store.records import Format, Source
from sotto.store.roots import Root
from sotto.store.verify import verify
from stores import LLAMA, TOKENIZER, assert_sentence, fingerprint, gguf, gguf_text, safetensors

NAME = "Org/Tiny-4bit"
STORED = "hf.co/Org/Tiny-4bit:latest"
GGUF_NAME = "hf.co/Org/Tiny-GGUF"


@pytest.fixture
def hub(monkeypatch):
    """Serve Hugging Face on loopback, without any token in the environment."""
    for variable in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_DISABLE_IMPLICIT_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    with hub_serving() as (hub, storage):
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        hub.other = storage
        yield hub


def weights(fill=0, rows=200):
    return safetensors({"model.embed_tokens.weight": ("F32", (rows, 256))}, fill=fill)


def folder_files(**more):
    """Return the files of a repository of safetensors files; None leaves one out."""
    files = {
        ".gitattributes": b"*.safetensors filter=lfs",
        "README.md": b"# A model",
        "LICENSE": b"Take it.",
        "config.json": json.dumps(LLAMA).encode(),
        "tokenizer.json": TOKENIZER,
        "tokenizer_config.json": b"{}",
        "preprocessor_config.json": b'{"image_processor_type": "Tiny"}',
        "processor_config.json": b'{"image_seq_length": 4}',
        "chat_template.jinja": b"{{ messages[0].content }}",
        "additional_chat_templates/tool_use.jinja": b"tools",
        "model.safetensors": weights(),
        "pytorch_model.bin": b"pickle",
        "onnx/model.onnx": b"onnx",
    } | more
    return {name: content for name, content in files.items() if content is not None}


def sharded(count=2):
    """Return shards with their index."""
    names = [f"model-{number:05}-of-{count:05}.safetensors" for number in range(1, count + 1)]
    shards = {name: safetensors({f"t{n}": ("F32", (100, 256))}, fill=n) for n, name in enumerate(names)}
    index = {"weight_map": {f"t{n}": name for n, name in enumerate(names)}}
    return shards | {"model.safetensors.index.json": json.dumps(index).encode(), "model.safetensors": None}


def gguf_bytes(size, architecture="llama"):
    return gguf([("general.architecture", 8, gguf_text(architecture))]) + bytes(size)


def gguf_files(**sizes):
    return {f"Tiny-{label}.gguf": gguf_bytes(size) for label, size in sizes.items()}


def note_of(root, name, *mentions, **options):
    """Check that a download fails with one sentence that mentions some words, and leaves nothing behind."""
    last = pull(root, name, **options).reports[-1]
    assert last.state is PullState.FAILED
    assert_sentence(last.note, *mentions)
    assert leftovers(root) == []
    return last.note


def pulled(root, name, **options):
    """Download a model successfully, and return its last progress."""
    last = pull(root, name, **options).reports[-1]
    assert last.state is PullState.DONE, last
    assert leftovers(root) == []
    return last


def assert_intact(record):
    report = verify(record, lambda done, total: None, lambda: False)
    assert (report.problems, report.unverifiable) == ((), ())
    assert report.checked_bytes == sum(path.stat().st_size for path in blobs_of(record).values())


def blobs_of(record):
    """Return the blobs of a stored model by the names of their layers."""
    manifest = json.loads(record.path.read_bytes())
    root = record.path.parents[4]
    return {
        layer.get("name", layer["mediaType"]): root / "blobs" / layer["digest"].replace(":", "-")
        for layer in (manifest["config"], *manifest["layers"])
    }


@pytest.mark.parametrize("shape", ["one file", "shards"])
def test_a_repository_of_safetensors_arrives_complete(root, hub, shape):
    files = folder_files(**(sharded() if shape == "shards" else {}))
    hub.add(NAME, files, card={"license": "apache-2.0"})
    last = pulled(root, NAME)
    assert (last.name, last.about) == (STORED, "The licence is apache-2.0.")
    assert last.done == last.total
    (record,) = models_in(root).values()
    assert (record.name, record.runnable, record.format) == (STORED, True, Format.SAFETENSORS)
    assert record.digest == hashlib.sha256(record.path.read_bytes()).hexdigest()
    assert_intact(record)
    # The files are stored as they are, and only those that are read.
    kept = {
        name for name in files if name not in (".gitattributes", "README.md", "pytorch_model.bin", "onnx/model.onnx")
    }
    assert blobs_of(record).keys() - {"application/vnd.docker.container.image.v1+json"} == kept
    assert all(path.read_bytes() == files[name] for name, path in blobs_of(record).items() if name in files)
    assert not any("pytorch_model" in path or "onnx" in path for path in hub.paths())


def test_what_is_stored_opens_as_the_folder_does(root, hub, tmp_path):
    files = folder_files(**sharded())
    hub.add(NAME, files)
    pulled(root, NAME)
    for name, content in files.items():
        (tmp_path / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / name).write_bytes(content)
    (stored,) = models_in(root).values()
    plain = resolve(str(tmp_path / "folder"))
    ours, theirs = open_model(stored), open_model(plain)
    for key in ("json_files", "tokenizer_json", "chat_template", "more_templates", "params", "modules"):
        assert getattr(ours, key) == getattr(theirs, key), key
        assert getattr(open_texts(stored), key) == getattr(theirs, key), key
    assert [file.tensors for file in ours.tensor_files] == [file.tensors for file in theirs.tensor_files]
    assert all(file.path.name == f"sha256-{file.digest}" for file in ours.tensor_files)
    for key in ("architecture", "parameters", "quantization", "context_length", "capabilities"):
        assert getattr(stored, key) == getattr(plain, key), key


def test_the_licence_of_the_card_is_kept_where_there_is_no_file(root, hub):
    card = {"license": "other", "license_name": "gemma", "license_link": "https://ai.google.dev/gemma/terms"}
    hub.add(NAME, folder_files(LICENSE=None), card=card)
    assert pulled(root, NAME).about == "The licence is gemma."
    (record,) = models_in(root).values()
    licence = blobs_of(record)["application/vnd.ollama.image.license"]
    assert licence.read_text() == "gemma\nhttps://ai.google.dev/gemma/terms\n"
    assert json.loads(record.path.read_bytes())["annotations"] == {
        "org.opencontainers.image.source": f"{hub.endpoint}/{NAME}",
        "org.opencontainers.image.revision": hub.repositories[NAME].refs["main"],
        "org.opencontainers.image.licenses": "gemma",
    }


def test_a_gguf_file_is_stored_as_ollama_stores_it(root, hub):
    files = gguf_files(Q4_K_M=3000, Q8_0=6000)
    hub.add(GGUF_NAME[6:], files | {"README.md": b"x"}, gguf={"architecture": "llama", "total": 1})
    pulled(root, f"{GGUF_NAME}:q4_k_m")
    (record,) = models_in(root).values()
    manifest = json.loads(record.path.read_bytes())
    content = files["Tiny-Q4_K_M.gguf"]
    assert [(layer["mediaType"], layer["digest"], layer["size"]) for layer in manifest["layers"]] == [
        ("application/vnd.ollama.image.model", f"sha256:{hashlib.sha256(content).hexdigest()}", len(content))
    ]
    config = json.loads(blobs_of(record)["application/vnd.docker.container.image.v1+json"].read_bytes())
    assert (config["model_format"], config["model_family"], config["file_type"]) == ("gguf", "llama", "Q4_K_M")
    assert (record.format, record.architecture, record.quantization) == (Format.GGUF, "llama", "Q4_K_M")
    assert blobs_of(record)["Tiny-Q4_K_M.gguf"].read_bytes() == content


@pytest.mark.parametrize(
    ("wanted", "room", "taken", "said"),
    [
        ("", 7000, "Q8_0", "as the best that fits this machine"),
        ("", 5000, "Q4_K_M", "Q4_K_M was chosen of Q2_K, Q4_K_M, Q8_0 and F16"),
        ("", None, "Q4_K_M", "Q4_K_M was chosen of Q2_K, Q4_K_M, Q8_0 and F16"),
        ("", 10**6, "Q8_0", "Q8_0 was chosen"),
        (":f16", 10, "F16", ""),
        (":Tiny-Q2_K.gguf", 10, "Q2_K", ""),
        (":Tiny-Q2_K", 10, "Q2_K", ""),
    ],
)
def test_a_quantization_is_chosen(root, hub, wanted, room, taken, said):
    files = gguf_files(Q2_K=2000, Q4_K_M=3000, Q8_0=6000, F16=12000)
    hub.add(GGUF_NAME[6:], files | {"mmproj-Tiny-F16.gguf": gguf_bytes(9, "clip")})
    last = pulled(root, GGUF_NAME + wanted, room=lambda: room)
    assert said in last.about
    assert "projector for images is mmproj-Tiny-F16.gguf" in last.about
    (record,) = models_in(root).values()
    assert blobs_of(record)[f"Tiny-{taken}.gguf"].read_bytes() == files[f"Tiny-{taken}.gguf"]
    assert json.loads(record.path.read_bytes())["layers"][1]["mediaType"] == "application/vnd.ollama.image.projector"
    assert blobs_of(record)["mmproj-Tiny-F16.gguf"].read_bytes() == gguf_bytes(9, "clip")
    assert len(list((root / "blobs").iterdir())) == 3


def test_a_model_is_found_without_the_host_and_the_quantization(root, hub):
    hub.add(GGUF_NAME[6:], gguf_files(Q2_K=2000, Q8_0=6000))
    pulled(root, f"{GGUF_NAME}:Q8_0")
    listing = discover([Root(Source.SOTTO, root, False)])
    for text in (GGUF_NAME, "Org/Tiny-GGUF", "Org/Tiny-GGUF:q8_0", "org/tiny-gguf"):
        assert resolve(text, listing).name == f"{GGUF_NAME}:Q8_0"


def test_none_that_fits_is_a_reason_to_ask(root, hub):
    hub.add(GGUF_NAME[6:], gguf_files(Q2_K=2000, Q4_K_M=3000))
    note_of(root, GGUF_NAME, "None of Q2_K and Q4_K_M", "1 kB of weights", "behind a colon", room=lambda: 1000)


def test_what_was_chosen_once_is_kept(root, hub):
    repository = hub.add(GGUF_NAME[6:], gguf_files(Q2_K=2000, Q4_K_M=3000))
    pulled(root, GGUF_NAME, room=lambda: 2500)
    repository.commit(gguf_files(Q2_K=2000, Q4_K_M=3000) | {"README.md": b"new"})
    last = pulled(root, GGUF_NAME, room=lambda: 10**6)
    assert "Q2_K of Q2_K and Q4_K_M was chosen before" in last.about
    assert last.unchanged


@pytest.mark.parametrize("card", [{}, {"gguf": {"architecture": "rwkv6"}}])
def test_an_unknown_quantization_is_refused_with_those_there_are(root, hub, card):
    hub.add(GGUF_NAME[6:], gguf_files(Q2_K=2000, Q8_0=9), **card)
    note_of(root, f"{GGUF_NAME}:Q5_K_M", "has no Q5_K_M", "it has Q8_0 and Q2_K")
    assert hub.paths("/resolve/") == []


def test_a_model_that_cannot_run_is_refused_before_its_weights(root, hub):
    hub.add(GGUF_NAME[6:], gguf_files(Q2_K=2000), gguf={"architecture": "rwkv6"})
    hub.add(NAME, folder_files())
    note_of(root, GGUF_NAME, "'rwkv6'")
    note_of(root, NAME, "No, thank you", judge=lambda config: "No, thank you.")
    assert hub.other.requests == []
    assert models_in(root) == {}


def split_gguf(count=2, present=None, architecture="llama"):
    """Return the parts of a quantization in a folder of its own; only some of them if `present` has their numbers."""
    return {
        f"Q4_K_M/Tiny-Q4_K_M-{part:05}-of-{count:05}.gguf": gguf_bytes(100 + part, architecture)
        for part in present or range(1, count + 1)
    }


@pytest.mark.parametrize("wanted", ["Q4_K_M", "model-00001-of-00003.gguf", "model"])
def test_a_split_gguf_model_arrives_whole_and_runs(root, hub, tmp_path, wanted):
    parts = write_parts(tmp_path / "parts", REFERENCES / "llama")
    files = {f"Q4_K_M/{path.name}": path.read_bytes() for path in parts}
    hub.add(GGUF_NAME[6:], files | gguf_files(Q2_K=50), gguf={"architecture": "llama"})
    pulled(root, f"{GGUF_NAME}:{wanted}")
    (record,) = models_in(root).values()
    assert (record.name, record.runnable, record.quantization) == (f"{GGUF_NAME}:{wanted}", True, "Q4_K_M")
    assert_intact(record)
    assert {name: path.read_bytes() for name, path in blobs_of(record).items() if name in files} == files
    ids = mx.array([[1, 2, 3]])
    assert mx.array_equal(load(open_model(record)).model(ids), load(open_model(record_of(parts[0]))).model(ids))
    assert pulled(root, f"{GGUF_NAME}:{wanted}").unchanged


def test_a_split_model_is_chosen_as_any_other(root, hub):
    repository = hub.add(GGUF_NAME[6:], split_gguf() | gguf_files(Q2_K=50))
    assert "Q4_K_M was chosen of Q2_K and Q4_K_M" in pulled(root, GGUF_NAME).about
    repository.commit(split_gguf() | gguf_files(Q2_K=50) | {"README.md": b"new"})
    assert "Q4_K_M of Q2_K and Q4_K_M was chosen before" in pulled(root, GGUF_NAME, room=lambda: 10**6).about


def test_a_split_model_of_which_a_part_is_missing_is_refused_before_its_weights(root, hub):
    files = split_gguf(3, [1, 3])
    repository = hub.add(GGUF_NAME[6:], files)
    for name in (GGUF_NAME, f"{GGUF_NAME}:Q4_K_M"):
        note_of(root, name, "is incomplete: it has 2 of the 3 parts that Q4_K_M/Tiny-Q4_K_M-00001-of-00003.gguf tells")
    repository.commit(files | split_gguf(2, [2]))
    note_of(root, GGUF_NAME, "is incomplete")
    assert hub.other.requests == []
    # Without a word about it, a whole one is taken.
    repository.commit(files | gguf_files(Q2_K=50))
    assert "Q2_K was chosen" in pulled(root, GGUF_NAME).about


def test_the_first_part_tells_whether_a_model_runs_before_the_others_come(root, hub):
    hub.add(GGUF_NAME[6:], split_gguf(architecture="rwkv6"))
    note_of(root, GGUF_NAME, "'rwkv6'")
    assert len(hub.other.requests) == 1
    assert models_in(root) == {}


@pytest.mark.parametrize(
    ("files", "mentions"),
    [
        (folder_files(**{"tokenizer.json": None}), ["tokenizer.json"]),
        ({"config.json": b"{}", "pytorch_model.bin": b"x"}, ["neither a GGUF file nor"]),
        (folder_files(**sharded() | {"model-00002-of-00002.safetensors": None}), ["is incomplete", "00002-of-00002"]),
        (folder_files(**{"consolidated.safetensors": weights(), "config.json": b"{"}), ["is not JSON"]),
    ],
    ids=["no tokenizer", "no weights", "a shard is missing", "damaged config"],
)
def test_a_repository_without_a_whole_model_is_refused_before_its_weights(root, hub, files, mentions):
    hub.add(NAME, files)
    note_of(root, NAME, *mentions)
    assert hub.other.requests == []


@pytest.mark.parametrize("text", [NAME, f"hf.co/{NAME}", f"https://huggingface.co/{NAME}", f"{NAME}@main"])
def test_forms_of_a_name(root, hub, text):
    hub.add(NAME, folder_files())
    assert pulled(root, text).name == STORED
    assert list(models_in(root)) == [STORED]


@pytest.mark.parametrize("ref", ["v1.0", "commit"])
def test_a_revision(root, hub, ref):
    repository = hub.add(NAME, folder_files())
    old = repository.commit(folder_files(**{"model.safetensors": weights(5)}), "v1.0")
    revision = old if ref == "commit" else ref
    assert pulled(root, f"{NAME}@{revision}").name == f"hf.co/Org/Tiny-4bit:latest--{revision}"
    (record,) = models_in(root).values()
    assert blobs_of(record)["model.safetensors"].read_bytes() == weights(5)
    note_of(root, f"{NAME}@v2", "has no revision 'v2'")


def test_an_address_of_a_file(root, hub):
    hub.add(GGUF_NAME[6:], gguf_files(Q2_K=2000, Q8_0=3000))
    last = pulled(root, "https://huggingface.co/Org/Tiny-GGUF/blob/main/Tiny-Q8_0.gguf?download=true")
    assert last.name == f"{GGUF_NAME}:Tiny-Q8_0.gguf"
    # Its manifest has the suffix of a GGUF file.
    (record,) = models_in(root).values()
    assert record_of(record.path).digest == record.digest
    assert len(gguf_file(record, lists=False).values) == 1
    assert disk_use([record]).models[record.digest] == record.size


def test_a_repository_that_moved(root, hub):
    hub.add(NAME, folder_files())
    hub.repositories["Old/Name"] = HubRepository(moved_to=NAME)
    assert pulled(root, "hf.co/Old/Name").name == "hf.co/Old/Name:latest"


def test_a_new_revision_fetches_only_what_changed(root, hub):
    repository = hub.add(NAME, folder_files(**sharded()))
    pulled(root, NAME)
    old = sharded()
    changed = "model-00002-of-00002.safetensors"
    repository.commit(
        folder_files(**old | {changed: safetensors({"t1": ("F32", (100, 256))}, fill=77), "LICENSE": b"New"})
    )
    before, stored = len(hub.requests), len(hub.other.requests)
    last = pulled(root, NAME)
    assert not last.unchanged
    assert [path.rpartition("/")[2] for path in hub.paths()[before:] if path.startswith("/Org")] == ["LICENSE", changed]
    assert len(hub.other.requests) == stored + 1
    (record,) = models_in(root).values()
    assert_intact(record)
    assert (
        json.loads(record.path.read_bytes())["annotations"]["org.opencontainers.image.revision"]
        == (repository.refs["main"])
    )


def test_a_model_that_is_up_to_date_is_not_fetched(root, hub):
    repository = hub.add(NAME, folder_files())
    assert not pulled(root, NAME).unchanged
    digest = models_in(root)[STORED].digest
    # A commit that changes nothing of the model changes nothing here.
    repository.commit(folder_files(**{"README.md": b"# Better words"}))
    before = len(hub.requests), len(hub.other.requests)
    assert pulled(root, NAME).unchanged
    assert (len(hub.requests), len(hub.other.requests)) == (before[0] + 1, before[1])
    assert models_in(root)[STORED].digest == digest


def test_a_damaged_model_is_repaired(root, hub):
    hub.add(NAME, folder_files())
    pulled(root, NAME)
    (record,) = models_in(root).values()
    for name in ("model.safetensors", "chat_template.jinja"):
        blob = blobs_of(record)[name]
        blob.write_bytes(bytes(blob.stat().st_size))
    assert not pulled(root, NAME).unchanged
    assert_intact(record)


@pytest.mark.parametrize(
    "faults",
    [[drop(0.3), drop(0.3)], [status(500), status(429, Retry_After="0")], [status(403)], [corrupt]],
    ids=["dropped", "busy", "expired", "corrupt"],
)
def test_faults_of_the_storage_are_retried(root, hub, faults):
    hub.add(NAME, folder_files())
    hub.other.fail("/lfs/", *faults)
    pulled(root, NAME)
    assert_intact(models_in(root)[STORED])
    ranges = [request.headers.get("range") for request in hub.other.requests]
    assert len(ranges) == len(faults) + 1
    assert (ranges[-1] is not None) == (len(faults) == 2 and ranges[1] is not None)


def test_faults_of_the_hub_are_retried(root, hub):
    hub.add(NAME, folder_files())
    hub.fail("/api/models/", status(503), status(429, Retry_After="0"))
    hub.fail("/tokenizer.json", status(502), status(200, b"something else"))
    log = pull(root, NAME, patience=replace(HASTY, tries=5))
    assert log.reports[-1].state is PullState.DONE
    notes = [progress.note for progress in log.reports if progress.state is PullState.RETRYING]
    assert notes == [
        "127.0.0.1 is busy or failing (status 503).",
        "127.0.0.1 is busy or failing (status 429).",
        "127.0.0.1 is busy or failing (status 502).",
        "127.0.0.1 sends tokenizer.json damaged.",
    ]
    # What was read is not requested again.
    assert (
        max(len(hub.paths(f"{NAME}/resolve/{hub.repositories[NAME].refs['main']}/{name}")) for name in folder_files())
        <= 3
    )


def test_pausing_and_resuming(root, hub):
    hub.add(NAME, folder_files(**{"model.safetensors": weights(rows=900)}))
    hub.other.pause = 0.01
    with open_queue(root) as (queue, log):
        queue.add(NAME)
        log.until(lambda progress: progress.done > 300_000)
        queue.pause(NAME)
        paused = log.end()
        assert paused.state is PullState.PAUSED
    assert models_in(root) == {}
    with open_queue(root) as (queue, log):
        (left,) = queue.unfinished()
        assert left.name == STORED
        queue.resume(left.name)
        assert log.until(lambda progress: progress.state in ENDED).state is PullState.DONE
    assert int(hub.other.requests[-1].headers["range"].removeprefix("bytes=").removesuffix("-")) > 250_000
    assert_intact(models_in(root)[STORED])


def test_cancelling_leaves_nothing(root, hub):
    hub.add(NAME, folder_files(**{"model.safetensors": weights(rows=900)}))
    hub.other.pause = 0.01
    with open_queue(root) as (queue, log):
        queue.add(NAME)
        log.until(lambda progress: progress.done > 100_000)
        queue.cancel(NAME)
    assert leftovers(root) == []
    assert list(root.rglob("sha256-*")) == []


def test_free_space_is_checked_before_the_weights(root, hub, monkeypatch):
    hub.add(NAME, folder_files())
    monkeypatch.setattr(disk_room, "free_bytes", lambda root: disk_room.RESERVE + 1000)
    note_of(root, NAME, root, "the download needs 205 kB more")
    assert hub.other.requests == []


# Tokens


@pytest.mark.parametrize("place", ["HF_TOKEN", "HF_TOKEN_PATH", "HF_HOME", "the default"])
def test_a_gated_repository(root, hub, monkeypatch, home, tmp_path, place):
    page = f"{hub.endpoint}/{NAME}"
    hub.tokens = {"hf_known", "hf_admitted"}
    hub.add(NAME, folder_files(), gated=frozenset({"hf_admitted"}))
    assert note_of(root, NAME, page, "ask for access", "hf auth login")
    files = {
        "HF_TOKEN_PATH": tmp_path / "my-token",
        "HF_HOME": tmp_path / "hf" / "token",
        "the default": home / ".cache" / "huggingface" / "token",
    }
    variables = {"HF_TOKEN_PATH": str(tmp_path / "my-token"), "HF_HOME": str(tmp_path / "hf")}
    if place in variables:
        monkeypatch.setenv(place, variables[place])

    def log_in(token):
        if place == "HF_TOKEN":
            monkeypatch.setenv(place, token)
        else:
            files[place].parent.mkdir(parents=True, exist_ok=True)
            files[place].write_text(f"{token}\n")

    log_in("hf_known")
    said = note_of(root, NAME, page, "ask for access", "with the account of the token in")
    assert str(files.get(place, "HF_TOKEN")) in said
    log_in("hf_admitted")
    pulled(root, NAME)
    assert_intact(models_in(root)[STORED])
    # The host that has the large files must not get the token.
    assert hub.other.requests
    assert all("authorization" not in request.headers for request in hub.other.requests)
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    hub.add("Org/Other-4bit", folder_files(LICENSE=b"Another"), gated=frozenset({"hf_admitted"}))
    note_of(root, "Org/Other-4bit", "ask for access")


def test_a_token_that_is_not_accepted(root, hub, monkeypatch):
    hub.add(NAME, folder_files())
    monkeypatch.setenv("HF_TOKEN", "hf_old")
    note_of(root, NAME, "127.0.0.1 does not accept the token in HF_TOKEN")
    monkeypatch.setenv("HF_TOKEN", "not a\ttoken")
    note_of(root, NAME, "HF_TOKEN", "other characters")


def test_an_unknown_repository(root, hub):
    note_of(root, NAME, f"127.0.0.1 has no model {NAME}", "private", "hf auth login")


def test_an_endpoint_without_tls_must_be_allowed(root, hub):
    note_of(root, NAME, "HF_ENDPOINT", "https://", insecure=False)
    assert hub.requests == []


@pytest.mark.parametrize(
    "text",
    [
        "hf.co/onlyone",
        "https://huggingface.co/Org",
        "https://huggingface.co/Org/Name/discussions/1",
        "Org/Name@refs/pr/1",
        "Org/Name@a--b",
        "Org/",
        "https://huggingface.co/../etc/passwd",
    ],
)
def test_invalid_names_are_refused_at_once(root, text):
    with open_queue(root) as (queue, log):
        with pytest.raises(InvalidNameError) as caught:
            queue.add(text)
        assert_sentence(caught.value.message)
    assert log.reports == []


# Answers that nobody should trust


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b'{"sha": "x"}',
        b'{"sha": "%s"}' % (b"a" * 40),
        b'{"sha": "%s", "siblings": [3]}' % (b"a" * 40),
        b'{"sha": "%s", "siblings": [{"rfilename": "model.gguf", "size": -1}]}' % (b"a" * 40),
        b'{"sha": "%s", "siblings": [{"rfilename": "m.gguf", "size": 1, "lfs": {"sha256": "x", "size": 1}}]}'
        % (b"a" * 40),
        b'{"sha": "%s", "siblings": [{"rfilename": "m.gguf", "size": 99999999}]}' % (b"a" * 40),
        b'{"sha": "%s", "siblings": [{"rfilename": "../m.gguf", "size": 1}]}' % (b"a" * 40),
    ],
)
def test_hostile_descriptions(root, hub, answer):
    hub.fail("/api/models/", status(200, answer))
    note_of(root, NAME, f"{hub.endpoint}/{NAME}")


# The cache of Hugging Face's own library


@pytest.fixture
def library():
    """Return huggingface_hub, which reads its settings when it is imported."""
    return pytest.importorskip("huggingface_hub")


def test_the_server_is_one_that_huggingface_hub_understands(hub, library, tmp_path):
    files = folder_files(**sharded())
    commit = hub.add(NAME, files, card={"license": "mit"}, gguf={"architecture": "llama"}).refs["main"]
    hub.page = 3
    api = library.HfApi(endpoint=hub.endpoint, token=False)
    info = api.model_info(NAME, files_metadata=True)
    assert (info.sha, info.gated, info.card_data.license, info.gguf) == (
        commit,
        False,
        "mit",
        {"architecture": "llama"},
    )
    assert {file.rfilename: file.size for file in info.siblings} == {name: len(files[name]) for name in files}
    tree = {entry.path: entry for entry in api.list_repo_tree(NAME, recursive=True)}
    assert {path: entry.blob_id for path, entry in tree.items()} == {name: git_id(files[name]) for name in files}
    large = "model-00001-of-00002.safetensors"
    assert tree[large].lfs.sha256 == hashlib.sha256(files[large]).hexdigest()
    url = library.hf_hub_url(NAME, large, endpoint=hub.endpoint)
    metadata = library.get_hf_file_metadata(url, token=False)
    assert (metadata.commit_hash, metadata.size, metadata.etag) == (commit, len(files[large]), tree[large].lfs.sha256)
    errors = library.errors
    with pytest.raises(errors.RepositoryNotFoundError):
        api.model_info("Org/None")
    with pytest.raises(errors.RevisionNotFoundError):
        api.model_info(NAME, revision="v9")
    with pytest.raises(errors.EntryNotFoundError):
        api.hf_hub_download(NAME, "none.txt", cache_dir=tmp_path)
    hub.add("Org/Gated", files, gated=frozenset())
    with pytest.raises(errors.GatedRepoError):
        api.hf_hub_download("Org/Gated", "config.json", cache_dir=tmp_path)
    folder = library.snapshot_download(NAME, endpoint=hub.endpoint, cache_dir=tmp_path / "hub", token=False)
    assert all((tmp_path / folder / name).read_bytes() == content for name, content in files.items())


@pytest.mark.parametrize("linked", [True, False], ids=["link", "copy"])
def test_what_is_in_the_cache_is_not_fetched(root, hub, library, home, monkeypatch, linked):
    hub.add(NAME, folder_files(**sharded()), card={"license": "mit"})
    cache = home / ".cache" / "huggingface" / "hub"
    library.snapshot_download(NAME, endpoint=hub.endpoint, cache_dir=cache, token=False)
    before, fetched = fingerprint(cache), len(hub.requests)
    if not linked:
        monkeypatch.setattr("sotto.store.pull.reuse.share", lambda source, target: None)
    last = pulled(root, NAME)
    assert last.done == last.total
    assert len(hub.requests) == fetched + 1
    assert fingerprint(cache) == before
    record = models_in(root)[STORED]
    assert_intact(record)
    blob = blobs_of(record)["model-00001-of-00002.safetensors"]
    assert linked or blob.stat().st_nlink == 1
    assert blob.stat().st_mode & 0o444 == 0o444


def test_a_damaged_file_of_the_cache_is_fetched(root, hub, library, home):
    files = folder_files()
    hub.add(NAME, files)
    cache = home / ".cache" / "huggingface" / "hub"
    library.snapshot_download(NAME, endpoint=hub.endpoint, cache_dir=cache, token=False)
    blobs = cache / "models--Org--Tiny-4bit" / "blobs"
    for name in (hashlib.sha256(files["model.safetensors"]).hexdigest(), git_id(files["tokenizer.json"])):
        (blobs / name).write_bytes(bytes((blobs / name).stat().st_size))
    stored = len(hub.other.requests)
    pulled(root, NAME)
    assert len(hub.other.requests) == stored + 1
    assert_intact(models_in(root)[STORED])

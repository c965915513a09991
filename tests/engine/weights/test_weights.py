"""Reading tensors in batches, with progress and cancellation, within limits on open files and memory."""

import gc
import json
import os
import subprocess
import sys
from dataclasses import replace

import mlx.core as mx
import pytest

from checkpoints import LLAMA, Watch, read_header, source_of, write_blob, write_tensors
from places import SUPPORT
from sotto.engine.weights import weights
from sotto.errors import BrokenModelError, CancelledError, EngineError, UnsupportedModelError
from sotto.store.records import TensorInfo


def everything(_name):
    return True


@pytest.fixture
def files(tmp_path):
    """Return 150 files of one 1,000-byte tensor each."""
    return [write_blob(tmp_path, {f"tensor{index}": mx.full((250,), index, dtype=mx.float32)}) for index in range(150)]


def never():
    return False


class TestSelect:
    def test_files_with_the_same_digest_are_read_once(self, files):
        assert len(weights.select([*files, *files], everything)) == 150

    def test_only_wanted_tensors_are_selected(self, tmp_path):
        file = write_blob(tmp_path, {"a": mx.zeros((1,)), "b": mx.zeros((3,))})
        (chosen,) = weights.select([file], lambda name: name == "b")
        assert list(chosen.tensors) == ["b"]
        assert chosen.nbytes == 12
        assert weights.select([file], lambda _: False) == ()

    def test_a_name_in_two_files_is_an_error(self, tmp_path):
        files = [write_blob(tmp_path, {"a": mx.zeros((size,))}) for size in (1, 2)]
        with pytest.raises(BrokenModelError, match="a is in both"):
            weights.select(files, everything)

    def test_a_type_that_cannot_be_read_is_refused(self, tmp_path):
        file = write_blob(tmp_path, {"a": mx.zeros((2,))})
        file = replace(
            file, tensors={"a": TensorInfo("F64", (1,), *(getattr(file.tensors["a"], x) for x in ("start", "end")))}
        )
        with pytest.raises(UnsupportedModelError, match="a is stored as F64"):
            weights.select([file], everything)

    def test_a_dimension_that_is_too_long_is_refused(self, tmp_path):
        file = write_blob(tmp_path, {"a": mx.zeros((0,))})
        place = file.tensors["a"].start
        file = replace(file, tensors={"a": TensorInfo("F32", (0, 2**31), place, place)})
        with pytest.raises(UnsupportedModelError, match="a has 2147483648 rows or columns; 2147483647 is the most"):
            weights.select([file], everything)


class TestRead:
    def test_every_tensor_arrives_as_it_was_stored(self, tmp_path):
        mx.random.seed(0)
        tensors = {
            "odd": mx.random.normal((3, 5)),
            "half": mx.random.normal((7,)).astype(mx.bfloat16),
            "words": mx.random.randint(0, 2**31 - 1, (4, 4)).astype(mx.uint32),
            "bytes": mx.arange(5, dtype=mx.uint8),
        }
        into = {}
        weights.read([write_blob(tmp_path, tensors, {"x": "y" * n}) for n in (3,)], into, lambda _: None, never)
        assert into.keys() == tensors.keys()
        for name, array in tensors.items():
            assert into[name].dtype == array.dtype
            assert mx.array_equal(into[name], array)

    def test_progress_counts_bytes_and_never_falls(self, files):
        progress = []
        weights.read(files, {}, progress.append, never)
        assert progress == [64000, 128000, 150000]

    def test_progress_is_reported_within_a_large_file(self, tmp_path, monkeypatch):
        monkeypatch.setattr(weights, "STEP_BYTES", 3000)
        path = tmp_path / "model.safetensors"
        write_tensors(path, {f"tensor{index}": mx.zeros((250,)) for index in range(10)})
        progress = []
        weights.read([read_header(path)], {}, progress.append, never)
        assert progress == [3000, 6000, 9000, 10000]

    def test_reading_stops_when_cancelled(self, files):
        into, progress = {}, []
        with pytest.raises(CancelledError):
            weights.read(files, into, progress.append, lambda: len(progress) >= 2)
        assert len(progress) == 2
        assert len(into) == 128

    def test_a_deleted_file_is_named(self, files):
        files[100].path.unlink()
        with pytest.raises(BrokenModelError, match=files[100].path.name):
            weights.read(files, {}, lambda _: None, never)

    def test_a_truncated_file_is_named(self, files):
        os.truncate(files[5].path, files[5].path.stat().st_size - 1)
        with pytest.raises(BrokenModelError, match=f"{files[5].path.name} cannot be read"):
            weights.read(files, {}, lambda _: None, never)

    def test_a_changed_file_is_named(self, files):
        write_tensors(files[5].path, {"tensor5": mx.zeros((25, 10))})
        with pytest.raises(BrokenModelError, match=f"{files[5].path.name} was changed"):
            weights.read(files, {}, lambda _: None, never)

    def test_a_file_that_is_truncated_meanwhile_names_the_tensor(self, tmp_path, monkeypatch):
        monkeypatch.setattr(weights, "STEP_BYTES", 1000)
        path = tmp_path / "model.safetensors"
        # The second one is beyond what is read with the first.
        write_tensors(path, {"first": mx.zeros((250,)), "second": mx.zeros((2**20,))})

        def truncate(_):
            os.truncate(path, 4096)

        with pytest.raises(EngineError, match="second could not be read"):
            weights.read([read_header(path)], {}, truncate, never)


class TestEvaluate:
    def test_a_tensor_that_cannot_be_read_is_named(self, files):
        lazy = mx.load(str(files[0].path), format="safetensors")
        os.truncate(files[0].path, 100)
        with pytest.raises(EngineError, match="tensor0 could not be read"):
            weights.evaluate(list(lazy.values()), "tensor0")

    @pytest.mark.parametrize(
        ("error", "expected", "text"),
        [
            (RuntimeError("[metal::malloc] Attempting to allocate 9 bytes"), EngineError, "Memory ran out at big"),
            (MemoryError(), EngineError, "Memory ran out at big"),
            (RuntimeError("[add] Shapes cannot be broadcast."), RuntimeError, "broadcast"),
        ],
    )
    def test_running_out_of_memory_is_distinguished_from_other_errors(self, monkeypatch, error, expected, text):
        """Simulate errors, because on a CPU the process would be killed instead."""

        def fail(_):
            raise error

        monkeypatch.setattr(mx, "eval", fail)
        with pytest.raises(expected, match=text):
            weights.evaluate([], "big")


def child(code, *arguments):
    """Run code that prints JSON in a fresh interpreter, with the helpers of the tests."""
    preamble = f"import sys, json, resource, psutil; sys.path.insert(0, {str(SUPPORT / 'models')!r})\n"
    result = subprocess.run(
        [sys.executable, "-c", preamble + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


LOAD = """
from pathlib import Path
from checkpoints import read_header, source_of, Watch
from sotto.engine.kernels import device
from sotto.engine.weights import loader
device.prepare()
import mlx.core as mx
from sotto.engine.footprint.model_needs import limits_here
folder, config = Path(sys.argv[1]), json.loads(sys.argv[2])
source = source_of([read_header(path, path.name) for path in sorted(folder.iterdir())], config)
process = psutil.Process()

def highest():
    # On Linux, getrusage returns the parent's value if that was higher.
    if sys.platform == "linux":
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
"""


def write_llama(folder, config, tensors_of):
    """Write a Llama of these sizes, one blob per tensor; `tensors_of` returns the tensors for a name and shape."""
    hidden, inner, vocabulary = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    narrow = hidden * config["num_key_value_heads"] // config["num_attention_heads"]
    shapes = {"model.embed_tokens.weight": (vocabulary, hidden), "model.norm.weight": (hidden,)}
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (vocabulary, hidden)
    for layer in range(config["num_hidden_layers"]):
        shapes |= {
            f"model.layers.{layer}.{name}.weight": shape
            for name, shape in {
                "input_layernorm": (hidden,),
                "post_attention_layernorm": (hidden,),
                "self_attn.q_proj": (hidden, hidden),
                "self_attn.k_proj": (narrow, hidden),
                "self_attn.v_proj": (narrow, hidden),
                "self_attn.o_proj": (hidden, hidden),
                "mlp.gate_proj": (inner, hidden),
                "mlp.up_proj": (inner, hidden),
                "mlp.down_proj": (hidden, inner),
            }.items()
        }
    folder.mkdir()
    for index, (name, shape) in enumerate(shapes.items()):
        write_tensors(folder / f"blob{index:04}", tensors_of(name, shape))


def test_open_files_stay_few_under_a_low_limit(tmp_path):
    config = LLAMA | {"num_hidden_layers": 66, "hidden_size": 32, "intermediate_size": 32, "vocab_size": 32}
    write_llama(tmp_path / "blobs", config, lambda _, shape: {_: mx.zeros(shape)})
    code = LOAD + (
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))\n"
        "counts = []\n"
        "count = lambda _: counts.append(process.num_fds())\n"
        "loader.load(source, limits=limits_here(), progress=count, cancelled=lambda: False)\n"
        "print(json.dumps([len(source.tensor_files), max(counts), process.num_fds()]))"
    )
    count, most, after = child(code, tmp_path / "blobs", json.dumps(config))
    assert count == 597
    assert most < 128
    assert after < 32


def random_int4(name, shape):
    """Return a random matrix in int4 with bfloat16 scales."""
    if len(shape) == 1:
        return {name: mx.ones(shape, mx.bfloat16)}
    rows, columns = shape
    return {
        f"{name}.scale": mx.full((rows, columns // 64), 0.01, dtype=mx.bfloat16),
        f"{name}.bias": mx.full((rows, columns // 64), -0.08, dtype=mx.bfloat16),
        name: mx.random.randint(0, 2**31 - 1, (rows, columns // 8)).astype(mx.uint32),
    }


def random_bf16(name, shape):
    return {name: mx.random.normal(shape).astype(mx.bfloat16)}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("config", "tensors_of"),
    [
        (
            LLAMA | {"hidden_size": 2048, "intermediate_size": 5632, "vocab_size": 32000, "num_hidden_layers": 8},
            random_int4,
        ),
        (
            LLAMA
            | {"hidden_size": 640, "intermediate_size": 1664, "vocab_size": 64000, "num_hidden_layers": 8}
            | {"tie_word_embeddings": True},
            random_bf16,
        ),
    ],
    ids=["int4", "bfloat16"],
)
def test_loading_takes_little_more_memory_than_the_weights(tmp_path, config, tensors_of):
    write_llama(tmp_path / "blobs", config, tensors_of)
    code = LOAD + (
        "before = process.memory_info().rss\n"
        "mx.reset_peak_memory()\n"
        "loaded = loader.load(source, limits=limits_here(), progress=lambda _: None, cancelled=lambda: False)\n"
        "print(json.dumps([loaded.weight_bytes, mx.get_peak_memory(), highest() - before, loaded.compute_type]))"
    )
    size, peak, resident, compute_type = child(code, tmp_path / "blobs", json.dumps(config))
    assert size > 150e6
    assert peak <= 1.15 * size
    assert resident <= 1.15 * size
    if sys.platform == "linux":
        assert compute_type == "float32"


def test_a_cancelled_load_leaves_no_memory(tmp_path, monkeypatch):
    from sotto.engine.footprint.model_needs import limits_here
    from sotto.engine.weights import loader

    config = LLAMA | {"hidden_size": 512, "intermediate_size": 1024, "vocab_size": 1024, "num_hidden_layers": 8}
    write_llama(tmp_path / "blobs", config, random_bf16)
    source = source_of([read_header(path, path.name) for path in sorted((tmp_path / "blobs").iterdir())], config)
    gc.collect()
    before = mx.get_active_memory()
    monkeypatch.setattr(weights, "STEP_BYTES", 2**20)
    watch, held = Watch(stop_after=15), []

    def progress(event):
        watch(event)
        held.append(mx.get_active_memory())

    with pytest.raises(CancelledError) as caught:
        loader.load(source, limits=limits_here(), progress=progress, cancelled=watch.cancelled)
    assert held[-1] - before > 10e6
    # As long as the error is kept, its frames keep tensors in memory, but only those of one step.
    assert mx.get_active_memory() - before < 2.5e6
    del caught
    gc.collect()
    assert mx.get_active_memory() - before < 1e5

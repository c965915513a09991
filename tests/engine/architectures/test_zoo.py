"""Model definitions: all can be imported without mlx-lm's dependencies, and unsupported configs are refused."""

import importlib
import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from sotto.engine.architectures import zoo
from sotto.engine.architectures.cache_types import FullKVCache, SlidingKVCache
from sotto.engine.caches.caches import make_caches
from sotto.engine.config.architecture_table import ARCHITECTURES
from sotto.errors import EngineError, UnsupportedModelError
from stores import assert_line

SHARED_MODULES = {
    "__init__", "activations", "base", "bitlinear_layers", "cache", "gated_delta", "mla", "pipeline", "rope_utils",
    "ssm", "switch_layers",
}  # fmt: skip
OWN_MODULES = {
    "bert",
    "camembert",
    "glm_ocr",
    "hunyuan_v1_moe",
    "idefics3",
    "jina_embeddings_v3",
    "llava",
    "llava_next",
    "mistral",
    "modernbert",
    "nomic_bert",
    "roberta",
    "xlm-roberta",
}
USABLE = {entry.name for entry in ARCHITECTURES if not entry.refused and not entry.checked_as_type}
BORROWED_MODULES = USABLE - OWN_MODULES
REFUSED_MODULES = {"dbrx", "gpt_bigcode", "jamba", "muse_spark", "olmo", "plamo"}
LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "vocab_size": 128,
}

IMPORT_ALL = """
import importlib, resource, sys
blocked = {"transformers", "numpy", "torch", "huggingface_hub", "tokenizers", "sentencepiece"}
class Wall:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Wall())
before = resource.getrlimit(resource.RLIMIT_NOFILE)
from sotto.engine.architectures import zoo
from sotto.engine.config.architecture_table import ARCHITECTURES
zoo.install()
names = [f"mlx_lm.models.{name}" for name in sys.argv[1:]]
own = {entry.definition for entry in ARCHITECTURES if entry.definition}
names += [f"sotto.engine.architectures.definitions.{name}" for name in sorted(own)]
failed = []
for name in names:
    try:
        module = importlib.import_module(name)
        if not (hasattr(module, "Model") and hasattr(module, "ModelArgs")):
            failed.append(f"{name}: lacks Model or ModelArgs")
    except BaseException as error:
        failed.append(f"{name}: {error!r}")
assert not failed, failed
assert not blocked & sys.modules.keys(), blocked & sys.modules.keys()
assert not [name for name in sys.modules if name.startswith("mlx_lm.") and not name.startswith("mlx_lm.models")]
assert resource.getrlimit(resource.RLIMIT_NOFILE) == before
print(len(names))
"""


def test_every_definition_can_be_imported_without_mlx_lms_dependencies():
    command = [sys.executable, "-c", IMPORT_ALL, *sorted(BORROWED_MODULES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > len(BORROWED_MODULES)


def test_the_lists_name_every_file_of_the_zoo():
    folder = Path(next(iter(importlib.util.find_spec("mlx_lm").submodule_search_locations))) / "models"
    files = {path.stem for path in folder.glob("*.py")}
    assert files == BORROWED_MODULES | SHARED_MODULES | REFUSED_MODULES
    assert {entry.name for entry in ARCHITECTURES if entry.refused} == REFUSED_MODULES


def test_another_version_is_refused(monkeypatch):
    monkeypatch.delitem(sys.modules, "mlx_lm")
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "0.33.1")
    with pytest.raises(EngineError, match=r"mlx-lm 0\.33\.1 is installed, but Sotto needs version 0\.32\.x of it\."):
        zoo.install()


def test_a_package_that_was_imported_in_full_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlx_lm", importlib.util.module_from_spec(importlib.util.find_spec("json")))
    with pytest.raises(EngineError, match="imported in full before"):
        zoo.install()


def test_plain_layers_get_plain_caches():
    model, _ = zoo.build(LLAMA)
    assert [type(cache) for cache in make_caches(model)] == [FullKVCache, FullKVCache]


def test_a_window_over_all_layers_of_an_inner_model_is_refused_where_it_is_ignored():
    config = {"model_type": "mistral3", "text_config": LLAMA | {"model_type": "ministral3", "sliding_window": 16}}
    with pytest.raises(UnsupportedModelError, match=r"a window of the text .*in mistral3 models"):
        zoo.build(config)


def test_a_window_over_all_layers_of_an_inner_mistral_gets_sliding_caches():
    config = {"model_type": "mistral3", "text_config": LLAMA | {"model_type": "mistral", "sliding_window": 16}}
    model, _ = zoo.build(config)
    assert [type(cache) for cache in make_caches(model)] == [SlidingKVCache, SlidingKVCache]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        # As in the files of LLaVA 1.5, 1.6 and Pixtral.
        ({"model_type": "llama", "rms_norm_eps": 1e-5, "vocab_size": 32064}, (32, 4096, 11008, 4096)),
        ({"model_type": "mistral", "sliding_window": None, "rope_theta": 1e6}, (32, 4096, 14336, 1024)),
        (
            {"model_type": "mistral", "sliding_window": None, "hidden_size": 5120, "head_dim": 128},
            (32, 5120, 14336, 1024),
        ),
    ],
)
def test_what_the_makers_of_llava_left_out_of_text_models_is_filled_in(text, shape):
    model, _ = zoo.build({"model_type": "llava", "text_config": text})
    layer = model.layers[0]
    outputs, width = layer.mlp.gate_proj.weight.shape
    assert (len(model.layers), width, outputs, layer.self_attn.k_proj.weight.shape[0]) == shape


def test_layers_with_a_window_get_sliding_caches():
    model, _ = zoo.build(LLAMA | {"sliding_window": 16, "layer_types": ["sliding_attention", "full_attention"]})
    assert [type(cache) for cache in make_caches(model)] == [SlidingKVCache, FullKVCache]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "llama"}, r"does not describe a llama model that can be built: .*missing"),
        (LLAMA | {"num_attention_heads": 0}, r"does not describe a llama model"),
        (LLAMA | {"num_hidden_layers": None}, r"does not describe a llama model"),
        (LLAMA | {"hidden_size": [1, 2]}, r"does not describe a llama model"),
        (LLAMA | {"rope_scaling": {"rope_type": "novel"}}, r"does not describe a llama model.*novel"),
        (LLAMA | {"rope_scaling": {"rope_type": "yarn"}}, r"does not describe a llama model.*factor.*missing"),
        (LLAMA | {"model_type": "gemma", "rope_scaling": {"type": "yarn"}}, r"scaled by 'yarn' .*in gemma models"),
        (
            LLAMA | {"model_type": "gemma2", "rope_parameters": {"rope_type": "é" * 9999}, "text_config": LLAMA},
            r"scaled by .*in gemma2 models",
        ),
        (LLAMA | {"model_type": "granite", "partial_rotary_factor": 0.5}, r"a part of each head .*in granite models"),
        (LLAMA | {"model_type": "granite", "sliding_window": 8}, r"a window of the text .*in granite models"),
        (LLAMA | {"model_type": "ministral3", "sliding_window": 8}, r"a window of the text .*in ministral3 models"),
    ],
)
def test_configs_that_a_definition_cannot_compute_are_refused(config, message):
    with pytest.raises(UnsupportedModelError, match=message) as raised:
        zoo.build(config)
    assert_line(raised.value.message)

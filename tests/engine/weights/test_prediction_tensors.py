"""Loading models whose files hold a head for multi-token prediction."""

import json
import shutil

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten

from checkpoints import folder_source, load_folder
from places import REFERENCES
from sotto.engine.architectures.prediction import Predicting
from sotto.engine.caches.caches import make_caches
from sotto.engine.config.prediction_names import naming, without_head
from sotto.engine.footprint.model_needs import needs_of
from sotto.engine.memory.memory_plan import Limits
from sotto.engine.weights import weights
from sotto.errors import BrokenModelError
from thoroughness import some

CASES = sorted(path.name for path in REFERENCES.iterdir() if path.name.endswith("-mtp"))
PLENTY = Limits(2**40, 2**40, "a test")
cases = pytest.mark.parametrize("case", some(CASES, 2))


def copied(case, folder, change):
    """Copy a model; `change` receives its tensors and its config."""
    shutil.copytree(REFERENCES / case, folder)
    tensors, config = mx.load(str(folder / "model.safetensors")), json.loads((folder / "config.json").read_text())
    tensors = change(dict(tensors), config) or tensors
    mx.save_safetensors(str(folder / "model.safetensors"), tensors)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def head_of(tensors, config):
    return [name for name in tensors if naming(config)(name) is not None]


@cases
def test_models_without_the_tensors_have_no_head(case, tmp_path):
    def change(tensors, config):
        return {name: tensors[name] for name in tensors.keys() - set(head_of(tensors, config))}

    model = load_folder(copied(case, tmp_path / "model", change)).model
    wanted = mx.load(str(REFERENCES / case / "expected.safetensors"))
    assert not isinstance(model, Predicting)
    assert mx.abs(model(wanted["ids"][None])[0] - wanted["whole"]).max().item() < 1e-3


@cases
def test_tensors_of_half_a_head_are_not_read(case, tmp_path):
    def change(tensors, config):
        gone = next(name for name in head_of(tensors, config) if "fc." in name or "eh_proj" in name)
        return {name: tensors[name] for name in tensors if name != gone}

    folder = copied(case, tmp_path / "model", change)
    source = folder_source(folder)
    assert not any(naming(source.config)(name) for file in weights.of_model(source) for name in file.tensors)
    assert not isinstance(load_folder(folder).model, Predicting)


def test_a_head_that_lacks_a_projection_is_damaged(tmp_path):
    def change(tensors, _):
        return {name: tensors[name] for name in tensors if name != "mtp.layers.0.self_attn.o_proj.weight"}

    with pytest.raises(BrokenModelError, match=r"lack mtp\.layers\.0\.self_attn\.o_proj\.weight"):
        load_folder(copied("qwen3-5-mtp", tmp_path / "model", change))


@cases
def test_the_memory_of_a_head_is_planned(case):
    source = folder_source(REFERENCES / case)
    loaded = load_folder(REFERENCES / case)
    head = sum(array.nbytes for name, array in tree_flatten(loaded.model.parameters()) if name.startswith("mtp."))
    with_head, without = needs_of(source, PLENTY), needs_of(without_head(source), PLENTY)
    assert not with_head.unknown
    assert with_head.weight_bytes == loaded.weight_bytes
    assert with_head.weight_bytes - without.weight_bytes == head > 0
    assert len(with_head.layers) == len(without.layers) + 1


def predicted(model):
    caches = make_caches(model)
    model(mx.array([[5, 9, 3, 44, 17]]), cache=caches)
    return model.predict(mx.array([[8]]), caches[-1].recent[:, -1:], caches[-1])[0]


@pytest.mark.parametrize("case", ["qwen3-5-mtp", "qwen3-next-mtp", "glm4-moe-mtp"])
def test_quantized_heads(case, tmp_path):
    """Groups of 32 in 4 bits, as in models that other programs have converted."""

    def is_quantized(name, array):
        return array.ndim == 2 and array.shape[1] % 32 == 0 and "gate." not in name and "experts." not in name

    def quantize(tensors, config):
        config["quantization"] = {"group_size": 32, "bits": 4}
        for name in head_of(tensors, config):
            if is_quantized(name, tensors[name]):
                weight, scales, biases = mx.quantize(tensors.pop(name), group_size=32, bits=4)
                base = name.removesuffix(".weight")
                tensors |= {f"{base}.weight": weight, f"{base}.scales": scales, f"{base}.biases": biases}
        return tensors

    def round_to_4_bits(tensors, config):
        for name in head_of(tensors, config):
            if is_quantized(name, tensors[name]):
                packed = mx.quantize(tensors[name], group_size=32, bits=4)
                tensors[name] = mx.dequantize(*packed, group_size=32, bits=4)
        return tensors

    found = load_folder(copied(case, tmp_path / "quantized", quantize)).model
    wanted = load_folder(copied(case, tmp_path / "rounded", round_to_4_bits)).model
    layers = dict(found.mtp.named_modules())
    assert "Quantized" in type(layers["fc"]).__name__
    assert "Quantized" in type(layers["layers.0.self_attn.q_proj"]).__name__
    assert mx.abs(predicted(found) - predicted(wanted)).max().item() < 1e-3
    assert mx.abs(predicted(found) - predicted(load_folder(REFERENCES / case).model)).max().item() > 1e-2


def inside_of_a_vision_model(tensors, config):
    """Change a text model to the form of Qwen's checkpoints, with a language model inside and experts in one tensor."""
    text = dict(config)
    config.clear()
    config |= {"model_type": text["model_type"].removesuffix("_text"), "text_config": text}
    for name in [name for name in tensors if ".mlp.experts.0.up_proj" in name]:
        owner = name.partition("experts.")[0] + "experts."
        each = {
            part: [tensors.pop(f"{owner}{expert}.{part}_proj.weight") for expert in range(text["num_experts"])]
            for part in ("gate", "up", "down")
        }
        tensors[f"{owner}gate_up_proj"] = mx.concatenate([mx.stack(each["gate"]), mx.stack(each["up"])], axis=1)
        tensors[f"{owner}down_proj"] = mx.stack(each["down"])
    found = {name.replace("model.", "model.language_model.", 1): tensors[name] for name in tensors}
    return {**found, "model.visual.patch_embed.weight": mx.zeros((2, 2))}


@pytest.mark.parametrize("case", ["qwen3-5-mtp", "qwen3-5-moe-mtp"])
def test_heads_of_models_with_vision(case, tmp_path):
    model = load_folder(copied(case, tmp_path / "model", inside_of_a_vision_model)).model
    assert mx.abs(predicted(model) - predicted(load_folder(REFERENCES / case).model)).max().item() < 1e-4

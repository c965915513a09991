"""From files to a model that computes what the files mean."""

import json
from collections import namedtuple
from pathlib import Path

import mlx.core as mx
import pytest
from mlx import nn
from mlx.utils import tree_flatten
from tokenizers import Tokenizer

from checkpoints import (
    LLAMA,
    QWEN3_MOE,
    TYPES,
    Watch,
    metadata_of,
    quantize,
    read_header,
    source_of,
    write_blob,
    write_tensors,
)
from material import material
from sotto.engine import device, loader, zoo
from sotto.errors import BrokenModelError, UnsupportedModelError

TOKENS = mx.array([[3, 99, 7, 42, 42, 11, 0, 158]])
TIED = LLAMA | {"tie_word_embeddings": True}
LATENT = LLAMA | {
    "model_type": "deepseek_v3",
    "architectures": ["DeepseekV3ForCausalLM"],
    "num_key_value_heads": 4,
    "moe_intermediate_size": 64,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "kv_lora_rank": 64,
    "q_lora_rank": 64,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 32,
    "v_head_dim": 32,
    "routed_scaling_factor": 1.0,
    "norm_topk_prob": True,
    "scoring_func": "sigmoid",
    "topk_method": "noaux_tc",
    "attention_bias": False,
    "rope_scaling": None,
}
HYBRID = {
    "model_type": "qwen3_5_moe",
    "architectures": ["Qwen3_5MoeForConditionalGeneration"],
    "tie_word_embeddings": False,
    "text_config": QWEN3_MOE
    | {
        "model_type": "qwen3_5_moe_text",
        "num_hidden_layers": 4,
        "shared_expert_intermediate_size": 64,
        "full_attention_interval": 4,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "partial_rotary_factor": 0.25,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25},
    },
}
INTERLEAVED = {
    "model_type": "gpt_oss",
    "architectures": ["GptOssForCausalLM"],
    "num_hidden_layers": 2,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "vocab_size": 160,
    "hidden_size": 64,
    "intermediate_size": 64,
    "head_dim": 16,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "sliding_window": 16,
    "layer_types": ["sliding_attention", "full_attention"],
    "max_position_embeddings": 256,
    "rope_theta": 150000,
    "rope_scaling": {
        "rope_type": "yarn",
        "factor": 32.0,
        "beta_fast": 32.0,
        "beta_slow": 1.0,
        "original_max_position_embeddings": 4096,
    },
    "quantization_config": {"quant_method": "mxfp4"},
}


def load(source, watch=None):
    watch = watch or Watch()
    return loader.load(source, progress=watch, cancelled=watch.cancelled)


def random_weights(config, seed=0):
    """Return weights of a model in the names and shapes of its definition."""
    mx.random.seed(seed)
    model, _ = zoo.build(config)
    return {
        name: mx.random.normal(array.shape) * (0.08 if array.ndim > 1 else 0.1) + (0 if array.ndim > 1 else 1)
        for name, array in tree_flatten(model.parameters())
    }


def logits_of(config, weights):
    """Return the logits of a model with these weights, which stand under the names of its definition."""
    model, _ = zoo.build(config)
    model.load_weights(list(weights.items()), strict=True)
    model.eval()
    return model(TOKENS)


def assert_same(model, expected, tolerance=2e-4):
    logits = model(TOKENS).astype(mx.float32)
    scale = mx.abs(expected).max().item()
    assert mx.abs(logits - expected).max().item() <= tolerance * max(scale, 1)
    assert mx.array_equal(mx.argmax(logits, -1), mx.argmax(expected, -1))


def is_matrix(name):
    return name.endswith("_proj.weight")


Checkpoint = namedtuple("Checkpoint", "files meant")


def quantized_checkpoint(folder, weights, kind, *, choose=is_matrix, metadata=True, dtype=mx.float32, factor=None):
    """Write one blob a tensor, those that `choose` picks quantized, and return what all of them mean."""
    files, meant = [], {}
    for name, weight in weights.items():
        weight = weight.astype(dtype)
        if choose(name):
            tensors, meant[name] = quantize(name, weight, kind, factor)
            files.append(write_blob(folder, tensors, metadata_of(kind) if metadata else None))
        else:
            files.append(write_blob(folder, {name: weight}))
            meant[name] = weight.astype(mx.float32)
    return Checkpoint(files, meant)


class TestOneBlobATensor:
    @pytest.mark.parametrize("metadata", [True, False])
    @pytest.mark.parametrize("kind", TYPES)
    def test_each_type(self, tmp_path, kind, metadata):
        checkpoint = quantized_checkpoint(tmp_path, random_weights(LLAMA), kind, metadata=metadata)
        watch = Watch()
        loaded = load(source_of(checkpoint.files, LLAMA), watch)
        assert_same(loaded.model, logits_of(LLAMA, checkpoint.meant))
        assert isinstance(loaded.model.layers[0].mlp.up_proj, nn.QuantizedLinear)
        total = sum(file.nbytes for file in checkpoint.files)
        assert [event.total for event in watch.events] == [total] * len(watch.events)
        done = [event.done for event in watch.events]
        assert done == sorted(done)
        assert done[-1] == total
        assert loaded.weight_bytes == total

    def test_types_may_differ_from_tensor_to_tensor(self, tmp_path):
        weights = random_weights(LLAMA)
        parts = [
            quantized_checkpoint(tmp_path, {n: w for n, w in weights.items() if (".mlp." in n) == mlp}, kind)
            for mlp, kind in ((True, "int4"), (False, "mxfp8"))
        ]
        loaded = load(source_of([file for part in parts for file in part.files], LLAMA))
        assert_same(loaded.model, logits_of(LLAMA, parts[0].meant | parts[1].meant))

    @pytest.mark.parametrize("config", [LLAMA, TIED], ids=["own output layer", "tied"])
    @pytest.mark.parametrize("kind", TYPES)
    def test_embeddings_and_output_layers(self, tmp_path, kind, config):
        checkpoint = quantized_checkpoint(
            tmp_path, random_weights(config), kind, choose=lambda name: "norm" not in name
        )
        assert_same(load(source_of(checkpoint.files, config)).model, logits_of(config, checkpoint.meant))

    def test_global_scales(self, tmp_path):
        checkpoint = quantized_checkpoint(
            tmp_path, random_weights(TIED), "nvfp4", choose=lambda name: "norm" not in name, factor=0.5
        )
        assert_same(load(source_of(checkpoint.files, TIED)).model, logits_of(TIED, checkpoint.meant))

    def test_an_output_layer_that_tied_embeddings_make_useless_is_dropped_with_its_scales(self, tmp_path):
        weights = random_weights(TIED)
        checkpoint = quantized_checkpoint(tmp_path, weights, "int4")
        tensors, _ = quantize("lm_head.weight", weights["model.embed_tokens.weight"], "int4")
        files = [*checkpoint.files, write_blob(tmp_path, tensors, metadata_of("int4"))]
        assert_same(load(source_of(files, TIED)).model, logits_of(TIED, checkpoint.meant))

    def test_biases_of_layers_are_not_taken_for_those_of_scales(self, tmp_path):
        config = LLAMA | {"attention_bias": True}
        checkpoint = quantized_checkpoint(tmp_path, random_weights(config), "int4")
        assert_same(load(source_of(checkpoint.files, config)).model, logits_of(config, checkpoint.meant))


class TestExperts:
    @staticmethod
    def split(weights):
        """Return the weights of experts by the part of their name before the projection, and the others."""
        experts = {name: weight for name, weight in weights.items() if ".switch_mlp." in name}
        return experts, {name: weight for name, weight in weights.items() if name not in experts}

    @pytest.mark.parametrize("kind", TYPES)
    def test_stacked_by_projection_in_one_blob_a_layer(self, tmp_path, kind):
        experts, others = self.split(random_weights(QWEN3_MOE))
        checkpoint = quantized_checkpoint(tmp_path, others, kind)
        for layer in range(2):
            group = {}
            for name in [name for name in experts if f"layers.{layer}." in name]:
                tensors, checkpoint.meant[name] = quantize(name.replace("switch_mlp", "experts"), experts[name], kind)
                group |= tensors
            checkpoint.files.append(write_blob(tmp_path, group, metadata_of(kind)))
        loaded = load(source_of(checkpoint.files, QWEN3_MOE))
        assert_same(loaded.model, logits_of(QWEN3_MOE, checkpoint.meant))

    def test_mixed_types_in_one_blob(self, tmp_path):
        experts, others = self.split(random_weights(QWEN3_MOE))
        checkpoint = quantized_checkpoint(tmp_path, others, "int4")
        group, metadata = {}, {}
        for name in experts:
            kind, blob_name = ("int8" if "down" in name else "int4"), name.replace("switch_mlp", "experts")
            tensors, checkpoint.meant[name] = quantize(blob_name, experts[name], kind)
            group |= tensors
            metadata |= {f"{blob_name}.{key}": value for key, value in metadata_of(kind).items()}
        checkpoint.files.append(write_blob(tmp_path, group, metadata))
        assert_same(load(source_of(checkpoint.files, QWEN3_MOE)).model, logits_of(QWEN3_MOE, checkpoint.meant))

    def test_plain_ones_that_are_already_stacked(self, tmp_path):
        weights = random_weights(QWEN3_MOE)
        files = [write_blob(tmp_path, {name.replace("switch_mlp", "experts"): w}) for name, w in weights.items()]
        assert_same(load(source_of(files, QWEN3_MOE)).model, logits_of(QWEN3_MOE, weights))

    def test_plain_ones_apart(self, tmp_path):
        experts, others = self.split(random_weights(QWEN3_MOE))
        tensors = dict(others)
        for name, stacked in experts.items():
            for index in range(4):
                tensors[name.replace("switch_mlp", f"experts.{index}")] = stacked[index]
        write_tensors(tmp_path / "model.safetensors", tensors)
        source = source_of([read_header(tmp_path / "model.safetensors")], QWEN3_MOE)
        assert_same(load(source).model, logits_of(QWEN3_MOE, experts | others))

    @pytest.mark.parametrize(("kind", "factors"), [("int4", None), ("mxfp4", None), ("nvfp4", (0.5, 1.0, 2.0, 0.25))])
    def test_quantized_ones_apart(self, tmp_path, kind, factors):
        experts, others = self.split(random_weights(QWEN3_MOE))
        checkpoint = quantized_checkpoint(tmp_path, others, kind)
        for name, stacked in experts.items():
            meant = []
            for index in range(4):
                blob_name = name.replace("switch_mlp", f"experts.{index}")
                tensors, one = quantize(blob_name, stacked[index], kind, factors and factors[index])
                meant.append(one)
                checkpoint.files.append(write_blob(tmp_path, tensors, metadata_of(kind)))
            checkpoint.meant[name] = mx.stack(meant)
        assert_same(load(source_of(checkpoint.files, QWEN3_MOE)).model, logits_of(QWEN3_MOE, checkpoint.meant))

    @pytest.mark.parametrize("kind", [None, *TYPES])
    def test_fused_ones_beside_raw_convolutions_and_shifted_norms(self, tmp_path, kind):
        """Qwen3.5: the definition takes the raw layout of the convolution for a sign that norms need 1 added."""
        weights = random_weights(HYBRID)
        raw, meant = {}, dict(weights)
        for name, weight in weights.items():
            raw_name = name.replace("language_model.model.", "model.language_model.").replace("language_model.lm", "lm")
            if name.endswith("conv1d.weight"):
                raw[raw_name] = weight.moveaxis(1, 2)
            elif name.endswith("norm.weight") and "linear_attn" not in name:
                raw[raw_name] = weight - 1
            elif ".switch_mlp.gate_proj" in name:
                fused = mx.concatenate([weight, weights[name.replace("gate_proj", "up_proj")]], axis=-2)
                raw[raw_name.replace("switch_mlp.gate_proj.weight", "experts.gate_up_proj")] = fused
            elif ".switch_mlp.down_proj" in name:
                raw[raw_name.replace("switch_mlp.down_proj.weight", "experts.down_proj")] = weight
            elif ".switch_mlp.up_proj" not in name:
                raw[raw_name] = weight
        files = []
        for raw_name, weight in raw.items():
            if kind is None or ".experts." not in raw_name:
                files.append(write_blob(tmp_path, {raw_name: weight}))
                continue
            tensors, whole = quantize(raw_name, weight, kind)
            files.append(write_blob(tmp_path, tensors, metadata_of(kind)))
            name = raw_name.replace("model.language_model.", "language_model.model.") + ".weight"
            if "gate_up_proj" in name:
                halves = mx.split(whole, 2, axis=-2)
                for projection, half in zip(("gate_proj", "up_proj"), halves, strict=True):
                    meant[name.replace("experts.gate_up_proj", f"switch_mlp.{projection}")] = half
            else:
                meant[name.replace("experts.", "switch_mlp.")] = whole
        model = load(source_of(files, HYBRID)).model
        assert_same(model, logits_of(HYBRID, meant))
        assert all(memoryview(array).c_contiguous for _, array in tree_flatten(model.parameters()))

    @pytest.mark.skipif(device.device() != "cpu", reason="only the CPU widens")
    def test_norms_are_shifted_without_rounding(self, tmp_path):
        weights = random_weights(HYBRID)
        norm = (weights["language_model.model.norm.weight"] - 1).astype(mx.bfloat16)
        raw = weights | {"language_model.model.norm.weight": norm}
        for name in [name for name in raw if name.endswith("conv1d.weight")]:
            raw[name] = raw[name].moveaxis(1, 2)
        write_tensors(tmp_path / "model.safetensors", raw)
        loaded = load(source_of([read_header(tmp_path / "model.safetensors")], HYBRID))
        assert mx.array_equal(loaded.model.language_model.model.norm.weight, norm.astype(mx.float32) + 1)


class TestLatentAttention:
    @pytest.mark.parametrize("kind", ["int4", "int8", "mxfp4", "nvfp4"])
    def test_the_matrix_that_is_split_means_what_it_did(self, tmp_path, kind):
        weights = random_weights(LATENT)
        raw = {name: w for name, w in weights.items() if "embed_q" not in name and "unembed_out" not in name}
        for layer in range(2):
            prefix = f"model.layers.{layer}.self_attn"
            keys = weights[f"{prefix}.embed_q.weight"].swapaxes(-1, -2)
            both = mx.concatenate([keys, weights[f"{prefix}.unembed_out.weight"]], axis=1)
            raw[f"{prefix}.kv_b_proj.weight"] = both.reshape(-1, both.shape[-1])
        checkpoint = quantized_checkpoint(
            tmp_path, raw, kind, choose=lambda name: is_matrix(name) and "kv_a_proj" not in name
        )
        meant = dict(checkpoint.meant)
        for layer in range(2):
            prefix = f"model.layers.{layer}.self_attn"
            both = meant.pop(f"{prefix}.kv_b_proj.weight").reshape(4, 64, 64)
            meant[f"{prefix}.embed_q.weight"] = both[:, :32].swapaxes(-1, -2)
            meant[f"{prefix}.unembed_out.weight"] = both[:, 32:]
        # In bfloat16 the fp4 types would round here; their values fit exactly, so a small difference shows an error.
        assert_same(load(source_of(checkpoint.files, LATENT)).model, logits_of(LATENT, meant), 1e-3)


class TestFolders:
    def test_the_interleaved_mxfp4_of_gpt_oss(self, tmp_path):
        weights = random_weights(INTERLEAVED)
        raw, meant = {}, dict(weights)
        for name, weight in weights.items():
            base = name.rpartition(".")[0]
            if ".experts." not in name:
                raw[name] = weight
            elif "up_proj" in name:
                continue
            elif name.endswith("bias"):
                up = weights[name.replace("gate_proj", "up_proj")]
                fused = mx.stack([weight, up], axis=-1).flatten(-2) if "gate_proj" in name else weight
                raw[base.replace("gate_proj", "gate_up_proj") + "_bias"] = fused
            else:
                up = weights[name.replace("gate_proj", "up_proj")]
                fused = mx.stack([weight, up], axis=2).flatten(1, 2) if "gate_proj" in name else weight
                words, scales = mx.quantize(fused, mode="mxfp4")
                base = base.replace("gate_proj", "gate_up_proj")
                raw |= {f"{base}_blocks": words.view(mx.uint8).reshape(*scales.shape, 16), f"{base}_scales": scales}
                whole = mx.dequantize(words, scales, mode="mxfp4").astype(mx.float32)
                if "gate_proj" in name:
                    meant |= {name: whole[:, ::2], name.replace("gate_proj", "up_proj"): whole[:, 1::2]}
                else:
                    meant[name] = whole
        write_tensors(tmp_path / "model.safetensors", raw)
        loaded = load(source_of([read_header(tmp_path / "model.safetensors")], INTERLEAVED))
        assert_same(loaded.model, logits_of(INTERLEAVED, meant))

    def test_what_mlx_itself_quantizes_and_saves(self, tmp_path):
        weights = random_weights(LLAMA)
        model, _ = zoo.build(LLAMA)
        model.load_weights(list(weights.items()))
        widths = iter([2, 3, 4, 5, 6, 8] * 4)
        overrides = {}

        def choose(path, module):
            if not hasattr(module, "to_quantized") or path == "lm_head":
                overrides[path] = False
                return False
            overrides[path] = {"group_size": 32, "bits": next(widths)}
            return dict(overrides[path])

        nn.quantize(model, class_predicate=choose)
        expected = model(TOKENS)
        parameters = dict(tree_flatten(model.parameters()))
        half = len(parameters) // 2
        for index, names in enumerate((list(parameters)[:half], list(parameters)[half:])):
            mx.save_safetensors(
                str(tmp_path / f"model-{index}.safetensors"),
                {name: parameters[name] for name in names},
                {"format": "mlx"},
            )
        config = LLAMA | {"quantization": {"group_size": 64, "bits": 4} | overrides}
        loaded = load(source_of([read_header(path) for path in sorted(tmp_path.iterdir())], config))
        assert_same(loaded.model, expected, 1e-5)
        assert {module.bits for _, module in loaded.model.named_modules() if hasattr(module, "bits")} == {
            2,
            3,
            4,
            5,
            6,
            8,
        }

    @pytest.mark.parametrize("config", [QWEN3_MOE, LATENT, HYBRID], ids=lambda config: config["model_type"])
    @pytest.mark.parametrize("kind", TYPES)
    def test_families_as_mlx_saves_them(self, tmp_path, config, kind):
        model, _ = zoo.build(config)
        model.load_weights(list(random_weights(config).items()))
        mode, bits, group_size = TYPES[kind]
        nn.quantize(model, mode=mode, bits=bits, group_size=min(group_size, 32))
        expected = model(TOKENS)
        write_tensors(tmp_path / "model.safetensors", dict(tree_flatten(model.parameters())))
        loaded = load(source_of([read_header(tmp_path / "model.safetensors")], config))
        # MLX looks quantized embeddings up in bfloat16, which the fp4 types fit into; what follows is rounded there.
        assert_same(loaded.model, expected, 1e-3)

    def test_global_scales_as_mlx_states_them(self, tmp_path):
        weights = random_weights(QWEN3_MOE)
        meant, tensors = dict(weights), {}
        for name, weight in weights.items():
            if ".switch_mlp." not in name:
                tensors[name] = weight
                continue
            largest = mx.abs(weight).max(axis=(-2, -1))
            pairs = [mx.quantize(weight[i], mode="nvfp4", global_scale=largest[i]) for i in range(4)]
            base = name.removesuffix(".weight")
            tensors |= {
                f"{base}.weight": mx.stack([w for w, _ in pairs]),
                f"{base}.scales": mx.stack([s for _, s in pairs]),
            }
            tensors[f"{base}.global_scale"] = largest
            meant[name] = mx.stack(
                [
                    mx.dequantize(w, s, mode="nvfp4", global_scale=largest[i], dtype=mx.float32)
                    for i, (w, s) in enumerate(pairs)
                ]
            )
        write_tensors(tmp_path / "model.safetensors", tensors)
        loaded = load(source_of([read_header(tmp_path / "model.safetensors")], QWEN3_MOE))
        assert_same(loaded.model, logits_of(QWEN3_MOE, meant))

    @pytest.mark.parametrize("dtype", [mx.bfloat16, mx.float16])
    def test_half_precision_is_computed_in_the_type_of_the_device(self, tmp_path, dtype):
        weights = {name: array.astype(dtype) for name, array in random_weights(LLAMA).items()}
        write_tensors(tmp_path / "model.safetensors", weights)
        loaded = load(source_of([read_header(tmp_path / "model.safetensors")], LLAMA))
        computed = device.compute_dtype() or dtype
        assert loaded.compute_type == str(computed).removeprefix("mlx.core.")
        assert loaded.model(TOKENS).dtype == computed
        assert {array.dtype for _, array in tree_flatten(loaded.model.parameters())} == {computed}
        assert_same(loaded.model, logits_of(LLAMA, {name: w.astype(mx.float32) for name, w in weights.items()}))

    @pytest.mark.skipif(device.device() != "cpu", reason="only the CPU widens")
    @pytest.mark.parametrize("kind", [None, "int4", "mxfp4"])
    def test_matrices_stay_half_where_memory_is_short(self, tmp_path, kind, monkeypatch):
        checkpoint = quantized_checkpoint(
            tmp_path,
            random_weights(TIED),
            kind or "int4",
            choose=lambda n: bool(kind) and is_matrix(n),
            dtype=mx.bfloat16,
        )
        memory = namedtuple("memory", "total available")(2**40, sum(file.nbytes for file in checkpoint.files))
        monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
        loaded = load(source_of(checkpoint.files, TIED))
        types = {name: array.dtype for name, array in tree_flatten(loaded.model.parameters())}
        assert types["model.embed_tokens.weight"] == mx.bfloat16
        assert types["model.norm.weight"] == mx.float32
        assert all(dtype == mx.float32 for name, dtype in types.items() if name.endswith((".biases",)))
        assert loaded.model(TOKENS).dtype == mx.float32
        assert_same(loaded.model, logits_of(TIED, checkpoint.meant), 1e-3)


class TestRefusals:
    @pytest.fixture
    def weights(self):
        return random_weights(LLAMA)

    @staticmethod
    def load(folder, weights, config=LLAMA, metadata=None, **keywords):
        write_tensors(folder / "model.safetensors", weights, metadata)
        return load(source_of([read_header(folder / "model.safetensors")], config, **keywords))

    def test_what_no_layer_takes_is_named(self, tmp_path, weights):
        extra = {f"model.layers.0.mlp.extra{index}.weight": mx.zeros((2,)) for index in range(5)}
        with pytest.raises(UnsupportedModelError, match=r"extra0.*extra1.*extra2\.weight and 2 more tensors, which"):
            self.load(tmp_path, weights | extra)

    def test_what_is_missing_is_named(self, tmp_path, weights):
        del weights["model.layers.1.mlp.up_proj.weight"]
        with pytest.raises(BrokenModelError, match=r"lack model\.layers\.1\.mlp\.up_proj\.weight, which config"):
            self.load(tmp_path, weights)

    def test_missing_experts_are_named(self, tmp_path):
        weights = random_weights(QWEN3_MOE)
        stacked = weights.pop("model.layers.0.mlp.switch_mlp.up_proj.weight")
        weights["model.layers.0.mlp.experts.0.up_proj.weight"] = stacked[0]
        with pytest.raises(UnsupportedModelError, match=r"not laid out as .*: it lacks .*experts\.1\.up_proj"):
            self.load(tmp_path, weights, QWEN3_MOE)

    def test_a_shape_that_config_does_not_call_for(self, tmp_path, weights):
        weights["model.norm.weight"] = mx.ones((65,))
        with pytest.raises(BrokenModelError, match=r"model\.norm\.weight is 65, but config\.json calls for 64"):
            self.load(tmp_path, weights)

    def test_packed_words_without_scales(self, tmp_path, weights):
        name = "model.layers.0.mlp.up_proj.weight"
        weights[name] = mx.zeros(weights[name].shape, mx.uint32)
        with pytest.raises(UnsupportedModelError, match=r"up_proj\.weight is stored as uint32 without scales"):
            self.load(tmp_path, weights)

    def test_metadata_that_contradicts_the_shape(self, tmp_path, weights):
        name = "model.layers.0.mlp.up_proj.weight"
        tensors, _ = quantize(name, weights.pop(name), "int4")
        with pytest.raises(BrokenModelError, match=rf"The file of {name} says .* int8 in groups of 32, but .* int4"):
            self.load(tmp_path, weights | tensors, metadata={"quant_type": "int8", "group_size": "32"})

    def test_metadata_that_contradicts_a_matrix_that_is_split(self, tmp_path):
        weights = random_weights(LATENT)
        name = "model.layers.0.self_attn.kv_b_proj.weight"
        tensors, _ = quantize(name, mx.zeros((256, 64)), "int4")
        with pytest.raises(BrokenModelError, match=f"The file of {name} says"):
            self.load(tmp_path, weights | tensors, LATENT, {"quant_type": "int8", "group_size": "32"})

    def test_a_tensor_under_two_names(self, tmp_path, weights):
        name = "model.layers.0.mlp.up_proj.weight"
        tensors, _ = quantize(name, weights.pop(name), "int4")
        scales = {name.replace("weight", "scales"): mx.zeros((2,))}
        with pytest.raises(BrokenModelError, match="under two names"):
            self.load(tmp_path, weights | tensors | scales)

    def test_weights_that_no_memory_of_this_machine_can_hold(self, tmp_path, weights, monkeypatch):
        monkeypatch.setattr(device, "total_memory", lambda: 1000)
        with pytest.raises(UnsupportedModelError, match=r"The weights take 0\.0 GB and there are only 0\.0 GB"):
            self.load(tmp_path, weights)

    def test_a_draft_is_not_loaded(self, tmp_path, weights):
        drafts = {f"draft.{name}": mx.zeros((2,)) for name in weights}
        loaded = self.load(tmp_path, weights | drafts, draft_prefix="draft.")
        assert_same(loaded.model, logits_of(LLAMA, weights))

    def test_an_architecture_that_cannot_run_is_refused_before_anything_is_read(self, tmp_path, weights):
        with pytest.raises(UnsupportedModelError):
            self.load(tmp_path, weights, LLAMA | {"model_type": "no_such_thing", "architectures": ["NoSuchThing"]})


@pytest.fixture
def tokenizer():
    return Tokenizer.from_file(str(material("stories260k", "tokenizer.json")))


@pytest.fixture
def stories():
    return json.loads(material("stories260k", "expected.json").read_text(encoding="utf-8"))


class TestRealModels:
    @staticmethod
    def tokens(model, prompt, steps):
        """Return the likeliest continuation of BOS and a prompt, up to token 1 or 2."""
        from mlx_lm.models.cache import KVCache

        cache, drawn = [KVCache() for _ in model.layers], []
        following = mx.array([[1, *prompt]])
        while len(prompt) + len(drawn) < steps:
            token = int(mx.argmax(model(following, cache=cache)[0, -1]))
            if token in (1, 2):
                break
            drawn.append(token)
            following = mx.array([[token]])
        return drawn

    @staticmethod
    def tag(tag):
        """Open a tag of the store that Ollama wrote."""
        root = material("ollama-store")
        manifest = json.loads((root / "manifests/registry.ollama.ai/library/stories260k-mlx" / tag).read_text())
        files, config = [], {}
        for layer in manifest["layers"]:
            path = root / "blobs" / layer["digest"].replace(":", "-")
            if layer["mediaType"].endswith(".tensor"):
                files.append(read_header(path, layer["digest"]))
            elif layer.get("name") == "config.json":
                config = json.loads(path.read_text())
        return source_of(files, config)

    @pytest.mark.parametrize("where", ["folder", "store"])
    def test_a_plain_model_tells_the_story_token_for_token(self, where, tokenizer, stories):
        folder = material("stories260k")
        if where == "store":
            source = self.tag("latest")
        else:
            config = json.loads((folder / "config.json").read_text())
            source = source_of([read_header(folder / "model.safetensors")], config)
        model = load(source).model
        for story in stories:
            prompt = tokenizer.encode(story["prompt"], add_special_tokens=False).ids
            drawn = self.tokens(model, prompt, story["steps"])
            assert tokenizer.decode(prompt + drawn) == story["text"]

    @pytest.mark.parametrize("kind", TYPES)
    def test_a_quantized_model_tells_what_its_dequantized_weights_tell(self, kind, tokenizer, stories):
        source = self.tag(kind)
        quantized = load(source)
        assert any(hasattr(layer, "bits") for _, layer in quantized.model.named_modules())
        meant = {}
        for file in source.tensor_files:
            tensors = mx.load(str(file.path), format="safetensors")
            for name in [name for name in tensors if name.endswith(".weight")]:
                if (scales := tensors.get(f"{name}.scale")) is None:
                    meant[name] = tensors[name]
                else:
                    mode, bits, group_size = TYPES[file.metadata["quant_type"]]
                    meant[name] = mx.dequantize(
                        tensors[name],
                        scales,
                        tensors.get(f"{name}.bias"),
                        mode=mode,
                        bits=bits,
                        group_size=group_size,
                    ).astype(mx.float32)
        reference, _ = zoo.build(source.config)
        reference.load_weights(list(meant.items()), strict=True)
        for story in stories:
            prompt = tokenizer.encode(story["prompt"], add_special_tokens=False).ids
            told = self.tokens(quantized.model, prompt, story["steps"])
            assert told == self.tokens(reference, prompt, story["steps"])
            whole = mx.array([[1, *prompt, *told]])
            difference = mx.abs(quantized.model(whole) - reference(whole)).max().item()
            assert difference < 1e-3


def test_the_helpers_write_what_mlx_reads(tmp_path):
    """A mistake in the files that these tests write must not hide one in the loader."""
    tensors = {"a": mx.arange(6, dtype=mx.float32).reshape(2, 3), "b": mx.array([1.5, -2.0], mx.bfloat16)}
    path = Path(tmp_path / "x.safetensors")
    write_tensors(path, tensors, {"k": "v"})
    read, metadata = mx.load(str(path), return_metadata=True)
    assert metadata == {"k": "v"}
    assert all(
        mx.array_equal(read[name], tensors[name]) and read[name].dtype == tensors[name].dtype for name in tensors
    )

"""Loading models from the blobs of a store, checked by their logits."""

import mlx.core as mx
import pytest
from mlx import nn
from mlx.utils import tree_flatten

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
from loading import (
    HYBRID,
    LATENT,
    TIED,
    assert_same,
    is_matrix,
    load,
    logits_of,
    quantized_checkpoint,
    random_weights,
)
from sotto.engine.kernels import device


class TestOneBlobPerTensor:
    @pytest.mark.parametrize("metadata", [True, False])
    @pytest.mark.parametrize("kind", TYPES)
    def test_each_type(self, tmp_path, kind, metadata):
        checkpoint = quantized_checkpoint(tmp_path, random_weights(LLAMA), kind, metadata=metadata)
        watch = Watch()
        loaded = load(source_of(checkpoint.files, LLAMA), watch)
        assert_same(loaded.model, logits_of(LLAMA, checkpoint.weights))
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
        assert_same(loaded.model, logits_of(LLAMA, parts[0].weights | parts[1].weights))

    @pytest.mark.parametrize("config", [LLAMA, TIED], ids=["own output layer", "tied"])
    @pytest.mark.parametrize("kind", TYPES)
    def test_embeddings_and_output_layers(self, tmp_path, kind, config):
        checkpoint = quantized_checkpoint(
            tmp_path, random_weights(config), kind, choose=lambda name: "norm" not in name
        )
        assert_same(load(source_of(checkpoint.files, config)).model, logits_of(config, checkpoint.weights))

    def test_global_scales(self, tmp_path):
        checkpoint = quantized_checkpoint(
            tmp_path, random_weights(TIED), "nvfp4", choose=lambda name: "norm" not in name, factor=0.5
        )
        assert_same(load(source_of(checkpoint.files, TIED)).model, logits_of(TIED, checkpoint.weights))

    def test_an_unused_output_layer_beside_tied_embeddings_is_dropped_with_its_scales(self, tmp_path):
        weights = random_weights(TIED)
        checkpoint = quantized_checkpoint(tmp_path, weights, "int4")
        tensors, _ = quantize("lm_head.weight", weights["model.embed_tokens.weight"], "int4")
        files = [*checkpoint.files, write_blob(tmp_path, tensors, metadata_of("int4"))]
        assert_same(load(source_of(files, TIED)).model, logits_of(TIED, checkpoint.weights))

    def test_biases_of_layers_are_not_mistaken_for_biases_of_scales(self, tmp_path):
        config = LLAMA | {"attention_bias": True}
        checkpoint = quantized_checkpoint(tmp_path, random_weights(config), "int4")
        assert_same(load(source_of(checkpoint.files, config)).model, logits_of(config, checkpoint.weights))


class TestExperts:
    @staticmethod
    def split(weights):
        """Return the weights of experts and the other weights, by name."""
        experts = {name: weight for name, weight in weights.items() if ".switch_mlp." in name}
        return experts, {name: weight for name, weight in weights.items() if name not in experts}

    @pytest.mark.parametrize("kind", TYPES)
    def test_experts_stacked_by_projection_in_one_blob_per_layer(self, tmp_path, kind):
        experts, others = self.split(random_weights(QWEN3_MOE))
        checkpoint = quantized_checkpoint(tmp_path, others, kind)
        for layer in range(2):
            group = {}
            for name in [name for name in experts if f"layers.{layer}." in name]:
                tensors, checkpoint.weights[name] = quantize(name.replace("switch_mlp", "experts"), experts[name], kind)
                group |= tensors
            checkpoint.files.append(write_blob(tmp_path, group, metadata_of(kind)))
        loaded = load(source_of(checkpoint.files, QWEN3_MOE))
        assert_same(loaded.model, logits_of(QWEN3_MOE, checkpoint.weights))

    def test_mixed_types_in_one_blob(self, tmp_path):
        experts, others = self.split(random_weights(QWEN3_MOE))
        checkpoint = quantized_checkpoint(tmp_path, others, "int4")
        group, metadata = {}, {}
        for name in experts:
            kind, blob_name = ("int8" if "down" in name else "int4"), name.replace("switch_mlp", "experts")
            tensors, checkpoint.weights[name] = quantize(blob_name, experts[name], kind)
            group |= tensors
            metadata |= {f"{blob_name}.{key}": value for key, value in metadata_of(kind).items()}
        checkpoint.files.append(write_blob(tmp_path, group, metadata))
        assert_same(load(source_of(checkpoint.files, QWEN3_MOE)).model, logits_of(QWEN3_MOE, checkpoint.weights))

    def test_plain_experts_that_are_already_stacked(self, tmp_path):
        weights = random_weights(QWEN3_MOE)
        files = [write_blob(tmp_path, {name.replace("switch_mlp", "experts"): w}) for name, w in weights.items()]
        assert_same(load(source_of(files, QWEN3_MOE)).model, logits_of(QWEN3_MOE, weights))

    def test_plain_experts_stored_separately(self, tmp_path):
        experts, others = self.split(random_weights(QWEN3_MOE))
        tensors = dict(others)
        for name, stacked in experts.items():
            for index in range(4):
                tensors[name.replace("switch_mlp", f"experts.{index}")] = stacked[index]
        write_tensors(tmp_path / "model.safetensors", tensors)
        source = source_of([read_header(tmp_path / "model.safetensors")], QWEN3_MOE)
        assert_same(load(source).model, logits_of(QWEN3_MOE, experts | others))

    @pytest.mark.parametrize(("kind", "factors"), [("int4", None), ("mxfp4", None), ("nvfp4", (0.5, 1.0, 2.0, 0.25))])
    def test_quantized_experts_stored_separately(self, tmp_path, kind, factors):
        experts, others = self.split(random_weights(QWEN3_MOE))
        checkpoint = quantized_checkpoint(tmp_path, others, kind)
        for name, stacked in experts.items():
            expected = []
            for index in range(4):
                blob_name = name.replace("switch_mlp", f"experts.{index}")
                tensors, one = quantize(blob_name, stacked[index], kind, factors and factors[index])
                expected.append(one)
                checkpoint.files.append(write_blob(tmp_path, tensors, metadata_of(kind)))
            checkpoint.weights[name] = mx.stack(expected)
        assert_same(load(source_of(checkpoint.files, QWEN3_MOE)).model, logits_of(QWEN3_MOE, checkpoint.weights))

    @pytest.mark.parametrize("kind", [None, *TYPES])
    def test_fused_experts_beside_raw_convolutions_and_shifted_norms(self, tmp_path, kind):
        """Load Qwen3.5, whose definition takes raw convolutions as a sign that 1 must be added to norms."""
        weights = random_weights(HYBRID)
        raw, expected = {}, dict(weights)
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
                    expected[name.replace("experts.gate_up_proj", f"switch_mlp.{projection}")] = half
            else:
                expected[name.replace("experts.", "switch_mlp.")] = whole
        model = load(source_of(files, HYBRID)).model
        assert_same(model, logits_of(HYBRID, expected))
        assert all(memoryview(array).c_contiguous for _, array in tree_flatten(model.parameters()))

    @pytest.mark.skipif(device.device() != "cpu", reason="weights are widened on the CPU only")
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
    def test_a_matrix_that_is_split_keeps_its_values(self, tmp_path, kind):
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
        expected = dict(checkpoint.weights)
        for layer in range(2):
            prefix = f"model.layers.{layer}.self_attn"
            both = expected.pop(f"{prefix}.kv_b_proj.weight").reshape(4, 64, 64)
            expected[f"{prefix}.embed_q.weight"] = both[:, :32].swapaxes(-1, -2)
            expected[f"{prefix}.unembed_out.weight"] = both[:, 32:]
        # The values of the fp4 types are represented exactly here, but would be rounded in bfloat16.
        assert_same(load(source_of(checkpoint.files, LATENT)).model, logits_of(LATENT, expected), 1e-3)

"""Loading folders with safetensors files, as MLX and others save them, checked by the models' logits."""

from pathlib import Path

import mlx.core as mx
import pytest
from mlx import nn
from mlx.utils import tree_flatten

from checkpoints import (
    LLAMA,
    QWEN3_MOE,
    TYPES,
    read_header,
    source_of,
    write_tensors,
)
from loading import (
    HYBRID,
    INTERLEAVED,
    LATENT,
    TIED,
    TOKENS,
    assert_same,
    is_matrix,
    load,
    logits_of,
    quantized_checkpoint,
    random_weights,
)
from sotto.engine.architectures import zoo
from sotto.engine.kernels import device, native, native_products
from sotto.engine.memory.memory_plan import Limits


class TestFolders:
    def test_the_interleaved_mxfp4_of_gpt_oss(self, tmp_path):
        weights = random_weights(INTERLEAVED)
        raw, expected = {}, dict(weights)
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
                    expected |= {name: whole[:, ::2], name.replace("gate_proj", "up_proj"): whole[:, 1::2]}
                else:
                    expected[name] = whole
        write_tensors(tmp_path / "model.safetensors", raw)
        loaded = load(source_of([read_header(tmp_path / "model.safetensors")], INTERLEAVED))
        assert_same(loaded.model, logits_of(INTERLEAVED, expected))

    def test_a_model_that_mlx_quantized_and_saved(self, tmp_path):
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
        found = {module.bits for _, module in loaded.model.named_modules() if hasattr(module, "bits")}
        # The native kernels have products for two of these; the others are held in them.
        assert found == ({4, 8} if native.kernels() else {2, 3, 4, 5, 6, 8})

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
        # MLX looks up quantized embeddings in bfloat16, exactly for the fp4 types, and then computes in bfloat16.
        assert_same(loaded.model, expected, 1e-3)

    def test_global_scales_in_the_form_of_mlx(self, tmp_path):
        weights = random_weights(QWEN3_MOE)
        expected, tensors = dict(weights), {}
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
            expected[name] = mx.stack(
                [
                    mx.dequantize(w, s, mode="nvfp4", global_scale=largest[i], dtype=mx.float32)
                    for i, (w, s) in enumerate(pairs)
                ]
            )
        write_tensors(tmp_path / "model.safetensors", tensors)
        loaded = load(source_of([read_header(tmp_path / "model.safetensors")], QWEN3_MOE))
        assert_same(loaded.model, logits_of(QWEN3_MOE, expected))

    @pytest.mark.parametrize("dtype", [mx.bfloat16, mx.float16])
    def test_half_precision_is_computed_in_the_type_of_the_device(self, tmp_path, dtype):
        weights = {name: array.astype(dtype) for name, array in random_weights(LLAMA).items()}
        write_tensors(tmp_path / "model.safetensors", weights)
        loaded = load(source_of([read_header(tmp_path / "model.safetensors")], LLAMA))
        computed = device.compute_dtype() or dtype
        assert loaded.compute_type == str(computed).removeprefix("mlx.core.")
        assert loaded.model(TOKENS).dtype == computed
        kept = native_products.as_stored(loaded.model) if native.kernels() else set()
        types = {name: array.dtype for name, array in tree_flatten(loaded.model.parameters())}
        assert types == {name: dtype if name in kept else computed for name in types}
        assert_same(loaded.model, logits_of(LLAMA, {name: w.astype(mx.float32) for name, w in weights.items()}))

    @pytest.mark.skipif(device.device() != "cpu", reason="weights are widened on the CPU only")
    @pytest.mark.parametrize("kind", [None, "int4", "mxfp4"])
    def test_matrices_stay_in_half_precision_if_memory_is_short(self, tmp_path, kind):
        checkpoint = quantized_checkpoint(
            tmp_path,
            random_weights(TIED),
            kind or "int4",
            choose=lambda n: bool(kind) and is_matrix(n),
            dtype=mx.bfloat16,
        )
        limits = Limits(sum(file.nbytes for file in checkpoint.files), 2**40, "a control group")
        loaded = load(source_of(checkpoint.files, TIED), limits=limits)
        types = {name: array.dtype for name, array in tree_flatten(loaded.model.parameters())}
        assert types["model.embed_tokens.weight"] == mx.bfloat16
        assert types["model.norm.weight"] == mx.float32
        kept = native_products.as_stored(loaded.model) if native.kernels() else set()
        assert all(types[name] == mx.float32 for name in types.keys() - kept if name.endswith(".biases"))
        assert loaded.model(TOKENS).dtype == mx.float32
        assert_same(loaded.model, logits_of(TIED, checkpoint.weights), 1e-3)


def test_the_helpers_write_what_mlx_reads(tmp_path):
    """Check the helpers, because a mistake in them could hide one in the loader."""
    tensors = {"a": mx.arange(6, dtype=mx.float32).reshape(2, 3), "b": mx.array([1.5, -2.0], mx.bfloat16)}
    path = Path(tmp_path / "x.safetensors")
    write_tensors(path, tensors, {"k": "v"})
    read, metadata = mx.load(str(path), return_metadata=True)
    assert metadata == {"k": "v"}
    assert all(
        mx.array_equal(read[name], tensors[name]) and read[name].dtype == tensors[name].dtype for name in tensors
    )

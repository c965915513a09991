"""Models as llama.cpp's own converter writes them: their logits are those of transformers.

The files are made by packaging/references/make_gguf.py.
"""

import gguf
import mlx.core as mx
import numpy as np
import pytest

from loading import PLENTY, load
from places import CONVERTED, REFERENCES
from sotto.engine.caches.caches import make_caches
from sotto.engine.footprint.model_needs import needs_of
from sotto.engine.kernels import native
from sotto.errors import BrokenModelError
from sotto.store.opening import open_model, record_of

CASES = sorted(path.stem for path in CONVERTED.glob("*.gguf") if (REFERENCES / path.stem).exists())
TOLERANCE = 1e-3
Q = gguf.GGMLQuantizationType
# Tensors that llama.cpp does not quantize, as they are small or need to be exact.
PLAIN = ("norm", "conv", "ssm_", "gate_inp", "rope_freqs", "altup_", "laurel", "inp_gate", "exp_probs")
cases = pytest.mark.parametrize("case", CASES)


def distance(found, wanted):
    assert found.shape == wanted.shape
    return mx.abs(found.astype(mx.float32) - wanted).max().item()


def rewritten(path, target, kind, *, packed, plain=PLAIN, change=lambda writer: None):
    """Write a copy whose matrices were quantized, and dequantized unless `packed`; return its path."""
    read = gguf.GGUFReader(path)
    writer = gguf.GGUFWriter(target, read.get_field("general.architecture").contents())
    for field in read.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        inner = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), field.types[0], inner)
    change(writer)
    for tensor in read.tensors:
        array = np.array(tensor.data)
        matrix = array.ndim > 1 and not any(part in tensor.name for part in plain)
        if not matrix or array.shape[-1] % gguf.GGML_QUANT_SIZES[kind][0]:
            writer.add_tensor(tensor.name, array)
            continue
        blocks = gguf.quants.quantize(array, kind)
        if packed:
            writer.add_tensor(tensor.name, blocks, raw_dtype=kind)
        else:
            writer.add_tensor(tensor.name, gguf.quants.dequantize(blocks, kind))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target


def test_there_are_files():
    assert {"gemma4-shared", "granite-hybrid-moe", "lfm2", "nemotron-h-moe", "qwen3-5-mtp"} <= set(CASES)


@cases
def test_logits_are_those_of_transformers_and_memory_is_planned(case):
    expected = mx.load(str(REFERENCES / case / "expected.safetensors"))
    source = open_model(record_of(CONVERTED / f"{case}.gguf"))
    loaded = load(source)
    for ids, wanted in (("ids", "whole"), ("short_ids", "short_whole")):
        assert distance(loaded.model(expected[ids][None])[0], expected[wanted]) < TOLERANCE
    caches, rows = make_caches(loaded.model), []
    for token in expected["short_ids"].tolist():
        rows.append(loaded.model(mx.array([[token]]), cache=caches)[0])
        mx.eval(rows[-1], [one.state for one in caches])
    assert distance(mx.concatenate(rows), expected["short_whole"]) < TOLERANCE
    needs = needs_of(source, PLENTY, native.kernels())
    assert (needs.unknown, needs.weight_bytes) == ("", loaded.weight_bytes)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", [Q.Q4_0, Q.Q8_0], ids=lambda kind: kind.name)
@cases
def test_quantized_ones_have_the_logits_of_their_dequantized_weights(tmp_path, case, kind):
    path = CONVERTED / f"{case}.gguf"
    tokens = mx.load(str(REFERENCES / case / "expected.safetensors"))["short_ids"][None]
    packed, plain = (
        load(open_model(record_of(rewritten(path, tmp_path / f"{packed}.gguf", kind, packed=packed))))
        for packed in (True, False)
    )
    assert packed.weight_bytes < plain.weight_bytes
    wanted = plain.model(tokens)
    assert distance(packed.model(tokens), wanted) < 2 * TOLERANCE * mx.abs(wanted).max().item()


def test_a_state_matrix_that_is_quantized_is_refused(tmp_path):
    path = CONVERTED / "nemotron-h-moe.gguf"
    plain = tuple(part for part in PLAIN if part not in ("norm", "ssm_"))
    target = rewritten(path, tmp_path / "m.gguf", Q.Q8_0, packed=True, plain=plain)
    with pytest.raises(BrokenModelError, match=r"blk\.0\.ssm_norm\.weight is Q8_0; it should be F32"):
        load(open_model(record_of(target)))


def test_a_model_of_nothing_but_heads_is_refused(tmp_path):
    def change(writer):
        writer.kv_data[0].pop("qwen35.nextn_predict_layers")
        writer.add_nextn_predict_layers(5)

    path = rewritten(CONVERTED / "qwen3-5-mtp.gguf", tmp_path / "m.gguf", Q.F32, packed=False, change=change)
    with pytest.raises(
        BrokenModelError, match=r"nextn_predict_layers is 5; it should be less than the number of layers"
    ):
        open_model(record_of(path))

"""Quantization schemes inferred from shapes and declared by files."""

from pathlib import Path

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoints import TYPES
from sotto.engine.config.quantization import Declaration, Scheme, infer_scheme, read_declaration
from sotto.engine.gguf.kept import KEPT
from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.records import TensorFile


def file_with(metadata):
    return TensorFile(Path("blob"), "", {}, metadata)


class TestDeclaration:
    def test_an_entry_for_a_tensor_takes_precedence_over_that_for_the_file(self):
        file = file_with({"quant_type": "int4", "group_size": "64", "b.quant_type": "int8", "b.group_size": "32"})
        assert read_declaration(file, "a") == Declaration("a", "int4", 64)
        assert read_declaration(file, "b") == Declaration("b", "int8", 32)

    def test_type_and_group_size_are_looked_up_separately(self):
        file = file_with({"quant_type": "int4", "b.group_size": "32"})
        assert read_declaration(file, "a") == Declaration("a", "int4", None)
        assert read_declaration(file, "b") == Declaration("b", "int4", 32)

    def test_there_is_no_declaration_without_metadata(self):
        assert read_declaration(file_with({"format": "mlx"}), "a") is None

    def test_an_unknown_type_is_refused(self):
        with pytest.raises(UnsupportedModelError, match="a is quantized as 'int7'"):
            read_declaration(file_with({"quant_type": "int7"}), "a")

    @pytest.mark.parametrize("text", ["many", "-64", "6.4", "9" * 5000])
    def test_a_group_size_that_is_not_a_number_is_refused(self, text):
        with pytest.raises(BrokenModelError, match=f"group size of a is '{text[:9]}"):
            read_declaration(file_with({"group_size": text}), "a")

    @pytest.mark.parametrize(("name", "bits"), [("Q4", 4), ("fp4", 4), ("INT4", 4), ("q8", 8), ("FP8", 8)])
    def test_old_names_of_affine_types_agree(self, name, bits):
        Declaration("a", name, None).check(Scheme("affine", bits, 64))
        with pytest.raises(BrokenModelError, match=name):
            Declaration("a", name, None).check(Scheme("affine", 12 - bits, 64))

    @pytest.mark.parametrize("declared", [Declaration("a", "int8", 32), Declaration("a", None, 32)])
    def test_the_message_about_a_contradiction_names_both(self, declared):
        with pytest.raises(BrokenModelError, match=r"32, but its shape can only be int4 in groups of 64"):
            declared.check(Scheme("affine", 4, 64))


class TestInfer:
    @given(
        bits=st.sampled_from([2, 3, 4, 5, 6, 8]),
        group_size=st.sampled_from([32, 64, 128]),
        groups=st.integers(1, 5),
        experts=st.sampled_from([(), (3,)]),
    )
    def test_every_affine_type_is_inferred_from_its_shapes(self, bits, group_size, groups, experts):
        width = group_size * groups
        packed, scales, _ = mx.quantize(mx.zeros((*experts, 4, width)), bits=bits, group_size=group_size)
        assert infer_scheme("a", width, packed, scales) == Scheme("affine", bits, group_size)

    @pytest.mark.parametrize("mode", ["mxfp4", "mxfp8", "nvfp4"])
    def test_byte_scaled_types(self, mode):
        packed, scales = mx.quantize(mx.zeros((4, 96)), mode=mode)
        _, bits, group_size = TYPES[mode]
        assert infer_scheme("a", 96, packed, scales) == Scheme(mode, bits, group_size)

    @pytest.mark.parametrize("mode", KEPT)
    def test_types_of_gguf_that_keep_their_bits(self, mode):
        kept = KEPT[mode]
        packed, scales = mx.zeros((4, 512 * kept.bits // 32), mx.uint32), mx.zeros((4, 2 * kept.numbers), kept.dtype)
        assert infer_scheme("a", 512, packed, scales) == Scheme(mode, kept.bits, kept.group)

    @pytest.mark.parametrize(
        ("weight", "scales", "error", "text"),
        [
            (mx.zeros((4, 16)), mx.zeros((4, 2)), BrokenModelError, "weight is float32"),
            (mx.zeros((4, 16), mx.uint32), mx.zeros((5, 2)), BrokenModelError, "4 x 16 and its scales are 5 x 2"),
            (mx.zeros((4, 17), mx.uint32), mx.zeros((4, 2)), BrokenModelError, "cannot hold 128 columns"),
            (mx.zeros((4, 16), mx.uint32), mx.zeros((4, 3)), BrokenModelError, "cannot hold 128 columns"),
            (mx.zeros((4, 16), mx.uint32), mx.zeros((4, 0)), BrokenModelError, "cannot hold 128 columns"),
            (mx.zeros((4, 16), mx.uint32), mx.zeros((4, 8)), UnsupportedModelError, "groups of 16 with float32"),
            (
                mx.zeros((4, 32), mx.uint32),
                mx.zeros((4, 8), mx.uint8),
                UnsupportedModelError,
                "groups of 16 with uint8",
            ),
            (mx.zeros((4, 16), mx.uint32), mx.zeros((4, 2), mx.int32), UnsupportedModelError, "int32 scales"),
        ],
    )
    def test_impossible_shapes_and_types_are_refused(self, weight, scales, error, text):
        with pytest.raises(error, match=text):
            infer_scheme("a", 128, weight, scales)

    def test_a_layer_without_columns_is_refused(self):
        with pytest.raises(BrokenModelError, match="cannot hold 0 columns"):
            infer_scheme("a", 0, mx.zeros((4, 16), mx.uint32), mx.zeros((4, 2)))

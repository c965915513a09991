from collections import Counter

import mlx.core as mx
import pytest
from mlx import nn

from sotto.engine.architectures import zoo
from sotto.engine.architectures.multi_axis import MultiAxisRope, axes_in_sections, axes_in_turn, give_axes

zoo.install()

from mlx_lm.models import qwen3  # noqa: E402
from mlx_lm.models.rope_utils import initialize_rope  # noqa: E402

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}


# The sections of Qwen3-VL and Qwen 3.5, for all pairs of their heads.
@pytest.mark.parametrize("sections", [(24, 20, 20), (11, 11, 10)])
def test_axes_take_turns_as_long_as_their_sections_last(sections):
    axes = axes_in_turn({}, sections, sum(sections))
    assert axes[:6] == [0, 1, 2, 0, 1, 2]
    assert axes[3 * min(sections[1:]) + 2 :].count(2) == 0
    assert Counter(axes) == dict(enumerate(sections))


@pytest.mark.parametrize("place", ["rope_scaling", "rope_parameters", None])
def test_sections_are_found_where_files_have_them(place):
    sections = {"mrope_section": [1, 0, 3]}
    assert axes_in_sections({place: sections} if place else sections, (16, 24, 24)) == [0, 2, 2, 2]


@pytest.mark.parametrize("sections", [[1, 2], [1, 2, -1], [1, 2, 1 << 40], [1, 2, True], "123", {"a": 1}])
def test_sections_that_make_no_sense_are_refused(sections):
    with pytest.raises(ValueError, match="three whole numbers"):
        axes_in_sections({"mrope_section": sections}, (16, 24, 24))


def test_sections_for_other_heads_are_refused():
    args = qwen3.ModelArgs(
        "qwen3",
        hidden_size=16,
        num_hidden_layers=1,
        intermediate_size=16,
        num_attention_heads=2,
        rms_norm_eps=1e-6,
        vocab_size=8,
        num_key_value_heads=1,
        max_position_embeddings=64,
        head_dim=8,
        tie_word_embeddings=True,
        rope_theta=1e4,
    )
    with pytest.raises(ValueError, match="adds up to 3 where it should be 4"):
        give_axes(qwen3.Model(args).model, qwen3.Qwen3Model, [0, 1, 2])


@pytest.mark.parametrize(
    "plain",
    [
        nn.RoPE(16, base=1e4),
        nn.RoPE(16, base=1e4, traditional=True),
        nn.RoPE(16, base=1e4, scale=0.25),
        initialize_rope(16, 1e4, False, YARN, 256),
    ],
    ids=["halves", "neighbours", "scaled", "yarn"],
)
def test_text_is_rotated_alike_by_its_place_and_by_its_positions(plain):
    # Heads of 24, of which 16 are rotated.
    x = mx.random.normal((1, 2, 5, 24), key=mx.random.key(7))
    rope = MultiAxisRope(plain, axes_in_turn({}, (3, 3, 2), 8))
    turned = rope(x, offset=rope.turns(mx.broadcast_to(mx.arange(30, 35), (3, 5))))
    assert mx.abs(turned - plain(mx.array(x), offset=30)).max().item() < 1e-5

"""Every family computes the same logits for a text in pieces as for the whole text.

The configs are tiny ones in the form that transformers 5 saves. Their windows and attention chunks are 8 tokens long,
so that a text of 28 exceeds them.
"""

import mlx.core as mx
import pytest
from mlx.utils import tree_map

from families import FAMILIES
from sotto.engine.architectures.zoo import build
from sotto.engine.caches.caches import make_caches
from sotto.engine.config.supported_models import refusal

TOKENS = [(7 * index * index + 5) % 61 + 3 for index in range(28)]
PIECES = [11, 9, *[1] * 8]


def randomised(config):
    """Build a model whose weights all affect the result, and whose activations neither vanish nor explode."""
    model, _ = build(config)
    mx.random.seed(5)

    def noise(weight):
        scale = 0.1 if weight.ndim < 2 else weight.shape[-1] ** -0.5
        return weight * (weight.ndim < 2) + scale * mx.random.normal(weight.shape)

    model.update(tree_map(noise, model.parameters()))
    model.eval()
    return model


def logits_of(model, pieces):
    caches, rows, done = make_caches(model), [], 0
    for size in pieces:
        rows.append(model(mx.array(TOKENS[done : done + size])[None], cache=caches)[0])
        mx.eval(rows[-1], [cache.state for cache in caches])
        done += size
    return mx.concatenate(rows)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_in_pieces_has_the_logits_of_the_whole_text(family):
    assert refusal(FAMILIES[family]) == ""
    model = randomised(FAMILIES[family])
    whole = logits_of(model, [len(TOKENS)])
    assert mx.isfinite(whole).all().item()
    scale = mx.abs(whole).max().item()
    assert scale > 1e-3
    # Neighbouring positions differ, so each sees the tokens before it.
    assert mx.abs(whole[1:] - whole[:-1]).max(axis=-1).min().item() > 1e-4 * scale
    assert mx.abs(logits_of(model, PIECES) - whole).max().item() < 1e-3 * scale

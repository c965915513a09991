"""From the tokens of texts to one vector for each, some tokens at a time, by the two sorts of models there are.

Encoders take several texts together, filled up to the longest. A model that writes takes one text after the other, in
chunks, with caches of its own that nobody else sees.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.cache_types import PlannedKVCache
from sotto.engine.caches.caches import leaves, make_caches
from sotto.engine.kernels.device import device
from sotto.engine.vectors.pooling import Pool
from sotto.errors import UnsupportedModelError

Texts = Sequence[Sequence[int]]
# Computes the hidden states of texts, pools them in the ways that are named, and yields, after each step of it, the
# vectors that are known by then: each with the number of its text, not yet normalised.
Reads = Callable[[Texts, Sequence[str]], Iterator[Mapping[int, mx.array]]]
# Tokens of a step of an encoder, what fills up included; a single text may have more.
_CPU_TOGETHER, _TOGETHER = 512, 4096
_CPU_CHUNK, _CHUNK = 128, 512
# What definitions call everything before the scores of tokens.
_BODIES = ("model", "backbone", "transformer")


def tokens_together() -> int:
    """Return how many tokens of texts an encoder takes in a step, where no single text has more."""
    return _CPU_TOGETHER if device() == "cpu" else _TOGETHER


def together(model: Callable[[mx.array, mx.array], mx.array]) -> Reads:
    """Return what reads texts with an encoder; those of like lengths are taken together.

    Args:
        model: Takes tokens [B, L] and a mask [B, L] to hidden states [B, L, D].
    """
    most = tokens_together()

    def read(texts: Texts, modes: Sequence[str]) -> Iterator[Mapping[int, mx.array]]:
        left = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        while left:
            longest = len(texts[left[-1]])
            batch = left[-max(1, most // longest) :]
            del left[-len(batch) :]
            tokens = mx.array([[*texts[index], *[0] * (longest - len(texts[index]))] for index in batch])
            mask = mx.arange(longest)[None] < mx.array([len(texts[index]) for index in batch])[:, None]
            pool = Pool(modes)
            pool.add(model(tokens, mask), mask)
            vectors = pool.vectors()
            mx.eval(vectors)
            yield {index: vectors[row] for row, index in enumerate(batch)}

    return read


def in_chunks(
    model: nn.Module, config: Mapping[str, Any], most: int, count: Callable[[object, int], None] = lambda *_: None
) -> Reads:
    """Return what reads texts with a model that writes; it takes memory for the caches of one text at a time.

    Args:
        model: A loaded model.
        config: What it was built from.
        most: Tokens that it may be fed at a time.
        count: Told, before they are computed, how many bytes the caches of a text will take, and 0 when they are gone;
            first comes whose they are.
    """
    size = min(most, _CPU_CHUNK if device() == "cpu" else _CHUNK)

    def read(texts: Texts, modes: Sequence[str]) -> Iterator[Mapping[int, mx.array]]:
        body = body_of(model, config)
        for index, tokens in enumerate(texts):
            caches = make_caches(model, max_tokens=len(tokens))
            for leaf in leaves(caches):
                if isinstance(leaf, PlannedKVCache):
                    leaf.planned = len(tokens)
            pool = Pool(modes)
            try:
                for start in range(0, len(tokens), size):
                    chunk = mx.array([list(tokens[start : start + size])])
                    pool.add(body(chunk, cache=caches), mx.ones(chunk.shape, dtype=mx.bool_))
                    # What is not yet computed has its size already.
                    count(caches, sum(leaf.nbytes for leaf in leaves(caches)))
                    if start + size < len(tokens):
                        mx.eval(pool.state, [cache.state for cache in caches])
                        yield {}
                vectors = pool.vectors()
                mx.eval(vectors)
            finally:
                count(caches, 0)
            yield {index: vectors[0]}

    return read


def body_of(model: nn.Module, config: Mapping[str, Any]) -> Callable[..., mx.array]:
    """Return what computes a model's last hidden states [B, L, D] of tokens [B, L] and `cache=`, with the last norm.

    Args:
        model: A loaded model.
        config: What it was built from.

    What is returned raises UnsupportedModelError if the definition has no such part.
    """
    inner: Any = getattr(model, "language_model", model)
    found = next((getattr(inner, name) for name in _BODIES if hasattr(inner, name)), None)
    width = (config.get("text_config") or config).get("hidden_size")

    def body(tokens: mx.array, cache: list[Any]) -> mx.array:
        hidden = found(tokens, cache=cache) if isinstance(found, nn.Module) else None
        # Where scores are computed in the same part, it is as wide as the vocabulary.
        if not isinstance(hidden, mx.array) or hidden.shape[2:] != (width,):
            raise UnsupportedModelError(
                f"Embeddings by {config['model_type']} models are not supported; choose another model."
            )
        return hidden

    return body

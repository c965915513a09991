"""From the tokens of texts to one vector each, in steps, for encoders and decoders.

Encoders take batches of texts, padded to the longest. Decoders take one text after the other, in chunks, with caches
that are used for nothing else.
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
# Computes the hidden states of texts, pools them in the given modes, and yields after each step the vectors that are
# complete, by the index of their text, not normalised yet.
Reads = Callable[[Texts, Sequence[str]], Iterator[Mapping[int, mx.array]]]
# Tokens of a step of an encoder, including padding; a single text may have more.
_CPU_BATCH_TOKENS, _BATCH_TOKENS = 512, 4096
_CPU_CHUNK, _CHUNK = 128, 512
# Names that definitions use for everything below the output layer.
_BODIES = ("model", "backbone", "transformer")


def batch_tokens() -> int:
    """Return the maximum tokens of an encoder's step, unless a single text has more."""
    return _CPU_BATCH_TOKENS if device() == "cpu" else _BATCH_TOKENS


def encoder_reader(model: Callable[[mx.array, mx.array], mx.array]) -> Reads:
    """Return a function that computes vectors with an encoder, in batches of texts of similar length.

    Args:
        model: Computes hidden states [B, L, D] from tokens [B, L] and a mask [B, L].
    """
    most = batch_tokens()

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


def decoder_reader(
    model: nn.Module, config: Mapping[str, Any], most: int, count: Callable[[object, int], None] = lambda *_: None
) -> Reads:
    """Return a function that computes vectors with a decoder, with the caches of one text at a time.

    Args:
        model: A loaded model.
        config: Its config.
        most: Maximum tokens of a chunk.
        count: Receives the caches of a text and their bytes before they are computed, and 0 bytes when they are freed.
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
                    # Arrays have their size before they are evaluated.
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
    """Return a function from tokens [B, L] and `cache=` to a model's last hidden states [B, L, D], after the last norm.

    Args:
        model: A loaded model.
        config: Its config.

    The function raises UnsupportedModelError if the definition has no such part.
    """
    inner: Any = getattr(model, "language_model", model)
    found = next((getattr(inner, name) for name in _BODIES if hasattr(inner, name)), None)
    width = (config.get("text_config") or config).get("hidden_size")

    def body(tokens: mx.array, cache: list[Any]) -> mx.array:
        hidden = found(tokens, cache=cache) if isinstance(found, nn.Module) else None
        # If that part includes the output layer, it is as wide as the vocabulary.
        if not isinstance(hidden, mx.array) or hidden.shape[2:] != (width,):
            raise UnsupportedModelError(
                f"Embeddings by {config['model_type']} models are not supported; choose another model."
            )
        return hidden

    return body

"""Masks of chunks with images whose tokens attend to each other in both directions."""

from collections.abc import Sequence

import mlx.core as mx


def seen_both_ways(mask: mx.array | None, length: int, together: Sequence[tuple[int, int]]) -> mx.array | None:
    """Return a mask in which the tokens of each image also see those after them, up to its end.

    What they see before them stays as it is, so an image that is longer than a sliding window does not see all of
    itself from its end, but all of itself from its beginning; that is how transformers has it.

    Args:
        mask: What the tokens of a chunk see, [length, keys]; the last keys are those of the chunk. None for a single
            token that sees all keys.
        length: How many tokens the chunk has.
        together: First and last-plus-one places in the chunk of each image.
    """
    if mask is None or not together:
        return mask
    images = [-1] * length
    for number, (first, last) in enumerate(together):
        images[first:last] = [number] * (last - first)
    image, place = mx.array(images), mx.arange(length)
    later = (image[:, None] == image) & (image >= 0) & (place > place[:, None])
    return mask | mx.pad(later, [(0, 0), (mask.shape[-1] - length, 0)])

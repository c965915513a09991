"""Rotary positions with three axes (time, height and width), as models have them that see images.

Each pair of values in a head is rotated by the position on one of the axes. Text has the same position on all of them,
so it is rotated as in other models, only not by its place in the cache: after an image, positions go on from its larger
side, which is less than its number of tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.image_view import View


@dataclass(frozen=True, slots=True)
class Turns:
    """By how much the pairs of a head are turned for each token.

    Attributes:
        cos: [L, pairs].
        sin: [L, pairs].
    """

    cos: mx.array
    sin: mx.array


class MultiAxisRope(nn.Module):  # type: ignore[misc]
    """A rotary embedding whose pairs belong to axes; for text, it is the one that it replaces."""

    def __init__(self, plain: nn.Module, axes: Sequence[int]) -> None:
        """Wrap a rotary embedding.

        Args:
            plain: What the layer had.
            axes: The axis of each pair: 0 for time, 1 for height and 2 for width.
        """
        super().__init__()
        # The names begin with _ so that MLX does not count these among the layers and weights.
        self._plain, self._axes = plain, mx.array(list(axes))
        self._traditional = bool(getattr(plain, "traditional", False))

    def turns(self, positions: mx.array) -> Turns:
        """Return the turns of tokens at positions [3, L].

        They are what the plain embedding makes of (1, 0), which holds for all kinds of scaling.
        """
        pairs = self._axes.size
        ones = mx.concatenate([mx.ones((pairs, 1)), mx.zeros((pairs, 1))], axis=1)
        unit = (ones if self._traditional else ones.T).reshape(1, 1, 1, 2 * pairs)
        every = positions.astype(mx.int32).reshape(-1)
        turned = self._plain(mx.repeat(unit, every.size, axis=0), offset=every)
        cos, sin = (part.reshape(*positions.shape, pairs) for part in self._halves(turned))
        chosen = self._axes[None, None]
        return Turns(*(mx.take_along_axis(part, chosen, axis=0)[0] for part in (cos, sin)))

    def __call__(self, x: mx.array, offset: Any = 0) -> mx.array:
        """Return queries or keys [B, H, L, D], rotated.

        Args:
            x: What to rotate.
            offset: The position of the first token, or the turns of all.
        """
        if not isinstance(offset, Turns):
            plain: mx.array = self._plain(x, offset=offset)
            return plain
        width = 2 * self._axes.size
        turned, rest = x[..., :width], x[..., width:]
        first, second = self._halves(turned.astype(mx.float32))
        pair = [first * offset.cos - second * offset.sin, second * offset.cos + first * offset.sin]
        joined = mx.stack(pair, axis=-1) if self._traditional else mx.concatenate(pair, axis=-1)
        return mx.concatenate([joined.reshape(turned.shape).astype(x.dtype), rest], axis=-1)

    def _halves(self, x: mx.array) -> tuple[mx.array, mx.array]:
        """Return the first and the second values of all pairs."""
        if self._traditional:
            return x[..., 0::2], x[..., 1::2]
        half = x.shape[-1] // 2
        return x[..., :half], x[..., half:]


class Placed:
    """A cache as layers see it, whose `offset` tells them rotary positions rather than its length."""

    def __init__(self, cache: Any, offset: Any) -> None:
        """Wrap `cache`."""
        self._cache = cache
        self.offset = offset

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)


class SeeingBody:
    """What is below the output layer in a model with multi-axis positions; first among the bases of a definition's."""

    embed_tokens: Any
    layers: Any

    def embedded(self, inputs: mx.array, view: View | None) -> mx.array:
        """Return the embeddings [B, L, D] of tokens and images."""
        found: mx.array = self.embed_tokens(inputs)
        return found if view is None else view.embeddings(found)

    def placed(self, caches: Sequence[Any], view: View | None) -> list[Any]:
        """Return caches, one or None for each layer, with the rotary positions of the next tokens."""
        turns = self._turns(view)
        return [
            self._place(cache, turns) if "self_attn" in layer else cache
            # The caches of a prediction head may come after those of the layers.
            for layer, cache in zip(self.layers, caches, strict=False)
        ]

    def placed_head(self, cache: Any, view: View | None) -> Any:
        """Return the cache of a head for multi-token prediction with the rotary positions of the next tokens."""
        return self._place(cache, self._turns(view))

    def _turns(self, view: View | None) -> Turns | None:
        if view is None or view.positions is None:
            return None
        rope: MultiAxisRope = next(layer.self_attn.rope for layer in self.layers if "self_attn" in layer)
        return rope.turns(view.positions)

    @staticmethod
    def _place(cache: Any, turns: Turns | None) -> Any:
        offset = getattr(cache, "rope_offset", None) if turns is None else turns
        return cache if offset is None else Placed(cache, offset)


def give_axes(body: nn.Module, kind: type, axes: Sequence[int]) -> None:
    """Have a body rotate by three axes and take views.

    Args:
        body: What is below the output layer in a model.
        kind: What it becomes: a subclass of `SeeingBody` and of its class.
        axes: The axis of each pair of values that is rotated.

    Raises:
        ValueError: The pairs are not as many as the layers rotate.
    """
    for layer in body.layers:
        if "self_attn" in layer:
            rope = layer.self_attn.rope
            if 2 * len(axes) != rope.dims:
                raise ValueError(f"mrope_section adds up to {len(axes)} where it should be {rope.dims // 2}")
            layer.self_attn.rope = MultiAxisRope(rope, axes)
    body.__class__ = kind


def axes_in_sections(config: Any, default: Sequence[int]) -> list[int]:
    """Return the axis of each pair: as many for time as the first section says, then for height, then for width.

    Args:
        config: The config of a language model.
        default: The sections if it has none.
    """
    return [axis for axis, count in enumerate(sections_of(config, default)) for _ in range(count)]


def axes_in_turn(config: Any, default: Sequence[int], pairs: int) -> list[int]:
    """Return the axis of each pair: time, height and width in turn as long as their sections last, then time.

    Args:
        config: The config of a language model.
        default: The sections if it has none.
        pairs: How many pairs are rotated.
    """
    sections = sections_of(config, default)
    turns = [(number % 3, 3 * sections[number % 3]) for number in range(pairs)]
    return [axis if number < end else 0 for number, (axis, end) in enumerate(turns)]


def sections_of(config: Any, default: Sequence[int]) -> list[int]:
    """Return how many pairs belong to time, height and width.

    Raises:
        ValueError: They are not three whole numbers.
    """
    places = (config, config.get("rope_scaling") or {}, config.get("rope_parameters") or {})
    sections = next((place["mrope_section"] for place in places if place.get("mrope_section")), list(default))
    whole = isinstance(sections, list) and all(type(count) is int and 0 <= count <= 1024 for count in sections)
    if not whole or len(sections) != 3:
        raise ValueError("mrope_section should be three whole numbers: for time, height and width")
    return sections

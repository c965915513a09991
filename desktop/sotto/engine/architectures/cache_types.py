"""Kinds of caches: those that definitions of models ask for, and our own in place of the two commonest.

- Full KV caches hold every token; any range of tokens can be taken out and put into another cache. On request they hold
  keys and values in 8 or 4 bits.
- Sliding windows hold the last tokens in order rather than in a ring, and a few more than are seen, so that the last
  tokens can be taken back (a ring has overwritten what it would need).

Every other kind (recurrent states, chunked attention) can only be copied as a whole, see
`sotto.engine.caches.sequence`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import mlx.core as mx

from sotto.engine.architectures import zoo

# The package of definitions must be found before anything in it is imported.
zoo.install()

from mlx_lm.models.base import create_causal_mask  # noqa: E402
from mlx_lm.models.cache import ArraysCache, CacheList, KVCache, RotatingKVCache  # noqa: E402

__all__ = [
    "GROUPS",
    "ArraysCache",
    "CacheList",
    "FullKVCache",
    "KVCache",
    "PlannedKVCache",
    "QuantizedKVCache",
    "RotatingKVCache",
    "SlidingKVCache",
]

# Values that share a scale, the widest first: the last axis must be a multiple of one.
GROUPS = (64, 32)
_STEP = 256
_KV = ("keys", "values")
# Tokens that a sliding window keeps beyond those that are seen, to be able to go back by as many.
_BACK = 64


class FullKVCache(KVCache):  # type: ignore[misc]
    """Keys and values of every token, [1, heads, tokens, size], in buffers with some room at the end.

    Attributes:
        offset: Tokens held.
        max_tokens: The most tokens that it will hold, so that no room is made for more; None where that is not known.
    """

    def __init__(self, max_tokens: int | None = None) -> None:
        """Start empty.

        Args:
            max_tokens: The most tokens that it will hold; None where that is not known.
        """
        super().__init__()
        self.max_tokens = max_tokens

    @property
    def buffers(self) -> tuple[mx.array, ...]:
        """The arrays that hold tokens along axis 2; none while the cache is empty."""
        return () if self.keys is None else (self.keys, self.values)

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Append tokens, and return the keys and values of all, [1, heads, offset, size]."""
        self._append((keys, values))
        return self.keys_and_values()

    def keys_and_values(self) -> tuple[mx.array, mx.array]:
        """Return the keys and values of all tokens."""
        return self.keys[..., : self.offset, :], self.values[..., : self.offset, :]

    def part(self, start: int, end: int) -> tuple[mx.array, ...]:
        """Return what is held for tokens `start` to `end`, lazily and without a copy."""
        return tuple(buffer[..., start:end, :] for buffer in self.buffers)

    def put(self, part: tuple[mx.array, ...], expected: int) -> None:
        """Append copies of what `part` returned.

        Args:
            part: Of another cache of this kind.
            expected: How many tokens there will be in the end, so that room is made for them once.
        """
        self._append(part, expected)

    def rewind(self, length: int) -> None:
        """Go back to `length` tokens."""
        self.offset = length

    def extend(self, length: int) -> tuple[int, Iterable[int]]:
        """Count tokens as held, which somebody else writes into the buffers; the cache must not be empty.

        Returns:
            Where in the buffers the first of them goes, and how many tokens each of them sees, itself as the last.
        """
        slot = self.offset
        if slot + length > self.keys.shape[2]:
            self._set(self._grown(self.buffers, slot + length))
        self.offset = slot + length
        return slot, range(slot + 1, slot + 1 + length)

    def shrink(self) -> None:
        """Give back most of the room beyond the tokens held."""
        room = _round_up(self.offset)
        if self.buffers and self.buffers[0].shape[2] > room:
            self._set(tuple(mx.contiguous(buffer[..., :room, :]) for buffer in self.buffers))
            mx.eval(self.buffers)

    def _append(self, parts: tuple[mx.array, ...], expected: int = 0) -> None:
        end = self.offset + parts[0].shape[2]
        buffers = self.buffers
        if not buffers or end > buffers[0].shape[2]:
            buffers = self._grown(parts, max(end, expected))
        for buffer, part in zip(buffers, parts, strict=True):
            buffer[..., self.offset : end, :] = part
        self._set(buffers)
        self.offset = end

    def _grown(self, parts: tuple[mx.array, ...], end: int) -> tuple[mx.array, ...]:
        """Return buffers with room for `end` tokens and an eighth more, so that few tokens pay for copying all."""
        room = _round_up(max(end, self.offset + self.offset // 8))
        if self.max_tokens is not None:
            room = max(end, min(room, self.max_tokens))
        grown = []
        for index, part in enumerate(parts):
            empty = mx.zeros((*part.shape[:2], room - self.offset, part.shape[3]), part.dtype)
            held = self.buffers[index][..., : self.offset, :] if self.offset else None
            grown.append(empty if held is None else mx.concatenate([held, empty], axis=2))
        return tuple(grown)

    def _set(self, buffers: tuple[mx.array, ...]) -> None:
        self.keys, self.values = buffers


class PlannedKVCache(FullKVCache):
    """A KV cache of a model that computes everything in another way once the context is longer than `boundary`.

    Attributes:
        boundary: The longest context, in tokens, that is computed in the first way.
        planned: How many tokens it will hold; 0 when the caller does not know.
    """

    def __init__(self, boundary: int) -> None:
        """Start empty."""
        super().__init__()
        self.boundary = boundary
        self.planned = 0

    def context(self, length: int) -> int:
        """Return the context in use while `length` more tokens are computed."""
        return int(max(self.planned, self.offset + length))


class QuantizedKVCache(FullKVCache):
    """A full KV cache that holds keys and values in 8 or 4 bits, and gives them back widened.

    What is widened is of one layer and of one step, so a long context takes the bits that it is held in. Attention is
    computed as ever, with whatever masks and sinks the definition has. A type or width that has no quantization is held
    as it is.

    Attributes:
        bits_held: 8 or 4. Not `bits`: definitions take a cache that has that for mlx-lm's own quantized one.
    """

    def __init__(self, bits: int, max_tokens: int | None = None) -> None:
        """Start empty."""
        super().__init__(max_tokens)
        self.bits_held = bits
        self._packed: tuple[mx.array, ...] = ()

    @property
    def buffers(self) -> tuple[mx.array, ...]:
        """Packed values, scales and biases of the keys, then of the values; or both as they are."""
        return self._packed

    @property
    def group_size(self) -> int:
        """Values that share a scale, along the last axis; 0 where they are held as they are, or nothing is."""
        if len(self._packed) <= len(_KV):
            return 0
        packed, scales = self._packed[:2]
        return int(packed.shape[-1] * 32 // self.bits_held // scales.shape[-1])

    @property
    def state(self) -> tuple[Any, ...]:
        """What must be evaluated."""
        return self._packed

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers."""
        return sum(buffer.nbytes for buffer in self._packed)

    def empty(self) -> bool:
        """Return whether nothing was ever held."""
        return not self._packed

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Append tokens, and return the keys and values of all, as they come out of the bits they are held in."""
        size = self.group_size
        if not self._packed:
            widths = (keys.shape[-1], values.shape[-1])
            size = next((size for size in GROUPS if all(width % size == 0 for width in widths)), 0)
        self._append((*self._pack(keys, size), *self._pack(values, size)))
        return self.keys_and_values()

    def keys_and_values(self) -> tuple[mx.array, mx.array]:
        """Return the keys and values of all tokens."""
        held = [buffer[..., : self.offset, :] for buffer in self._packed]
        half = len(held) // 2
        return self._unpack(held[:half]), self._unpack(held[half:])

    def _pack(self, array: mx.array, group_size: int) -> tuple[mx.array, ...]:
        return tuple(mx.quantize(array, group_size=group_size, bits=self.bits_held)) if group_size else (array,)

    def _unpack(self, parts: Sequence[mx.array]) -> mx.array:
        if len(parts) == 1:
            return parts[0]
        packed, scales, biases = parts
        # Scales have the type of what was packed.
        return mx.dequantize(packed, scales, biases, self.group_size, self.bits_held, dtype=scales.dtype)

    def _set(self, buffers: tuple[mx.array, ...]) -> None:
        self._packed = buffers


class SlidingKVCache(RotatingKVCache):  # type: ignore[misc]
    """Keys and values of the last tokens in order, [1, heads, tokens, size].

    Attributes:
        offset: Tokens fed so far.
        max_size: Tokens that one sees, itself included.
    """

    def __init__(self, max_size: int) -> None:
        """Start empty."""
        super().__init__(max_size=max_size, keep=0)
        self.offset: int = 0
        self.first = 0
        self._seen = 0

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Append L tokens, and return the keys and values that they see, up to max_size - 1 + L tokens."""
        length = keys.shape[2]
        end = self.offset + length
        if self.keys is None or end - self.first > self.keys.shape[2]:
            self._move(keys, values, length)
        at = self.offset - self.first
        self.keys[..., at : at + length, :] = keys
        self.values[..., at : at + length, :] = values
        self._seen = min(self.offset, self.max_size - 1) + length
        self.offset = end
        return self.keys_and_values()

    def keys_and_values(self) -> tuple[mx.array, mx.array]:
        """Return what the tokens fed last see."""
        end = self.offset - self.first
        return self.keys[..., end - self._seen : end, :], self.values[..., end - self._seen : end, :]

    def extend(self, length: int) -> tuple[int, Iterable[int]]:
        """Count tokens as held, which somebody else writes into the buffers; the cache must not be empty.

        Returns:
            Where in the buffers the first of them goes, and how many tokens each of them sees, itself as the last.
        """
        if self.offset + length - self.first > self.keys.shape[2]:
            self._move(self.keys, self.values, length)
        slot, before = self.offset - self.first, min(self.offset, self.max_size - 1)
        self._seen = before + length
        self.offset += length
        return slot, [min(before + number, self.max_size) for number in range(1, length + 1)]

    def make_mask(self, length: int, window_size: int | None = None, return_array: bool = False) -> Any:
        """Return the mask for `length` more tokens over what they will see; "causal" or None where that says enough."""
        before = min(self.max_size - 1, self.offset)
        window = window_size or self.max_size
        if length > 1:
            if before + length > window or return_array:
                return create_causal_mask(length, before, window_size=window)
            return "causal"
        return mx.arange(before + 1) >= before + 1 - window if before + 1 > window else None

    def can_rewind(self, length: int) -> bool:
        """Return whether all that the token after `length` others would see is still held."""
        return bool(length <= self.offset and max(0, length - (self.max_size - 1)) >= self.first)

    def rewind(self, length: int) -> None:
        """Go back to `length` tokens, where that is possible."""
        self.offset = length
        self._seen = 0

    def is_trimmable(self) -> bool:
        """Return whether one token can be taken back."""
        return self.can_rewind(max(0, self.offset - 1))

    def trim(self, n: int) -> int:
        """Take the last n tokens back if that is possible, and return how many were."""
        n = min(n, self.offset)
        if not self.can_rewind(self.offset - n):
            return 0
        self.rewind(self.offset - n)
        return n

    def capture(self) -> dict[str, Any]:
        """Return what is needed to come back to this length, as attributes of a cache, lazily copied."""
        start = max(self.first, self.offset - self.max_size)
        span = slice(start - self.first, self.offset - self.first)
        held = {} if self.keys is None else {name: mx.contiguous(getattr(self, name)[..., span, :]) for name in _KV}
        return {"keys": None, "values": None, **held, "first": start, "offset": self.offset, "_seen": 0}

    @property
    def state(self) -> tuple[Any, ...]:
        """What must be evaluated."""
        return (self.keys, self.values)

    def _move(self, keys: mx.array, values: mx.array, length: int) -> None:
        """Make room for `length` tokens at the end, leaving out what nobody will see any more."""
        start = max(self.first, self.offset - (self.max_size - 1) - _BACK)
        kept = self.offset - start
        room = _round_up(kept + length + min(self.max_size // 4, kept))
        for name, part in (("keys", keys), ("values", values)):
            empty = mx.zeros((*part.shape[:2], room - kept, part.shape[3]), part.dtype)
            buffer = getattr(self, name)
            held = None if not kept else buffer[..., start - self.first : self.offset - self.first, :]
            setattr(self, name, empty if held is None else mx.concatenate([held, empty], axis=2))
        self.first = start


def _round_up(tokens: int) -> int:
    return -(-tokens // _STEP) * _STEP

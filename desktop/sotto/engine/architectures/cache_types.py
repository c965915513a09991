"""Cache types: mlx-lm's, which the model definitions create, and our own in place of the two most common.

- Full KV caches hold every token; any range of tokens can be copied into another cache. They can hold keys and values
  in 16, 8 or 4 bits.
- Sliding windows hold the last tokens in order rather than in a ring buffer, and a few more than are visible, so that
  the last tokens can be removed again. A ring would have overwritten what is then needed.

All other types (recurrent states, chunked attention) can only be copied as a whole, see
`sotto.engine.caches.sequence`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import mlx.core as mx

from sotto.engine.architectures import zoo

# Must run before anything of mlx-lm is imported.
zoo.install()

from mlx_lm.models.base import create_causal_mask  # noqa: E402
from mlx_lm.models.cache import ArraysCache, CacheList, KVCache, RotatingKVCache  # noqa: E402

__all__ = [
    "GROUP_SIZES",
    "ArraysCache",
    "CacheList",
    "FullKVCache",
    "HalfKVCache",
    "KVCache",
    "PlannedKVCache",
    "QuantizedKVCache",
    "RotatingKVCache",
    "SlidingKVCache",
    "room_for",
    "widened",
]

# Numbers of values that can share a scale, preferred first. The last axis must be a multiple of one of them.
GROUP_SIZES = (64, 32)
# Buffers have room for a multiple of this many tokens; those of short contexts for one of fewer.
_STEP, _SMALL_STEP = 256, 64
_KV = ("keys", "values")
_LARGEST_HALF = 65504.0
# Tokens that a sliding window keeps beyond the visible ones, so that as many can be removed again.
_REWINDABLE_TOKENS = 64


class FullKVCache(KVCache):  # type: ignore[misc]
    """Keys and values of every token, [1, heads, tokens, size], in buffers with some room at the end.

    Attributes:
        offset: Number of tokens held.
        max_tokens: The most tokens that it will hold, so that it allocates no more; None if unknown.
        shift: What the next token's position is ahead of `offset`, as images of models with several axes of positions
            move the text after them; see `sotto.engine.vision.prompt_images`.
    """

    def __init__(self, max_tokens: int | None = None) -> None:
        """Start empty.

        Args:
            max_tokens: The most tokens that it will hold; None if unknown.
        """
        super().__init__()
        self.max_tokens = max_tokens
        self.shift = 0

    @property
    def rope_offset(self) -> int:
        """The position of the next token."""
        return int(self.offset) + self.shift

    @property
    def buffers(self) -> tuple[mx.array, ...]:
        """The arrays that hold tokens along axis 2; empty while the cache is empty."""
        return () if self.keys is None else (self.keys, self.values)

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Append tokens, and return the keys and values of all, [1, heads, offset, size]."""
        self._append((keys, values))
        return self.keys_and_values()

    def keys_and_values(self) -> tuple[mx.array, mx.array]:
        """Return the keys and values of all tokens."""
        return self.keys[..., : self.offset, :], self.values[..., : self.offset, :]

    def part(self, start: int, end: int) -> tuple[mx.array, ...]:
        """Return tokens `start` to `end` of each buffer, lazily and without a copy."""
        return tuple(buffer[..., start:end, :] for buffer in self.buffers)

    def put(self, part: tuple[mx.array, ...], expected: int) -> None:
        """Append a copy of tokens that `part` returned.

        Args:
            part: From another cache of this type.
            expected: How many tokens there will be in the end, so that room is allocated only once.
        """
        self._append(part, expected)

    def rewind(self, length: int) -> None:
        """Go back to `length` tokens."""
        self.offset = length

    def extend(self, length: int) -> tuple[int, Iterable[int]]:
        """Make room for tokens that the caller writes into the buffers; the cache must not be empty.

        Returns:
            The position in the buffers of the first new token, and how many tokens each one sees, itself included.
        """
        slot = self.offset
        if slot + length > self.buffers[0].shape[2]:
            self._set(self._grown(self.buffers, slot + length))
        self.offset = slot + length
        return slot, range(slot + 1, slot + 1 + length)

    def shrink(self) -> None:
        """Release most of the room beyond the tokens held."""
        room = room_for(self.offset)
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
        """Return buffers with room for `end` tokens, and at least an eighth more than now to make copying rare."""
        room = room_for(max(end, self.offset + self.offset // 8))
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
    """A KV cache of a model that computes everything differently once the context is longer than `boundary`.

    Attributes:
        boundary: The longest context, in tokens, that still counts as short.
        planned: How many tokens it will hold; 0 if the caller does not know.
    """

    def __init__(self, boundary: int) -> None:
        """Start empty."""
        super().__init__()
        self.boundary = boundary
        self.planned = 0

    def context(self, length: int) -> int:
        """Return the context length in use while `length` more tokens are computed."""
        return int(max(self.planned, self.offset + length))


class HalfKVCache(FullKVCache):
    """A full KV cache that holds float32 in float16, and returns it as float32; other types have 16 bits already.

    The native attention reads float16, and its tapes write it. Elsewhere one layer at a time is converted.
    """

    def __init__(self, max_tokens: int | None = None) -> None:
        """Start empty."""
        super().__init__(max_tokens)
        self._converts = False

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Append tokens, and return the keys and values of all, in the type of these."""
        self._converts = keys.dtype == mx.float32
        return super().update_and_fetch(keys, values)

    def keys_and_values(self) -> tuple[mx.array, mx.array]:
        """Return the keys and values of all tokens."""
        keys, values = super().keys_and_values()
        return (widened(keys), widened(values)) if self._converts else (keys, values)

    def _append(self, parts: tuple[mx.array, ...], expected: int = 0) -> None:
        super()._append(tuple(_halved(part) for part in parts), expected)


class QuantizedKVCache(FullKVCache):
    """A full KV cache that holds keys and values in 8 or 4 bits, and returns them dequantized.

    The native attention reads them in 8 or 4 bits, and its tapes write them. Elsewhere only one layer is dequantized at
    a time, so the memory for a long context is that of the quantized values.
    Attention is computed as usual, with any masks and sinks of the definition. A width that cannot be quantized is
    held as it is.

    Attributes:
        bits_held: 8 or 4. WORKAROUND: not called `bits`, because mlx-lm takes any cache with `bits` for its own
            quantized one. Check at each upgrade how it tells them apart.
    """

    def __init__(self, bits: int, max_tokens: int | None = None) -> None:
        """Start empty."""
        super().__init__(max_tokens)
        self.bits_held = bits
        self._packed: tuple[mx.array, ...] = ()

    @property
    def buffers(self) -> tuple[mx.array, ...]:
        """Packed numbers, scales and biases of the keys, then of the values; or the keys and values unquantized."""
        return self._packed

    @property
    def group_size(self) -> int:
        """Number of values along the last axis that share a scale; 0 if empty or not quantized."""
        if len(self._packed) <= len(_KV):
            return 0
        packed, scales = self._packed[:2]
        return int(packed.shape[-1] * 32 // self.bits_held // scales.shape[-1])

    @property
    def state(self) -> tuple[Any, ...]:
        """The arrays to evaluate."""
        return self._packed

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers."""
        return sum(buffer.nbytes for buffer in self._packed)

    def empty(self) -> bool:
        """Return whether the cache has never held a token."""
        return not self._packed

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Append tokens, and return the keys and values of all tokens, dequantized."""
        size = self.group_size
        if not self._packed:
            widths = (keys.shape[-1], values.shape[-1])
            size = next((size for size in GROUP_SIZES if all(width % size == 0 for width in widths)), 0)
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
        # Scales have the type of the values that were quantized.
        return mx.dequantize(packed, scales, biases, self.group_size, self.bits_held, dtype=scales.dtype)

    def _set(self, buffers: tuple[mx.array, ...]) -> None:
        self._packed = buffers


class SlidingKVCache(RotatingKVCache):  # type: ignore[misc]
    """Keys and values of the last tokens in order, [1, heads, tokens, size].

    Attributes:
        offset: Number of tokens fed so far.
        max_size: Number of tokens that a token sees, itself included.
        first: Position of the first token in the buffers.
    """

    def __init__(self, max_size: int) -> None:
        """Start empty."""
        super().__init__(max_size=max_size, keep=0)
        self.offset: int = 0
        self.first = 0
        self._seen = 0

    @property
    def rope_offset(self) -> int:
        """The position of the next token."""
        return self.offset

    @property
    def buffers(self) -> tuple[mx.array, ...]:
        """The arrays that hold tokens along axis 2; empty while the cache is empty."""
        return () if self.keys is None else (self.keys, self.values)

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Append L tokens, and return the keys and values that they see: at most max_size - 1 + L tokens."""
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
        """Return the keys and values that the last tokens fed see."""
        end = self.offset - self.first
        return self.keys[..., end - self._seen : end, :], self.values[..., end - self._seen : end, :]

    def extend(self, length: int) -> tuple[int, Iterable[int]]:
        """Make room for tokens that the caller writes into the buffers; the cache must not be empty.

        Returns:
            The position in the buffers of the first new token, and how many tokens each one sees, itself included.
        """
        if self.offset + length - self.first > self.keys.shape[2]:
            self._move(self.keys, self.values, length)
        slot, before = self.offset - self.first, min(self.offset, self.max_size - 1)
        self._seen = before + length
        self.offset += length
        return slot, [min(before + number, self.max_size) for number in range(1, length + 1)]

    def make_mask(self, length: int, window_size: int | None = None, return_array: bool = False) -> Any:
        """Return the mask for `length` more tokens.

        Args:
            length: Number of tokens about to be fed.
            window_size: Number of tokens that a token sees; None for `max_size`.
            return_array: Whether to return an array rather than "causal".

        Returns:
            A boolean array, [length, visible] or [visible] for one token; "causal" or None where that is equivalent.
        """
        before = min(self.max_size - 1, self.offset)
        window = window_size or self.max_size
        if length > 1:
            if before + length > window or return_array:
                return create_causal_mask(length, before, window_size=window)
            return "causal"
        return mx.arange(before + 1) >= before + 1 - window if before + 1 > window else None

    def can_rewind(self, length: int) -> bool:
        """Return whether everything that the next token after the first `length` would see is still held."""
        return bool(length <= self.offset and max(0, length - (self.max_size - 1)) >= self.first)

    def rewind(self, length: int) -> None:
        """Go back to `length` tokens; only if `can_rewind(length)`."""
        self.offset = length
        self._seen = 0

    def is_trimmable(self) -> bool:
        """Return whether one token can be removed."""
        return self.can_rewind(max(0, self.offset - 1))

    def trim(self, n: int) -> int:
        """Remove the last n tokens if possible, and return how many were removed."""
        n = min(n, self.offset)
        if not self.can_rewind(self.offset - n):
            return 0
        self.rewind(self.offset - n)
        return n

    def capture(self) -> dict[str, Any]:
        """Return the attributes of a cache that restore this length, with lazy copies of the arrays."""
        start = max(self.first, self.offset - self.max_size)
        span = slice(start - self.first, self.offset - self.first)
        held = {} if self.keys is None else {name: mx.contiguous(getattr(self, name)[..., span, :]) for name in _KV}
        return {"keys": None, "values": None, **held, "first": start, "offset": self.offset, "_seen": 0}

    @property
    def state(self) -> tuple[Any, ...]:
        """The arrays to evaluate."""
        return (self.keys, self.values)

    def _move(self, keys: mx.array, values: mx.array, length: int) -> None:
        """Move the tokens still needed to new buffers with room for `length` more; `keys` and `values` give shapes."""
        start = max(self.first, self.offset - (self.max_size - 1) - _REWINDABLE_TOKENS)
        kept = self.offset - start
        room = _rounded(kept + length + min(self.max_size // 4, kept), _STEP)
        for name, part in (("keys", keys), ("values", values)):
            empty = mx.zeros((*part.shape[:2], room - kept, part.shape[3]), part.dtype)
            buffer = getattr(self, name)
            held = None if not kept else buffer[..., start - self.first : self.offset - self.first, :]
            setattr(self, name, empty if held is None else mx.concatenate([held, empty], axis=2))
        self.first = start


def widened(halves: mx.array) -> mx.array:
    """Return float16 numbers in float32; the native attention reads them as they are."""
    return halves.astype(mx.float32)


def _halved(array: mx.array) -> mx.array:
    """Return float32 in float16: numbers that it cannot hold become the largest ones that it can."""
    if array.dtype != mx.float32:
        return array
    return mx.clip(array, -_LARGEST_HALF, _LARGEST_HALF).astype(mx.float16)


def room_for(tokens: int) -> int:
    """Return for how many tokens a full cache that holds `tokens` has room, unless it must not hold as many."""
    return _rounded(tokens, _STEP if tokens > _STEP else _SMALL_STEP)


def _rounded(tokens: int, step: int) -> int:
    return -(-tokens // step) * step

"""The patches of an image, and the order in which towers compute them: square after square, and these by windows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

_CHANNELS, _MATRIX_AXES = 3, 2

Windows = Sequence[tuple[int, int]]
"""How many windows there are of a size, and that size; those of the first kind come first."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The patches of an image.

    Attributes:
        rows: Rows of squares.
        columns: Columns of squares.
        merge: Patches along each side of a square.
    """

    rows: int
    columns: int
    merge: int

    def by_squares(self, patches: mx.array) -> mx.array:
        """Return what belongs to patches, [rows of them, columns of them, ...], as [N, ...], square after square."""
        shape = (self.rows, self.merge, self.columns, self.merge, *patches.shape[2:])
        ordered: mx.array = patches.reshape(shape).swapaxes(1, 2).flatten(0, 3)
        return ordered

    def places(self) -> tuple[mx.array, mx.array]:
        """Return the row and the column of each patch, [N], square after square."""
        down, across = mx.arange(self.rows * self.merge), mx.arange(self.columns * self.merge)
        rows, columns = mx.meshgrid(down, across, indexing="ij")
        return self.by_squares(rows), self.by_squares(columns)

    def windows(self, side: int) -> tuple[mx.array, Windows]:
        """Divide the squares into windows, those of equal size one after the other.

        Args:
            side: Squares along each side of a window; at the right and at the bottom, there may be fewer.

        Returns:
            The numbers of squares in this order, and the windows with their sizes in squares.
        """
        numbers = mx.arange(self.rows * self.columns).reshape(self.rows, self.columns)
        parts, found = [], []
        for first_row, down, high in _spans(self.rows, side):
            for first_column, across, wide in _spans(self.columns, side):
                part = numbers[first_row : first_row + down * high, first_column : first_column + across * wide]
                parts.append(part.reshape(down, high, across, wide).swapaxes(1, 2).flatten())
                found.append((down * across, high * wide))
        return mx.concatenate(parts), found


def patches_of(tile: mx.array, side: int) -> mx.array:
    """Return the patches of a tile [H, W, 3], each as its pixels row by row, [H / side, W / side, side * side * 3].

    Pixels that are left at the end of rows and columns are dropped, as SigLIP with 384 pixels and patches of 14 needs.
    """
    down, across = tile.shape[0] // side, tile.shape[1] // side
    whole = tile[: down * side, : across * side]
    patches: mx.array = whole.reshape(down, side, across, side, _CHANNELS).swapaxes(1, 2).reshape(down, across, -1)
    return patches


def patches_in_rows(tile: mx.array, side: int) -> mx.array:
    """Return the patches of a tile row by row, [N, side * side * 3]."""
    rows: mx.array = patches_of(tile, side).flatten(0, 1)
    return rows


def as_product(kernel: mx.array, channels: int = _CHANNELS) -> mx.array:
    """Return the kernel of a convolution, whose channels come second or, as MLX has it, last, as a matrix [D, N]."""
    if kernel.ndim <= _MATRIX_AXES:
        return kernel
    last = kernel.moveaxis(1, -1) if kernel.shape[1] == channels else kernel
    return last.reshape(last.shape[0], -1)


def interpolated(table: mx.array, rows: int, columns: int) -> mx.array:
    """Return the values of a square grid [side, side, D] at other rows and columns, whose corners are the same.

    Between the values of the grid, they are interpolated linearly along both sides.
    """
    for axis, count in ((0, rows), (1, columns)):
        side = table.shape[axis]
        place = mx.arange(count) * ((side - 1) / max(1, count - 1))
        before = mx.minimum(mx.floor(place), side - 1).astype(mx.int32)
        shape: Any = [-1 if index == axis else 1 for index in range(3)]
        beyond = (place - before).reshape(shape)
        after = mx.minimum(before + 1, side - 1)
        table = mx.take(table, before, axis) * (1 - beyond) + mx.take(table, after, axis) * beyond
    return table


def _spans(length: int, side: int) -> list[tuple[int, int, int]]:
    """Return where windows of a length begin along an axis, how many there are, and their length."""
    whole, rest = divmod(length, side)
    spans = [(0, whole, side), (whole * side, 1, rest)]
    return [span for span in spans if span[1] and span[2]]

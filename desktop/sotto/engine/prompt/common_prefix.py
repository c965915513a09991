"""The length of the common prefix of two texts or two tuples."""

from typing import Protocol


class _Sliceable(Protocol):
    def __len__(self) -> int: ...

    def __getitem__(self, index: slice, /) -> object: ...


def shared_count(first: _Sliceable, second: _Sliceable) -> int:
    """Return the length of the common prefix of two texts or two tuples."""
    least, most = 0, min(len(first), len(second))
    while least < most:
        middle = (least + most + 1) // 2
        if first[least:middle] == second[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least

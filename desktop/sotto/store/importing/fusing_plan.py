"""What an adapter that is fused into the weights during an import changes of the plan."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sotto.errors import UnsupportedModelError
from sotto.store.importing.import_plan import Computed, Fused, Making, NamedTensor, Part, Segment
from sotto.store.importing.quant_types import FLOATS
from sotto.store.printable import printable


@dataclass(frozen=True, slots=True)
class FusingPlan:
    """What an adapter changes.

    Attributes:
        adapter: The folder or file of the adapter; None without one.
        config: The text of the model's `config.json`.
        added: The tensors of the model that get an addition.
        replaced: The tensors of the adapter by the names of those that they replace.
        files: The files of the adapter.
    """

    adapter: Path | None = None
    config: str = ""
    added: frozenset[str] = frozenset()
    replaced: Mapping[str, Part] = field(default_factory=lambda: MappingProxyType({}))
    files: tuple[Path, ...] = ()

    def applied(self, tensor: NamedTensor, names: Sequence[str]) -> NamedTensor:
        """Return a tensor of the plan as the adapter changes it; the same one if it does not.

        Args:
            tensor: The tensor.
            names: The names of the matrices that it is made of, as the source has them.

        Raises:
            UnsupportedModelError: It is not in floating-point numbers, or stacked of some that are replaced and others
                in FP8.
        """
        if self.adapter is None or not any(name in self.added or name in self.replaced for name in names):
            return tensor
        piece = tensor.piece
        if isinstance(piece, Segment):
            part = Part(piece.path, tensor.dtype, tensor.shape, piece.start, piece.end)
            piece = Computed((part,), tensor.shape, tensor.dtype)
        assert isinstance(piece, Computed)
        if piece.dtype not in FLOATS:
            raise UnsupportedModelError(
                f"{printable(tensor.name)} is stored as {piece.dtype}; an adapter can only be fused into weights in "
                "BF16, F16 or F32."
            )
        replaced = [self.replaced.get(name) for name in names]
        if all(replaced):
            piece = replace(piece, making=Making.CAST, scales=(), place=None)
        elif any(replaced) and piece.making is not Making.CAST:
            raise UnsupportedModelError(
                f"The adapter replaces some experts of {printable(tensor.name)}, whose others are in FP8; choose a "
                "version of the model in bfloat16."
            )
        if any(replaced):
            parts = tuple([new or old for new, old in zip(replaced, piece.parts, strict=True)])
            piece = replace(piece, parts=parts)
        if self.added.intersection(names):
            added = tuple([name if name in self.added else "" for name in names])
            piece = replace(piece, fused=Fused(self.adapter, self.config, added))
        return replace(tensor, piece=piece)


NO_ADAPTER = FusingPlan()

# Returns what the adapter changes, given the model's configuration, and the shapes of its tensors by name.
Fit = Callable[[Mapping[str, Any], Mapping[str, tuple[int, ...]]], FusingPlan]


def fit_nothing(config: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> FusingPlan:
    """Return the plan without an adapter."""
    return NO_ADAPTER

"""Stacking the weights of experts, which many checkpoints store one by one, into one tensor for each projection."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from sotto.errors import BrokenModelError
from sotto.store.importing.import_plan import Part
from sotto.store.printable import printable

_MARKERS = (
    "mlp.experts", "mlp.shared_experts", "mlp.switch_mlp", "moe.experts", "mixer.experts", "mixer.shared_experts",
)  # fmt: skip
_PREFIXES = (
    "model.language_model.backbone.", "model.language_model.", "language_model.", "language_model.model.",
    "language_model.backbone.", "model.", "backbone.", "mtp.", "",
)  # fmt: skip
_EXPERT = re.compile(
    rf"((?:{'|'.join(map(re.escape, _PREFIXES))})layers\.\d+\.(?:{'|'.join(map(re.escape, _MARKERS))}))"
    r"\.(\d+)\.(.+)\.weight(_scale_inv|_scale)?"
)


@dataclass(frozen=True, slots=True)
class Stack:
    """The weights of all experts of one projection.

    Attributes:
        group: The name of the group, which its blob has.
        projection: The name of the projection.
        names: The names of the weights, in the order of the experts.
        parts: The weights, in the same order.
        scales: The scales of the weights, if they have some.
    """

    group: str
    projection: str
    names: tuple[str, ...]
    parts: tuple[Part, ...]
    scales: tuple[Part, ...] = ()

    @property
    def name(self) -> str:
        """The name of the stacked tensor."""
        return f"{self.group}.{self.projection}.weight"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the stacked tensor."""
        return len(self.parts), *self.parts[0].shape


def stacks(parts: Mapping[str, Part]) -> list[Stack]:
    """Return the experts of a model that are stored one by one.

    Raises:
        BrokenModelError: Experts are missing, differ in shape or type, or their stack has the name of another tensor.
    """
    found: dict[tuple[str, str, str], dict[int, str]] = defaultdict(dict)
    for name in parts:
        if match := _EXPERT.fullmatch(name):
            group, number, projection, ending = match.groups()
            found[group, projection, ending or ""][int(number)] = name
    result = []
    for (group, projection, ending), names in found.items():
        if ending:
            continue
        scales = found.get((group, projection, "_scale_inv")) or found.get((group, projection, "_scale")) or {}
        stack = Stack(
            group,
            projection,
            tuple([names[number] for number in sorted(names)]),
            tuple([parts[names[number]] for number in sorted(names)]),
            tuple([parts[scales[number]] for number in sorted(scales)]),
        )
        if sorted(names) != list(range(len(names))):
            raise BrokenModelError(
                f"{printable(group)} has {len(names)} experts up to number {max(names)}; none should be missing."
            )
        if len({(part.dtype, part.shape) for part in stack.parts}) > 1:
            raise BrokenModelError(
                f"The experts of {printable(stack.name)} differ in shape or type; all should be alike."
            )
        if stack.scales and len(stack.scales) != len(stack.parts):
            raise BrokenModelError(
                f"{printable(stack.name)} has {len(stack.parts)} experts and {len(stack.scales)} scales; there should "
                "be one for each."
            )
        if stack.name in parts:
            raise BrokenModelError(f"{printable(stack.name)} is there twice; it should be there once.")
        result.append(stack)
    return result

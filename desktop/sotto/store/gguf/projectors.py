"""Which projector belongs to a GGUF model: the one that was made for models of its architecture and its width."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.gguf.header import GgufHeader, read_gguf
from sotto.store.gguf.tower_kinds import vision_refusal

# The first converter stated the width of CLIP's own projection, which is left out, in place of the model's.
_WIDTH_UNKNOWN = "mlp"


@dataclass(frozen=True, slots=True)
class Eyes:
    """What a GGUF model sees with.

    Attributes:
        within: Whether its own file holds a tower that is understood.
        projector: The file of its tower, where that is a file of its own; None if there is none.
        refusal: One sentence saying why it sees nothing although there is a tower; empty otherwise.
    """

    within: bool = False
    projector: Path | None = None
    refusal: str = ""

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What it can do with them."""
        return ("vision",) if self.within or self.projector else ()


def eyes_of(header: GgufHeader, projectors: Iterable[Path], *, beside: bool = False) -> Eyes:
    """Return what a model sees with.

    Args:
        header: The header of its first file.
        projectors: The files that may be its projector, the one to prefer first.
        beside: Whether these only lie beside the model, so that some may belong to another model.
    """
    refusals = []
    if header.tower:
        refusals.append(vision_refusal(header.architecture, header.tower))
        if not refusals[0]:
            return Eyes(within=True)
    for path in projectors:
        try:
            projector = read_gguf(path)
        except BrokenModelError as error:
            refusals.append(f"Images are not shown to it: {error.message}")
            continue
        if not projector.tower or (beside and not _has_width_of(projector, header)):
            continue
        if not (refusal := vision_refusal(header.architecture, projector.tower)):
            return Eyes(projector=path)
        refusals.append(refusal)
    return Eyes(refusal=refusals[0] if refusals else "")


def _has_width_of(projector: GgufHeader, model: GgufHeader) -> bool:
    """Return whether a projector gives what a model's embeddings can be replaced by, as far as both state it."""
    return projector.tower == _WIDTH_UNKNOWN or None in (projector.width, model.width) or projector.width == model.width

"""What the page to find models offers: models with their versions, and how each version fits into memory here.

Everything here is computed from values, on a worker thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from sotto.engine.config.supported_models import refusal
from sotto.engine.memory.memory_figures import Measured
from sotto.engine.memory.shape_needs import shape_needs
from sotto.engine.memory.version_choice import VersionFit, active_parameters, best_version, choose_model
from sotto.store.finding.hub_records import FoundModel, HubKind
from sotto.store.finding.suggestions import Suggestion, Version
from sotto.store.gguf.gguf_config import refusal as gguf_refusal
from sotto.ui.state.memory_estimate import Fit, MachineMemory, Projection, project

# What is recommended to a person without models should be good at these.
_GENERAL = "questions"
_UNKNOWN_SIZE = Projection(Fit.UNKNOWN)


class Section(Enum):
    """Where an offer comes from."""

    NAMED = auto()
    SUGGESTED = auto()
    FOUND = auto()


@dataclass(frozen=True, slots=True)
class OfferedVersion:
    """A version of a model, and how it would fit into memory."""

    version: Version
    projection: Projection


@dataclass(frozen=True, slots=True)
class Offer:
    """A model that can be downloaded.

    Attributes:
        section: Where it comes from.
        title: Its name.
        source: What is known of it; None for a name that was typed.
        versions: Its versions, of fewer bits first.
        best: The index of the version to choose; if it is not known whether one fits, of the usual one.
        refusal: Why it cannot run here, in one sentence of English; empty if it can, as far as is known.
        recommended: Whether it suits this machine best.
    """

    section: Section
    title: str
    source: Suggestion | FoundModel | None
    versions: tuple[OfferedVersion, ...]
    best: int = 0
    refusal: str = ""
    recommended: bool = False

    @property
    def key(self) -> tuple[Section, str]:
        """What tells it from all others."""
        return self.section, self.source.id if isinstance(self.source, FoundModel) else self.title

    @property
    def chosen(self) -> OfferedVersion | None:
        """The version to choose; None if there is none."""
        return self.versions[self.best] if self.versions else None


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that the offers are for.

    Attributes:
        memory: Its memory.
        device: The device that computes.
        device_total: Bytes that a graphics processor can use; 0 on a CPU.
    """

    memory: MachineMemory
    device: str
    device_total: int

    def project(self, source: Suggestion | FoundModel, version: Version) -> Projection:
        """Return how a version would fit, with as long a context as does."""
        if version.size is None:
            return _UNKNOWN_SIZE
        needs = shape_needs(source.config, version.size, 4 if self.device == "cpu" else 2)
        return project(Measured("", needs, device=self.device, device_total=self.device_total), self.memory)


def suggested_offers(suggestions: Sequence[Suggestion], machine: Machine) -> list[Offer]:
    """Return the offers of what Sotto suggests, of which one is recommended unless none suits."""
    offers = [_offer(Section.SUGGESTED, suggestion, suggestion.versions, machine) for suggestion in suggestions]
    general = [index for index, suggestion in enumerate(suggestions) if _GENERAL in suggestion.good_at]
    chosen = choose_model(
        [
            (
                suggestions[index].parameters,
                active_parameters(suggestions[index].config, suggestions[index].parameters),
                any(_is_useful(suggestions[index], version.projection) for version in offers[index].versions),
            )
            for index in general
        ],
        on_cpu=machine.device == "cpu",
    )
    if chosen is not None:
        offers[general[chosen]] = replace(offers[general[chosen]], recommended=True)
    return offers


def found_offer(found: FoundModel, machine: Machine) -> Offer:
    """Return the offer of what a search has found."""
    if found.kind is HubKind.GGUF:
        why = gguf_refusal(found.architecture) if found.architecture else ""
    else:
        why = refusal(found.config) if found.config else ""
    return replace(_offer(Section.FOUND, found, found.versions, machine), refusal=why)


def named_offer(name: str) -> Offer:
    """Return the offer of a model whose name was typed."""
    return Offer(Section.NAMED, name, None, (OfferedVersion(Version(name, "", None), _UNKNOWN_SIZE),))


def _offer(section: Section, source: Suggestion | FoundModel, versions: Sequence[Version], machine: Machine) -> Offer:
    ordered = sorted(versions, key=lambda version: version.size or 0)
    offered = tuple(OfferedVersion(version, machine.project(source, version)) for version in ordered)
    best = best_version(ordered, [_fit(source, version.projection) for version in offered])
    return Offer(section, source.title, source, offered, best)


def _is_useful(source: Suggestion, projection: Projection) -> bool:
    fit = _fit(source, projection)
    return fit is not None and fit.useful


def _fit(source: Suggestion | FoundModel, projection: Projection) -> VersionFit | None:
    if projection.fit is Fit.UNKNOWN:
        return None
    context, longest = projection.plan.context if projection.plan else 0, source.config.get("max_position_embeddings")
    tight = projection.fit is Fit.TIGHT and not projection.needs_confirmation
    return VersionFit(projection.fit is Fit.FITS, tight, context, longest if isinstance(longest, int) else None)

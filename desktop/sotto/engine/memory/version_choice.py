"""Which version of a model suits this machine, and which model: a pure calculation from memory plans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sotto.engine.memory.memory_needs import ModelNeeds
from sotto.engine.memory.memory_plan import COMFORTABLE, Limits, plan
from sotto.store.finding.suggestions import Version, usual_version

USEFUL_CONTEXT = 8192
"""Tokens of context that a model should have room for, in tokens; fewer if it supports fewer."""

# Without a graphics processor, a model that reads more weights than this for each token writes slower than people read.
_QUICK_ON_CPU = 5e9


@dataclass(frozen=True, slots=True)
class VersionFit:
    """How a version of a model fits.

    Attributes:
        fits: Whether it leaves other programs alone.
        tight: Whether it fits at all, if not so well.
        context: Tokens of context with which it does.
        longest: Tokens of context that the model supports; None if unknown.
    """

    fits: bool
    tight: bool = False
    context: int = 0
    longest: int | None = None

    @property
    def useful(self) -> bool:
        """Whether it fits well, with a useful context."""
        return self.fits and self.context >= min(USEFUL_CONTEXT, self.longest or USEFUL_CONTEXT)


def fit_within(needs: ModelNeeds, limits: Limits) -> VersionFit | None:
    """Return how a model fits into the available memory, with as long a context as does; None if that is unknown."""
    if limits.budget is None:
        return None
    longest = needs.longest_context
    well = plan(needs, replace(limits, budget=int(limits.budget * COMFORTABLE))).largest_context
    barely = plan(needs, limits).largest_context
    if well is None or barely is None:
        return None
    fit = VersionFit(well > 0, False, well, longest)
    return fit if fit.useful else VersionFit(False, barely > 0, barely, longest)


def choose_version(fits: Sequence[VersionFit]) -> int | None:
    """Return the index of the version to choose: the most exact one that fits; None if none does.

    Args:
        fits: How each version fits, of fewer bits first.
    """
    if useful := [index for index, fit in enumerate(fits) if fit.useful]:
        return useful[-1]
    # With too short a context, fewer bits are better than a still shorter one.
    fitting = [index for index, fit in enumerate(fits) if fit.fits or fit.tight]
    return max(fitting, key=lambda index: (fits[index].fits, fits[index].context, index), default=None)


def best_version(versions: Sequence[Version], fits: Sequence[VersionFit | None]) -> int:
    """Return the index of the version to choose: one that fits, else the smallest; the usual one if that is unknown.

    Args:
        versions: The versions of a model, of fewer bits first.
        fits: How each fits; None if that is unknown.
    """
    if all(fit is None for fit in fits):
        return usual_version(versions) if versions else 0
    # Answers of an unquantized version are hardly better, and slower.
    candidates = [index for index, version in enumerate(versions) if version.quantized] or range(len(versions))
    chosen = choose_version([fits[index] or VersionFit(False) for index in candidates])
    return 0 if chosen is None else candidates[chosen]


def active_parameters(config: Mapping[str, Any], parameters: int) -> int:
    """Return how many weights compute a token: all but those of experts that are not used."""
    experts = config.get("num_experts") or config.get("num_local_experts")
    if not experts:
        return parameters
    inner = config.get("moe_intermediate_size") or config["intermediate_size"]
    expert = 3 * config["hidden_size"] * inner * config["num_hidden_layers"]
    return int(parameters - expert * (experts - config["num_experts_per_tok"]))


def choose_model(models: Sequence[tuple[int, int, bool]], *, on_cpu: bool) -> int | None:
    """Return the index of the model that suits a machine best: the largest that fits and is quick; None if none is.

    Args:
        models: For each model its parameters, those that compute a token, and whether a version fits well.
        on_cpu: Whether there is no graphics processor that computes.
    """
    suitable = [
        (parameters, -index)
        for index, (parameters, active, fits) in enumerate(models)
        if fits and not (on_cpu and active > _QUICK_ON_CPU)
    ]
    return -max(suitable)[1] if suitable else None

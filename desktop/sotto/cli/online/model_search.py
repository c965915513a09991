"""`sotto search`: models to download, those that Sotto suggests and those on Hugging Face, and what fits here."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sotto.cli.printing import human_bytes, human_count, printable
from sotto.engine.config.supported_models import refusal
from sotto.engine.kernels import device
from sotto.engine.memory.memory_plan import Limits
from sotto.engine.memory.shape_needs import shape_needs
from sotto.engine.memory.version_choice import VersionFit, best_version, fit_within
from sotto.store.finding.hub import Hub
from sotto.store.finding.hub_address import endpoint, shown_host
from sotto.store.finding.hub_records import FoundModel, HubKind
from sotto.store.finding.suggestions import Suggestion, Version, suggestions
from sotto.store.gguf.gguf_config import refusal as gguf_refusal


@dataclass(frozen=True, slots=True)
class _Machine:
    """What models have to fit into: the available memory, and the bytes of a number while computing."""

    limits: Limits
    number_bytes: int

    def fit(self, config: Mapping[str, Any], version: Version) -> VersionFit | None:
        """Return how a version fits; None if that is unknown."""
        if version.size is None:
            return None
        return fit_within(shape_needs(config, version.size, self.number_bytes), self.limits)


def search(words: str, *, as_json: bool) -> int:
    """Print the models that Sotto suggests and, if there are words, those that Hugging Face has; return 0.

    Raises:
        SottoError: Hugging Face cannot be reached; what Sotto suggests is printed before.
    """
    device.prepare()
    from sotto.engine.footprint.model_needs import limits_here

    machine = _Machine(limits_here(), 4 if device.device() == "cpu" else 2)
    suggested = [_row(each, "sotto", machine) for each in suggestions() if each.matches(words)]
    if not as_json:
        _print(suggested)
    found = [_found_row(model, machine) for model in asyncio.run(_ask(words))] if words.strip() else []
    if as_json:
        print(json.dumps(suggested + found, indent=2, ensure_ascii=False))
    else:
        if suggested and found:
            print()
        _print(found)
        if not suggested and not found:
            print(f"sotto: nothing called '{printable(words)}' was found.", file=sys.stderr)
    return 0


async def _ask(words: str) -> Sequence[FoundModel]:
    async with Hub(endpoint()) as hub:
        return await hub.search(words)


def _found_row(model: FoundModel, machine: _Machine) -> dict[str, Any]:
    row = _row(model, shown_host(), machine)
    if model.kind is HubKind.GGUF:
        why = gguf_refusal(model.architecture) if model.architecture else ""
    else:
        why = refusal(model.config) if model.config else ""
    return row | {"downloads": model.downloads, "gated": model.gated, "refusal": why}


def _row(model: Suggestion | FoundModel, source: str, machine: _Machine) -> dict[str, Any]:
    """Return a model with its versions, of which the one to choose is named first."""
    ordered = sorted(model.versions, key=lambda version: version.size or 0)
    fits = [machine.fit(model.config, version) for version in ordered]
    best = best_version(ordered, fits)
    return {
        "name": ordered[best].name if ordered else "",
        "title": model.title,
        "source": source,
        "licence": model.licence,
        "parameters": model.parameters,
        "versions": [
            {
                "name": version.name,
                "bits": version.bits,
                "size": version.size,
                "fits": None if fit is None else "fits" if fit.fits else "tight" if fit.tight else "will not fit",
                "context": None if fit is None else fit.context,
            }
            for version, fit in zip(ordered, fits, strict=True)
        ],
    }


def _print(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a line for each model: the name to download, its size, how it fits, and its licence."""
    table = [_columns(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for columns in table:
        print("  ".join(f"{text:<{width}}" for text, width in zip(columns, widths, strict=True)).rstrip())


def _columns(row: Mapping[str, Any]) -> tuple[str, ...]:
    version: Mapping[str, Any] = next((each for each in row["versions"] if each["name"] == row["name"]), {})
    size, fits, context = version.get("size"), version.get("fits"), version.get("context")
    verdict = f"{fits} with {context:,} tokens" if fits and context else fits or "unknown whether it fits"
    texts = (
        row["name"] or row["title"],
        version.get("bits", ""),
        human_bytes(size) if size else "",
        "cannot run here" if row.get("refusal") else verdict,
        human_count(row["parameters"]) if row["parameters"] else "",
        row["licence"],
    )
    return tuple(printable(text).replace("\n", " ") for text in texts)

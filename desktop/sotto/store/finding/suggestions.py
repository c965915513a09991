"""The models that Sotto suggests, from `resources/catalogue.json`, which comes along and is not asked for anywhere.

The file is a list of families. A family has its `name`, its `maker`, keys of what it is `good_at`, its `licence` as an
SPDX identifier (`LicenseRef-` for one that SPDX does not list), the `templates` among the tested ones that its models
use, and its `models`. A model has its `size` as people say it, its number of `parameters`, and `versions`: names to
download, with their bits and their size. The values of `config` are those of `config.json`, as far as they tell the
shapes; a model's own replace those of its family. Tests hold every entry against the engine.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sotto.paths import resources_dir
from sotto.store.bounded_json import read_object

# Of more bits than these, answers get no better and only slower.
_UNQUANTIZED = frozenset({"BF16", "F16", "F32", "FP16"})
_USUAL = ("Q4_K_M", "4-bit", "MXFP4", "Q4_0", "Q4_K_S", "Q4_K_XL", "UD-Q4_K_XL")


@dataclass(frozen=True, slots=True)
class Version:
    """One of the forms in which a model can be downloaded.

    Attributes:
        name: What to download.
        bits: How its weights are quantized, for example `Q4_K_M` or `4-bit`.
        size: Bytes of the weights; None if unknown.
    """

    name: str
    bits: str
    size: int | None

    @property
    def quantized(self) -> bool:
        """Whether its weights have fewer bits than they were trained with."""
        return self.bits not in _UNQUANTIZED


def usual_version(versions: Sequence[Version]) -> int:
    """Return the index of the version that people mostly choose, where nothing tells which one fits."""
    ranks = {bits: rank for rank, bits in enumerate(_USUAL)}
    return min(range(len(versions)), key=lambda index: (ranks.get(versions[index].bits, len(_USUAL)), index))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A model that Sotto suggests.

    Attributes:
        family: The name of its family.
        maker: Who made it.
        title: Its name for people, for example `Qwen3 4B`.
        good_at: Keys of what it is good at.
        licence: SPDX identifier.
        templates: Names of templates that tests render.
        parameters: Number of weights.
        config: What its `config.json` says of its shapes.
        versions: The forms in which it can be downloaded.
    """

    family: str
    maker: str
    title: str
    good_at: tuple[str, ...]
    licence: str
    templates: tuple[str, ...]
    parameters: int
    config: Mapping[str, Any]
    versions: tuple[Version, ...]

    def matches(self, text: str) -> bool:
        """Return whether each word of a text begins a word of what the model is called."""
        # Not by the names of repositories, in which `4b` would be found in `4bit`.
        names = [version.name for version in self.versions if "/" not in version.name]
        own = _words(" ".join((self.title, self.maker, *names)))
        return all(any(each.startswith(word) for each in own) for word in _words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"[\w.]+", text.casefold())


@cache
def suggestions() -> tuple[Suggestion, ...]:
    """Return the models that come along, by family and size."""
    return read_suggestions(resources_dir() / "catalogue.json")


def read_suggestions(path: Path) -> tuple[Suggestion, ...]:
    """Return the models of a file."""
    return tuple(_suggestion(family, model) for family in read_object(path)["families"] for model in family["models"])


def _suggestion(family: Mapping[str, Any], model: Mapping[str, Any]) -> Suggestion:
    return Suggestion(
        family=family["name"],
        maker=family["maker"],
        title=f"{family['name']} {model['size']}",
        good_at=tuple(family["good_at"]),
        licence=family["licence"],
        templates=tuple(family["templates"]),
        parameters=model["parameters"],
        config=family["config"] | model["config"],
        versions=tuple(
            Version(version["name"], version["bits"], version["megabytes"] * 10**6) for version in model["versions"]
        ),
    )

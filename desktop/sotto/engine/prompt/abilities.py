"""Abilities of a model besides writing text: the only place that decides, for requests and for lists of models."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sotto.engine.config.text_files import named_tokens
from sotto.engine.parsing.families import Family, family_of
from sotto.engine.prompt.infill import suffix_template
from sotto.engine.prompt.template_choice import choose_template
from sotto.engine.prompt.templates import ChatTemplate
from sotto.engine.tokens.infill_marks import infill_marks
from sotto.errors import BrokenModelError
from sotto.store.records import ModelSource


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a model can be asked for.

    Attributes:
        tools: Whether it can call functions, which its chat template must present to it.
        thinks: Whether it can be asked to think first, or not to.
        efforts: Whether it can be asked how much to think.
        infills: Whether it can fill a gap between two texts.
        sees: Whether it can be shown images, which is known once it is loaded.
    """

    tools: bool
    thinks: bool
    efforts: bool
    infills: bool
    sees: bool = False


def abilities_of(template: ChatTemplate, family: Family, *, infills: bool) -> Abilities:
    """Return what a model can be asked for.

    Args:
        template: The template that renders its prompts.
        family: How it marks thoughts and calls.
        infills: Whether it can fill gaps, see `Infill.is_known`.
    """
    efforts = template.knows_efforts
    thinks = family.thinks or template.switches_thoughts or efforts
    return Abilities(template.knows_tools, thinks, efforts, infills)


def abilities_in_files(source: ModelSource) -> Abilities:
    """Return what a model could be asked for once loaded, from its small files alone.

    Args:
        source: The model. Only the added tokens of its `tokenizer.json` are read, and its tensors may be missing.

    Raises:
        BrokenModelError: A file is damaged, so that the model cannot be loaded either.
    """
    added = _added_tokens(source.tokenizer_json)
    template = ChatTemplate(choose_template(source), named_tokens(source.json_files))
    family = family_of(template.text, added)
    return abilities_of(template, family, infills=bool(infill_marks(added) or suffix_template(source)))


def _added_tokens(text: str) -> Collection[str]:
    """Return the added tokens of a `tokenizer.json`, without parsing the vocabulary, which mostly comes after them."""
    found = _value_of(text, "added_tokens")
    if not isinstance(found, list):
        return frozenset()
    return frozenset(
        token["content"] for token in found if isinstance(token, dict) and isinstance(token.get("content"), str)
    )


def _value_of(text: str, wanted: str) -> Any:
    """Return the value of a key of the outermost object of a JSON text; None where it lacks the key.

    Raises:
        BrokenModelError: It is not JSON, as far as it is read.
    """
    decoder, place = json.JSONDecoder(), 0
    try:
        place = _past(text, place, "{")
        while text[place] != "}":
            key, place = decoder.raw_decode(text, place)
            value, place = decoder.raw_decode(text, _past(text, place, ":"))
            if key == wanted:
                return value
            place = _past_space(text, place)
            if text[place] != "}":
                place = _past(text, place, ",")
    except (ValueError, IndexError, RecursionError) as error:
        raise BrokenModelError("tokenizer.json is not readable JSON.") from error
    return None


def _past(text: str, place: int, mark: str) -> int:
    """Return the place after white space, `mark`, and more white space.

    Raises:
        ValueError: Something else stands there.
    """
    place = _past_space(text, place)
    if not text.startswith(mark, place):
        raise ValueError(f"{mark} is missing at {place}")
    return _past_space(text, place + len(mark))


def _past_space(text: str, place: int) -> int:
    while text[place] in " \t\r\n":
        place += 1
    return place

"""Which template a model's prompts are made by: the one place that knows the order.

First comes a template that the user gave, then the Jinja template of the model's files, its manifest's Go template, the
renderer that its config names, and last a plain one, of which the user is told.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from sotto.engine.model_texts import chat_template
from sotto.engine.renderers import RENDERERS
from sotto.store.records import ModelSource

# `{%` is Jinja's alone; Go asks for fields, whose names begin with a point and a capital letter.
_JINJA = re.compile(r"\{%")
_GO = re.compile(r"\{\{[^{}]*[ (]\$?\.[A-Z]")
_LARGE_GEMMA = 12 * 10**9


class TemplateKind(StrEnum):
    """What a template is written in."""

    JINJA = "jinja"
    GO = "go"
    RENDERER = "renderer"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class TemplateChoice:
    """A template that was chosen.

    Attributes:
        kind: What it is written in.
        text: Its source, or the name of a renderer; empty for the plain one.
        whose: What it is called in errors.
        note: What the user should know, in a sentence; empty where the model's own template is used.
    """

    kind: TemplateKind
    text: str = ""
    whose: str = "The model's chat template"
    note: str = ""


def chosen_template(source: ModelSource) -> TemplateChoice:
    """Return what the prompts of a model are made by.

    Raises:
        BrokenModelError: What stands for a template in its files is none.
    """
    if source.user_template:
        return given_template(source.user_template)
    if text := chat_template(source):
        return TemplateChoice(TemplateKind.JINJA, text)
    if source.go_template:
        return TemplateChoice(TemplateKind.GO, source.go_template)
    name = _sized(source)
    if name in RENDERERS:
        note = f"It brings no chat template, so its prompts are made as Sotto knows the format {name}."
        return TemplateChoice(TemplateKind.RENDERER, name, f"The format {name}", note)
    unknown = f", and Sotto does not know the format {name[:40]} that its config names" if name else ""
    return TemplateChoice(
        TemplateKind.PLAIN,
        note=f"It brings no chat template{unknown}, so it reads a conversation as plain text, `User: ...` and "
        "`Assistant: ...`, and may answer worse than it could: give it the template that it was trained with.",
    )


def given_template(text: str) -> TemplateChoice:
    """Return a template that the user gave, in Jinja or Go, as a choice."""
    note = "Its prompts are made by the template that you gave it."
    return TemplateChoice(kind_of_text(text), text, "The template you gave", note)


def _sized(source: ModelSource) -> str:
    """Return the name of the renderer; of the formats that are called `gemma4`, large models have one of their own."""
    large = source.renderer == "gemma4" and (source.record.parameters or 0) >= _LARGE_GEMMA
    return "gemma4-large" if large else source.renderer


def kind_of_text(text: str) -> TemplateKind:
    """Return whether a template is Jinja or Go."""
    return TemplateKind.GO if not _JINJA.search(text) and _GO.search(text) else TemplateKind.JINJA

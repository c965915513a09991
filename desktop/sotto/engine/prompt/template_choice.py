"""Which template a model's prompts are made by: the one place that knows the order.

First comes a template that the user gave, then the Jinja template of the model's files, its manifest's Go template, the
renderer that its config names, and last a plain one, of which the user is told. Where the files have several templates
with names, `default` counts, and `tool_use` where there are tools.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sotto.engine.config.text_files import chat_templates
from sotto.engine.prompt.renderers import RENDERERS
from sotto.store.printable import printable
from sotto.store.records import ModelSource

# `{%` is Jinja's alone; Go asks for fields, whose names begin with a point and a capital letter.
_JINJA = re.compile(r"\{%")
_GO = re.compile(r"\{\{-?(?:[^{}]*[ (])?\$?\.[A-Z]")
_FOR_TOOLS = "tool_use"
_LONGEST_NAME = 40
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
        note: What the user should know, in a sentence; empty where the model's only template is used.
        with_tools: What takes its place where there are tools; None for the same.
    """

    kind: TemplateKind
    text: str = ""
    whose: str = "The model's chat template"
    note: str = ""
    with_tools: "TemplateChoice | None" = None


def chosen_template(source: ModelSource) -> TemplateChoice:
    """Return what the prompts of a model are made by.

    Raises:
        BrokenModelError: What stands for a template in its files is none.
    """
    if source.user_template:
        return given_template(source.user_template)
    if texts := chat_templates(source):
        return _of_named(texts)
    if source.go_template:
        return TemplateChoice(TemplateKind.GO, source.go_template)
    name = _by_size(source)
    if name in RENDERERS:
        note = f"It brings no chat template, so its prompts are made as Sotto knows the format {name}."
        return TemplateChoice(TemplateKind.RENDERER, name, f"The format {name}", note)
    unknown = f", and Sotto does not know the format {name[:40]} that its config names" if name else ""
    return TemplateChoice(
        TemplateKind.PLAIN,
        note=f"It brings no chat template{unknown}, so it reads a conversation as plain text, `User: ...` and "
        "`Assistant: ...`, and may answer worse than it could: give it the template that it was trained with.",
    )


def _of_named(texts: Mapping[str, str]) -> TemplateChoice:
    """Return a model's own template, the first of these, with the one for tools if it has one."""
    (name, text), *others = texts.items()
    if not others:
        return TemplateChoice(TemplateKind.JINJA, text)
    names = ", ".join(printable(each, _LONGEST_NAME) for each in texts)
    note = f"Of its chat templates, {names}, the first makes its prompts"
    for_tools = None
    if name != _FOR_TOOLS and _FOR_TOOLS in texts:
        for_tools = TemplateChoice(TemplateKind.JINJA, texts[_FOR_TOOLS], _called(_FOR_TOOLS))
        note += f", and {_FOR_TOOLS} does where there are tools"
    return TemplateChoice(TemplateKind.JINJA, text, _called(name), f"{note}.", for_tools)


def _called(name: str) -> str:
    return f"The model's chat template {printable(name, _LONGEST_NAME)}"


def given_template(text: str) -> TemplateChoice:
    """Return a template that the user or a request gave, in Jinja or Go, as a choice."""
    note = "Its prompts are made by the template that you gave it."
    return TemplateChoice(kind_of_text(text), text, "The template you gave", note)


def _by_size(source: ModelSource) -> str:
    """Return the name of the renderer; of the formats that are called `gemma4`, large models have one of their own."""
    large = source.renderer == "gemma4" and (source.record.parameters or 0) >= _LARGE_GEMMA
    return "gemma4-large" if large else source.renderer


def kind_of_text(text: str) -> TemplateKind:
    """Return whether a template is Jinja or Go."""
    return TemplateKind.GO if not _JINJA.search(text) and _GO.search(text) else TemplateKind.JINJA

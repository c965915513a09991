"""The choice of the template that renders a model's prompts: the only place that knows the order.

First comes a template that the user supplied, then one that was chosen when the model was made, the Jinja template of
the model's files, its manifest's Go template, the renderer that its config names, and last a plain template, with a
note to the user. Where the files have several named templates, `default` is used, and `tool_use` where there are tools.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sotto.engine.config.text_files import chat_templates
from sotto.engine.prompt.renderers import RENDERERS
from sotto.store.printable import printable
from sotto.store.records import ModelSource

# Only Jinja has `{%`; Go looks up fields, whose names begin with a full stop and a capital letter.
_JINJA = re.compile(r"\{%")
_GO = re.compile(r"\{\{-?(?:[^{}]*[ (])?\$?\.[A-Z]")
_FOR_TOOLS = "tool_use"
_MAX_NAME_LENGTH = 40
_LARGE_GEMMA = 12 * 10**9


class TemplateKind(StrEnum):
    """The language of a template."""

    JINJA = "jinja"
    GO = "go"
    RENDERER = "renderer"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class TemplateChoice:
    """A template that was chosen.

    Attributes:
        kind: Its language.
        text: Its source, or the name of a renderer; empty for the plain template.
        label: Its name in error sentences.
        note: What the user should know, in a sentence; empty where the model's only template is used.
        with_tools: The template to use where there are tools; None for the same.
    """

    kind: TemplateKind
    text: str = ""
    label: str = "The model's chat template"
    note: str = ""
    with_tools: "TemplateChoice | None" = None


def choose_template(source: ModelSource) -> TemplateChoice:
    """Choose the template that renders the prompts of a model.

    Raises:
        BrokenModelError: Its files have something other than a template in its place.
    """
    if source.user_template:
        return custom_template(source.user_template)
    if source.chosen_template:
        return TemplateChoice(kind_of_text(source.chosen_template), source.chosen_template)
    if texts := chat_templates(source):
        return _choose_named(texts)
    if source.go_template:
        return TemplateChoice(TemplateKind.GO, source.go_template)
    name = _renderer_name(source)
    if name in RENDERERS:
        note = f"It brings no chat template, so its prompts are made as Sotto knows the format {name}."
        return TemplateChoice(TemplateKind.RENDERER, name, f"The format {name}", note)
    unknown = f", and Sotto does not know the format {name[:40]} that its config names" if name else ""
    return TemplateChoice(
        TemplateKind.PLAIN,
        note=f"It brings no chat template{unknown}, so it reads a conversation as plain text, and may "
        "answer worse than it could: choose its chat template.",
    )


def _choose_named(texts: Mapping[str, str]) -> TemplateChoice:
    """Choose the first of a model's templates, with its variant for tools if there is one."""
    (name, text), *others = texts.items()
    if not others:
        return TemplateChoice(TemplateKind.JINJA, text)
    names = ", ".join(printable(each, _MAX_NAME_LENGTH) for each in texts)
    note = f"Of its chat templates, {names}, the first makes its prompts"
    for_tools = None
    if name != _FOR_TOOLS and _FOR_TOOLS in texts:
        for_tools = TemplateChoice(TemplateKind.JINJA, texts[_FOR_TOOLS], _name_in_errors(_FOR_TOOLS))
        note += f", and {_FOR_TOOLS} does where there are tools"
    return TemplateChoice(TemplateKind.JINJA, text, _name_in_errors(name), f"{note}.", for_tools)


def _name_in_errors(name: str) -> str:
    return f"The model's chat template {printable(name, _MAX_NAME_LENGTH)}"


def custom_template(text: str) -> TemplateChoice:
    """Return a template that the user or a request supplied, in Jinja or Go, as a choice."""
    note = "Its prompts are made by the template that you gave it."
    return TemplateChoice(kind_of_text(text), text, "The template you gave", note)


def _renderer_name(source: ModelSource) -> str:
    """Return the name of the model's renderer; a config names the same format, `gemma4`, for large and small models."""
    large = source.renderer == "gemma4" and (source.record.parameters or 0) >= _LARGE_GEMMA
    return "gemma4-large" if large else source.renderer


def kind_of_text(text: str) -> TemplateKind:
    """Return whether a template is Jinja or Go."""
    return TemplateKind.GO if not _JINJA.search(text) and _GO.search(text) else TemplateKind.JINJA

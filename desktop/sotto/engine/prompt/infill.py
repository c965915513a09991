"""Prompts that ask a model for what is missing between two texts.

A Go template that knows of `.Suffix` says how, else the marks of the vocabulary do. What a person's texts hold stays
text, also where it looks like one of the marks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sotto.engine.prompt.go_template.nodes import GoTemplateError
from sotto.engine.prompt.go_template.template import GoTemplate
from sotto.engine.prompt.template_bounds import TemplateBoundsError
from sotto.engine.prompt.template_choice import TemplateKind, kind_of_text
from sotto.engine.tokens.infill_marks import INFILL_ENDS, InfillMarks, infill_marks
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.records import ModelSource

Files = Sequence[tuple[str, str]]

_CANNOT = (
    "This model has no way to fill in a gap: its template knows no .Suffix, and its vocabulary has no marks for it."
)
_NO_SUFFIX = "The template you gave has no place for a suffix; it should have {{ .Suffix }} in it, in Go."
# What llama.cpp, whose clients send files, has where nobody says otherwise, and where there is no mark for files.
_REPOSITORY, _FILE, _BETWEEN = "myproject", "filename", "\n\n--- snippet ---\n\n"
# Of what there is room for: what stays of the text behind the gap where both are too long.
_SUFFIX_SHARE = 4


def suffix_template(source: ModelSource) -> GoTemplate | None:
    """Return the Go template by which a model is asked to fill in; None where it has none that can."""
    for text in (source.user_template, source.go_template):
        if text and kind_of_text(text) is TemplateKind.GO:
            try:
                template = GoTemplate(text)
            except (GoTemplateError, TemplateBoundsError):
                # Where it makes the prompts of conversations, the model is refused for it; else nobody needs it.
                continue
            if template.knows_suffix:
                return template
    return None


@dataclass(frozen=True, slots=True)
class _Gap:
    """What is around a gap: the tokens before and behind it, and the texts that they are of; None where not known."""

    before: tuple[int, ...] = ()
    behind: tuple[int, ...] = ()
    prefix: str | None = None
    suffix: str | None = None


class Infill:
    """Makes the prompts of one model.

    Attributes:
        ends: Tokens that end what fills a gap, besides those that end any answer.
    """

    def __init__(self, tokenizer: Tokenizer, template: GoTemplate | None) -> None:
        """Look for what the model has.

        Args:
            tokenizer: The model's.
            template: Its Go template, if that knows of suffixes.
        """
        self._tokenizer = tokenizer
        self._template = template
        self._marks = infill_marks(tokenizer.added)
        self.ends = frozenset(token for text, token in tokenizer.added.items() if text in INFILL_ENDS)

    @property
    def is_known(self) -> bool:
        """Whether the model has a way to fill in."""
        return self._template is not None or self._marks is not None

    def prompt(
        self,
        prefix: str | tuple[int, ...],
        suffix: str,
        files: Files = (),
        *,
        template: str = "",
        most: int | None = None,
    ) -> tuple[int, ...]:
        """Return the prompt for a gap.

        Args:
            prefix: What comes before it, or its tokens.
            suffix: What comes behind it.
            files: Names and texts of others, the nearest last.
            template: What asks in place of the model's own way; empty for that.
            most: The most tokens of it; None for as many as it has. What is farthest from the gap is left out then.

        Raises:
            InvalidRequestError: The model has no way to fill in, or what is given as a template has no place for it.
            BrokenModelError: The template fails, or the tokenizer does.
        """
        gap = _Gap(
            prefix if isinstance(prefix, tuple) else tuple(self._cut(prefix)),
            # By itself, as the room for both is shared.
            tuple(self._behind(suffix)),
            prefix if isinstance(prefix, str) else None,
            suffix,
        )
        others = [self._file(name, text) for name, text in files]
        way = self._given(template) if template else self._way
        whole = self._joined(way, gap, others)
        if most is None or len(whole) <= most:
            return whole
        while others and len(whole) > most:
            del others[0]
            whole = self._joined(way, gap, others)
        if len(whole) <= most:
            return whole
        room = most - len(self._joined(way, _Gap(), ()))
        if room < 0:
            raise InvalidRequestError(
                f"What asks this model to fill in takes {most - room} tokens, and there is room for {most}: give it a "
                "larger num_ctx."
            )
        behind = min(len(gap.behind), max(room // _SUFFIX_SHARE, room - len(gap.before)))
        before = min(len(gap.before), room - behind)
        return self._joined(way, _Gap(gap.before[len(gap.before) - before :], gap.behind[:behind]), ())

    @cached_property
    def _way(self) -> GoTemplate | InfillMarks:
        """What the model is asked by. A template whose marks are none of its tokens is not it, where others are."""
        if self._marks is None or self._template is None:
            if (only := self._template or self._marks) is None:
                raise InvalidRequestError(_CANNOT)
            return only
        tokens = self._tokenizer.encode(_filled(self._template, "a", "b"), add_bos=False)
        written = {self._tokenizer.added[mark] for mark in self._marks.needed} <= set(tokens)
        return self._template if written else self._marks

    def _given(self, text: str) -> GoTemplate:
        try:
            template = GoTemplate(text)
        except (GoTemplateError, TemplateBoundsError) as error:
            raise InvalidRequestError(f"The template you gave cannot be read: {error}.") from error
        if not template.knows_suffix:
            raise InvalidRequestError(_NO_SUFFIX)
        return template

    def _joined(self, way: GoTemplate | InfillMarks, gap: "_Gap", others: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        if isinstance(way, InfillMarks):
            asked = self._marked(way, gap)
        else:
            before, behind = (self._text(gap.before, gap.prefix), self._text(gap.behind, gap.suffix))
            asked = self._tokenizer.encode(_filled(way, before, behind), add_bos=False)
        return tuple(self._tokenizer.begun([*self._files(others), *asked]))

    def _marked(self, marks: InfillMarks, gap: "_Gap") -> list[int]:
        ids = self._tokenizer.added
        first, second = (ids[marks.prefix], *gap.before), (ids[marks.suffix], *gap.behind)
        if marks.suffix_first:
            first, second = second, first
        return [*first, *second, *((ids[marks.middle],) if marks.middle else ())]

    def _text(self, tokens: tuple[int, ...], text: str | None) -> str:
        """Return a text as a template is given it, or that of its tokens, which may begin within a character."""
        return self._tokenizer.guarded(self._tokenizer.decode(tokens).strip("\ufffd") if text is None else text)

    def _files(self, others: Sequence[tuple[int, ...]]) -> list[int]:
        """Return what stands in front of the gap's own text."""
        if not others:
            return []
        found = [token for other in others for token in other]
        mark = self._mark_of_files
        if mark is None:
            return found
        repository = self._tokenizer.added.get(self._marks.repository) if self._marks else None
        named = [] if repository is None else [repository, *self._cut(f"{_REPOSITORY}\n")]
        return [*named, *found, mark, *self._cut(f"{_FILE}\n")]

    def _file(self, name: str, text: str) -> tuple[int, ...]:
        mark = self._mark_of_files
        if mark is None:
            return tuple(self._cut(_BETWEEN + text))
        return (mark, *self._cut(f"{name}\n{text}"))

    @property
    def _mark_of_files(self) -> int | None:
        return self._tokenizer.added.get(self._marks.file) if self._marks else None

    def _cut(self, text: str) -> list[int]:
        return self._tokenizer.encode(self._tokenizer.guarded(text), add_bos=False) if text else []

    def _behind(self, text: str) -> list[int]:
        """Return the tokens of a text that goes on behind a gap: no space is put in front of it."""
        return self._tokenizer.encode_on(self._tokenizer.guarded(text)) if text else []


def _filled(template: GoTemplate, prefix: str, suffix: str) -> str:
    try:
        return template.filled(prefix, suffix)
    except (GoTemplateError, TemplateBoundsError) as error:
        raise BrokenModelError(f"The model's chat template fails: {error}.") from error

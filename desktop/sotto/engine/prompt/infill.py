"""Fill-in-the-middle prompts, which ask a model for the text between a prefix and a suffix.

They are built by a Go template that uses `.Suffix`, or else with the fill-in-the-middle tokens of the vocabulary. Such
tokens in the user's texts are escaped.
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
# llama.cpp's names and its separator for models without a file token, as its clients send files.
_REPOSITORY, _FILE, _SEPARATOR = "myproject", "filename", "\n\n--- snippet ---\n\n"
# Where both texts are too long, the suffix gets this part of the room: a quarter.
_SUFFIX_SHARE = 4


def suffix_template(source: ModelSource) -> GoTemplate | None:
    """Return a model's Go template that can render a suffix; None where it has none."""
    for text in (source.user_template, source.chosen_template, source.go_template):
        if text and kind_of_text(text) is TemplateKind.GO:
            try:
                template = GoTemplate(text)
            except (GoTemplateError, TemplateBoundsError):
                # If it also renders conversations, loading the model reports the error; otherwise nobody needs it.
                continue
            if template.knows_suffix:
                return template
    return None


@dataclass(frozen=True, slots=True)
class _Gap:
    """The surroundings of a gap: the tokens before and after it, and their texts; None where not known."""

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    prefix: str | None = None
    suffix: str | None = None


class Infill:
    """Builds fill-in-the-middle prompts for one model.

    Attributes:
        ends: Tokens that end the filled-in text, in addition to those that end any answer.
    """

    def __init__(self, tokenizer: Tokenizer, template: GoTemplate | None) -> None:
        """Find the model's fill-in-the-middle tokens.

        Args:
            tokenizer: The model's tokenizer.
            template: Its Go template if that uses `.Suffix`, or else None.
        """
        self._tokenizer = tokenizer
        self._template = template
        self._marks = infill_marks(tokenizer.added)
        self.ends = frozenset(token for text, token in tokenizer.added.items() if text in INFILL_ENDS)

    @property
    def is_known(self) -> bool:
        """Whether the model can fill gaps."""
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
            prefix: The text before the gap, or its tokens.
            suffix: The text after the gap.
            files: Names and texts of other files, the most relevant last.
            template: A Go template to use instead of the model's own way; empty for that.
            most: Most tokens of the prompt, where what is farthest from the gap is left out; None for no limit.

        Raises:
            InvalidRequestError: The model cannot fill gaps, or the given template has no place for the suffix.
            BrokenModelError: The template or the tokenizer fails.
        """
        gap = _Gap(
            prefix if isinstance(prefix, tuple) else tuple(self._encode(prefix)),
            # Encoded separately, as both share the room.
            tuple(self._encode_suffix(suffix)),
            prefix if isinstance(prefix, str) else None,
            suffix,
        )
        others = [self._encode_file(name, text) for name, text in files]
        form = self._parse_template(template) if template else self._default_format
        whole = self._build(form, gap, others)
        if most is None or len(whole) <= most:
            return whole
        while others and len(whole) > most:
            del others[0]
            whole = self._build(form, gap, others)
        if len(whole) <= most:
            return whole
        room = most - len(self._build(form, _Gap(), ()))
        if room < 0:
            raise InvalidRequestError(
                f"What asks this model to fill in takes {most - room} tokens, and there is room for {most}: give it a "
                "larger num_ctx."
            )
        after = min(len(gap.after), max(room // _SUFFIX_SHARE, room - len(gap.before)))
        before = min(len(gap.before), room - after)
        return self._build(form, _Gap(gap.before[len(gap.before) - before :], gap.after[:after]), ())

    @cached_property
    def _default_format(self) -> GoTemplate | InfillMarks:
        """The template or the tokens to use: tokens if the template prints marks that are not the vocabulary's."""
        if self._marks is None or self._template is None:
            if (only := self._template or self._marks) is None:
                raise InvalidRequestError(_CANNOT)
            return only
        tokens = self._tokenizer.encode(_render_gap(self._template, "a", "b"), add_bos=False)
        written = {self._tokenizer.added[mark] for mark in self._marks.needed} <= set(tokens)
        return self._template if written else self._marks

    def _parse_template(self, text: str) -> GoTemplate:
        try:
            template = GoTemplate(text)
        except (GoTemplateError, TemplateBoundsError) as error:
            raise InvalidRequestError(f"The template you gave cannot be read: {error}.") from error
        if not template.knows_suffix:
            raise InvalidRequestError(_NO_SUFFIX)
        return template

    def _build(self, form: GoTemplate | InfillMarks, gap: "_Gap", others: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        if isinstance(form, InfillMarks):
            tokens = self._mark_gap(form, gap)
        else:
            prefix, suffix = (self._template_text(gap.before, gap.prefix), self._template_text(gap.after, gap.suffix))
            tokens = self._tokenizer.encode(_render_gap(form, prefix, suffix), add_bos=False)
        return tuple(self._tokenizer.add_prefix([*self._encode_files(others), *tokens]))

    def _mark_gap(self, marks: InfillMarks, gap: "_Gap") -> list[int]:
        ids = self._tokenizer.added
        first, second = (ids[marks.prefix], *gap.before), (ids[marks.suffix], *gap.after)
        if marks.suffix_first:
            first, second = second, first
        return [*first, *second, *((ids[marks.middle],) if marks.middle else ())]

    def _template_text(self, tokens: tuple[int, ...], text: str | None) -> str:
        """Return a text, escaped for a template; None is decoded from `tokens`, which may begin within a character."""
        return self._tokenizer.escape_marks(self._tokenizer.decode(tokens).strip("\ufffd") if text is None else text)

    def _encode_files(self, others: Sequence[tuple[int, ...]]) -> list[int]:
        """Return the tokens of other files, which come before those of the gap."""
        if not others:
            return []
        found = [token for other in others for token in other]
        mark = self._file_token
        if mark is None:
            return found
        repository = self._tokenizer.added.get(self._marks.repository) if self._marks else None
        named = [] if repository is None else [repository, *self._encode(f"{_REPOSITORY}\n")]
        return [*named, *found, mark, *self._encode(f"{_FILE}\n")]

    def _encode_file(self, name: str, text: str) -> tuple[int, ...]:
        mark = self._file_token
        if mark is None:
            return tuple(self._encode(_SEPARATOR + text))
        return (mark, *self._encode(f"{name}\n{text}"))

    @property
    def _file_token(self) -> int | None:
        return self._tokenizer.added.get(self._marks.file) if self._marks else None

    def _encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(self._tokenizer.escape_marks(text), add_bos=False) if text else []

    def _encode_suffix(self, text: str) -> list[int]:
        """Return the tokens of the text after a gap, without the space that some tokenizers put before a text."""
        return self._tokenizer.encode_continuation(self._tokenizer.escape_marks(text)) if text else []


def _render_gap(template: GoTemplate, prefix: str, suffix: str) -> str:
    try:
        return template.render_gap(prefix, suffix)
    except (GoTemplateError, TemplateBoundsError) as error:
        raise BrokenModelError(f"The model's chat template fails: {error}.") from error

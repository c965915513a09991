"""Special tokens with which models of each family mark the text before and after a gap to fill (fill-in-the-middle).

The marks are from the papers and tokenizers that the models were published with, and from llama.cpp, which knows most
of them as well. Order and white space matter: a model fills gaps well only in the form that it was trained on.
"""

from collections.abc import Container
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InfillMarks:
    """One family's marks, each a single token.

    Attributes:
        prefix: Precedes the text before the gap.
        suffix: Precedes the text after the gap.
        middle: Asks for the text that fills the gap; empty if the family has no such mark and puts the prefix last.
        suffix_first: Whether the text after the gap comes first.
        repository: Precedes the name of a repository, after which whole files may follow; empty for none.
        file: Precedes a file's name, a line break and the file's text; empty for none.
    """

    prefix: str
    suffix: str
    middle: str
    suffix_first: bool = False
    repository: str = ""
    file: str = ""

    @property
    def needed(self) -> tuple[str, ...]:
        """The marks without which no gap can be filled."""
        return tuple(filter(None, (self.prefix, self.suffix, self.middle)))


_FAMILIES = (
    # Qwen Coder, Qwen 3, Granite 4. CodeGemma has another mark for files, and none for a repository.
    InfillMarks("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", repository="<|repo_name|>", file="<|file_sep|>"),
    InfillMarks("<fim_prefix>", "<fim_suffix>", "<fim_middle>", file="<file_sep>"),  # StarCoder, Granite Code
    InfillMarks("<fim-prefix>", "<fim-suffix>", "<fim-middle>"),  # SantaCoder
    InfillMarks("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),  # DeepSeek
    InfillMarks("<|fim_begin|>", "<|fim_hole|>", "<|fim_end|>"),
    InfillMarks("▁<PRE>", "▁<SUF>", "▁<MID>"),  # CodeLlama
    InfillMarks("<PRE>", "<SUF>", "<MID>"),
    InfillMarks("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),  # GLM 4.5
    InfillMarks("<|prefix|>", "<|suffix|>", "<|middle|>"),  # Falcon H1 Tiny Coder
    InfillMarks("<[fim-prefix]>", "<[fim-suffix]>", "<[fim-middle]>", suffix_first=True),  # Seed Coder
    InfillMarks("[PREFIX]", "[SUFFIX]", "", suffix_first=True),  # Codestral
)
# These end the text in the gap: padding, the beginning of another file, or any end-of-text token.
_ENDS = (
    "<|endoftext|>", "<EOT>", "▁<EOT>", "<|EOT|>", "<|fim_pad|>", "<fim_pad>", "<fim-pad>", "<PAD>", "<|file_sep|>",
    "<file_sep>", "<|file_separator|>", "<|repo_name|>", "<repo_name>", "<reponame>", "<filename>",
)  # fmt: skip

INFILL_MARKS = frozenset(mark for family in _FAMILIES for mark in family.needed)
"""All marks around a gap."""
INFILL_ENDS = INFILL_MARKS | frozenset(_ENDS)
"""All tokens that end the text in a gap, in models that have them."""


def infill_marks(tokens: Container[str]) -> InfillMarks | None:
    """Return the marks of a vocabulary; None where it has none.

    Args:
        tokens: Its added tokens.
    """
    return next((family for family in _FAMILIES if all(mark in tokens for mark in family.needed)), None)

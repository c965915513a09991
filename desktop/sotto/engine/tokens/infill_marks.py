"""How models mark what stands before and behind a gap that they are to fill, by the tokens of their vocabularies.

Facts are from the papers and tokenizers that the models were published with, and from llama.cpp, which knows most of
them as well. Order and white space matter: a model fills in well only what is put as it was trained.
"""

from collections.abc import Container
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InfillMarks:
    """One family's marks, each a token of its own.

    Attributes:
        prefix: Stands in front of what comes before the gap.
        suffix: Stands in front of what comes behind it.
        middle: Asks for what fills it; empty where nothing does, but that the prefix comes last.
        suffix_first: Whether what comes behind the gap stands first.
        repository: Stands in front of a repository's name, where whole files may precede; empty for none.
        file: Stands in front of a file's name, a new line and its text; empty for none.
    """

    prefix: str
    suffix: str
    middle: str
    suffix_first: bool = False
    repository: str = ""
    file: str = ""

    @property
    def needed(self) -> tuple[str, ...]:
        """Those without which nothing can be filled in."""
        return tuple(filter(None, (self.prefix, self.suffix, self.middle)))


_FAMILIES = (
    # Qwen Coder and Qwen 3, Granite 4; CodeGemma has another mark for files, and begins no repository.
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
# With these the gap is filled: what pads, what begins another file, or the text's end by whatever name.
_ENDS = (
    "<|endoftext|>", "<EOT>", "▁<EOT>", "<|EOT|>", "<|fim_pad|>", "<fim_pad>", "<fim-pad>", "<PAD>", "<|file_sep|>",
    "<file_sep>", "<|file_separator|>", "<|repo_name|>", "<repo_name>", "<reponame>", "<filename>",
)  # fmt: skip

INFILL_MARKS = frozenset(mark for family in _FAMILIES for mark in family.needed)
"""All that stand around a gap."""
INFILL_ENDS = INFILL_MARKS | frozenset(_ENDS)
"""All that end what fills one, where they are tokens of a model."""


def infill_marks(tokens: Container[str]) -> InfillMarks | None:
    """Return the marks of a vocabulary; None where it has none.

    Args:
        tokens: Its added tokens.
    """
    return next((family for family in _FAMILIES if all(mark in tokens for mark in family.needed)), None)

"""A prepared request: the tokens of its prompt, and all that is known about its answer beforehand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sotto.engine.contract.requests import GenerateRequest, Overflow, SamplingOptions
from sotto.engine.grammar.guides import Guide
from sotto.engine.grammar.lead import Lead
from sotto.engine.parsing.answer_parser import Parser, parameters_of
from sotto.engine.parsing.families import PLAIN, Family, Thoughts
from sotto.engine.prompt.overflow import shift_context
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.engine.vision.prompt_images import PromptImage, without_torn_images

# Tokens of an answer that is not limited: only few are longer.
_USUAL_ANSWER = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRequest:
    """A request turned into tokens. It can be used for several generations.

    Attributes:
        request: The request as it was received.
        tokenizer: The tokenizer of the model for which it was prepared.
        family: How that model marks thoughts and tool calls.
        context_length: Most tokens that prompt and answer may have together.
        prompt: Tokens, at least one and fewer than the context holds; pseudo-tokens for rows of features of images.
        boundaries: Positions in the prompt, ascending, at which a later prompt may diverge from it: after the system
            prompt, after the last messages, before the generation prompt. Empty when not known.
        keep: Number of tokens at the beginning that stay when a full context is shifted: the system prompt, or only
            the tokens that begin any text.
        opening: The generation prompt, which asks for the answer; empty when not known.
        sampling: How tokens are sampled.
        stop: Texts that end the answer.
        ends: Tokens that end the answer.
        max_tokens: Most tokens to sample, at least 1. More than the context has room for only where it is shifted.
        received: `time.perf_counter_ns()` when the request arrived; its total duration counts from there.
        spell: Returns tokens that spell a text exactly.
        dropped_messages: How many messages were left out because the conversation is too long.
        cut_messages: How many of the others lost the middle of their text.
        dropped_tokens: How many tokens the prompt was shortened by in all.
        loop_guard: Whether the answer ends when it repeats itself endlessly.
        breakers: DRY's sequence breakers, as tokens; empty where DRY is off.
        guide: Says which tokens a constrained answer may begin with; None without a constraint.
        opened: The thought inside which the prompt ends; None where it ends outside of thoughts.
        begun: Whether the prompt ends with the beginning of the answer.
        lead: What may come before a constrained answer; None for nothing.
        echo: Text of the prompt that the answer repeats first.
        images: The images in the prompt, in their order.
    """

    request: GenerateRequest
    tokenizer: Tokenizer
    family: Family
    context_length: int
    prompt: tuple[int, ...]
    boundaries: tuple[int, ...]
    keep: int
    opening: tuple[int, ...]
    sampling: SamplingOptions
    stop: tuple[str, ...]
    ends: frozenset[int]
    max_tokens: int
    received: int
    spell: Callable[[str], list[int]]
    dropped_messages: int = 0
    cut_messages: int = 0
    dropped_tokens: int = 0
    loop_guard: bool = True
    breakers: frozenset[int] = frozenset()
    guide: Guide | None = None
    opened: Thoughts | None = None
    begun: bool = False
    lead: Lead | None = None
    echo: str = ""
    images: tuple[PromptImage, ...] = ()

    @property
    def expected_tokens(self) -> int:
        """Tokens that prompt and answer may have, of an answer of usual length."""
        return len(self.prompt) + min(self.max_tokens, _USUAL_ANSWER)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text that is put into the answer in place of sampled tokens."""
        return self.tokenizer.encode(text, add_bos=False) if self.guide is None else self.spell(text)

    def parser(self) -> Parser:
        """Return a parser that splits the answer into thoughts, text and tool calls."""
        choice, lead = self.request.tool_choice, self.lead
        if self.request.prompt is not None or self.request.grammar is not None:
            return Parser(PLAIN, lead=lead, begun=self.begun and lead is not None)
        tools, single = parameters_of(self.request.tools), choice is not None and choice.single
        return Parser(self.family, tools, self.opened, begun=self.begun, lead=lead, single=single)

    def shift_context(self, tokens: Sequence[int]) -> Sequence[int] | None:
        """Return the tokens to continue with when the context is full; None where the answer ends there.

        Args:
            tokens: Prompt and answer so far.
        """
        if self.request.overflow is not Overflow.SHIFT:
            return None
        kept = shift_context(tokens, self.keep, max(1, self.context_length * 3 // 4), self.opening)
        return without_torn_images(kept, self.images) if self.images else kept

"""What a request becomes before anything is computed: its tokens, and everything that is known of its answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sotto.engine.contract.requests import GenerateRequest, Overflow, SamplingOptions
from sotto.engine.grammar.guides import Guide
from sotto.engine.grammar.lead import Lead
from sotto.engine.parsing.answer_parser import Parser, parameters_of
from sotto.engine.parsing.families import PLAIN, Family, Thoughts
from sotto.engine.prompt.overflow import shifted
from sotto.engine.tokens.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A request turned into tokens. It can be generated from several times.

    Attributes:
        request: As asked.
        tokenizer: That of the model for which it was prepared.
        family: How that model marks thoughts and calls of tools.
        context_length: Most tokens that prompt and answer may have together.
        prompt: Tokens, at least one and fewer than the context holds.
        boundaries: Places in the prompt, ascending, at which a later prompt may part from it: behind the system prompt,
            behind the last messages, before what asks for the answer. Empty when not known.
        keep: Tokens of the prompt that stay when a full context is shifted: the system prompt, and what begins a text.
        opening: What asks for the answer; empty when not known.
        sampling: How tokens are drawn.
        stop: Texts that end the answer.
        ends: Tokens that end the answer.
        max_tokens: Most tokens to draw, at least 1; more than the context has room for only where it is shifted.
        received: `time.perf_counter_ns()` when the request was taken up; its total duration counts from there.
        spell: Returns tokens that spell a text exactly.
        dropped_messages: How many messages were left out because the conversation is too long.
        cut_messages: How many of the others lost the middle of their text.
        dropped_tokens: How many tokens the prompt was shortened by in all.
        loop_guard: Whether the answer ends when it repeats itself without end.
        breakers: Tokens that end a passage, for DRY; none where it is off.
        guide: Says which tokens the answer may begin with; None where it may be anything.
        opened: The thought that the prompt ends inside of; None for none.
        begun: Whether the prompt ends with some of the answer.
        lead: What may stand in front of an answer that must be something; None for nothing.
        echo: What the answer begins with before anything is drawn.
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

    def encode(self, text: str) -> list[int]:
        """Return the tokens of what is written in the model's place."""
        return self.tokenizer.encode(text, add_bos=False) if self.guide is None else self.spell(text)

    def parser(self) -> Parser:
        """Return what tells the parts of the answer apart."""
        choice, lead = self.request.tool_choice, self.lead
        if self.request.prompt is not None or self.request.grammar is not None:
            return Parser(PLAIN, lead=lead, begun=self.begun and lead is not None)
        tools, single = parameters_of(self.request.tools), choice is not None and choice.single
        return Parser(self.family, tools, self.opened, begun=self.begun, lead=lead, single=single)

    def shifted(self, tokens: Sequence[int]) -> Sequence[int] | None:
        """Return the tokens to go on with when the context is full; None where the answer ends there.

        Args:
            tokens: Prompt and answer so far.
        """
        if self.request.overflow is not Overflow.SHIFT:
            return None
        return shifted(tokens, self.keep, max(1, self.context_length * 3 // 4), self.opening)

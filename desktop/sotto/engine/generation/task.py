"""What one request asks to be generated, with everything that turns logits into its text."""

from collections.abc import Callable
from collections.abc import Sequence as Series
from dataclasses import dataclass, field

from sotto.engine.grammar.guides import Guide
from sotto.engine.parsing.families import PLAIN
from sotto.engine.parsing.parser import Parser
from sotto.engine.sampling.sampler import Sampler
from sotto.engine.tokens.detokenizer import Detokenizer
from sotto.engine.tokens.stop_strings import StopMatcher


@dataclass(frozen=True, slots=True)
class Task:
    """What to generate.

    Attributes:
        request_id: Events carry it.
        prompt: At least one token.
        boundaries: Lengths at which the system prompt and messages end, ascending.
        max_tokens: Most tokens to draw, at least 1.
        eos_ids: Tokens that end the answer.
        sampler: Draws tokens.
        text: Turns tokens into text.
        stop: Watches for stop strings.
        received: `time.perf_counter_ns()` when the request was taken up; its total duration counts from there.
        cancelled: Asked once per step whether to end.
        context: Most tokens that are fed at a time.
        shift: Takes all tokens to those to go on with when the context is full; None ends the answer there.
        dropped: Tokens that were left out of the prompt because they had no room.
        dropped_messages: Messages that were left out of it for that.
        cut_messages: Messages of it that lost the middle of their text for that.
        loop_guard: Whether the answer ends when it repeats itself without end.
        logprobs: How many of the likeliest tokens are told beside each; None for nothing about how likely any is.
        spelled: Gives the bytes of a token, for those.
        guide: Says which tokens may follow; None where any may.
        parser: Tells the parts of the answer apart.
        think_budget: Most tokens of thoughts, until they are ended; None for no limit.
        encode: Cuts a text into tokens.
        echo: What the answer begins with before anything is drawn.
        tells_context: Whether the end tells all tokens of prompt and answer.
    """

    request_id: str
    prompt: Series[int]
    boundaries: Series[int]
    max_tokens: int
    eos_ids: frozenset[int]
    sampler: Sampler
    text: Detokenizer
    stop: StopMatcher
    received: int
    cancelled: Callable[[], bool] = lambda: False
    context: float = float("inf")
    shift: Callable[[Series[int]], Series[int]] | None = None
    dropped: int = 0
    dropped_messages: int = 0
    cut_messages: int = 0
    loop_guard: bool = True
    logprobs: int | None = None
    spelled: Callable[[int], bytes] = lambda _: b""
    guide: Guide | None = None
    parser: Parser = field(default_factory=lambda: Parser(PLAIN))
    think_budget: int | None = None
    encode: Callable[[str], Series[int]] = lambda _: ()
    echo: str = ""
    tells_context: bool = False

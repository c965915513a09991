"""Requests that go down to the engine: frozen values, free of MLX and Qt."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.tool_choice import ToolChoice


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Attributes:
        role: `system`, `user`, `assistant`, or `tool` for what a tool answered.
        content: What was said. Thoughts and calls may stand in an assistant's as
            `sotto.engine.contract.answer_parts.markup` writes them.
        thinking: What an assistant thought before.
        tool_calls: Tools that an assistant wanted to use.
        tool_name: The tool that answers.
        tool_call_id: The id of the call that it answers; empty where calls have none.
    """

    role: str
    content: str
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_name: str = ""
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """How the next token is sampled; names, order and defaults are Ollama's, or llama.cpp's where Ollama has none.

    Attributes:
        temperature: 0 takes the most probable token.
        top_k: Keep the k likeliest; active when 0 < k < vocabulary.
        top_p: Keep the smallest set whose mass reaches p; active when 0 < p < 1.
        min_p: Drop what is less than min_p times the likeliest; active when 0 < m <= 1.
        repeat_penalty: Divides or multiplies the scores of recent tokens; 1 is off.
        repeat_last_n: How many recent tokens the penalties see; -1 the whole context, 0 none.
        presence_penalty: Subtracted once from each recent token's score.
        frequency_penalty: Subtracted once per occurrence.
        seed: The same seed gives the same answer; None for a random one.
        typical_p: Keep the smallest set of the most typical tokens whose mass reaches p; active when 0 < p < 1.
        xtc_probability: How often XTC leaves out the likeliest tokens; 0 is off.
        xtc_threshold: From which probability a token is one of these; the least likely of them stays.
        dry_multiplier: What DRY subtracts from a token that would repeat `dry_allowed_length` tokens and itself; 0 is
            off.
        dry_base: By how much that grows with each token more.
        dry_allowed_length: The shortest passage that is penalized.
        dry_penalty_last_n: How many recent tokens DRY sees; -1 the whole context, 0 none.
        dry_sequence_breakers: A token with one of these in its text ends a passage.
        mirostat: Which version of mirostat, 1 or 2, takes the place of everything that cuts unlikely or likely tokens
            off; 0 is off.
        mirostat_tau: The surprise of each token that mirostat holds an answer to, in bits.
        mirostat_eta: How fast it corrects itself.
        logit_bias: Tokens and what is added to their scores.
    """

    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.9
    min_p: float = 0.0
    repeat_penalty: float = 1.0
    repeat_last_n: int = 64
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int | None = None
    typical_p: float = 1.0
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    dry_penalty_last_n: int = -1
    dry_sequence_breakers: tuple[str, ...] = ("\n", ":", '"', "*")
    mirostat: int = 0
    mirostat_tau: float = 5.0
    mirostat_eta: float = 0.1
    logit_bias: tuple[tuple[int, float], ...] = ()


class Overflow(StrEnum):
    """What happens when the context has no room.

    `error` refuses a prompt that is too long and ends an answer where the context is full. The other two leave the
    oldest turns of a conversation out, never its system prompt or its last message. `truncate` also ends the answer
    where the context is full; `shift` then forgets the older half of what follows the system prompt, and goes on.
    """

    ERROR = "error"
    TRUNCATE = "truncate"
    SHIFT = "shift"


class GrammarKind(StrEnum):
    """The notation of a grammar."""

    JSON_SCHEMA = "json_schema"
    REGEX = "regex"
    LARK = "lark"


@dataclass(frozen=True, slots=True)
class Grammar:
    """A constraint on the form of an answer.

    Attributes:
        kind: The notation of `text`.
        text: A JSON schema, a regular expression for the whole answer, or a grammar in llguidance's dialect of Lark.
        name: What the field or file that it comes from is called, for messages.
    """

    kind: GrammarKind
    text: str
    name: str = "format"


class Think(StrEnum):
    """Whether a model thinks before it answers, and how much, for models that accept an effort."""

    OFF = "off"
    ON = "on"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """What to generate from.

    Attributes:
        id: Chosen by the caller; events carry it.
        messages: A conversation, rendered through the model's chat template. An answer at its end is gone on with.
        prompt: Text to complete without a template (raw), or its tokens as they are. Exactly one of `messages` and
            `prompt` is given.
        suffix: What stands behind a gap, before which `prompt` stands: the answer is what fills it. None for no gap.
        files: Names and texts of other files that the gap's own belongs with, the nearest last.
        context: Tokens of what was said before, behind which `messages` or `prompt` go; none of them is forgotten by
            turns. Its end tells all tokens then, also where these are none. None for nothing of that.
        echo: Whether the answer begins with the text of `prompt`.
        template: What renders `messages`, or asks for what fills a gap, in place of the model's own template, in Jinja
            or Go; empty for that one.
        sampling: How tokens are sampled. None is as the model's own manifest says, which then also stands in for a
            `num_predict` or `stop` that is not given.
        options: What goes before the manifest then, by Ollama's names.
        num_predict: Most tokens to generate; negative up to the end of the context, None up to
            `sotto.engine.contract.options.USUAL_LENGTH`.
        stop: Texts that end the answer and are not part of it; not looked for where there is a grammar.
        grammar: What the answer must be, behind what the model thinks where it thinks first. It then ends where it is
            complete, and is cut short by nothing but its length, the context, a loop or being cancelled.
        ignore_eos: Go on past end-of-sequence tokens, never sampled then, and through loops; for measurements.
        overflow: What happens when the context has no room.
        loop_guard: Whether an answer ends that repeats itself without end; None as usual, which is yes.
        logprobs: How many of the most probable tokens to report with each sampled one's log-probability; None for none.
        tools: Functions that the model may call, each an object with `type` and `function` as in OpenAI's API; see
            `sotto.engine.prompt.tools`.
        tool_choice: Which of them it must call; None for what it likes.
        think: Whether the model thinks first; None as its template does by itself.
        think_budget: Most tokens of thoughts; then the thought is ended, and the answer goes on. None for no limit.
    """

    id: str
    messages: tuple[Message, ...] = ()
    prompt: str | tuple[int, ...] | None = None
    suffix: str | None = None
    files: tuple[tuple[str, str], ...] = ()
    context: tuple[int, ...] | None = None
    echo: bool = False
    template: str = ""
    sampling: SamplingOptions | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    num_predict: int | None = None
    stop: tuple[str, ...] = ()
    grammar: Grammar | None = None
    ignore_eos: bool = False
    overflow: Overflow = Overflow.ERROR
    loop_guard: bool | None = None
    logprobs: int | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    tool_choice: ToolChoice | None = None
    think: Think | None = None
    think_budget: int | None = None

    @property
    def must_call(self) -> bool:
        """Whether the answer must be calls of tools."""
        return self.tool_choice is not None and self.tool_choice.required


@dataclass(frozen=True, slots=True)
class CountRequest:
    """A request to count the tokens of a conversation as a prompt.

    Attributes:
        id: Chosen by the caller; the event carries it.
        messages: As in `GenerateRequest`, at least one; so are all others but `texts`.
        texts: Parts of them that are counted by themselves as well.
    """

    id: str
    messages: tuple[Message, ...]
    texts: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    tool_choice: ToolChoice | None = None
    think: Think | None = None
    think_budget: int | None = None


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """A request for embeddings.

    Attributes:
        id: Chosen by the caller; events carry it.
        texts: One vector is made of each; in place of a text may stand its tokens, to which nothing is added.
        truncate: Whether a text that is too long is cut at its end; otherwise it is refused.
        dimensions: How many numbers of each vector are wanted, from its beginning on; None for all.
        normalise: Whether each is brought to length 1 even where the model's own files do not want it.
    """

    id: str
    texts: tuple[str | tuple[int, ...], ...]
    truncate: bool = True
    dimensions: int | None = None
    normalise: bool = False

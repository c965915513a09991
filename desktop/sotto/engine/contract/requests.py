"""Requests to the engine: frozen values, independent of MLX and Qt."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.message_content import Content, ImagePart, Part, parts_of, text_of_content
from sotto.engine.contract.tool_choice import ToolChoice


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Attributes:
        role: `system`, `user`, `assistant`, or `tool` for what a tool answered.
        content: What it says: a text, or parts in their order. The text of an assistant's may contain thoughts and
            calls as written by `sotto.engine.contract.answer_parts.markup`.
        thinking: The assistant's thoughts before it.
        tool_calls: The assistant's tool calls.
        tool_name: The tool whose result this is.
        tool_call_id: The id of the call that it answers; empty if calls have none.
    """

    role: str
    content: Content
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_name: str = ""
    tool_call_id: str = ""

    @property
    def parts(self) -> tuple[Part, ...]:
        """What it says, as parts."""
        return parts_of(self.content)

    @property
    def text(self) -> str:
        """What it says in words: all its texts, joined as they are."""
        return text_of_content(self.content)

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """The images in it."""
        return tuple(part for part in self.parts if isinstance(part, ImagePart))


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """How the next token is sampled; names, order and defaults are Ollama's, or llama.cpp's where Ollama has none.

    Attributes:
        temperature: 0 takes the most probable token.
        top_k: Keep the k most likely tokens; active when 0 < k < vocabulary.
        top_p: Keep the smallest set whose mass reaches p; active when 0 < p < 1.
        min_p: Drop tokens less likely than min_p times the most likely one; active when 0 < min_p <= 1.
        repeat_penalty: Divides or multiplies the scores of recent tokens; 1 is off.
        repeat_last_n: How many recent tokens the penalties see; -1 the whole context, 0 none.
        presence_penalty: Subtracted once from each recent token's score.
        frequency_penalty: Subtracted once per occurrence.
        seed: The same seed gives the same answer; None for a random one.
        typical_p: Keep the smallest set of the most typical tokens whose mass reaches p; active when 0 < p < 1.
        xtc_probability: How often XTC drops the most likely tokens; 0 is off.
        xtc_threshold: The probability from which a token is one of these; the least likely of them stays.
        dry_multiplier: The penalty of DRY for a token that would continue a repeated passage of `dry_allowed_length`
            tokens; 0 is off.
        dry_base: The factor of the penalty for each further token of the passage.
        dry_allowed_length: The length of the shortest passage that is penalized.
        dry_penalty_last_n: How many recent tokens DRY sees; -1 the whole context, 0 none.
        dry_sequence_breakers: A token with one of these in its text ends a passage.
        mirostat: The version of mirostat, 1 or 2, which replaces all truncation of the distribution; 0 is off.
        mirostat_tau: The target of mirostat, in bits of surprise per token.
        mirostat_eta: The learning rate of mirostat.
        logit_bias: Tokens, and the values to add to their scores.
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
        name: The field or file that it comes from, for error messages.
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
        suffix: The text after a gap that follows `prompt`; the answer fills the gap. None for no gap.
        files: Names and texts of related files for filling a gap, the nearest last.
        context: Tokens of an earlier conversation, which `messages` or `prompt` continue; they are never dropped turn
            by turn. `Finished` then has all tokens, even if this is empty. None for no context.
        echo: Whether the answer begins with the text of `prompt`.
        template: A template in Jinja or Go in place of the model's own; empty for the model's own.
        sampling: The sampling options. None for those of the model's manifest, which then also provides `num_predict`
            and `stop` if they are not given.
        options: Options that take precedence over the manifest then, by Ollama's names.
        num_predict: Maximum tokens of the answer; negative for the whole context, None for
            `sotto.engine.contract.options.DEFAULT_MAX_TOKENS`.
        stop: Texts that end the answer and are not part of it; ignored with a grammar.
        grammar: The grammar of the answer, after any thoughts. The answer ends when it is complete, and is cut short
            only by its length, the context, a loop or cancellation.
        ignore_eos: Whether to ban end-of-sequence tokens and ignore loops; for measurements.
        overflow: What happens when the context has no room.
        loop_guard: Whether an endlessly repeating answer is ended; None for the default, which is yes.
        logprobs: How many of the most probable tokens to report with each sampled one's log-probability; None for none.
        tools: Functions that the model may call, each an object with `type` and `function` as in OpenAI's API; see
            `sotto.engine.prompt.tools`.
        tool_choice: Which of them it must call; None for a free choice.
        think: Whether the model thinks first; None for the default of its template.
        think_budget: Maximum tokens of a thought, which is then ended so that the answer follows. None for no limit.
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
        messages: At least one. All fields except `texts` and `images` are as in `GenerateRequest`.
        texts: Texts to count separately.
        images: Images to count separately, with the marks around each.
    """

    id: str
    messages: tuple[Message, ...]
    texts: tuple[str, ...] = ()
    images: tuple[ImagePart, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    tool_choice: ToolChoice | None = None
    think: Think | None = None
    think_budget: int | None = None


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """A request for embeddings.

    Attributes:
        id: Chosen by the caller; events carry it.
        texts: Texts, or their tokens, to which nothing is added.
        truncate: Whether a text that is too long is truncated; otherwise it is refused.
        dimensions: How many numbers to keep of each vector, from its beginning; None for all.
        normalise: Whether to scale each vector to length 1 even if the model's files do not ask for it.
    """

    id: str
    texts: tuple[str | tuple[int, ...], ...]
    truncate: bool = True
    dimensions: int | None = None
    normalise: bool = False

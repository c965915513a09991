"""Requests that go down to the engine and events that come up: frozen values, free of MLX and Qt.

One request gives this sequence of events::

    PrefillProgress* -> TextChunk* -> Finished | Failed

Loading gives `LoadProgress*` and then `Loaded` or `Failed`, counting `Counted` or `Failed`. Vectors of texts come as
one `Embedded`, or end as `Finished` (they were cancelled) or `Failed`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from sotto.engine.likelihood import Likelihood
from sotto.engine.memory_figures import Measured, MemoryFigures
from sotto.engine.parsing.pieces import Kind, Piece, ToolCall, calls_of, thought_of


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Attributes:
        role: `system`, `user`, `assistant`, or `tool` for what a tool answered.
        content: What was said. Thoughts and calls may stand in an assistant's as `sotto.engine.parsing.pieces.markup`
            writes them.
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
    """How the next token is drawn; names, order and defaults are Ollama's, or llama.cpp's where Ollama has none.

    Attributes:
        temperature: 0 takes the likeliest token.
        top_k: Keep the k likeliest; active when 0 < k < vocabulary.
        top_p: Keep the smallest set whose mass reaches p; active when 0 < p < 1.
        min_p: Drop what is less than min_p times the likeliest; active when 0 < m <= 1.
        repeat_penalty: Divides or multiplies the scores of recent tokens; 1 is off.
        repeat_last_n: How many recent tokens the penalties see; -1 the whole context, 0 none.
        presence_penalty: Subtracted once from each recent token's score.
        frequency_penalty: Subtracted once per occurrence.
        seed: The same seed gives the same answer; None draws freely.
        typical_p: Keep the smallest set of the most typical tokens whose mass reaches p; active when 0 < p < 1.
        xtc_probability: How often XTC leaves out the likeliest tokens; 0 is off.
        xtc_threshold: From which probability a token is one of these; the least likely of them stays.
        dry_multiplier: What DRY subtracts from a token that would repeat `dry_allowed_length` tokens and itself; 0 is
            off.
        dry_base: By how much that grows with each token more.
        dry_allowed_length: The shortest passage that is penalized.
        dry_penalty_last_n: How many recent tokens DRY sees; -1 the whole context, 0 none.
        dry_sequence_breakers: A token with one of these in its text ends a passage.
        mirostat: 2 for mirostat v2, in place of everything that cuts unlikely or likely tokens off; 0 is off.
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
    """What is done where the context has no room.

    `error` refuses a prompt that is too long and ends an answer where the context is full. The other two leave the
    oldest turns of a conversation out, never its system prompt or its last message. `truncate` also ends the answer
    where the context is full; `shift` then forgets the older half of what follows the system prompt, and goes on.
    """

    ERROR = "error"
    TRUNCATE = "truncate"
    SHIFT = "shift"


class GrammarKind(StrEnum):
    """How it is written what an answer must be."""

    JSON_SCHEMA = "json_schema"
    REGEX = "regex"
    LARK = "lark"


@dataclass(frozen=True, slots=True)
class Grammar:
    """What an answer must be.

    Attributes:
        kind: How `text` is written.
        text: A JSON schema, a regular expression for the whole answer, or a grammar in llguidance's dialect of Lark.
        name: What the field or file that it comes from is called, for messages.
    """

    kind: GrammarKind
    text: str
    name: str = "format"


class Think(StrEnum):
    """Whether a model thinks before it answers, and how much where it can be told so."""

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
        prompt: Text to complete without a template (raw). Exactly one of `messages` and `prompt` is given.
        sampling: How tokens are drawn. None is as the model's own manifest says, which then also stands in for a
            `num_predict` or `stop` that is not given.
        options: What goes before the manifest then, by Ollama's names.
        num_predict: Most tokens to generate; negative up to the end of the context, None up to
            `sotto.engine.options.USUAL_LENGTH`.
        stop: Texts that end the answer and are not part of it; not looked for where there is a grammar.
        grammar: What the answer must be. It then ends where it is complete, and is cut short by nothing but its length,
            the context, a loop or being cancelled.
        ignore_eos: Go on past end-of-sequence tokens, which are then never drawn, and through loops; for measurements.
        overflow: What is done where the context has no room.
        loop_guard: Whether an answer ends that repeats itself without end; None as usual, which is yes.
        logprobs: With each token goes how likely it and so many of the likeliest were; None for nothing of that.
        tools: Functions that the model may call, each an object with `type` and `function` as in OpenAI's API; see
            `sotto.engine.tools`.
        think: Whether the model thinks first; None as its template does by itself.
        think_budget: Most tokens of thoughts; then the thought is ended, and the answer goes on. None for no limit.
    """

    id: str
    messages: tuple[Message, ...] = ()
    prompt: str | None = None
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
    think: Think | None = None
    think_budget: int | None = None


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What people can choose about the engine.

    Attributes:
        prefix_budget: Bytes that everything kept for later prompts may take in memory, running answers included; None
            as the machine allows.
        disk_budget: Bytes that it may take on disk; 0 for nothing.
        disk_root: The folder for that; None for nothing.
        kv_bits: Hold keys and values in 8 or 4 bits, where a layer allows it; None as the model computes them.
        memory_limit: Bytes of memory that a model may be planned with, however much there is; None for all that is
            free.
    """

    prefix_budget: int | None = None
    disk_budget: int = 0
    disk_root: Path | None = None
    kv_bits: int | None = None
    memory_limit: int | None = None


@dataclass(frozen=True, slots=True)
class CountRequest:
    """How many tokens a conversation would be, if a model were asked to answer it.

    Attributes:
        id: Chosen by the caller; the event carries it.
        messages: As in `GenerateRequest`, at least one.
        texts: Parts of them that are counted by themselves as well.
    """

    id: str
    messages: tuple[Message, ...]
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """What to make vectors of.

    Attributes:
        id: Chosen by the caller; events carry it.
        texts: One vector is made of each.
        truncate: Whether a text that is too long is cut at its end; otherwise it is refused.
        dimensions: How many numbers of each vector are wanted, from its beginning on; None for all.
        normalise: Whether each is brought to length 1 even where the model's own files do not want it.
    """

    id: str
    texts: tuple[str, ...]
    truncate: bool = True
    dimensions: int | None = None
    normalise: bool = False


class DoneReason(StrEnum):
    """Why an answer ended: by itself or at a stop text, at a limit, because it repeated itself, or when asked to."""

    STOP = "stop"
    LENGTH = "length"
    LOOP = "loop"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How far a load is.

    Attributes:
        phase: What is being done, in a word or two: `weights`, `tokenizer`, `warm-up`.
        done: Bytes of weights read so far.
        total: Bytes of weights in all.
    """

    phase: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A loaded model, as others need to know it.

    Attributes:
        digest: The record's digest.
        name: The record's name.
        architecture: `model_type`.
        context_length: Tokens a conversation may hold here: the model's own maximum, or less if asked.
        weight_bytes: Bytes the weights take in memory.
        kv_bytes_per_token: Bytes of cache per token of context, or None when layers differ with length.
        compute_type: Type of activations, for example `float32`.
        device: `cpu`, `metal` or `cuda`.
        has_chat_template: Whether messages are rendered by more than the plain template.
        load_duration: Nanoseconds.
        draft: The record's name of a second model that proposes tokens; empty when there is none.
        kv_note: Which layers hold keys and values in few bits, and what is left as it is; empty where none was to.
        context_note: Why there is less room than the model was made for, in a sentence; empty where there is not.
        template_note: What makes its prompts, in a sentence; empty where that is a template of its own.
        options: How answers are drawn where nobody says otherwise, by Ollama's names, as its manifest has it.
        system: What it is told first then; empty where it says nothing of that.
        knows_tools: Whether its chat template tells it of tools.
        thinks: Whether it can be asked to think first.
        writes: Whether it writes text; one that does not makes vectors of texts only.
    """

    digest: str
    name: str
    architecture: str
    context_length: int
    weight_bytes: int
    kv_bytes_per_token: int | None
    compute_type: str
    device: str
    has_chat_template: bool
    load_duration: int
    draft: str = ""
    kv_note: str = ""
    context_note: str = ""
    template_note: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    system: str = ""
    knows_tools: bool = False
    thinks: bool = False
    writes: bool = True


@dataclass(frozen=True, slots=True)
class Loaded:
    """The load ended well."""

    info: ModelInfo


@dataclass(frozen=True, slots=True)
class Unloaded:
    """No model is loaded any more."""


@dataclass(frozen=True, slots=True)
class PrefillProgress:
    """How much of a prompt has been read.

    Attributes:
        request_id: The request.
        done: Tokens read so far, with those that were there already; never falls.
        total: Tokens of the prompt.
        cached: Tokens that were there already.
    """

    request_id: str
    done: int
    total: int
    cached: int


@dataclass(frozen=True, slots=True)
class TextChunk:
    """What is new of an answer, and the tokens it came from; it may lag behind tokens, and either may be empty.

    Attributes:
        request_id: The request.
        text: New text of the answer itself, without thoughts and calls.
        token_ids: The tokens.
        logprobs: How likely each of them was, where that was asked for and it was drawn.
        parts: Everything that is new, in order; empty where it is nothing but `text`.
    """

    request_id: str
    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[Likelihood, ...] = ()
    parts: tuple[Piece, ...] = ()

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Everything that is new, in order."""
        return self.parts or _plain(self.text)


@dataclass(frozen=True, slots=True)
class Finished:
    """An answer is complete; durations are in nanoseconds.

    Attributes:
        text: The whole answer itself, without thoughts, calls and the stop text.
        token_ids: All tokens drawn, without the end-of-sequence token.
        prompt_tokens: Tokens of the prompt, cached ones included.
        cached_tokens: Tokens of the prompt that were not computed again.
        drafted_tokens: Tokens that were fed on trial, because they were likely to follow.
        accepted_tokens: How many of those were right, and so part of the answer.
        dropped_tokens: Tokens that the model did not see or had to forget because the context had no room for them.
        parts: The texts, thoughts and calls of the answer, in order; empty where there is nothing but `text`.
    """

    request_id: str
    text: str
    token_ids: tuple[int, ...]
    done_reason: DoneReason
    prompt_tokens: int
    cached_tokens: int
    prompt_duration: int
    eval_duration: int
    total_duration: int
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    dropped_tokens: int = 0
    parts: tuple[Piece, ...] = ()

    @classmethod
    def unserved(cls, request_id: str, waited: int) -> "Finished":
        """Return the end of a request that was cancelled `waited` nanoseconds later, before anything was computed."""
        return cls(request_id, "", (), DoneReason.CANCELLED, 0, 0, 0, 0, waited)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The parts of the answer, whatever there are."""
        return self.parts or _plain(self.text)

    @property
    def thinking(self) -> str:
        """What the model thought."""
        return thought_of(self.parts)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools that the model wants to use."""
        return calls_of(self.parts)


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of texts.

    Attributes:
        request_id: The request's id.
        vectors: One for each text, in the order asked.
        prompt_tokens: Tokens of all texts, those that the tokenizer puts around them included.
        total_duration: Nanoseconds.
    """

    request_id: str
    vectors: tuple[tuple[float, ...], ...]
    prompt_tokens: int
    total_duration: int


@dataclass(frozen=True, slots=True)
class Counted:
    """What was to be counted, in tokens of the loaded model.

    Attributes:
        request_id: The request's id.
        tokens: The whole prompt.
        last: What can never be left out of it: the system prompt and the last turn, as a prompt by themselves.
        room: The most that stays of a prompt from which the oldest turns are left out; see `Overflow`.
        texts: Each of the texts.
    """

    request_id: str
    tokens: int
    last: int
    room: int
    texts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """A load or a request ended in an error.

    Attributes:
        request_id: The request's id, or empty for a load.
        message: One sentence for people.
        bug: True when the error is not one of `SottoError`: a fault of ours, whose `details` hold the traceback.
        details: More for a bug report; may be empty.
    """

    request_id: str
    message: str
    bug: bool = False
    details: str = ""


def _plain(text: str) -> tuple[Piece, ...]:
    return (Piece(Kind.TEXT, text),) if text else ()


LoadEvent = LoadProgress | Loaded | Unloaded | Failed
GenerateEvent = PrefillProgress | TextChunk | Finished | Failed
EmbedEvent = Embedded | Finished | Failed
RequestEvent = GenerateEvent | Embedded
Event = LoadEvent | RequestEvent | Counted | MemoryFigures | Measured

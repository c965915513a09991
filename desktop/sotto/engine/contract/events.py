"""Events that come up from the engine: frozen values, free of MLX and Qt.

One request gives this sequence of events::

    PrefillProgress* -> TextChunk* -> Finished | Failed

Loading gives `LoadProgress*` and then `Loaded` or `Failed`, counting `Counted` or `Failed`. Vectors of texts come as
one `Embedded`, or end as `Finished` (they were cancelled) or `Failed`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sotto.engine.contract.answer_parts import CutCall, Kind, Piece, ToolCall, calls_of, cut_of, plain, thought_of
from sotto.engine.contract.logprob_values import LogprobEntry
from sotto.engine.memory.memory_figures import Measured, MemoryFigures


class DoneReason(StrEnum):
    """Why an answer ended: by itself or at a stop text, at a limit, because it repeated itself, or when asked to."""

    STOP = "stop"
    LENGTH = "length"
    LOOP = "loop"
    CANCELLED = "cancelled"


CUT_SHORT = (DoneReason.LENGTH, DoneReason.LOOP)
"""Why an answer ends that could have gone on."""


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How far a load is.

    Attributes:
        phase: What is being done, in a word or two: `weights`, `tokenizer`, `warm-up`.
        done: Bytes of weights read so far.
        total: Bytes of weights in all.
        seat: Where it is loaded to; see `sotto.runner.loop`.
    """

    phase: str
    done: int
    total: int
    seat: str = ""


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
        template_note: What makes its prompts, in a sentence or two; empty for one template of its own that is good.
        doubts_template: Whether that says why its answers may be no good.
        options_note: Which options of its manifest are not followed, in a sentence for each; empty for none.
        options: How answers are drawn where nobody says otherwise, by Ollama's names, as its manifest has it.
        system: What it is told first then; empty where it says nothing of that.
        knows_tools: Whether its chat template tells it of tools.
        thinks: Whether it can be asked to think first.
        knows_efforts: Whether it can be asked how much it is to think.
        fills_gaps: Whether it can be asked for what is missing between two texts.
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
    doubts_template: bool = False
    options_note: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    system: str = ""
    knows_tools: bool = False
    thinks: bool = False
    knows_efforts: bool = False
    fills_gaps: bool = False
    writes: bool = True


@dataclass(frozen=True, slots=True)
class Loaded:
    """The load ended well.

    Attributes:
        info: The model.
        seat: Where it is; see `sotto.runner.loop`.
    """

    info: ModelInfo
    seat: str = ""


@dataclass(frozen=True, slots=True)
class Unloaded:
    """No model is loaded any more.

    Attributes:
        seat: Where; see `sotto.runner.loop`.
    """

    seat: str = ""


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
    logprobs: tuple[LogprobEntry, ...] = ()
    parts: tuple[Piece, ...] = ()

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Everything that is new, in order."""
        return self.parts or plain(self.text)

    @property
    def thinks(self) -> bool:
        """Whether there is something new, and all of it is a thought."""
        return bool(self.parts) and all(piece.kind is Kind.THOUGHT for piece in self.parts)


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
        dropped_messages: Messages that were left out of the prompt for the same reason.
        cut_messages: How many of those that stayed lost the middle of their text.
        stop: The stop text that ended it; empty where none did.
        thought_tokens: How many of the tokens were drawn before a thought was over.
        parts: The texts, thoughts and calls of the answer, in order; empty where there is nothing but `text`.
        context: All tokens of prompt and answer, where the request has one.
        shared_fault: What went wrong in a step that it shared with other answers, after which it went on by itself;
            empty where nothing did.
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
    dropped_messages: int = 0
    cut_messages: int = 0
    stop: str = ""
    thought_tokens: int = 0
    parts: tuple[Piece, ...] = ()
    context: tuple[int, ...] = ()
    shared_fault: str = ""

    @classmethod
    def unserved(cls, request_id: str, waited: int) -> "Finished":
        """Return the end of a request that was cancelled `waited` nanoseconds later, before anything was computed."""
        return cls(request_id, "", (), DoneReason.CANCELLED, 0, 0, 0, 0, waited)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The parts of the answer, in order."""
        return self.parts or plain(self.text)

    @property
    def thinking(self) -> str:
        """What the model thought."""
        return thought_of(self.parts)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools that the model wants to use."""
        return calls_of(self.parts)

    @property
    def cut(self) -> CutCall | None:
        """The call that the answer breaks off in; None where it does so in none."""
        return cut_of(self.parts)


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
        seat: Where a load failed; see `sotto.runner.loop`.
        shortage: Whether a load failed because other loaded models take the memory for it.
    """

    request_id: str
    message: str
    bug: bool = False
    details: str = ""
    seat: str = ""
    shortage: bool = False


LoadEvent = LoadProgress | Loaded | Unloaded | Failed
GenerateEvent = PrefillProgress | TextChunk | Finished | Failed
RequestEnd = Finished | Embedded | Counted | Failed
RequestEvent = GenerateEvent | Embedded | Counted
Event = LoadEvent | RequestEvent | MemoryFigures | Measured

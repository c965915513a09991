"""Events of the engine: frozen values, independent of MLX and Qt.

One request gives this sequence of events::

    PrefillProgress* -> TextChunk* -> Finished | Failed

Loading gives `LoadProgress*` and then `Loaded` or `Failed`, counting gives `Counted` or `Failed`. Embeddings come as
one `Embedded`, or end as `Finished` (if cancelled) or `Failed`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sotto.engine.contract.answer_parts import CutCall, Kind, Piece, ToolCall, calls_of, cut_of, plain, thought_of
from sotto.engine.contract.logprob_values import LogprobEntry
from sotto.engine.memory.memory_figures import Measured, MemoryFigures


class DoneReason(StrEnum):
    """Why an answer ended: by itself or at a stop text, at a limit, in a loop, or on request."""

    STOP = "stop"
    LENGTH = "length"
    LOOP = "loop"
    CANCELLED = "cancelled"


CUT_SHORT = (DoneReason.LENGTH, DoneReason.LOOP)
"""Reasons that cut an answer short."""


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """The progress of a load.

    Attributes:
        phase: The present phase: `weights`, `tokenizer` or `warm-up`.
        done: Bytes of weights read so far.
        total: Bytes of all weights.
        seat: Where it is loaded; see `sotto.runner.loop`.
    """

    phase: str
    done: int
    total: int
    seat: str = ""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Facts about a loaded model.

    Attributes:
        digest: The record's digest.
        name: The record's name.
        architecture: `model_type`.
        context_length: Context length in tokens: the model's maximum, or less if requested.
        weight_bytes: Bytes of the weights in memory.
        kv_bytes_per_token: Bytes of cache per token of context; None if layers do not grow alike.
        compute_type: Type of activations, for example `float32`.
        device: `cpu`, `metal` or `cuda`.
        has_chat_template: Whether messages are rendered with a chat template, not only as plain text.
        load_duration: Nanoseconds.
        draft: Name of the draft model; empty for none.
        adapter: Names of the adapters that are applied; empty for none.
        predicts: Whether a head of its own predicts tokens ahead.
        kv_note: Which layers quantize their keys and values; empty if that was not requested.
        context_note: Why the context is shorter than the model supports, in a sentence; empty if it is not.
        template_note: Where its chat template comes from, in a sentence or two; empty for a sound one of its own.
        doubts_template: Whether `template_note` says why answers may be bad.
        options_note: Which options of its manifest are ignored, a sentence for each; empty for none.
        options: Default options of its manifest, by Ollama's names.
        system: Default system prompt of its manifest; empty for none.
        knows_tools: Whether its chat template supports tools.
        thinks: Whether it supports thinking.
        knows_efforts: Whether it supports levels of thinking.
        fills_gaps: Whether it can fill in the text between a prefix and a suffix.
        sees: Whether it can be shown images.
        vision_note: Why it cannot although its files hold a vision tower, in a sentence; empty otherwise.
        largest_image: Pixels of the largest image that memory has room for, larger ones are shrunk; None for any.
        writes: Whether it generates text; otherwise it computes embeddings only.
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
    adapter: str = ""
    predicts: bool = False
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
    sees: bool = False
    vision_note: str = ""
    largest_image: int | None = None
    writes: bool = True


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model was loaded.

    Attributes:
        info: The model.
        seat: Where it is; see `sotto.runner.loop`.
    """

    info: ModelInfo
    seat: str = ""


@dataclass(frozen=True, slots=True)
class Unloaded:
    """A model was unloaded.

    Attributes:
        seat: Where it was; see `sotto.runner.loop`.
    """

    seat: str = ""


@dataclass(frozen=True, slots=True)
class PrefillProgress:
    """How much of a prompt has been read.

    Attributes:
        request_id: The request.
        done: Tokens read so far, including cached ones; never decreases.
        total: Tokens of the prompt.
        cached: Tokens found in the prefix cache.
    """

    request_id: str
    done: int
    total: int
    cached: int


@dataclass(frozen=True, slots=True)
class TextChunk:
    """New text of an answer, and new tokens; text may lag behind tokens, and either may be empty.

    Attributes:
        request_id: The request.
        text: New text of the answer itself, without thoughts and calls.
        token_ids: The tokens.
        logprobs: Log-probabilities of the tokens that were sampled, if requested.
        parts: All new pieces in order; empty if there is only `text`.
    """

    request_id: str
    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[LogprobEntry, ...] = ()
    parts: tuple[Piece, ...] = ()

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All new pieces, in order."""
        return self.parts or plain(self.text)

    @property
    def thinks(self) -> bool:
        """Whether there are new pieces, and all of them are thoughts."""
        return bool(self.parts) and all(piece.kind is Kind.THOUGHT for piece in self.parts)


@dataclass(frozen=True, slots=True)
class Finished:
    """An answer is complete; durations are in nanoseconds.

    Attributes:
        text: The whole answer itself, without thoughts, calls and the stop text.
        token_ids: All tokens of the answer, without the end-of-sequence token.
        prompt_tokens: Tokens of the prompt, including cached ones.
        cached_tokens: Tokens of the prompt found in the prefix cache.
        drafted_tokens: Tokens proposed by speculative decoding.
        accepted_tokens: How many of those were accepted.
        dropped_tokens: Tokens that were left out or dropped because the context was full.
        dropped_messages: Messages that were left out for the same reason.
        cut_messages: How many of the other messages lost the middle of their text.
        stop: The stop text that ended it; empty for none.
        thought_tokens: Number of tokens of thoughts.
        parts: Texts, thoughts and calls of the answer, in order; empty if there is only `text`.
        context: All tokens of prompt and answer, if the request had a context.
        shared_fault: The error of a step shared with other answers, after which this one continued alone; empty for
            none.
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
        """Return the end of a request that was cancelled after `waited` nanoseconds, before anything was computed."""
        return cls(request_id, "", (), DoneReason.CANCELLED, 0, 0, 0, 0, waited)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The parts of the answer, in order."""
        return self.parts or plain(self.text)

    @property
    def thinking(self) -> str:
        """The text of the thoughts."""
        return thought_of(self.parts)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls."""
        return calls_of(self.parts)

    @property
    def cut(self) -> CutCall | None:
        """The tool call that is cut off at the end of the answer; None if there is none."""
        return cut_of(self.parts)


@dataclass(frozen=True, slots=True)
class Embedded:
    """The embeddings of texts.

    Attributes:
        request_id: The request's id.
        vectors: One for each text, in the order of the request.
        prompt_tokens: Tokens of all texts, including those that the tokenizer adds.
        total_duration: Nanoseconds.
    """

    request_id: str
    vectors: tuple[tuple[float, ...], ...]
    prompt_tokens: int
    total_duration: int


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts in tokens of the loaded model.

    Attributes:
        request_id: The request's id.
        tokens: Tokens of the whole prompt.
        last: Tokens of the part that cannot be left out: a prompt of the system prompt and the last turn.
        room: Maximum tokens of a prompt from which the oldest turns are left out; see `Overflow`.
        texts: Tokens of each text.
        image_sizes: Tokens of each image.
    """

    request_id: str
    tokens: int
    last: int
    room: int
    texts: tuple[int, ...] = ()
    image_sizes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """A load or a request ended in an error.

    Attributes:
        request_id: The request's id, or empty for a load.
        message: One sentence for people.
        bug: Whether the error is not a `SottoError`, but a bug, whose `details` hold the traceback.
        details: More for a bug report; may be empty.
        seat: Where a load failed; see `sotto.runner.loop`.
        shortage: Whether a load failed because other loaded models take up the memory.
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

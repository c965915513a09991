"""From a request to the tokens of its prompt. Nothing here touches an array, so it may run on any thread."""

import time
from dataclasses import dataclass

from sotto.engine.options import RequestOptions, request_options
from sotto.engine.prefix import shared_length
from sotto.engine.templates import ChatTemplate
from sotto.engine.tokenizer import Tokenizer
from sotto.engine.types import GenerateRequest, Message, SamplingOptions
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.records import ModelSource

_SMALLEST_CONTEXT = 4
_UNKNOWN_CONTEXT = 8192
_PLAIN_TURN = "\nUser:"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request turned into tokens.

    Attributes:
        request: As asked.
        preparer: What it was prepared by, and so for which model.
        prompt: Tokens, at least one and fewer than the context holds.
        boundary: Tokens of the prompt before what the template adds to ask for the answer; 0 when not known.
        sampling: How tokens are drawn.
        stop: Texts that end the answer.
        max_tokens: Most tokens to draw, at least 1.
        received: `time.perf_counter_ns()` when the request was taken up.
    """

    request: GenerateRequest
    preparer: "Preparer"
    prompt: tuple[int, ...]
    boundary: int
    sampling: SamplingOptions
    stop: tuple[str, ...]
    max_tokens: int
    received: int


class Preparer:
    """Prepares requests for one model.

    Attributes:
        tokenizer: The model's.
        template: The model's, or a plain one.
        context_length: Most tokens that prompt and answer may have together.
    """

    def __init__(self, source: ModelSource) -> None:
        """Read what the model's files say about text, which takes a second where the vocabulary is large.

        Raises:
            BrokenModelError: One of these files is damaged.
            InvalidRequestError: An option in the manifest is out of range.
        """
        self.tokenizer = Tokenizer.from_source(source)
        self.template = ChatTemplate.from_source(source, self.tokenizer)
        self._system = source.system
        self._options: RequestOptions = request_options(source.params, {})
        self._maximum: int | None = None
        self._rows = self.tokenizer.vocab_size
        self._finds_boundary = False
        self.context_length = _UNKNOWN_CONTEXT

    def fit(self, maximum: int | None, num_ctx: int | None, rows: int, *, finds_boundary: bool) -> None:
        """Take over what is known once the model is loaded.

        Args:
            maximum: Most tokens that the model can take; None when unknown.
            num_ctx: Most tokens that a conversation may hold; None as the manifest says, or else the maximum.
            rows: How many tokens the model has scores for.
            finds_boundary: Whether to say where the messages end, at the cost of tokenizing them twice.
        """
        asked = num_ctx or self._options.num_ctx
        limits = [limit for limit in (maximum, max(asked, _SMALLEST_CONTEXT) if asked else None) if limit]
        self._maximum = maximum
        self._rows = rows
        self._finds_boundary = finds_boundary
        self.context_length = min(limits, default=_UNKNOWN_CONTEXT)

    def prepare(self, request: GenerateRequest) -> Prepared:
        """Render and tokenize a request.

        Raises:
            InvalidRequestError: It has not one of messages and prompt, or its prompt is empty, too long or refused by
                the template.
            BrokenModelError: The tokenizer makes a token that the model does not have.
        """
        received = time.perf_counter_ns()
        if (request.prompt is None) == (not request.messages):
            raise InvalidRequestError("A request has either messages or a prompt: give exactly one of them.")
        prompt, boundary = self._tokens(request)
        if not prompt:
            raise InvalidRequestError("empty prompt")
        if len(prompt) >= self.context_length:
            raise InvalidRequestError(
                f"input length ({len(prompt)} tokens) exceeds {self._limit_name()} ({self.context_length} tokens)"
            )
        if (largest := max(prompt)) >= self._rows:
            # MLX would read past the end of the embeddings.
            raise BrokenModelError(
                f"The tokenizer cuts this prompt into token {largest}, but the model has only {self._rows} tokens; "
                "tokenizer.json and the weights should belong together."
            )
        sampling, stop, asked = self._options_of(request)
        room = self.context_length - len(prompt)
        return Prepared(
            request=request,
            preparer=self,
            prompt=prompt,
            boundary=boundary,
            sampling=sampling,
            stop=stop,
            max_tokens=min(asked, room) if asked and asked > 0 else room,
            received=received,
        )

    def _tokens(self, request: GenerateRequest) -> tuple[tuple[int, ...], int]:
        """Return the prompt's tokens, and how many of them precede what asks for the answer."""
        if request.prompt is not None:
            return tuple(self.tokenizer.encode(request.prompt)), 0
        messages = _with_system(request.messages, self._system)
        prompt = tuple(self.tokenizer.encode(self.template.render(messages)))
        if not self._finds_boundary:
            return prompt, 0
        history = self.tokenizer.encode(self.template.render(messages, add_generation_prompt=False))
        return prompt, shared_length(prompt, history)

    def _options_of(self, request: GenerateRequest) -> tuple[SamplingOptions, tuple[str, ...], int | None]:
        """Return how to draw, where to stop and how much is asked for; what is left open, the model's manifest says."""
        sampling, stop, asked = request.sampling, request.stop, request.num_predict
        if sampling is None:
            sampling = self._options.sampling
            stop = stop or self._options.stop
            asked = self._options.num_predict if asked is None else asked
        if request.messages and not self.template.own:
            # A plain language model would go on with the conversation for both sides.
            stop = (*stop, _PLAIN_TURN)
        return sampling, stop, asked

    def _limit_name(self) -> str:
        if self.context_length == self._maximum:
            return "the model's maximum context length"
        return "the context length asked for, num_ctx"


def _with_system(messages: tuple[Message, ...], system: str) -> tuple[Message, ...]:
    """Put the model's own system prompt in front where the conversation has none; an empty one asks for none."""
    if not any(message.role == "system" for message in messages):
        return (Message("system", system), *messages) if system else messages
    return tuple(message for message in messages if message.role != "system" or message.content)

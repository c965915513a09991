"""From a request to the tokens of its prompt. Nothing here touches an array, so it may run on any thread."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from sotto.engine.boundaries import Boundaries, find_boundaries
from sotto.engine.guides import Guide, Vocabulary
from sotto.engine.likelihood import MOST_LOGPROBS
from sotto.engine.options import USUAL_LENGTH, RequestOptions, named, request_options
from sotto.engine.overflow import Parts, shortened, without_middle
from sotto.engine.parsing.families import PLAIN, Family, Thoughts, family_of
from sotto.engine.parsing.parser import Parser, parameters_of, parsed
from sotto.engine.parsing.writing import written
from sotto.engine.templates import AskedTemplate, ChatTemplate
from sotto.engine.tokenizer import Tokenizer
from sotto.engine.turns import Manner
from sotto.engine.types import (
    Counted,
    CountRequest,
    GenerateRequest,
    Message,
    Overflow,
    SamplingOptions,
    Think,
)
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.records import ModelSource

_SMALLEST_CONTEXT = 4
_UNKNOWN_CONTEXT = 8192
_PLAIN_TURN = "\nUser:"
# Of the context: what an answer has room for after a prompt was shortened, and what is dropped at a time.
_SHARE = 4
_SIZES_KEPT = 4096
_BREAKERS_KEPT = 4


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request turned into tokens.

    Attributes:
        request: As asked.
        preparer: What it was prepared by, and so for which model.
        prompt: Tokens, at least one and fewer than the context holds.
        boundaries: Places in the prompt, ascending, at which a later prompt may part from it: behind the system prompt,
            behind the last messages, before what asks for the answer. Empty when not known.
        keep: Tokens of the prompt that stay when a full context is shifted: the system prompt, and what begins a text.
        opening: What asks for the answer; empty when not known.
        sampling: How tokens are drawn.
        stop: Texts that end the answer.
        max_tokens: Most tokens to draw, at least 1; more than the context has room for only where it is shifted.
        received: `time.perf_counter_ns()` when the request was taken up.
        dropped_messages: How many messages were left out because the conversation is too long.
        dropped_tokens: How many tokens the prompt was shortened by in all.
        loop_guard: Whether the answer ends when it repeats itself without end.
        breakers: Tokens that end a passage, for DRY; none where it is off.
        guide: Says which tokens the answer may begin with; None where it may be anything.
        opened: The thought that the prompt ends inside of; None for none.
        begun: Whether the prompt ends with some of the answer.
    """

    request: GenerateRequest
    preparer: "Preparer"
    prompt: tuple[int, ...]
    boundaries: tuple[int, ...]
    keep: int
    opening: tuple[int, ...]
    sampling: SamplingOptions
    stop: tuple[str, ...]
    max_tokens: int
    received: int
    dropped_messages: int = 0
    dropped_tokens: int = 0
    loop_guard: bool = True
    breakers: frozenset[int] = frozenset()
    guide: Guide | None = None
    opened: Thoughts | None = None
    begun: bool = False

    def parser(self) -> Parser:
        """Return what tells the parts of the answer apart."""
        if self.request.prompt is not None or self.request.grammar is not None:
            return Parser(PLAIN)
        tools = parameters_of(self.request.tools)
        return Parser(self.preparer.family, tools, self.opened, begun=self.begun)


@dataclass(frozen=True, slots=True)
class _Prompt:
    """The prompt of a request, however long; see `Prepared`.

    Attributes:
        tokens: All of it.
        text: The conversation, with what asks for the answer.
        messages: What it was made from.
        begun: What there is of the answer already, behind `text`.
        opened: The thought that all of it ends inside of.
        asked: What it was rendered by.
    """

    tokens: tuple[int, ...]
    text: str = ""
    messages: tuple[Message, ...] = ()
    begun: str = ""
    opened: Thoughts | None = None
    asked: AskedTemplate | None = None


class Preparer:
    """Prepares requests for one model.

    Attributes:
        tokenizer: The model's.
        template: The model's, or a plain one.
        family: How the model marks thoughts and calls of tools.
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
        self.family: Family = family_of(self.template.text, self.tokenizer.added)
        self._system = source.system
        self._params = source.params
        self._options: RequestOptions = request_options(source.params, {})
        self._limit_name = "the context length assumed for a model that names none"
        self._size = lru_cache(_SIZES_KEPT)(lambda text: len(self.tokenizer.encode(text, add_bos=False)))
        self._containing = lru_cache(_BREAKERS_KEPT)(self.tokenizer.containing)
        self._rows = self.tokenizer.vocab_size
        self._vocabulary = Vocabulary(self.tokenizer, self._rows)
        self._finds_boundary = False
        self.context_length = _UNKNOWN_CONTEXT

    def fit(
        self, maximum: int | None, num_ctx: int | None, rows: int, *, finds_boundary: bool, room: int | None = None
    ) -> None:
        """Take over what is known once the model is loaded.

        Args:
            maximum: Most tokens that the model can take; None when unknown.
            num_ctx: Most tokens that a conversation may hold; None as the manifest says, or else the maximum.
            rows: How many tokens the model has scores for.
            finds_boundary: Whether to say where the messages end, which takes a few more renderings.
            room: Most tokens that memory has room for; None when unknown.
        """
        asked = num_ctx or self._options.num_ctx
        limits = [
            (maximum, "the model's maximum context length"),
            (max(asked, _SMALLEST_CONTEXT) if asked else None, "the context length asked for, num_ctx"),
            (room, "the context length that memory has room for"),
        ]
        known = [(limit, name) for limit, name in limits if limit]
        self._rows = rows
        self._vocabulary = Vocabulary(self.tokenizer, rows)
        self._finds_boundary = finds_boundary
        if known:
            self.context_length, self._limit_name = min(known, key=lambda pair: pair[0])

    @property
    def thinks(self) -> bool:
        """Whether the model can be asked to think first."""
        return self.family.thinks or self.template.switches_thoughts or self.template.knows_efforts

    def prepare(self, request: GenerateRequest) -> Prepared:
        """Render and tokenize a request.

        Raises:
            InvalidRequestError: It has not one of messages and prompt, an option is out of range, its prompt is
                empty, too long or refused by the template, or its grammar cannot be honoured.
            UnsupportedModelError: It has a grammar, and the model's vocabulary cannot follow any.
            BrokenModelError: The tokenizer makes a token that the model does not have.
        """
        received = time.perf_counter_ns()
        if (request.prompt is None) == (not request.messages):
            raise InvalidRequestError("A request has either messages or a prompt: give exactly one of them.")
        _check_grammar_alone(request)
        options = self._options_of(request)
        asked = options.num_predict if options.num_predict and options.num_predict > 0 else None
        whole = self._prompt(request)
        if not whole.tokens:
            raise InvalidRequestError("empty prompt")
        fitting = self._fitting(whole, request.overflow, asked)
        prompt = fitting.tokens
        if (largest := max(prompt)) >= self._rows:
            # MLX would read past the end of the embeddings.
            raise BrokenModelError(
                f"The tokenizer cuts this prompt into token {largest}, but the model has only {self._rows} tokens; "
                "tokenizer.json and the weights should belong together."
            )
        places, opening = self._boundaries(fitting, request.overflow)
        return Prepared(
            request=request,
            preparer=self,
            prompt=prompt,
            boundaries=places.all,
            keep=places.system or len(self.tokenizer.encode("")),
            opening=opening,
            sampling=options.sampling,
            stop=self._stop(request, options),
            max_tokens=self._most_drawn(len(prompt), request.overflow, options.num_predict),
            received=received,
            dropped_messages=len(whole.messages) - len(fitting.messages),
            dropped_tokens=max(0, len(whole.tokens) - len(prompt)),
            loop_guard=options.loop_guard and not request.ignore_eos,
            breakers=self._breakers(options.sampling),
            guide=self._vocabulary.guide(request.grammar, fitting.begun) if request.grammar else None,
            opened=fitting.opened,
            begun=bool(fitting.begun),
        )

    def count(self, request: CountRequest) -> Counted:
        """Count the tokens of a conversation as it is, however long it is.

        Raises:
            InvalidRequestError: It is empty, or refused by the template.
            BrokenModelError: The template or the tokenizer fails on it.
        """
        if not request.messages:
            raise InvalidRequestError("There is nothing to count: give at least one message.")
        messages, asked = self._given(request.messages), AskedTemplate(self.template)
        parts = Parts.of(messages)
        tokens = last = len(self._rendered(messages, asked).tokens)
        if len(parts.turns) > 1:
            last = len(self._rendered(parts.since(len(parts.turns) - 1), asked).tokens)
        sizes = tuple(self._size(text) for text in request.texts)
        return Counted(request.id, tokens, last, self._room(None), sizes)

    def _room(self, asked: int | None) -> int:
        """Return the most that stays of a prompt that is shortened, so that there is room for the answer."""
        share = max(1, self.context_length // _SHARE)
        return self.context_length - (share if asked is None else min(asked, share))

    def _most_drawn(self, length: int, overflow: Overflow, asked: int | None) -> int:
        # One that nobody limits gets no more than fills the context once, also where that never ends an answer.
        usual = min(USUAL_LENGTH, self.context_length) if asked is None else self.context_length
        most = asked if asked and asked > 0 else usual
        return most if overflow is Overflow.SHIFT else min(most, self.context_length - length)

    def _prompt(self, request: GenerateRequest) -> _Prompt:
        if request.prompt is not None:
            return _Prompt(tuple(self.tokenizer.encode(request.prompt)))
        manner = Manner(request.tools, request.think, request.think_budget)
        self._check(manner)
        asked = AskedTemplate(self.template, manner)
        if request.grammar is not None:
            # What a model thinks would be part of the answer, and no grammar allows for it.
            asked = replace(asked, ending=self.family.at_once)
        elif manner.think is Think.OFF:
            asked = replace(asked, ending=self._without_thought)
        return self._rendered(self._given(request.messages), asked)

    def _given(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return a conversation as the template is given it; an answer that is gone on with stays as it is."""
        told = _with_system(messages, self._system)
        goes_on = len(told) > 1 and told[-1].role == "assistant" and not told[-1].tool_calls
        return (*self.template.apart(told[:-1]), told[-1]) if goes_on else self.template.apart(told)

    def _check(self, manner: Manner) -> None:
        """Raise InvalidRequestError where the model cannot be asked so."""
        if manner.tools and not self.template.knows_tools:
            raise InvalidRequestError("The model's chat template knows nothing of tools: leave tools out.")
        if manner.think not in (None, Think.OFF) and not self.thinks:
            raise InvalidRequestError("The model's chat template knows nothing of thinking: leave think out.")
        if manner.budget is not None and manner.budget < 0:
            raise InvalidRequestError(
                f"think_budget is {manner.budget}; it should be a number of tokens, 0 for no thoughts at all."
            )

    def _rendered(self, messages: Sequence[Message], asked: AskedTemplate) -> _Prompt:
        """Return the prompt for a conversation; an answer at its end is gone on with."""
        last = messages[-1]
        begun = last.content if len(messages) > 1 and last.role == "assistant" and not last.tool_calls else ""
        text = asked.render(messages[:-1] if begun else messages)
        opened = self.family.opened_by(text)
        if begun:
            begun, opened = written(parsed(begun), self.family, text)
        return _Prompt(tuple(self.tokenizer.encode(text + begun)), text, tuple(messages), begun, opened, asked)

    def _without_thought(self, prompt: str) -> str:
        """Return what is put behind a prompt so that no thought comes first."""
        if end := self.family.at_once(prompt):
            return end
        # A template that knows of thoughts has said itself what there is to say.
        return self.family.thoughts[0].nothing if self.family.thinks and not self.template.switches_thoughts else ""

    def _fitting(self, prompt: _Prompt, overflow: Overflow, asked: int | None) -> _Prompt:
        """Return the prompt, or what is left of it where it is too long.

        Raises:
            InvalidRequestError: It is too long, and may not be shortened or cannot be.
        """
        if overflow is Overflow.ERROR:
            if len(prompt.tokens) >= self.context_length:
                raise InvalidRequestError(
                    f"input length ({len(prompt.tokens)} tokens) exceeds {self._limit_name} "
                    f"({self.context_length} tokens)"
                )
            return prompt
        most = self._room(asked)
        if len(prompt.tokens) <= most:
            return prompt
        if not prompt.messages:
            return _Prompt(without_middle(prompt.tokens, most))
        template = prompt.asked
        assert template is not None  # a prompt that was made of messages
        return self._rendered(
            shortened(
                prompt.messages,
                lambda messages: len(self._rendered(messages, template).tokens),
                self._size,
                most,
                step=max(1, self.context_length // _SHARE),
            ),
            template,
        )

    def _boundaries(self, prompt: _Prompt, overflow: Overflow) -> tuple[Boundaries, tuple[int, ...]]:
        """Return the places in a prompt, and what asks for the answer."""
        if prompt.asked is None or not (self._finds_boundary or overflow is Overflow.SHIFT):
            return Boundaries(), ()
        messages, tokens = prompt.messages, prompt.tokens
        if prompt.begun:
            messages, tokens = messages[:-1], tuple(self.tokenizer.encode(prompt.text))
        places = find_boundaries(prompt.asked, self.tokenizer, messages, prompt.text, tokens)
        return places, tokens[places.answer :] if places.answer else ()

    def _options_of(self, request: GenerateRequest) -> RequestOptions:
        """Return the options of a request, checked; what is left open, the model's manifest says.

        Raises:
            InvalidRequestError: One is out of range.
        """
        apart = {"num_predict": request.num_predict, "stop": request.stop or None, "loop_guard": request.loop_guard}
        given = {name: value for name, value in apart.items() if value is not None}
        if request.sampling is None:
            options = request_options(self._params, {**request.options, **given})
        else:
            options = request_options({}, {**named(request.sampling), **given})
        beyond = next((token for token, _ in options.sampling.logit_bias if token >= self._rows), None)
        if beyond is not None:
            raise InvalidRequestError(
                f"Option logit_bias names token {beyond}, and this model's are 0 to {self._rows - 1}."
            )
        if request.logprobs is not None and not 0 <= request.logprobs <= MOST_LOGPROBS:
            raise InvalidRequestError(f"logprobs must be from 0 to {MOST_LOGPROBS}, not {request.logprobs}.")
        return options

    def _stop(self, request: GenerateRequest, options: RequestOptions) -> tuple[str, ...]:
        if request.grammar is not None:
            return ()
        if request.messages and not self.template.own:
            # A plain language model would go on with the conversation for both sides.
            return (*options.stop, _PLAIN_TURN)
        return options.stop

    def _breakers(self, sampling: SamplingOptions) -> frozenset[int]:
        return self._containing(sampling.dry_sequence_breakers) if sampling.dry_multiplier > 0 else frozenset()


def _with_system(messages: tuple[Message, ...], system: str) -> tuple[Message, ...]:
    """Put the model's own system prompt in front where the conversation has none; an empty one asks for none."""
    if not any(message.role == "system" for message in messages):
        return (Message("system", system), *messages) if system else messages
    return tuple(message for message in messages if message.role != "system" or message.content)


def _check_grammar_alone(request: GenerateRequest) -> None:
    """Refuse what a grammar cannot be had with.

    Raises:
        InvalidRequestError: There is a grammar, and something else is to say where the answer ends.
    """
    if request.grammar is None:
        return
    if request.sampling is None and request.options.get("stop"):
        raise InvalidRequestError(
            f"stop would cut an answer short that {request.grammar.name} asks for whole: leave one of them out."
        )
    if request.ignore_eos:
        raise InvalidRequestError(f"ignore_eos cannot be had with {request.grammar.name}: leave one of them out.")

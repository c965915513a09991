"""From a request to the tokens of its prompt. Nothing here touches an array, so it may run on any thread."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from sotto.engine.config.load_errors import name_file_in_errors
from sotto.engine.contract.answer_parts import text_of
from sotto.engine.contract.events import Counted
from sotto.engine.contract.logprob_values import MOST_LOGPROBS
from sotto.engine.contract.options import USUAL_LENGTH, RequestOptions, options_by_name, request_options, split_params
from sotto.engine.contract.requests import CountRequest, GenerateRequest, Message, Overflow, SamplingOptions, Think
from sotto.engine.parsing.answer_parser import parse_answer
from sotto.engine.parsing.families import Family, Thoughts, family_of
from sotto.engine.parsing.markup_writing import written
from sotto.engine.prompt.abilities import abilities_of
from sotto.engine.prompt.answer_constraints import Constraints, Prompted, check_alone
from sotto.engine.prompt.boundaries import Boundaries, find_boundaries
from sotto.engine.prompt.infill import Infill, suffix_template
from sotto.engine.prompt.overflow import Parts, cut_among, shortened, without_middle
from sotto.engine.prompt.prepared import Prepared
from sotto.engine.prompt.template_messages import Manner
from sotto.engine.prompt.templates import AskedTemplate, ChatTemplate
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.records import ModelSource

_SMALLEST_CONTEXT = 4
_UNKNOWN_CONTEXT = 8192
_PLAIN_TURN = "\nUser:"
# Of the context: what an answer has room for after a prompt was shortened, and what is dropped at a time.
_SHARE = 4
_SIZES_KEPT = 4096
_BREAKERS_KEPT = 4
_TEMPLATES_KEPT = 4


@dataclass(frozen=True, slots=True)
class _Prompt:
    """The prompt of a request, however long; see `Prepared`.

    Attributes:
        tokens: All of it.
        text: The conversation, with what asks for the answer.
        messages: What it was made from.
        begun: What there is of the answer already, behind `text`.
        said: What of that is the answer itself, without a thought.
        opened: The thought that all of it ends inside of.
        asked: What it was rendered by.
        shorter: Makes it of so many tokens at most; None where its middle can be left out.
    """

    tokens: tuple[int, ...]
    text: str = ""
    messages: tuple[Message, ...] = ()
    begun: str = ""
    said: str = ""
    opened: Thoughts | None = None
    asked: AskedTemplate | None = None
    shorter: Callable[[int], tuple[int, ...]] | None = None


class Preparer:
    """Prepares requests for one model.

    Attributes:
        tokenizer: The model's.
        template: The model's, or a plain one.
        family: How the model marks thoughts and calls of tools.
        infill: Asks the model for what fills a gap.
        abilities: What it can be asked for.
        context_length: Most tokens that prompt and answer may have together.
        usual: The options of the model's manifest that are followed.
        options_note: Which of its options are not, in a sentence for each.
    """

    def __init__(self, source: ModelSource) -> None:
        """Read what the model's files say about text, which takes a second where the vocabulary is large.

        Raises:
            BrokenModelError: One of these files is damaged.
        """
        self.tokenizer = Tokenizer.from_source(source)
        with name_file_in_errors(source):
            self.template = ChatTemplate.from_source(source, self.tokenizer)
        self.family: Family = family_of(self.template.text, self.tokenizer.added)
        self.infill = Infill(self.tokenizer, suffix_template(source))
        self.abilities = abilities_of(self.template, self.family, infills=self.infill.is_known)
        self._system = source.system
        self.usual, notes = split_params(source.params)
        self.options_note = " ".join(notes)
        self._limit_name = "the context length assumed for a model that names none"
        self._size = lru_cache(_SIZES_KEPT)(lambda text: len(self.tokenizer.encode(text, add_bos=False)))
        self._compiled = lru_cache(_TEMPLATES_KEPT)(self._compiled_template)
        self._containing = lru_cache(_BREAKERS_KEPT)(self.tokenizer.containing)
        self._rows = self.tokenizer.vocab_size
        self._constraints = Constraints(self.family, self.template, self.tokenizer, self._rows)
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
        asked = num_ctx or request_options(self.usual, {}).num_ctx
        limits = [
            (maximum, "the model's maximum context length"),
            (max(asked, _SMALLEST_CONTEXT) if asked else None, "the context length asked for, num_ctx"),
            (room, "the context length that memory has room for"),
        ]
        known = [(limit, name) for limit, name in limits if limit]
        self._rows = rows
        self._constraints = Constraints(self.family, self.template, self.tokenizer, rows)
        self._finds_boundary = finds_boundary
        if known:
            self.context_length, self._limit_name = min(known, key=lambda pair: pair[0])

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
        check_alone(request)
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
        prompted = Prompted(fitting.text, fitting.opened, bool(fitting.begun), fitting.said)
        constraint = self._constraints.of(request, prompted)
        return Prepared(
            request=request,
            tokenizer=self.tokenizer,
            family=self.family,
            context_length=self.context_length,
            prompt=prompt,
            boundaries=places.all,
            keep=places.system or len(self.tokenizer.encode("")),
            opening=opening,
            sampling=options.sampling,
            stop=self._stop(request, options),
            ends=self.tokenizer.eos_ids | (self.infill.ends if request.suffix is not None else frozenset()),
            max_tokens=self._most_drawn(len(prompt), request.overflow, options.num_predict),
            received=received,
            spell=self._constraints.encode,
            dropped_messages=len(whole.messages) - len(fitting.messages),
            cut_messages=cut_among(fitting.messages, whole.messages),
            dropped_tokens=max(0, len(whole.tokens) - len(prompt)),
            loop_guard=options.loop_guard and not request.ignore_eos,
            breakers=self._breakers(options.sampling),
            guide=constraint.guide if constraint else None,
            opened=fitting.opened,
            begun=bool(fitting.begun),
            lead=constraint.lead if constraint else None,
            echo=self._echo(request),
        )

    def count(self, request: CountRequest) -> Counted:
        """Count the tokens of a conversation as it is, however long it is.

        Raises:
            InvalidRequestError: It is empty, or refused by the template, as may be how its answer is asked for.
            BrokenModelError: The template or the tokenizer fails on it.
        """
        if not request.messages:
            raise InvalidRequestError("There is nothing to count: give at least one message.")
        asked = self._choose_renderer(_manner(request))
        messages = self._template_messages(request.messages, asked.template, self._system)
        parts = Parts.of(messages)
        tokens = last = len(self._render(messages, asked).tokens)
        if parts.droppable:
            last = len(self._render(parts.without(len(parts.droppable)), asked).tokens)
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
        if request.suffix is not None:
            prompt = self._gap(request, request.suffix)
        elif isinstance(request.prompt, str):
            prompt = _Prompt(tuple(self.tokenizer.encode(request.prompt)))
        elif request.prompt is not None:
            prompt = _Prompt(self._own(request.prompt, "prompt"))
        else:
            asked = self._choose_renderer(_manner(request), request.template)
            # What the model's maker says stands at the beginning of what was said before.
            system = "" if request.context else self._system
            prompt = self._render(self._template_messages(request.messages, asked.template, system), asked)
        if not request.context or not prompt.tokens:
            return prompt
        before = self.tokenizer.begun(list(self._own(request.context, "context")))
        # Of what was said before nobody knows where messages end, so none can be left out.
        return replace(
            prompt, tokens=(*before, *self.tokenizer.unbegun(prompt.tokens)), messages=(), asked=None, shorter=None
        )

    def _gap(self, request: GenerateRequest, suffix: str) -> _Prompt:
        if request.prompt is None:
            raise InvalidRequestError("suffix stands behind a prompt: give one, and no messages.")
        before = request.prompt if isinstance(request.prompt, str) else self._own(request.prompt, "prompt")
        made = partial(self.infill.prompt, before, suffix, request.files, template=request.template)
        return _Prompt(made(), shorter=lambda most: made(most=most))

    def _own(self, tokens: tuple[int, ...], name: str) -> tuple[int, ...]:
        """Return tokens that a request names in a field.

        Raises:
            InvalidRequestError: One is not the model's.
        """
        beyond = next((token for token in tokens if not 0 <= token < self._rows), None)
        if beyond is not None:
            raise InvalidRequestError(f"{name} names token {beyond}, and this model's are 0 to {self._rows - 1}.")
        return tokens

    def _choose_renderer(self, manner: Manner, given: str = "") -> AskedTemplate:
        """Return what renders a conversation whose answer is asked for so.

        Raises:
            InvalidRequestError: The model cannot be asked so, or what is given as a template is none.
        """
        self._check(manner)
        template = self._compiled(given) if given else self.template.suited(manner)
        must_call = manner.choice is not None and manner.choice.required
        if manner.think is Think.OFF and not (must_call and self.family.messages is not None):
            return AskedTemplate(template, manner, partial(self._without_thought, template))
        return AskedTemplate(template, manner)

    def _compiled_template(self, text: str) -> ChatTemplate:
        try:
            return ChatTemplate.given(text, self.tokenizer.special_tokens)
        except BrokenModelError as error:
            raise InvalidRequestError(error.message) from error

    def _template_messages(
        self, messages: tuple[Message, ...], template: ChatTemplate, system: str
    ) -> tuple[Message, ...]:
        """Return a conversation as a template is given it; an answer that is gone on with stays as it is.

        `system` goes in front where it has no system prompt. Marks of the model's own are such only in its answers and
        in what its maker says.
        """
        said = (
            message
            if message.role == "assistant"
            else replace(message, content=self.tokenizer.guarded(message.content))
            for message in messages
        )
        told = _with_system(tuple(said), system)
        goes_on = len(told) > 1 and told[-1].role == "assistant" and not told[-1].tool_calls
        return (*template.apart(told[:-1]), told[-1]) if goes_on else template.apart(told)

    def _check(self, manner: Manner) -> None:
        """Raise InvalidRequestError where the model cannot be asked so."""
        if manner.tools and not self.abilities.tools:
            raise InvalidRequestError("The model's chat template knows nothing of tools: leave tools out.")
        if manner.think not in (None, Think.OFF) and not self.abilities.thinks:
            raise InvalidRequestError("The model's chat template knows nothing of thinking: leave think out.")
        if manner.budget is not None and manner.budget < 0:
            raise InvalidRequestError(
                f"think_budget is {manner.budget}; it should be a number of tokens, 0 for no thoughts at all."
            )

    def _render(self, messages: Sequence[Message], asked: AskedTemplate) -> _Prompt:
        """Return the prompt for a conversation; an answer at its end is gone on with."""
        last = messages[-1]
        begun = last.content if len(messages) > 1 and last.role == "assistant" and not last.tool_calls else ""
        if begun and asked.manner.choice is not None and asked.manner.choice.required:
            raise InvalidRequestError(
                f"{asked.manner.choice.name} asks for the call of a tool, and the conversation ends with an answer "
                "to continue: leave one of them out."
            )
        text = asked.render(messages[:-1] if begun else messages)
        opened = self.family.opened_by(text)
        said = ""
        if begun:
            parts = parse_answer(begun)
            said = text_of(parts)
            begun, opened = written(parts, self.family, text)
        return _Prompt(tuple(self.tokenizer.encode(text + begun)), text, tuple(messages), begun, said, opened, asked)

    def _without_thought(self, template: ChatTemplate, prompt: str) -> str:
        """Return what is put behind a prompt so that no thought comes first."""
        if end := self.family.at_once(prompt):
            return end
        # A template that knows of thoughts has said itself what there is to say.
        return self.family.thoughts[0].nothing if self.family.thinks and not template.switches_thoughts else ""

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
        if prompt.shorter is not None:
            return replace(prompt, tokens=prompt.shorter(most))
        if not prompt.messages:
            return replace(prompt, tokens=without_middle(prompt.tokens, most))
        template = prompt.asked
        assert template is not None  # a prompt that was made of messages
        return self._render(
            shortened(
                prompt.messages,
                lambda messages: len(self._render(messages, template).tokens),
                self._size,
                most,
                step=max(1, self.context_length // _SHARE),
            ),
            template,
        )

    def _echo(self, request: GenerateRequest) -> str:
        """Return what the answer begins with before anything is drawn."""
        if not request.echo or request.prompt is None:
            return ""
        return request.prompt if isinstance(request.prompt, str) else self.tokenizer.decode(request.prompt)

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
            options = request_options(self.usual, {**request.options, **given})
        else:
            options = request_options({}, {**options_by_name(request.sampling), **given})
        beyond = next((token for token, _ in options.sampling.logit_bias if token >= self._rows), None)
        if beyond is not None:
            raise InvalidRequestError(
                f"Option logit_bias names token {beyond}, and this model's are 0 to {self._rows - 1}."
            )
        if request.logprobs is not None and not 0 <= request.logprobs <= MOST_LOGPROBS:
            raise InvalidRequestError(f"logprobs must be from 0 to {MOST_LOGPROBS}, not {request.logprobs}.")
        return options

    def _stop(self, request: GenerateRequest, options: RequestOptions) -> tuple[str, ...]:
        if request.grammar is not None or request.must_call:
            return ()
        if request.messages and not (request.template or self.template.own):
            # A plain language model would go on with the conversation for both sides.
            return (*options.stop, _PLAIN_TURN)
        return options.stop

    def _breakers(self, sampling: SamplingOptions) -> frozenset[int]:
        return self._containing(sampling.dry_sequence_breakers) if sampling.dry_multiplier > 0 else frozenset()


def _manner(request: GenerateRequest | CountRequest) -> Manner:
    return Manner(request.tools, request.think, request.think_budget, request.tool_choice)


def _with_system(messages: tuple[Message, ...], system: str) -> tuple[Message, ...]:
    """Put the model's own system prompt in front where the conversation has none; an empty one asks for none."""
    if not any(message.role == "system" for message in messages):
        return (Message("system", system), *messages) if system else messages
    return tuple(message for message in messages if message.role != "system" or message.content)

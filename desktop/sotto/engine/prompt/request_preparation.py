"""Preparation of requests: their prompts as tokens. Nothing here touches an array, so it may run on any thread."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from sotto.engine.config.load_errors import name_file_in_errors
from sotto.engine.contract.answer_parts import text_of
from sotto.engine.contract.events import Counted
from sotto.engine.contract.logprob_values import MOST_LOGPROBS
from sotto.engine.contract.message_content import ImagePart, Part, TextPart, content_of
from sotto.engine.contract.options import (
    DEFAULT_MAX_TOKENS,
    RequestOptions,
    options_by_name,
    request_options,
    split_params,
)
from sotto.engine.contract.requests import CountRequest, GenerateRequest, Message, Overflow, SamplingOptions, Think
from sotto.engine.parsing.answer_parser import parse_answer
from sotto.engine.parsing.families import Family, Thoughts, family_of
from sotto.engine.parsing.markup_writing import write_markup
from sotto.engine.prompt.abilities import abilities_of
from sotto.engine.prompt.answer_constraints import Constraints, PromptEnd, check_conflicts
from sotto.engine.prompt.boundaries import Boundaries, find_boundaries
from sotto.engine.prompt.image_marks import ImageMarks, images_in
from sotto.engine.prompt.infill import Infill, suffix_template
from sotto.engine.prompt.overflow import Parts, count_cut_messages, cut_middle, shorten_conversation
from sotto.engine.prompt.prepared import PreparedRequest
from sotto.engine.prompt.template_messages import PromptOptions
from sotto.engine.prompt.templates import ChatTemplate, ConfiguredTemplate
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.engine.vision.image_reader import ImageReader
from sotto.engine.vision.prompt_images import PromptImage, text_tokens, without_torn_images
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.records import ModelSource

_MIN_CONTEXT = 4
_UNKNOWN_CONTEXT = 8192
_PLAIN_TURN = "\nUser:"
# A quarter of the context: what a shortened prompt leaves for an answer without a limit, and what is dropped at once.
_SHARE = 4
_SIZES_KEPT = 4096
_BREAKERS_KEPT = 4
_TEMPLATES_KEPT = 4


@dataclass(frozen=True, slots=True)
class _Prompt:
    """The prompt of a request, however long; see `PreparedRequest`.

    Attributes:
        tokens: All its tokens.
        text: The rendered conversation, with the generation prompt.
        messages: The conversation.
        begun: The beginning of the answer, which follows `text`.
        answer: `begun` without its thought.
        opened: The thought inside which the prompt ends; None where it ends outside of thoughts.
        renderer: What rendered it; None for a raw prompt, or one that continues a `context`.
        shorter: Returns it with at most so many tokens; None where its middle can be cut out.
        images: The images in it.
        read: The same, once they are read and `tokens` has their pseudo-tokens.
    """

    tokens: tuple[int, ...]
    text: str = ""
    messages: tuple[Message, ...] = ()
    begun: str = ""
    answer: str = ""
    opened: Thoughts | None = None
    renderer: ConfiguredTemplate | None = None
    shorter: Callable[[int], tuple[int, ...]] | None = None
    images: tuple[ImagePart, ...] = ()
    read: tuple[PromptImage, ...] = ()


class Preparer:
    """Prepares requests for one model.

    Attributes:
        tokenizer: The model's tokenizer.
        template: The model's chat template, or a plain one.
        family: How the model marks thoughts and tool calls.
        infill: Builds prompts that ask the model to fill a gap.
        abilities: What the model can be asked for besides text.
        context_length: Most tokens that prompt and answer may have together.
        marks: Puts images into prompts; None for a model that sees none.
        usual: The options of the model's manifest that take effect.
        options_note: Which of its options have no effect, a sentence for each.
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
        self._before = tuple(Message(row["role"], row["content"], row["thinking"]) for row in source.messages)
        self.usual, notes = split_params(source.params)
        self.options_note = " ".join(notes)
        self._limit_name = "the context length assumed for a model that names none"
        self._size = lru_cache(_SIZES_KEPT)(lambda text: len(self.tokenizer.encode(text, add_bos=False)))
        self._cached_template = lru_cache(_TEMPLATES_KEPT)(self._compile_template)
        self._containing = lru_cache(_BREAKERS_KEPT)(self.tokenizer.tokens_containing)
        self._rows = self.tokenizer.vocab_size
        self._constraints = Constraints(self.family, self.template, self.tokenizer, self._rows)
        self._finds_boundary = False
        self.marks: ImageMarks | None = None
        self.context_length = _UNKNOWN_CONTEXT

    def see(self, reader: ImageReader, largest: int | None = None) -> None:
        """Take images from now on.

        Args:
            reader: How the model takes them.
            largest: Most pixels of an image that memory has room for; None when unknown.
        """
        self.marks = ImageMarks(reader, self.tokenizer, largest)
        self.abilities = replace(self.abilities, sees=True)

    def fit(
        self, maximum: int | None, num_ctx: int | None, rows: int, *, finds_boundary: bool, room: int | None = None
    ) -> None:
        """Set what is known only once the model is loaded.

        Args:
            maximum: Most tokens that the model can take; None when unknown.
            num_ctx: Most tokens that a conversation may hold; None for the manifest's value, or else the maximum.
            rows: How many tokens the model has logits for.
            finds_boundary: Whether to find where the messages end, which takes a few more renderings.
            room: Most tokens that memory has room for; None when unknown.
        """
        requested = num_ctx or request_options(self.usual, {}).num_ctx
        limits = [
            (maximum, "the model's maximum context length"),
            (max(requested, _MIN_CONTEXT) if requested else None, "the context length asked for, num_ctx"),
            (room, "the context length that memory has room for"),
        ]
        known = [(limit, name) for limit, name in limits if limit]
        self._rows = rows
        self._constraints = Constraints(self.family, self.template, self.tokenizer, rows)
        self._finds_boundary = finds_boundary
        if known:
            self.context_length, self._limit_name = min(known, key=lambda pair: pair[0])

    def prepare(self, request: GenerateRequest) -> PreparedRequest:
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
        check_conflicts(request)
        self._check_images(images_in(request.messages))
        options = self._read_options(request)
        limit = options.num_predict if options.num_predict and options.num_predict > 0 else None
        whole = self._whole_prompt(request)
        if not whole.tokens:
            raise InvalidRequestError("empty prompt")
        fitting = self._with_images(self._fit_prompt(whole, request.overflow, limit))
        prompt = fitting.tokens
        if (largest := max(text_tokens(prompt), default=0)) >= self._rows:
            # WORKAROUND: MLX checks no index and would read past the end of the embeddings. Should an upgrade raise an
            # error instead, this stays for its message.
            raise BrokenModelError(
                f"The tokenizer cuts this prompt into token {largest}, but the model has only {self._rows} tokens; "
                "tokenizer.json and the weights should belong together."
            )
        places, opening = self._boundaries(fitting, request.overflow)
        prompt_end = PromptEnd(fitting.text, fitting.opened, bool(fitting.begun), fitting.answer)
        constraint = self._constraints.of(request, prompt_end)
        return PreparedRequest(
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
            max_tokens=self._max_new_tokens(len(prompt), request.overflow, options.num_predict),
            received=received,
            spell=self._constraints.encode,
            dropped_messages=len(whole.messages) - len(fitting.messages),
            cut_messages=count_cut_messages(fitting.messages, whole.messages),
            dropped_tokens=max(0, len(whole.tokens) - len(prompt)),
            loop_guard=options.loop_guard and not request.ignore_eos,
            breakers=self._breakers(options.sampling),
            guide=constraint.guide if constraint else None,
            opened=fitting.opened,
            begun=bool(fitting.begun),
            lead=constraint.lead if constraint else None,
            echo=self._echo(request),
            images=fitting.read,
        )

    def count(self, request: CountRequest) -> Counted:
        """Count the tokens of a conversation, which may be longer than the context.

        Raises:
            InvalidRequestError: It is empty, the template refuses it, or the model lacks tools or thoughts it asks for.
            BrokenModelError: The template or the tokenizer fails on it.
        """
        if not request.messages:
            raise InvalidRequestError("There is nothing to count: give at least one message.")
        self._check_images((*images_in(request.messages), *request.images))
        renderer = self._configure_template(_prompt_options(request))
        messages = self._template_messages(request.messages, renderer.template)
        parts = Parts.of(messages)
        tokens = last = len(self._render(messages, renderer).tokens)
        if parts.droppable:
            last = len(self._render(parts.without(len(parts.droppable)), renderer).tokens)
        sizes = tuple(self._size(text) for text in request.texts)
        images = self.marks.sizes(request.images) if self.marks is not None else ()
        return Counted(request.id, tokens, last, self._room(None), sizes, images)

    def _room(self, limit: int | None) -> int:
        """Return the most tokens that a shortened prompt may keep, so that there is room for the answer."""
        share = max(1, self.context_length // _SHARE)
        return self.context_length - (share if limit is None else min(limit, share))

    def _max_new_tokens(self, length: int, overflow: Overflow, limit: int | None) -> int:
        # An answer without a limit never exceeds one full context, even where the context is shifted.
        usual = min(DEFAULT_MAX_TOKENS, self.context_length) if limit is None else self.context_length
        most = limit if limit and limit > 0 else usual
        return most if overflow is Overflow.SHIFT else min(most, self.context_length - length)

    def _whole_prompt(self, request: GenerateRequest) -> _Prompt:
        if request.suffix is not None:
            prompt = self._infill_prompt(request, request.suffix)
        elif isinstance(request.prompt, str):
            prompt = _Prompt(tuple(self.tokenizer.encode(request.prompt)))
        elif request.prompt is not None:
            prompt = _Prompt(self._check_tokens(request.prompt, "prompt"))
        else:
            renderer = self._configure_template(_prompt_options(request), request.template)
            messages = self._template_messages(request.messages, renderer.template, begins=not request.context)
            prompt = self._render(messages, renderer)
        if not request.context or not prompt.tokens:
            return prompt
        before = self.tokenizer.add_prefix(list(self._check_tokens(request.context, "context")))
        # Nothing says where messages end in `context`, so none can be left out.
        return replace(
            prompt,
            tokens=(*before, *self.tokenizer.strip_prefix(prompt.tokens)),
            messages=(),
            renderer=None,
            shorter=None,
        )

    def _infill_prompt(self, request: GenerateRequest, suffix: str) -> _Prompt:
        if request.prompt is None:
            raise InvalidRequestError("suffix needs a prompt: give one, and no messages.")
        before = request.prompt if isinstance(request.prompt, str) else self._check_tokens(request.prompt, "prompt")
        build = partial(self.infill.prompt, before, suffix, request.files, template=request.template)
        return _Prompt(build(), shorter=lambda most: build(most=most))

    def _check_tokens(self, tokens: tuple[int, ...], name: str) -> tuple[int, ...]:
        """Return the tokens that a request gives in the field `name`.

        Raises:
            InvalidRequestError: The model does not have one of them.
        """
        beyond = next((token for token in tokens if not 0 <= token < self._rows), None)
        if beyond is not None:
            raise InvalidRequestError(f"{name} names token {beyond}, and this model's are 0 to {self._rows - 1}.")
        return tokens

    def _configure_template(self, options: PromptOptions, given: str = "") -> ConfiguredTemplate:
        """Return what renders a conversation: the request's own template if it has one, or else the model's.

        Raises:
            InvalidRequestError: The model cannot do what the request asks for, or `given` is not a valid template.
        """
        self._check(options)
        template = self._cached_template(given) if given else self.template.variant_for(options)
        must_call = options.choice is not None and options.choice.required
        if options.think is Think.OFF and not (must_call and self.family.messages is not None):
            return ConfiguredTemplate(template, options, partial(self._empty_thought, template), self.marks)
        return ConfiguredTemplate(template, options, marks=self.marks)

    def _compile_template(self, text: str) -> ChatTemplate:
        try:
            return ChatTemplate.custom(text, self.tokenizer.special_tokens)
        except BrokenModelError as error:
            raise InvalidRequestError(error.message) from error

    def _template_messages(
        self, messages: tuple[Message, ...], template: ChatTemplate, *, begins: bool = True
    ) -> tuple[Message, ...]:
        """Return a conversation in the form that templates expect; an answer to be continued stays as it is.

        If the prompt begins with it, the model's own system prompt is put first where it has none, and the model's own
        messages before its first turn; otherwise they stand in what it continues. Special tokens are recognised only in
        answers and in the model's system prompt; in other texts they are escaped.
        """
        turns = self._escaped(messages)
        if begins:
            turns = _with_system(turns, self._system)
            first = next((index for index, turn in enumerate(turns) if turn.role != "system"), len(turns))
            turns = (*turns[:first], *self._escaped(self._before), *turns[first:])
        continues = len(turns) > 1 and turns[-1].role == "assistant" and not turns[-1].tool_calls
        return (*template.split_answers(turns[:-1]), turns[-1]) if continues else template.split_answers(turns)

    def _escaped(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        # Neighbouring texts are joined before: together, they may be a mark.
        joined = (replace(message, content=content_of(message.parts)) for message in messages)
        return tuple(
            message
            if message.role == "assistant"
            else replace(message, content=content_of(map(self._escaped_part, message.parts)))
            for message in joined
        )

    def _escaped_part(self, part: Part) -> Part:
        return TextPart(self.tokenizer.escape_marks(part.text)) if isinstance(part, TextPart) else part

    def _check_images(self, images: Sequence[ImagePart]) -> None:
        """Raise InvalidRequestError where there are images and the model sees none."""
        if images and self.marks is None:
            raise InvalidRequestError("This model does not see images: choose one that does, or leave the images out.")

    def _check(self, options: PromptOptions) -> None:
        """Raise InvalidRequestError where the model cannot do what the request asks for."""
        if options.tools and not self.abilities.tools:
            raise InvalidRequestError("The model's chat template knows nothing of tools: leave tools out.")
        if options.think not in (None, Think.OFF) and not self.abilities.thinks:
            raise InvalidRequestError("The model's chat template knows nothing of thinking: leave think out.")
        if options.budget is not None and options.budget < 0:
            raise InvalidRequestError(
                f"think_budget is {options.budget}; it should be a number of tokens, 0 for no thoughts at all."
            )

    def _render(self, messages: Sequence[Message], renderer: ConfiguredTemplate) -> _Prompt:
        """Return the prompt for a conversation; an answer at its end will be continued."""
        last = messages[-1]
        begun = last.text if len(messages) > 1 and last.role == "assistant" and not last.tool_calls else ""
        if begun and renderer.options.choice is not None and renderer.options.choice.required:
            raise InvalidRequestError(
                f"{renderer.options.choice.name} asks for the call of a tool, and the conversation ends with an answer "
                "to continue: leave one of them out."
            )
        if begun and last.images:
            raise InvalidRequestError(
                "The conversation ends with an answer to continue, which has images: leave them out."
            )
        text = renderer.render(messages[:-1] if begun else messages)
        opened = self.family.opened_by(text)
        answer = ""
        if begun:
            parts = parse_answer(begun)
            answer = text_of(parts)
            begun, opened = write_markup(parts, self.family, text)
        if self.marks is not None and (images := images_in(messages)):
            tokens = tuple(self.marks.encode(text + self.marks.escape(begun)))
            return _Prompt(tokens, text, tuple(messages), begun, answer, opened, renderer, images=images)
        tokens = tuple(self.tokenizer.encode(text + begun))
        return _Prompt(tokens, text, tuple(messages), begun, answer, opened, renderer)

    def _with_images(self, prompt: _Prompt) -> _Prompt:
        """Return a prompt with the pseudo-tokens of its images."""
        if self.marks is None or not prompt.images or prompt.read:
            return prompt
        tokens, read = self.marks.fill(prompt.tokens, prompt.images)
        return replace(prompt, tokens=tokens, read=read)

    def _empty_thought(self, template: ChatTemplate, prompt: str) -> str:
        """Return the text to append to a prompt so that the model answers without a thought."""
        if end := self.family.skip_thought(prompt):
            return end
        # A template that can switch thoughts off has already done so.
        return self.family.thoughts[0].empty if self.family.thinks and not template.switches_thoughts else ""

    def _fit_prompt(self, prompt: _Prompt, overflow: Overflow, limit: int | None) -> _Prompt:
        """Return the prompt, shortened where it is too long.

        Raises:
            InvalidRequestError: It is too long, and shortening is not allowed or not enough.
        """
        if overflow is Overflow.ERROR:
            if len(prompt.tokens) >= self.context_length:
                raise InvalidRequestError(
                    f"input length ({len(prompt.tokens)} tokens) exceeds {self._limit_name} "
                    f"({self.context_length} tokens)"
                )
            return prompt
        most = self._room(limit)
        if len(prompt.tokens) <= most:
            return prompt
        if prompt.shorter is not None:
            return replace(prompt, tokens=prompt.shorter(most))
        if not prompt.messages:
            prompt = self._with_images(prompt)
            return replace(prompt, tokens=without_torn_images(cut_middle(prompt.tokens, most), prompt.read))
        renderer = prompt.renderer
        assert renderer is not None  # since there are messages
        return self._render(
            shorten_conversation(
                prompt.messages,
                lambda messages: len(self._render(messages, renderer).tokens),
                self._size,
                self._image_size,
                most,
                step=max(1, self.context_length // _SHARE),
            ),
            renderer,
        )

    def _image_size(self, image: ImagePart) -> int:
        """Return how many tokens an image takes."""
        return self.marks.sizes([image])[0] if self.marks is not None else 0

    def _echo(self, request: GenerateRequest) -> str:
        """Return the text of the prompt where the answer should repeat it first."""
        if not request.echo or request.prompt is None:
            return ""
        return request.prompt if isinstance(request.prompt, str) else self.tokenizer.decode(request.prompt)

    def _boundaries(self, prompt: _Prompt, overflow: Overflow) -> tuple[Boundaries, tuple[int, ...]]:
        """Return the boundaries in a prompt, and the tokens of its generation prompt."""
        if prompt.renderer is None or not (self._finds_boundary or overflow is Overflow.SHIFT):
            return Boundaries(), ()
        encoder = self.marks if self.marks is not None and prompt.images else self.tokenizer
        messages, tokens = prompt.messages, prompt.tokens
        if prompt.begun:
            messages, tokens = messages[:-1], tuple(encoder.encode(prompt.text))
        elif isinstance(encoder, ImageMarks):
            tokens = encoder.plain(tokens)
        places = find_boundaries(prompt.renderer, encoder, messages, prompt.text, tokens)
        return places, tokens[places.answer :] if places.answer else ()

    def _read_options(self, request: GenerateRequest) -> RequestOptions:
        """Return the options of a request, checked; the model's manifest supplies those that are missing.

        Raises:
            InvalidRequestError: One is out of range.
        """
        fields = {"num_predict": request.num_predict, "stop": request.stop or None, "loop_guard": request.loop_guard}
        given = {name: value for name, value in fields.items() if value is not None}
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
            # A plain language model would go on to write the user's next turn as well.
            return (*options.stop, _PLAIN_TURN)
        return options.stop

    def _breakers(self, sampling: SamplingOptions) -> frozenset[int]:
        return self._containing(sampling.dry_sequence_breakers) if sampling.dry_multiplier > 0 else frozenset()


def _prompt_options(request: GenerateRequest | CountRequest) -> PromptOptions:
    return PromptOptions(request.tools, request.think, request.think_budget, request.tool_choice)


def _with_system(messages: tuple[Message, ...], system: str) -> tuple[Message, ...]:
    """Put the model's system prompt first where the conversation has none; an empty one in it means none at all."""
    if not any(message.role == "system" for message in messages):
        return (Message("system", system), *messages) if system else messages
    return tuple(message for message in messages if message.role != "system" or message.content)

"""From what a client asks, in whichever dialect, to what the engine is asked."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any
from uuid import uuid4

from sotto.api.desk import Desk, Visit
from sotto.api.error_bodies import bad
from sotto.api.fields import DURATION, Body, Flag, Object, Raw, Text, TextOrObjects
from sotto.engine.contract.events import DoneReason, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.logprob_values import Likelihood
from sotto.engine.contract.options import DRAWN_BY, OPTION_SCHEMAS, known_options, misspelling_notes, request_options
from sotto.engine.contract.requests import GenerateRequest, Grammar, GrammarKind, Message, Overflow
from sotto.engine.grammar.grammars import check_grammar
from sotto.engine.prompt.forced_calls import wanted_tools
from sotto.engine.prompt.template_messages import DEFAULT_PROMPT_OPTIONS, PromptOptions
from sotto.store.records import Format, ModelRecord

# Events that may be read from the engine before they are sent.
_AHEAD = 16
_ROLES = ("system", "user", "assistant", "tool")
# What asks other servers, or other dialects here, for answers of a form.
_FORMATS = (
    "format",
    "grammar",
    "guided_choice",
    "guided_grammar",
    "guided_json",
    "guided_regex",
    "json_schema",
    "output_format",
    "response_format",
    "structured_outputs",
)
NO_IMAGES = "this model does not support image input"


class Options(Body):
    """Options by Ollama's names, which `sotto.engine.contract.options` checks."""

    more = OPTION_SCHEMAS


class ModelBody(Body):
    """What every request to a model has: its name, and how long it stays loaded afterwards."""

    model = Text(required=True)
    keep_alive = Raw(*DURATION)


class OptionsBody(ModelBody):
    """A request with options in an object, as Ollama's have."""

    options = Object(Options)


class SamplingBody(ModelBody):
    """A request in which each option is a field."""

    more = {name: OPTION_SCHEMAS[name] for name in DRAWN_BY}  # noqa: RUF012


class OverflowBody(Body):
    """What to do with a conversation that is longer than the context."""

    truncate = Flag(True)
    shift = Flag(False)


class MessageBody(Body):
    """A message of a conversation."""

    role = Text(required=True)


class Part(Body):
    """A part of a message's content."""

    type = Text(required=True)
    text = Text()


class Content(Body):
    """A text, or a list of its parts."""

    content = TextOrObjects(Part)


def checked_options(options: Mapping[str, Any]) -> int | None:
    """Check options by Ollama's names; return the context length among them, if there is one.

    Raises:
        InvalidRequestError: One is out of range or of the wrong type.
    """
    return request_options({}, options).num_ctx


def options_of(body: OptionsBody) -> tuple[dict[str, Any], int | None, tuple[str, ...]]:
    """Return the options of a request in Ollama's dialect, checked, the context length among them, and warnings.

    Raises:
        ApiError: They are no object.
        InvalidRequestError: One is out of range or of the wrong type.
    """
    options, notes = known_options(body.options.values)
    return options, checked_options(options), tuple(f"options: {note}" for note in notes)


def drawn_by(body: SamplingBody) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the sampling options of a dialect in which each option is a field of its own.

    With it goes a warning for each field that is nearly one of them; others that nobody knows mean nothing here.
    """
    return {name: body.raw(name) for name in DRAWN_BY if body.given(name)}, misspelling_notes(body.names)


def overflow_of(body: OverflowBody, usual: Overflow = Overflow.TRUNCATE) -> Overflow:
    """Return what to do where the context is full: the oldest turns of a conversation leave, unless that is refused.

    Args:
        body: The request.
        usual: What to do where it says nothing.
    """
    if not body.truncate:
        return Overflow.ERROR
    if body.shift:
        return Overflow.SHIFT
    return Overflow.TRUNCATE if body.given("truncate") else usual


def usual_of_text(record: ModelRecord) -> Overflow:
    """Return what is done with a single text that is too long, where a request says nothing: as Ollama does.

    It leaves the middle of the text out for a GGUF file, and refuses it for any other model.
    """
    return Overflow.TRUNCATE if record.format is Format.GGUF else Overflow.ERROR


def refuse_other_formats(body: Body, right: str) -> None:
    """Refuse fields that ask for a form of the answer and have no meaning here: it would come in another one.

    Args:
        body: The request.
        right: Where the form belongs, as its path.

    Raises:
        ApiError: There is such a field.
    """
    for name in _FORMATS:
        if body.given(name) and name != right:
            raise bad(f"{name} is not known here; say in {right} what the answer must be.")


def request_of(
    options: Mapping[str, Any],
    messages: Sequence[Message] = (),
    prompt: str | tuple[int, ...] | None = None,
    overflow: Overflow = Overflow.ERROR,
    logprobs: int | None = None,
    grammar: Grammar | None = None,
    prompt_options: PromptOptions = DEFAULT_PROMPT_OPTIONS,
) -> GenerateRequest:
    """Return a request with an id of its own; what `options` leave open is as the model's manifest says."""
    return GenerateRequest(
        id=f"api {uuid4().hex}",
        messages=tuple(messages),
        prompt=prompt,
        options=options,
        overflow=overflow,
        logprobs=logprobs,
        grammar=grammar,
        tools=prompt_options.tools,
        tool_choice=prompt_options.choice,
        think=prompt_options.think,
        think_budget=prompt_options.budget,
    )


def tokens_of(body: Body, name: str, values: Sequence[Any]) -> tuple[int, ...]:
    """Return a field's tokens; the model itself checks whether they are in its vocabulary."""
    for index, value in enumerate(values):
        # Not isinstance: True is an int there.
        if type(value) is not int:
            raise body.wrong(f"{name}[{index}]", "a token, a whole number from 0 on", value)
    return tuple(values)


async def schema_of(body: Body, name: str) -> Grammar:
    """Return what a field that holds a JSON schema asks for, checked before any model is loaded for it.

    Raises:
        ApiError: It is no object.
        InvalidRequestError: It cannot be honoured.
    """
    schema = body.raw(name)
    if not isinstance(schema, dict):
        raise body.wrong(name, "a JSON schema")
    grammar = Grammar(GrammarKind.JSON_SCHEMA, json.dumps(schema), body.path(name))
    await asyncio.to_thread(check_grammar, grammar)
    return grammar


async def check_answerable(prompt_options: PromptOptions) -> PromptOptions:
    """Return how an answer is asked for, once the calls that it must have are checked, before any model is loaded.

    Raises:
        InvalidRequestError: They cannot be guaranteed.
    """
    if prompt_options.choice is not None and prompt_options.choice.required:
        await asyncio.to_thread(wanted_tools, prompt_options.tools, prompt_options.choice)
    return prompt_options


def role_of(message: MessageBody) -> str:
    """Return who says a message.

    Raises:
        ApiError: It is nobody who can.
    """
    role = message.role.lower()
    role = "system" if role == "developer" else role
    if role not in _ROLES:
        raise message.wrong("role", "system, user, assistant or tool")
    return role


def text_of(message: Content) -> str:
    """Return a content that is a text, or a list of parts that are texts.

    Raises:
        ApiError: It has other parts.
    """
    if isinstance(content := message.content, str):
        return content
    texts = []
    for part in content:
        if part.type in ("image", "image_url", "input_audio"):
            raise bad(NO_IMAGES if part.type != "input_audio" else "this model does not support audio input")
        if part.type != "text":
            raise part.wrong("type", "text")
        texts.append(part.text)
    return "".join(texts)


def reason_of(end: Finished) -> str:
    """Return why an answer ended, in Ollama's and OpenAI's words: one that repeated itself was cut at a limit."""
    return DoneReason.LENGTH.value if end.done_reason is DoneReason.LOOP else end.done_reason.value


async def whole_answer(desk: Desk, visit: Visit, request: GenerateRequest) -> tuple[Finished, list[Likelihood]]:
    """Wait for the end of an answer; return it, and how likely its tokens were, where that was asked for.

    Raises:
        ApiError: It failed.
    """
    told: list[Likelihood] = []
    async with aclosing(desk.answer(visit, request)) as events:
        async for event in events:
            if isinstance(event, TextChunk):
                told += event.logprobs
            elif isinstance(event, Finished):
                return event, told
    raise AssertionError("an answer ends with Finished or an error")


async def interleaved(
    desk: Desk, visit: Visit, requests: Sequence[GenerateRequest]
) -> AsyncGenerator[tuple[int, PrefillProgress | TextChunk | Finished], None]:
    """Yield the events of several answers as they come, each with the number of its request.

    Raises:
        ApiError: One of them failed, which ends the others.
    """
    events: asyncio.Queue[tuple[int, Any]] = asyncio.Queue(_AHEAD)

    async def feed(index: int, request: GenerateRequest) -> None:
        try:
            async with aclosing(desk.answer(visit, request)) as answer:
                async for event in answer:
                    await events.put((index, event))
        except Exception as error:
            await events.put((index, error))

    feeding = [asyncio.create_task(feed(index, request)) for index, request in enumerate(requests)]
    try:
        left = len(feeding)
        while left:
            index, event = await events.get()
            if isinstance(event, Exception):
                raise event
            left -= isinstance(event, Finished)
            yield index, event
    finally:
        for task in feeding:
            task.cancel()
        await asyncio.gather(*feeding, return_exceptions=True)

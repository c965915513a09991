"""Translation of the requests of all dialects into requests to the engine."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from sotto.api.desk import Desk, Visit
from sotto.api.error_bodies import ApiError, bad_request
from sotto.api.fields import DURATION, Body, Flag, Object, Raw, Text
from sotto.engine.contract.events import DoneReason, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.logprob_values import LogprobEntry
from sotto.engine.contract.options import (
    OPTION_SCHEMAS,
    SAMPLING_NAMES,
    known_options,
    misspelling_notes,
    request_options,
)
from sotto.engine.contract.requests import GenerateRequest, Grammar, GrammarKind, Message, Overflow
from sotto.engine.grammar.grammars import check_grammar
from sotto.engine.prompt.forced_calls import wanted_tools
from sotto.engine.prompt.template_messages import DEFAULT_PROMPT_OPTIONS, PromptOptions
from sotto.store.records import Format, ModelRecord

# Events of `interleaved` that may be buffered before their reader takes them.
_MAX_BUFFERED_EVENTS = 16
_ROLES = ("system", "user", "assistant", "tool")
# Fields with which other servers, or other dialects here, constrain the form of answers.
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
# Characters of all messages; longer ones would be tokenized for minutes. Images do not count.
_MOST_TEXT = 32 << 20


class Options(Body):
    """Options by Ollama's names, which `sotto.engine.contract.options` checks."""

    more = OPTION_SCHEMAS


class ModelBody(Body):
    """The fields of every request to a model: its name, and how long it stays loaded afterwards."""

    model = Text(required=True)
    keep_alive = Raw(*DURATION)


class OptionsBody(ModelBody):
    """A request with its options in an object, as in Ollama's dialect."""

    options = Object(Options)


class SamplingBody(ModelBody):
    """A request in which each option is a field."""

    more = {name: OPTION_SCHEMAS[name] for name in SAMPLING_NAMES}  # noqa: RUF012


class OverflowBody(Body):
    """What to do with a conversation that is longer than the context."""

    truncate = Flag(True)
    shift = Flag(False)


class MessageBody(Body):
    """A message of a conversation."""

    role = Text(required=True)


def checked_options(options: Mapping[str, Any]) -> int | None:
    """Check options by Ollama's names and return `num_ctx`, the context length in tokens; None if not given.

    Raises:
        InvalidRequestError: An option is out of range or of the wrong type.
    """
    return request_options({}, options).num_ctx


def options_of(body: OptionsBody) -> tuple[dict[str, Any], int | None, tuple[str, ...]]:
    """Return the checked options of a request in Ollama's dialect, its context length in tokens, and warnings.

    Raises:
        ApiError: The options are not an object.
        InvalidRequestError: An option is out of range or of the wrong type.
    """
    options, notes = known_options(body.options.values)
    return options, checked_options(options), tuple(f"options: {note}" for note in notes)


def sampling_options_of(body: SamplingBody) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the sampling options of a request in which each option is a field, and warnings.

    A field whose name is nearly that of an option gets a warning; other unknown fields are ignored.
    """
    return {name: body.raw(name) for name in SAMPLING_NAMES if body.given(name)}, misspelling_notes(body.names)


def overflow_of(body: OverflowBody, usual: Overflow = Overflow.TRUNCATE) -> Overflow:
    """Return what to do when the context is full.

    Args:
        body: The request.
        usual: The default for a request that gives neither `truncate` nor `shift`.
    """
    if not body.truncate:
        return Overflow.ERROR
    if body.shift:
        return Overflow.SHIFT
    return Overflow.TRUNCATE if body.given("truncate") else usual


def default_text_overflow(record: ModelRecord) -> Overflow:
    """Return the default for a single text that is too long.

    As in Ollama, the middle of the text is left out for a GGUF file, and other models refuse it.
    """
    return Overflow.TRUNCATE if record.format is Format.GGUF else Overflow.ERROR


def refuse_other_formats(body: Body, right: str) -> None:
    """Refuse fields that constrain the answer elsewhere but mean nothing here; ignored, they would mislead clients.

    Args:
        body: The request.
        right: The path of the field that constrains answers in this dialect.

    Raises:
        ApiError: The request has such a field.
    """
    for name in _FORMATS:
        if body.given(name) and name != right:
            raise bad_request(f"{name} is not supported here; use {right} instead.")


def request_of(
    options: Mapping[str, Any],
    messages: Sequence[Message] = (),
    prompt: str | tuple[int, ...] | None = None,
    overflow: Overflow = Overflow.ERROR,
    logprobs: int | None = None,
    grammar: Grammar | None = None,
    prompt_options: PromptOptions = DEFAULT_PROMPT_OPTIONS,
) -> GenerateRequest:
    """Return a request to the engine with a fresh id.

    Args:
        options: Checked options by Ollama's names; those not given take the values of the model's manifest.
        messages: The conversation; empty if there is a prompt.
        prompt: A text, or its tokens, to continue; None if there are messages.
        overflow: What to do when the context is full.
        logprobs: How many of the most likely tokens to report beside each sampled one; None for no log-probabilities.
        grammar: What the answer must match; None for any text.
        prompt_options: The tools, and how to think.

    Raises:
        ApiError: The messages are too long for any model.
    """
    if (length := sum(len(message.text) for message in messages)) > _MOST_TEXT:
        message = f"The messages have {length:,} characters; at most {_MOST_TEXT:,} are allowed."
        raise ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
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
    """Return a field's token ids; the engine checks whether they are in the model's vocabulary."""
    for index, value in enumerate(values):
        # Not isinstance, which takes True for an int.
        if type(value) is not int:
            raise body.wrong(f"{name}[{index}]", "a token ID, a whole number of 0 or more", value)
    return tuple(values)


async def schema_of(body: Body, name: str) -> Grammar:
    """Return the grammar of a field that holds a JSON schema, checked before any model is loaded for it.

    Raises:
        ApiError: The field is not an object.
        InvalidRequestError: The schema cannot be enforced.
    """
    schema = body.raw(name)
    if not isinstance(schema, dict):
        raise body.wrong(name, "a JSON schema")
    grammar = Grammar(GrammarKind.JSON_SCHEMA, json.dumps(schema), body.path(name))
    await asyncio.to_thread(check_grammar, grammar)
    return grammar


async def check_answerable(prompt_options: PromptOptions) -> PromptOptions:
    """Return `prompt_options` once its required tool calls are checked, before any model is loaded.

    Raises:
        InvalidRequestError: The calls cannot be guaranteed.
    """
    if prompt_options.choice is not None and prompt_options.choice.required:
        await asyncio.to_thread(wanted_tools, prompt_options.tools, prompt_options.choice)
    return prompt_options


def role_of(message: MessageBody) -> str:
    """Return the role of a message; `developer` becomes `system`.

    Raises:
        ApiError: The role is unknown.
    """
    role = message.role.lower()
    role = "system" if role == "developer" else role
    if role not in _ROLES:
        raise message.wrong("role", "system, user, assistant or tool")
    return role


def reason_of(end: Finished) -> str:
    """Return the finish reason in Ollama's and OpenAI's words; one stopped for looping counts as cut off."""
    return DoneReason.LENGTH.value if end.done_reason is DoneReason.LOOP else end.done_reason.value


async def collect_answer(desk: Desk, visit: Visit, request: GenerateRequest) -> tuple[Finished, list[LogprobEntry]]:
    """Wait for the end of an answer and return it with the log-probabilities of its tokens, if they were requested.

    Raises:
        ApiError: The answer failed.
    """
    logprobs: list[LogprobEntry] = []
    async with aclosing(desk.answer(visit, request)) as events:
        async for event in events:
            if isinstance(event, TextChunk):
                logprobs += event.logprobs
            elif isinstance(event, Finished):
                return event, logprobs
    raise AssertionError("an answer ends with Finished or an error")


async def interleave(
    desk: Desk, visit: Visit, requests: Sequence[GenerateRequest]
) -> AsyncGenerator[tuple[int, PrefillProgress | TextChunk | Finished], None]:
    """Yield the events of several answers as they come, each with the index of its request.

    Raises:
        ApiError: An answer failed, which cancels the others.
    """
    events: asyncio.Queue[tuple[int, Any]] = asyncio.Queue(_MAX_BUFFERED_EVENTS)

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

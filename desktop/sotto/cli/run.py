"""`sotto run`: one question and its answer, or a conversation."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sotto.cli import chat
from sotto.cli.answer_writer import AnswerWriter
from sotto.cli.exit_codes import INTERRUPTED
from sotto.cli.formats import grammar_of
from sotto.cli.question_images import check_sees, read_image, with_images
from sotto.cli.terminal_session import Session, system_messages
from sotto.engine.contract.events import DoneReason, Failed, Finished, TextChunk
from sotto.engine.contract.logprob_values import LogprobEntry, TokenLogprob
from sotto.engine.contract.message_content import ImagePart
from sotto.engine.contract.requests import Message, Overflow, Think
from sotto.engine.contract.tool_choice import ToolChoice
from sotto.engine.prompt.forced_calls import wanted_tools
from sotto.engine.prompt.template_messages import PromptOptions
from sotto.engine.prompt.tools import tools_of_file
from sotto.errors import EngineError, InvalidRequestError

_OPTIONS = ("temperature", "top_k", "top_p", "min_p", "seed", "num_predict", "num_ctx", "stop")


def run(parsed: argparse.Namespace) -> int:
    """Ask once and print the answer, or hold a conversation at a terminal; return the exit status.

    Raises:
        SottoError: The model, an option or the prompt is invalid.
    """
    _check_raw(parsed)
    overrides = {name: value for name in _OPTIONS if (value := getattr(parsed, name)) is not None}
    overrides |= dict(map(_option, parsed.option))
    if parsed.logprobs is not None and not parsed.json:
        raise InvalidRequestError("--logprobs requires --json.")
    prompt = parsed.prompt
    talks = prompt is None and sys.stdin.isatty() and not (parsed.raw or parsed.json)
    usual = Overflow.SHIFT if talks else Overflow.ERROR
    overflow = Overflow(parsed.overflow) if parsed.overflow else usual
    if parsed.format is not None and overrides.get("stop"):
        raise InvalidRequestError("--stop and --format cannot be combined; leave one of them out.")
    grammar = grammar_of(parsed.format) if parsed.format is not None else None
    images = tuple(map(read_image, parsed.image or ()))
    session = Session(
        parsed.model,
        overrides,
        overflow,
        parsed.draft,
        parsed.adapter,
        parsed.template,
        grammar,
        _prompt_options(parsed),
    )
    for note in session.options.notes:
        print(f"sotto: {note}", file=sys.stderr)
    if talks:
        return chat.converse(session, parsed.system, images=images)
    if prompt is None:
        prompt = _piped()
    if not prompt:
        raise InvalidRequestError("The prompt is empty: pass it as an argument or through a pipe.")
    with session:
        info = session.load(raw=parsed.raw)
        check_sees(info, images)
        finished, told = _answer(session, prompt, images, parsed)
    if parsed.json:
        logprobs = {} if parsed.logprobs is None else {"logprobs": [_logprob_object(entry) for entry in told]}
        print(json.dumps(_report(session.record.name, finished, info.load_duration) | logprobs, ensure_ascii=False))
    if note := session.cut_short(finished):
        print(f"sotto: {note}", file=sys.stderr)
    return INTERRUPTED if finished.done_reason is DoneReason.CANCELLED else 0


def _option(given: str) -> tuple[str, Any]:
    """Split NAME=VALUE; a value that is not JSON is a text."""
    name, equals, text = given.partition("=")
    if not equals:
        raise InvalidRequestError(f"--option {given!r} has no value; use NAME=VALUE, for example typical_p=0.9.")
    try:
        return name, json.loads(text)
    except (ValueError, RecursionError):
        return name, text


def _prompt_options(parsed: argparse.Namespace) -> PromptOptions:
    """Return the tools and the thinking options of the command line.

    Raises:
        InvalidRequestError: The file of tools cannot be read.
    """
    think = Think(parsed.think_level) if parsed.think_level else None
    if parsed.think is not None and think is None:
        think = Think.ON if parsed.think else Think.OFF
    elif parsed.think is False:
        raise InvalidRequestError("--no-think and --think-level cannot be combined; leave one of them out.")
    tools = tools_of_file(Path(parsed.tools)) if parsed.tools is not None else ()
    choice = _choice(parsed)
    if choice is not None:
        wanted_tools(tools, choice)
    return PromptOptions(tools, think, parsed.think_budget, choice)


def _choice(parsed: argparse.Namespace) -> ToolChoice | None:
    """Return the value of --tool-choice, or None."""
    if parsed.tool_choice is None:
        return None
    if parsed.tools is None:
        raise InvalidRequestError("--tool-choice requires --tools.")
    for name in ("format", "stop"):
        if getattr(parsed, name) is not None:
            raise InvalidRequestError(f"--{name} and --tool-choice cannot be combined; leave one of them out.")
    tool = "" if parsed.tool_choice == "required" else parsed.tool_choice
    return ToolChoice(required=True, tool=tool, single=True, name="--tool-choice", tools=Path(parsed.tools).name)


def _check_raw(parsed: argparse.Namespace) -> None:
    """Raise InvalidRequestError if a raw prompt is combined with an option that needs a chat template."""
    given = {
        "--system": parsed.system,
        "--template": parsed.template,
        "--tools": parsed.tools,
        "--image": parsed.image,
        "--tool-choice": parsed.tool_choice,
        "--think": parsed.think,
        "--think-level": parsed.think_level,
        "--think-budget": parsed.think_budget,
    }
    if parsed.raw and (option := next((name for name, value in given.items() if value is not None), None)):
        raise InvalidRequestError(f"--raw and {option} cannot be combined; leave one of them out.")


def _piped() -> str:
    try:
        return sys.stdin.read().removesuffix("\n")
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"stdin is not UTF-8 text ({error.reason} at {error.start}).") from error


def _answer(
    session: Session, prompt: str, images: Sequence[ImagePart], parsed: argparse.Namespace
) -> tuple[Finished, list[LogprobEntry]]:
    question = Message("user", with_images(prompt, (), images))
    messages = () if parsed.raw else (*system_messages(parsed.system), question)
    writer, told = AnswerWriter(), list[LogprobEntry]()
    for event in session.ask(messages, prompt if parsed.raw else None, parsed.logprobs):
        if isinstance(event, TextChunk):
            told += event.logprobs
            if not parsed.json:
                writer.write(event.pieces)
        elif isinstance(event, Failed):
            raise EngineError(event.message)
        elif isinstance(event, Finished):
            if not parsed.json:
                writer.end()
            return event, told
    raise AssertionError("a generation ends with Finished or Failed")


def _logprob_object(entry: LogprobEntry) -> dict[str, Any]:
    return _token(entry.sampled) | {"top_logprobs": [_token(other) for other in entry.top]}


def _token(token: TokenLogprob) -> dict[str, Any]:
    text = token.data.decode(errors="replace")
    return {"token_id": token.token_id, "token": text, "bytes": list(token.data), "logprob": token.logprob}


def _report(model: str, finished: Finished, load_duration: int) -> dict[str, Any]:
    return {
        "model": model,
        "text": finished.text,
        "thinking": finished.thinking,
        "tool_calls": [{"name": call.name, "arguments": call.arguments, "id": call.id} for call in finished.calls],
        "token_ids": list(finished.token_ids),
        "done_reason": finished.done_reason.value,
        "prompt_eval_count": finished.prompt_tokens,
        "prompt_cached_count": finished.cached_tokens,
        "eval_count": len(finished.token_ids),
        "load_duration": load_duration,
        "prompt_eval_duration": finished.prompt_duration,
        "eval_duration": finished.eval_duration,
        "total_duration": finished.total_duration + load_duration,
    }

"""A conversation in the terminal: questions from the keyboard or a pipe, answers on stdout."""

import contextlib
import sys
from collections.abc import Sequence

from sotto.cli.answer_writer import AnswerWriter
from sotto.cli.question_images import check_sees, find_images, with_images
from sotto.cli.terminal_session import Session, system_messages
from sotto.engine.contract.events import DoneReason, Failed, Finished, ModelInfo, TextChunk
from sotto.engine.contract.message_content import Content, ImagePart
from sotto.engine.contract.requests import Message, Overflow
from sotto.errors import CancelledError, InvalidRequestError, SottoError
from sotto.store.printable import printable_path

BUILTIN = "sotto"
_HELLO = "Who are you?"


def in_terminal(target: str | None) -> int:
    """Have the built-in model, or `target`, introduce itself and then answer questions from stdin; return 0.

    Raises:
        SottoError: The model cannot be found or loaded.
    """
    return converse(Session(target or BUILTIN, {}, Overflow.SHIFT), system=None, greet=True)


def converse(session: Session, system: str | None, *, greet: bool = False, images: tuple[ImagePart, ...] = ()) -> int:
    """Answer each line until the input ends; return 0.

    Args:
        session: The model to talk to, not yet loaded.
        system: The system prompt; None for the model's own.
        greet: Whether to ask the model to introduce itself first.
        images: What the first question shows.

    Raises:
        SottoError: The model cannot be loaded.
    """
    keyboard = sys.stdin.isatty()
    messages = system_messages(system)
    with session:
        info = session.load()
        check_sees(info, images)
        print(f"{info.name} is ready. Ctrl-C stops an answer; Ctrl-D or an empty line quits.", file=sys.stderr)
        if greet:
            print(f"> {_HELLO}", file=sys.stderr)
            messages = _turn(session, messages, _HELLO)
        while (question := _question(keyboard)) is not None:
            try:
                content = _content(question, images, info)
            except InvalidRequestError as error:
                print(f"sotto: {error.message}", file=sys.stderr)
                continue
            before = messages
            messages = _turn(session, messages, content)
            # A question that failed is not part of the conversation, so the next one shows its images.
            images = () if messages is not before else images
    return 0


def _content(question: str, images: Sequence[ImagePart], info: ModelInfo) -> Content:
    """Return a question with the images that it shows: those given, and those whose paths are in it.

    Raises:
        InvalidRequestError: An image cannot be read.
    """
    found = find_images(question)
    if found and not info.sees:
        print(f"({info.name} does not see images; it is only told the path.)", file=sys.stderr)
        found = []
    content = with_images(question, found, images)
    for image in found:
        print(f"Added image {printable_path(image.path)}", file=sys.stderr)
    return content


def _question(keyboard: bool) -> str | None:
    """Return the next line, or None at the end; empty lines in a pipe are skipped."""
    if keyboard:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - gives input() line editing and history
        try:
            return input("> ").strip() or None
        except EOFError:
            print(file=sys.stderr)
            return None
    try:
        return next((line.strip() for line in sys.stdin if line.strip()), None)
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"stdin is not UTF-8 text ({error.reason}).") from error


def _turn(session: Session, messages: tuple[Message, ...], question: Content) -> tuple[Message, ...]:
    """Answer one question; return the conversation with both, or unchanged if the question failed."""
    asked = (*messages, Message("user", question))
    writer = AnswerWriter()
    try:
        for event in session.ask(asked):
            if isinstance(event, TextChunk):
                writer.write(event.pieces)
            elif isinstance(event, Failed):
                print(f"sotto: {event.message}", file=sys.stderr)
                return messages
            elif isinstance(event, Finished):
                writer.end()
                if event.done_reason is DoneReason.CANCELLED:
                    print("(stopped)", file=sys.stderr)
                elif note := session.cut_short(event):
                    print(f"({note.removesuffix('.')})", file=sys.stderr)
                return (*asked, Message("assistant", event.text, event.thinking, event.calls))
    except CancelledError:
        print("(stopped)", file=sys.stderr)
    except SottoError as error:
        print(f"sotto: {error.message}", file=sys.stderr)
    return messages

"""Content blocks of Anthropic's dialect, in the messages of requests and in answers."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sotto.api.asking import NO_IMAGES, MessageBody, ModelBody, role_of
from sotto.api.error_bodies import bad_request
from sotto.api.fields import OBJECT, STRING, Body, Flag, Integer, Object, Objects, Raw, Text, TextOrObjects
from sotto.api.tool_fields import UNSEEN_TEXT, Tool, bound_warnings, kind_of_tool, left_out_warnings, unseen_warning
from sotto.engine.contract.answer_parts import Kind, Piece, ToolCall, markup
from sotto.engine.contract.events import Finished, TextChunk
from sotto.engine.contract.requests import GenerateRequest, Message, Think
from sotto.engine.contract.tool_choice import ToolChoice
from sotto.engine.prompt.template_messages import PromptOptions
from sotto.engine.prompt.tools import tools_at

B = TypeVar("B", bound=Body)
_NON_TEXT_TYPES = ("image", "document")
_KINDS = {Kind.TEXT: "text", Kind.THOUGHT: "thinking", Kind.TOOL: "tool_use"}


class Part(Body):
    """A part of a tool's result."""

    type = Text(required=True)
    text = Text()
    tool_name = Text()


class Block(Body):
    """A block of a message: depending on its type a text, a thought, a tool call, or a tool's result."""

    type = Text(required=True)
    text = Text()
    thinking = Text()
    id = Text()
    name = Text()
    input = Object(Body)
    tool_use_id = Text()
    content = TextOrObjects(Part)


class BlockMessage(MessageBody):
    """A message of a conversation."""

    content = TextOrObjects(Block)


class CustomTool(Tool):
    """A tool that the client defines."""

    name = Raw(STRING)
    description = Raw(STRING)
    input_schema = Raw(OBJECT)


class ChoiceBody(Body):
    """Which tools may or must be called."""

    type = Text("auto", choices=("auto", "none", "any", "tool"))
    name = Text()
    disable_parallel_tool_use = Flag(False)


class ThinkingBody(Body):
    """Whether to think, and for how many tokens."""

    type = Text(choices=("enabled", "disabled", "adaptive"))
    budget_tokens = Integer(0, 2**31 - 1)


class ConversationBody(ModelBody):
    """The common fields of requests for answers and for token counts."""

    messages = Objects(BlockMessage, required=True)
    system = TextOrObjects(Block)
    tools = Objects(CustomTool)
    tool_choice = Object(ChoiceBody)
    thinking = Object(ThinkingBody)


def warnings_of(body: ConversationBody) -> list[str]:
    """Return warnings for the parts of a request that are left out instead of refused, as clients manage without."""
    return bound_warnings(
        (
            *left_out_warnings("tools", _others(body), "only custom tools are supported"),
            *(
                unseen_warning(part.path())
                for message in body.messages
                for block in _blocks_in(message.content)
                if block.type == "tool_result"
                for part in _blocks_in(block.content)
                if part.type in _NON_TEXT_TYPES
            ),
        )
    )


def prompt_options_of(body: ConversationBody) -> PromptOptions:
    """Return the tools and the thinking mode that a request asks for.

    Anthropic's own tools are left out: a request gives only their type, which only Anthropic's models know.

    Raises:
        ApiError: A field has an invalid value.
        InvalidRequestError: The description of a tool is invalid.
    """
    others = _others(body)
    described = {
        place: {
            "name": tool.name,
            "description": tool.description or "",
            "parameters": tool.input_schema,
        }
        for place, tool in enumerate(body.tools)
        if place not in others
    }
    choice = body.tool_choice
    wanted = choice.type
    if wanted not in ("auto", "none", "any", "tool"):
        raise choice.wrong("type", "auto, any, tool or none")
    if wanted == "tool" and not choice.name:
        raise choice.wrong("name", "a tool's name")
    calls = ToolChoice(
        required=wanted in ("any", "tool"),
        tool=choice.name if wanted == "tool" else "",
        single=choice.disable_parallel_tool_use,
        parameters="input_schema",
    )
    thinking = body.thinking
    kind, budget = thinking.type, None
    if kind not in ("", "enabled", "disabled", "adaptive"):
        raise thinking.wrong("type", "enabled or disabled")
    if kind == "enabled":
        budget = thinking.budget_tokens
    think = {"enabled": Think.ON, "disabled": Think.OFF}.get(kind)
    tools = () if wanted == "none" else tools_at(described, "tools")
    return PromptOptions(tools, think, budget, calls if calls.required or calls.single else None)


def _others(body: ConversationBody) -> dict[int, str]:
    """Return the types of Anthropic's own tools, by their index in the request."""
    kinds = enumerate(kind_of_tool(tool, usual="custom") for tool in body.tools)
    return {place: kind for place, kind in kinds if kind != "custom"}


def _blocks_in(content: str | Sequence[B]) -> Sequence[B]:
    """Return the blocks of a content; empty if it is a text."""
    return () if isinstance(content, str) else content


def text_of(content: str | Sequence[Block]) -> str:
    """Return the text of a content, joined from its blocks; thoughts are left out."""
    return content if isinstance(content, str) else "".join(block.text for block in _blocks(content, "text"))


def _result_text(content: str | Sequence[Part]) -> str:
    """Return the text of a tool's result; a reference to a tool becomes a line with its name."""
    return content if isinstance(content, str) else "".join(map(_part_text, content))


def _part_text(part: Part) -> str:
    kind = part.type
    if kind in _NON_TEXT_TYPES:
        return UNSEEN_TEXT
    if kind == "tool_reference":
        return f"{part.tool_name}\n"
    if kind != "text":
        raise part.wrong("type", "text, image, document or tool_reference")
    return part.text


def messages_of(message: BlockMessage) -> Iterator[Message]:
    """Yield the messages that one message stands for: one for each tool result, then one for its other blocks."""
    role = role_of(message)
    if isinstance(content := message.content, str):
        yield Message(role, content)
        return
    texts, thoughts, calls = [], [], []
    answered = False
    for block in _blocks(content, "text", "tool_use", "tool_result"):
        kind = block.type
        if kind == "tool_result":
            answered = True
            yield Message("tool", _result_text(block.content), tool_call_id=block.tool_use_id)
        elif kind == "tool_use":
            calls.append(ToolCall(block.name, block.input.values, block.id))
        elif kind == "thinking":
            thoughts.append(block.thinking)
        elif kind == "text":
            texts.append(block.text)
    if texts or calls or not answered:
        yield Message(role, "".join(texts), "\n\n".join(thoughts), tuple(calls))


def _blocks(blocks: Iterable[Block], *kinds: str) -> Iterator[Block]:
    for block in blocks:
        kind = block.type
        if kind == "image":
            raise bad_request(NO_IMAGES)
        if kind not in (*kinds, "thinking", "redacted_thinking"):
            raise block.wrong("type", " or ".join(kinds))
        yield block


def visible_pieces(event: TextChunk | Finished, request: GenerateRequest) -> Iterator[Piece]:
    """Yield the pieces of an event that clients get; if the request offers no tools, calls are part of the text.

    A call that was cut off is left out, as its input would seem to be complete.
    """
    for piece in event.pieces:
        if piece.cut is not None and request.tools:
            continue
        if piece.call is not None and not request.tools:
            yield Piece(Kind.TEXT, markup([piece], begun=True))
        elif piece.text or piece.call is not None:
            yield piece


def blocks_of(pieces: Iterable[Piece]) -> list[dict[str, Any]]:
    """Return the pieces of a whole answer as blocks."""
    blocks: list[dict[str, Any]] = []
    for piece in pieces:
        kind = _KINDS[piece.kind]
        if piece.kind is Kind.TEXT and blocks and blocks[-1]["type"] == kind:
            blocks[-1]["text"] += piece.text
        else:
            blocks.append(_block_start(piece) | _filled(piece))
    return blocks


def _block_start(piece: Piece) -> dict[str, Any]:
    """Return the empty block that begins with a piece."""
    if piece.call is not None:
        return {"type": "tool_use", "id": piece.call.id, "name": piece.call.name, "input": {}}
    return (
        {"type": "text", "text": ""}
        if piece.kind is Kind.TEXT
        else {"type": "thinking", "thinking": "", "signature": ""}
    )


def _filled(piece: Piece) -> dict[str, Any]:
    if piece.call is not None:
        return {"input": piece.call.arguments}
    return {_KINDS[piece.kind]: piece.text}


class BlockStream:
    """Turns the pieces of an answer into the events of a stream."""

    def __init__(self) -> None:
        """Begin without a block."""
        self._index = -1
        self._open: Kind | None = None

    def add(self, piece: Piece) -> Iterator[dict[str, Any]]:
        """Yield the events for the next piece."""
        if self._open is not piece.kind or piece.kind is Kind.TOOL:
            yield from self.end()
            self._index, self._open = self._index + 1, piece.kind
            yield {"type": "content_block_start", "index": self._index, "content_block": _block_start(piece)}
        if piece.call is not None:
            delta = {"type": "input_json_delta", "partial_json": piece.call.arguments_as_json()}
        else:
            kind = _KINDS[piece.kind]
            delta = {"type": f"{kind}_delta", kind: piece.text}
        yield {"type": "content_block_delta", "index": self._index, "delta": delta}

    def end(self) -> Iterator[dict[str, Any]]:
        """Yield the event that ends the open block, if there is one."""
        if self._open is not None:
            self._open = None
            yield {"type": "content_block_stop", "index": self._index}

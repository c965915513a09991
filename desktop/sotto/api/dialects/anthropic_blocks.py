"""Content blocks of Anthropic's dialect, in the messages of requests and in answers."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from sotto.api.asking import MessageBody, ModelBody, role_of
from sotto.api.content_parts import ContentReader, Given, not_fetched, not_stored
from sotto.api.error_bodies import ApiError
from sotto.api.fields import OBJECT, STRING, Body, Flag, Integer, Object, Objects, Raw, Text, TextOrObjects
from sotto.api.tool_fields import Tool, kind_of_tool, left_out_warnings
from sotto.engine.contract.answer_parts import Kind, Piece, ToolCall, markup
from sotto.engine.contract.events import Finished, TextChunk
from sotto.engine.contract.message_content import ImagePart, TextPart
from sotto.engine.contract.requests import GenerateRequest, Message, Think
from sotto.engine.contract.tool_choice import ToolChoice
from sotto.engine.prompt.template_messages import PromptOptions
from sotto.engine.prompt.tools import tools_at

_SHOWN = ("text", "image", "document")
_KINDS = {Kind.TEXT: "text", Kind.THOUGHT: "thinking", Kind.TOOL: "tool_use"}


class DataSource(Body):
    """Where an image comes from."""

    type = Text(choices=("base64",))
    media_type = Text()
    data = Text()
    url = Text()
    file_id = Text()


class DocumentPart(Body):
    """A part of a document."""

    type = Text(required=True)
    text = Text()
    source = Object(DataSource)


class Source(DataSource):
    """Where an image or a document comes from."""

    type = Text(choices=("base64", "text", "content"))
    content = TextOrObjects(DocumentPart)


class Part(Body):
    """A text, an image or a document; in a tool's result also the name of a tool."""

    type = Text(required=True)
    text = Text()
    source = Object(Source)
    title = Text()
    context = Text()
    tool_name = Text()


class Block(Part):
    """A block of a message: depending on its type also a thought, a tool call, or a tool's result."""

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


def warnings_of(body: ConversationBody) -> Iterator[str]:
    """Yield warnings for the parts of a request that are left out instead of refused, as clients manage without."""
    return left_out_warnings("tools", _others(body), "only custom tools are supported")


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


def text_of(content: str | Sequence[Block]) -> str:
    """Return the text of a content, joined from its blocks; thoughts are left out."""
    return content if isinstance(content, str) else "".join(block.text for block in _blocks(content, "text"))


def messages_of(message: BlockMessage, reader: ContentReader) -> Iterator[Message]:
    """Yield the messages that one message stands for: one for each tool result, then one for its other blocks."""
    role = role_of(message)
    if isinstance(content := message.content, str):
        yield Message(role, content)
        return
    shown, thoughts, calls = list[Block](), [], []
    answered = False
    for block in _blocks(content, *_SHOWN, "tool_use", "tool_result"):
        kind = block.type
        if kind == "tool_result":
            answered = True
            result = reader.result(block.content, partial(_result_part, reader))
            yield Message("tool", result, tool_call_id=block.tool_use_id)
        elif kind == "tool_use":
            calls.append(ToolCall(block.name, block.input.values, block.id))
        elif kind == "thinking":
            thoughts.append(block.thinking)
        elif kind in _SHOWN:
            shown.append(block)
    if shown or calls or not answered:
        yield Message(role, reader.content(shown, partial(_part, reader)), "\n\n".join(thoughts), tuple(calls))


def _result_part(reader: ContentReader, part: Part) -> Iterator[Given]:
    """Yield what the model is given for a part of a tool's result; a reference to a tool becomes a line."""
    if part.type == "tool_reference":
        yield TextPart(f"{part.tool_name}\n")
    elif part.type in _SHOWN:
        yield from _part(reader, part)
    else:
        raise part.wrong("type", "text, image, document or tool_reference")


def _part(reader: ContentReader, part: Part) -> Iterator[Given]:
    """Yield what the model is given for a text, an image or a document."""
    if part.type == "text":
        yield TextPart(part.text)
    elif part.type == "image":
        yield _image(reader, part.source)
    else:
        yield TextPart(part.context)
        yield from _document(reader, part)


def _image(reader: ContentReader, source: DataSource) -> ImagePart:
    if source.type != "base64":
        raise _elsewhere(source, "base64")
    return reader.image(source, "data", source.data)


def _document(reader: ContentReader, part: Part) -> Iterator[Given]:
    source, title = part.source, part.title
    if source.type == "base64":
        yield reader.file(source, "data", source.data, title)
    elif source.type == "text":
        yield reader.text(source, "data", source.data, title)
    elif source.type != "content":
        raise _elsewhere(source, "base64, text or content")
    elif isinstance(source.content, str):
        yield reader.text(source, "content", source.content, title)
    else:
        for piece in source.content:
            if piece.type not in ("text", "image"):
                raise piece.wrong("type", "text or image")
            yield TextPart(piece.text) if piece.type == "text" else _image(reader, piece.source)


def _elsewhere(source: DataSource, right: str) -> ApiError:
    """Return the error for something that is not in the request."""
    if source.type == "url":
        return not_fetched(source.path("url"))
    if source.type == "file":
        return not_stored(source.path("file_id"), "data")
    return source.wrong("type", right)


def _blocks(blocks: Iterable[Block], *kinds: str) -> Iterator[Block]:
    for block in blocks:
        if block.type not in (*kinds, "thinking", "redacted_thinking"):
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

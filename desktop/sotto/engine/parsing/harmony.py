"""Harmony, the format of gpt-oss: an answer is a list of messages, each with a channel and perhaps a recipient.

    <|channel|>analysis<|message|>...<|end|>
    <|start|>assistant<|channel|>commentary to=functions.name <|constrain|>json<|message|>{...}<|call|>
    <|start|>assistant<|channel|>final<|message|>...<|return|>

The prompt ends with `<|start|>assistant`. `analysis` is a thought, what is addressed to a function is a call, and
everything else is the answer. Source: https://cookbook.openai.com/articles/openai-harmony
"""

import re

from sotto.engine.parsing.calls import arguments_of
from sotto.engine.parsing.output import Output
from sotto.engine.parsing.pieces import Kind, ToolCall
from sotto.engine.parsing.source import NotACallError, Reading, Source, overlap, read_json

ANALYSIS = "<|channel|>analysis<|message|>"
FINAL = "<|channel|>final<|message|>"
CLOSING = f"<|end|><|start|>assistant{FINAL}"
_MESSAGE = "<|message|>"
_HEADS = ("<|start|>", "<|channel|>", _MESSAGE, " to=")
_STOPS = ("<|end|>", "<|call|>", "<|return|>")
# What a message that was never ended is followed by.
_ENDS = (*_STOPS, "<|start|>", "<|channel|>")
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)")
_RECIPIENT = re.compile(r"\bto=([^\s<]+)")
_LONGEST_HEAD = 256


class HarmonyReader:
    """Reads one answer.

    Attributes:
        thought_end: What the model would have to write to end the thought that it is in; empty where it is in none.
    """

    def __init__(self, source: Source, out: Output, head: str = "", *, begun: bool = False) -> None:
        """Begin with an answer.

        Args:
            source: What it is read from.
            out: Takes what is told apart.
            head: That of the message which the prompt ends inside of; empty for none.
            begun: Whether some of this message is there already.
        """
        self._source, self._out, self._head, self._begun = source, out, head, begun
        self.thought_end = ""

    def read(self) -> Reading[None]:
        """Read the answer."""
        source = self._source
        if self._head:
            yield from self._read_body(self._head, begins=not self._begun)
        while (yield from source.next()):
            yield from self._read_body((yield from self._read_head()))
        self._out.end()

    def _read_head(self) -> Reading[str]:
        """Return what stands in front of a message's text, which may be nothing."""
        source = self._source
        for beginning in _HEADS:
            if (yield from source.starts_with(beginning)):
                break
        else:
            return ""
        begin = source.at
        most = begin + _LONGEST_HEAD
        while (place := source.text.find(_MESSAGE, begin, most)) < 0 and len(source.text) < most and not source.ended:
            yield
        if place < 0:
            # No message after all: the mark is text, and so is what follows it.
            self._out.say(Kind.TEXT, beginning)
            source.at += len(beginning)
            return ""
        source.at = place + len(_MESSAGE)
        return source.text[begin:place]

    def _read_body(self, head: str, *, begins: bool = True) -> Reading[None]:
        channel = found[1] if (found := _CHANNEL.search(head)) else ""
        recipient = found[1] if (found := _RECIPIENT.search(head)) else ""
        if recipient.startswith("functions."):
            yield from self._read_call(recipient.removeprefix("functions."), head)
        elif channel == "analysis":
            if begins:
                self._out.begin_thought()
            self.thought_end = CLOSING
            if (yield from self._pass(Kind.THOUGHT)):
                self._out.end_thought()
            self.thought_end = ""
        else:
            if head and begins:
                self._out.space()
            yield from self._pass(Kind.TEXT)

    def _read_call(self, name: str, head: str) -> Reading[None]:
        self._out.begin_calls()
        source, begin = self._source, self._source.at
        while (place := self._end(begin))[0] < 0 and not source.ended:
            yield
        body = source.text[begin : place[0]] if place[0] >= 0 else source.text[begin:]
        source.at = begin + len(body) + place[1]
        try:
            self._out.end_calls([ToolCall(name, arguments_of(read_json(body)))])
        except NotACallError:
            self._out.end_calls(())
            self._out.space()
            self._out.say(Kind.TEXT, f"{head}{_MESSAGE}{body}")

    def _pass(self, kind: Kind) -> Reading[bool]:
        """Pass on the text of a message; tell whether it is complete."""
        source = self._source
        while True:
            place, length = self._end(source.at)
            stop = (
                place
                if place >= 0
                else len(source.text) - (0 if source.ended else overlap(source.text[source.at :], _ENDS))
            )
            self._out.say(kind, source.text[source.at : stop])
            source.at = stop + length
            if place >= 0:
                return True
            if source.ended:
                return False
            source.forget()
            yield

    def _end(self, begin: int) -> tuple[int, int]:
        """Return where a message ends, -1 for not yet, and how long that is which ends it and no other begins with."""
        places = [(place, end) for end in _ENDS if (place := self._source.text.find(end, begin)) >= 0]
        place, end = min(places, default=(-1, ""))
        return place, len(end) if end in _STOPS else 0

"""The streaming parser of answers, which finds text, thoughts and tool calls.

The result does not depend on how the text is split into chunks.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from sotto.engine.contract.answer_parts import Piece, merge_pieces
from sotto.engine.grammar.lead import Lead
from sotto.engine.parsing.calls import Tools
from sotto.engine.parsing.families import STORED, Family, Thoughts
from sotto.engine.parsing.lead_reader import LeadReader
from sotto.engine.parsing.message_format import MessageReader
from sotto.engine.parsing.output import Output, fresh_id
from sotto.engine.parsing.source import Source
from sotto.engine.parsing.tagged_format import TaggedReader


class Parser:
    """Splits one answer into its parts.

    Attributes:
        marks: Texts that must not be hidden from it where they are special tokens.
    """

    def __init__(
        self,
        family: Family,
        tools: Tools | None = None,
        opened: Thoughts | None = None,
        *,
        begun: bool = False,
        fresh: Callable[[], str] = fresh_id,
        lead: Lead | None = None,
        single: bool = False,
    ) -> None:
        """Begin with an answer.

        Args:
            family: How the model marks thoughts and calls.
            tools: JSON schemas of the available tools' parameters, by the tools' names.
            opened: The thought inside which the answer begins; None where it begins outside of thoughts.
            begun: Whether the prompt ends with the beginning of the answer, so that no part begins here.
            fresh: Returns an id for a call that has none.
            lead: What may come before a constrained answer; the rest is then parsed by `family`, without looking for
                thoughts. None for nothing.
            single: Whether the answer ends with its first call.
        """
        self.marks = family.marks | (lead.marks if lead is not None else frozenset())
        self._source = Source()
        self._out = Output(
            fresh, begun=begun and opened is None, plain=not self.marks, most_calls=1 if single else None
        )
        self._reader: MessageReader | TaggedReader | LeadReader
        inside = opened if lead is None else None
        if (dialect := family.messages) is not None:
            head = dialect.thought if inside is not None else dialect.final if begun and lead is None else ""
            self._reader = MessageReader(dialect, tools or {}, self._source, self._out, head, begun=begun)
        else:
            rest = family if lead is None else replace(family, thoughts=(), dropped=())
            self._reader = TaggedReader(rest, tools or {}, self._source, self._out, inside, begun=begun)
        if lead is not None:
            self._reader = LeadReader(lead, self._source, self._out, self._reader, begun=begun)
        self._reading = self._reader.read()
        # Lets `thought_end` be known before any text has come.
        next(self._reading, None)

    @property
    def thought_end(self) -> str:
        """The text by which the model would end the current thought; empty outside of thoughts."""
        return self._reader.thought_end

    @property
    def called(self) -> bool:
        """Whether the only allowed call has been read."""
        return self._out.called

    def feed(self, text: str) -> list[Piece]:
        """Parse more of the answer and return the new pieces. Text that may be part of a tag is held back."""
        self._source.add(text)
        next(self._reading, None)
        return self._out.take()

    def finish(self, *, cut: bool = False) -> list[Piece]:
        """End the answer and return what was held back; `cut` says that the model had not finished."""
        self._source.ended, self._source.cut = True, cut
        for _ in self._reading:
            raise AssertionError("a reader waits for more of an answer that has ended")
        return self._out.take()


def parse_answer(text: str, family: Family = STORED, tools: Tools | None = None) -> tuple[Piece, ...]:
    """Return the parts of a whole answer, by default one in the form in which answers are stored."""
    parser = Parser(family, tools, fresh=str)
    return merge_pieces((*parser.feed(text), *parser.finish()))


def parameters_of(tools: Iterable[Mapping[str, Any]]) -> Tools:
    """Return the parameters of a request's functions, by name."""
    functions = [tool["function"] for tool in tools]
    return {function["name"]: function.get("parameters") or {} for function in functions}

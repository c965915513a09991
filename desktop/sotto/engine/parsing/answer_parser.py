"""Reads an answer as it comes: text, thoughts and calls of tools.

What comes out does not depend on where the text is cut.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from sotto.engine.contract.answer_parts import Piece, merge_pieces
from sotto.engine.grammar.lead import Lead
from sotto.engine.parsing.calls import Tools
from sotto.engine.parsing.families import KEPT, Family, Thoughts
from sotto.engine.parsing.lead_reader import LeadReader
from sotto.engine.parsing.message_format import MessageReader
from sotto.engine.parsing.output import Output, fresh_id
from sotto.engine.parsing.source import Source
from sotto.engine.parsing.tagged_format import TaggedReader


class Parser:
    """Tells the parts of one answer apart.

    Attributes:
        marks: Texts that it must see even where they are special tokens.
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
            family: How the model marks what it writes.
            tools: Parameters of the tools that it was given, by name.
            opened: The thought that the answer begins inside of; None for none.
            begun: Whether the prompt ends with some of the answer already, so that no part of it begins here.
            fresh: Returns an id for a call that has none.
            lead: What may stand in front of an answer that must be something; the rest is then read by `family`, and
                no thought is looked for in it.
            single: Whether the answer ends with its first call.
        """
        self.marks = family.marks | (lead.marks if lead is not None else frozenset())
        self._source = Source()
        self._out = Output(
            fresh, begun=begun and opened is None, plain=not self.marks, most_calls=1 if single else None
        )
        self._reader: MessageReader | TaggedReader | LeadReader
        inside = opened if lead is None else None
        if (told := family.messages) is not None:
            head = told.thought if inside is not None else told.final if begun and lead is None else ""
            self._reader = MessageReader(told, tools or {}, self._source, self._out, head, begun=begun)
        else:
            rest = family if lead is None else replace(family, thoughts=(), dropped=())
            self._reader = TaggedReader(rest, tools or {}, self._source, self._out, inside, begun=begun)
        if lead is not None:
            self._reader = LeadReader(lead, self._source, self._out, self._reader, begun=begun)
        self._reading = self._reader.read()
        # So that it is known what the answer begins inside of.
        next(self._reading, None)

    @property
    def thought_end(self) -> str:
        """What the model would have to write to end the thought that it is in; empty where it is in none."""
        return self._reader.thought_end

    @property
    def called(self) -> bool:
        """Whether there was the one call that there may be."""
        return self._out.called

    def feed(self, text: str) -> list[Piece]:
        """Take more of the answer and return what that tells. What may yet be part of a tag is held back."""
        self._source.add(text)
        next(self._reading, None)
        return self._out.take()

    def finish(self, *, cut: bool = False) -> list[Piece]:
        """Return what was held back, now that nothing more comes; `cut` if that is not by the model's own choice."""
        self._source.ended, self._source.cut = True, cut
        for _ in self._reading:
            raise AssertionError("a reader waits for more of an answer that has ended")
        return self._out.take()


def parse_answer(text: str, family: Family = KEPT, tools: Tools | None = None) -> tuple[Piece, ...]:
    """Return the parts of a whole answer; those that are kept are read by default."""
    parser = Parser(family, tools, fresh=str)
    return merge_pieces((*parser.feed(text), *parser.finish()))


def parameters_of(tools: Iterable[Mapping[str, Any]]) -> Tools:
    """Return the parameters of functions, as a request has them, by name."""
    functions = [tool["function"] for tool in tools]
    return {function["name"]: function.get("parameters") or {} for function in functions}

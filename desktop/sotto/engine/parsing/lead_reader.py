"""The reader of constrained answers: a lead, which may be a thought, and then the answer."""

from sotto.engine.contract.answer_parts import Kind
from sotto.engine.grammar.lead import Lead
from sotto.engine.parsing.families import Family, Thoughts
from sotto.engine.parsing.message_format import MessageReader
from sotto.engine.parsing.output import Output
from sotto.engine.parsing.source import Reading, Source, overlap
from sotto.engine.parsing.tagged_format import TaggedReader


def lead_of(family: Family, opened: Thoughts | None, *, calls: bool) -> Lead:
    """Return what may come before the constrained answer of a model that thinks.

    Args:
        family: How the model marks the parts of its answers.
        opened: The thought inside which the prompt ends; None where it ends outside of thoughts.
        calls: Whether the answer consists of tool calls.
    """
    if (dialect := family.messages) is not None:
        instead = "" if calls else dialect.final
        behind = f"{dialect.opening}{instead}"
        return Lead(dialect.thought, dialect.stops[0], behind, family.marks, instead, opened=opened is not None)
    pair = opened or family.thoughts[0]
    behind, line = ("\n\n", "\n") if pair.lines else ("", "")
    return Lead(
        pair.opens, pair.closes, behind, frozenset((pair.opens, pair.closes)), line=line, opened=opened is not None
    )


class LeadReader:
    """Reads the lead of an answer, and passes the rest to another reader."""

    def __init__(
        self, lead: Lead, source: Source, out: Output, rest: MessageReader | TaggedReader, *, begun: bool = False
    ) -> None:
        """Begin with an answer.

        Args:
            lead: What may come before the answer.
            source: The text to read.
            out: Takes the pieces of the answer.
            rest: Reads the answer itself.
            begun: Whether the prompt ends with the beginning of the answer.
        """
        self._lead, self._source, self._out, self._rest = lead, source, out, rest
        self._begun = begun
        self._in_thought = False

    @property
    def thought_end(self) -> str:
        """The text by which the model would end the current thought; empty outside of thoughts."""
        return self._lead.end if self._in_thought else ""

    def read(self) -> Reading[None]:
        """Read the answer."""
        lead, source = self._lead, self._source
        thought = lead.opened or (yield from source.accept(lead.opens))
        if thought:
            yield from self._read_thought()
        if not (yield from source.accept(lead.behind if thought else lead.instead)):
            # The answer was cut short in the lead.
            source.at = len(source.text)
        yield from self._rest.read()

    def _read_thought(self) -> Reading[None]:
        source, closes = self._source, self._lead.closes
        self._in_thought = True
        if not self._begun:
            self._out.begin_thought()
            yield from source.skip_space()
        while (end := source.text.find(closes, source.at)) < 0 and not source.ended:
            self._pass(len(source.text) - overlap(source.text[source.at :], (closes,)))
            source.forget()
            yield
        self._pass(end if end >= 0 else len(source.text))
        self._in_thought = False
        if end >= 0:
            source.at += len(closes)
            self._out.end_thought()

    def _pass(self, end: int) -> None:
        text = self._source.text[self._source.at : end]
        self._source.at += len(text)
        self._out.add_text(Kind.THOUGHT, text)

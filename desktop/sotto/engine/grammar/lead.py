"""What may stand in front of an answer that must be something: a thought, and what leads from it to the answer.

Where an answer must be something, everything in front of it is written in one way only, character by character. So what
must follow begins at one place for the rules and for the reader of the answer, and the answer may look like anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sotto.engine.grammar.json_places import InLead, Place
from sotto.engine.grammar.lark_texts import literals, regex_of


@dataclass(frozen=True, slots=True)
class Lead:
    """What may stand in front of an answer.

    Attributes:
        opens: What begins a thought.
        closes: What ends it.
        behind: What stands between that and the answer.
        instead: What stands in front of the answer where there is no thought.
        marks: Texts in all that which must be seen even where they are special tokens.
        line: What stands in front of `closes` where a thought is ended that did not want to end.
        opened: Whether the prompt has begun the thought.
        needed: Whether there has to be one.
    """

    opens: str
    closes: str
    behind: str
    marks: frozenset[str]
    instead: str = ""
    line: str = ""
    opened: bool = False
    needed: bool = False

    @property
    def end(self) -> str:
        """What is written to end a thought that is under way."""
        return f"{self.line}{self.closes}{self.behind}"

    def rules(self, tokens: Mapping[str, int]) -> str:
        """Return the rules of all that, in llguidance's dialect of Lark; they refer to the answer as `@answer`.

        Args:
            tokens: Ids of the special tokens, by their texts.
        """
        closes = regex_of(self.closes)
        if self.closes in tokens:
            thought = f"thought: THOUGHT <[{tokens[self.closes]}]>\nTHOUGHT: /(?s:.*)/ & ~/(?s:.*){closes}(?s:.*)/"
        else:
            thought = f"thought[lazy]: /(?s:.*){closes}/"
        rest = f"thought {literals(self.behind, tokens)} @answer"
        if not self.opened:
            rest = f"{literals(self.opens, tokens)} {rest}"
            rest += "" if self.needed else f" | {literals(self.instead, tokens)} @answer"
        return f"start: {rest}\n{thought}\n"

    def place(self, answer: Place) -> InLead:
        """Return where an answer is that begins with this, so that its JSON is found."""
        closes = f"{self.closes}{self.behind}".encode()
        return InLead(answer, self.opens.encode(), closes, self.instead.encode(), thinking=self.opened)

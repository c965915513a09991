"""What may precede a constrained answer: reasoning, and what leads from it to the answer.

Everything before a constrained answer has only one spelling, character by character. So the rules and the parser agree
on where the answer begins, whatever the answer looks like.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sotto.engine.grammar.json_places import InLead, Place
from sotto.engine.grammar.lark_texts import literals, regex_of


@dataclass(frozen=True, slots=True)
class Lead:
    """What may precede an answer.

    Attributes:
        opens: What begins the reasoning.
        closes: What ends it.
        behind: What stands between `closes` and the answer.
        instead: What precedes the answer if there is no reasoning.
        marks: Texts in all of these that must be shown even if they are special tokens.
        line: What precedes `closes` if reasoning is cut short.
        opened: Whether the prompt has begun the reasoning.
        needed: Whether there must be reasoning.
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
        """What is written to cut reasoning short."""
        return f"{self.line}{self.closes}{self.behind}"

    def rules(self, tokens: Mapping[str, int]) -> str:
        """Return rules in llguidance's dialect of Lark, which refer to the answer as `@answer`.

        Args:
            tokens: The ids of the special tokens by their texts.
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
        """Return the position at the beginning of an answer that this precedes."""
        closes = f"{self.closes}{self.behind}".encode()
        return InLead(answer, self.opens.encode(), closes, self.instead.encode(), thinking=self.opened)

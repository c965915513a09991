"""Reading the corpus files, and sampling texts from their wordings.

A corpus file consists of topics::

    = load_model 3                             the topic's id and weight, 1 if omitted
    ? how (do|can) i [just] load a {model}     a question
    * load a {model}                           a task, asked about with the phrases of the list `howto`
    ~ the stop button                          a thing, asked about with the phrases of the list `about`
    ! Double-click a model ...                 an answer
    > why not :: Because ...                   a follow-up question to this topic, and its answer
    >> and stop it :: stop_answer              a follow-up question that another topic answers

`(a|b)` is one of several alternatives, `[a]` is omitted half of the time, and `{name}` is an entry of a list in
`lists.txt` or the result of one of the functions given to `Grammar`. Lists are written as `name: a, b, c`; their
entries may contain the same notation. Lines that begin with `#` are skipped.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

_BRACKET = re.compile(r"\(([^()\[\]]*)\)|\[([^()\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_PHRASES = {"*": "{{howto}} {}", "~": "{{about}} {}"}


@dataclass(slots=True)
class Topic:
    """A topic: the wordings of its questions, answers and follow-up questions."""

    id: str
    group: str
    weight: float
    questions: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    follow_ups: list[tuple[str, str]] = field(default_factory=list)
    leads: list[tuple[str, str]] = field(default_factory=list)


def variety(wording: str) -> float:
    """Return a weight for a wording, so that those with many variants are sampled more often."""
    return min(6.0, 1.0 + 0.25 * (wording.count("|") + wording.count("[")) + wording.count("{"))


class Grammar:
    """The lists and functions that fill the slots of wordings."""

    def __init__(self, lists: Mapping[str, list[str]], makers: Mapping[str, Callable[[Random], str]]) -> None:
        self.lists = lists
        self.makers = makers

    def draw(self, wording: str, random: Random) -> str:
        """Return a sample text of a wording."""
        while match := _BRACKET.search(wording):
            if match[1] is not None:
                chosen = random.choice(match[1].split("|"))
            else:
                chosen = random.choice(match[2].split("|")) if random.random() < 0.5 else ""
            wording = wording[: match.start()] + chosen + wording[match.end() :]
        wording = " ".join(wording.split()).replace(" ?", "?").replace(" ,", ",")
        while match := _SLOT.search(wording):
            wording = wording[: match.start()] + self._fill(match[1], random) + wording[match.end() :]
        return wording.strip()

    def _fill(self, name: str, random: Random) -> str:
        if name in self.makers:
            return self.makers[name](random)
        if name not in self.lists:
            raise ValueError(f"lists.txt has no list {name!r}, which a wording uses.")
        return self.draw(random.choice(self.lists[name]), random)


def read_lists(path: Path) -> dict[str, list[str]]:
    """Read lists from lines `name: a, b, c`; lines of the same name are joined."""
    lists: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, entries = line.partition(":")
            lists.setdefault(name.strip(), []).extend(entry.strip() for entry in entries.split(",") if entry.strip())
    return lists


def read_topics(path: Path) -> list[Topic]:
    """Read the topics of a file, whose name without suffix becomes their group.

    Raises:
        ValueError: A line begins with an unknown mark, or a topic lacks questions or answers.
    """
    topics: list[Topic] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark, _, text = line.strip().partition(" ")
        if not mark or mark.startswith("#"):
            continue
        if mark == "=":
            name, _, weight = text.partition(" ")
            topics.append(Topic(name, path.stem, float(weight or 1)))
        elif mark == "?":
            topics[-1].questions.append(text)
        elif mark in _PHRASES:
            topics[-1].questions += [_PHRASES[mark].format(text)] * 3
        elif mark == "!":
            topics[-1].answers.append(text)
        elif mark in (">", ">>"):
            question, separator, answer = text.partition(" :: ")
            if not separator:
                raise ValueError(f"{path.name}:{number} has no ' :: ' between question and answer.")
            (topics[-1].follow_ups if mark == ">" else topics[-1].leads).append((question, answer))
        else:
            raise ValueError(f"{path.name}:{number} begins with {mark!r}; it must be one of = ? * ~ ! > >>.")
    for topic in topics:
        if not topic.questions or not topic.answers:
            raise ValueError(f"{path.name}: topic {topic.id} needs questions and answers.")
    return topics

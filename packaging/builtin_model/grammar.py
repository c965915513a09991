"""Reads the corpus files and draws wordings from them.

A corpus file holds topics::

    = load_model 3            the topic's id and how often it is asked, 1 when left out
    ? how (do|can) i [just] load a {model}     a question wording
    * load a {model}                           what one may want to do: asked for with phrases of the list `howto`
    ~ the stop button                          a thing: asked about with phrases of the list `about`
    ! Double-click a model ...                 an answer wording
    > why not :: Because ...                   a question that only makes sense after this topic, and its answer
    >> and stop it :: stop_answer              the same, answered by another topic's answers

`(a|b)` draws one of several, `[a]` is there half the time, `{name}` draws from a list of `lists.txt` or is one of the
makers given to `Grammar`. Lists are written as `name: a, b, c`; an entry may itself hold any of these. Lines that begin
with `#` are skipped.
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
    """What people ask about one thing, and what is answered."""

    id: str
    group: str
    weight: float
    questions: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    follow_ups: list[tuple[str, str]] = field(default_factory=list)
    leads: list[tuple[str, str]] = field(default_factory=list)


def variety(wording: str) -> float:
    """Weigh a wording by how much can be drawn from it, so that those with many forms come up more often."""
    return min(6.0, 1.0 + 0.25 * (wording.count("|") + wording.count("[")) + wording.count("{"))


class Grammar:
    """The lists and makers that slots draw from."""

    def __init__(self, lists: Mapping[str, list[str]], makers: Mapping[str, Callable[[Random], str]]) -> None:
        self.lists = lists
        self.makers = makers

    def draw(self, wording: str, random: Random) -> str:
        """Draw one text from a wording."""
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
    """Read `name: a, b, c` lines; a list may go on over several lines of the same name."""
    lists: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, entries = line.partition(":")
            lists.setdefault(name.strip(), []).extend(entry.strip() for entry in entries.split(",") if entry.strip())
    return lists


def read_topics(path: Path) -> list[Topic]:
    """Read the topics of one file; the file's stem is their group.

    Raises:
        ValueError: A line begins with none of the known marks, or a topic lacks questions or answers.
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

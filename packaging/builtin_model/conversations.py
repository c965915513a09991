"""Draws conversations from the corpus: what the model is trained on."""

from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random

from augment import roughen
from grammar import Grammar, Topic, read_lists, read_topics

CORPUS = Path(__file__).parent / "corpus"
_VOWELS, _CONSONANTS = (
    ("a", "e", "i", "o", "u", "ai", "ee", "ou", "ia"),
    (*"bcdfghjklmnprstvwz", "ch", "st", "br", "th", "gr", "sh", "tr"),
)
# How much a file's topics count; small talk has few lines, each with many wordings.
_GROUPS = {"topic_about": 1.0, "topic_app": 1.0, "topic_words": 0.7, "topic_talk": 1.5, "topic_unknown": 1.0}
# Topics whose answers hold the name a person gave, and the one whose answer depends on the turn before.
_NAMED = ("my_name", "known_name", "recall_name", "clarify")


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, its answer and the topic that the answer is on."""

    question: str
    answer: str
    topic: int


def invented_word(random: Random) -> str:
    """Make up a word that no list has, as most words people may ask about are not in our lists."""
    syllables = random.randint(1, 3)
    word = "".join(random.choice(_CONSONANTS) + random.choice(_VOWELS) for _ in range(syllables))
    return word + random.choice(("", "n", "r", "s", "l", "t", "nd", "x", "ng", "m"))


def invented_name(random: Random) -> str:
    """Make up a name of a person or a thing, one or two words."""
    return " ".join(invented_word(random).capitalize() for _ in range(random.choice((1, 1, 2))))


def _mash(random: Random) -> str:
    keys = random.choice(("asdfghjkl", "qwertyuiop", "zxcvbnm", "asdfqwer", "abcdefghijklmnopqrstuvwxyz"))
    return " ".join(
        "".join(random.choice(keys) for _ in range(random.randint(2, 9))) for _ in range(random.choice((1, 1, 2, 3)))
    )


def _number(random: Random) -> str:
    return str(
        random.choice(
            (random.randint(0, 12), random.randint(0, 100), random.randint(0, 1000), random.randint(1000, 2_000_000))
        )
    )


def _decimal(random: Random) -> str:
    return f"{random.randint(0, 200)}.{random.randint(1, 99)}"


def _year(random: Random) -> str:
    return str(random.randint(1000, 2040))


class Corpus:
    """All topics, and random conversations about them."""

    def __init__(self, folder: Path = CORPUS) -> None:
        makers = {
            "word": invented_word,
            "invented": invented_name,
            "mash": _mash,
            "n": _number,
            "decimal": _decimal,
            "year": _year,
        }
        self.grammar = Grammar(read_lists(folder / "lists.txt"), makers)
        self.topics = [topic for path in sorted(folder.glob("topic_*.txt")) for topic in read_topics(path)]
        self.index = {topic.id: number for number, topic in enumerate(self.topics)}
        if len(self.index) < len(self.topics):
            raise ValueError("Two topics have the same id.")
        weights = (topic.weight * min(len(topic.questions), 40) ** 0.5 * _GROUPS[topic.group] for topic in self.topics)
        self._weights = list(accumulate(weights))

    def _answer(self, topic: Topic, random: Random, fixed: dict[str, str], avoid: str = "") -> str:
        weights = [2.0 if number == 0 else 1.0 for number in range(len(topic.answers))]
        wording = random.choices(topic.answers, weights)[0]
        text = self.grammar.draw(wording, random, fixed)
        if text == avoid and len(topic.answers) > 1:
            return self._answer(topic, random, fixed, avoid)
        return text

    def _fixed(self, random: Random, name: str) -> dict[str, str]:
        return {"myname": name} if name else {"myname": self._name(random)}

    def _name(self, random: Random) -> str:
        return self.grammar.draw("{firstname}", random) if random.random() < 0.5 else invented_name(random).split()[0]

    def turn(self, topic: Topic, random: Random, name: str = "") -> Turn:
        """Draw one question and answer on a topic."""
        fixed = self._fixed(random, name)
        asked = dict(fixed)
        if random.random() < 0.4:
            asked["myname"] = fixed["myname"].lower()
        question = roughen(
            self.grammar.draw(random.choice(topic.questions), random, asked), random, self._strength(topic)
        )
        return Turn(question, self._answer(topic, random, fixed), self.index[topic.id])

    @staticmethod
    def _strength(topic: Topic) -> float:
        return 0.35 if topic.id in ("my_name", "gibberish") else 1.0

    def any_topic(self, random: Random) -> Topic:
        """Draw a topic, common ones more often."""
        return random.choices(self.topics, cum_weights=self._weights)[0]

    def single(self, random: Random) -> Turn:
        """Draw a turn that can begin a conversation."""
        topic = self.any_topic(random)
        return self.turn(self.topics[self.index["recall_name"]] if topic.id == "known_name" else topic, random)

    def conversation(self, random: Random, longest: int = 24) -> list[Turn]:
        """Draw a conversation: mostly one to four turns, sometimes many; some turns hang on the one before."""
        length = random.choices((1, 2, 3, 4, random.randint(5, 9), random.randint(10, longest)), (46, 20, 14, 9, 9, 2))[
            0
        ]
        turns: list[Turn] = []
        name = ""
        while len(turns) < length:
            if turns and random.random() < 0.3:
                turns.append(self._next(turns[-1], random))
                continue
            if turns and random.random() < 0.06:
                again = random.choice(turns)
                topic = self.topics[again.topic]
                if topic.id not in _NAMED:
                    turns.append(Turn(again.question, self._answer(topic, random, {}), again.topic))
                    continue
            topic = self.any_topic(random)
            if topic.id == "my_name":
                name = self._name(random)
            if topic.id in ("recall_name", "known_name"):
                if not name and topic.id == "known_name":
                    turns.append(self.turn(self.topics[self.index["my_name"]], random, name := self._name(random)))
                topic = self.topics[self.index["known_name" if name else "recall_name"]]
            turns.append(self.turn(topic, random, name))
        return turns

    def _next(self, last: Turn, random: Random) -> Turn:
        """Draw a turn that hangs on the last one."""
        topic = self.topics[last.topic]
        kind = random.random()
        if topic.follow_ups and kind < 0.6:
            question, answer = random.choice(topic.follow_ups)
            return Turn(
                roughen(self.grammar.draw(question, random), random, 0.6), self.grammar.draw(answer, random), last.topic
            )
        if topic.leads and kind < 0.8:
            question, target = random.choice(topic.leads)
            answers = self.topics[self.index[target]]
            question = roughen(self.grammar.draw(question, random), random, 0.6)
            return Turn(question, self._answer(answers, random, {}), self.index[target])
        if topic.group in ("topic_app", "topic_words") and "{" not in "".join(topic.answers):
            again = self._answer(topic, random, {}, avoid=last.answer)
            return Turn(
                roughen(self.grammar.draw("{unclear}", random), random, 0.6), f"Put another way: {again}", last.topic
            )
        return self.turn(self.topics[self.index["thanks"]], random)

"""Sampling conversations from the corpus, the training data of the model."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random

from augment import roughen
from grammar import Grammar, Topic, read_lists, read_topics, variety

CORPUS = Path(__file__).parent / "corpus"
_VOWELS, _CONSONANTS = (
    ("a", "e", "i", "o", "u", "ai", "ee", "ou", "ia"),
    (*"bcdfghjklmnprstvwz", "ch", "st", "br", "th", "gr", "sh", "tr"),
)
# A factor of the weights of a file's topics; small talk has few lines, each with many wordings.
_GROUPS = {"topic_about": 1.0, "topic_app": 1.0, "topic_words": 0.7, "topic_talk": 1.5, "topic_unknown": 1.0}
_TOO_SMALL = (
    "I mean that I'm a very small model and only know about Sotto. A bigger model loaded into Sotto could help."
)
# Topics that may follow any answer, with their weights.
_AFTER_ANY_ANSWER = {
    "thanks": 4,
    "yes_no": 3,
    "praise": 1,
    "laugh": 1,
    "how_smart": 2,
    "insult": 1,
    "memory_of_chats": 0.5,
    "bye": 1,
}
_LONG_QUESTION_GROUPS = ("topic_app", "topic_words", "topic_unknown")
# In place of a topic: an answer as other models give it, which is in the chat but not trained on.
ANOTHER_MODEL = -1


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, its answer and the index of the answer's topic."""

    question: str
    answer: str
    topic: int


def invented_word(random: Random) -> str:
    """Return an invented word, since most words that people ask about are in no list of ours."""
    syllables = random.randint(1, 3)
    word = "".join(random.choice(_CONSONANTS) + random.choice(_VOWELS) for _ in range(syllables))
    return word + random.choice(("", "n", "r", "s", "l", "t", "nd", "x", "ng", "m"))


def invented_name(random: Random) -> str:
    """Return an invented name of a person or thing, of one or two words."""
    return " ".join(invented_word(random).capitalize() for _ in range(random.choice((1, 1, 2))))


def _keyboard_mash(random: Random) -> str:
    keys = random.choice(("asdfghjkl", "qwertyuiop", "zxcvbnm", "asdfqwer", "abcdefghijklmnopqrstuvwxyz"))
    return " ".join(
        "".join(random.choice(keys) for _ in range(random.randint(2, 9))) for _ in range(random.choice((1, 1, 2, 3)))
    )


_CODE = (
    "{0} = {1}.{2}({3})",
    "def {0}({1}, {2}):",
    "    return {0}({1}) + {3}",
    "if ({0} > {3}) {{",
    "  {0}.{1}[{3}] = {2};",
    "}}",
    "for {0} in {1}:",
    "import {0}",
    "const {0} = await {1}({2});",
    "  print({0})",
    '<div class="{0}">{1}</div>',
    "// {0} {1}",
)


def _sentence(random: Random, lists: Mapping[str, list[str]]) -> str:
    makers = (lambda: random.choice(lists["glue"]), lambda: random.choice(lists["noun"]), lambda: invented_word(random))
    words = [random.choices(makers, (5, 3, 2))[0]() for _ in range(random.randint(4, 22))]
    return " ".join(words).capitalize() + random.choice(".,.:;.!?")


def _line_of_code(random: Random) -> str:
    name, other, call = (invented_word(random) for _ in range(3))
    form = random.choice(_CODE)
    return form.format(name, other, call, random.randint(0, 99))


def _number(random: Random) -> str:
    return str(
        random.choice(
            (random.randint(0, 12), random.randint(0, 100), random.randint(0, 1000), random.randint(1000, 2_000_000))
        )
    )


def _digit(random: Random) -> str:
    return str(random.randint(0, 20))


def _decimal(random: Random) -> str:
    return f"{random.randint(0, 200)}.{random.randint(1, 99)}"


def _year(random: Random) -> str:
    return str(random.randint(1000, 2040))


class Corpus:
    """The topics of the corpus, and samples of conversations about them."""

    def __init__(self, folder: Path = CORPUS) -> None:
        makers = {
            "myname": self._name,
            "digit": _digit,
            "paste": self.pasted,
            "longpaste": lambda random: self.pasted(random, min_sentences=4),
            "codepaste": lambda random: "\n".join(_line_of_code(random) for _ in range(random.randint(1, 12))),
            "word": invented_word,
            "invented": invented_name,
            "mash": _keyboard_mash,
            "n": _number,
            "decimal": _decimal,
            "year": _year,
        }
        self.grammar = Grammar(read_lists(folder / "lists.txt"), makers)
        self.topics = [topic for path in sorted(folder.glob("topic_*.txt")) for topic in read_topics(path)]
        self.index = {topic.id: number for number, topic in enumerate(self.topics)}
        if len(self.index) < len(self.topics):
            raise ValueError("Two topics have the same id.")
        self._varieties = {topic.id: list(accumulate(map(variety, topic.questions))) for topic in self.topics}
        self._weights = list(accumulate(topic.weight * _GROUPS[topic.group] for topic in self.topics))

    def _answer(self, topic: Topic, random: Random, avoid: str = "") -> str:
        weights = [2.0 if number == 0 else 1.0 for number in range(len(topic.answers))]
        wording = random.choices(topic.answers, weights)[0]
        text = self.grammar.draw(wording, random)
        if text == avoid and len(topic.answers) > 1:
            return self._answer(topic, random, avoid)
        return text

    def _name(self, random: Random) -> str:
        return self.grammar.draw("{firstname}", random) if random.random() < 0.5 else invented_name(random).split()[0]

    def pasted(self, random: Random, min_sentences: int = 1) -> str:
        """Return a nonsense text of up to a dozen sentences, in place of text that people paste."""
        sentences = max(min_sentences, random.choice((1, 2, 3, 5, 8, 12)))
        gap = random.choice((" ", " ", "\n\n"))
        return gap.join(_sentence(random, self.grammar.lists) for _ in range(sentences))

    def turn(self, topic: Topic, random: Random) -> Turn:
        """Return a sample question and answer of a topic."""
        wording = random.choices(topic.questions, cum_weights=self._varieties[topic.id])[0]
        question = self.grammar.draw(wording, random)
        strength = 0.1 if "paste}" in wording else self._strength(topic)
        question = roughen(question, random, strength)
        if topic.group in _LONG_QUESTION_GROUPS and "paste}" not in wording and random.random() < 0.14:
            question = self._lengthen(question, random)
        return Turn(question, self._answer(topic, random), self.index[topic.id])

    def _lengthen(self, question: str, random: Random) -> str:
        before = [self.grammar.draw("{preamble}", random) for _ in range(random.choice((0, 1, 1, 2, 3, 4)))]
        after = [self.grammar.draw("{closing}", random)] if not before or random.random() < 0.5 else []
        if random.random() < 0.4:
            before = [opening.rstrip(".") + random.choice((",", " -", " and", " so", "")) for opening in before]
        sentence = question if not after or question[-1] in "?.!" else question + random.choice("?.")
        text = " ".join([*before, sentence, *after])
        return text if random.random() < 0.5 else text.lower()

    @staticmethod
    def _strength(topic: Topic) -> float:
        return 0.35 if topic.id in ("my_name", "gibberish") else 1.0

    def single(self, random: Random) -> Turn:
        """Return a sample turn that can begin a conversation; topics are chosen by weight."""
        return self.turn(random.choices(self.topics, cum_weights=self._weights)[0], random)

    def conversation(self, random: Random, max_turns: int = 24) -> list[Turn]:
        """Return a sample conversation, mostly of one to four turns, in which some turns depend on the one before."""
        lengths = (1, 2, 3, 4, random.randint(5, 9), random.randint(10, max_turns))
        length = random.choices(lengths, (46, 20, 14, 9, 9, 2))[0]
        turns: list[Turn] = []
        independent: list[Turn] = []
        while len(turns) < length:
            if turns and turns[-1].topic != ANOTHER_MODEL and random.random() < 0.35:
                turns.append(self._next(turns[-1], random))
            elif independent and random.random() < 0.06:
                again = random.choice(independent)
                turns.append(Turn(again.question, self._answer(self.topics[again.topic], random), again.topic))
            elif random.random() < 0.03:
                turns.append(Turn(self.single(random).question, self.pasted(random), ANOTHER_MODEL))
            else:
                independent.append(self.single(random))
                turns.append(independent[-1])
        return turns

    def _next(self, last: Turn, random: Random) -> Turn:
        """Return a sample turn that depends on the last one."""
        topic = self.topics[last.topic]
        kind = random.random()
        if kind > 0.7:
            following = random.choices(list(_AFTER_ANY_ANSWER), list(_AFTER_ANY_ANSWER.values()))[0]
            return self.turn(self.topics[self.index[following]], random)
        if topic.follow_ups and kind < 0.35:
            question, answer = random.choice(topic.follow_ups)
            return Turn(
                roughen(self.grammar.draw(question, random), random, 0.6), self.grammar.draw(answer, random), last.topic
            )
        if topic.leads and kind < 0.5:
            question, target = random.choice(topic.leads)
            answers = self.topics[self.index[target]]
            question = roughen(self.grammar.draw(question, random), random, 0.6)
            return Turn(question, self._answer(answers, random), self.index[target])
        unclear = roughen(self.grammar.draw("{unclear}", random), random, 0.4)
        if topic.group in ("topic_app", "topic_words"):
            again = self._answer(topic, random, avoid=last.answer)
            return Turn(unclear, f"Put another way: {again}", last.topic)
        if topic.group == "topic_unknown":
            return Turn(unclear, _TOO_SMALL, last.topic)
        return self.single(random)

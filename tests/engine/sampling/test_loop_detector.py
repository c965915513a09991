"""Loops are detected, and repetitive text that a user may want is not mistaken for one."""

import math
import random

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generating import MODELS, empty, finished, run, task
from sotto.engine.contract.events import DoneReason, TextChunk
from sotto.engine.generation.speculator import Speculator
from sotto.engine.sampling.loop_detector import EVERY, LONGEST, STRETCH, TIMES, repeats
from thoroughness import examples
from tiny_random import VOCABULARY
from vocabularies import NAMES, tokenizer


def naive_repeats(tokens):
    """Return the shortest period of a long enough repetition at the end, by comparing one token at a time."""
    for length in range(1, LONGEST + 1):
        stretch = max(STRETCH, TIMES * length)
        if stretch > len(tokens):
            continue
        end = tokens[-stretch:]
        if all(end[index] == end[index + length] for index in range(stretch - length)):
            return length
    return 0


@examples(60)
@given(
    before=st.lists(st.integers(0, 5), max_size=300),
    passage=st.lists(st.integers(0, 5), min_size=1, max_size=40),
    count=st.integers(1, 2600),
    change=st.one_of(st.none(), st.integers(0, 2599)),
)
def test_detection_equals_plain_python(before, passage, count, change):
    loop = (passage * (count // len(passage) + 1))[:count]
    if change is not None and change < count:
        loop[change] = 9
    tokens = before + loop
    assert repeats(tokens) == naive_repeats(tokens)


@pytest.mark.parametrize("length", [1, 2, 7, 255, 256, 257, 400, LONGEST])
def test_a_loop_is_detected_when_it_is_long_enough(length):
    passage = [3 * token for token in range(length)]
    enough = max(STRETCH, TIMES * length)
    loop = [-1, -2, *(passage * (enough // length + 1))[:enough]]
    assert repeats(loop) == length
    assert repeats(loop[:1] + loop[2:-1]) == 0
    assert repeats([*loop, -3]) == 0


def test_repetitions_of_too_long_passages_are_not_loops():
    assert repeats(list(range(LONGEST + 1)) * (TIMES + 2)) == 0


def test_random_text_is_not_a_loop():
    generator = random.Random(4)
    for letters in (2, 50):
        assert repeats([generator.randrange(letters) for _ in range(40_000)]) == 0


SONG = (
    "Row, row, row your boat,\nGently down the stream.\nMerrily, merrily, merrily, merrily,\nLife is but a dream.\n\n"
)
WANTED = {
    "a table of zeros in C": "static const uint8_t table[256] = {\n" + ("    " + "0x00, " * 16 + "\n") * 16 + "};\n",
    "a matrix of zeros": "[" + ",\n ".join(["[" + ", ".join(["0"] * 20) + "]"] * 20) + "]\n",
    "a timetable": "| Hour | Mon | Tue | Wed | Thu | Fri |\n|---|---|---|---|---|---|\n"
    + "| - | - | - | - | - | - |\n" * 48,
    "a song, four times": SONG * 4,
    "lines to write": "I will not talk in class.\n" * 100,
    "digits of 1/7": "0." + "142857" * 160,
    "digits of 1/3": "0." + "3" * 1000,
    "a rule": "=" * 1000,
    "binary": "01" * 500,
    "bits": ("0000 " * 8 + "\n") * 16,
    "a list of numbers": "\n".join(f"{number}. Item" for number in range(2000)),
    "multiplication": "\n".join(f"{a} x {b} = {a * b}" for a in range(1, 31) for b in range(1, 31)),
    "even code": "\n".join(f"    case {n}:\n        return {n};" for n in range(400)),
    "markup": "<ul>\n" + "  <li></li>\n" * 150 + "</ul>\n",
    "base64 of zeros": "A" * 1500,
    "a chessboard": ("#." * 20 + "\n" + ".#" * 20 + "\n") * 20,
    "laughter": "ha" * 400,
}


# An ordinary run uses one byte-level BPE vocabulary and one of SentencePiece.
VARIED = [
    pytest.param(name, marks=() if name in ("qwen2", "llama-spm") else pytest.mark.full, id=name) for name in NAMES
]


@pytest.mark.parametrize("name", VARIED)
def test_repetitive_text_that_users_may_want_is_not_stopped(name):
    encode = tokenizer(name).encode
    for title, text in WANTED.items():
        tokens = encode(text)
        assert len(tokens) > 10
        assert not any(repeats(tokens[:count]) for count in range(EVERY, len(tokens) + EVERY, EVERY)), title


@pytest.mark.parametrize("name", VARIED)
def test_endless_repetition_is_stopped(name):
    encode = tokenizer(name).encode
    for text in ("I think so. ", "Wait, let me check that again. Actually, no.\n\n", "3, 5, ", SONG):
        assert repeats(encode(text * 2500)[:8192]), text


class Looping:
    """A model that endlessly repeats its first `length` tokens."""

    def __init__(self, length):
        self._length = length

    def __call__(self, ids, cache):
        logits = MODELS["plain"](ids, cache=cache)
        following = (ids + 1) % self._length
        return 0.01 * logits + 10 * (mx.arange(VOCABULARY) == following[..., None])


@pytest.mark.parametrize(("ahead", "speculator"), [(0.0, None), (math.inf, Speculator)])
def test_an_answer_that_loops_ends_with_that_reason(ahead, speculator):
    more = {"ahead": ahead, "speculator": speculator() if speculator else None, "model": Looping(7)}
    events = run("plain", empty("plain"), task([50], 6000), **more)
    found = finished(events)
    assert found.done_reason is DoneReason.LOOP
    assert STRETCH <= len(found.token_ids) <= STRETCH + EVERY
    assert found.token_ids == tuple((51 + index) % 7 for index in range(len(found.token_ids)))
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == found.text


def test_a_loop_continues_without_the_loop_guard():
    found = finished(
        run("plain", empty("plain"), task([50], 2300, loop_guard=False), model=Looping(7), speculator=Speculator())
    )
    assert (found.done_reason, len(found.token_ids)) == (DoneReason.LENGTH, 2300)

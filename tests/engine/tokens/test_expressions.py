"""Bounds on the cost of expressions: counting steps shows that they hold, and real expressions are accepted."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backtracking import Letters, Repeat, Row, TooManyStepsError, expressions, steps
from sotto.engine.tokens.expressions.cost import EndlessError, Growth, cost_of
from sotto.engine.tokens.expressions.expression_parser import parse
from sotto.store.gguf.pre_tokenizers import PRE_TOKENIZERS
from thoroughness import examples


def growth_of(pattern):
    return cost_of(pattern).growth


PATTERNS = sorted({pattern for pre_tokenizer in PRE_TOKENIZERS.values() for pattern in pre_tokenizer.patterns})
# From models whose GGUF files name pre-tokenizers that are not among those above, and from older tokenizers.
OTHERS = [
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
    r"\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r" ?[^(\s|[.,!?…。，、।۔،])]+",
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?=(\d{3})+(?!\d))",
    r"(?<=\G\d{3})(?=\d)",
    r"\d{1,3}(?=(?:\d{3})*\b)",
    r"(?:\r?\n)+(?!\r?\n)",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[[:alpha:]]+| ?[[:digit:]]+|\x{3000}\u00e9[\x20-\x7e]",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_growth_of_pre_tokenizers_is_known(pattern):
    parse(pattern)
    assert growth_of(pattern) is (Growth.SQUARE if pattern == r"\s+$" else Growth.LINEAR)


@pytest.mark.parametrize("pattern", OTHERS)
def test_expressions_of_other_tokenizers_are_accepted(pattern):
    assert growth_of(pattern) <= Growth.SQUARE


@pytest.mark.parametrize(
    ("pattern", "growth"),
    [
        ("", Growth.LINEAR),
        ("^|$", Growth.LINEAR),
        (" {2,}", Growth.LINEAR),
        (r"\w+|[^\w\s]+", Growth.LINEAR),
        (r"(?:\p{L}\p{M}*)+", Growth.LINEAR),
        (r"(?i)abc|ABC", Growth.LINEAR),
        (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+|\s+(?!\S)|\s+", Growth.LINEAR),
        (r"\s+$|\s+(?!\S)|\s+", Growth.SQUARE),
        ("a+b", Growth.SQUARE),
        ("(?:a|b)*c", Growth.SQUARE),
        ("(?:ab|ac)*d", Growth.SQUARE),
        ("(?>a*)b", Growth.SQUARE),
        ("a++b", Growth.SQUARE),
        (r"\p{L}{1,1000}x", Growth.SQUARE),
        ("a*a*b", Growth.UNKNOWN),
        (r"(a)\1", Growth.UNKNOWN),
        (r"(?<name>a|b\g<name>c)", Growth.UNKNOWN),
        (r"(?x) a b", Growth.UNKNOWN),
        (r"(?~abc)", Growth.UNKNOWN),
        ("(", Growth.UNKNOWN),
        ("[a", Growth.UNKNOWN),
        ("a)", Growth.UNKNOWN),
        ("*", Growth.UNKNOWN),
        ("(?:" * 100 + "a" + ")" * 100, Growth.UNKNOWN),
    ],
)
def test_growth(pattern, growth):
    assert growth_of(pattern) is growth


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:.|.){22}\x00|.",
        "(a+)+$",
        "(a|a)*b",
        "(?i:(?:s|S)*)!",
        "(?i:s|ſ)*!",
        r"(?:\p{L}|\p{Lu})*!",
        r"(?:\w|\d)*!",
        "(?:a?){30}a{30}",
        "x{1000}(?:.|.){22}!",
        "(?:(?:a{0,9}){0,9}){0,9}b",
        "(?:(?:a{0,99}){0,99}){0,99}b",
        "(?:a*)*b",
        "(.*?,){11}P",
        "(?=(?:a|a){30}b)",
        "(?>(?:a|a){30}b)",
        "(?:a{10}+)+b|(?:aa?){3}{9}b",
        "a" * 10_000,
    ],
)
def test_expressions_that_can_search_endlessly_are_refused(pattern):
    with pytest.raises(EndlessError):
        growth_of(pattern)


TEXTS = ["a", "b", "ab", "aab", "abc", "bc"]


@examples(400)
@given(expression=expressions(), begin=st.sampled_from(TEXTS), end=st.sampled_from(["", "c", "cab"]))
@example(Row((Repeat(Letters("a"), 0, None), Repeat(Letters("ab"), 0, None))), "a", "c")
def test_no_search_takes_longer_than_its_bound(expression, begin, end):
    try:
        growth = growth_of(str(expression))
    except EndlessError:
        return
    if growth is Growth.UNKNOWN:
        return
    short, long = (steps(expression, (begin * length)[:length] + end, 1_000_000) for length in (60, 180))
    # For three times the length: three or nine times the steps with some tolerance, and a constant number.
    assert long <= (3.5 * short + 1000 if growth is Growth.LINEAR else 10 * short + 30_000), str(expression)


def test_counting_steps_detects_an_endless_search():
    doubled = Row((Repeat(Repeat(Letters("a"), 1, None), 1, None), Letters("b")))
    with pytest.raises(TooManyStepsError):
        steps(doubled, "a" * 40, 400_000)


def test_runs_are_those_of_the_repeated_characters():
    (run,) = cost_of(r"x(?:[ab]c|\d)*y|z{1,3}").runs
    assert re.findall(f"{run}+", "x abc12 dcab zz y") == ["abc12", "cab"]
    assert cost_of("a+b|c*d").runs == cost_of("c+b|a*d").runs
    assert not cost_of("a+").runs

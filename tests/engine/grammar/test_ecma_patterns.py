"""Patterns have the meaning of ECMA-262: cases, refused features, and a comparison with another engine."""

import string

import pytest
import regress
from hypothesis import given
from hypothesis import strategies as st

from guided_texts import accepts, guide_of, guide_of_regex, to_json
from sotto.engine.grammar.ecma_patterns import endless, search_expression
from sotto.engine.grammar.ecma_properties import property_item
from sotto.errors import InvalidRequestError
from thoroughness import examples


def matches(pattern, *texts):
    guide = guide_of({"type": "string", "pattern": pattern})
    return [text for text in texts if accepts(guide, to_json(text))]


@pytest.mark.parametrize(
    ("pattern", "right", "wrong"),
    [
        ("a", ["a", "xax", "\na\n"], ["", "b"]),
        ("^a|b$", ["ab", "ax", "xb", "b"], ["xa", "bx"]),
        ("(^|,)x(,|$)", ["x", "a,x", "x,a", "a,x,b"], ["ax", "xa"]),
        ("^(?:a|b)$|c", ["a", "b", "xcx"], ["ab", "xa"]),
        ("^$", [""], ["a", "\n"]),
        ("a$", ["a", "ba"], ["a\n", "ab"]),
        ("^^a$$", ["a"], ["aa"]),
        ("(^)?a", ["a", "ba"], ["b"]),
        ("", ["", "a"], []),
        (".", ["a", "🙂", "\t", "\u0085"], ["", "\n", "\r", "\u2028", "\u2029", "\n\r"]),
        ("^.$", ["🙂"], ["ab"]),
        ("^[[a]$", ["[", "a"], ["]", "b"]),
        ("^[a&&b]$", ["a", "&", "b"], ["c", ""]),
        ("^[+--]$", ["+", ",", "-"], ["a", "."]),
        ("^[a-c--]$", ["a", "b", "c", "-"], ["d"]),
        ("^[~~]$", ["~"], ["a"]),
        ("^[[:alpha:]\\]$", ["a]", ":]", "[]"], ["b]", "a"]),
        ("^[^]$", ["\n", "a"], ["", "ab"]),
        ("^[]?$", [""], ["a"]),
        ("^[\\w-]$", ["a", "-", "_"], ["é", " "]),
        ("^\\d$", ["0", "9"], ["٣", "a"]),
        ("^\\D$", ["٣", "a"], ["3"]),
        ("^\\w$", ["a", "Z", "_", "5"], ["é", "ſ", "\u212a"]),
        ("^\\W$", ["é", "-"], ["a"]),
        ("^\\s$", [" ", "\t", "\n", "\xa0", "\ufeff", "\u2029", "\u3000"], ["\u200b", "\x85", "a"]),
        ("^\\S$", ["\u200b", "\x85"], ["\ufeff", " "]),
        ("^[\\s\\S]$", ["\n", "a"], [""]),
        ("^\\u0061\\x62\\u{63}\\u{1F642}\\ud83d\\ude42$", ["abc🙂🙂"], ["abc🙂"]),
        ("^[\\ud83d\\ude42]$", ["🙂"], [""]),
        ("^\\cJ\\t\\n\\f[\\b]$", ["\n\t\n\f\b"], ["cJ"]),
        ("^(?:\\ud800|a)$", ["a"], [""]),
        ("^(?:\\0|a)$", ["a"], ["", "0"]),
        ("^\\^\\$\\.\\/\\-\\@\\ \\\\$", ["^$./-@ \\"], []),
        ("^/\"'#%<>é$", ["/\"'#%<>é"], []),
        ("^a+?b*?c??$", ["a", "aabbc"], ["b", "acc"]),
        ("^a{2}$", ["aa"], ["a", "a{2}"]),
        ("^a{2,}$", ["aa", "aaaa"], ["a"]),
        ("^a{0}b{1}c{1,2}$", ["bc", "bcc"], ["abc", "b"]),
        ("^(?<year>\\d{4})-(\\d\\d)$", ["2024-02"], ["2024"]),
        ("^(a*)*$", ["", "aaa"], ["b"]),
        ("^\\p{Lu}\\P{Lu}[\\p{L}\\d][^\\p{L}\\d]$", ["ÉéÄ ", "Aa1-"], ["aaaa"]),
        ("^\\p{Script=Greek}\\p{sc=Grek}\\p{gc=Lu}\\p{Emoji}$", ["αωA🙂"], ["aαA🙂"]),
        ("^#x (?:y)$", ["#x y"], ["#xy"]),
    ],
)
def test_a_pattern_means_what_it_means_in_ecma_262(pattern, right, wrong):
    assert matches(pattern, *right, *wrong) == right
    truth = regress.Regex(pattern, "u") if "\\-" not in pattern and "ud800" not in pattern else None
    if truth is not None:
        assert [text for text in (*right, *wrong) if truth.find(text)] == right


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?s)a", "has (?s at character 1"),
        ("(?x)a", "has (?x at character 1"),
        ("a(?i:b)", "has (?i at character 2"),
        ("(?P<n>a)", "has (?P at character 1"),
        ("(?>a)", "has (?> at character 1"),
        ("(?#a)", "has (?# at character 1"),
        ("\\Aa", "has \\A, which is not an escape of ECMA-262 at character 1"),
        ("a\\z", "has \\z, which"),
        ("a\\Z", "has \\Z, which"),
        ("\\h", "has \\h, which"),
        ("\\07", "has \\0, which"),
        ("\\x1", "has \\x, which"),
        ("\\u12", "has \\u, which"),
        ("\\u{110000}", "has \\u, which"),
        ("[\\c1]", "has \\c, which"),
        ("a\\", "has \\, which"),
        ("a++", "has a possessive quantifier at character 3"),
        ("a*+b", "has a possessive quantifier"),
        ("a?+", "has a possessive quantifier"),
        ("a{1,2}+", "has a possessive quantifier"),
        ("a**", "has a quantifier of a quantifier"),
        ("a{2}{3}", "has a quantifier of a quantifier"),
        ("a{,3}", "has a { by itself at character 2 (write \\{)"),
        ("a}", "has a } by itself"),
        ("a]", "has a ] by itself"),
        ("[[:alpha:]]", "has a ] by itself at character 11"),
        ("*a", "has a * by itself"),
        ("^*", "has a repeated ^ or $"),
        ("(?:^a)+", "has ^ or $ in what is repeated"),
        ("(a)\\1", "has a reference \\1 to a group"),
        ("(?<n>a)\\k<n>", "has a reference \\k to a group"),
        ("a\\b", "has a word boundary \\b"),
        ("(?=a)", "has a look-ahead (?= at"),
        ("(?!a)", "has a look-ahead (?! at"),
        ("(?<=a)", "has a look-behind (?<= at"),
        ("(?<!a)", "has a look-behind (?<! at"),
        ("(?<1>a)", "has a group without a name"),
        ("(a", "has an unclosed group at character 1"),
        ("a)", "has a ) that closes nothing"),
        ("[a", "has an unclosed class at character 1"),
        ("[b-a]", "has a range in the wrong order"),
        ("[\\d-z]", "has a range between classes"),
        ("a{3,2}", "has the repetition {3,2}, whose numbers are in the wrong order"),
        ("a{99999999999}", "has a repetition of so many"),
        ("\\p{Greek}", "has \\p{Greek}, which is not a known property of characters"),
        ("\\p{script=Greek}", "has \\p{script=Greek}, which"),
        ("\\pL", "has \\p, which"),
        ("(" * 200 + ")" * 200, "has more than 100 groups within each other"),
    ],
)
def test_unsupported_features_are_refused_by_name(pattern, said):
    with pytest.raises(InvalidRequestError) as raised:
        guide_of({"patternProperties": {pattern: {}}})
    assert raised.value.message.startswith("format cannot be guaranteed: the pattern ")
    assert f" {said}" in raised.value.message
    with pytest.raises(InvalidRequestError, match=r"^words\.regex "):
        guide_of_regex(pattern)


def test_a_pattern_with_too_long_a_translation_is_refused():
    with pytest.raises(InvalidRequestError, match="has too much to be written out at character"):
        search_expression("".join(f"(^a{number}|b$|c)?" for number in range(2000)), "format")


def test_a_regular_expression_from_a_file_must_match_the_whole_text():
    guide = guide_of_regex("^a|b.$|[/]\\d")
    assert [text for text in ("a", "bé", "b\n", "/5", "/٣", "xa", "ab") if accepts(guide, text)] == ["a", "bé", "/5"]
    assert accepts(guide_of_regex("\\cG\\x7f"), "\a\x7f")


def test_all_properties_are_known_to_the_library():
    names = ["L", "Letter", "gc=Nd", "General_Category=Decimal_Number", "punct", "ASCII", "Any", "Alpha", "Alphabetic"]
    names += ["scx=Deva", "Script_Extensions=Nko", "Script=SignWriting", "RI", "XIDS", "Emoji_Component", "ExtPict"]
    for name in names:
        matches(f"^\\p{{{name}}}?a$", "a")
        assert regress.Regex(f"\\p{{{name}}}", "u")
    for name in ("letter", "Grek", "gc=Greek", "Script=L", "Emoji=Yes", "alpha", "Basic_Emoji"):
        assert property_item(name) is None or name == "Script=L"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        *((pattern, True) for pattern in ("a", "^a", "^a+$", "^(a+|b*)$", "^(ab*)?$", "^(ab+){2}$", "b$", "^$|a")),
        *((pattern, False) for pattern in ("^(a|b+)$", "^a+b$", "^a{3}$", "^$|^ab$", "^[]*$")),
    ],
)
def test_whether_beginnings_of_matches_have_unlimited_completions(pattern, expected):
    assert endless(pattern, "format") is expected


_SIMPLE = st.sampled_from(
    r'a b c - . / é 🙂 " \d \D \w \W \s \S \. \\ \u0061 \cJ \t \n \p{Lu} \P{L} [ab] [^a] [[a] [a&&b] [+--] [~~] [] [^]'
    r" [-a] [\w-] [^\W] [\s\S]".split(" ")
)
_UNITS = st.one_of(_SIMPLE, st.sampled_from(["^", "$"]))
_QUANTIFIED = st.tuples(_SIMPLE, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,}", "*?", "+?", "??"])).map(
    "".join
)
_PATTERNS = st.recursive(
    st.one_of(_UNITS, _QUANTIFIED),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join).map("(?:{})".format),
        inner.map("({})".format),
        inner.map("(?:{})?".format),
    ),
    max_leaves=6,
)
_TEXTS = st.text([*'abc-. []&~_09^$\n\r\t"\\/é🙂äſ٣', "\u2028", "\xa0", "\ufeff"], max_size=4)


@examples(150)
@given(_PATTERNS, st.lists(_TEXTS, min_size=1, max_size=12, unique=True))
def test_matches_are_those_of_another_engine_of_ecma_262(pattern, texts):
    truth = regress.Regex(pattern, "u")
    expected = [text for text in texts if truth.find(text)]
    try:
        found = matches(pattern, *texts)
    except InvalidRequestError as error:
        if "no text is all" not in error.message:
            raise
        found = []
    assert found == expected


_RAW = st.text([*"ab019(){}[]|*+?^$.\\-,:=<>!&~dDwWsSbBpPuxcknAzZPLui_ "], max_size=9)


@examples(300)
@given(_RAW)
def test_patterns_that_another_engine_refuses_are_refused(pattern):
    try:
        search_expression(pattern, "format")
    except InvalidRequestError:
        return
    # A backslash before any punctuation is accepted here, but not by the engine with the `u` flag.
    for sign in string.punctuation + " ":
        if sign not in "^$\\.*+?()[]{}|/-":
            pattern = pattern.replace(f"\\{sign}", "a")
    regress.Regex(pattern.replace("\\-", "-") if "[" not in pattern else pattern, "u")

"""Parsing and writing Modelfiles, by Ollama's rules."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sotto.errors import StoreError
from sotto.store.creating.modelfile import Modelfile, decode_modelfile, parse_modelfile, write_modelfile

# What Ollama's own tests of its parser have, and what it makes of it.
WHOLE = '''
# A comment, and an empty line

from   llama3.2:1b\t
Adapter ./lora
SYSTEM """
You are a poet.
Say "hi".
"""
TEMPLATE """{{ .System }}
USER: {{ .Prompt }}"""
license MIT
LICENSE """Two
lines"""
parameter temperature 0.5
PARAMETER num_ctx 4096
PARAMETER stop <|im_end|>
PARAMETER stop "USER:"
PARAMETER stop """ two
lines"""
PARAMETER loop_guard false
PARAMETER logit_bias {"7": -1.5}
MESSAGE system You are brief.
MESSAGE user   Hi # not a comment
MESSAGE assistant """Hello!"""
'''


def test_every_instruction():
    found = parse_modelfile(WHOLE)
    assert found.base == "llama3.2:1b"
    assert found.system == '\nYou are a poet.\nSay "hi".\n'
    assert found.template == "{{ .System }}\nUSER: {{ .Prompt }}"
    assert found.licenses == ("MIT", "Two\nlines")
    assert found.adapters == ("./lora",)
    assert dict(found.params) == {
        "temperature": 0.5,
        "num_ctx": 4096,
        "stop": ["<|im_end|>", "USER:", " two\nlines"],
        "loop_guard": False,
        "logit_bias": {"7": -1.5},
    }
    assert found.messages == (
        ("system", "You are brief."),
        ("user", "Hi # not a comment"),
        ("assistant", "Hello!"),
    )


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('SYSTEM a "quoted" word', 'a "quoted" word'),
        ('SYSTEM "in quotes"', "in quotes"),
        ('SYSTEM "over\ntwo lines"', "over\ntwo lines"),
        ('SYSTEM ""', ""),
        ('SYSTEM """"""', ""),
        ('SYSTEM """He said "hi""""', 'He said "hi"'),
        ('SYSTEM """a""" b\nc"""  ', 'a""" b\nc'),
        ("SYSTEM\ttabbed", "tabbed"),
        ("SYSTEM \u00a0wide\u3000", "wide"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_quotes(written, value, end):
    assert parse_modelfile(f"FROM x\n{written}{end}").system == value


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("", "has no FROM line"),
        ("# only\nSYSTEM hi", "has no FROM line"),
        ("FROM x\n\nFOO bar", "line 3: 'FOO' is no instruction"),
        ("FROM x\nSYSTEM", "line 2: SYSTEM has no value"),
        ("FROM x\nSYSTEM   \nPARAMETER top_k 1", "line 2: SYSTEM has no value"),
        ("FROM x\nPARAMETER\nstop", "line 2: PARAMETER has no value"),
        ("FROM x\nPARAMETER stop", "line 2: PARAMETER has no value"),
        ('FROM x\n\nLICENSE """a\nb', 'line 3: the quoted text of LICENSE never ends; close it with """.'),
        ('FROM x\nSYSTEM "a', 'line 2: the quoted text of SYSTEM never ends; close it with ".'),
        ("FROM x\nMESSAGE robot hi", "line 2: MESSAGE has the role 'robot'; it should be system, user or assistant."),
        ('FROM x\nSYSTEM """1\n2\n3"""\nFROM y', "line 5: there is a second FROM"),
        ("FROM x\r\nSYSTEM a\r\nFOO", "line 3: 'FOO'"),
    ],
)
def test_errors_name_the_line(text, mentions):
    with pytest.raises(StoreError) as raised:
        parse_modelfile(text, "m.txt")
    assert mentions in raised.value.message
    assert raised.value.message.startswith("m.txt")


def test_encodings():
    text = "FROM x\nSYSTEM über\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert decode_modelfile(text.encode(encoding), "m").system == "über"
    with pytest.raises(StoreError, match="m is not UTF-8 at byte 5"):
        decode_modelfile(b"FROM \xff", "m")


def test_a_large_modelfile_takes_linear_time():
    text = "FROM x\nLICENSE " + '"""' + 'a "" b\n' * 200_000 + '"""'
    assert len(parse_modelfile(text).licenses[0]) == 7 * 200_000


def expressible(text):
    """Return whether a Modelfile can hold a text: within it, no line may end with three quotes."""
    blanks = " \t\v\f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
    *inner, _ = text.replace("\r", "\n").split("\n")
    return not any(line.rstrip(blanks).endswith('"""') for line in inner)


# Texts in which quotes, ends of lines and blanks are as likely as anything else.
TEXTS = st.text(st.one_of(st.sampled_from('"\n\r \t#\u3000'), st.characters(exclude_categories=["Cs"]))).filter(
    expressible
)
FULL = TEXTS.filter(bool)
NUMBERS = st.one_of(st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False))
PARAMS = st.builds(
    lambda numbers, stop: {**numbers, **({"stop": stop} if stop else {})},
    st.dictionaries(st.sampled_from(["temperature", "top_k", "seed", "loop_guard"]), NUMBERS),
    st.lists(TEXTS),
)


@settings(max_examples=60, deadline=None)
@given(
    st.builds(
        Modelfile,
        base=FULL,
        system=st.none() | TEXTS,
        template=st.none() | TEXTS,
        renderer=st.none() | FULL,
        params=PARAMS,
        messages=st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), TEXTS)).map(tuple),
        adapters=st.lists(FULL).map(tuple),
        licenses=st.lists(TEXTS).map(tuple),
    )
)
def test_what_is_written_reads_back_as_the_same(model):
    assert parse_modelfile(write_modelfile(model, ("written here",))) == model


@given(st.text(st.one_of(st.sampled_from('FROMSYTE"\n\r \t#'), st.characters())) | st.binary())
def test_anything_is_read_or_refused_with_a_sentence(content):
    try:
        found = parse_modelfile(content) if isinstance(content, str) else decode_modelfile(content, "The Modelfile")
        outcome = found.base
    except StoreError as error:
        outcome = error.message
    assert outcome


def test_a_text_that_no_modelfile_can_hold_is_refused():
    with pytest.raises(StoreError, match="SYSTEM has a line that ends with three quotes"):
        write_modelfile(Modelfile("x", system='a"""\nb'))

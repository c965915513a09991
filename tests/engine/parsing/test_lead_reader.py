"""The lead of a constrained answer, read as the grammar has it for any split into chunks."""

import json
import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.contract.answer_parts import Kind, merge_pieces, text_of, thought_of
from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.engine.grammar.grammars import rules_of
from sotto.engine.parsing.answer_parser import Parser
from sotto.engine.parsing.families import HARMONY, PLAIN, Thoughts, family_of
from sotto.engine.parsing.lead_reader import lead_of
from thoroughness import examples
from walking import byte_level, walks

FAMILIES = {
    "tags": family_of("<think>"),
    "other tags": family_of("[THINK]"),
    "harmony": HARMONY,
}
OPENED = {"tags": FAMILIES["tags"].thoughts[0], "other tags": FAMILIES["other tags"].thoughts[0],
          "harmony": HARMONY.thoughts[0]}  # fmt: skip
kinds = pytest.mark.parametrize("kind", FAMILIES)
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
    "additionalProperties": False,
}
# An answer with texts that look like marks.
ODD = "\n\n<think> </think>\n\n<tool_call> <|end|><|channel|>final<|message|> [THINK]x[/THINK] \n"


def parse_split(parser, text, cuts):
    pieces, last = [], 0
    for cut in (*sorted(cuts), len(text)):
        pieces += parser.feed(text[last:cut])
        last = cut
    return merge_pieces([*pieces, *parser.finish()])


@kinds
@pytest.mark.parametrize("opened", [False, True])
@examples(15)
@given(data=st.data())
def test_the_answer_begins_at_the_same_place_for_any_split(kind, opened, data):
    lead = lead_of(FAMILIES[kind], OPENED[kind] if opened else None, calls=False)
    thought = data.draw(st.text("ab \n<{", max_size=6))
    answer = data.draw(st.sampled_from([ODD, ODD.strip(), "", " {}", '{"a": "</think>"}']))
    text = ("" if opened else lead.opens) + thought + lead.closes + lead.behind + answer
    cuts = data.draw(st.sets(st.integers(0, len(text)), max_size=6))
    parts = parse_split(Parser(PLAIN, lead=lead), text, cuts)
    assert (thought_of(parts), text_of(parts)) == (thought.strip(), answer)
    # An answer that may begin like a thought must follow one.
    if not opened and not answer.startswith(lead.opens):
        parts = parse_split(Parser(PLAIN, lead=lead), lead.instead + answer, ())
        assert (thought_of(parts), text_of(parts)) == ("", answer)


@kinds
def test_an_answer_cut_within_the_lead_is_empty(kind):
    lead = lead_of(FAMILIES[kind], OPENED[kind], calls=False)
    whole = f"Hm.{lead.closes}{lead.behind}"
    for end in range(3 + len(lead.closes), len(whole) + 1):
        parts = parse_split(Parser(PLAIN, lead=lead), whole[:end], ())
        assert (thought_of(parts), text_of(parts)) == ("Hm.", "")


@pytest.mark.covering(2)
@kinds
@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize(
    "grammar",
    [
        Grammar(GrammarKind.JSON_SCHEMA, json.dumps(PERSON)),
        Grammar(GrammarKind.REGEX, r"[ \n]{1,3}[a-z]{2}"),
        Grammar(GrammarKind.LARK, 'start: "a" b?\n%ignore " "\nb: /[0-9]/ | "(" start ")"'),
    ],
    ids=lambda grammar: grammar.kind.value,
)
def test_every_answer_after_a_thought_meets_its_constraint(kind, special, opened, grammar):
    family = FAMILIES[kind]
    marks = sorted(family.marks & {"<think>", "</think>", "[THINK]", "[/THINK]"}) or sorted(family.marks)
    tokenizer = byte_level(marks if special else ())
    lead = lead_of(family, OPENED[kind] if opened else None, calls=False)
    completed = thought = 0
    for walk in walks(PLAIN, rules_of(grammar), tokenizer, range(3), lead=lead):
        if not walk.complete:
            continue
        completed, text = completed + 1, text_of(walk.parts)
        thought += any(part.kind is Kind.THOUGHT for part in walk.parts)
        if grammar.kind is GrammarKind.JSON_SCHEMA:
            jsonschema.validate(json.loads(text), PERSON)
        elif grammar.kind is GrammarKind.REGEX:
            assert re.fullmatch(grammar.text, text)
        else:
            assert re.fullmatch(r"a([0-9]|\((a[0-9]?)\))*|a\(.*\)", text.replace(" ", ""))
    # Random bytes seldom spell the end of a thought; a token for it comes up.
    assert completed or not special
    assert not opened or thought == completed


def test_a_prompt_that_opens_a_thought_in_other_tags():
    lead = lead_of(family_of("<think>"), Thoughts("<reasoning>", "</reasoning>"), calls=True)
    assert (lead.opened, lead.closes, lead.end) == (True, "</reasoning>", "\n</reasoning>\n\n")

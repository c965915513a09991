"""Grammars that hold llguidance, or take its memory, are refused in a sentence, and nothing of them runs on."""

import json
import os
import threading
import time

import psutil
import pytest

from sotto import bounded_process
from sotto.engine import grammar_trial
from sotto.engine.grammars import check_grammar, rules_of
from sotto.engine.types import Grammar, GrammarKind
from sotto.errors import InvalidRequestError

BOMB = {"allOf": [{"type": "string", "pattern": f"a{{0,{1000 + index}}}b"} for index in range(200)]}


def schema(value):
    return Grammar(GrammarKind.JSON_SCHEMA, json.dumps(value), "format")


def lark(count):
    parts = " & ".join(f"/(a|b)*a(a|b){{{10 + index}}}/" for index in range(count))
    return Grammar(GrammarKind.LARK, f"start: T\nT: {parts}\n", "The grammar")


FEW = (
    r"~/aa{0,100}(.*.*((abb|.*)(b[ab]{5,5}aa){1,300}|.*.{0,5}(bb\wa|bba[ab])|b{0,100}b(b|b|\w[ab]{1000,1000}.*)a{0,100}))"
    r"{0,100}/ & /(.*|.{30,30}a{0,5}aa|.*)ba./ & ~/(b){1,300}/"
)


@pytest.fixture(autouse=True)
def nothing_known():
    grammar_trial._tried.cache_clear()


@pytest.mark.parametrize(
    "grammar",
    [schema(BOMB), lark(30), lark(14), Grammar(GrammarKind.LARK, f"start: T\nT: {FEW}\n", "The grammar")],
    ids=["allOf", "lark-30", "lark-14", "lark-3"],
)
def test_a_bomb_is_refused_and_leaves_nothing_behind(grammar):
    me = psutil.Process()
    before, threads = me.memory_info().rss, threading.active_count()
    started = time.process_time()
    with pytest.raises(InvalidRequestError, match=r"cannot be guaranteed: .*use fewer patterns and formats") as refused:
        check_grammar(grammar)
    assert len(refused.value.message) < 300
    assert me.children(recursive=True) == []
    assert threading.active_count() == threads
    assert me.memory_info().rss - before < 50 << 20
    # What it cost was paid for in the process that has ended.
    assert time.process_time() - started < 1
    known = time.process_time()
    with pytest.raises(InvalidRequestError):
        check_grammar(grammar)
    assert time.process_time() - known < 0.1


def test_a_bomb_costs_no_more_than_its_bounds():
    before = os.times()
    with pytest.raises(InvalidRequestError, match="takes too long"):
        check_grammar(schema(BOMB))
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    assert spent < grammar_trial.BOUNDS.cpu_seconds + 1


@pytest.mark.parametrize(
    "value",
    [
        {
            "type": "object",
            "properties": {f"p{n}": {"type": "string", "pattern": f"^[a-z]{{1,{n + 1}}}$"} for n in range(99)},
        },
        {"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": False},
        {"allOf": [{"type": "string", "pattern": f"^a{{{n},}}"} for n in range(5)]},
        {"type": "object", "properties": {f"p{n}": {"format": "date", "type": "string"} for n in range(60)}},
    ],
)
def test_schemas_with_many_patterns_are_taken(value):
    check_grammar(schema(value))


def test_what_is_wrong_with_a_grammar_is_told_from_a_process_too():
    wrong = Grammar(GrammarKind.LARK, "start: T\nT: /a/ & MISSING\n", "The grammar")
    with pytest.raises(InvalidRequestError, match=r"The grammar cannot be guaranteed: .*MISSING"):
        check_grammar(wrong)


def test_no_expressions_need_no_process(monkeypatch):
    monkeypatch.setattr(grammar_trial, "run", None)
    check_grammar(schema({"type": "object", "properties": {"name": {"type": "string", "maxLength": 99}}}))
    assert grammar_trial.reason_against(rules_of(schema({"type": "object"})).text) == ""


def test_a_system_that_starts_no_process_is_told_and_not_remembered(monkeypatch):
    monkeypatch.setattr(bounded_process, "command", lambda *_: ["/nothing/of/that/name"])
    with pytest.raises(InvalidRequestError, match="the system does not start"):
        check_grammar(schema(BOMB))
    monkeypatch.undo()
    with pytest.raises(InvalidRequestError, match="takes too long"):
        check_grammar(schema(BOMB))

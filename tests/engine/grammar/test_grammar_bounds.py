"""Grammars that would take unlimited time or memory are refused in a sentence, and their processes are ended."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.engine.grammar import grammar_process, matchers
from sotto.engine.grammar.grammar_process import TooMuchError
from sotto.engine.grammar.grammars import _checker, check_grammar
from sotto.engine.grammar.guides import Vocabulary
from sotto.errors import EngineError, FaultError, InvalidRequestError
from thoroughness import some
from walking import byte_level

# The limit is a second of processor time; this allows for machines that are busy.
CEILING = 30
REFUSED = r"^format cannot be guaranteed: it takes too long; use fewer patterns and formats for the same text\.$"


def schema(value):
    return Grammar(GrammarKind.JSON_SCHEMA, json.dumps(value))


def patterns(*texts):
    return schema({"allOf": [{"type": "string", "pattern": text} for text in texts]})


FEW = (
    r"~/aa{0,100}(.*.*((abb|.*)(b[ab]{5,5}aa){1,300}|.*.{0,5}(bb\wa|bba[ab])|b{0,100}b(b|b|\w[ab]{1000,1000}.*)a{0,100}))"
    r"{0,100}/ & /(.*|.{30,30}a{0,5}aa|.*)ba./ & ~/(b){1,300}/"
)
BOMBS = {
    "counted": patterns(*(f"a{{0,{1000 + more}}}b" for more in range(200))),
    "letters": patterns(*(f".*{chr(97 + more)}.*" for more in range(26))),
    "behind": patterns(*(f"(a|b)*a(a|b){{{more + 1}}}$" for more in range(20))),
    # A few expressions are enough.
    "few": Grammar(GrammarKind.LARK, f"start: X\nX: {FEW}"),
    "primes": Grammar(
        GrammarKind.LARK, "start: X\nX: " + " & ".join(f"/((?s:.){{{prime}}})*/" for prime in (101, 103, 107, 109))
    ),
    # This is not noticed before there is a vocabulary.
    "lengths": Grammar(
        GrammarKind.LARK,
        "start: X\nX: " + " & ".join(f"/((?s:.){{{prime}}})*/" for prime in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)),
    ),
}
WORDS = Grammar(GrammarKind.REGEX, "([a-z]{1,9} ){3,50}")
# Each further character takes more time.
AMBIGUOUS = Grammar(GrammarKind.LARK, 'start: s\ns: s s s | s s | "a"')


@pytest.fixture
def vocabulary():
    tokenizer = byte_level()
    return Vocabulary(tokenizer, tokenizer.vocab_size)


def process_of(guide):
    return guide._matcher.process


def generate(guide):
    """Generate an answer with the ambiguous grammar."""
    for _ in range(1000):
        guide.take(ord("a"))
        guide.mask()


def wait_until_ended(pid):
    """Wait until a process has ended."""
    end = time.monotonic() + CEILING
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end, f"process {pid} is still running"
        time.sleep(0.05)


@pytest.mark.parametrize("name", some(list(BOMBS), 3))
def test_a_bomb_is_refused_and_its_process_is_ended(name):
    check_grammar(WORDS)
    process = _checker()._process
    began = time.monotonic()
    with pytest.raises(InvalidRequestError, match=REFUSED):
        check_grammar(BOMBS[name])
    assert time.monotonic() - began < CEILING
    assert not psutil.pid_exists(process._process.pid)
    # The refusal is remembered, and other grammars can still be checked.
    with pytest.raises(InvalidRequestError, match="it takes too long"):
        check_grammar(BOMBS[name])
    assert _checker()._process is process
    check_grammar(Grammar(GrammarKind.REGEX, f"[a-z]+{name}"))
    assert _checker()._process.alive


def test_a_bomb_takes_little_memory():
    code = (
        "import resource, sys\n"
        "import psutil\n"
        "from sotto.engine.grammar.grammars import check_grammar\n"
        "from sotto.engine.contract.requests import Grammar, GrammarKind\n"
        "from sotto.errors import InvalidRequestError\n"
        "try:\n"
        "    check_grammar(Grammar(GrammarKind.JSON_SCHEMA, sys.stdin.read()))\n"
        "except InvalidRequestError as error:\n"
        # Not the peak of this process, because Linux includes the memory of its parent at the start.
        "    print(psutil.Process().memory_info().rss, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], input=BOMBS["letters"].text, capture_output=True, text=True, check=True
    )
    own, child = map(int, result.stdout.split())
    assert own < 200e6
    assert child * (1 if sys.platform == "darwin" else 1024) < 500e6


def test_too_much_memory_is_refused_before_the_time_limit(monkeypatch):
    monkeypatch.setattr(matchers, "PREPARING_SECONDS", 60.0)
    _checker().greedy_tokenize("a")
    process = _checker()._process
    process._most -= (256 - 16) << 20
    with pytest.raises(InvalidRequestError, match=r"guaranteed: it takes too much memory; use fewer"):
        check_grammar(patterns(*(f".*{chr(97 + more)}.*x" for more in range(26))))
    assert not psutil.pid_exists(process._process.pid)


def test_a_bomb_does_not_affect_other_answers_of_the_same_model(vocabulary):
    guide = vocabulary.guide(WORDS)
    for byte in b"abc de":
        guide.take(byte)
    before, first = guide.mask(), process_of(guide)
    with pytest.raises(InvalidRequestError, match="it takes too long"):
        vocabulary.guide(BOMBS["lengths"])
    assert not first.alive
    assert guide.mask() == before
    assert process_of(guide) is not first
    assert guide.followed(b"fghijklm x") == len(b"fghijkl")
    guide.take(ord("f"))
    assert len(guide.masks(b"gh")) == 3
    assert guide.followed(b" x ") == 3


def test_answers_continue_after_their_process_was_killed(vocabulary):
    guide = vocabulary.guide(WORDS)
    guide.take(ord("a"))
    other, before = guide.fork(), guide.mask()
    os.kill(process_of(guide)._process.pid, signal.SIGKILL)
    process_of(guide)._process.wait()
    assert other.mask() == before
    assert guide.mask() == before
    assert process_of(guide) is process_of(other)


def test_a_step_that_takes_too_long_ends_only_that_answer(vocabulary, monkeypatch):
    bad, good = vocabulary.guide(AMBIGUOUS), vocabulary.guide(WORDS)
    before = good.mask()
    monkeypatch.setattr(matchers, "STEP_SECONDS", 0.02)
    with pytest.raises(EngineError, match=r"^format could not be followed to its end: it takes too long\.$"):
        generate(bad)
    monkeypatch.undo()
    assert good.mask() == before


def test_steps_that_together_take_too_long_end_the_answer(vocabulary, monkeypatch):
    monkeypatch.setattr(matchers, "_SPARE_SECONDS", 0.05)
    monkeypatch.setattr(matchers, "_SECONDS_PER_TOKEN", 0.001)
    guide = vocabulary.guide(AMBIGUOUS)
    with pytest.raises(EngineError, match=r"^format could not be followed to its end: its steps take too long\.$"):
        generate(guide)
    assert process_of(guide).alive


def test_a_large_ordinary_schema_is_followed(vocabulary):
    names = [f"name {number}" for number in range(2000)]
    large = schema({"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names})
    check_grammar(large)
    guide = vocabulary.guide(large)
    text = b'{"name 0": "' + b"x" * 300 + b'", "name 1": "'
    assert guide.followed(text) == len(text)


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
def test_schemas_with_many_patterns_are_accepted(value):
    check_grammar(schema(value))


def test_a_process_ends_with_its_vocabulary(vocabulary):
    pid = process_of(vocabulary.guide(WORDS))._process.pid
    assert psutil.pid_exists(pid)
    del vocabulary._table, vocabulary._compiled
    wait_until_ended(pid)


@pytest.mark.parametrize("busy", [False, True])
def test_a_process_ends_with_its_parent(busy):
    code = (
        "import os, sys, threading, time\n"
        "from sotto.engine.grammar.grammars import _checker, check_grammar\n"
        "from sotto.engine.contract.requests import Grammar, GrammarKind\n"
        "check_grammar(Grammar(GrammarKind.REGEX, 'a+'))\n"
        "print(_checker()._process._process.pid, flush=True)\n"
        "text = sys.stdin.readline()\n"
        "check = lambda: check_grammar(Grammar(GrammarKind.JSON_SCHEMA, text))\n"
        "text.strip() and threading.Thread(target=check, daemon=True).start()\n"
        "time.sleep(0.3)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    text = BOMBS["counted"].text if busy else ""
    done = subprocess.run([sys.executable, "-c", code], input=f"{text}\n", capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    wait_until_ended(int(done.stdout))


def test_a_process_that_cannot_be_started_is_reported(vocabulary, monkeypatch):
    monkeypatch.setattr(grammar_process, "command", lambda word: ["/nothing/of/that/name"])
    with pytest.raises(FaultError, match=r"could not be started \(No such file or directory\)\.$"):
        vocabulary.guide(WORDS)
    monkeypatch.undo()
    assert vocabulary.guide(WORDS).mask()


def test_a_crash_of_the_library_is_reported(vocabulary, monkeypatch):
    """Simulate a stack overflow: the process ends before the time limit."""
    process = process_of(vocabulary.guide(WORDS))
    monkeypatch.setattr(process, "_write", lambda data: os.kill(process._process.pid, signal.SIGSEGV))
    with pytest.raises(TooMuchError, match=r"^the library that follows grammars failed on it$"):
        process.ask("spell", 10, b"a")

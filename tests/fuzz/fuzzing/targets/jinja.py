"""Jinja templates with changed tags and expressions, rendered for conversations."""

import json
import re
from pathlib import Path
from random import Random

from fuzzing import values
from fuzzing.target import Mark, Target
from fuzzing.templates import JINJA, TALKS
from sotto.engine.prompt.templates import ChatTemplate

_TOKEN = re.compile(r"\{\{-?|-?\}\}|\{%-?|-?%\}|\{#|#\}|'[^'\n]*'|\"[^\"\n]*\"|\w+|[^\w\s]|\s+")
_BLOCK = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_BEFORE_VALUES = frozenset("{{ {{- ( [ , = ~ + - * / % | in if elif and or not else == != < >".split()) - {"|"}
_WORDS = frozenset("in is if elif else and or not set for macro endfor endif true false none recursive".split())
# Malicious expressions, and others that sandboxes are known to have problems with.
_HOSTILE = (
    "''.__class__.__mro__", "messages.__class__", "self", "self.__init__.__globals__", "cycler", "joiner(', ')",
    "namespace()", "'a' * 10**9", "range(10**9)", "range(10**6) | list | length", "('a' * 9999) | indent(9999)",
    "10 ** 10 ** 10", "1 / 0", "-7 // 0", "1 % 0", "'%d' % 'x'", "'%999999999d' % 1", "'{:>99999999}'.format(1)",
    "'{0.__class__}'.format(1)", "messages | tojson(indent=10**8)", "messages | map(attribute='__class__') | list",
    "messages | groupby('role') | list", "messages | sort(attribute='content')", "messages | batch(3) | list",
    "messages | slice(0) | list", "(1,) + [2]", "messages[99]", "messages[-1]['content'][::-1]",
    "messages[0]['content'][1:99999999999999999999]", "none | length", "undefined_name.a.b", "loop.index", "super()",
    "caller()", "varargs", "strftime_now('%' * 99)", "strftime_now(1)", "dict(a=1).items() | list",
    "[1, [2, [3]]] | string", "messages | first | items | list", "'\\ud800'", "\"\\x00\" ~ 1",
    "messages | sum(attribute='content', start='')", "messages | unique | list", "[messages] * 99999",
    "{} | tojson | safe", "range(1, 5, 0) | list", "true in 'a'", "messages is iterable", "x is defined and x",
    "'a' is upper", "9 is divisibleby 0", "'abc' | truncate(-1)", "'abc' | center(10**9)", "'a b' | wordcount",
    "1.5 | round(400)", "'x' | int(base=99)", "namespace(a=1) | items | list", "lipsum()", "raise_exception('no')",
    "raise_exception(messages)", "'é' | urlencode",
)  # fmt: skip
_STATEMENTS = (
    "{% for i in range(5) %}", "{% endfor %}", "{% if x %}", "{% else %}", "{% elif 1 %}", "{% endif %}",
    "{% set a = 1 %}", "{% set ns.a = 1 %}", "{% macro m(a, b=a) %}", "{% endmacro %}", "{% call m(1) %}",
    "{% endcall %}", "{% filter upper %}", "{% endfilter %}", "{% break %}", "{% continue %}", "{% include 'x' %}",
    "{% import 'x' as y %}", "{% extends 'x' %}", "{% block b %}", "{% endblock %}", "{% raw %}", "{% endraw %}",
    "{% autoescape true %}", "{% generation %}", "{% endgeneration %}", "{% do x %}", "{% with a = 1 %}",
    "{% endwith %}", "{% set b %}", "{% endset %}", "{{ m(1) }}", "{% for a, b in messages[0].items() recursive %}",
    "{{ loop(b) }}", "{% macro m(n) %}{{ m(n) }}{{ m(n) }}{% endmacro %}",
)  # fmt: skip


class Jinja(Target):
    """Templates, up to a prompt."""

    stages = ("compiled", "prompt made")
    first_share, last_share = 40, 20
    # The sandbox limits each rendering to some seconds, and there are several renderings.
    cpu_seconds = 20.0

    def prepare(self, folder: Path) -> None:
        """Do nothing, because no material is needed."""

    def make(self, random: Random) -> bytes:
        """Change a template's tags, expressions or words."""
        text = random.choice(JINJA)
        for _ in range(values.times(random)):
            text = random.choices((_expression, _statement, _token, _block), (6, 2, 1, 1))[0](text, random)
        return values.text_of({"template": text, "talk": random.randrange(len(TALKS))})

    def run(self, data: bytes, mark: Mark) -> None:
        """Compile the template, and render a conversation."""
        document = json.loads(data)
        render(ChatTemplate(document["template"], {"bos_token": "<s>", "eos_token": "</s>"}), document["talk"], mark)

    def names(self, message: str) -> bool:
        """Return whether the message names the template."""
        return "chat template" in message


def render(template: ChatTemplate, talk: int, mark: Mark) -> None:
    """Render one of the conversations, with and without a generation prompt."""
    mark("compiled")
    messages, options = TALKS[talk]
    variant = template.variant_for(options)
    for asks in (True, False):
        variant.render(template.split_answers(messages), asks, options)
    mark("prompt made")


def _expression(text: str, random: Random) -> str:
    """Insert a hostile expression, or replace a part of another one with it."""
    blocks = list(_BLOCK.finditer(text))
    hostile = random.choice(_HOSTILE)
    if not blocks or random.random() < 0.3:
        place = random.choice(blocks).end() if blocks else random.randint(0, len(text))
        return f"{text[:place]}{{{{ {hostile} }}}}{text[place:]}"
    block = random.choice(blocks)
    words, tokens, before = list(_TOKEN.finditer(block[0])), [], ""
    for word in words:
        # Replace only values: neither the names of attributes nor targets of assignments.
        if before in _BEFORE_VALUES and (word[0][0].isalnum() or word[0][0] in "'\"") and word[0] not in _WORDS:
            tokens.append(word)
        before = before if word[0].isspace() else word[0]
    if not tokens:
        return text
    token = random.choice(tokens)
    start, end = block.start() + token.start(), block.start() + token.end()
    return f"{text[:start]}({hostile}){text[end:]}"


def _statement(text: str, random: Random) -> str:
    """Insert a tag between others, often with its end tag."""
    places = [0, len(text), *(match.end() for match in _BLOCK.finditer(text))]
    start = end = random.choice(places)
    if random.random() < 0.3:
        start, end = sorted((start, random.choice(places)))
    tag = random.choice(_STATEMENTS)
    name = re.match(r"\{% (\w+)", tag)
    closing = (
        f"{{% end{name[1]} %}}" if name and f"{{% end{name[1]} %}}" in _STATEMENTS and random.random() < 0.8 else ""
    )
    return text[:start] + tag + text[start:end] + closing + text[end:]


def _token(text: str, random: Random) -> str:
    """Delete, duplicate or replace a word of one tag."""
    blocks = list(_BLOCK.finditer(text))
    if not blocks:
        return text
    block, other = random.choice(blocks), random.choice(blocks)
    tokens = _TOKEN.findall(block[0])
    place = random.randrange(len(tokens))
    kind = random.randrange(4)
    if kind == 0:
        del tokens[place]
    elif kind == 1:
        tokens.insert(place, tokens[place])
    elif kind == 2:
        tokens[place] = random.choice(_TOKEN.findall(other[0]))
    else:
        tokens[place] = values.near_text(tokens[place], random)
    return text[: block.start()] + "".join(tokens) + text[block.end() :]


def _block(text: str, random: Random) -> str:
    """Delete a tag, or insert one of this or another template somewhere else."""
    source = random.choice((text, text, random.choice(JINJA)))
    blocks, others = list(_BLOCK.finditer(text)), list(_BLOCK.finditer(source))
    if not blocks or not others:
        return text
    block, place = random.choice(blocks), random.choice(blocks).end()
    if random.random() < 0.3:
        return text[: block.start()] + text[block.end() :]
    return text[:place] + random.choice(others)[0] + text[place:]


TARGET = Jinja()

"""JSON schemas, generated from keywords and changed: checked, compiled, and followed by a random answer."""

import json
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import values
from fuzzing.target import Mark, Target
from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.engine.grammar.grammars import check_grammar
from sotto.engine.grammar.guides import Vocabulary
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.store.opening import open_model, record_of
from tiny_random import write_model

_NAME = "format"
_PATTERNS = (
    "^[a-z]{1,4}$", "^(yes|no)$", "ab?c", "^\\d{3}-\\d{2}$", "", "(", "[", "a**", "(?=a)", "\\p{L}+", "^$", "(a|b)*c",
    "[^\\]]", "\\1", "(?i)a", "é{2,}", "\\u0041", "a{2,1}", "a{0,40}b", ".", "\\bword", "$^", "[[:alpha:]]", "x(?#c)",
)  # fmt: skip
_FORMATS = (
    "date",
    "time",
    "date-time",
    "ipv4",
    "ipv6",
    "uuid",
    "email",
    "uri",
    "hostname",
    "duration",
    "regex",
    "nonsense",
    "",
)
_TYPES = ("string", "number", "integer", "boolean", "null", "object", "array", "any", ["string", "null"], [], None)
_NAMES = ("name", "a b", 'q"t', "\\", "né", "$ref", "", "x\ny", "minimum", "\ud800")
_MAX_STEPS = 60


class Schema(Target):
    """Schemas, up to a complete answer."""

    stages = ("checked", "compiled", "followed", "complete")
    first_share, last_share = 20, 10

    def prepare(self, folder: Path) -> None:
        """Read a vocabulary of single characters."""
        tokenizer = Tokenizer.from_source(open_model(record_of(write_model(folder / "model", "plain"))))
        self._rows = tokenizer.vocab_size
        self._ends = tokenizer.eos_ids
        self._vocabulary = Vocabulary(tokenizer, self._rows)

    def make(self, random: Random) -> bytes:
        """Generate a schema, usually a supported one, and change it."""
        schema = _schema(random, random.choice((1, 2, 3, 3, 4)))
        if random.random() < 0.5:
            schema = values.mutated(schema, random)
        if isinstance(schema, dict) and random.random() < 0.5:
            schema["$defs"] = {
                "x": _schema(random, 2),
                "chain": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/chain"}]},
            }
        return values.text_of(schema)

    def run(self, data: bytes, mark: Mark) -> None:
        """Check the schema, compile it, and choose tokens that may follow."""
        grammar = Grammar(GrammarKind.JSON_SCHEMA, json.dumps(json.loads(data)), _NAME)
        check_grammar(grammar)
        mark("checked")
        guide = self._vocabulary.guide(grammar)
        mark("compiled")
        random = Random(data)
        for _ in range(_MAX_STEPS):
            mask = int.from_bytes(guide.mask(), "little")
            allowed = [token for token in range(self._rows) if mask >> token & 1]
            ends = [token for token in allowed if token in self._ends]
            token = random.choice(ends or [token for token in allowed if token not in self._ends])
            guide.take(token)
            if token in self._ends or guide.complete:
                mark("complete")
                break
        mark("followed")

    def names(self, message: str) -> bool:
        """Return whether the message names the field."""
        return _NAME in message


def _schema(random: Random, depth: int) -> Any:
    """Return a schema with some keywords, and with schemas nested up to `depth` levels."""
    kind = random.choice(("string", "number", "object", "object", "array", "any", "ref", "enum", "bool", "odd"))
    if kind == "string":
        return {"type": "string"} | _some(
            random,
            {
                "minLength": random.choice((0, 1, 3, -1, 10**9)),
                "maxLength": random.choice((0, 1, 3, 12, 10**12)),
                "pattern": random.choice(_PATTERNS),
                "format": random.choice(_FORMATS),
            },
            1,
        )
    if kind == "number":
        number = lambda: random.choice((0, 1, -1, 3, 0.5, -7.25, 100, 1e300, 1e-9, 2**63))  # noqa: E731
        keywords = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
        return {"type": random.choice(("number", "integer"))} | _some(random, {key: number() for key in keywords}, 2)
    if kind == "object" and depth:
        properties = {random.choice(_NAMES): _schema(random, depth - 1) for _ in range(random.randrange(4))}
        return {"type": "object", "properties": properties} | _some(
            random,
            {
                "required": [name for name in properties if random.random() < 0.6],
                "additionalProperties": random.choice((False, True, _schema(random, depth - 1))),
                "patternProperties": {random.choice(_PATTERNS): _schema(random, depth - 1)},
                "minProperties": random.choice((0, 1, 5)),
                "maxProperties": random.choice((0, 1, 5)),
                "propertyNames": _schema(random, 0),
                "dependentRequired": {"name": ["x"]},
            },
            2,
        )
    if kind == "array" and depth:
        return {"type": "array"} | _some(
            random,
            {
                "items": random.choice((_schema(random, depth - 1), False, True)),
                "prefixItems": [_schema(random, depth - 1) for _ in range(random.randrange(3))],
                "minItems": random.choice((0, 1, 3)),
                "maxItems": random.choice((0, 1, 3)),
                "uniqueItems": random.random() < 0.5,
                "contains": _schema(random, depth - 1),
            },
            2,
        )
    if kind == "any" and depth:
        return {
            random.choice(("anyOf", "oneOf", "allOf")): [_schema(random, depth - 1) for _ in range(random.randrange(4))]
        }
    if kind == "ref":
        return {"$ref": random.choice(("#/$defs/x", "#/$defs/chain", "#", "#/nothing", "http://127.0.0.1:1/x"))}
    if kind == "bool":
        return random.choice((True, False, {}))
    if kind == "odd" and depth:
        return {
            random.choice(("not", "if", "then", "else", "type", "const", "$id", "$anchor")): _schema(random, depth - 1)
        }
    return random.choice(({"enum": [values.anything(random) for _ in range(3)]}, {"const": values.anything(random)},
                          {"type": random.choice(_TYPES)}))  # fmt: skip


def _some(random: Random, keywords: dict[str, Any], about: int) -> dict[str, Any]:
    """Return about that many of some keywords."""
    return {key: value for key, value in keywords.items() if random.random() < about / len(keywords)}


TARGET = Schema()

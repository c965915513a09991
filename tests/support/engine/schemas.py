"""Strategies for satisfiable JSON schemas, small enough for most random answers to be completed."""

from hypothesis import strategies as st

NAMES = ("name", "age", "né", "a b", 'q"t', "\\", "x\ny", "$ref", "minimum", "🙂")
PATTERNS = ("^[a-z]{1,4}$", "^(yes|no|maybe)$", "ab?c", '^[^"]{2}$', "^\\d{3}-\\d{2}$", "^é+x{0,3}$")
FORMATS = ("date", "time", "date-time", "ipv4", "uuid")

names = st.sampled_from(NAMES)
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=6)
exact = st.integers(-(10**6), 10**6) | st.integers(-(10**6), 10**6).map(lambda number: number / 64)
values = st.none() | st.booleans() | exact | texts
constants = st.recursive(
    values, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2), max_leaves=3
)


@st.composite
def numbers(draw):
    kind = draw(st.sampled_from(["integer", "number"]))
    low = draw(exact)
    high = low + draw(st.sampled_from([1, 2.5, 100]))
    keywords = draw(st.sampled_from([("minimum", "maximum"), ("exclusiveMinimum", "exclusiveMaximum")]))
    # Widened so that the range contains an integer even if its ends are exclusive.
    low, high = (int(low) - 1, int(high) + 1) if kind == "integer" else (low, high)
    schema = {"type": kind, keywords[0]: low, keywords[1]: high}
    if draw(st.booleans()) and high - low >= 100:
        schema["multipleOf"] = draw(st.sampled_from([1, 7] if kind == "integer" else [0.5, 0.25, 3]))
    return schema


@st.composite
def strings(draw):
    min_length = draw(st.integers(0, 3))
    return draw(
        st.sampled_from(
            [
                {"type": "string", "minLength": min_length, "maxLength": min_length + draw(st.integers(0, 6))},
                {"type": "string", "pattern": draw(st.sampled_from(PATTERNS)), "maxLength": 12},
                {"type": "string", "format": draw(st.sampled_from(FORMATS))},
            ]
        )
    )


scalars = st.one_of(
    numbers(),
    strings(),
    st.sampled_from([{"type": "boolean"}, {"type": "null"}, {"type": ["null", "boolean"]}]),
    st.lists(constants, min_size=1, max_size=4).map(lambda options: {"enum": options}),
    constants.map(lambda value: {"const": value}),
    st.just({"$ref": "#/$defs/chain"}),
    st.just({"$ref": "#/$defs/short"}),
)


@st.composite
def arrays(draw, inner):
    minimum = draw(st.integers(0, 2))
    schema = {"type": "array", "items": draw(inner), "minItems": minimum, "maxItems": minimum + draw(st.integers(0, 2))}
    if draw(st.booleans()):
        schema["prefixItems"] = draw(st.lists(inner, min_size=1, max_size=2))
    return schema


@st.composite
def objects(draw, inner):
    properties = draw(st.dictionaries(names, inner, max_size=4))
    required = draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    schema = {"type": "object", "properties": properties, "required": required}
    others = draw(st.sampled_from(["none", "some", "of a pattern"]))
    if others == "none":
        schema["additionalProperties"] = False
    elif others == "some":
        schema |= {"required": list(properties), "additionalProperties": draw(inner)}
        schema["maxProperties"] = len(properties) + draw(st.integers(0, 2))
    else:
        schema |= {"additionalProperties": False, "patternProperties": {"^z[0-9]+$": draw(inner)}}
    return schema


def combined(inner):
    """Return a strategy for alternatives of schemas, and for conjunctions with an object's schema."""
    both = st.tuples(objects(inner), objects(inner)).map(
        lambda pair: {"allOf": [{**pair[0], "additionalProperties": True}, {"minProperties": 0}]}
    )
    return st.lists(inner, min_size=1, max_size=3).map(lambda options: {"anyOf": options}) | both


schemas = st.recursive(
    scalars, lambda inner: st.one_of(arrays(inner), objects(inner), combined(inner)), max_leaves=6
).map(
    lambda schema: {
        **({"allOf": [schema]} if "$ref" in schema else schema),
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "chain": {
                "type": "object",
                "properties": {"next": {"anyOf": [{"$ref": "#/$defs/chain"}, {"type": "null"}]}, "n": {"enum": [1, 2]}},
                "required": ["next"],
                "additionalProperties": False,
            },
            "short": {"type": "string", "maxLength": 4},
        },
    }
)
"""A strategy for whole schemas; every answer to one must validate with `jsonschema`."""

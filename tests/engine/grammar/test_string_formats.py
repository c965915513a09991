"""Exact formats of strings in schemas, compared with other implementations."""

import datetime
import functools
import ipaddress
import re

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from guided_texts import accepts, guide_of, to_json
from sotto.engine.grammar.string_formats import format_terms
from thoroughness import examples


def fits(name, text):
    """Return whether a text has a format, by matching its expression with Python's `re`."""
    terms = format_terms(name)
    return bool(compiled(terms["pattern"])(text)) and len(text) <= terms.get("maxLength", len(text))


@functools.cache
def compiled(pattern):
    return re.compile(pattern).fullmatch


def is_date(text):
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def test_every_day_of_every_year():
    fitting = functools.partial(fits, "date")
    for year in range(10_000):
        for day in ("01-31", "02-28", "02-29", "02-30", "04-30", "04-31", "12-31", "12-32", "00-01", "13-01", "01-00"):
            text = f"{year:04}-{day}"
            assert bool(fitting(text)) is is_date(text), text


def test_second_60_is_allowed_only_at_the_end_of_a_day_in_utc():
    fitting = functools.partial(fits, "time")
    minutes = sorted({*range(0, 24 * 60, 15), *range(14, 24 * 60, 60), *range(59, 24 * 60, 60), *range(7, 24 * 60, 97)})
    for local in minutes:
        clock = f"{local // 60:02}:{local % 60:02}"
        for offset in minutes:
            for sign in (1, -1):
                shift = f"{'+' if sign > 0 else '-'}{offset // 60:02}:{offset % 60:02}"
                last = (local - sign * offset) % (24 * 60) == 23 * 60 + 59
                # Since the first leap second, only multiples of 15 minutes have been in use as offsets.
                assert fitting(f"{clock}:60{shift}") is (last and offset % 15 == 0)
        assert fitting(f"{clock}:59.5+23:59")
        assert fitting(f"{clock}:60Z") is (local == 23 * 60 + 59)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("date", ["2024-02-29", "2000-02-29", "1999-12-31"], ["1900-02-29", "2023-02-29", "0000-01-01", "2024-2-29"]),
        (
            "time",
            ["23:59:60Z", "23:59:60.25z", "15:59:60-08:00", "01:29:60+01:30", "12:00:00.123+05:45"],
            ["22:59:60Z", "23:58:60Z", "23:59:60+01:00", "23:59:61Z", "24:00:00Z", "12:00:00", "12:00:00+24:00"],
        ),
        (
            "date-time",
            ["1998-12-31T23:59:60Z", "1998-12-31t15:59:60.1-08:00", "2000-02-29T00:00:00Z"],
            ["1900-02-29T00:00:00Z", "1998-12-31T22:59:60Z", "1998-12-31 23:59:59Z", "1998-12-31T23:59:59"],
        ),
        ("duration", ["P1Y2M3DT4H5M6S", "PT36H", "P4W", "P1M"], ["P", "PT", "P1Y2W", "P1D2H", "P1H", "P1Y1D", "1D"]),
        (
            "email",
            ["a.b+c@x-y.example", '"a b@\\" "@x.y', "a@[127.0.0.1]", "a@[IPv6:::1]"],
            ["a", "a..b@c", ".a@c", "a@-c", "a@c-", "a@[1.2.3.256]", "a b@c", "a@b@c", "é@c"],
        ),
        (
            "hostname",
            ["a", "a-b.C9", f"{'a' * 63}.b", "ab-c", "1", "a-b-c"],
            ["", "-a", "a-", "a_b", ".a", "a.", "a..b", f"{'a' * 64}", "xn--ab", f"{'a.' * 127}ab", "é"],
        ),
        ("ipv4", ["0.0.0.0", "255.249.199.99", "1.2.3.45"], ["256.0.0.0", "01.0.0.0", "1.2.3", "1.2.3.4.5"]),
        (
            "ipv6",
            ["::", "1::", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7::"],
            [":", "1:2", "::1%a", "12345::"],
        ),
        ("uuid", ["2EB8AA08-aa98-11ea-b4aa-73b441d1638f"], ["2eb8aa08aa9811eab4aa73b441d16380", "{}"]),
        (
            "uri",
            ["http://u:p@[::1]:80/a%20b/?q#f", "urn:a:b", "file:///etc", "a:", "http://h", "x:/a//b", "a://[v1.x]"],
            ["//h/a", "/a", "a b:c", "http://[1::2::3]", "http://h/%zz", "http://h/{", "1a:b", "http://h#a#b", "é:a"],
        ),
    ],
)
def test_a_format_is_enforced_together_with_other_keywords(name, right, wrong):
    guide = guide_of({"type": "string", "format": name})
    assert [text for text in (*right, *wrong) if accepts(guide, to_json(text))] == right
    assert [text for text in (*right, *wrong) if fits(name, text)] == right
    if name in ("date", "ipv4", "ipv6"):
        judge = jsonschema.Draft202012Validator({"format": name}, format_checker=jsonschema.FormatChecker())
        assert all(judge.is_valid(text) is (text in right) for text in (*right, *wrong))
    limited = {"type": "string", "format": name, "pattern": "[^01]$", "minLength": 2, "maxLength": 254}
    guide = guide_of(limited)
    found = [text for text in (*right, *wrong) if accepts(guide, to_json(text))]
    assert found == [text for text in right if text[-1:] not in ("", "0", "1") and len(text) >= 2]


def test_formats_apply_only_to_strings():
    guide = guide_of({"type": ["integer", "string"], "format": "date"})
    assert [text for text in ("7", '"2024-02-29"', '"2023-02-29"') if accepts(guide, text)] == ["7", '"2024-02-29"']


def is_address(text):
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


_GROUPS = st.sampled_from([":", "::", "1:", ":a", "0ff", "1.2.3.4", "abcd:", "1:2:3:"])


@examples(300)
@given(st.lists(_GROUPS, max_size=9).map("".join))
@example("1:2:3:4:5:6:7:8")
@example("1:2:3:4:5:6::8")
@example("::2:3:4:5:6:7:8")
def test_ipv6_addresses_are_those_that_python_accepts(text):
    assert fits("ipv6", text) is is_address(text)


@pytest.mark.parametrize(
    ("schema", "beside"),
    [("http://json-schema.org/draft-07/schema#", False), ("https://json-schema.org/draft/2020-12/schema", True)],
)
def test_keywords_beside_a_reference_count_from_draft_2019_on(schema, beside):
    parts = {"$defs": {"text": {"type": "string"}}, "$schema": schema}
    guide = guide_of({"properties": {"a": {"$ref": "#/$defs/text", "maxLength": 1}}, "required": ["a"], **parts})
    assert accepts(guide, '{"a":"xy"}') is not beside
    assert accepts(guide, '{"a":"x"}')

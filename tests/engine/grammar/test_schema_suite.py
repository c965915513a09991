"""The official JSON-Schema-Test-Suite: each schema is refused, or allows exactly the valid values."""

import functools
import itertools
import json
import re
import sys
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from guided_texts import accepts, guide_of, to_json
from sotto.errors import InvalidRequestError

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
# Reasons why an answer never has a valid value, and how many of those the suite has in all drafts.
UNWRITTEN = {
    # Characters without a short escape are not written, because most models have never seen them.
    "control characters": 10,
    # `format` is always enforced, although the newest draft leaves that to validators.
    "formats that are only noted": 10,
    # The labels that may follow xn-- are not a regular language.
    "host names in Punycode": 5,
}
_CONTROL = re.compile(r"[\x00-\x07\x0b\x0e-\x1f\x7f]")
_MAX_KEY_ORDERS = 24


@functools.cache
def suite():
    """Return the cases of each draft, by file."""
    found = sorted(Path(sys.prefix, "share", "sotto-suites").glob("jsonschema-*.tar.gz"))
    assert found, "the JSON-Schema-Test-Suite is missing: run python3 packaging/start.py test"
    cases = {draft: {} for draft in DRAFTS}
    with tarfile.open(found[-1]) as archive:
        for member in archive.getmembers():
            _, _, path = member.name.partition("/json/tests/")
            draft, _, file = path.partition("/")
            if draft in DRAFTS and file.endswith(".json"):
                cases[draft][file] = json.load(archive.extractfile(member))
    return cases


def spellings(value, *, equal):
    """Yield a value as answers may write it, with its keys in every order, as that of the schema is not known here.

    Args:
        value: The value in the suite.
        equal: Whether to yield whole numbers with a fraction (1.0) also without it: they are equal in JSON Schema from
            draft 6 on, and answers never have such a fraction.
    """
    if isinstance(value, dict):
        for pairs in itertools.islice(itertools.permutations(value.items()), _MAX_KEY_ORDERS):
            ways = [[f"{to_json(key)}:{one}" for one in spellings(inner, equal=equal)] for key, inner in pairs]
            yield from (f"{{{','.join(parts)}}}" for parts in itertools.product(*ways))
    elif isinstance(value, list):
        ways = [list(spellings(inner, equal=equal)) for inner in value]
        yield from (f"[{','.join(parts)}]" for parts in itertools.product(*ways))
    else:
        yield to_json(value)
        if equal and isinstance(value, float) and value.is_integer():
            yield to_json(int(value))


def unwritten(draft, file, schema, test):
    """Return why an answer never has the valid value of a test; empty if there is no reason."""
    value = test["data"]
    if isinstance(value, str) and _CONTROL.search(value):
        return "control characters"
    if file == "format.json" and draft == "draft2020-12" and "only an annotation" in test["description"]:
        return "formats that are only noted"
    if schema.get("format") == "hostname" and isinstance(value, str) and re.search(r"(^|\.)xn--", value):
        return "host names in Punycode"
    return ""


def test_each_schema_is_refused_or_allows_exactly_the_valid_values(capsys):
    count, reasons, wrong = Counter(), Counter(), []
    for draft, files in suite().items():
        for file, case in ((file, case) for file, cases in files.items() for case in cases):
            schema = case["schema"]
            if isinstance(schema, bool):
                continue  # a format is an object
            try:
                guide = guide_of({"$schema": DRAFTS[draft], **schema})
            except InvalidRequestError:
                count["refused"] += 1
                continue
            for test in case["tests"]:
                # Invalid values are checked only as written, because in draft 4 whole numbers have no fraction.
                found = [text for text in spellings(test["data"], equal=test["valid"]) if accepts(guide, text)]
                reason = unwritten(draft, file, schema, test) if test["valid"] and not found else ""
                reasons[reason] += bool(reason)
                if bool(found) is test["valid"]:
                    count["accepted"] += 1
                elif not reason:
                    wrong.append((draft, file, case["description"], test["description"], test["data"], found))
    with capsys.disabled():
        print(f"\naccepted {count['accepted']} / refused {count['refused']} / wrong {len(wrong)}")
    assert not wrong
    assert +reasons == UNWRITTEN
    # Most of the suite is not refused.
    assert count["accepted"] > 3900
    assert count["refused"] < 800


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_suite_has_tests_for_each_draft(draft):
    assert sum(len(case["tests"]) for cases in suite()[draft].values() for case in cases) > 800

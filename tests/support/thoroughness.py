"""How many parameter combinations and random examples the tests run: all of them with `start.py test --all`."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings


def mark_full(items: Iterable[pytest.Item]) -> None:
    """Mark as `full` the cases that a test marked `covering` does not need.

    `covering(2)` needs cases with each pair of values of its parameters, because faults that depend on three of them
    are rare. `covering(1)` needs only each value, for independent parameters.

    Of a test marked `one_in(n)`, every nth case is kept. Which ones they are differs from test to test, so that a model
    family or template, say, is left out of some tests but not of all.
    """
    tests, thinned = defaultdict(dict), defaultdict(list)
    for item in items:
        if mark := item.get_closest_marker("covering"):
            test = item.nodeid.partition("[")[0], *mark.args
            # By identity, as not every value can be hashed; all cases share the objects of the parameter lists.
            values = tuple(id(item.callspec.params[name]) for name in sorted(item.callspec.params))
            tests[test][values] = item
        elif (mark := item.get_closest_marker("one_in")) and not item.get_closest_marker("full"):
            thinned[item.nodeid.partition("[")[0], *mark.args].append(item)
    for (_, strength), cases in tests.items():
        for case in cases.keys() - covering(cases, strength):
            cases[case].add_marker("full")
    for (test, n), cases in thinned.items():
        first = crc32(test.encode()) % min(n, len(cases))
        for index, case in enumerate(cases):
            if index % n != first:
                case.add_marker("full")


def covering(cases: Collection[tuple[Any, ...]], strength: int) -> set[tuple[Any, ...]]:
    """Return greedily chosen cases that cover each combination of `strength` values of all cases."""
    combinations_of = {case: set(combinations(enumerate(case), min(strength, len(case)))) for case in cases}
    chosen, missing = set(), set().union(*combinations_of.values())
    while missing:
        best = max(combinations_of, key=lambda case: len(combinations_of[case] & missing))
        chosen.add(best)
        missing -= combinations_of[best]
    return chosen


def some(values: Sequence[Any], count: int) -> list[Any]:
    """Return the values of a parameter; an ordinary run uses only `count` of them, evenly spread."""
    chosen = {index * len(values) // count for index in range(count)}
    return [
        value if index in chosen else pytest.param(value, marks=pytest.mark.full) for index, value in enumerate(values)
    ]


def share(count: int, least: int = 10) -> int:
    """Return `count` in a run of everything; otherwise a quarter of it, but at least `least`."""
    return count if settings.get_current_profile_name() == "full" else min(count, max(least, count // 4))


def examples(count: int, least: int = 10, **more: Any) -> settings:
    """Return settings with `share(count)` examples; a test with many parameter values needs few for each."""
    return settings(max_examples=share(count, least), **more)

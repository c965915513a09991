"""How much of what could be tried is tried: by default a part, with `packaging/start.py test --all` everything."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import combinations
from typing import Any

import pytest
from hypothesis import settings


def leave_to_full(items: Iterable[pytest.Item]) -> None:
    """Mark as `full` what each test marked `covering` can do without.

    `covering(2)` keeps cases that hold each pair of values of its parameters: a fault that needs three of them to have
    certain values at once is rare. `covering(1)` keeps each value, for parameters that have nothing to do with each
    other.
    """
    tests = defaultdict(dict)
    for item in items:
        if mark := item.get_closest_marker("covering"):
            test = item.nodeid.partition("[")[0], *mark.args
            # Not every value can be hashed, and all cases hold the very objects that the parameters name.
            values = tuple(id(item.callspec.params[name]) for name in sorted(item.callspec.params))
            tests[test][values] = item
    for (_, strength), cases in tests.items():
        for case in cases.keys() - covering(cases, strength):
            cases[case].add_marker("full")


def covering(cases: Collection[tuple[Any, ...]], strength: int) -> set[tuple[Any, ...]]:
    """Return cases, chosen greedily, that hold each combination of `strength` values that any case holds."""
    held = {case: set(combinations(enumerate(case), min(strength, len(case)))) for case in cases}
    chosen, missing = set(), set().union(*held.values())
    while missing:
        best = max(held, key=lambda case: len(held[case] & missing))
        chosen.add(best)
        missing -= held[best]
    return chosen


def examples(count: int, **more: Any) -> settings:
    """Return settings for `count` examples in a run of everything; otherwise for a quarter, but ten at least."""
    is_full = settings.get_current_profile_name() == "full"
    return settings(max_examples=count if is_full else min(count, max(10, count // 4)), **more)

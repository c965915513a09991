"""What a run by default leaves to a run of everything."""

import subprocess
import sys
from itertools import combinations, product

import pytest

from thoroughness import covering


@pytest.mark.parametrize("sizes", [(1,), (5,), (2, 3), (2, 2, 2), (3, 3, 3, 3), (12, 16, 3), (4, 2, 1, 6)])
def test_every_pair_of_values_is_there(sizes):
    cases = list(product(*map(range, sizes)))
    chosen = covering(cases, 2)
    for first, second in combinations(range(len(sizes)), 2):
        assert {(case[first], case[second]) for case in chosen} == set(
            product(range(sizes[first]), range(sizes[second]))
        )
    assert {case[0] for case in chosen} == set(range(sizes[0]))


def test_every_value_is_there():
    chosen = covering(list(product(range(3), range(5))), 1)
    assert len(chosen) == 5
    assert {case[0] for case in chosen} == set(range(3))


def test_three_parameters_take_few_cases_more_than_the_two_largest():
    assert 12 * 16 <= len(covering(list(product(range(12), range(16), range(3))), 2)) < 250


def test_a_product_is_thinned_by_its_mark_alone(pytestconfig):
    """Of 3 x 2 x 2 cases, six hold all pairs."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", __file__]
    found = subprocess.run(command, cwd=pytestconfig.rootpath, capture_output=True, text=True, check=True).stdout
    assert found.count("::test_product[") == 6
    assert found.count("::test_whole[") == 12
    assert found.count("::test_few[") == 3
    assert found.count("::test_two[") == 1
    found = subprocess.run([*command, "-m", ""], cwd=pytestconfig.rootpath, capture_output=True, text=True, check=True)
    assert found.stdout.count("::test_product[") == found.stdout.count("::test_whole[") == 12
    assert found.stdout.count("::test_few[") == 9


@pytest.fixture(params=["x", "y"])
def made(request):
    return request.param


@pytest.mark.covering(2)
@pytest.mark.parametrize("letter", "abc")
@pytest.mark.parametrize("number", [1, 2])
def test_product(letter, number, made):
    assert (letter, number, made) in product("abc", [1, 2], "xy")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("letter", "abcdefghi")
def test_few(letter):
    assert letter in "abcdefghi"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("letter", "ab")
def test_two(letter):
    assert letter in "ab"


@pytest.mark.parametrize("letter", "abc")
@pytest.mark.parametrize("number", [1, 2])
def test_whole(letter, number, made):
    assert (letter, number, made) in product("abc", [1, 2], "xy")

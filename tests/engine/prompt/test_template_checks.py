"""The size of an operation's result is checked before it runs."""

from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.prompt.template_bounds import BASE_WEIGHT, TemplateBoundsError, bounded, current
from sotto.engine.prompt.template_checks import (
    check_arguments,
    check_date,
    check_format,
    check_operation,
    wrap_filter,
)


@pytest.fixture(autouse=True)
def _in_a_rendering():
    with bounded({}):
        yield


@contextmanager
def refused(much):
    if not much:
        yield
        return
    with pytest.raises(TemplateBoundsError):
        yield


@given(length=st.integers(0, 2**12), times=st.integers(-5, 2**12), is_turned=st.booleans())
def test_repeating_is_refused_where_the_result_would_be_too_large(length, times, is_turned):
    values = ("a" * length, times)
    with refused(length * times > current.get().weight):
        check_operation("*", *(values[::-1] if is_turned else values))


@given(st.integers(2**1900, 2**2200), st.integers(-(2**2200), -(2**1900)))
def test_products_of_thousands_of_digits_are_refused(first, second):
    try:
        check_operation("*", first, second)
    except TemplateBoundsError:
        assert (first * second).bit_length() >= 4096
    else:
        assert (first * second).bit_length() <= 4096


@given(base=st.integers(-(2**300), 2**300), power=st.integers(-60, 60))
def test_allowed_powers_are_small(base, power):
    try:
        check_operation("**", base, power)
    except TemplateBoundsError:
        assert base.bit_length() * abs(power) > 4096
    else:
        assert (base ** abs(power)).bit_length() <= 4096


@pytest.mark.parametrize("operator", ["+", "-", "/", "//", "%", "*", "**"])
def test_other_values_are_not_checked(operator):
    check_operation(operator, 1.5, None)
    check_operation(operator, [1], "a")


@pytest.mark.parametrize(("text", "much"), [("%5d %s %%", False), ("%1000d", True), ("%.2000f", True), ("%*d", True)])
def test_wide_percent_formats_are_refused(text, much):
    with refused(much):
        check_operation("%", text, 1)
    with refused(much):
        wrap_filter("format", lambda text, *_: text)(text, 1)


@pytest.mark.parametrize(
    ("text", "much"), [("{:>9} 2000 {}", False), ("{:1000}", True), ("{:{}}", True), ("{0:.4000f}", True)]
)
def test_wide_fields_are_refused(text, much):
    with refused(much):
        check_format(text)


@pytest.mark.parametrize(("form", "much"), [("%d %B %Y, %H:%M", False), ("%10d", True), ("%d" * 501, True)])
def test_wide_dates_are_refused(form, much):
    with refused(much):
        check_date(form)


@pytest.mark.parametrize("method", ["center", "ljust", "rjust", "zfill"])
def test_padding_beyond_the_limit_of_a_value_is_refused(method):
    assert check_arguments(method, "a", (BASE_WEIGHT,)) == (BASE_WEIGHT,)
    with pytest.raises(TemplateBoundsError):
        check_arguments(method, "a", (2 * BASE_WEIGHT,))


def test_joined_values_are_read_once_and_counted_with_separators():
    assert check_arguments("join", ", ", (iter("abc"),)) == (["a", "b", "c"],)
    assert wrap_filter("join", lambda values, d: d.join(values))(iter("abc"), "-") == "a-b-c"
    with pytest.raises(TemplateBoundsError):
        check_arguments("join", "a" * 5000, (iter("b" * 100),))


@given(text=st.text("ab", max_size=30), old=st.text("ab", max_size=2), size=st.integers(0, 2**15))
def test_replacing_is_refused_where_the_new_parts_would_be_too_large(text, old, size):
    with refused(text.count(old) * size > current.get().weight):
        assert check_arguments("replace", text, (old, "c" * size)) == (old, "c" * size)


@pytest.mark.parametrize("name", ["batch", "center", "indent", "round", "slice", "tojson"])
def test_filters_take_no_large_numbers_or_texts(name):
    call = wrap_filter(name, lambda value, *_, **__: value)
    assert call("a", 1000) == "a"
    for args, kwargs in (((1001,), {}), (("x" * 1001,), {}), ((), {"width": 10**9})):
        with pytest.raises(TemplateBoundsError, match=rf"the filter {name} too large"):
            call("a", *args, **kwargs)


def test_only_numbers_are_summed_up():
    call = wrap_filter("sum", lambda values, attribute=None, start=0: sum(values, start))
    assert call([1, 2], None, 0.5) == 3.5
    with pytest.raises(TemplateBoundsError):
        call([[1]], start=[])

"""Sotto's own addresses, as hostile pages write them, and the addresses of files."""

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.ui.app.own_addresses import (
    MAX_LENGTH,
    AskAddress,
    ChatAddress,
    InvalidAddressError,
    ModelAddress,
    parse_address,
)
from sotto.ui.state.addresses import is_file_address, is_own_address, path_of_address


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("sotto://model/qwen3", ModelAddress("qwen3")),
        ("SOTTO://model/hf.co/someone/x.Y-GGUF:Q4_K_M", ModelAddress("hf.co/someone/x.Y-GGUF:Q4_K_M")),
        ("sotto://model/qwen3%3a4b", ModelAddress("qwen3:4b")),
        ("sotto://chat/12", ChatAddress(12)),
        ("sotto://ask?text=What+is+1%2B1%3F", AskAddress("What is 1+1?")),
        ("sotto://ask?text=a%0D%0Ab%09c%0A", AskAddress("a\nb\tc\n")),
        ("sotto://ask?text=%E2%98%83 ä", AskAddress("☃ ä")),
        # A family, whose members zero-width joiners hold together; Persian, which needs non-joiners.
        ("sotto://ask?text=👩‍👧", AskAddress("👩‍👧")),
        ("sotto://ask?text=می‌خواهم", AskAddress("می‌خواهم")),
        ("sotto://ask?text=" + "a" * (MAX_LENGTH - 17), AskAddress("a" * (MAX_LENGTH - 17))),
    ],
)
def test_an_address_says_what_it_asks_for(address, wanted):
    assert parse_address(address) == wanted


@pytest.mark.parametrize(
    "address",
    [
        "sotto:",
        "sotto://",
        "sotto://model",
        "sotto://model/",
        "sotto://chat/",
        "sotto://chat/1x",
        "sotto://chat/-1",
        "sotto://chat/١",
        "sotto://chat/1/2",
        "sotto://chat/" + "1" * 19,
        "sotto://ask",
        "sotto://ask?text=",
        "sotto://ask?text=a&send=1",
        "sotto://ask?send=1&text=a",
        "sotto://ask/?text=a",
        "sotto://Model/a",
        "sotto://user@model/a",
        "sotto:model/a",
        "sotto://run?command=ls",
        "https://model/a",
        "sotto://\x1b[31m\u202e",
    ],
)
def test_what_is_not_known_is_refused_in_one_sentence(address):
    with pytest.raises(InvalidAddressError, match="Sotto opens sotto://model/NAME") as refusal:
        parse_address(address)
    assert refusal.value.message.isprintable()
    assert len(refusal.value.message) < 300


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("%", "UTF-8"),
        ("%4", "UTF-8"),
        ("%zz", "UTF-8"),
        ("%C3", "UTF-8"),
        ("%ED%A0%80", "UTF-8"),
        ("%00", "cannot be seen"),
        ("%1B[31m", "cannot be seen"),
        ("a\x07", "cannot be seen"),
        ("%0D", "cannot be seen"),
        # The direction is changed; text that only a model reads is hidden; a line ends.
        ("%E2%80%AE", "cannot be seen"),
        ("\u2066a", "cannot be seen"),
        ("\u200f", "cannot be seen"),
        ("\U000e0041", "cannot be seen"),
        ("\u200b", "cannot be seen"),
        ("\u2028", "cannot be seen"),
        ("\udc80", "cannot be seen"),
    ],
)
def test_a_text_that_cannot_be_seen_as_it_is_is_refused(value, why):
    for address in (f"sotto://ask?text={value}", f"sotto://model/{value}"):
        with pytest.raises(InvalidAddressError, match=why):
            parse_address(address)


def test_a_model_has_one_line():
    with pytest.raises(InvalidAddressError, match="cannot be seen"):
        parse_address("sotto://model/a%0Ab")


def test_an_endless_address_is_refused_at_once():
    with pytest.raises(InvalidAddressError, match="longer than 20000 characters"):
        parse_address("sotto://ask?text=" + "a" * MAX_LENGTH)


@given(
    st.one_of(
        st.text(), st.text().map(lambda text: f"sotto://ask?text={text}"), st.text().map("sotto://model/".__add__)
    )
)
def test_any_text_is_an_address_or_refused(text):
    with contextlib.suppress(InvalidAddressError):
        wanted = parse_address(text)
        value = getattr(wanted, "text", getattr(wanted, "name", ""))
        assert not {char for char in value if char < " "} - {"\n", "\t"}
        assert not {char for char in value if "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"}


def test_addresses_are_told_from_files(tmp_path):
    assert is_own_address("sotto://model/a")
    assert is_own_address("Sotto:anything")
    assert not is_own_address("sotto")
    assert not is_own_address("./sotto:a")
    assert is_file_address("file:///models/a")
    assert not is_file_address("file.gguf")
    assert path_of_address("file:///models/caf%C3%A9%20%23%25") == Path("/models/café #%")
    assert path_of_address("file://host/models/a") == Path("/models/a")
    assert path_of_address("FILE:/models/a") == Path("/models/a")
    assert os.fsencode(path_of_address("file:///%E9")) == b"/\xe9"

"""What is taken out of reports: homes, names and keys, however they are written."""

import json
import os
import pwd
import string
import unicodedata
from pathlib import Path
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from people import person
from sotto.reports import scrubbing
from sotto.reports.scrubbing import keep_secret, scrub

LETTERS = string.ascii_letters + string.digits + "éüñøЖ漢ف"
# Each begins with what occurs nowhere else.
USERS = st.text(LETTERS + "_-.", max_size=12).map("zq".__add__)
HOSTS = st.text(LETTERS + "-", max_size=12).map("xk".__add__)
SECRETS = st.text(LETTERS + string.punctuation + " ", min_size=4, max_size=30).map(lambda text: f"wj{text.strip()}")
# With what regular expressions, addresses and Python use.
FOLDERS = st.text(LETTERS + " '\"\\%+*()[]?$^|&.", min_size=1, max_size=12).map(lambda text: f"vb{text.strip()}")
REST = st.text(max_size=30).filter(lambda text: not any(mark in text.casefold() for mark in ("zq", "xk", "wj", "vb")))
FORMS = {
    "as it is": str,
    "quoted": repr,
    "in JSON": json.dumps,
    "in an address": quote,
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "in capitals": str.upper,
}


def written(text: str) -> list[str]:
    return [write(text) for write in FORMS.values()]


@given(FOLDERS, USERS, HOSTS, SECRETS, REST)
def test_no_home_name_or_key_gets_out(folder, user, host, secret, rest):
    home = f"/{folder}/{user}"
    with person(home, user, user, f"{host}.local", API_TOKEN=secret):
        for text in (home, f"{home}/models", f"/media/{user}/disk", user, f"{user}@{host}", f"{host}.local", secret):
            for form in written(text):
                found = scrub(f"{rest} ({form}) {rest}").casefold()
                assert not [mark for mark in ("zq", "xk", "wj", "vb") if mark in found], form


@given(USERS.filter(lambda name: len(name) > 2))
def test_names_in_folders_elsewhere_are_replaced_even_inside_words(user):
    with person(f"/home/{user}", user, "", "box"):
        assert scrub(f"/srv/{user}models/llama: 3 models") == "/srv/<user>models/llama: 3 models"


def test_a_report_is_still_read_after_it():
    with person(
        "/home/mark", "mark", "Mark Lang", "marks-laptop", OPENAI_API_KEY="0123-4567", TOKENIZERS_PARALLELISM="false"
    ):
        text = 'sotto/ui/markdown/view.py:3 in language, "/home/mark/My Models/a.gguf" of mark on marks-laptop: false'
        said = 'sotto/ui/markdown/view.py:3 in language, "~/My Models/a.gguf" of <user> on <host>: false'
        assert scrub(text) == said
        assert scrub("Authorization: Bearer abc.def, key 0123-4567") == "Authorization: <secret>, key <secret>"
        assert scrub("https://me:pass@example.com/x") == "https://<secret>@example.com/x"
        assert scrub("file:///home/mark/x") == "file://~/x"


def test_root_is_nobody():
    with person("/root", "root", "root", "localhost"):
        assert scrub("/root/x by root on localhost") == "~/x by root on localhost"


def test_an_account_that_the_system_does_not_list_has_no_name(monkeypatch):
    def unknown(number):
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setenv("HOME", "/")
    scrubbing._account.cache_clear()
    assert scrub("/ is read-only") == "/ is read-only"
    scrubbing._account.cache_clear()


def test_a_key_from_the_command_line_is_replaced(monkeypatch):
    monkeypatch.setattr(scrubbing, "_secrets", set())
    keep_secret("")
    assert scrub("a key of mine") == "a key of mine"
    keep_secret("key of mine")
    assert scrub("a key of mine") == "a <secret>"


def test_links_lead_home(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    for name in ("real", "link"):
        assert scrub(f"{tmp_path / name}/x") == "~/x"
    assert os.path.realpath(Path.home()) == str(tmp_path / "real")

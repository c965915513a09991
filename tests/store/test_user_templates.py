"""Templates that the user has set for models."""

import pytest

from sotto.errors import BrokenModelError
from sotto.store import user_templates
from sotto.store.user_templates import read_template_file, read_user_template, save_user_template, template_path

DIGEST = "ab" * 32


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(user_templates.paths, "config_dir", lambda: tmp_path / "config")


def test_a_template_is_stored_by_digest_until_it_is_removed():
    assert read_user_template(DIGEST) == ""
    save_user_template(DIGEST, "{{ .Prompt }} é")
    assert read_user_template(DIGEST) == "{{ .Prompt }} é"
    assert read_user_template("cd" * 32) == ""
    assert [path.name for path in template_path(DIGEST).parent.iterdir()] == [f"{DIGEST}.txt"]
    save_user_template(DIGEST, "")
    save_user_template(DIGEST, "")
    assert read_user_template(DIGEST) == ""
    assert not list(template_path(DIGEST).parent.iterdir())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a\xff", "is not UTF-8 at byte 1; it should be text."),
        (b" \n", "is empty; it should be a template."),
        (b"x" * (2 << 20), "which is too much for a template; "),
    ],
)
def test_an_invalid_template_is_refused(tmp_path, content, sentence):
    path = tmp_path / "t.txt"
    path.write_bytes(content)
    with pytest.raises(BrokenModelError) as caught:
        read_template_file(path)
    assert "t.txt" in str(caught.value)
    assert sentence in str(caught.value)


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(BrokenModelError, match=r"nothing\.txt is missing\.$"):
        read_template_file(tmp_path / "nothing.txt")


def test_a_byte_order_mark_is_not_part_of_a_template(tmp_path):
    path = tmp_path / "t.txt"
    path.write_bytes(b"\xef\xbb\xbf{{ .Prompt }}")
    assert read_template_file(path) == "{{ .Prompt }}"

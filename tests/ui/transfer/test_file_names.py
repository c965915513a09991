"""Names of files from titles of chats."""

import pytest

from sotto.ui.transfer.file_names import UniqueNames, file_name, free_path


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Rice, beans - and 'more'", "Rice, beans - and 'more'"),
        ("../../etc/passwd\n\x00", "etc passwd"),
        ("C:\\con.", "C con"),
        ("CON", "chat"),
        ("com1", "chat"),
        ("🍚", "chat"),
        ("", "chat"),
        ("Cafe\u0301", "Café"),
        ("飯" * 100, "飯" * 60),
        ("a" * 59 + " b", "a" * 59),
    ],
)
def test_a_title_becomes_a_safe_name(title, name):
    assert file_name(title) == name
    assert len(file_name(title).encode()) < 200


def test_names_are_unique_whatever_their_case():
    names = UniqueNames()
    asked = ["Rice", "rice", "Rice 2", "Rice", "Rice 2", "RICE", "Straße", "STRASSE"]
    given = [names.of(name) for name in asked]
    assert given == ["Rice", "rice 2", "Rice 2 2", "Rice 3", "Rice 2 3", "RICE 4", "Straße", "STRASSE 2"]
    assert len({name.casefold() for name in given}) == len(asked)
    many = UniqueNames()
    assert len({many.of("Rice") for _ in range(20_000)}) == 20_000


def test_a_path_is_free(tmp_path):
    assert free_path(tmp_path, "Chats") == tmp_path / "Chats"
    (tmp_path / "Chats").mkdir()
    (tmp_path / "Chats 2").write_text("")
    (tmp_path / "Chats 3").symlink_to(tmp_path / "nowhere")
    assert free_path(tmp_path, "Chats") == tmp_path / "Chats 4"

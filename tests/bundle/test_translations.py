"""The texts in the sources are marked for translation, and Qt's own tools find each of them."""

import ast
import re

import pytest

from marked_texts import PACKAGES, UI, marked, misuses, sources, unmarked
from pseudo_language import LANGUAGE, ROOT, bracketed, fill, load_script

FOLDER = ROOT / "resources" / "translations"


@pytest.fixture
def script():
    return load_script()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_text_of_a_package_is_marked(package):
    assert [text for path in sources(package) for text in unmarked(path)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_marks_can_be_used_by_tools_and_translators(package):
    assert [reason for path in sources(package) for reason in misuses(path)] == []


MISTAKES = """
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
TITLE = tr("Said at import")
class Page:
    hint = tr("Said at import, too")
    def show(self, name, count, text=tr("Said at import as well")):
        self.label.setText("Save")
        self.label.setText(f"{name} was saved")
        self.names = {"kind": "It was saved."}
        self.label.setText(tr(f"{name} again"))
        self.label.setText(f"{tr('Inside')}: {name}")
        self.label.setText(tr("Saved ") + name)
        self.label.setText(tr("One chat|{count} chats"))
        self.label.setText(tr("One chat|{count} chats", n=count))
        self.label.setText(tr("{} chats"))
        self.label.setText(tr("{count:,} chats"))
        self.label.setText(self.tr("As in Qt"))
        self.label.setText(tr(name + "!"))
        self.label.setText(tr(TITLE))
        self.setObjectName("save")
        _log.warning("Nobody reads this.")
"""


def test_mistakes_are_found(tmp_path, monkeypatch):
    """The rules find each mistake, and nothing in the last three lines."""
    monkeypatch.setattr("marked_texts.UI", tmp_path)
    module = tmp_path / "page.py"
    module.write_text(MISTAKES, encoding="utf-8")
    assert [int(text.split(":")[1]) for text in unmarked(module)] == [7, 8, 9]
    assert sorted({int(reason.split(":")[1]) for reason in misuses(module)}) == [3, 5, 6, *range(10, 19)]


def test_html_is_read_without_its_tags(tmp_path, monkeypatch):
    monkeypatch.setattr("marked_texts.UI", tmp_path)
    module = tmp_path / "page.py"
    module.write_text(
        """def page(name, side):
    yield f'<a href="{name}" class="{side}" rel="noopener noreferrer">{name}</a>'
    yield f'<{side} class="big">{name}</{side}><p class="about">Attached: {name}</p>'
    yield "<span style='white-space: pre-wrap'>"
    yield "<p class='about'>It was saved.</p>"
""",
        encoding="utf-8",
    )
    assert [int(text.split(":")[1]) for text in unmarked(module)] == [3, 5]


def test_qt_finds_every_marked_text(script, tmp_path):
    file = tmp_path / f"sotto_{LANGUAGE}.ts"
    script.update(file)
    found = {(message.source, message.comment, message.plural) for message in script.messages(file)}
    assert found == {text for path in UI.rglob("*.py") for text in marked(path)}
    for package in PACKAGES:
        assert any(marked(path) for path in sources(package)), package


def test_a_language_takes_one_file_and_is_compiled(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(script, "FOLDER", tmp_path)
    monkeypatch.setattr(script, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match="name a language"):
        script.main([])
    assert script.main(["de"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sotto_de.qm", "sotto_de.ts"]
    assert "sotto_de.ts: 0 of" in capsys.readouterr().out
    file = tmp_path / "sotto_de.ts"
    fill(file, bracketed)
    # What was translated is kept when the sources are read again.
    assert script.main([]) == 0
    total = len(script.messages(file))
    assert f"sotto_de.ts: {total} of {total} texts" in capsys.readouterr().out
    assert (tmp_path / "sotto_de.qm").stat().st_size > 20 * total


@pytest.mark.parametrize(
    ("translation", "why"),
    [
        ("{namen} gelöscht", "must have the fields of '{name} was deleted': {name}."),
        ("gelöscht", "must have the fields of '{name} was deleted': {name}."),
        ("{name!r} gelöscht", "must have the fields of '{name} was deleted': {name}."),
        ("{name gelöscht", "'{name gelöscht', for '{name} was deleted', cannot be filled in: "),
    ],
)
def test_a_translation_with_which_the_app_would_fail_is_refused(script, tmp_path, monkeypatch, translation, why):
    monkeypatch.setattr(script, "FOLDER", tmp_path)
    monkeypatch.setattr(script, "ROOT", tmp_path)
    monkeypatch.setattr(script, "SOURCES", tmp_path / "sources")
    script.SOURCES.mkdir()
    (script.SOURCES / "page.py").write_text('def show(name):\n    return tr("{name} was deleted").format(name=name)\n')
    script.main(["de"])
    fill(tmp_path / "sotto_de.ts", lambda source, form="": translation)
    with pytest.raises(SystemExit, match=re.escape(why)):
        script.main([])


def test_bundled_translations_are_valid_and_compiled(script, tmp_path):
    """Each `.ts` file has no mistakes, and beside it is what Qt's tool makes of it."""
    assert {path.stem for path in FOLDER.glob("*.qm")} == {path.stem for path in FOLDER.glob("*.ts")}
    for file in FOLDER.glob("*.ts"):
        assert list(script.find_mistakes(file)) == []
        script.compile_file(file, tmp_path / file.with_suffix(".qm").name)
        assert (tmp_path / file.with_suffix(".qm").name).read_bytes() == file.with_suffix(".qm").read_bytes()


def test_every_exemption_is_needed():
    """A text or module that is no longer there is not exempt, either."""
    from marked_texts import EXEMPT

    texts = {
        node.value
        for path in UI.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
    }
    assert [text for text in EXEMPT if text not in texts and not (UI / text).is_file()] == []

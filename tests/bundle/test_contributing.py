"""CONTRIBUTING.md matches the code: its packages and their order, and every file and class that it names."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOTTO = ROOT / "desktop" / "sotto"
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROOMS = ("cli", "ui", "api", "runner", "engine", "store", "chats")


def summary(folder):
    """Return the first paragraph of a package's docstring, in one line."""
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    return " ".join(docstring.split("\n\n")[0].split())


def rows(heading):
    """Return the first two cells of each row of the table whose heading begins with `heading`, as a dictionary."""
    table = re.split(rf"^\| {re.escape(heading)} \|.*\n\| --- ", TEXT, maxsplit=1, flags=re.MULTILINE)[1]
    table = table.split("\n\n", 1)[0]
    return dict(re.findall(r"^\| `([^`]+)` \| (.+?) \|", table, re.MULTILINE))


def test_rooms_are_described_by_their_docstrings():
    described = rows("room")
    for room in ROOMS:
        assert described[f"sotto.{room}"] == summary(SOTTO / room)


@pytest.mark.parametrize("room", ["ui", "engine", "api", "runner", "store"])
def test_packages_are_described_by_their_docstrings(room):
    inside = [path.parent for path in (SOTTO / room).rglob("__init__.py") if path.parent != SOTTO / room]
    assert rows(f"`sotto.{room}`") == {
        ".".join(folder.relative_to(SOTTO / room).parts): summary(folder) for folder in inside
    }


@pytest.mark.parametrize("room", ["ui", "engine"])
def test_packages_are_in_the_order_of_their_layers(room):
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract.get("containers") == [f"sotto.{room}"])
    level = {name.strip(" ()"): height for height, layer in enumerate(layers) for name in re.split(r"[|:]", layer)}
    levels = [level[name] for name in rows(f"`sotto.{room}`") if "." not in name]
    assert levels == sorted(levels)


def test_named_files_exist():
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", TEXT)
    places = {name: base / name for name in named for base in (SOTTO, ROOT) if (base / name.split("/")[0]).exists()}
    # The installation creates this one.
    places.pop("desktop/sotto/_native")
    assert len(places) > 20
    assert [name for name, place in places.items() if not place.exists()] == []


def test_classes_are_in_the_modules_that_the_table_names():
    table = TEXT.split("| value |", 1)[1].split("\n\n", 1)[0]
    shapes = re.findall(r"^\| (`.+?) \| .+? \| `(.+?)` \|", table, re.MULTILINE)
    assert len(shapes) == 5
    for names, module in shapes:
        classes = [node.name for node in ast.parse((SOTTO / module).read_text()).body if isinstance(node, ast.ClassDef)]
        assert set(re.findall(r"`(\w+)`", names)) <= set(classes), module

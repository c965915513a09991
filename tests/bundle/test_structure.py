"""The structure of the code: no import cycles, small folders, and unique module names."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "desktop"
MOST_MODULES = 24
# Module names that are used more than once, each with the reason.
SHARED_NAMES = {
    "gemma": "one family: its definition, and the form of its prompts",
    "gguf": "the store reads what a file says, the engine its tensors",
    "pull": "the command of that name, and what carries it out",
    "runner": "the command of that name, and what carries it out",
}


def modules():
    """Return the path of every module of the program, by its dotted name."""
    found = {}
    for path in (SOURCES / "sotto").rglob("*.py"):
        parts = path.relative_to(SOURCES).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(found):
    """Return the modules of the program that each module imports, including lazily and for type hints."""
    edges = defaultdict(set)
    for name, path in found.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                wanted = [f"{node.module}.{alias.name}" for alias in node.names]
                wanted = [one if one in found else node.module for one in wanted]
            elif isinstance(node, ast.Import):
                wanted = [alias.name for alias in node.names]
            else:
                continue
            edges[name].update(one for one in wanted if one in found and one != name)
    return edges


def circles(edges):
    """Return the sets of nodes that can reach each other (Tarjan's strongly connected components)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for following in sorted(edges[node]):
            if following not in index:
                visit(following)
                low[node] = min(low[node], low[following])
            elif following in stack:
                low[node] = min(low[node], index[following])
        if low[node] == index[node]:
            circle = set()
            while node not in circle:
                circle.add(stack.pop())
            if len(circle) > 1:
                found.append(sorted(circle))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def test_a_circle_is_seen():
    edges = defaultdict(set, {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}})
    assert circles(edges) == [["a", "b", "c"]]


def test_imports_go_round_in_no_circle():
    assert circles(imports(modules())) == []


def test_no_folder_is_long():
    folders = defaultdict(list)
    for top in ("desktop/sotto", "tests", "packaging"):
        for path in (ROOT / top).rglob("*.py"):
            if path.name != "__init__.py":
                folders[path.parent].append(path.name)
    long = {str(folder.relative_to(ROOT)): len(held) for folder, held in folders.items() if len(held) > MOST_MODULES}
    assert long == {}


def test_every_package_says_what_lives_there():
    for name, path in modules().items():
        if path.name == "__init__.py":
            told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            assert told, name
            assert told.splitlines()[0].endswith("."), name


def test_names_are_found_without_their_path():
    packages = defaultdict(set)
    for name in modules():
        package, _, last = name.rpartition(".")
        # A module may have the name of its package.
        if package.rpartition(".")[2] != last:
            packages[last].add(package)
    assert {name for name, held in packages.items() if len(held) > 1} == set(SHARED_NAMES)

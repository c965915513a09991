"""The structure of the code: no import cycles, small folders, and unique module names."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "desktop"
MAX_MODULES = 24
# Module names that are used more than once, each with the reason.
SHARED_NAMES = {
    "gemma": "one family: its definition, and the format of its prompts",
    "gguf": "the store reads the metadata of files, the engine their tensors",
    "pull": "the command of that name, and its implementation",
    "runner": "the command of that name, and its implementation",
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
                wanted = [imported if imported in found else node.module for imported in wanted]
            elif isinstance(node, ast.Import):
                wanted = [alias.name for alias in node.names]
            else:
                continue
            edges[name].update(imported for imported in wanted if imported in found and imported != name)
    return edges


def cycles(edges):
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
            cycle = set()
            while node not in cycle:
                cycle.add(stack.pop())
            if len(cycle) > 1:
                found.append(sorted(cycle))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def test_a_cycle_is_detected():
    edges = defaultdict(set, {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}})
    assert cycles(edges) == [["a", "b", "c"]]


def test_there_are_no_import_cycles():
    assert cycles(imports(modules())) == []


def test_no_folder_has_too_many_modules():
    folders = defaultdict(list)
    for top in ("desktop/sotto", "tests", "packaging"):
        for path in (ROOT / top).rglob("*.py"):
            if path.name != "__init__.py":
                folders[path.parent].append(path.name)
    long = {
        str(folder.relative_to(ROOT)): len(modules_held)
        for folder, modules_held in folders.items()
        if len(modules_held) > MAX_MODULES
    }
    assert long == {}


def test_every_package_has_a_docstring():
    for name, path in modules().items():
        if path.name == "__init__.py":
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            assert docstring, name
            assert docstring.splitlines()[0].endswith("."), name


def test_module_names_are_unique():
    packages = defaultdict(set)
    for name in modules():
        package, _, last = name.rpartition(".")
        # A module may have the name of its package.
        if package.rpartition(".")[2] != last:
            packages[last].add(package)
    assert {name for name, packages_with_name in packages.items() if len(packages_with_name) > 1} == set(SHARED_NAMES)

"""Follows the imports of modules that another system will run, by their syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Import:
    """An import in a module.

    Attributes:
        name: What is imported, in full.
        certain: Whether it happens whenever the module is imported: not in a function, and under no condition.
    """

    name: str
    certain: bool


class Imports:
    """What modules import, directly and through others.

    Attributes:
        reached: The file of every module that is reached, by its name; None for those of the system.
        missing: The modules that are certainly imported and not there, each with one that imports it.
    """

    def __init__(self, folders: Sequence[Path], system: Callable[[str], bool], not_run: Collection[str] = ()) -> None:
        """Look for modules in `folders`.

        Args:
            folders: Where packages and modules are.
            system: Says whether the system has a module that is in no folder.
            not_run: Packages whose modules are imported without running the packages themselves.
        """
        self._folders, self._system, self._not_run = folders, system, not_run
        self._certain: set[str] = set()
        self.reached: dict[str, Path | None] = {}
        self.missing: dict[str, str] = {}

    def follow(self, names: Collection[str]) -> None:
        """Follow the imports of these modules, all of which are certainly imported."""
        waiting = [(name, "the definition", True) for name in names]
        while waiting:
            name, importer, certain = waiting.pop()
            if name in self._certain or (name in self.reached and not certain):
                continue
            path = self.find(name)
            if path is None and not self._system(name):
                if certain:
                    self.missing.setdefault(name, importer)
                continue
            self.reached[name] = path
            if certain:
                self._certain.add(name)
            parent = name.rpartition(".")[0]
            if parent and parent not in self._not_run:
                waiting.append((parent, name, certain))
            if path is not None and path.suffix == ".py":
                waiting += [(found.name, name, certain and found.certain) for found in self._imports(name, path)]

    def find(self, name: str) -> Path | None:
        """Return the file of a module, or the folder of a package without one; None if there is neither."""
        *parents, last = name.split(".")
        for folder in self._folders:
            place = folder.joinpath(*parents)
            for path in (place / last / "__init__.py", place / f"{last}.py"):
                if path.is_file():
                    return path
            if libraries := sorted(place.glob(f"{last}.*so")):
                return libraries[0]
            if (place / last).is_dir():
                return place / last
        return None

    def _imports(self, name: str, path: Path) -> Iterator[Import]:
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for node, certain in _statements(ast.parse(path.read_bytes(), str(path)), certain=True):
            if isinstance(node, ast.Import):
                yield from (Import(alias.name, certain) for alias in node.names)
                continue
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield Import(module, certain)
            for alias in node.names:
                # A module, or something in the module that is imported from.
                if self.find(f"{module}.{alias.name}") is not None:
                    yield Import(f"{module}.{alias.name}", certain)


def _statements(node: ast.AST, *, certain: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield the import statements below a node, and whether each is certainly run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, certain
        else:
            runs = certain and not isinstance(
                child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.If | ast.Try | ast.TryStar
            )
            yield from _statements(child, certain=runs)

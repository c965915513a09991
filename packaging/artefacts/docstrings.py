"""Compiles modules without the words that explain them, which no program reads while it runs."""

from __future__ import annotations

import ast
from pathlib import Path
from types import CodeType

# Not an empty one, in whose place dataclasses write their signatures, which takes time at every start.
_SHORT = "."
_EXPLAINED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def compile_without(path: Path) -> CodeType:
    """Return the code of a module with every docstring as short as can be."""
    tree = ast.parse(path.read_bytes(), str(path))
    for node in ast.walk(tree):
        if isinstance(node, _EXPLAINED) and ast.get_docstring(node, clean=False) is not None:
            node.body[0] = ast.copy_location(ast.Expr(ast.Constant(_SHORT)), node.body[0])
    return compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)

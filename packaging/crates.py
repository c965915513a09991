"""List the crates inside llguidance: `python3 packaging/crates.py FOLDER`, with the unpacked source from PyPI.

Its wheel has no bill of materials, but its source has a lock file. That names all crates of the workspace, for all
systems, so only those are taken that the Python package needs on Linux and macOS. The lock file has no licences: they
are those that other packages in this environment state for the same crates, and the few in `_LICENCES`.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from artefacts import embedded

PACKAGE, _CRATE = "llguidance", "llguidance_py"
_LICENCES = {
    "bytemuck_derive": "Zlib OR Apache-2.0 OR MIT",
    "derivre": "MIT",
    "tiktoken-rs": "MIT",
    **dict.fromkeys(("llguidance", "llguidance_py", "toktrie", "toktrie_hf_tokenizers", "toktrie_tiktoken"), "MIT"),
}
# Features that are on in the build for Python.
_OPTIONAL = {"ahash", "rayon", "referencing"}
_OTHER_SYSTEMS = re.compile(r"windows|winapi|wasm|wasi|web-sys|js-sys|wit-|r-efi|hermit|redox|libredox")


def main(source: Path) -> int:
    """Write `crates.json`, and return the exit status."""
    locked = tomllib.loads((source / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    known = {crate.name: crate.licence for crate in _described()} | _LICENCES
    crates = needed(locked, _members(source))
    if lacking := sorted({name for name, _ in crates} - known.keys()):
        print(f"These crates need a licence in packaging/crates.py: {', '.join(lacking)}.", file=sys.stderr)
        return 1
    version = next(version for name, version in crates if name == _CRATE)
    rows = [[name, version, known[name]] for name, version in crates]
    lines = ",\n".join(json.dumps(row) for row in rows)
    head = f'{{"package": "{PACKAGE}", "version": "{version}", "crates": [\n'
    embedded.CRATES.write_text(f"{head}{lines}\n]}}\n", encoding="utf-8")
    return 0


def needed(locked: list[dict[str, Any]], members: dict[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the names and versions of the crates that the Python package needs, in order."""
    found: set[tuple[str, str]] = set()
    waiting = [crate for crate in locked if crate["name"] == _CRATE]
    while waiting:
        crate = waiting.pop()
        key = (crate["name"], crate["version"])
        if key in found or _OTHER_SYSTEMS.match(crate["name"]):
            continue
        found.add(key)
        for dependency in crate.get("dependencies", ()):
            name, _, version = dependency.partition(" ")
            if crate["name"] in members and name not in _used(members[crate["name"]]):
                continue
            waiting += [
                each for each in locked if each["name"] == name and version.split(" ")[0] in ("", each["version"])
            ]
    return sorted(found)


def _members(source: Path) -> dict[str, dict[str, Any]]:
    """Return the crates of the workspace, whose dependencies in the lock file include those of their tests."""
    read = [tomllib.loads(path.read_text(encoding="utf-8")) for path in source.glob("*/Cargo.toml")]
    return {crate["package"]["name"]: crate for crate in read}


def _used(crate: dict[str, Any]) -> set[str]:
    dependencies = crate.get("dependencies", {})
    return {
        name
        for name, how in dependencies.items()
        if not (isinstance(how, dict) and how.get("optional")) or name in _OPTIONAL
    }


def _described() -> list[embedded.Embedded]:
    found: list[embedded.Embedded] = []
    for package in distributions():
        for file in package.files or ():
            if ".dist-info/sboms/" in str(file) and file.suffix == ".json":
                bill = json.loads(Path(str(package.locate_file(file))).read_text(encoding="utf-8"))
                found += embedded.crates_of(bill)
    return found


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

"""What runs found, as files: one that parts of a run are added to, a long table, and a short one in the README.

The folder `results` has the results of each machine, in files that are named after its processor.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rows import Row, markdown

_HEADING = "## The last runs"
_RESULTS = "results"
# The length of the prompt and of the context in the short table.
_SHOWN = 512


def rows_of(path: Path) -> list[Row]:
    """Return the rows of an earlier run, or of a part of one."""
    return [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]


def joined(earlier: Iterable[Row], later: Iterable[Row]) -> list[Row]:
    """Return all rows; later ones take the places of earlier ones of the same name."""
    found = {row.name: row for row in earlier}
    found.update({row.name: row for row in later})
    return list(found.values())


def write_json(path: Path, machine: str, date: str, rows: Sequence[Row]) -> None:
    """Write the rows to a file that `rows_of` reads."""
    content = {"machine": machine, "date": date, "rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def write_tables(folder: Path, machine: str, date: str, rows: Sequence[Row]) -> None:
    """Write all rows to the files of this machine in `results`, and the table of models to README.md."""
    results, name = folder / _RESULTS, _file_name(machine)
    results.mkdir(exist_ok=True)
    write_json(results / f"{name}.json", machine, date, rows)
    long = f"# Results of the benchmarks\n\n{machine}; {date}. The same figures are in [{name}.json]({name}.json).\n\n"
    (results / f"{name}.md").write_text(f"{long}{markdown(rows)}\n", encoding="utf-8")
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8").partition(_HEADING)[0]
    sections = "\n".join(_section(file) for file in sorted(results.glob("*.json")))
    readme.write_text(f"{text}{_HEADING}\n\n{sections}", encoding="utf-8")


def _file_name(machine: str) -> str:
    """Return `intel-xeon-family-6-model-85` for `Intel(R) Xeon(R) (family 6, model 85), 2 cores, Linux ...`.

    Virtual machines on the same processor may have its AMX or not.
    """
    processor = re.sub(r"\((R|TM)\)", "", machine.partition(" cores")[0].rpartition(",")[0])
    tiles = " amx" if "kernels AMX" in machine else ""
    return "-".join(re.findall(r"[a-z0-9]+", processor.lower() + tiles))


def _section(file: Path) -> str:
    """Return where the results in a file come from, and the table of models."""
    content = json.loads(file.read_text(encoding="utf-8"))
    path = f"{_RESULTS}/{file.stem}.md"
    where = f"{content['machine']}; {content['date']}. All results are in [{path}]({path})."
    return f"{where}\n\n{_models_table(rows_of(file))}\n"


def _models_table(rows: Iterable[Row]) -> str:
    """Return a table with a line for each model: tokens per second of both programs, and the share of the limit."""
    found: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        figures = row.figures
        if figures.get("tokens") == _SHOWN and figures.get("what") in ("prefill", "decode"):
            key = (figures["shape"], figures["weights"], figures["threads"], figures["peer"])
            found.setdefault(key, {})[figures["what"]] = {**figures, "ratio": row.value}
    lines = [
        f"| shape | weights | threads | prefill of {_SHOWN}, ours / llama.cpp | decode at {_SHOWN}, ours / llama.cpp | "
        "of the memory's limit, ours / llama.cpp |",
        "| --- | --- | --: | --: | --: | --: |",
    ]
    for (shape, weights, threads, peer), parts in found.items():
        both = weights if weights == peer else f"{weights} / {peer}"
        cells = [_cell(parts.get("prefill")), _cell(parts.get("decode")), _share(parts.get("decode"))]
        lines.append(f"| {shape} | {both} | {threads} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(figures: Mapping[str, Any] | None) -> str:
    if figures is None:
        return ""
    rates = figures["rate"]
    return f"{rates['ours']:.4g} / {rates['theirs']:.4g} = **{figures['ratio']:.2f}**"


def _share(figures: Mapping[str, Any] | None) -> str:
    return "" if figures is None else f"{figures['share']['ours']:.2f} / {figures['share']['theirs']:.2f}"

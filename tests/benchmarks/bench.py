"""Run benchmarks as ratios within one run: `python tests/benchmarks/bench.py [--quick] [--json FILE]`.

Absolute speeds mean little on a machine that has other users. So the candidates of a comparison take turns, round by
round, and the result is the median of the ratios of the rounds. The models have random weights in the shapes of real
models; the built-in model is measured as well. Every process except this one is started fresh.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from sotto.engine.kernels import device

device.prepare()

import app_rows  # noqa: E402
import company_rows  # noqa: E402
import load_rows  # noqa: E402
import memory_rows  # noqa: E402
import peer_llama_cpp  # noqa: E402
import prefix_rows  # noqa: E402
import speculation_rows  # noqa: E402
import speed_rows  # noqa: E402
from bench_models import Models  # noqa: E402
from rows import Row, machine, markdown, print_rows  # noqa: E402

HERE = Path(__file__).resolve().parent
_TABLE_HEADING = "## The last run"


def _groups(
    models: Models, llama_bench: Path | None, only: str, *, quick: bool
) -> Mapping[str, Callable[[], Iterator[Row]]]:
    """Return the groups of measurements by name."""
    return {
        "speed": lambda: speed_rows.speed_rows(models, llama_bench, only, quick=quick),
        "first-token": lambda: prefix_rows.first_token_rows(models, quick=quick),
        "look-up": lambda: prefix_rows.look_up_rows(quick=quick),
        "streams": lambda: company_rows.stream_rows(models, quick=quick),
        "gap": lambda: company_rows.gap_rows(models, quick=quick),
        "plan": lambda: memory_rows.plan_rows(models, quick=quick),
        "loading": lambda: memory_rows.load_rows(models, quick=quick),
        "load": lambda: load_rows.load_rows(models, quick=quick),
        "speculation": lambda: speculation_rows.speculation_rows(models, quick=quick),
        "lateness": lambda: app_rows.lateness_rows(models, quick=quick),
        "startup": lambda: app_rows.startup_rows(quick=quick),
        "chats": lambda: app_rows.chat_rows(quick=quick),
    }


def main() -> int:
    names = list(_groups(Models(Path()), None, "", quick=True))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few and short rounds")
    parser.add_argument("--only", action="append", choices=names, help="a group to measure; may be repeated")
    parser.add_argument("--model", default="", help="part of the names of the models whose speed to measure")
    parser.add_argument("--build-llama", action="store_true", help="build llama.cpp's benchmark if it is not installed")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument("--readme", action="store_true", help="put the table into the README beside this file")
    parsed = parser.parse_args()
    llama_bench = peer_llama_cpp.find(build=parsed.build_llama)
    if llama_bench is None:
        print(f"llama.cpp is skipped: set {peer_llama_cpp.VARIABLE} to its llama-bench, or use --build-llama.")
    rows: list[Row] = []
    description = machine()
    print(description)
    with tempfile.TemporaryDirectory() as folder:
        groups = _groups(Models(Path(folder)), llama_bench, parsed.model, quick=parsed.quick)
        for name in parsed.only or names:
            started = time.perf_counter()
            for row in groups[name]():
                rows.append(row)
                print_rows([row], 80)
            print(f"({name}: {time.perf_counter() - started:.0f} s)", flush=True)
    print()
    print_rows(rows, max(len(row.name) for row in rows))
    date = time.strftime("%Y-%m-%d")
    if parsed.json:
        content = {"machine": description, "date": date, "rows": [asdict(row) for row in rows]}
        parsed.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if parsed.readme:
        _write_table(HERE / "README.md", f"{description}; {date}", rows)
    return 0 if all(row.met is not False for row in rows) else 1


def _write_table(readme: Path, where: str, rows: list[Row]) -> None:
    """Replace the table of the last run with these rows."""
    text = readme.read_text(encoding="utf-8").partition(_TABLE_HEADING)[0]
    source = f"{where}. The same figures are in [results.json](results.json)."
    readme.write_text(f"{text}{_TABLE_HEADING}\n\n{source}\n\n{markdown(rows)}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

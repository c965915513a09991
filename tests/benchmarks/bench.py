"""Run benchmarks as ratios within one run: `python tests/benchmarks/bench.py [--quick] [--json FILE]`.

Absolute speeds mean little on a machine that has other users. So the candidates of a comparison take turns, round by
round, and the result is the median of the ratios of the rounds. The models have random weights in the shapes of real
models; the built-in model is measured as well. Every process except this one is started fresh.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from sotto.engine.kernels import device

device.prepare()

import adapter_rows  # noqa: E402
import app_rows  # noqa: E402
import company_rows  # noqa: E402
import load_rows  # noqa: E402
import memory_rows  # noqa: E402
import peer_llama_cpp  # noqa: E402
import report  # noqa: E402
import speculation_rows  # noqa: E402
import speed_rows  # noqa: E402
from bench_models import Models  # noqa: E402
from getting import import_rows, pull_rows  # noqa: E402
from reuse import image_rows, prefix_rows  # noqa: E402
from rows import Row, machine, print_rows  # noqa: E402
from table.cells import table_rows  # noqa: E402
from table.choice import ALL_SHAPES, ALL_WEIGHTS, Choice  # noqa: E402
from table.crowd_rows import crowd_rows  # noqa: E402
from table.length_rows import length_rows  # noqa: E402
from table.start_rows import start_rows  # noqa: E402

HERE = Path(__file__).resolve().parent
# The groups that compare Sotto with llama.cpp on the models that people use.
_TABLE = ("table", "start", "length", "draft", "crowd")


def _groups(
    models: Models, llama_bench: Path | None, only: str, choice: Choice, *, quick: bool
) -> Mapping[str, Callable[[], Iterator[Row]]]:
    """Return the groups of measurements by name."""
    return {
        "table": lambda: table_rows(models, llama_bench, choice, quick=quick),
        "start": lambda: start_rows(models, llama_bench, quick=quick),
        "length": lambda: length_rows(models, llama_bench, choice, quick=quick),
        "draft": lambda: speculation_rows.draft_rows(models, quick=quick),
        "crowd": lambda: crowd_rows(models, llama_bench, quick=quick),
        "speed": lambda: speed_rows.speed_rows(models, llama_bench, only, quick=quick),
        "first-token": lambda: prefix_rows.first_token_rows(models, quick=quick),
        "look-up": lambda: prefix_rows.look_up_rows(quick=quick),
        "images": lambda: image_rows.image_rows(models, quick=quick),
        "streams": lambda: company_rows.stream_rows(models, quick=quick),
        "gap": lambda: company_rows.gap_rows(models, quick=quick),
        "adapter": lambda: adapter_rows.adapter_rows(models, quick=quick),
        "plan": lambda: memory_rows.plan_rows(models, quick=quick),
        "loading": lambda: memory_rows.load_rows(models, quick=quick),
        "import": lambda: import_rows.import_rows(models, quick=quick),
        "load": lambda: load_rows.load_rows(models, quick=quick),
        "speculation": lambda: speculation_rows.speculation_rows(models, quick=quick),
        "lateness": lambda: app_rows.lateness_rows(models, quick=quick),
        "startup": lambda: app_rows.startup_rows(quick=quick),
        "chats": lambda: app_rows.chat_rows(quick=quick),
        "pull": lambda: pull_rows.pull_rows(quick=quick),
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    names = list(_groups(Models(Path()), None, "", Choice(), quick=True))
    add("--quick", action="store_true", help="few and short rounds")
    add("--only", action="append", choices=names, help="a group to measure; may be repeated")
    add("--against-llama", action="store_true", help=f"measure the groups {', '.join(_TABLE)}, in about 30 minutes")
    add("--model", default="", help="part of the names of the models of the group speed")
    add("--shape", action="append", default=[], choices=ALL_SHAPES, help="a shape of the table; may be repeated")
    add("--weights", action="append", default=[], choices=ALL_WEIGHTS, help="weights of the table; may be repeated")
    for name, what in (
        ("prefill", "a length of prompts in the table"),
        ("depth", "a length of contexts in the table"),
        ("threads", "a number of threads in the table, by affinity"),
        ("length", "a length of the prompts of the group length"),
    ):
        add(f"--{name}", action="append", type=int, default=[], metavar="N", help=f"{what}; may be repeated")
    add("--rounds", type=int, metavar="N", help="how often each cell of the table is measured, instead of 2 or 3 times")
    add("--build-llama", action="store_true", help="build llama.cpp's programs if they are not installed")
    add("--folder", type=Path, help="where to create the models, instead of a temporary folder")
    add("--json", type=Path, help="also write the rows to this file; rows that are there and not measured now stay")
    add(
        "--readme",
        action="store_true",
        help="put the results, with all rows of --json, into README.md and the folder results",
    )
    return parser


def main() -> int:
    parsed = _parser().parse_args()
    llama_bench = peer_llama_cpp.find(build=parsed.build_llama)
    if llama_bench is None:
        print(f"llama.cpp is skipped: set {peer_llama_cpp.VARIABLE} to its llama-bench, or use --build-llama.")
    choice = Choice(
        parsed.shape, parsed.weights, parsed.prefill, parsed.depth, parsed.threads, parsed.length, parsed.rounds
    )
    rows = report.rows_of(parsed.json) if parsed.json and parsed.json.exists() else []
    measured: list[Row] = []
    description, date = machine(), time.strftime("%Y-%m-%d")
    print(description)
    with tempfile.TemporaryDirectory(dir=parsed.folder) as folder:
        groups = _groups(Models(Path(folder)), llama_bench, parsed.model, choice, quick=parsed.quick)
        for name in parsed.only or (_TABLE if parsed.against_llama else groups):
            started = time.perf_counter()
            for row in groups[name]():
                measured.append(row)
                print_rows([row], 80)
                if parsed.json:
                    # At once, so that an interrupted run can be continued.
                    report.write_json(parsed.json, description, date, report.joined(rows, measured))
            print(f"({name}: {time.perf_counter() - started:.0f} s)", flush=True)
    print()
    print_rows(measured, max((len(row.name) for row in measured), default=0))
    if parsed.readme:
        report.write_tables(HERE, description, date, report.joined(rows, measured))
    return 0 if all(row.met is not False for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main())

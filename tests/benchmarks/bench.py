"""Measure what can be compared, as ratios within one run: `python tests/benchmarks/bench.py [--quick] [--json FILE]`.

Absolute speeds say little on a machine that others use too. So what is compared takes turns, round by round, and the
median of the rounds' ratios counts. Models have random weights in a real shape that a small CPU decodes in reasonable
time; beside them the built-in model is measured. Every process but this one is started afresh.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sotto.engine import device

device.prepare()

import mlx.core as mx  # noqa: E402
from bench_models import SHAPES, write_benchmark_model  # noqa: E402

from sotto.engine.caches import make_caches  # noqa: E402
from sotto.engine.engine import Engine  # noqa: E402
from sotto.engine.types import GenerateRequest, SamplingOptions, TextChunk  # noqa: E402
from sotto.runner.catalogue import find  # noqa: E402
from sotto.store.opening import open_model, record_of  # noqa: E402

HERE = Path(__file__).resolve().parent
PROMPT = "a b c d e f g h i j k l m n o p"
SETTLED = 4
GREEDY = SamplingOptions(temperature=0)


@dataclass(frozen=True)
class Row:
    """One measurement: what, how much, what it should be, and what it was made of."""

    name: str
    value: float
    unit: str
    target: str = ""
    met: bool | None = None
    detail: str = ""


def ratio(name: str, ours: list[float], theirs: list[float], at_least: float | None, unit: str = "tok/s") -> Row:
    """Make a row of the rates of two that took turns: the median of the ratios of the rounds."""
    value = statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))
    detail = f"{statistics.median(ours):.1f} against {statistics.median(theirs):.1f} {unit}, {len(ours)} rounds"
    if at_least is None:
        return Row(name, value, "x", detail=detail)
    return Row(name, value, "x", f">= {at_least}", value >= at_least, detail)


def at_most(name: str, value: float, unit: str, limit: float | None, detail: str = "") -> Row:
    """Make a row of something that should be small."""
    return Row(
        name, value, unit, f"<= {limit}" if limit is not None else "", None if limit is None else value <= limit, detail
    )


def turns(rounds: int, **candidates: Callable[[], float]) -> dict[str, list[float]]:
    """Let the candidates take turns and return the rates of each, round by round."""
    rates: dict[str, list[float]] = {name: [] for name in candidates}
    for index in range(rounds):
        order = list(candidates.items())
        for name, measure in order if index % 2 else reversed(order):
            rates[name].append(measure())
    return rates


def rate(times: list[float]) -> float:
    """Tokens per second once decoding has settled; the first token is a matter of its own."""
    settled = times[SETTLED:]
    return (len(settled) - 1) / (settled[-1] - settled[0])


def ours(engine: Engine, tokens: int, sampling: SamplingOptions = GREEDY, *, ends: bool = False) -> float:
    """Decode through the engine, as every host does; `ends` is for models that would end before `tokens`."""
    request = GenerateRequest(id="b", prompt=PROMPT, sampling=sampling, num_predict=tokens, ignore_eos=ends)
    events = engine.generate(engine.prepare(request))
    times = [time.perf_counter() for event in events if isinstance(event, TextChunk) and event.token_ids]
    if len(times) < tokens:
        raise RuntimeError(f"The model ended after {len(times)} of {tokens} tokens.")
    return rate(times)


def bare(engine: Engine, tokens: int) -> float:
    """Decode with the same model in the shortest loop that MLX allows: forward, argmax, one token ahead."""
    model = engine._ready.model
    caches = make_caches(model)
    ids = engine.prepare(GenerateRequest(id="b", prompt=PROMPT)).prompt
    model(mx.array([ids[:-1]]), cache=caches)
    mx.eval([cache.state for cache in caches])
    token = mx.argmax(model(mx.array([ids[-1:]]), cache=caches)[:, -1, :], axis=-1)
    mx.async_eval(token)
    times = []
    for _ in range(tokens):
        following = mx.argmax(model(token[:, None], cache=caches)[:, -1, :], axis=-1)
        mx.async_eval(following)
        token.item()
        times.append(time.perf_counter())
        token = following
    return rate(times)


class Peer:
    """mlx-lm in its own process."""

    def __init__(self, folder: Path, compute_type: str) -> None:
        command = [sys.executable, str(HERE / "peer_mlx_lm.py"), str(folder), compute_type]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._answer()

    def _answer(self) -> dict[str, list[float]]:
        return json.loads(self._process.stdout.readline())

    def measure(self, tokens: int) -> float:
        self._process.stdin.write(f"{tokens}\n")
        self._process.stdin.flush()
        return rate(self._answer()["times"])

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def decode_rows(shape: str, folder: Path, tokens: int, rounds: int) -> Iterator[Row]:
    """Compare decoding with the bare loop and with mlx-lm."""
    engine = Engine()
    engine.load(open_model(record_of(folder)))
    found = turns(
        rounds,
        ours=lambda: ours(engine, tokens),
        bare=lambda: bare(engine, tokens),
        sampled=lambda: ours(engine, tokens, SamplingOptions(seed=1)),
    )
    yield ratio(f"{shape}: decode, ours / bare MLX loop", found["ours"], found["bare"], 0.97)
    yield ratio(f"{shape}: decode, default sampling / greedy", found["sampled"], found["ours"], None)
    with ExitStack() as stack:
        # At the checkpoint's own type mlx-lm is so slow on a CPU that few tokens say enough.
        for compute_type, few, times in (("float32", tokens, rounds), ("own", 16, 3)):
            peer = Peer(folder, compute_type)
            stack.callback(peer.close)
            found = turns(times, ours=lambda: ours(engine, tokens), peer=partial(peer.measure, few))
            title = "at equal type" if compute_type == "float32" else "at the checkpoint's type"
            yield ratio(f"{shape}: decode, ours / mlx-lm {title}", found["ours"], found["peer"], 1.0)
    engine.unload()


def first_token_rows(shape: str, folder: Path) -> Iterator[Row]:
    """Compare the first token of a prompt seen before with that of one never seen."""
    engine = Engine()
    engine.load(open_model(record_of(folder)))

    def first(prompt: str) -> float:
        started = time.perf_counter()
        events = engine.generate(engine.prepare(GenerateRequest(id="b", prompt=prompt, sampling=GREEDY, num_predict=2)))
        next(event for event in events if isinstance(event, TextChunk))
        taken = time.perf_counter() - started
        events.close()
        return taken

    long = "many words to read " * 40
    first(long)
    cold = min(first(f"{index} {long}") for index in range(3))
    first(long)
    matched = min(first(f"{long}and {index}") for index in range(3))
    again = min(first(f"{long}and 2") for _ in range(3))
    detail = f"{matched * 1e3:.0f} ms against {cold * 1e3:.0f} ms, {len(long)} tokens"
    yield at_most(f"{shape}: first token, matched prefix / cold", matched / cold, "x", 0.2, detail)
    yield at_most(f"{shape}: first token, same prompt again / cold", again / cold, "x", 0.1, f"{again * 1e3:.0f} ms")
    engine.unload()


LOAD = """
import json, sys
from pathlib import Path
from typing import Any
from sotto.engine import device
device.prepare()
import mlx.core as mx
from sotto.engine.engine import Engine
from sotto.runner.catalogue import find  # noqa: E402
from sotto.store.opening import open_model, record_of
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
before = peak()
engine = Engine()
info = engine.load(open_model(record_of(Path(sys.argv[1]))))
print(json.dumps({"weights": info.weight_bytes, "mlx": mx.get_peak_memory(), "process": peak() - before,
                  "seconds": info.load_duration / 1e9}))
"""


def load_rows(shape: str, folder: Path) -> Iterator[Row]:
    """Compare the memory that a load needs at most with that of the weights."""
    output = subprocess.run(
        [sys.executable, "-c", LOAD, str(folder)], capture_output=True, text=True, check=True
    ).stdout
    found = json.loads(output)
    for what in ("mlx", "process") if sys.platform == "linux" else ("mlx",):
        detail = f"{found[what] / 1e6:.0f} MB for {found['weights'] / 1e6:.0f} MB of weights, {found['seconds']:.2f} s"
        limit = 1.15 if what == "mlx" else None
        yield at_most(
            f"{shape}: peak memory of a load / weights ({what})", found[what] / found["weights"], "x", limit, detail
        )


def built_in_rows(tokens: int, rounds: int) -> Iterator[Row]:
    """Compare decoding of the built-in model with the bare loop."""
    engine = Engine()
    engine.load(open_model(find("sotto")))
    found = turns(rounds, ours=lambda: ours(engine, tokens, ends=True), bare=lambda: bare(engine, tokens))
    yield ratio("built-in: decode, ours / bare MLX loop", found["ours"], found["bare"], 0.97)
    engine.unload()


def child(script: str, *arguments: str) -> dict[str, Any]:
    """Run one of the scripts beside this one and return what it prints."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    with tempfile.TemporaryDirectory() as home:
        environment["XDG_DATA_HOME"] = environment["XDG_CONFIG_HOME"] = home
        command = [sys.executable, str(HERE / script), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def startup_rows(rounds: int) -> Iterator[Row]:
    """Compare the start of the app with that of an empty window."""
    empty = min(child("ui_startup.py", str(time.time()), "empty")["paint"] for _ in range(rounds))
    marks = [child("ui_startup.py", str(time.time())) for _ in range(rounds)]
    for name, title, limit in (("paint", "first paint", 5.0), ("token", "first token of the greeting", None)):
        seconds = min(mark[name] for mark in marks)
        detail = f"{seconds * 1e3:.0f} ms, empty window {empty * 1e3:.0f} ms"
        yield at_most(f"app: start to {title} / empty window of Qt", seconds / empty, "x", limit, detail)


def lateness_rows(shape: str, folder: Path, tokens: int) -> Iterator[Row]:
    """Tell how late the window's timer is while the engine works."""
    found = child("ui_lateness.py", str(folder), str(tokens))
    for index, name in enumerate(("p50", "p99", "max")):
        detail = f"idle {found['idle'][index]:.2f} ms; {found['ticks']} ticks, {found['rate']:.1f} tok/s"
        limit = 16.0 if name == "p99" else None
        yield at_most(
            f"{shape}: lateness of a 16 ms timer beside the engine, {name}", found["busy"][index], "ms", limit, detail
        )


def machine() -> str:
    """Say in one line what this was measured on."""
    model = next(
        (line.split(":", 1)[1].strip() for line in _lines(Path("/proc/cpuinfo")) if line.startswith("model name")),
        platform.processor() or platform.machine(),
    )
    info = device.describe()
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, MLX {info.mlx_version} on {info.device}, "
        f"BLAS {Path(info.blas).name or 'of MLX'}"
    )


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def print_table(rows: list[Row]) -> None:
    """Print the rows in columns."""
    width = max(len(row.name) for row in rows)
    for row in rows:
        verdict = {True: "ok", False: "MISSED", None: ""}[row.met]
        print(
            f"{row.name:<{width}}  {row.value:9.3f} {row.unit:<3} {row.target:<9} {verdict:<6}  {row.detail}",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few and short rounds")
    parser.add_argument("--only", default="", help="part of the names of the models to measure")
    parser.add_argument("--json", type=Path, help="write the rows there, too")
    parsed = parser.parse_args()
    tokens, rounds = (32, 3) if parsed.quick else (128, 9)
    rows: list[Row] = []

    def take(found: Iterator[Row]) -> None:
        for row in found:
            rows.append(row)
            print_table([row])

    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        for shape in [shape for shape in SHAPES if parsed.only in shape][: 1 if parsed.quick else None]:
            model = write_benchmark_model(Path(folder) / shape, shape)
            mx.clear_cache()
            take(decode_rows(shape, model, tokens, rounds))
            take(first_token_rows(shape, model))
            take(load_rows(shape, model))
        take(lateness_rows(shape, model, 4 * tokens))
    take(built_in_rows(tokens, rounds))
    take(startup_rows(rounds))
    print()
    print_table(rows)
    if parsed.json:
        content = {"machine": machine(), "date": time.strftime("%Y-%m-%d"), "rows": [asdict(row) for row in rows]}
        parsed.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0 if all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

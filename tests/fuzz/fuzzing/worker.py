"""The process in which inputs run, which may crash, hang or be killed at any time.

Each line on stdin is the number of an input, or the path of a stored one. The worker reports on a separate pipe, in
lines of JSON: `stage` for each stage reached, `outcome` at the end, or `broken` if the fuzzer itself failed. The input
is written to disk before it runs. The output of a crash goes to stderr, which is a file.
"""

import faulthandler
import json
import os
import sys
import time
import traceback
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import memory
from fuzzing.outcomes import REFUSED, Outcome, found, place_of, raised
from fuzzing.target import Target, target_of


def main(name: str, seed: str, folder: Path, report_fd: int) -> None:
    """Run inputs until the end of stdin; `report_fd` is the pipe for reports."""
    _isolate(folder)
    with os.fdopen(report_fd, "w", encoding="utf-8") as pipe:

        def report(**what: Any) -> None:
            pipe.write(json.dumps(what) + "\n")
            pipe.flush()

        target = target_of(name)
        work_folder = folder / "work"
        work_folder.mkdir()
        target.prepare(work_folder)
        memory.limit(target.memory)
        report(ready=True)
        for line in sys.stdin:
            input_id = line.strip()
            try:
                data = (
                    Path(input_id).read_bytes()
                    if not input_id.isdecimal()
                    else input_of(target, name, seed, int(input_id))
                )
            except Exception:
                report(broken=traceback.format_exc())
                raise
            (folder / "input").write_bytes(data)
            faulthandler.dump_traceback_later(target.wall_seconds, exit=True)
            outcome = outcome_of(target, data, lambda stage: report(stage=stage))
            faulthandler.cancel_dump_traceback_later()
            report(outcome=[outcome.result, outcome.message, outcome.kind, outcome.where, outcome.details])


def input_of(target: Target, name: str, seed: str, number: int) -> bytes:
    """Return the input with this number, which is the same on every machine."""
    return target.make(Random(f"{seed}/{name}/{number}"))


def outcome_of(target: Target, data: bytes, mark: Any) -> Outcome:
    """Run one input and judge the outcome."""
    outcome = Outcome()

    def reached(stage: str) -> None:
        assert stage in target.stages, stage
        if stage not in outcome.stages:
            outcome.stages.append(stage)
            mark(stage)

    before, begun = memory.begin(), time.process_time()
    try:
        target.run(data, reached)
    except target.refusals as error:
        outcome.result, outcome.message = REFUSED, str(error)
        if fault := target.fault_of(str(error)):
            kind = "memory" if "memory" in fault else "sentence"
            where = getattr(error, "where", "") or f"{type(error).__name__} at {place_of(error.__traceback__)}"
            found(outcome, kind, where, f"The message {fault}: {error}")
    except (KeyboardInterrupt, SystemExit) as error:
        return raised(outcome, error)
    except BaseException as error:  # a panic of a library in Rust is not an Exception
        return raised(outcome, error)
    stage = outcome.stages[-1] if outcome.stages else "the beginning"
    seconds = time.process_time() - begun
    # Using much memory also takes time, so memory is checked first.
    if (peak := memory.peak_since(before)) > target.memory:
        found(outcome, "memory", f"after: {stage}", f"It took {peak / 1e6:.0f} MB. {outcome.message}")
    elif seconds > target.cpu_seconds:
        found(outcome, "slow", f"after: {stage}", f"It took {seconds:.1f} s of processor time. {outcome.message}")
    return outcome


def _isolate(folder: Path) -> None:
    """Hide the person's own files from the process, and enable stack traces of crashes."""
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        os.environ[name] = str(folder / "home")
    for name in ("OLLAMA_MODELS", "HF_HUB_CACHE", "HF_HOME", "SOTTO_FOLDERS"):
        os.environ.pop(name, None)
    faulthandler.enable()

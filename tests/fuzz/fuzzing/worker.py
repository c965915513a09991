"""The process in which inputs run: it may crash, hang or be ended at any time.

It is asked by lines on stdin: the number of an input, or the path of one that was kept. What becomes of it goes out as
lines of JSON on a pipe of its own: `stage` when one is reached, and `outcome` at the end; `broken` where the fuzzer
itself failed. The input is on the disk
before it runs. What it says when it crashes goes to stderr, which is a file.
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


def main(name: str, seed: str, folder: Path, told: int) -> None:
    """Run inputs until stdin ends."""
    _keep_apart(folder)
    with os.fdopen(told, "w", encoding="utf-8") as pipe:

        def tell(**what: Any) -> None:
            pipe.write(json.dumps(what) + "\n")
            pipe.flush()

        target = target_of(name)
        own = folder / "work"
        own.mkdir()
        target.prepare(own)
        memory.limit(target.memory)
        tell(ready=True)
        for line in sys.stdin:
            asked = line.strip()
            try:
                data = Path(asked).read_bytes() if not asked.isdecimal() else made(target, name, seed, int(asked))
            except Exception:
                tell(broken=traceback.format_exc())
                raise
            (folder / "input").write_bytes(data)
            faulthandler.dump_traceback_later(target.wall_seconds, exit=True)
            outcome = outcome_of(target, data, lambda stage: tell(stage=stage))
            faulthandler.cancel_dump_traceback_later()
            tell(outcome=[outcome.result, outcome.message, outcome.kind, outcome.where, outcome.details])


def made(target: Target, name: str, seed: str, number: int) -> bytes:
    """Return an input by its number: the same on every machine."""
    return target.make(Random(f"{seed}/{name}/{number}"))


def outcome_of(target: Target, data: bytes, mark: Any) -> Outcome:
    """Run one input and judge what became of it."""
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
            found(outcome, kind, where, f"The sentence {fault}: {error}")
    except (KeyboardInterrupt, SystemExit) as error:
        return raised(outcome, error)
    except BaseException as error:  # a panic of a library in Rust is not an Exception
        return raised(outcome, error)
    stage = outcome.stages[-1] if outcome.stages else "the beginning"
    seconds = time.process_time() - begun
    # Much memory takes its time as well, so it is asked about first.
    if (most := memory.beyond(before)) > target.memory:
        found(outcome, "memory", f"behind: {stage}", f"It took {most / 1e6:.0f} MB. {outcome.message}")
    elif seconds > target.cpu_seconds:
        found(outcome, "slow", f"behind: {stage}", f"It took {seconds:.1f} s of the processor. {outcome.message}")
    return outcome


def _keep_apart(folder: Path) -> None:
    """Keep what a person has out of it, and have crashes say where they were."""
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        os.environ[name] = str(folder / "home")
    for name in ("OLLAMA_MODELS", "HF_HUB_CACHE", "HF_HOME", "SOTTO_FOLDERS"):
        os.environ.pop(name, None)
    faulthandler.enable()

"""Fuzz untrusted inputs, for minutes or hours; see README.md in this folder."""

import argparse
import json
import sys
import tempfile
import threading
import time
from pathlib import Path

_HERE = Path(__file__).resolve().parent
# As a script it may be run from any folder, so add this folder and those of the tests' support modules to the path.
_SUPPORT = _HERE.parent / "support"
for _folder in (_HERE, _SUPPORT, *(_SUPPORT / room for room in ("engine", "models", "store"))):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))


def main(arguments: list[str]) -> int:
    """Fuzz, or replay a finding; return 0 if nothing was found."""
    if arguments[:1] == ["--worker"]:
        from fuzzing.worker import main as work

        name, seed, folder, pipe = arguments[1:]
        work(name, seed, Path(folder), int(pipe))
        return 0
    options = _options(arguments)
    return _replay(options.replay) if options.replay else _fuzz(options)


def _options(arguments: list[str]) -> argparse.Namespace:
    from fuzzing.target import NAMES

    parser = argparse.ArgumentParser(description="Fuzz untrusted inputs, and count how deep they got.")
    parser.add_argument("--target", action="append", metavar="NAME", help=f"one of {', '.join(NAMES)}; all by default")
    parser.add_argument("--minutes", type=float, default=12.0, help="total time for all targets")
    parser.add_argument("--count", type=int, help="number of inputs for each target, instead of a time")
    parser.add_argument("--seed", default="1", help="another seed gives other inputs")
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel processes")
    parser.add_argument("--keep", type=Path, help="folder for findings")
    parser.add_argument("--report", type=Path, help="file for the counts, as JSON")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run a stored input again")
    options = parser.parse_args(arguments)
    options.target = options.target or list(NAMES)
    return options


def _fuzz(options: argparse.Namespace) -> int:
    from fuzzing.counting import table
    from fuzzing.findings import Findings

    findings = Findings(options.keep or Path(tempfile.mkdtemp(prefix="sotto-fuzz-")))
    report, stop = {}, threading.Event()
    for name in options.target:
        if stop.is_set():
            break
        until = time.monotonic() + 60 * options.minutes / len(options.target)
        count = _fuzz_one(name, options, until, findings, stop)
        report[name] = count.values()
        print(table(name, count), flush=True)
    if options.report:
        options.report.write_text(json.dumps(report, indent=1), encoding="utf-8")
    print(f"{len(findings.by_place)} findings" + (f", in {findings.folder}" if findings.by_place else ""))
    return 1 if findings.by_place else 0


def _fuzz_one(name, options, until, findings, stop):
    """Run inputs of one target until their number or time is reached or `stop` is set; return the counts."""
    from fuzzing.counting import Count
    from fuzzing.findings import description_of
    from fuzzing.outcomes import FINDING
    from fuzzing.pool import Pool
    from fuzzing.target import target_of

    count, lock, began = Count(target_of(name)), threading.Lock(), time.monotonic()
    failures = []

    def work(first: int) -> None:
        pool = Pool(name, options.seed)
        try:
            number = first
            while not stop.is_set() and (
                number < options.count if options.count is not None else time.monotonic() < until
            ):
                outcome = pool.run(str(number))
                with lock:
                    count.add(outcome)
                    if outcome.result == FINDING and (new := findings.add(name, outcome, pool.input)):
                        print(description_of(new), flush=True)
                number += options.jobs
        except Exception as error:
            failures.append(error)
            stop.set()
        finally:
            pool.close()

    threads = [threading.Thread(target=work, args=(job,)) for job in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        try:
            thread.join()
        except KeyboardInterrupt:
            # The counts so far are still printed.
            stop.set()
            thread.join()
    if failures:
        raise failures[0]
    count.seconds = time.monotonic() - began
    return count


def _replay(path: Path) -> int:
    from fuzzing.findings import target_of_file
    from fuzzing.outcomes import FINDING
    from fuzzing.pool import Pool

    pool = Pool(target_of_file(path), "replay")
    try:
        outcome = pool.run(str(path.resolve()))
    finally:
        pool.close()
    print(f"{outcome.result}: {outcome.kind} {outcome.where}\n{outcome.message}\nreached: {', '.join(outcome.stages)}")
    print(outcome.details)
    return 1 if outcome.result == FINDING else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

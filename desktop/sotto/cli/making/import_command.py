"""`sotto import`: import a model from a folder or a GGUF file, with its progress."""

import argparse
import json
import shlex
import shutil
import sys
from threading import Event, Thread
from typing import Any

from sotto.cli.exit_codes import INTERRUPTED
from sotto.cli.interrupts import until_interrupt
from sotto.cli.measuring.measure import as_object, compare, print_quality
from sotto.cli.model_opening import open_target
from sotto.cli.printing import human_bytes, human_count, human_share
from sotto.engine.quantizing.importer import discard_import, plan_import, run_import, unfinished_import
from sotto.errors import CancelledError, InvalidRequestError
from sotto.store.files import absolute
from sotto.store.importing.import_plan import ImportPlan, ImportProgress, ImportState
from sotto.store.printable import printable
from sotto.store.sources.model_names import parse_name

_JOIN_SECONDS = 0.1


def import_model(parsed: argparse.Namespace) -> int:
    """Import a model into Sotto's own store, with progress on stderr; return the exit status.

    Raises:
        SottoError: The name is invalid, or the model cannot be imported.
    """
    name = parse_name(parsed.name).short
    if parsed.measure and not parsed.quantize:
        raise InvalidRequestError("--measure compares with the weights before they are quantized; it needs --quantize.")
    if parsed.discard:
        discard_import(parsed.name)
        return 0
    plan = plan_import(parsed.path, parsed.quantize, parsed.adapter and parsed.adapter.expanduser())
    if parsed.plan:
        _print_plan(name, plan, as_json=parsed.json)
        return 0
    interrupted = Event()
    follower = _TerminalLine() if sys.stderr.isatty() else _LogLines()
    try:
        with until_interrupt(interrupted):
            _run(parsed, plan, interrupted, follower)
    except CancelledError:
        follower.end()
        if done := unfinished_import(parsed.name):
            again = shlex.join(["sotto", "import", str(parsed.path), parsed.name, *_option_words(parsed)])
            print(
                f"sotto: {human_share(done, plan.size)} of {name} imported so far; `{again}` goes on, and with "
                "--discard deletes it.",
                file=sys.stderr,
            )
        return INTERRUPTED
    except BaseException:
        follower.end()
        raise
    follower.end()
    report = _plan_fields(name, plan)
    if not parsed.json:
        _print_done(name, plan)
    if parsed.measure:
        adapters = [str(plan.adapter)] if plan.adapter else None
        original, other = open_target(str(absolute(parsed.path)), adapters), open_target(name)
        quality = compare(original, other)
        report["measured"] = as_object(original.record, other.record, quality)
        if not parsed.json:
            print_quality(original.record, other.record, quality)
    if parsed.json:
        print(json.dumps(report, indent=2))
    return 0


def _run(parsed: argparse.Namespace, plan: ImportPlan, interrupted: Event, follower: "_Follower") -> None:
    """Run the import on a thread of its own, so that Ctrl-C is noticed at once whatever it is doing."""
    failed: list[BaseException] = []

    def work() -> None:
        try:
            run_import(plan, parsed.name, follower.show, interrupted.is_set, replace=parsed.replace)
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=work, name="import")
    thread.start()
    while thread.is_alive():
        thread.join(_JOIN_SECONDS)
    if failed:
        raise failed[0]


def _option_words(parsed: argparse.Namespace) -> list[str]:
    return [
        *(["--quantize", parsed.quantize] if parsed.quantize else []),
        *(["--adapter", str(parsed.adapter)] if parsed.adapter else []),
        *(["--replace"] if parsed.replace else []),
    ]


def _plan_fields(name: str, plan: ImportPlan) -> dict[str, Any]:
    return {
        "name": name,
        "source": str(plan.source),
        "architecture": plan.architecture,
        "parameters": plan.parameters,
        "quantization": plan.quantization or plan.config["file_type"],
        "adapter": str(plan.adapter) if plan.adapter else "",
        "size": plan.size,
        "capabilities": list(plan.config.get("capabilities", ())),
        "notes": list(plan.notes),
    }


def _print_plan(name: str, plan: ImportPlan, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(_plan_fields(name, plan), indent=2))
        return
    quantization = plan.quantization or plan.config["file_type"] or "as stored"
    parameters = f"{human_count(plan.parameters)} parameters, " if plan.parameters else ""
    print(f"{name}: {printable(plan.architecture)}, {parameters}{quantization}, {human_bytes(plan.size)}.")
    for note in plan.notes:
        print(note)


def _print_done(name: str, plan: ImportPlan) -> None:
    print(f"{name} imported, {human_bytes(plan.size)}.")
    for note in plan.notes:
        print(f"sotto: {note}", file=sys.stderr)


class _Follower:
    """Shows the progress of an import."""

    def show(self, progress: ImportProgress) -> None:
        """Show it."""

    def end(self) -> None:
        """Show nothing any more."""


class _TerminalLine(_Follower):
    """A progress line in a terminal, which is overwritten."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, progress: ImportProgress) -> None:
        width = shutil.get_terminal_size().columns - 1
        text = _text(progress)[:width]
        if text != self._last:
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()
            self._last = text

    def end(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _LogLines(_Follower):
    """Progress lines for a file: one for each tenth."""

    def __init__(self) -> None:
        self._last = -1

    def show(self, progress: ImportProgress) -> None:
        tenth = 10 * progress.done // max(progress.total, 1)
        if tenth != self._last and progress.state is not ImportState.DONE:
            print(_text(progress), file=sys.stderr, flush=True)
        self._last = tenth


def _text(progress: ImportProgress) -> str:
    percent = 100 * progress.done // max(progress.total, 1)
    checking = "checking what is there" if progress.state is ImportState.CHECKING else ""
    parts = [human_share(progress.done, progress.total), f"{percent}%", checking or printable(progress.tensor)]
    return "  ".join(part for part in parts if part)

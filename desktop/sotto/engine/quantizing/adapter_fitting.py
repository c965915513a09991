"""Finding out which tensors of a model an adapter changes, in a process of its own, which has MLX and reads it all."""

import json
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sotto.bounded_process import command
from sotto.errors import BrokenModelError, FaultError, SottoError
from sotto.store.adapters.adapter_files import ADAPTER_CONFIG, open_adapter
from sotto.store.importing.fusing_plan import FusingPlan
from sotto.store.importing.import_plan import Part, compact

# The command of the process, which people do not use.
COMMAND = "fit-adapter"
_DETAILS = 4000


def fit_adapter(path: Path, config: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> FusingPlan:
    """Return what an adapter changes.

    Args:
        path: The folder or file of the adapter.
        config: The contents of the model's `config.json`.
        shapes: The shapes of the model's tensors by name.

    Raises:
        BrokenModelError: It does not fit the model, or makes no sense.
        UnsupportedModelError: It is of a kind that is not read.
        FaultError: The process failed.
    """
    adapter = open_adapter(path)
    text = compact(dict(config)).decode()
    given = pickle.dumps((adapter.path, text, dict(shapes)))
    done = subprocess.run(command(COMMAND), input=given, capture_output=True, check=False)
    if done.returncode:
        raise FaultError(
            "The process that checks the adapter ended before it was done; try again.",
            done.stderr.decode(errors="replace")[-_DETAILS:],
        )
    answer = json.loads(done.stdout)
    if "failed" in answer:
        raise BrokenModelError(answer["failed"])
    file = adapter.tensor_file
    replaced = {}
    for name, held in answer["replaced"].items():
        info = file.tensors[held]
        replaced[name] = Part(file.path, info.dtype, info.shape, info.start, info.end)
    files = {file.path, adapter.path / ADAPTER_CONFIG if adapter.path != file.path else file.path}
    return FusingPlan(adapter.path, text, frozenset(answer["added"]), replaced, tuple(sorted(files)))


def serve() -> int:
    """Be that process: read from stdin what to check, and print what is changed; return the exit status."""
    # From the process that started this one, so it can be trusted.
    path, config, shapes = pickle.load(sys.stdin.buffer)
    from sotto.engine.kernels import device

    device.prepare()
    from sotto.engine.weights.fusing import Fusion

    added, replaced = [], {}
    try:
        fusion = Fusion(open_adapter(path), json.loads(config))
        for name, shape in shapes.items():
            change = fusion.change(name, shape)
            if change and change.replacement:
                replaced[name] = change.replacement
            elif change:
                added.append(name)
        fusion.require_all_used()
    except SottoError as error:
        answer: dict[str, Any] = {"failed": error.message}
    else:
        answer = {"added": added, "replaced": replaced}
    json.dump(answer, sys.stdout)
    return 0

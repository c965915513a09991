"""`sotto create`: make a model as a Modelfile describes it."""

import argparse
import json
import sys
from pathlib import Path

from sotto.cli.making.step_lines import StepLines
from sotto.errors import InvalidRequestError
from sotto.runner.model_making import create_model, modelfile_in, read_modelfile
from sotto.store.creating.modelfile import MODELFILE_LIMIT, Modelfile
from sotto.store.printable import printable
from sotto.store.sources.model_names import parse_name


def create(parsed: argparse.Namespace) -> int:
    """Make a model, with progress on stderr; return 0.

    Raises:
        SottoError: The Modelfile is invalid, or the model cannot be made.
    """
    name = parse_name(parsed.model).short
    model = _modelfile(parsed.file)
    with StepLines() as lines:
        manifest = create_model(name, model, lines.show, quantize=parsed.quantize, insecure=parsed.insecure)
    if parsed.json:
        print(json.dumps({"name": name, "digest": manifest.digest, "size": manifest.size}))
    else:
        print(f"{printable(name)} created.")
    return 0


def _modelfile(name: str) -> Modelfile:
    if name != "-":
        return read_modelfile(Path(name))
    data = sys.stdin.buffer.read(MODELFILE_LIMIT + 1)
    if len(data) > MODELFILE_LIMIT:
        raise InvalidRequestError(f"The Modelfile is larger than {MODELFILE_LIMIT >> 20} MiB, the most that it may be.")
    return modelfile_in(data, "The Modelfile", Path.cwd())

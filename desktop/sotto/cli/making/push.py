"""`sotto push`: upload a model to the registry that its name begins with."""

import argparse
import json

from sotto.cli.making.step_lines import StepLines
from sotto.cli.printing import printable
from sotto.errors import ModelNotFoundError
from sotto.runner.catalogue import catalogue
from sotto.store.opening import find_place
from sotto.store.pushing.push_model import push as push_model
from sotto.store.sources.model_names import parse_name


def push(parsed: argparse.Namespace) -> int:
    """Upload a model, with what is uploaded and the progress on stderr; return 0.

    Raises:
        SottoError: There is no such model, or it cannot be uploaded.
    """
    name = parse_name(parsed.model)
    found = find_place(parsed.model, catalogue().records)
    if found is None:
        raise ModelNotFoundError(
            f"No model is called '{printable(name.short)}' on this machine; give one that is here this name first."
        )
    record, place = found
    with StepLines() as lines:
        push_model(place, lines.show, insecure=parsed.insecure)
    if parsed.json:
        print(json.dumps({"name": name.short, "digest": record.digest, "size": record.size}))
    else:
        print(f"{printable(name.short)} uploaded to {printable(name.host)}.")
    return 0

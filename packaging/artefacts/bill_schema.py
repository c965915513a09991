"""Checks bills of materials against the schema of CycloneDX, with its own library, in an environment of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from artefacts import definition
from artefacts.workshop import Workshop
from installing import InstallError, make_venv, run_pip

_CHECK = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

with open(sys.argv[1], encoding="utf-8") as bill:
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill.read())
sys.exit(str(wrong)[:1000] if wrong else 0)
"""


def check(bill: Path, workshop: Workshop) -> None:
    """Check a bill of materials.

    Raises:
        InstallError: It does not follow the schema.
    """
    python = make_venv(workshop.fresh("bill_schema"), workshop.python)
    run_pip(python, [["install", *definition.settings()["dependency-groups"]["bills"]]])
    result = subprocess.run([str(python), "-c", _CHECK, str(bill)], capture_output=True, text=True)
    if result.returncode != 0:
        raise InstallError(f"{bill.name} does not follow CycloneDX's schema: {result.stderr.strip()}")

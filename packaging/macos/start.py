"""Starts Sotto in the app: run by the launcher, in its process, with only Python's own modules on the path."""

import sys
from pathlib import Path

resources = Path(__file__).resolve().parent
# Processes that Sotto starts are the launcher again.
sys.executable = str(resources.parent / "MacOS" / "Sotto")
sys.argv[0] = sys.executable
sys.path += [str(resources / "app"), str(resources / "app_packages")]
try:
    from sotto.cli.main import main

    sys.exit(main())
except ImportError as error:
    # Without an exit, which tells the launcher that the app lacks something.
    print(f"Sotto cannot start, as a part of it cannot be loaded: {error}.", file=sys.stderr)

"""Set up Sotto in this checkout and start it, or run its checks, on a machine with only Python.

    python3 packaging/start.py [FILE ...]     open the app (or talk in the terminal where there is no display)
    python3 packaging/start.py test [ARG ...] run every check: format, lint, types, imports, tests
    python3 packaging/start.py test --all     the same, with every combination of parameters and more random examples

Everything is installed in `.venv` at the root of the checkout, and again only after a change of `pyproject.toml`, of
Python, or of the sources of the native kernels. Any Python, even Python 2, can run this file far enough to say which
version is needed, or to find one: so it is written in what they all understand, and the work is done in `checkout.py`.
"""

import os
import sys

NEEDED = (3, 11)
NEWEST = 14


def main(arguments):
    """Set up and run the app or the checks, and return the exit status."""
    if sys.version_info < NEEDED:
        run_in_newer_python(arguments)
    try:
        import checkout
    except ImportError as error:
        sys.exit(
            "This Python is incomplete, it has no module %s: install all of it (on Debian: sudo apt-get install "
            "python3 python3-venv) and type the line again." % error.name
        )
    return checkout.main(arguments)


def run_in_newer_python(arguments):
    """Run this script in a newer Python, or exit with a sentence if there is none."""
    for minor in range(NEWEST, NEEDED[1] - 1, -1):
        for folder in os.environ.get("PATH", "").split(os.pathsep):
            newer = os.path.join(folder, "python3.%d" % minor)
            if os.access(newer, os.X_OK) and os.path.isfile(newer):
                os.execv(newer, [newer, os.path.abspath(__file__)] + arguments)
    sys.exit(
        "Sotto needs Python 3.%d or newer, this is %d.%d.%d: install one from python.org, Homebrew or your "
        "distribution and type the line again." % ((NEEDED[1],) + tuple(sys.version_info[:3]))
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

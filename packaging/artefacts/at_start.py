"""Run by the packed program before anything else: other programs that it starts must not load its libraries."""

import os

# PyInstaller's loader set it for this process, which has read it by now, and sets it again for each of its own.
before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
os.environ.pop("LD_LIBRARY_PATH", None)
if before is not None:
    os.environ["LD_LIBRARY_PATH"] = before

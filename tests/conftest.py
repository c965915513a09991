"""What holds for every test."""

import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

# Nothing of a person's is read or written, in whatever process a test starts.
_ELSEWHERE = tempfile.TemporaryDirectory(prefix="sotto-tests-")
for _name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
    os.environ[_name] = str(Path(_ELSEWHERE.name) / _name)

# The same examples on every machine, however busy it is: a failure must be due to the change at hand.
settings.register_profile(
    "sotto", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("sotto")

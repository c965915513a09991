"""Lets tests be somebody else, as far as the system and the environment tell."""

import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from sotto.reports import scrubbing


@contextmanager
def person(home: str, user: str, full: str, host: str, **variables: str) -> Iterator[None]:
    """Be somebody else."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "USER", "LOGNAME", "USERNAME", "SUDO_USER", "HOSTNAME", "HOST"):
            patch.delenv(name, raising=False)
        for name, value in {"HOME": home, **variables}.items():
            patch.setenv(name, value)
        patch.setattr(pwd, "getpwuid", lambda number: SimpleNamespace(pw_name=user, pw_dir=home, pw_gecos=f"{full},,,"))
        patch.setattr("platform.node", lambda: host)
        scrubbing._account.cache_clear()
        yield
    scrubbing._account.cache_clear()

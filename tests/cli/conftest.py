"""An empty home for each command."""

import pytest

from commands import end, environment


@pytest.fixture(scope="session", autouse=True)
def forker():
    """End after the last command what all are forked from."""
    yield
    end()


@pytest.fixture
def env(tmp_path):
    return environment(tmp_path)

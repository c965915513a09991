"""Fixtures that give each command an empty home."""

import pytest

from commands import end, environment


@pytest.fixture(scope="session", autouse=True)
def forker():
    """Stop the process that all commands are forked from after the last test."""
    yield
    end()


@pytest.fixture
def env(tmp_path):
    return environment(tmp_path)

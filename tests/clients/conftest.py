"""`sotto serve` with a model that gives the answers of a test, and clients that ask it."""

import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from client_programs import install_client
from client_recorder import Recorder, recording
from written_model import write_answers

# None of the servers of the clients' makers is asked for anything.
_QUIET = {
    "AIDER_ANALYTICS": "false",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
}
_SECONDS = 240


@dataclass
class Desk:
    """A client's place: its home, the folder that it works in, and the server that it asks.

    Attributes:
        work: The folder that it works in.
        home: Where it keeps what it knows.
        asked: What it asks.
        program: The client.
        env: What it is told besides.
    """

    work: Path
    home: Path
    asked: Recorder
    program: Path
    env: dict = field(default_factory=dict)

    def run(self, *arguments):
        """Run the client to its end, which must be a good one; return what it said."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), **_QUIET, **self.env}
        done = subprocess.run(
            [self.program, *arguments],
            cwd=self.work,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        refused = [(one.path, one.status, one.received.decode()) for one in self.asked.exchanges if one.status != 200]
        assert not refused
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@contextmanager
def _serving(models, home):
    """Run `sotto serve`, and yield where it listens."""
    env = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    server = subprocess.Popen(
        [sys.executable, "-m", "sotto", "serve", "--port", "0"],
        env={**env, "HOME": str(home), "SOTTO_FOLDERS": str(models)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield server.stdout.readline().split()[3].rstrip(";")
    finally:
        server.terminate()
        server.communicate(timeout=60)


@pytest.fixture
def desk(tmp_path):
    """Make a place for a client and a model; what the model answers, and what it is called, is for the test to say."""
    with ExitStack() as opened:

        def make(client, answers, plain="Nothing to do.", model="written"):
            for name in ("server", "home", "work", "models"):
                (tmp_path / name).mkdir()
            write_answers(tmp_path / "models" / model, answers, plain)
            url = opened.enter_context(_serving(tmp_path / "models", tmp_path / "server"))
            asked = opened.enter_context(recording(url))
            return Desk(tmp_path / "work", tmp_path / "home", asked, install_client(client))

        yield make

"""Fixtures that run `sotto serve` with a model that gives scripted answers, and third-party clients of it."""

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

# Keep the clients from contacting the servers of their makers.
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
_TIMEOUT_SECONDS = 240


@dataclass
class Desk:
    """The environment of one client: its home, its working folder and its server.

    Attributes:
        work: Its working folder.
        home: Its home folder, with its settings and state.
        recorder: The proxy that records its requests to the server.
        program: The path of the client.
        env: Further environment variables.
    """

    work: Path
    home: Path
    recorder: Recorder
    program: Path
    env: dict = field(default_factory=dict)

    def run(self, *arguments):
        """Run the client, check that it exits with 0 and that no request was refused, and return its output."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), **_QUIET, **self.env}
        done = subprocess.run(
            [self.program, *arguments],
            cwd=self.work,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
        refused = [
            (exchange.path, exchange.status, exchange.received.decode())
            for exchange in self.recorder.exchanges
            if exchange.status != 200
        ]
        assert not refused
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@contextmanager
def _serving(models, home):
    """Run `sotto serve`, and yield its URL."""
    env = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    server = subprocess.Popen(
        [sys.executable, "-m", "sotto", "serve", "--port", "0"],
        env={**env, "HOME": str(home), "SOTTO_FOLDERS": str(models)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield server.stdout.readline().split()[2]
    finally:
        server.terminate()
        server.communicate(timeout=60)


@pytest.fixture
def desk(tmp_path):
    """Yield a function that prepares a client and a model, whose answers, name and sight the test chooses."""
    with ExitStack() as opened:

        def make(client, answers, plain="Nothing to do.", model="written", *, sees=False):
            for name in ("server", "home", "work", "models"):
                (tmp_path / name).mkdir()
            write_answers(tmp_path / "models" / model, answers, plain, sees=sees)
            url = opened.enter_context(_serving(tmp_path / "models", tmp_path / "server"))
            recorder = opened.enter_context(recording(url))
            return Desk(tmp_path / "work", tmp_path / "home", recorder, install_client(client))

        yield make

"""Other programs that run the same models, each in a separate process."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Self

HERE = Path(__file__).resolve().parent


class Rates(NamedTuple):
    """Tokens per second of prefill and decoding."""

    prefill: float
    decode: float


class MlxPeer:
    """Bare MLX and mlx-lm in a separate process, used as a context manager."""

    def __init__(self, folder: Path, compute_type: str) -> None:
        """Load a model; `compute_type` is `own` or `float32`."""
        command = [sys.executable, str(HERE / "peer_mlx.py"), str(folder), compute_type]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def measure(self, what: str, prompt: int, tokens: int, seconds: float) -> Rates:
        """Measure `bare` or `mlx-lm` with at most these numbers of tokens, for about `seconds` each."""
        self._process.stdin.write(f"{json.dumps([what, prompt, tokens, seconds])}\n")
        self._process.stdin.flush()
        found = self._answer()
        return Rates(found["prefill"], found["decode"])

    def _answer(self) -> dict[str, float]:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} ended with status {self._process.wait()}.")
        return json.loads(line)

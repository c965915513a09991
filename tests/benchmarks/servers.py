"""Servers, each in a separate process, started as a person would start it."""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Self

import mlx.core as mx

from sotto.engine.kernels.native import thread_count
from sotto.runner.catalogue import find
from sotto.store.opening import open_model

_HOMES = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
_START_SECONDS = 120.0


class Server:
    """A server process with its own home, used as a context manager.

    Attributes:
        model: The name of the model on this server.
        port: The port that it listens on.
    """

    model = ""

    def __init__(self, command: list[str], environment: dict[str, str], port: int = 0) -> None:
        """Start `command`, which listens on `port`."""
        self._home = tempfile.TemporaryDirectory()
        homes = dict.fromkeys(_HOMES, self._home.name)
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **homes, **environment},
        )
        self.port = port

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()
        self._home.cleanup()

    def _wait(self, reach: Callable[[], object]) -> None:
        """Wait until `reach` raises no OSError any more."""
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                reach()
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{self._process.args} does not answer on port {self.port}.") from None
                time.sleep(0.1)
            else:
                return

    @property
    def pid(self) -> int:
        """Return its process id."""
        return self._process.pid


class SottoServer(Server):
    """`sotto serve`."""

    def __init__(self, model: str = "sotto", folder: Path | None = None) -> None:
        """Start it on a free port, and wait until it listens.

        Args:
            model: The name of the model to use; the built-in one by default.
            folder: The folder of this model, unless it comes with Sotto.
        """
        environment = {"OLLAMA_MODELS": "", "SOTTO_FOLDERS": str(folder or "")}
        super().__init__([sys.executable, "-m", "sotto", "serve", "--port", "0"], environment)
        self.model = model
        line = self._process.stdout.readline()
        match = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if match is None:
            raise RuntimeError(f"sotto serve says {line!r} and ended with status {self._process.wait()}.")
        self.port = int(match[1])


class MlxServer(Server):
    """mlx-lm's server."""

    model = "default_model"

    def __init__(self, folder: Path) -> None:
        """Start it with the built-in model, which is written to `folder`, and wait until it listens."""
        _write_built_in_model(folder)
        port = _free_port()
        # On a CPU, compilation runs a compiler without making anything faster.
        environment = {"MLX_DISABLE_COMPILE": "1", "HF_HUB_OFFLINE": "1"}
        command = [sys.executable, "-m", "mlx_lm", "server", "--model", str(folder), "--port", str(port)]
        super().__init__(command, environment, port)
        self._wait(lambda: socket.create_connection(("127.0.0.1", port), 1).close())


class LlamaServer(Server):
    """llama.cpp's server."""

    model = "any"

    def __init__(self, program: Path, file: Path, clients: int, context: int) -> None:
        """Start it, and wait until its model is loaded.

        Args:
            program: The path of llama-server.
            file: A GGUF file.
            clients: For how many clients it has room at once.
            context: The tokens that each of them may need.
        """
        port = _free_port()
        room = ["-np", str(clients), "-c", str(clients * context), "-t", str(thread_count()), "-fa", "on"]
        command = [str(program), "-m", str(file), *room, "--host", "127.0.0.1", "--port", str(port), "--no-webui"]
        super().__init__(command, {}, port)
        self._wait(lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).close())


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def _write_built_in_model(folder: Path) -> None:
    """Write the built-in model to a folder in mlx-lm's format, with its floating-point tensors unchanged in float32."""
    source = open_model(find("sotto"))
    tensors: dict[str, mx.array] = {}
    for file in source.tensor_files:
        tensors |= mx.load(str(file.path), format="safetensors")
    renamed = {
        re.sub(
            r"\.weight\.(scale|bias)$", lambda match: {"scale": ".scales", "bias": ".biases"}[match[1]], name
        ): tensor
        for name, tensor in tensors.items()
    }
    folder.mkdir()
    mx.save_safetensors(str(folder / "model.safetensors"), renamed, {"format": "mlx"})
    config = {**source.config, "quantization": {"group_size": 64, "bits": 8}}
    for name, content in {**source.json_files, "config.json": config}.items():
        (folder / name).write_text(json.dumps(dict(content)), encoding="utf-8")
    (folder / "tokenizer.json").write_text(source.tokenizer_json, encoding="utf-8")

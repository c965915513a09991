"""Servers with the built-in model, each in a process of its own as a person starts it."""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Self

import mlx.core as mx

from sotto.runner.catalogue import find
from sotto.store.opening import open_model

_HOMES = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
_START_SECONDS = 120.0


class Server:
    """A server's process, in a home of its own. Use it in a `with` statement.

    Attributes:
        model: What the built-in model is called there.
        port: Where it listens on this machine.
    """

    model = ""

    def __init__(self, command: list[str], environment: dict[str, str], port: int = 0) -> None:
        """Start `command`, which listens on `port`."""
        self._home = tempfile.TemporaryDirectory()
        homes = dict.fromkeys(_HOMES, self._home.name)
        self._process = subprocess.Popen(
            [sys.executable, *command],
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

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid


class SottoServer(Server):
    """`sotto serve`."""

    model = "sotto"

    def __init__(self) -> None:
        """Start it on a free port, and wait until it listens."""
        super().__init__(["-m", "sotto", "serve", "--port", "0"], {"OLLAMA_MODELS": ""})
        said = self._process.stdout.readline()
        match = re.search(r"http://127\.0\.0\.1:(\d+)", said)
        if match is None:
            raise RuntimeError(f"sotto serve says {said!r} and ended with status {self._process.wait()}.")
        self.port = int(match[1])


class MlxServer(Server):
    """mlx-lm's server."""

    model = "default_model"

    def __init__(self, folder: Path) -> None:
        """Start it with the built-in model, which is put into `folder`, and wait until it listens."""
        _lay(folder)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        # On a CPU, compiling runs a compiler and gains nothing.
        environment = {"MLX_DISABLE_COMPILE": "1", "HF_HUB_OFFLINE": "1"}
        super().__init__(["-m", "mlx_lm", "server", "--model", str(folder), "--port", str(port)], environment, port)
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"mlx_lm.server does not listen on port {port}.") from None
                time.sleep(0.1)
            else:
                return


def _lay(folder: Path) -> None:
    """Put the built-in model into a folder as mlx-lm reads it, its floating-point tensors as they are: in float32."""
    source = open_model(find("sotto"))
    tensors: dict[str, mx.array] = {}
    for file in source.tensor_files:
        tensors |= mx.load(str(file.path), format="safetensors")
    renamed = {
        re.sub(r"\.weight\.(scale|bias)$", lambda match: {"scale": ".scales", "bias": ".biases"}[match[1]], name): one
        for name, one in tensors.items()
    }
    folder.mkdir()
    mx.save_safetensors(str(folder / "model.safetensors"), renamed, {"format": "mlx"})
    config = {**source.config, "quantization": {"group_size": 64, "bits": 8}}
    for name, content in {**source.json_files, "config.json": config}.items():
        (folder / name).write_text(json.dumps(dict(content)), encoding="utf-8")
    (folder / "tokenizer.json").write_text(source.tokenizer_json, encoding="utf-8")

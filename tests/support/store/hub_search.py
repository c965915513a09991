"""A server on loopback that answers searches as Hugging Face's API does, and can be made to answer otherwise."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

QWEN3_4B = {
    "model_type": "qwen3", "hidden_size": 2560, "num_hidden_layers": 36, "intermediate_size": 9728, "head_dim": 128,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 151936, "max_position_embeddings": 40960,
}  # fmt: skip
Answer = Callable[["Handler"], None]


@dataclass
class HubModel:
    """A model on the server.

    Attributes:
        id: Its owner and name.
        kind: The tag that it is found by, `mlx` or `gguf`.
        files: The sizes of its files by their paths.
        fields: What the API tells of it, beside what follows from the rest.
        config: The content of its `config.json`; None if it has none.
        contents: The contents of other files by their paths.
    """

    id: str
    kind: str
    files: dict[str, int]
    fields: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] | None = None
    contents: dict[str, bytes] = field(default_factory=dict)

    def entry(self, *, sizes: bool) -> dict[str, Any]:
        """Return what the API tells."""
        siblings = [{"rfilename": path} | ({"size": size} if sizes else {}) for path, size in self.files.items()]
        known = {"_id": "6", "id": self.id, "modelId": self.id, "tags": [self.kind], "siblings": siblings}
        return known | {"downloads": 10, "gated": False} | self.fields


def mlx_model(name: str = "mlx-community/Qwen3-4B-4bit", **fields: Any) -> HubModel:
    """Return a model in MLX's format."""
    counts = {"BF16": 62_000_000, "U32": 502_000_000}
    told = {
        "config": {"model_type": "qwen3", "quantization_config": {"bits": 4, "group_size": 64}},
        "safetensors": {"parameters": counts, "total": sum(counts.values())},
        "tags": ["mlx", "safetensors", "qwen3", "license:apache-2.0"],
    }
    files = {"config.json": 900, "model.safetensors": 2_140_000_000, "tokenizer.json": 11_000_000}
    config = QWEN3_4B | {"quantization": {"bits": 4, "group_size": 64}}
    return HubModel(name, "mlx", files, told | fields, config)


def gguf_model(name: str = "unsloth/Qwen3-4B-GGUF", beginning: bytes = b"", **fields: Any) -> HubModel:
    """Return a model as GGUF files, of which one is split and one is no model; they begin with `beginning`."""
    files = {
        "README.md": 4000,
        "BF16/Qwen3-4B-BF16-00001-of-00002.gguf": 5_000_000_000,
        "BF16/Qwen3-4B-BF16-00002-of-00002.gguf": 3_050_000_000,
        "Qwen3-4B-Q4_K_M.gguf": 2_500_000_000,
        "Qwen3-4B-Q8_0.gguf": 4_280_000_000,
        "Qwen3-4B-UD-Q2_K_XL.gguf": 1_500_000_000,
        "mmproj-F16.gguf": 800_000_000,
    }
    told = {
        "gguf": {"total": 4_022_468_096, "architecture": "qwen3", "context_length": 40960},
        "tags": ["gguf", "license:apache-2.0"],
    }
    contents = {path: beginning for path in files if path.endswith(".gguf")}
    return HubModel(name, "gguf", files, told | fields, None, contents)


@dataclass
class HubServer:
    """The server.

    Attributes:
        models: What can be found.
        requests: All requests so far: paths with their queries.
        headers: The headers of each, by lower-case name.
        answers: Answers to give instead, in turn; None for the true one.
        held: Cleared to let requests wait.
        address: Where it is, for `HF_ENDPOINT`.
    """

    models: list[HubModel] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answers: list[Answer | None] = field(default_factory=list)
    held: threading.Event = field(default_factory=threading.Event)
    address: str = ""

    def searches(self) -> list[str]:
        """Return what was searched for, once for each request."""
        queries = [parse_qs(urlsplit(path).query) for path in self.requests]
        return [query["search"][0] for query in queries if "search" in query]

    def find(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        """Return what a search finds."""
        words, kinds = query["search"][0].lower().split(), query.get("filter", [])
        found = [
            model.entry(sizes=False)
            for model in self.models
            if model.kind in kinds and all(word in model.id.lower() for word in words)
        ]
        found.sort(key=lambda entry: -entry["downloads"])
        return found[: int(query["limit"][0])]


class Handler(BaseHTTPRequestHandler):
    """Handles one connection."""

    protocol_version = "HTTP/1.1"
    server_of: HubServer

    def do_GET(self) -> None:
        """Answer a request."""
        hub = self.server_of
        hub.requests.append(self.path)
        hub.headers.append({name.lower(): value for name, value in self.headers.items()})
        answer = hub.answers.pop(0) if hub.answers else None
        hub.held.wait(30)
        try:
            if answer is not None:
                answer(self)
            else:
                self._tell(hub)
        except (BrokenPipeError, ConnectionResetError):
            # The client has gone, as one does that no longer wants the answer.
            self.close_connection = True

    def _tell(self, hub: HubServer) -> None:
        parts = urlsplit(self.path)
        path, query = unquote(parts.path), parse_qs(parts.query)
        if path == "/api/models":
            return self.reply(200, json.dumps(hub.find(query)).encode())
        for model in hub.models:
            if path == f"/api/models/{model.id}":
                return self.reply(200, json.dumps(model.entry(sizes=query.get("blobs") == ["true"])).encode())
            if path == f"/{model.id}/resolve/main/config.json" and model.config is not None:
                return self.reply(200, json.dumps(model.config).encode())
            name = path.removeprefix(f"/{model.id}/resolve/main/")
            if name in model.contents:
                return self.reply(206, model.contents[name])
        return self.reply(404, b'{"error": "Repository not found"}')

    def reply(self, status: int, content: bytes, **headers: str) -> None:
        """Send a whole response."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def serving(*models: HubModel) -> Iterator[HubServer]:
    """Serve models until the context ends."""
    hub = HubServer(list(models))
    hub.held.set()
    handler = type("HubHandler", (Handler,), {"server_of": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.held.set()
        server.shutdown()
        server.server_close()
        thread.join()

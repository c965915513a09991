"""Serves one large model as a registry does, with as little work for the server as possible.

`python file_server.py FILE` prints the port, and serves until its input ends.
"""

import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_CONFIG = json.dumps({"model_format": "gguf", "model_family": "llama"}).encode()


class _Handler(BaseHTTPRequestHandler):
    """Answers with the manifest, the config blob or the file, from the byte that is asked for."""

    protocol_version = "HTTP/1.1"
    file: Path
    manifest: bytes

    def do_GET(self) -> None:
        """Answer a request."""
        if "/manifests/" in self.path:
            return self._reply(self.manifest)
        if self.path.endswith(hashlib.sha256(_CONFIG).hexdigest()):
            return self._reply(_CONFIG)
        with self.file.open("rb") as file:
            self._head(self.file.stat().st_size)
            self.connection.sendfile(file)
        return None

    def log_message(self, *_: object) -> None:
        """Do not log."""

    def _head(self, size: int) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.flush()

    def _reply(self, content: bytes) -> None:
        self._head(len(content))
        self.wfile.write(content)


def main(path: Path) -> None:
    """Serve a file until the input ends."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    layers = [
        {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{digest}", "size": path.stat().st_size}
    ]
    config = {"mediaType": "", "digest": f"sha256:{hashlib.sha256(_CONFIG).hexdigest()}", "size": len(_CONFIG)}
    _Handler.file = path
    _Handler.manifest = json.dumps({"schemaVersion": 2, "config": config, "layers": layers}).encode()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Fetching the list of versions from real servers, which may be slow, endless, elsewhere or not there."""

import asyncio
import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from signed_feeds import Signer, sends, serving
from sotto.updates import feed_source
from sotto.updates.feed_source import LIMIT, Source, fetch, own_source, tls
from sotto.updates.update_errors import UpdateError


def get(url: str, seconds: float = 20) -> bytes:
    return asyncio.run(fetch(url, tls(), seconds))


def test_the_request_says_nothing_about_its_sender() -> None:
    with serving(sends(b"content")) as (url, requests):
        assert get(url) == b"content"
    (request,) = requests
    host = url.split("/")[2]
    assert request == {
        "path": "/updates",
        "Host": host,
        "User-Agent": "Sotto",
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "keep-alive",
    }


def test_as_much_as_is_allowed_arrives_and_no_more() -> None:
    with serving(sends(b"a" * LIMIT)) as (url, _):
        assert len(get(url)) == LIMIT

    def endless(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        try:
            while True:
                request.wfile.write(b"a" * 65_536)
        except OSError:
            pass  # it has hung up, as it should

    with serving(endless) as (url, _), pytest.raises(UpdateError, match="sends more than a list of versions can be"):
        get(url)


@pytest.mark.parametrize("part", ["headers", "content"])
def test_a_server_that_sends_byte_after_byte_is_left(part: str) -> None:
    stop = threading.Event()

    def slow(request: BaseHTTPRequestHandler) -> None:
        if part == "content":
            request.send_response(200)
            request.end_headers()
        try:
            while not stop.wait(0.05):
                request.wfile.write(b"X")
                request.wfile.flush()
        except OSError:
            pass  # it has hung up, as it should

    with serving(slow) as (url, _):
        begun = time.monotonic()
        with pytest.raises(UpdateError, match=r"127\.0\.0\.1 did not answer within 1 seconds"):
            get(url, 1)
        assert time.monotonic() - begun < 10
        stop.set()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(status: int) -> None:
    with (
        serving(sends(b"there")) as (other, others),
        serving(sends(b"", status, Location=other)) as (url, _),
        pytest.raises(UpdateError, match="elsewhere, where Sotto does not look"),
    ):
        get(url)
    assert others == []


@pytest.mark.parametrize("status", [204, 304, 404, 500])
def test_any_other_answer_is_refused(status: int) -> None:
    with serving(sends(b"", status)) as (url, _), pytest.raises(UpdateError, match=f"answers with status {status}"):
        get(url)


def test_nobody_there() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(UpdateError, match=r"127\.0\.0\.1 cannot be reached"):
        get(f"http://127.0.0.1:{port}/")


def test_something_else_than_http() -> None:
    def nonsense(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(b"\x16\x03\x01nonsense\r\n\r\n")

    with serving(nonsense) as (url, _), pytest.raises(UpdateError, match="cannot be reached"):
        get(url)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl, which makes a certificate, is not installed")
def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1", "-nodes")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-keyout", key, "-out", certificate, *subject]
    subprocess.run(made, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(sends(b"content")) as (url, _), socket.create_server(("127.0.0.1", 0)) as listener:
        plain = int(url.split(":")[2].split("/")[0])

        def forward() -> None:
            for _ in range(2):
                raw = listener.accept()[0]
                try:
                    with (
                        context.wrap_socket(raw, server_side=True) as client,
                        socket.create_connection(("127.0.0.1", plain)) as server,
                    ):
                        server.sendall(client.recv(65_536))
                        while piece := server.recv(65_536):
                            client.sendall(piece)
                except OSError:
                    raw.close()  # refused by the client

        thread = threading.Thread(target=forward, daemon=True)
        thread.start()
        secure = f"https://127.0.0.1:{listener.getsockname()[1]}/updates"
        with pytest.raises(UpdateError, match="cannot be reached"):
            get(secure)
        trusting = tls()
        trusting.load_verify_locations(certificate)
        assert asyncio.run(fetch(secure, trusting, 20)) == b"content"
        thread.join(5)


def test_a_build_without_a_key_looks_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "updates.json"
    path.write_text('{"url": "", "key": ""}')
    assert own_source(path) is None
    path.write_text(json.dumps({"url": "https://example.org/updates", "key": Signer().line}))
    assert own_source(path) == Source("https://example.org/updates", Signer().public)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"url": "http://example.org/", "key": "a"}', "begins with https"),
        ('{"url": "https://example.org/", "key": ""}', "public key for updates"),
        ('{"url": "", "key": "a"}', "begins with https"),
        ('{"url": "https://example.org/"}', "begins with https"),
        ("nonsense", "is not JSON"),
    ],
)
def test_a_wrong_file_is_reported(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "updates.json"
    path.write_text(text)
    with pytest.raises(UpdateError, match=why):
        own_source(path)


def test_this_checkout_has_a_file_that_is_right() -> None:
    found = own_source()
    assert found is None or found.url.startswith("https://")
    assert feed_source.LIMIT == 1 << 20

"""Communication with registries: redirects, tokens, certificates, and untrustworthy responses."""

import asyncio
import gc
import json
import shutil
import socket
import ssl
import subprocess
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import cache

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulling import HASTY, assert_complete, leftovers, name_at, open_queue, pull
from registry_server import endless, large_model, query_of, serving, status
from sotto.errors import DownloadError, InvalidNameError
from sotto.store.pull.bearer_tokens import token_url
from sotto.store.pull.progress import PullState
from sotto.store.pull.registry import Registry
from sotto.store.pull.threads import Loop
from sotto.store.sources.manifest import Layer
from sotto.store.sources.model_names import parse_name
from stores import LLAMA, assert_line, assert_sentence

TOKEN = "a.token-of/some+kind="


def failure_note(root, name, *mentions, **options):
    """Check that a download fails with a one-sentence message that mentions some words, and leaves nothing behind."""
    last = pull(root, name, **options).reports[-1]
    assert last.state is PullState.FAILED
    assert_line(last.note, *mentions)
    assert leftovers(root) == []
    assert list(root.rglob("sha256-*")) == []
    return last.note


def test_blobs_on_another_host(root, registry, tmp_path):
    """Check that blobs are fetched from another host, without sending the token there."""
    registry.token = TOKEN
    with serving(registry.store) as other:
        registry.redirect_to = f"http://{other.host}"
        pull(root, name_at(registry))
        assert_complete(root, registry)
        assert len(other.requests) == len(list((root / "blobs").iterdir()))
        assert all("authorization" not in request.headers for request in other.requests)
        assert any(request.headers.get("authorization") == f"Bearer {TOKEN}" for request in registry.requests)


def test_an_expired_redirect_is_requested_again(root, registry, large):
    """Check that the registry is asked again if the URL of a redirect has expired."""
    with serving(registry.store) as other:
        registry.redirect_to = f"http://{other.host}"
        other.fail(large, status(403, b"expired"))
        pull(root, name_at(registry))
        assert_complete(root, registry)
        assert len(registry.paths(large)) == 2


def test_one_token_is_used_for_all_requests(root, registry):
    registry.token = TOKEN
    pull(root, name_at(registry))
    assert_complete(root, registry)
    (target,) = registry.paths("/token")
    query = query_of(target)
    assert [key for key, _ in query] == ["nonce", "scope", "scope", "service", "ts"]
    assert [value for key, value in query if key == "scope"] == ["repository:library/m:pull", "other:x:pull"]
    assert dict(query)["service"] == "registry"
    assert len(dict(query)["nonce"]) == 22


def test_an_expired_token_is_renewed_once(root, registry, large):
    registry.token = TOKEN

    def expire(handler, content, start):
        registry.token = "another"
        handler.send_content(content, start)

    registry.fail("/manifests/", status(401, WWW_Authenticate=f'Bearer realm="http://{registry.host}/token"'), expire)
    pull(root, name_at(registry))
    assert_complete(root, registry)
    assert len(registry.paths("/token")) == 2


def test_a_token_of_another_host_is_not_requested(root, registry):
    registry.token = TOKEN
    with serving(registry.store) as other:
        registry.realm = f"http://{other.host}/token"
        failure_note(root, name_at(registry), "127.0.0.1", f"http://{other.host}/token", "its own address")
        assert other.requests == []


@pytest.mark.parametrize(
    ("challenge", "mention"),
    [
        ("", "bearer token"),
        ('Basic realm="x"', "Basic"),
        ("Bearer service=x", "bearer token"),
        ('Bearer realm="http://[::bad/"', "not an address"),
        ('Bearer realm="/token"', "its own address"),
    ],
)
def test_an_unsupported_challenge(root, registry, challenge, mention):
    registry.fail("/manifests/", *[status(401, WWW_Authenticate=challenge)] * 9)
    failure_note(root, name_at(registry), "127.0.0.1", mention)


@pytest.mark.parametrize(
    "answer", [b"{}", b"[]", b"x", b'{"token": "a\\r\\nHost: evil"}', b'{"token": 3}', b"[" * 99_999]
)
def test_an_answer_without_a_token(root, registry, answer):
    registry.token = TOKEN
    registry.fail("/token", *[status(200, answer)] * 9)
    failure_note(root, name_at(registry), "127.0.0.1")


def test_a_rejected_token(root, registry):
    registry.token = TOKEN
    registry.fail("/token", *[status(200, b'{"access_token": "wrong"}')] * 9)
    failure_note(root, name_at(registry), "401", "only public models")
    assert len(registry.paths("/manifests/")) == 2


def test_at_most_ten_redirects_are_followed(root, registry):
    for count, whole in ((10, True), (11, False)):
        registry.forgive()
        registry.fail("/manifests/", *[status(302, Location="./latest")] * count)
        note = pull(root, name_at(registry)).reports[-1].note
        assert ("more than 10 times" in note) != whole


@pytest.mark.parametrize("location", [
        "ftp://127.0.0.1/x", "file:///etc/passwd", "http://[::bad", "http:///x", "http://127.0.0.1:99999/",
        "http://a..b/", "http://" + "x" * 300, "http://\x7f/", "http://\xff/",
    ])  # fmt: skip
def test_invalid_redirects(root, registry, location):
    registry.fail("/manifests/", *[status(302, Location=location)] * 9)
    failure_note(root, name_at(registry))


@given(st.one_of(st.text(), st.from_regex(r'Bearer realm="[^"]*"(,\w+="?[^"]*"?)*')))
def test_any_challenge(challenge):
    """Check that any challenge is refused with a message or leads to a token request to the same origin."""
    url = httpx.URL("https://registry.example:5000/v2/a/b/manifests/c")
    try:
        url = token_url(challenge, url)
    except DownloadError as error:
        assert_line(error.message, "registry.example")
    else:
        assert (url.scheme, url.netloc) == ("https", b"registry.example:5000")


@cache
def example():
    return Registry(parse_name("registry.example/a/b"), HASTY)


@given(st.binary(max_size=60), st.sampled_from(["", "https://", "//", "https://registry.example/"]))
def test_any_redirect(location, before):
    """Check that any redirect is refused with a message or leads somewhere over TLS."""
    request = httpx.Request("GET", "https://registry.example/v2/a/b/manifests/c")
    response = httpx.Response(302, headers=[(b"Location", before.encode() + location)], request=request)
    try:
        url = example().redirect_target(response)
    except DownloadError as error:
        assert_line(error.message, "registry.example")
    else:
        assert url.scheme == "https"
        assert url.host


def test_an_unknown_model(root, registry):
    note = failure_note(root, name_at(registry, "other:8b"), "127.0.0.1", "other:8b", "check its name and tag")
    assert_sentence(note, name_at(registry, "other:8b"), "127.0.0.1")
    assert registry.paths() == ["/v2/library/other/manifests/8b"]


def test_messages_of_the_registry_are_shown(root, registry):
    registry.fail("/manifests/", status(412, b"pull  a newer\x1b[31m version\n" * 100))
    note = failure_note(root, name_at(registry), "412", "a newer\\x1b[31m version")
    assert len(note) < 300


def test_an_unreachable_registry(root, registry):
    last = pull(root, "127.0.0.1:1/library/m").reports
    assert last[-1].state is PullState.FAILED
    assert_sentence(last[-1].note, "127.0.0.1", "cannot be reached")
    assert PullState.RETRYING in [progress.state for progress in last]
    assert leftovers(root) == []


@pytest.mark.parametrize(
    "host", ["a..b", "x" * 64 + ".example", "h:1:2", "h:99999", "h:x", "a_b.invalid", "127.0.0.1:99999"]
)
def test_invalid_hosts(root, host):
    failure_note(root, f"{host}/library/m", patience=HASTY)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("ALL_PROXY", "socks5://127.0.0.1:1"), ("ALL_PROXY", "x://y"), ("SSL_CERT_FILE", "/nowhere")],
)
def test_an_invalid_environment(root, registry, monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    failure_note(root, name_at(registry), "environment", variable)


@pytest.mark.parametrize("text", ["", "a//b", "../m", "m:", "https://", "m:a/../b", "ftp://h/n/m", "http//x:y z"])
def test_invalid_names_are_refused_at_once(root, text):
    with open_queue(root) as (queue, log), pytest.raises(InvalidNameError):
        queue.add(text)
    assert log.reports == []
    assert not root.exists()


def test_insecure_connections_must_be_allowed_explicitly(root, registry):
    with open_queue(root, insecure=False) as (queue, log):
        with pytest.raises(InvalidNameError, match="https://"):
            queue.add(f"http://{name_at(registry)}")
        queue.add(name_at(registry))
        assert log.end().state is PullState.FAILED
    assert registry.requests == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificate")
    folder = tmp_path_factory.mktemp("tls")
    line = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(
        [*line.split(), "-keyout", folder / "key", "-out", folder / "certificate"], check=True, capture_output=True
    )
    return folder


def test_a_host_without_a_valid_certificate_receives_no_request(root, registry, certificate, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "certificate", certificate / "key")
    with serving(registry.store, context) as secure:
        note = failure_note(root, name_at(secure), "127.0.0.1 does not prove that it is 127.0.0.1", insecure=False)
        assert_sentence(note, "127.0.0.1")
        assert secure.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "certificate"))
        pull(root, f"https://{name_at(secure)}", insecure=False)
        assert_complete(root, secure)
        # A secure registry must not redirect to an insecure address.
        secure.redirect_to = f"http://{registry.host}"
        shutil.rmtree(root)
        log = pull(root, name_at(secure), insecure=False)
        assert_sentence(log.reports[-1].note, f"http://{registry.host}", "https")
        assert registry.requests == []


def manifest_of(registry, **changes):
    entries = json.loads(registry.store.path("library/m").read_bytes())
    return json.dumps(entries | changes).encode()


def test_hostile_manifests(root, registry):
    entries = json.loads(registry.store.path("library/m").read_bytes())
    tensor, config = entries["layers"][0], entries["config"]
    hostile = {
        "no JSON": b"<html>",
        "nested": b"[" * 200_000,
        "empty": b"",
        "a list": b"[]",
        "no layers": manifest_of(registry, layers=None),
        "an index": json.dumps({"schemaVersion": 2, "manifests": []}).encode(),
        "a path": manifest_of(registry, layers=[tensor | {"digest": "sha256:../../../../etc/passwd"}]),
        "a path behind": manifest_of(registry, layers=[tensor | {"digest": tensor["digest"] + "/../x"}]),
        "negative": manifest_of(registry, layers=[tensor | {"size": -1}]),
        "huge": manifest_of(registry, layers=[tensor | {"size": 1 << 62}]),
        "beyond": manifest_of(registry, layers=[tensor | {"size": 1 << 70}]),
        "a fraction": manifest_of(registry, layers=[tensor | {"size": 1e300}]),
        "two sizes": manifest_of(registry, layers=[*entries["layers"], tensor | {"size": tensor["size"] + 1}]),
        "a large config": manifest_of(registry, config=config | {"size": 64 << 20}),
        "no tensors": manifest_of(registry, layers=[]),
        "no tokenizer": manifest_of(registry, layers=entries["layers"][:-1]),
        "a tensor for config": manifest_of(registry, config=tensor | {"mediaType": "x"}),
    }
    for kind, data in hostile.items():
        registry.forgive()
        registry.fail("/manifests/", status(200, data))
        before = len(registry.requests)
        note = failure_note(root, name_at(registry))
        assert len(registry.requests) - before <= 3, kind
        assert tensor["digest"] not in " ".join(registry.paths()[before:]) or kind == "a tensor for config", kind
        assert "127.0.0.1" in note or "free" in note or "GGUF" in note or "sha256" in note, (kind, note)


def test_endless_bodies(root, registry, large):
    registry.fail("/manifests/", endless)
    failure_note(root, name_at(registry), "127.0.0.1", "4.19 MB")
    registry.fail(large, *[endless] * 9)
    log = pull(root, name_at(registry))
    assert log.reports[-1].state is PullState.FAILED
    assert_sentence(log.reports[-1].note, large)
    assert max(path.stat().st_size for path in root.rglob("*.part")) <= registry.store.blob_path(large).stat().st_size


def test_a_manifest_that_trickles(root, registry):
    def trickle(handler, content, start):
        handler.close_connection = True
        handler.send_response(200)
        handler.end_headers()
        while not handler.registry.released.wait(0.1):
            handler.wfile.write(b" ")

    registry.fail("/manifests/", *[trickle] * 9)
    failure_note(
        root,
        name_at(registry),
        "127.0.0.1",
        "has not answered for 0.5 seconds",
        patience=replace(HASTY, answer=0.5, silence=5.0),
    )


def test_pausing_closes_a_connection_during_its_tls_handshake(root):
    with socket.create_server(("127.0.0.1", 0)) as silent, open_queue(root, insecure=False) as (queue, log):
        name = f"127.0.0.1:{silent.getsockname()[1]}/library/m"
        # Unreferenced connections would be closed by the garbage collector.
        gc.disable()
        try:
            queue.add(name)
            connection, _ = silent.accept()
            with connection:
                connection.settimeout(20)
                assert connection.recv(1 << 16)
                queue.pause(name)
                assert log.end().state is PullState.PAUSED
                with suppress(ConnectionResetError):
                    assert connection.recv(1 << 16) == b""
        finally:
            gc.enable()


def test_connections_are_closed_even_if_the_download_is_stopped_meanwhile(registry):
    name = parse_name(name_at(registry))
    blobs = [path.name.removeprefix("sha256-") for path in (registry.store.root / "blobs").iterdir()][:3]

    async def fetch(source, digest):
        async with source.open_blob(Layer("tensor", digest, 0, ""), 0) as answer:
            # All of them are open at the same time, and stay open.
            await barrier.wait()
            assert [piece async for piece in answer.pieces]

    async def download():
        async with Registry(name, HASTY, insecure=True) as source:
            await asyncio.gather(*(fetch(source, digest) for digest in blobs))
            asyncio.current_task().cancel()

    async def work():
        try:
            await download()
        finally:
            asyncio.get_running_loop().hang_up()

    barrier = asyncio.Barrier(len(blobs))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with asyncio.Runner(loop_factory=Loop) as runner, suppress(asyncio.CancelledError):
            runner.run(work())
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


def test_an_empty_blob(root, registry):
    layers = [*registry.store.layers(3, LLAMA), registry.store.layer("license", b"")]
    registry.store.manifest("e", layers)
    pull(root, name_at(registry, "e:latest"))
    assert_complete(root, registry, "e:latest")


def test_a_blob_that_is_listed_twice_is_downloaded_once(root, registry):
    layers = registry.store.layers(3, LLAMA)
    registry.store.manifest("twice", [*layers, layers[0]])
    pull(root, name_at(registry, "twice:latest"))
    assert_complete(root, registry, "twice:latest")
    assert len(registry.paths()) == len(set(registry.paths()))


def test_models_of_different_hosts_have_different_names(root, tmp_path):
    with serving(large_model(tmp_path / "one")) as first, serving(large_model(tmp_path / "two", rows=32)) as second:
        pull(root, name_at(first))
        pull(root, name_at(second))
        assert {path.name for path in (root / "manifests").iterdir()} == {first.host, second.host}

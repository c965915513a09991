"""The server: which requests it admits, its limits, and how it stops."""

import json
import socket
import threading
import time
from contextlib import suppress

import httpx
import pytest

from raw_http import address_of, send_raw
from scripted_loop import Script, ScriptedLoop, record
from sotto.api.access import OriginError
from sotto.api.bodies import Room
from sotto.api.server import Address, AddressError, ApiServer
from sotto.runner.loop_host import LoopHost

CHAT = {"model": "sotto", "messages": [{"role": "user", "content": "Tell me a story"}]}
# The temperature is so high that the answer continues for thousands of tokens, which take seconds.
HOT = {"num_predict": 3000, "temperature": 5.0, "top_k": 0, "top_p": 1.0, "seed": 4}
RAW = {"model": "sotto", "prompt": "Once", "raw": True, "options": HOT}


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class TestGuard:
    @pytest.mark.parametrize(
        "named",
        ["127.0.0.1", "127.0.0.1:1", "localhost", "LOCALHOST:11535", "[::1]:80", "app.localhost", "10.0.0.3:80"],
    )
    def test_names_of_this_machine_are_admitted(self, served, named):
        assert served.http.get("/api/version", headers={"Host": named}).status_code == 200

    @pytest.mark.parametrize(
        "named",
        [
            *("evil.example", "evil.example:11535", "localhost.evil.example", "127.0.0.1.evil.example", "[::1"),
            *("x@localhost", "localhost@127.0.0.1:80", "a:b@localhost", "@localhost", "localhost@evil.example"),
            *("localhost evil.example", "localhost/evil", "localhost#", "localhost?", "127.0.0.1:80:80", "127.0.0.1:x"),
            *("localhost:123456", "[127.0.0.1", "[localhost]", ":80", "", "internal", "local", "x.local.evil.example"),
        ],
    )
    def test_other_names_are_refused(self, served, named):
        for method, path in (("GET", "/api/tags"), ("POST", "/api/chat"), ("GET", "/v1/models"), ("GET", "/nothing")):
            answer = served.http.request(method, path, headers={"Host": named})
            assert (answer.status_code, answer.text) == (403, "")

    def test_a_request_has_exactly_one_host(self, served):
        for version, hosts, status in (
            (b"1.0", [], 200),
            (b"1.1", [], 400),
            (b"1.1", [b"localhost", b"localhost"], 400),
            (b"1.1", [b"localhost", b"evil.example"], 400),
            (b"1.1", [b"localhost, evil.example"], 403),
        ):
            head = (
                b"GET / HTTP/"
                + version
                + b"\r\nConnection: close\r\n"
                + b"".join(b"Host: " + host + b"\r\n" for host in hosts)
            )
            assert send_raw(served.url, head + b"\r\n").startswith(b"HTTP/1.1 %d" % status)

    @pytest.mark.parametrize("named", ["x@localhost", "x@box.example", "box example", ""])
    def test_a_malformed_host_is_refused_on_every_address(self, serve, named):
        headers = {"Host": named, "Authorization": "Bearer s3cret"}
        assert serve(host="0.0.0.0", key="s3cret").http.get("/", headers=headers).status_code == 403

    @pytest.mark.parametrize(
        "named", ["host.docker.internal", "host.docker.internal:11535", "HOST.containers.internal", "box.local:80"]
    )
    def test_names_for_containers_need_a_key(self, served, serve, named):
        for path, words in (
            ("/api/tags", lambda body: body["error"]),
            ("/v1/models", lambda body: body["error"]["message"]),
            ("/v1/messages", lambda body: body["error"]["message"]),
        ):
            answer = served.http.get(path, headers={"Host": named})
            assert answer.status_code == 403
            assert words(answer.json()).startswith(f"Requests to {named} need an API key")
            assert "--key" in words(answer.json())
        keyed = serve(key="s3cret")
        for headers, status in (({}, 401), ({"X-Api-Key": "wrong"}, 401), ({"X-Api-Key": "s3cret"}, 200)):
            answer = keyed.http.get("/api/tags", headers=headers | {"Host": named})
            assert answer.status_code == status
        # A page served under such a name is refused, with or without a key, unless its origin is allowed.
        page = {"Host": named, "Origin": "http://evil.example", "X-Api-Key": "s3cret"}
        assert keyed.http.get("/api/tags", headers=page).status_code == 403

    @pytest.mark.parametrize(
        "origin",
        ["http://evil.example", "null", "http://localhost:3000", "file://", "https://127.0.0.1", "", "http://"],
    )
    def test_pages_are_refused(self, served, origin):
        for method in ("GET", "POST", "OPTIONS"):
            answer = served.http.request(method, "/api/chat", headers={"Origin": origin})
            assert answer.status_code == 403
            assert not [name for name in answer.headers if name.startswith("access-control")]

    @pytest.mark.parametrize(
        ("origins", "let_in", "refused"),
        [
            ("http://localhost:*, https://app.example.com", "http://localhost:3000", "https://localhost:3000"),
            ("http://localhost:*, https://app.example.com", "https://app.example.com", "https://app.example.com:1"),
            ("https://*.example.com/", "https://a.b.example.com", "https://example.com"),
            ("https://*.example.com", "https://x.example.com", "https://evil.com/x.example.com"),
            ("app://*", "app://sotto", "null"),
            ("http://LOCALHOST:3000", "http://localhost:3000", "http://localhost.evil.example:3000"),
        ],
    )
    def test_allowed_pages_are_admitted(self, serve, origins, let_in, refused):
        served = serve(origins=origins)
        answer = served.http.get("/api/version", headers={"Origin": let_in})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, let_in)
        assert "Origin" in answer.headers["vary"]
        for method in ("GET", "OPTIONS"):
            answer = served.http.request(method, "/api/version", headers={"Origin": refused})
            assert answer.status_code == 403
            assert not [name for name in answer.headers if name.startswith("access-control")]
        # The owner of any name can point it at this machine and serve a page under it.
        assert served.http.get("/", headers={"Origin": let_in, "Host": "evil.example"}).status_code == 403

    def test_a_preflight_request_lists_what_a_page_may_send(self, serve):
        served = serve(origins="*", key="s3cret")
        asks = {
            "Origin": "https://page.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type, openai-beta, x-stainless-os, x-api-key",
        }
        answer = served.http.options("/v1/chat/completions", headers=asks)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "https://page.example")
        assert "POST" in answer.headers["access-control-allow-methods"]
        allowed = {name.strip().lower() for name in answer.headers["access-control-allow-headers"].split(",")}
        # The headers of the clients of Ollama, OpenAI and Anthropic.
        assert {"authorization", "content-type", "user-agent", "accept", "x-requested-with", "openai-beta"} <= allowed
        assert {
            f"x-stainless-{name}" for name in ("arch", "lang", "os", "runtime", "retry-count", "timeout")
        } <= allowed
        assert {"x-api-key", "anthropic-version"} <= allowed
        assert served.http.options("/v1/models", headers=asks | {"Access-Control-Request-Headers": "cookie"}).is_error
        # The request itself still needs the key, and the page may read the error.
        answer = served.http.get("/v1/models", headers={"Origin": "https://page.example"})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (401, "https://page.example")

    @pytest.mark.parametrize("origins", ["example.com", "http://a b", "https://a.example/path", "http://a,nonsense"])
    def test_an_invalid_origin_is_reported(self, host, origins):
        with pytest.raises(OriginError, match="is not an origin; it should look like"):
            ApiServer(host, Address("127.0.0.1", 0, origins=origins)).start()

    def test_the_servers_own_origin_is_admitted(self, served):
        answer = served.http.get("/api/version", headers={"Origin": served.url})
        assert answer.status_code == 200
        assert "access-control-allow-origin" not in answer.headers

    def test_a_configured_key_is_required(self, serve):
        served = serve(key="s3cret")
        for path, shape in (
            ("/api/tags", lambda body: body["error"]),
            ("/v1/models", lambda body: body["error"]["message"]),
            ("/v1/messages", lambda body: body["error"]["message"]),
        ):
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "s3cret"}, {"X-Api-Key": b"\xe9"}):
                answer = served.http.get(path, headers=headers)
                assert answer.status_code == 401
                assert "API key" in shape(answer.json())
                assert answer.headers["www-authenticate"] == "Bearer"
        for headers in (
            {"Authorization": "Bearer s3cret"},
            {"authorization": "bearer s3cret"},
            {"X-Api-Key": "s3cret"},
        ):
            assert served.http.get("/v1/models", headers=headers).status_code == 200

    def test_other_machines_need_a_key(self, host):
        with pytest.raises(AddressError, match="set an API key first"):
            ApiServer(host, Address("0.0.0.0", 0)).start()

    def test_with_a_key_other_machines_may_use_any_name(self, serve):
        served = serve(host="0.0.0.0", key="s3cret")
        headers = {"Host": "box.example", "Authorization": "Bearer s3cret"}
        assert served.http.get("/api/version", headers=headers).status_code == 200
        assert served.http.get("/api/version", headers={"Host": "box.example"}).status_code == 401


class TestBounds:
    def test_a_body_that_is_too_large_is_refused_as_it_comes(self, served):
        # Send less than announced, because the announced length alone must be enough to refuse.
        head = f"POST /api/embed HTTP/1.1\r\nHost: localhost\r\nContent-Length: {1 << 40}\r\n\r\n".encode()
        answer = send_raw(served.url, head + b"x" * ((32 << 20) + 1))
        assert answer.startswith(b"HTTP/1.1 413")
        assert b"larger than 32 MiB" in answer

    def test_bodies_sent_at_once_share_a_memory_limit(self, served, monkeypatch):
        room = Room(1 << 20)
        monkeypatch.setattr("sotto.api.bodies._ROOM", room)
        host, port = served.url.removeprefix("http://").rsplit(":", 1)
        large = CHAT | {"stream": False, "other": "x" * (600 << 10)}
        with socket.create_connection((host, int(port)), timeout=10) as sending:
            head = b"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
            sending.sendall(head + b"x" * 900_000)
            wait_until(lambda: room._free == (1 << 20) - 900_000)
            assert served.http.post("/api/chat", json=large).status_code == 503
            assert "server busy" in served.http.post("/api/chat", json=large).json()["error"]
            assert served.http.post("/api/chat", json=CHAT | {"stream": False}).status_code == 200
        wait_until(lambda: served.http.post("/api/chat", json=large).status_code == 200)

    @pytest.mark.parametrize(
        "body",
        [
            b"[" * 100_000,
            b'{"model": ' + b"[" * 5000,
            b'{"model": "sotto", "options": {"seed": 1' + b"0" * 5000 + b"}}",
            b'{"model": "sotto", "messages": [{"role": "user", "content": "\\ud800"}]}',
            b'{"model": "sotto", "messages": "no"}',
            b'{"model": "sotto", "messages": [1]}',
            b'{"model": "sotto", "messages": [{"role": 1}]}',
            b'{"model": ["sotto"]}',
            b'{"model": "sotto", "options": [], "messages": [{"role": "user", "content": "a"}]}',
            b'{"model": "sotto", "stream": "yes", "messages": [{"role": "user", "content": "a"}]}',
            b'{"model": "sotto", "keep_alive": [], "messages": [{"role": "user", "content": "a"}]}',
            b'{"model": "sotto", "keep_alive": "1h1", "messages": [{"role": "user", "content": "a"}]}',
            b'{"model": "sotto", "options": {"temperature": NaN}, "messages": [{"role": "user", "content": "a"}]}',
            b"\xff\xfe",
            b"{}{}",
        ],
    )
    @pytest.mark.parametrize("path", ["/api/chat", "/v1/chat/completions", "/v1/messages"])
    def test_malformed_requests_are_client_errors(self, served, path, body):
        answer = served.http.post(path, content=body)
        assert answer.status_code in (400, 404) or (path != "/api/chat" and answer.status_code == 200)
        if answer.status_code == 400:
            error = answer.json()["error"]
            message = error if isinstance(error, str) else error["message"]
            assert "Traceback" not in message
            assert len(message) < 400

    @pytest.mark.parametrize(
        "name", ["/etc/passwd", "../sotto", "~/model", "sot", "", "cf09f6fdd4fb", "a\0b", "x" * 9999]
    )
    def test_only_listed_names_are_models(self, served, name):
        for path in ("/api/chat", "/v1/chat/completions"):
            assert served.http.post(path, json=CHAT | {"model": name}).status_code in (400, 404)

    def test_a_request_has_a_hundred_headers_at_most(self, served):
        many = {f"X-{number}": "x" for number in range(120)}
        answer = served.http.get("/api/version", headers=many)
        assert (answer.status_code, answer.json()["error"]) == (431, "The request has more than 100 headers.")

    @pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: loc"])
    def test_a_connection_that_stalls_in_its_request_is_closed(self, serve, monkeypatch, said):
        monkeypatch.setattr("sotto.runner.serving.connections.HEAD_SECONDS", 0.2)
        assert send_raw(serve().url, said) == b""

    def test_a_connection_that_waits_for_a_slow_answer_stays_open(self, serve, monkeypatch):
        monkeypatch.setattr("sotto.runner.serving.connections.HEAD_SECONDS", 0.2)
        options = HOT | {"num_predict": 400}
        answer = serve().http.post("/api/generate", json=RAW | {"stream": False, "options": options}).json()
        assert answer["total_duration"] > 0.2e9
        assert answer["eval_count"] == 400

    def test_garbage_is_refused(self, served):
        assert send_raw(served.url, b"\x16\x03\x01\x02\x00garbage\r\n\r\n").startswith(b"HTTP/1.1 400")
        assert served.http.get("/").status_code == 200

    @pytest.mark.parametrize("pieces", [1, 40])
    @pytest.mark.parametrize(
        ("size", "status"), [(64 << 10, 200), ((64 << 10) + 1, 431), (100_000, 431), (1 << 20, 431)]
    )
    def test_the_size_of_a_head_is_limited(self, served, size, status, pieces):
        beginning, end = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: ", b"\r\n\r\n"
        head = beginning + b"x" * (size - len(beginning) - len(end)) + end
        answer = send_raw(
            served.url, *(head[at : at + size // pieces + 1] for at in range(0, size, size // pieces + 1))
        )
        assert answer.startswith(f"HTTP/1.1 {status}".encode())
        assert (b"The head of the request is larger than 64 KiB" in answer) == (status == 431)

    def test_the_size_of_a_pipelined_head_is_limited(self, served):
        first = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        answer = send_raw(served.url, first + first[:-2] + b"X: " + b"x" * 100_000 + b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200")
        assert b"HTTP/1.1 431" in answer

    @pytest.mark.parametrize("connection", ["close", "keep-alive"])
    def test_a_body_that_is_announced_as_too_large_is_refused_at_once(self, served, connection):
        head = f"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nConnection: {connection}\r\nContent-Length: {10**12}"
        answer = send_raw(served.url, head.encode() + b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 413")
        assert b"larger than 160 MiB" in answer

    @pytest.mark.parametrize("connection", ["close", "keep-alive"])
    def test_a_body_that_is_too_large_is_not_read_to_its_end(self, served, connection):
        """Check that the server reads little more than the limit from an endless body."""
        head = f"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nConnection: {connection}\r\nTransfer-Encoding: chunked"
        chunk, sent, answer = b"100000\r\n" + b"x" * (1 << 20) + b"\r\n", 0, b""
        with socket.create_connection(address_of(served.url), timeout=20) as sending:
            sending.sendall(head.encode() + b"\r\n\r\n")
            with suppress(ConnectionResetError, BrokenPipeError):
                while sent < 300:
                    sending.sendall(chunk)
                    sent += 1
            with suppress(ConnectionResetError):
                while piece := sending.recv(1 << 16):
                    answer += piece
        # Socket buffers hold some megabytes.
        assert 160 <= sent < 190
        assert answer.startswith(b"HTTP/1.1 413")
        assert b"larger than 160 MiB" in answer

    def test_the_body_of_a_refused_request_is_read(self, serve):
        served = serve(key="s3cret")
        head = b"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000000\r\n\r\n"
        assert send_raw(served.url, head, *([b"x" * 100_000] * 80)).startswith(b"HTTP/1.1 401")

    def test_a_request_of_ambiguous_length_is_refused(self, served):
        body = b"0\r\n\r\n"
        for headers in (
            b"Content-Length: 5\r\nTransfer-Encoding: chunked",
            b"Transfer-Encoding: chunked\r\nContent-Length: 5",
            b"Content-Length: 5\r\nContent-Length: 6",
        ):
            head = b"POST /api/chat HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n\r\n"
            answer = send_raw(served.url, head + body + b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 400")
            assert answer.count(b"HTTP/1.1") == 1


class TestLeaving:
    @pytest.mark.parametrize("stream", [True, False])
    def test_disconnecting_ends_the_answer(self, served, stream):
        body = json.dumps(RAW | {"stream": stream}).encode()
        head = f"POST /api/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        host, port = served.url.removeprefix("http://").rsplit(":", 1)
        connection = socket.create_connection((host, int(port)))
        connection.sendall(head + body)
        wait_until(lambda: served.host._answering)
        connection.close()
        wait_until(lambda: not served.host._answering)

    def test_disconnecting_while_waiting_frees_the_place(self, served):
        # Ten long answers fill the engine; the waiting clients disconnect, and the next one is served.
        threads = []
        for _ in range(10):

            def leave():
                with pytest.raises(httpx.ReadTimeout):
                    httpx.post(served.url + "/api/generate", json=RAW | {"stream": False}, timeout=0.3)

            threads.append(threading.Thread(target=leave))
            threads[-1].start()
        for thread in threads:
            thread.join()
        wait_until(lambda: not served.host._answering)
        assert served.http.post("/api/chat", json=CHAT | {"stream": False}).status_code == 200

    def test_a_slow_reader_gets_the_whole_answer(self, served):
        options = HOT | {"num_predict": 300}
        fast = served.http.post("/api/generate", json=RAW | {"stream": False, "options": options}).json()["response"]
        text = ""
        with served.http.stream("POST", "/api/generate", json=RAW | {"options": options}) as answer:
            for line in answer.iter_lines():
                time.sleep(0.001)
                text += json.loads(line)["response"]
        assert text == fast

    def test_a_client_that_reads_nothing_blocks_nothing(self, serve, monkeypatch):
        monkeypatch.setattr("sotto.api.answers.STALL_SECONDS", 0.3)
        # 40 MB in all, far more than socket buffers hold; sending it takes less than a second.
        script = Script(chunks=["x" * 20_000] * 2000)
        host = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, script), models=lambda: (record("tiny:latest"),))
        served = serve(host)
        body = json.dumps(CHAT | {"model": "tiny"}).encode()
        head = f"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        address, port = served.url.removeprefix("http://").rsplit(":", 1)
        with socket.create_connection((address, int(port)), timeout=10) as connection:
            connection.sendall(head + body)
            wait_until(lambda: host._answering)
            wait_until(lambda: not host._answering, 10)
            assert served.http.get("/api/version").status_code == 200
            # Only the beginning of the answer was sent.
            received = b""
            with suppress(ConnectionResetError):
                while piece := connection.recv(1 << 20):
                    received += piece
            assert 0 < received.count(b"x") < 40_000_000
            assert b'"done":true' not in received
        assert host.close()

    def test_many_concurrent_requests_are_all_answered(self, served):
        options = {"temperature": 0, "num_predict": 40}
        alone = served.http.post("/api/generate", json=RAW | {"options": options, "stream": False}).json()["response"]
        texts = {}

        def ask(number):
            with httpx.stream(
                "POST", served.url + "/api/generate", json=RAW | {"options": options}, timeout=60
            ) as answer:
                texts[number] = "".join(json.loads(line)["response"] for line in answer.iter_lines())

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert texts == dict.fromkeys(range(24), alone)


class TestEnd:
    def test_the_port_can_be_reused_after_a_stop(self, host):
        first = ApiServer(host, Address("127.0.0.1", 0))
        first.start()
        port = int(first.url.rsplit(":", 1)[1])
        with pytest.raises(AddressError, match=f"Port {port} is in use by another program"):
            ApiServer(host, Address("127.0.0.1", port)).start()
        httpx.get(first.url)
        assert first.stop()
        assert first.url == ""
        second = ApiServer(host, Address("127.0.0.1", port))
        second.start()
        assert httpx.get(second.url).text == "Ollama is running"
        assert second.stop()

    def test_late_connections_are_closed(self, host):
        """Check connections that are accepted after the server has closed the others, but before it stops listening."""

        def connect_repeatedly():
            while not ended.is_set():
                with suppress(OSError):
                    late.append(socket.create_connection(where, 5))

        for _ in range(5):
            server = ApiServer(host, Address("127.0.0.1", 0))
            server.start()
            where = ("127.0.0.1", int(server.url.rsplit(":", 1)[1]))
            late, ended = [], threading.Event()
            coming = threading.Thread(target=connect_repeatedly)
            coming.start()
            wait_until(lambda: len(late) > 50)  # noqa: B023
            assert server.stop()
            ended.set()
            coming.join()
            for connection in late:
                with connection, suppress(ConnectionResetError):
                    assert connection.recv(1) == b""

    def test_running_answers_report_the_stop(self, host):
        server = ApiServer(host, Address("127.0.0.1", 0))
        server.start()
        with httpx.stream("POST", server.url + "/api/generate", json=RAW, timeout=20) as answer:
            lines = answer.iter_lines()
            next(lines)
            began = time.monotonic()
            assert server.stop()
            assert time.monotonic() - began < 2
            last = list(lines)[-1]
        assert json.loads(last) == {"error": "The server is stopping."}
        wait_until(lambda: not host._answering)

    @pytest.mark.parametrize(
        ("address", "message"),
        [
            (("no.such.host.invalid", 0), "no.such.host.invalid cannot be resolved"),
            (("192.0.2.1", 0), "192.0.2.1 is not an address of this machine"),
        ],
    )
    def test_an_impossible_address_is_reported(self, host, address, message):
        with pytest.raises(AddressError, match=message):
            ApiServer(host, Address(*address, key="k")).start()

    @pytest.mark.parametrize("key", ["clé", "two words", "a\nb", "k" * 1001])
    def test_a_key_that_clients_cannot_send_is_reported(self, host, key):
        with pytest.raises(AddressError, match="A key can have up to 1,000 ASCII letters, digits and symbols"):
            ApiServer(host, Address("127.0.0.1", 0, key=key)).start()

    def test_a_failed_start_is_reported(self, host, monkeypatch):
        def broken(*_, **__):
            raise ValueError("out of order")

        monkeypatch.setattr("sotto.api.server.application", broken)
        server = ApiServer(host, Address("127.0.0.1", 0))
        with pytest.raises(ValueError, match="out of order"):
            server.start()
        assert server.url == ""
        assert server.stop()

"""Many concurrent clients in a separate process: `python load_clients.py`.

Each line on stdin is a JSON object, `{"port", "model", "clients", "prompts", "tokens"}`. That many clients share the
prompts; each sends one streaming chat request after another, each over a new connection. The response is a line of
JSON: `{"seconds", "answers": [{"text", "tokens", "first", "error"}]}`, in the order of the prompts, where `first` is
the seconds to the first text, and `error` is empty for a stream that ended properly.

While the clock runs, received data is only stored with its time. It is parsed afterwards, because parsing would take
processor time from the server.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator

import h11

_READ_BYTES = 1 << 16
_TIMEOUT_SECONDS = 600
_DATA = b"data: "


async def _ask(port: int, body: bytes) -> tuple[float, list[tuple[float, bytes]], str]:
    """Send one request; return its start time, the received pieces with their times, and an error."""
    began, pieces = time.perf_counter(), list[tuple[float, bytes]]()
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(
                    b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
                )
                while piece := await reader.read(_READ_BYTES):
                    pieces.append((time.perf_counter(), piece))
            finally:
                writer.close()
    except (OSError, TimeoutError) as error:
        return began, pieces, f"{type(error).__name__}: {error}"
    return began, pieces, ""


def _events(pieces: list[tuple[float, bytes]]) -> Iterator[tuple[float, str]]:
    """Yield the server-sent events of an answer, each with its time.

    Raises:
        ValueError: It is not a complete stream of events.
    """
    reading, rest = h11.Connection(h11.CLIENT), b""
    reading.send(h11.Request(method="POST", target="/", headers=[("Host", "x"), ("Content-Length", "0")]))
    reading.send(h11.EndOfMessage())
    for when, piece in (*pieces, (pieces[-1][0] if pieces else 0.0, b"")):
        reading.receive_data(piece)
        while (part := reading.next_event()) is not h11.NEED_DATA:
            if isinstance(part, h11.Response) and part.status_code != 200:
                raise ValueError(f"status {part.status_code}")
            if isinstance(part, h11.Data):
                *events, rest = (rest + bytes(part.data)).split(b"\n\n")
                # Others are comments, which servers send as keep-alive messages.
                yield from ((when, event.decode()[len(_DATA) :]) for event in events if event.startswith(_DATA))
            if isinstance(part, h11.EndOfMessage):
                if rest:
                    raise ValueError("the last event is incomplete")
                return


def _parse_answer(began: float, pieces: list[tuple[float, bytes]], error: str) -> dict[str, object]:
    """Return the text, the number of tokens, the time to the first text and the error of an answer."""
    texts, tokens, first, last, reason = list[str](), 0, 0.0, "", None
    try:
        for when, last in _events(pieces):
            if last == "[DONE]":
                continue
            read = json.loads(last)
            tokens = (read.get("usage") or {}).get("completion_tokens", tokens)
            for choice in read.get("choices", ()):
                reason = choice["finish_reason"] or reason
                if text := choice["delta"].get("content"):
                    first = first or when - began
                    texts.append(text)
        if not error and (last != "[DONE]" or reason is None):
            error = f"the stream ends with {last[:80]!r}"
    except (ValueError, KeyError, h11.RemoteProtocolError) as wrong:
        error = error or f"{type(wrong).__name__}: {wrong}"
    return {"text": "".join(texts), "tokens": tokens, "first": first, "error": error}


async def _run(request: dict) -> dict[str, object]:
    bodies = [
        json.dumps(
            {
                "model": request["model"],
                "messages": [{"role": "user", "content": prompt}],
                "max_tokens": request["tokens"],
                "temperature": 0,
                "stream": True,
                "stream_options": {"include_usage": True},
            }
        ).encode()
        for prompt in request["prompts"]
    ]
    waiting = iter(enumerate(bodies))
    found: dict[int, tuple[float, list[tuple[float, bytes]], str]] = {}

    async def client() -> None:
        for number, body in waiting:
            found[number] = await _ask(request["port"], body)

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(request["clients"])))
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "answers": [_parse_answer(*found[number]) for number in range(len(bodies))]}


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(asyncio.run(_run(json.loads(line)))), flush=True)


main()

"""Many clients at once, in a process of their own: `python load_clients.py`.

For each line of JSON on stdin, `{"port", "model", "clients", "prompts", "tokens"}`, that many clients share the prompts
out among themselves; each asks for one chat after another as a stream, over a connection of its own. The answer is a
line of JSON: `{"seconds", "answers": [{"text", "tokens", "first", "error"}]}`, in the order of the prompts, with
`first` the seconds to the first text and `error` empty for a stream that ended as it should.

While the clock runs, what comes is only kept with its time; it is taken apart afterwards, as a client that is busy with
that would take the processor from the server.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator

import h11

_PIECE = 1 << 16
_SECONDS = 600
_DATA = b"data: "


async def _ask(port: int, body: bytes) -> tuple[float, list[tuple[float, bytes]], str]:
    """Ask once; return when that was, what came when, and what went wrong."""
    began, came = time.perf_counter(), list[tuple[float, bytes]]()
    try:
        async with asyncio.timeout(_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(
                    b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
                )
                while piece := await reader.read(_PIECE):
                    came.append((time.perf_counter(), piece))
            finally:
                writer.close()
    except (OSError, TimeoutError) as error:
        return began, came, f"{type(error).__name__}: {error}"
    return began, came, ""


def _events(came: list[tuple[float, bytes]]) -> Iterator[tuple[float, str]]:
    """Yield the server-sent events of an answer, each with when it was there.

    Raises:
        ValueError: It is not a whole stream of events.
    """
    reading, rest = h11.Connection(h11.CLIENT), b""
    reading.send(h11.Request(method="POST", target="/", headers=[("Host", "x"), ("Content-Length", "0")]))
    reading.send(h11.EndOfMessage())
    for when, piece in (*came, (came[-1][0] if came else 0.0, b"")):
        reading.receive_data(piece)
        while (part := reading.next_event()) is not h11.NEED_DATA:
            if isinstance(part, h11.Response) and part.status_code != 200:
                raise ValueError(f"status {part.status_code}")
            if isinstance(part, h11.Data):
                *events, rest = (rest + bytes(part.data)).split(b"\n\n")
                # Others are comments, with which a server says that it is still there.
                yield from ((when, one.decode()[len(_DATA) :]) for one in events if one.startswith(_DATA))
            if isinstance(part, h11.EndOfMessage):
                if rest:
                    raise ValueError("the last event is not whole")
                return


def _told(began: float, came: list[tuple[float, bytes]], error: str) -> dict[str, object]:
    """Return what an answer says."""
    texts, tokens, first, last, reason = list[str](), 0, 0.0, "", None
    try:
        for when, last in _events(came):
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


async def _run(asked: dict) -> dict[str, object]:
    bodies = [
        json.dumps(
            {
                "model": asked["model"],
                "messages": [{"role": "user", "content": prompt}],
                "max_tokens": asked["tokens"],
                "temperature": 0,
                "stream": True,
                "stream_options": {"include_usage": True},
            }
        ).encode()
        for prompt in asked["prompts"]
    ]
    waiting = iter(enumerate(bodies))
    found: dict[int, tuple[float, list[tuple[float, bytes]], str]] = {}

    async def client() -> None:
        for number, body in waiting:
            found[number] = await _ask(asked["port"], body)

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(asked["clients"])))
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "answers": [_told(*found[number]) for number in range(len(bodies))]}


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(asyncio.run(_run(json.loads(line)))), flush=True)


main()

"""`/metrics`: what is served and how fast, for Prometheus."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Hashable, Iterable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from http import HTTPStatus
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sotto.api.desk import Desk, Visit
from sotto.engine.contract.events import Embedded, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.requests import EmbedRequest, GenerateRequest
from sotto.runner.host import Host
from sotto.store.records import ModelRecord

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
# Nobody heard the answer, as Ollama and nginx say it.
_LEFT = 499


class Metrics:
    """Counts what is served.

    Attributes:
        requests: By route and status.
        read: Tokens of prompts by model, cached ones included.
        cached: How many of those were not computed again.
        written: Tokens of answers by model.
        went_alone: Answers by model that went on by themselves because a step shared with others failed.
        first_token: Seconds from a request that was let in until there is something of its answer.
        waiting: Requests that wait for their model to be loaded, or for their turn.
    """

    def __init__(self, host: Host) -> None:
        """Begin at zero; what `host` has loaded is asked for whenever somebody wants to know."""
        self._host = host
        self._registry = CollectorRegistry()
        labels, registry = ("model",), self._registry
        self.requests = Counter("sotto_requests", "Requests answered.", ("route", "status"), registry=registry)
        self.read = Counter("sotto_prompt_tokens", "Tokens of prompts.", labels, registry=registry)
        self.cached = Counter("sotto_cached_tokens", "Tokens of prompts not computed again.", labels, registry=registry)
        self.written = Counter("sotto_generated_tokens", "Tokens of answers.", labels, registry=registry)
        self.went_alone = Counter(
            "sotto_shared_step_failures",
            "Answers that went on by themselves because a step shared with others failed.",
            labels,
            registry=registry,
        )
        self.first_token = Histogram(
            "sotto_time_to_first_token_seconds",
            "Time until there is something of an answer, once its model is loaded.",
            labels,
            registry=registry,
            buckets=_SECONDS,
        )
        self.waiting = Gauge("sotto_waiting_requests", "Requests that wait for a model or a turn.", registry=registry)
        registry.register(self)

    def routes(self) -> list[Route]:
        """Return what is answered here."""
        return [Route("/metrics", self._tell)]

    def collect(self) -> Iterable[Metric]:
        """Yield what is loaded now; called by the registry."""
        memory = GaugeMetricFamily("sotto_model_memory_bytes", "Memory that a loaded model takes.", labels=("model",))
        for resident in self._host.resident_models:
            memory.add_metric((resident.record.name,), resident.nbytes)
        yield memory
        yield GaugeMetricFamily("sotto_models_loaded", "Models that are loaded.", value=len(memory.samples))

    async def _tell(self, request: Request) -> Response:
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)


class CountedDesk(Desk):
    """A desk that counts what is asked at it."""

    def __init__(self, host: Host, metrics: Metrics) -> None:
        """Let requests in to `host`, and count them."""
        super().__init__(host)
        self._metrics = metrics

    @asynccontextmanager
    async def visit(
        self, record: ModelRecord, num_ctx: int | None = None, keep_alive: float | None = None
    ) -> AsyncIterator[Visit]:
        """As `Desk.visit`; counts who waits."""
        async with AsyncExitStack() as stack:
            with self._metrics.waiting.track_inprogress():
                visit = await stack.enter_async_context(super().visit(record, num_ctx, keep_alive))
            yield visit

    async def answer(
        self, visit: Visit, request: GenerateRequest
    ) -> AsyncGenerator[PrefillProgress | TextChunk | Finished, None]:
        """As `Desk.answer`; counts who waits, tokens, and how long the first one takes."""
        metrics, name = self._metrics, visit.info.name
        began, waits, told = time.perf_counter(), True, False
        metrics.waiting.inc()
        try:
            async with aclosing(super().answer(visit, request)) as events:
                async for event in events:
                    if waits:
                        waits = False
                        metrics.waiting.dec()
                    if isinstance(event, TextChunk) and event.token_ids:
                        if not told:
                            told = True
                            metrics.first_token.labels(name).observe(time.perf_counter() - began)
                        metrics.written.labels(name).inc(len(event.token_ids))
                    elif isinstance(event, Finished):
                        metrics.read.labels(name).inc(event.prompt_tokens)
                        metrics.cached.labels(name).inc(event.cached_tokens)
                        metrics.went_alone.labels(name).inc(bool(event.shared_fault))
                    yield event
        finally:
            if waits:
                metrics.waiting.dec()

    async def embed(self, visit: Visit, request: EmbedRequest) -> Embedded:
        """As `Desk.embed`; counts tokens."""
        done = await super().embed(visit, request)
        self._metrics.read.labels(visit.info.name).inc(done.prompt_tokens)
        return done


class Counting:
    """Counts requests by route and status."""

    def __init__(self, inner: ASGIApp, routes: Sequence[Route], metrics: Metrics) -> None:
        """Count what `inner` answers.

        Args:
            inner: What answers.
            routes: What is served; the names of others' addresses are not kept.
            metrics: Where it is counted.
        """
        self._inner = inner
        self._paths: dict[Hashable, str] = {route.endpoint: route.path for route in routes}
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, and count it."""
        status: int = _LEFT

        async def sending(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._inner(scope, receive, sending)
        except Exception:
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            raise
        finally:
            # The router leaves here whom it gave the request to.
            route = self._paths.get(scope.get("endpoint"), "other")
            self._metrics.requests.labels(route, str(int(status))).inc()

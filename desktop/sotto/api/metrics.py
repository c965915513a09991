"""What is recorded of requests: counts and timings for Prometheus (`/metrics`), and the log of single requests."""

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
from sotto.api.request_log import RequestLog, Stage, current_request, serving
from sotto.engine.contract.events import Embedded, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.requests import EmbedRequest, GenerateRequest
from sotto.runner.host import Host
from sotto.store.records import ModelRecord

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
# The status that Ollama and nginx record when the client disconnects before the response.
_CLIENT_CLOSED_REQUEST = 499


class Metrics:
    """The metrics of the API.

    Attributes:
        requests: Requests by route and status.
        read: Prompt tokens by model, including cached ones.
        cached: Prompt tokens by model that were taken from the cache.
        written: Generated tokens by model.
        went_alone: Answers by model that went on by themselves because a step shared with others failed.
        first_token: Seconds until the first token of an answer, from when its model is loaded.
        waiting: Requests that wait for their model to be loaded, or for their turn.
    """

    def __init__(self, host: Host) -> None:
        """Begin at zero; the loaded models are read from `host` at each scrape."""
        self._host = host
        self._registry = CollectorRegistry()
        labels, registry = ("model",), self._registry
        self.requests = Counter("sotto_requests", "Requests answered.", ("route", "status"), registry=registry)
        self.read = Counter("sotto_prompt_tokens", "Tokens of prompts.", labels, registry=registry)
        self.cached = Counter("sotto_cached_tokens", "Prompt tokens found in the cache.", labels, registry=registry)
        self.written = Counter("sotto_generated_tokens", "Tokens of answers.", labels, registry=registry)
        self.went_alone = Counter(
            "sotto_shared_step_failures",
            "Answers that continued alone after a step shared with others failed.",
            labels,
            registry=registry,
        )
        self.first_token = Histogram(
            "sotto_time_to_first_token_seconds",
            "Time to the first token, once the model is loaded.",
            labels,
            registry=registry,
            buckets=_SECONDS,
        )
        self.waiting = Gauge(
            "sotto_waiting_requests", "Requests waiting for a model or for their turn.", registry=registry
        )
        registry.register(self)

    def routes(self) -> list[Route]:
        """Return the route of the metrics."""
        return [Route("/metrics", self._serve)]

    def collect(self) -> Iterable[Metric]:
        """Yield the metrics of the models loaded now; called by the registry."""
        memory = GaugeMetricFamily("sotto_model_memory_bytes", "Memory used by a loaded model.", labels=("model",))
        for resident in self._host.resident_models:
            memory.add_metric((resident.record.name,), resident.nbytes)
        yield memory
        yield GaugeMetricFamily("sotto_models_loaded", "Loaded models.", value=len(memory.samples))

    async def _serve(self, request: Request) -> Response:
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)


class CountedDesk(Desk):
    """A desk that counts its requests, and reports to the log what each is doing."""

    def __init__(self, host: Host, metrics: Metrics) -> None:
        """Pass requests to `host` and count them in `metrics`."""
        super().__init__(host)
        self._metrics = metrics

    @asynccontextmanager
    async def visit(
        self, record: ModelRecord, num_ctx: int | None = None, keep_alive: float | None = None
    ) -> AsyncIterator[Visit]:
        """Do the same as `Desk.visit`, and count the waiting requests."""
        request = current_request()
        async with AsyncExitStack() as stack:
            request.ask_for(record.name)
            request.enter(Stage.QUEUED)
            with self._metrics.waiting.track_inprogress():
                visit = await stack.enter_async_context(super().visit(record, num_ctx, keep_alive))
            request.enter(Stage.WORKING)
            yield visit

    async def answer(
        self, visit: Visit, request: GenerateRequest
    ) -> AsyncGenerator[PrefillProgress | TextChunk | Finished, None]:
        """Do the same as `Desk.answer`; record waiting requests, tokens, and the time to the first token."""
        metrics, name, logged = self._metrics, visit.info.name, current_request()
        began, waits = time.perf_counter(), True
        read = written = 0
        metrics.waiting.inc()
        logged.enter(Stage.QUEUED)
        try:
            async with aclosing(super().answer(visit, request)) as events:
                async for event in events:
                    if waits:
                        waits = False
                        metrics.waiting.dec()
                    if isinstance(event, PrefillProgress):
                        read = event.total
                        logged.enter(Stage.READING)
                    elif isinstance(event, TextChunk) and event.token_ids:
                        if not written:
                            metrics.first_token.labels(name).observe(time.perf_counter() - began)
                            logged.enter(Stage.WRITING)
                        written += len(event.token_ids)
                        metrics.written.labels(name).inc(len(event.token_ids))
                    elif isinstance(event, Finished):
                        read = event.prompt_tokens
                        metrics.read.labels(name).inc(read)
                        metrics.cached.labels(name).inc(event.cached_tokens)
                        metrics.went_alone.labels(name).inc(bool(event.shared_fault))
                    yield event
        finally:
            if waits:
                metrics.waiting.dec()
            logged.add_tokens(read, written)

    async def embed(self, visit: Visit, request: EmbedRequest) -> Embedded:
        """Do the same as `Desk.embed`, and count the tokens."""
        logged = current_request()
        logged.enter(Stage.READING)
        done = await super().embed(visit, request)
        self._metrics.read.labels(visit.info.name).inc(done.prompt_tokens)
        logged.add_tokens(done.prompt_tokens)
        return done


class Recording:
    """Middleware that logs each request, and counts it by route and status."""

    def __init__(self, inner: ASGIApp, routes: Sequence[Route], metrics: Metrics, log: RequestLog) -> None:
        """Record the requests that `inner` answers.

        Args:
            inner: The application that answers.
            routes: The routes to count separately; all other paths count as `other`.
            metrics: Where to count.
            log: Where to log.
        """
        self._inner = inner
        self._paths: dict[Hashable, str] = {route.endpoint: route.path for route in routes}
        self._metrics = metrics
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, and record it."""
        status: int = _CLIENT_CLOSED_REQUEST
        whole = False

        async def sending(message: Any) -> None:
            nonlocal status, whole
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)
            whole = message["type"] == "http.response.body" and not message.get("more_body")

        logged = self._log.begin(scope["method"], scope["path"])
        try:
            with serving(logged):
                await self._inner(scope, receive, sending)
        except Exception:
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            raise
        finally:
            logged.end(status, whole=whole)
            # Starlette's router stores the endpoint of the matched route in the scope.
            route = self._paths.get(scope.get("endpoint"), "other")
            self._metrics.requests.labels(route, str(int(status))).inc()

"""Sessions to an OpenTelemetry receiver, by OTLP over HTTP (the extra `otel`)."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agentmux_compiler import __version__
from agentmux_usage.export.conventions import BOUNDS, TOKEN_USAGE
from agentmux_usage.export.histogram import Histogram
from agentmux_usage.export.outlet import CannotExport, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_usage.breaks import Break
    from agentmux_usage.response import Session

BATCH = 500
NAME = "agentmux"
_LOGGER = "opentelemetry"


class Otlp:
    """Sends each response as a span to `URL/v1/traces`, and at the end one histogram of tokens to `URL/v1/metrics`.

    Nothing is sent anywhere else, and nothing of a prompt or an answer. Headers, certificates, compression and timeout
    are taken from the usual `OTEL_EXPORTER_OTLP_*` variables.
    """

    def __init__(self, url: str) -> None:
        """Raises `CannotExport`: no OpenTelemetry, or no address."""
        self._url = _address(url)
        self._waiting: list[Any] = []
        self._count = 0
        self._histogram = Histogram()
        try:
            self._connect()
        except ImportError as error:
            remedy = "`pip install 'agentmux-cli[otel]'` brings it"
            raise CannotExport("OTLP needs the OpenTelemetry SDK and its exporter for HTTP", remedy) from error

    def _connect(self) -> None:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415  an extra
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope  # noqa: PLC0415

        from agentmux_usage.export.spans import Spans  # noqa: PLC0415

        self._resource = Resource.create({"service.name": NAME, "service.version": __version__})
        self._scope = InstrumentationScope(NAME, __version__)
        self._spans = Spans(self._resource, self._scope)
        self._traces: Any = OTLPSpanExporter(endpoint=f"{self._url}/v1/traces", session=_strict())
        self._metrics: Any = OTLPMetricExporter(endpoint=f"{self._url}/v1/metrics", session=_strict())

    def take(self, session: Session, breaks: Iterable[Break]) -> None:
        for response in session.responses:
            self._histogram.add(response)
        for span in self._spans.of(session, breaks):
            self._waiting.append(span)
            if len(self._waiting) >= BATCH:
                self._send()

    def finish(self) -> str:
        self._send()
        if self._count:
            self._deliver(self._metrics, self._measured())
        return f"sent {counted(self._count, 'spans')} to `{self._url}`"

    def close(self) -> None:
        with _complaints():
            for exporter in (self._traces, self._metrics):
                exporter.shutdown()

    def _send(self) -> None:
        if self._waiting:
            self._deliver(self._traces, self._waiting)
            self._count += len(self._waiting)
            self._waiting = []

    def _deliver(self, exporter: Any, what: Any) -> None:
        with _complaints() as complaints:
            result = exporter.export(what)
        if result.name != "SUCCESS":
            remedy = "give the address of a receiver of OTLP over HTTP, without `/v1/traces`; its usual port is 4318"
            raise CannotExport(f"`{self._url}` did not take what was sent: {_why(complaints)}", remedy)

    def _measured(self) -> Any:
        from opentelemetry.sdk.metrics import export  # noqa: PLC0415  an extra

        from agentmux_usage.export.spans import nanoseconds  # noqa: PLC0415

        first, last = nanoseconds(self._histogram.first), nanoseconds(self._histogram.last)
        points = [
            export.HistogramDataPoint(
                attributes=attributes,
                start_time_unix_nano=first,
                time_unix_nano=last,
                count=counts.count,
                sum=counts.total,
                bucket_counts=counts.buckets,
                explicit_bounds=BOUNDS,
                min=counts.least,
                max=counts.most,
            )
            for attributes, counts in self._histogram.series()
        ]
        data = export.Histogram(data_points=points, aggregation_temporality=export.AggregationTemporality.CUMULATIVE)
        metric = export.Metric(TOKEN_USAGE, "Number of input and output tokens used", "{token}", data)
        scope = export.ScopeMetrics(scope=self._scope, metrics=[metric], schema_url="")
        return export.MetricsData([export.ResourceMetrics(self._resource, [scope], "")])


def _strict() -> Any:
    """A connection on which a redirect is a refusal: nobody follows it, and the exporter would call it a success."""
    import requests  # noqa: PLC0415  comes with the extra

    def refuse(response: Any, *_: Any, **__: Any) -> None:
        if response.status_code // 100 == 3:  # noqa: PLR2004  redirects, also one that does not say where to
            response.close()
            raise requests.RequestException(f"it leads to `{response.headers.get('location', 'nowhere')}`")

    session = requests.Session()
    session.hooks["response"].append(refuse)
    return session


def _why(complaints: Sequence[str]) -> str:
    """The reason in few words; the SDK wraps that of the system into its own and those of two libraries."""
    said = " ".join(complaints)
    system = re.search(r"\[Errno -?\d+\] ([^\"')(]+)", said)
    if system:
        return system[1].strip().lower()
    status = re.search(r"code: (\d+), reason: (.+)$", said)
    if status:
        return f"it answered {status[1]} {status[2]}"
    other = re.search(r"Transient error (.+?) encountered|reason: (.+)$", said)
    if other:
        return other[1] or other[2]
    return complaints[-1] if complaints else "no reason was given"


def _address(url: str) -> str:
    """The base of the receiver's addresses."""
    try:
        parts = urlsplit(url)
        rest = parts.query or parts.fragment or parts.port == 0
        named = parts.scheme in {"http", "https"} and parts.hostname and not rest
    except ValueError:
        named = False
    if not named:
        raise CannotExport(f"`{url}` is no address of an OTLP receiver", "one looks like `http://127.0.0.1:4318`")
    return url.rstrip("/").removesuffix("/v1/traces")


class _Kept(logging.Handler):
    def __init__(self, into: list[str]) -> None:
        super().__init__()
        self._into = into

    def emit(self, record: logging.LogRecord) -> None:
        self._into.append(record.getMessage().strip().rstrip("."))


@contextmanager
def _complaints() -> Iterator[list[str]]:
    """What the SDK logs meanwhile: it is the only one to say why, and nobody should see it twice."""
    said: list[str] = []
    logger, kept = logging.getLogger(_LOGGER), _Kept(said)
    before = logger.propagate
    logger.addHandler(kept)
    logger.propagate = False
    try:
        yield said
    finally:
        logger.removeHandler(kept)
        logger.propagate = before

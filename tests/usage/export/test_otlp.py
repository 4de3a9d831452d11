"""What a receiver of OTLP gets: a small one on loopback that decodes the protobuf."""

from __future__ import annotations

import logging
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agentmux_compiler import __version__
from agentmux_usage.export import otlp
from agentmux_usage.export.otlp import Otlp
from agentmux_usage.export.outlet import CannotExport
from agentmux_usage.response import Session

NOON = 1_780_315_200_000_000_000


class Receiver:
    """What was posted, as messages by path; `status` is what it answers."""

    def __init__(self) -> None:
        self.status = 200
        self.traces: list[ExportTraceServiceRequest] = []
        self.metrics: list[ExportMetricsServiceRequest] = []
        self.url = ""

    def post(self, path, body) -> None:
        kinds = {
            "/v1/traces": (ExportTraceServiceRequest, self.traces),
            "/v1/metrics": (ExportMetricsServiceRequest, self.metrics),
        }
        kind, kept = kinds[path]
        kept.append(kind.FromString(body))

    @property
    def spans(self):
        return [
            span
            for request in self.traces
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@pytest.fixture
def receiver():
    told = Receiver()

    class Posted(BaseHTTPRequestHandler):
        def do_POST(self):
            told.post(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(told.status)
            if told.status == 302:
                self.send_header("Location", "https://elsewhere.example/")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Posted) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        told.url = f"http://127.0.0.1:{server.server_port}"
        yield told
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    """No settings of the person who runs the tests."""
    for name in ("OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME", "OTEL_EXPORTER_OTLP_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def sent(url, *given) -> str:
    outlet = Otlp(url)
    try:
        for session, breaks in given:
            outlet.take(session, breaks)
        return outlet.finish()
    finally:
        outlet.close()


def attributes(span):
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


def test_a_span_for_the_session_for_each_turn_and_each_response(receiver, session, breaks):
    said = sent(receiver.url + "/", (session, breaks))

    spans = receiver.spans
    by_id = {span.span_id: span for span in spans}
    assert said == f"sent 7 spans to `{receiver.url}`"
    assert [(span.name, by_id[span.parent_span_id].name if span.parent_span_id else None) for span in spans] == [
        ("invoke_agent reviewer", None),
        ("turn 1", "invoke_agent reviewer"),
        ("chat claude-opus-4-5", "turn 1"),
        ("chat claude-haiku-4-5", "turn 1"),
        ("turn 2", "invoke_agent reviewer"),
        ("chat claude-opus-4-5", "turn 2"),
        ("chat claude-opus-4-5", "turn 2"),
    ]
    assert len({span.trace_id for span in spans}) == 1
    assert [(span.start_time_unix_nano - NOON, span.end_time_unix_nano - NOON) for span in spans] == [
        (0, 61_000_000_000),
        (0, 2_250_000_000),
        (0, 0),
        (2_250_000_000, 2_250_000_000),
        (60_500_000_000, 61_000_000_000),
        (60_500_000_000, 60_500_000_000),
        (61_000_000_000, 61_000_000_000),
    ]
    assert [span.kind for span in spans] == [1, 1, 3, 3, 1, 3, 3]


def test_figures_have_the_names_of_the_conventions(receiver, session, breaks):
    sent(receiver.url, (session, breaks))

    root, turn, first = receiver.spans[:3]
    assert attributes(root) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": "it's \N{SNOWMAN}",
        "gen_ai.agent.name": "reviewer",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-opus-4-5",
        "agentmux.provider": "claude",
    }
    assert attributes(turn)["agentmux.turn"] == 1
    known = attributes(first)
    assert {name: known[name] for name in known if name.startswith("gen_ai.usage.")} == {
        "gen_ai.usage.input_tokens": 5110,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.usage.cache_creation.input_tokens": 5100,
        "gen_ai.usage.output_tokens": 200,
        "gen_ai.usage.reasoning.output_tokens": 50,
    }
    assert known["gen_ai.response.id"] == "m1"


def test_a_break_is_an_event_of_the_response_that_shows_it(receiver, session, breaks):
    sent(receiver.url, (session, breaks))

    told = [(attributes(span).get("gen_ai.response.id"), event) for span in receiver.spans for event in span.events]
    assert [(response, event.name, event.time_unix_nano - NOON) for response, event in told] == [
        ("m2", "agentmux.cache.break", 60_500_000_000)
    ]
    assert attributes(told[0][1]) == {
        "agentmux.cache.reason": "instructions",
        "agentmux.cache.expected_tokens": 5110,
        "agentmux.cache.observed_tokens": 5100,
        "agentmux.cache.lost_tokens": 10,
        "agentmux.cache.predicted_tokens": 12,
        "agentmux.cache.lost_usd": 0.00005,
        "agentmux.cache.evidence": "line 7 of `bundles/style.md` was edited",
        "code.file.path": "bundles/style.md",
        "code.line.number": 7,
    }


def test_the_resource_is_agentmux(receiver, session):
    sent(receiver.url, (session, ()))

    resource = receiver.traces[0].resource_spans[0]
    known = attributes(resource.resource)
    assert (known["service.name"], known["service.version"]) == ("agentmux", __version__)
    assert (resource.scope_spans[0].scope.name, resource.scope_spans[0].scope.version) == ("agentmux", __version__)


def test_a_second_export_has_the_same_ids(receiver, session, breaks):
    sent(receiver.url, (session, breaks))
    sent(receiver.url, (replace(session, responses=session.responses[:3]), breaks))

    first, second = receiver.spans[:7], receiver.spans[7:]
    assert len({span.span_id for span in first}) == 7
    assert {span.span_id for span in second} == {span.span_id for span in first[:6]}
    assert {span.trace_id for span in second} == {first[0].trace_id}


def test_responses_that_nothing_tells_apart_have_ids_of_their_own(receiver, session):
    twice = replace(session, responses=session.responses[3:] * 2)

    sent(receiver.url, (twice, ()))

    assert len({span.span_id for span in receiver.spans}) == 4


def test_other_sessions_are_other_traces(receiver, session):
    other = Session("qwen", session.session_id, session.responses[:1])

    sent(receiver.url, (session, ()), (other, ()), (Session("claude", "empty", ()), ()))

    assert len({span.trace_id for span in receiver.spans}) == 2
    assert len({span.span_id for span in receiver.spans}) == len(receiver.spans)


def test_many_spans_go_in_batches(receiver, session):
    many = replace(session, responses=tuple(replace(session.responses[0], message_id=f"m{at}") for at in range(1100)))

    said = sent(receiver.url, (many, ()))

    assert said == f"sent 1,102 spans to `{receiver.url}`"
    assert [len(each.resource_spans[0].scope_spans[0].spans) for each in receiver.traces] == [500, 500, 102]
    assert otlp.BATCH == 500


def test_tokens_are_a_histogram_that_a_second_export_does_not_double(receiver, session):
    sent(receiver.url, (session, ()))
    sent(receiver.url, (session, ()))

    first, second = receiver.metrics
    (metric,) = first.resource_metrics[0].scope_metrics[0].metrics
    assert first == second
    assert (metric.name, metric.unit, metric.histogram.aggregation_temporality) == (
        "gen_ai.client.token.usage",
        "{token}",
        2,
    )
    points = metric.histogram.data_points
    assert [(attributes(point)["gen_ai.token.type"], point.count, point.sum) for point in points] == [
        ("input", 1, 2000),
        ("output", 1, 30),
        ("input", 2, 11_117),
        ("output", 3, 243),
    ]
    assert {point.start_time_unix_nano - NOON for point in points} == {0}
    assert {point.time_unix_nano - NOON for point in points} == {61_000_000_000}


def test_nothing_is_sent_of_nothing(receiver):
    assert sent(receiver.url) == f"sent 0 spans to `{receiver.url}`"
    assert (receiver.traces, receiver.metrics) == ([], [])


def test_a_refusal_is_told_once(receiver, session, caplog):
    receiver.status = 400

    with caplog.at_level(logging.DEBUG), pytest.raises(CannotExport) as refused:
        sent(receiver.url, (session, ()))

    assert refused.value.message == f"`{receiver.url}` did not take what was sent: it answered 400 Bad Request"
    assert refused.value.remedy == (
        "give the address of a receiver of OTLP over HTTP, without `/v1/traces`; its usual port is 4318"
    )
    assert [record for record in caplog.records if record.name.startswith("opentelemetry")] == []


def test_no_variable_leads_elsewhere(receiver, session, monkeypatch):
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/elsewhere")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=1")

    sent(receiver.url, (session, ()))

    assert len(receiver.spans) == 7


@pytest.mark.parametrize(("status", "where"), [(302, "https://elsewhere.example/"), (301, "nowhere"), (304, "nowhere")])
def test_a_redirect_is_not_followed_and_no_success(receiver, session, status, where):
    receiver.status = status

    with pytest.raises(CannotExport) as refused:
        sent(receiver.url, (session, ()))

    assert refused.value.message == (f"`{receiver.url}` did not take what was sent: it leads to `{where}`")
    assert len(receiver.traces) == 1


def test_nobody_there_is_told_in_the_words_of_the_system(receiver, session, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        url = f"http://127.0.0.1:{server.server_port}"

    with pytest.raises(CannotExport) as refused:
        sent(url, (session, ()))

    assert refused.value.message.startswith(f"`{url}` did not take what was sent: ")
    assert receiver.traces == []


@pytest.mark.parametrize("url", ["", "localhost:4318", "ftp://localhost", "http://", "http://[", "http://h?x=1"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(CannotExport) as refused:
        Otlp(url)

    assert (refused.value.message, refused.value.remedy) == (
        f"`{url}` is no address of an OTLP receiver",
        "one looks like `http://127.0.0.1:4318`",
    )


def test_without_the_sdk_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.metric_exporter", None)

    with pytest.raises(CannotExport) as refused:
        Otlp("http://127.0.0.1:4318")

    assert (refused.value.message, refused.value.remedy) == (
        "OTLP needs the OpenTelemetry SDK and its exporter for HTTP",
        "`pip install 'agentmux-cli[otel]'` brings it",
    )

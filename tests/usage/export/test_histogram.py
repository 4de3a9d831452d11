from __future__ import annotations

from agentmux_usage.export.conventions import BOUNDS
from agentmux_usage.export.histogram import Counts, Histogram


def buckets(**counts):
    return [counts.get(f"to_{int(bound)}", 0) for bound in BOUNDS] + [0]


def test_each_count_falls_under_the_first_bound_that_it_does_not_pass():
    counts = Counts()
    for count in (0, 1, 2, 4, 5, 70_000_000):
        counts.add(count)

    assert counts.buckets == [2, 2, 1, *[0] * 11, 1]
    assert (counts.count, counts.total, counts.least, counts.most) == (6, 70_000_012, 0, 70_000_000)


def test_series_are_apart_by_model_and_kind_of_token(session):
    histogram = Histogram()
    for response in session.responses:
        histogram.add(response)

    def series(model, kind):
        common = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic"}
        return common | {"gen_ai.request.model": model, "gen_ai.token.type": kind}

    assert list(histogram.series()) == [
        (series("claude-haiku-4-5", "input"), Counts(buckets(to_4096=1), 2000, 2000, 2000)),
        (series("claude-haiku-4-5", "output"), Counts(buckets(to_64=1), 30, 30, 30)),
        (series("claude-opus-4-5", "input"), Counts(buckets(to_16384=2), 11_117, 5110, 6007)),
        (series("claude-opus-4-5", "output"), Counts(buckets(to_4=1, to_64=1, to_256=1), 243, 3, 200)),
    ]
    assert (histogram.first, histogram.last) == (session.responses[0].time, session.responses[3].time)

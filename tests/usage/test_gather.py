"""What transcripts hold is counted exactly, however they are cut, copied, grown, rewritten, or read by several."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentmux_launcher.usage import Convention
from agentmux_usage.gather import gather, opened
from agentmux_usage.places import own_sources
from agentmux_usage.sources import Source

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CLAUDE = Convention("test", "calls", input_includes_cached=False)
RELAXED = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def transcripts(monkeypatch):
    """The generator of synthetic transcripts."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("transcripts")


def sums(sessions):
    """The figures of responses by provider, in the generator's words."""
    found = {}
    for session in sessions:
        for each in session.responses:
            tokens = each.tokens
            of = found.setdefault(each.provider, Counter())
            of["responses"] += 1
            for name in ("input", "cache_read", "cache_write", "cache_write_1h", "output"):
                of[name] += getattr(tokens, name) or 0
    return {provider: dict(of) for provider, of in found.items()}


def claude(root):
    return [Source("claude", "claude", root, ("**/*.jsonl",), CLAUDE)]


def told(sources, index=None):
    notes = []
    return list(gather(sources, index, notes)), notes


@pytest.mark.parametrize("seed", range(6))
def test_everything_is_counted_exactly(transcripts, tmp_path, seed):
    shape = transcripts.Shape(
        sessions=6, forks=0.5, subagents=0.5, large=(8 << 20) + 1000 if seed == 0 else 2000, seed=seed
    )
    truth = transcripts.write(tmp_path / "home", shape)
    sources = own_sources({"HOME": str(tmp_path / "home")})

    with opened(sources) as index:
        sessions, notes = list(index.sessions()), index.notes()

    assert sums(sessions) == {provider: truth.of(provider, "once") for provider in transcripts.PROVIDERS}
    assert {(each.provider, each.session_id) for each in sessions} == truth.sessions
    assert Counter((each.provider, each.kind) for session in sessions for each in session.responses) == truth.kinds
    assert notes == +truth.notes
    times = [[each.time for each in session.responses] for session in sessions]
    assert times == [sorted(each) for each in times]
    assert [each[0] for each in times] == sorted(each[0] for each in times)


def test_other_policies_would_be_wrong_here(transcripts, tmp_path):
    truth = transcripts.write(tmp_path, transcripts.Shape(sessions=6, forks=1.0), ("claude",))

    outputs = {policy: truth.of("claude", policy)["output"] for policy in ("once", "first", "lines", "pairs")}

    assert outputs["first"] < outputs["once"] < outputs["pairs"] < outputs["lines"]


def test_the_index_changes_nothing_and_only_what_is_new_is_read(transcripts, tmp_path):
    transcripts.write(tmp_path / "home", transcripts.Shape(sessions=3))
    sources = own_sources({"HOME": str(tmp_path / "home")}, tmp_path / "index")
    plain = told(sources)

    first, second = told(sources, tmp_path / "index"), told(sources, tmp_path / "index")

    assert first == second == plain
    with opened(sources, tmp_path / "index") as index:
        heads = index.heads()
    assert [(head.provider, head.session_id) for head in heads] == [(s.provider, s.session_id) for s in plain[0]]
    assert [head.totals[0] for head in heads] == [len(session.responses) for session in plain[0]]


def test_a_file_that_is_not_touched_is_not_read_again(transcripts, tmp_path):
    transcripts.write(tmp_path / "home", transcripts.Shape(sessions=2, untidy=0), ("claude",))
    sources = claude(tmp_path / "home")
    before = told(sources, tmp_path / "index")
    for path in (tmp_path / "home").rglob("*.jsonl"):
        stat = path.stat()
        path.write_bytes(b"\n" * stat.st_size)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert told(sources, tmp_path / "index") == before
    (tmp_path / "index").joinpath(*(each.name for each in (tmp_path / "index").glob("usage-*.sqlite3"))).unlink()
    assert told(sources, tmp_path / "index") == ([], [])


def test_files_that_shrink_change_or_vanish_are_read_as_they_are(transcripts, tmp_path):
    transcripts.write(tmp_path / "home", transcripts.Shape(sessions=4, forks=1.0), ("claude",))
    sources = claude(tmp_path / "home")
    told(sources, tmp_path / "index")
    first, second, third, *_ = sorted((tmp_path / "home").rglob("*.jsonl"))
    first.write_bytes(first.read_bytes()[: first.stat().st_size // 2])
    second.unlink()
    lines = third.read_bytes().splitlines(keepends=True)
    third.write_bytes(b"".join([*lines[5:], *lines[:5], *lines]))

    assert told(sources, tmp_path / "index") == told(sources)


def test_a_response_counts_before_its_line_has_an_end(transcripts, tmp_path):
    transcripts.write(tmp_path / "home", transcripts.Shape(sessions=1, untidy=0, forks=0, subagents=0), ("claude",))
    sources = claude(tmp_path / "home")
    (path,) = (tmp_path / "home").rglob("*.jsonl")
    whole = path.read_bytes()
    expected = told(sources)
    path.write_bytes(whole[:-1])

    assert told(sources, tmp_path / "index") == expected
    path.write_bytes(whole[:-2])
    assert told(sources, tmp_path / "index")[1] == ["the last line of 1 file has no end yet"]
    path.write_bytes(whole)
    assert told(sources, tmp_path / "index") == expected


@pytest.mark.parametrize("provider", ["claude", "codex", "gemini", "qwen"])
@RELAXED
@given(data=st.data())
def test_a_file_may_be_looked_at_in_any_moment(transcripts, tmp_path_factory, provider, data):
    root = tmp_path_factory.mktemp("grown")
    transcripts.write(root / "home", transcripts.Shape(sessions=1, calls=6, forks=1.0, untidy=1.0), (provider,))
    sources = own_sources({"HOME": str(root / "home")})
    expected = told(sources)
    files = {path: path.read_bytes() for path in sorted((root / "home").rglob("*.jsonl"))}
    moments = {path: data.draw(st.lists(st.integers(0, len(whole)), max_size=3)) for path, whole in files.items()}

    for moment in range(4):
        for path, whole in files.items():
            ends = [*sorted(moments[path]), len(whole)]
            path.write_bytes(whole[: ends[min(moment, len(ends) - 1)]])
        found = told(sources, root / "index")

    assert found == expected


@RELAXED
@given(data=st.data())
def test_copies_may_lie_anywhere(transcripts, tmp_path_factory, data):
    root = tmp_path_factory.mktemp("copies")
    shape = transcripts.Shape(sessions=2, calls=5, forks=1.0, untidy=0)
    truth = transcripts.write(root / "home", shape, ("claude",))
    lines = [line for path in (root / "home").rglob("*.jsonl") for line in path.read_bytes().splitlines(keepends=True)]
    places = data.draw(st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=len(lines), max_size=len(lines)))
    shuffled = data.draw(st.permutations(range(len(lines))))
    for number in range(4):
        told_here = [lines[each] for each in shuffled if number in places[each]]
        (root / f"{number}.jsonl").write_bytes(b"".join(told_here))
    sources = [Source("claude", "claude", root, ("*.jsonl",), CLAUDE)]

    sessions, notes = told(sources)

    assert notes == []
    assert sums(sessions) == {"claude": truth.of("claude", "once")}


def test_two_processes_may_read_at_once(transcripts, tmp_path):
    truth = transcripts.write(tmp_path / "home", transcripts.Shape(sessions=30), ("claude",))
    words = (
        "import sys; from pathlib import Path; from agentmux_usage.gather import gather;"
        "from agentmux_usage.places import own_sources; index = Path(sys.argv[2]);"
        "sessions = list(gather(own_sources({'HOME': sys.argv[1]}, index), index));"
        "print(sum(r.tokens.output for s in sessions for r in s.responses))"
    )
    argv = [sys.executable, "-c", words, str(tmp_path / "home"), str(tmp_path / "index")]
    children = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(3)]

    said = [child.communicate()[0].strip() for child in children]

    assert said == [str(truth.of("claude", "once")["output"])] * 3


def test_an_index_that_is_broken_or_cannot_be_written_is_no_fault(transcripts, tmp_path):
    transcripts.write(tmp_path / "home", transcripts.Shape(sessions=1), ("claude",))
    sources = claude(tmp_path / "home")
    expected = told(sources, tmp_path / "index")
    (path,) = (tmp_path / "index").glob("usage-*.sqlite3")
    path.write_bytes(b"no index at all, but long enough to be looked at" * 100)
    (tmp_path / "a file").write_bytes(b"")

    assert told(sources, tmp_path / "index") == expected
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * (path.stat().st_size - 4096))
    assert told(sources, tmp_path / "index") == expected
    assert told(sources, tmp_path / "index") == expected
    assert told(sources, tmp_path / "a file" / "index") == expected


def test_only_sessions_of_a_time_are_given_and_each_is_whole(transcripts, tmp_path):
    transcripts.write(tmp_path / "home", transcripts.Shape(sessions=4), ("claude",))
    sources = claude(tmp_path / "home")
    whole, _ = told(sources)
    middle = whole[1].responses[3].time

    chosen = list(gather(sources, since=middle, until=middle + 0.001))

    assert whole[1] in chosen
    assert [each for each in whole if each.responses[0].time <= middle <= each.responses[-1].time] == chosen


@pytest.mark.parametrize("around", [b"\xef\xbb\xbf", b"\0" * 512])
def test_what_editors_and_broken_disks_put_before_a_line_changes_nothing(tmp_path, around):
    line = b'{"type":"assistant","timestamp":"2026-11-30T12:00:00Z","sessionId":"s","message":%s}'
    message = b'{"id":"m%d","model":"opus","usage":{"input_tokens":1,"output_tokens":5}}'
    (tmp_path / "a.jsonl").write_bytes(b"".join(around + line % (message % number) + b"\r\n" for number in range(3)))
    (tmp_path / "b.jsonl").write_bytes(b"\xef\xbb\xbf" + line % (message % 3))

    ((session,), notes) = told(claude(tmp_path))

    assert ([each.message_id for each in session.responses], notes) == (["m0", "m1", "m2", "m3"], [])


def test_an_edit_in_the_middle_of_a_long_file_is_seen(tmp_path):
    line = b'{"type":"assistant","timestamp":"2026-11-30T12:00:00Z","sessionId":"s","message":%s}\n'
    message = b'{"id":"m%03d","model":"opus","usage":{"input_tokens":1,"output_tokens":5}}'
    data = b"".join(line % (message % number) for number in range(200))
    (tmp_path / "a.jsonl").write_bytes(data)
    before = sums(told(claude(tmp_path), tmp_path / "index")[0])
    (tmp_path / "a.jsonl").write_bytes(data.replace(message % 100, (message % 100).replace(b"5}}", b"9}}")))
    os.utime(tmp_path / "a.jsonl", (1, 1))

    after = sums(told(claude(tmp_path), tmp_path / "index")[0])

    assert (before["claude"]["output"], after["claude"]["output"]) == (1_000, 1_004)


def test_a_last_line_that_was_counted_and_is_taken_back_is_counted_no_more(tmp_path):
    line = b'{"type":"assistant","timestamp":"2026-11-30T12:00:00Z","sessionId":"s","message":%s}'
    message = b'{"id":"m%d","model":"opus","usage":{"input_tokens":1,"output_tokens":5}}'
    first, last = (line % (message % number) for number in (1, 2))
    (tmp_path / "a.jsonl").write_bytes(first + b"\n" + last)
    counts = [len(told(claude(tmp_path), tmp_path / "index")[0][0].responses)]
    (tmp_path / "a.jsonl").write_bytes(first + b"\n")
    counts.append(len(told(claude(tmp_path), tmp_path / "index")[0][0].responses))

    assert counts == [2, 1]


def test_two_clis_may_give_their_responses_one_id(tmp_path):
    said = {"input_tokens": 1, "output_tokens": 5}
    lines = {
        "claude": {"type": "assistant", "message": {"id": "m1", "model": "opus", "usage": said}},
        "qwen": {"type": "assistant", "uuid": "m1", "usageMetadata": {"promptTokenCount": 1}},
    }
    for name, line in lines.items():
        (tmp_path / name).mkdir()
        told_line = json.dumps({"timestamp": "2026-11-30T12:00:00Z", "sessionId": "s", **line}, separators=(",", ":"))
        (tmp_path / name / "a.jsonl").write_text(told_line + "\n", encoding="utf-8")
    sources = [Source(name, name, tmp_path / name, ("*.jsonl",), CLAUDE) for name in lines]

    found, _ = told(sources, tmp_path / "index")

    assert [(each.provider, len(each.responses)) for each in found] == [("claude", 1), ("qwen", 1)]
    assert {each.message_id for session in found for each in session.responses} == {"m1"}


def test_figures_that_no_model_can_have_stop_nothing(tmp_path):
    line = b'{"type":"assistant","timestamp":"2026-11-30T12:00:00Z","sessionId":"s","message":%s}\n'
    message = b'{"id":"m%d","model":"opus","usage":{"input_tokens":1000000000000000,"output_tokens":5}}'
    (tmp_path / "a.jsonl").write_bytes(b"".join(line % (message % number) for number in range(9_300)))

    assert sums(told(claude(tmp_path))[0])["claude"]["input"] == 9_300 * 10**15

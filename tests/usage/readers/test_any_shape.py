"""Whatever stands in a transcript, a reader says what it can and never fails."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmux_launcher.usage import Convention
from agentmux_usage.gather import gather
from agentmux_usage.readers import reader
from agentmux_usage.sources import Source

RECORDED = Path(__file__).parents[1] / "fixtures" / "transcripts"
CONVENTION = Convention("test", "calls", input_includes_cached=True)
LINES = {
    name: [
        line
        for path in sorted((RECORDED / name).rglob("*.jsonl"))
        for line in path.read_bytes().splitlines()
        if reader(name)(CONVENTION, Counter()).wants(line)
    ]
    for name in ("claude", "codex", "gemini", "qwen")
}
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=5) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


def places(value, path=()):
    """The paths of all values within a value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, key))


def changed(value, path, other):
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], other)
    return copy


@pytest.mark.parametrize("name", sorted(LINES))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_value_may_stand_anywhere(name, tmp_path_factory, data):
    told = []
    for line in data.draw(st.lists(st.sampled_from(LINES[name]), min_size=1, max_size=6)):
        value = json.loads(line)
        path = data.draw(st.sampled_from(list(places(value))))
        told.append(json.dumps(changed(value, path, data.draw(anything)), separators=(",", ":")).encode())
    root = tmp_path_factory.mktemp("any")
    (root / "a.jsonl").write_bytes(b"\n".join(told))
    sources = [Source(name, name, root, ("*.jsonl",), CONVENTION)]

    once = list(gather(sources))

    assert list(gather(sources, root / "index")) == once
    assert len([each for session in once for each in session.responses]) <= 20 * len(told)


@pytest.mark.parametrize("name", sorted(LINES))
@settings(max_examples=30, deadline=None)
@given(data=st.binary(max_size=200) | st.text(alphabet='{}[]":,0e-\\n"usage', max_size=100).map(str.encode))
def test_any_bytes_are_a_transcript_without_sense(name, tmp_path_factory, data):
    root = tmp_path_factory.mktemp("bytes")
    (root / "a.jsonl").write_bytes(data)

    assert list(gather([Source(name, name, root, ("*.jsonl",), CONVENTION)])) == []


@pytest.mark.parametrize("name", sorted(LINES))
def test_white_space_between_values_changes_nothing(name, tmp_path):
    roots = tmp_path / "as-it-was", tmp_path / "rewritten"
    for path in (RECORDED / name).rglob("*.jsonl"):
        lines = path.read_bytes().splitlines()
        for root, data in zip(roots, (lines, [json.dumps(json.loads(line)).encode() for line in lines]), strict=True):
            target = root / path.relative_to(RECORDED / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(b"\n".join(data) + b"\n")

    before, after = (list(gather([Source(name, name, root, ("**/*.jsonl",), CONVENTION)])) for root in roots)

    assert max(each.turn for session in before for each in session.responses) > 1
    assert [[replace(each, source=None) for each in session.responses] for session in after] == [
        [replace(each, source=None) for each in session.responses] for session in before
    ]

"""For any edit of the segments, what the differ says of our own text is what the rendered texts say."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from agentmux_compiler.lowered import PlanPrefix, PrefixSegment
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.diff import diff
from agentmux_compiler.segment import Text

COUNTER = counter_for("openai", None)
OPAQUE = PrefixSegment("tools", "claude 1/tools", None, 1_000)
BEHIND = PrefixSegment("conversation", "claude 1/reminders", None, 500)
# Few letters, so that edits cancel out, repeat each other and share their first bytes.
LINES = st.lists(st.text("aé日 -#\t", max_size=4), min_size=1, max_size=3)
TEXTS = LINES.map(lambda lines: "\n".join(lines) + "\n")
NAMES = st.sampled_from([f"bundles/{letter}.md" for letter in "abcdef"])
SECTIONS = st.dictionaries(NAMES, TEXTS, max_size=5).map(lambda found: tuple(found.items()))
EDITS = st.sampled_from(["edit", "insert", "delete", "replace", "swap", "white space", "rename", "duplicate"])


@st.composite
def edited(draw):
    """Sections before and after one to three edits."""
    before = draw(SECTIONS)
    after = list(before)
    for _ in range(draw(st.integers(1, 3))):
        after = _edit(draw, after)
    return before, tuple(after)


def _edit(draw, sections):
    kind = draw(EDITS)
    spare = [f"bundles/{letter}.md" for letter in "ghijklm" if f"bundles/{letter}.md" not in dict(sections)]
    place = draw(st.integers(0, len(sections)))
    if kind == "insert" or not sections:
        return [*sections[:place], (spare[0], draw(TEXTS)), *sections[place:]]
    index = draw(st.integers(0, len(sections) - 1))
    name, text = sections[index]
    result = list(sections)
    match kind:
        case "edit":
            result[index] = (name, draw(TEXTS))
        case "delete":
            del result[index]
        case "replace":
            result[index] = (spare[0], draw(TEXTS))
        case "swap":
            other = draw(st.integers(0, len(sections) - 1))
            result[index], result[other] = result[other], result[index]
        case "white space":
            result[index] = (name, text.replace("\n", draw(st.sampled_from([" \n", "\n\n", "\t\n"])), 1))
        case "rename":
            result[index] = (spare[0], text)
        case "duplicate":
            result.insert(place, (spare[0], text))
    return result


def plan(sections, *, first=OPAQUE):
    segments = (
        PrefixSegment("instructions", name, Text(text, name, tuple(range(1, text.count("\n") + 1))), len(text.encode()))
        for name, text in sections
    )
    return PlanPrefix(
        agent="a",
        provider="claude",
        vendor="openai",
        backend="openai",
        model=None,
        effort=None,
        permission="ask",
        delivery="file",
        cwd=".",
        cli_version="1",
        argv=(),
        env=(),
        segments=(first, *segments, BEHIND),
    )


def rendered(sections):
    """The instruction file of these sections, as it is written."""
    return "\n".join(text for _, text in sections).encode()


def first_difference(before, after):
    pairs = zip(before, after, strict=False)
    return next((index for index, (left, right) in enumerate(pairs) if left != right), min(len(before), len(after)))


@settings(max_examples=1_000)
@given(edited())
def test_the_first_byte_is_that_of_the_rendered_texts(pair):
    before, after = map(rendered, pair)
    found = diff(plan(pair[0]), plan(pair[1]))
    byte = first_difference(before, after)
    assert (found.own.bytes_total, found.own.bytes_kept) == (len(after), byte)
    assert (found.first_break is not None) == (found.verdict == "broken") == (before != after)
    if found.first_break:
        assert found.first_break.byte == found.text.bytes_kept == 1_000 + byte
        assert [item.masked for item in found.changes].count(False) >= 1
        assert not found.changes[0].masked


@given(edited())
def test_changes_are_none_exactly_where_nothing_changed(pair):
    found = diff(plan(pair[0]), plan(pair[1]))
    assert (found.verdict == "unchanged") == (found.changes == ()) == (pair[0] == pair[1])
    assert len({(item.reason, item.segment) for item in found.changes}) == len(found.changes)


@given(SECTIONS)
def test_a_plan_against_itself_is_unchanged(sections):
    found = diff(plan(sections), plan(sections))
    assert (found.verdict, found.text.tokens_kept) == ("unchanged", found.text.tokens_total)


@given(edited())
def test_the_way_back_breaks_at_the_same_byte(pair):
    there, back = (diff(plan(left), plan(right)) for left, right in (pair, pair[::-1]))
    assert there.own.bytes_kept == back.own.bytes_kept


@given(edited())
def test_another_version_of_the_cli_breaks_before_any_edit(pair):
    other = replace(OPAQUE, name="claude 2/tools")
    after = replace(plan(pair[1], first=other), cli_version="2")
    found = diff(plan(pair[0]), after)
    assert (found.first_break.layer, found.first_break.byte) == ("tools", 0)
    assert [item.reason for item in found.changes if not item.masked] == ["cli-version"]


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_the_fewest_segments_moved(before, after):
    texts = {letter: f"{letter}\n" for letter in before}
    left, right = (tuple((f"bundles/{letter}.md", texts[letter]) for letter in order) for order in (before, after))
    found = diff(plan(left), plan(right))
    places = [before.index(letter) for letter in after]
    rising = max(length for length, _ in _rising(places))
    exchanged = sum(place != index for index, place in enumerate(places)) == 2
    assert len(found.changes) == (1 if exchanged else len(places) - rising)
    assert {item.reason for item in found.changes} <= {"reordered"}


def _rising(places):
    """Length and end of the longest rising subsequences."""
    ends = []
    for place in places:
        ends.append((1 + max((length for length, end in ends if end < place), default=0), place))
    return ends


WORDS = st.lists(
    st.sampled_from(["rule", "Write", "tests.", "`x`", "1.", "- a", "# H", "", "日本", "  in"]), max_size=8
)
PROSE = WORDS.map(lambda words: "# Title " + " ".join(words) + "\n")


@given(st.lists(PROSE, min_size=1, max_size=4, unique=True))
def test_tokens_of_the_segments_are_those_of_the_file(texts):
    sections = [(f"bundles/{index}.md", text) for index, text in enumerate(texts)]
    found = diff(None, plan(sections))
    assert found.own.tokens_total == COUNTER.count(rendered(sections).decode())

"""New sessions that a recorder's cache plays: a break is told only where the cache has lost something."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.played import player_of
from agentmux_compiler.tree import MemoryTree
from agentmux_launcher.recorder.cache import MovableClock
from agentmux_launcher.recorder.wire import render
from agentmux_launcher.usage import Tokens
from agentmux_usage.breaks import Line, Reason
from agentmux_usage.forensics import Known, find_breaks
from agentmux_usage.forensics.known import Start
from agentmux_usage.response import Response, Session

RULES = "".join(f"Rule {number} of the house style is to be held in every file.\n" for number in range(1, 101))
SPEC = """\
providers:
  claude: {model: claude-opus-5}
  qwen: {model: qwen3-coder-plus, backend: vllm, base_url: "http://127.0.0.1:8000/v1"}
permission: ask
instructions: Review the diff.
bundles: [style, security]
"""
FILES = {"agents.d/reviewer.yaml": SPEC, "bundles/style.md": RULES, "bundles/security.md": "No secrets.\n" * 40}
CACHES = {"claude": ("anthropic", "anthropic", "claude-opus-5"), "qwen": ("vllm", "custom", "qwen3-coder-plus")}
CODE = "Look at this.\n" + "x = 1\n" * 3_000
PROMPTS = {"hi": "hi", "hi again": "hi again", "code": CODE, "more code": CODE + "Go on."}
EDITS = {
    "as it was": (),
    "first rule": ("bundles/style.md", "Rule 1 of", "Rule I of"),
    "rule 40": ("bundles/style.md", "Rule 40 of", "Rule XL of"),
    "last rule": ("bundles/style.md", "Rule 100 of", "Rule C of"),
    "permission": ("agents.d/reviewer.yaml", "permission: ask", "permission: plan"),
}


@functools.cache
def plan(provider, edit):
    files = dict(FILES)
    if EDITS[edit]:
        path, old, new = EDITS[edit]
        files[path] = files[path].replace(old, new)
    compiled = compile_project(MemoryTree({path: text.encode() for path, text in files.items()}))
    return next(each.prefix for each in compiled.plans if each.plan.provider == provider)


def parts(prefix, prompt):
    """The prompt in its order: the layer, the text, whether its end is marked."""
    for segment in prefix.segments:
        if segment.name.endswith("/attribution"):
            continue
        filler = (segment.name + " " * segment.size)[: segment.size]
        text = prompt if segment.name.endswith("/prompt") else segment.text or filler
        yield segment.layer, text, segment.breakpoint


def blocks(found):
    """Content blocks, each up to a mark."""
    made = [""]
    marks = []
    for _, text, mark in found:
        made[-1] += text
        if mark:
            marks.append(len(made) - 1)
            made.append("")
    return [
        {"type": "text", "text": text, **({"cache_control": {"type": "ephemeral"}} if at in marks else {})}
        for at, text in enumerate(made)
        if text
    ]


@functools.cache
def request(provider, edit, prompt):
    prefix = plan(provider, edit)
    found = list(parts(prefix, PROMPTS.get(prompt, prompt)))
    last = max(at for at, (layer, _, _) in enumerate(found) if layer == "system") + 1
    tools = [{"name": "t", "description": "".join(text for layer, text, _ in found if layer == "tools")}]
    system = [each for each in found[:last] if each[0] != "tools"]
    if prefix.provider == "claude":
        messages = [{"role": "user", "content": blocks(found[last:])}]
        body = {"model": "claude-opus-5", "tools": tools, "system": blocks(system), "messages": messages}
        return render(body, "/v1/messages")
    texts = ("".join(text for _, text, _ in side) for side in (system, found[last:]))
    messages = [{"role": role, "content": text} for role, text in zip(("system", "user"), texts, strict=True)]
    tools = [{"type": "function", "function": each} for each in tools]
    return render({"model": "qwen3-coder-plus", "tools": tools, "messages": messages}, "/v1/chat/completions")


@dataclass(frozen=True, slots=True)
class Launch:
    """A session: seconds since the launch before, and from its request until its answer begins."""

    gap: float
    waits: float
    prompt: str
    edit: str = "as it was"


class Played:
    """Launches in their order, as a cache serves them. The CLI takes `boots` seconds until it sends a request."""

    def __init__(self, provider, launches, boots=1.0, count=None):
        self.provider, self.launches = provider, launches
        self.measure = {"count": count} if count else {}
        self.sent = [boots + sum(each.gap for each in launches[: at + 1]) for at in range(len(launches))]
        starts = []
        for at, launch in enumerate(launches):
            usage = self.usage(at, launch.edit)
            written = usage.cache_write_tokens if provider == "claude" else None
            tokens = Tokens(usage.input_tokens, usage.cache_read_tokens, written, None, 5)
            said = {"model": CACHES[provider][2], "agent": "reviewer", "run_id": str(at), "turn": 1}
            first = Response(provider, f"s{at}", self.sent[at] + launch.waits, tokens, prefix=launch.edit, **said)
            starts.append(Start(self.sent[at] - boots, first))
        edits = {each.edit for each in launches}
        groups = {edit: tuple(each for each in starts if each.first.prefix == edit) for edit in edits}
        prefixes = {edit: plan(provider, edit) for edit in edits}
        self.known = Known(prefixes, groups, {starts[0].line: tuple(starts)})
        self.breaks = [find_breaks(Session(provider, each.session_id, (each.first,)), self.known) for each in starts]

    def usage(self, at, edit, *, hindered=True):
        """What the cache serves a launch with an edit, after those before; not `hindered`: had all been answered."""
        clock = MovableClock()
        player = player_of(*CACHES[self.provider], clock=clock, **self.measure)
        for time, launch in zip(self.sent[:at], self.launches, strict=False):
            clock.advance(time - clock())
            player.play(request(self.provider, launch.edit, launch.prompt), launch.waits if hindered else 0.0)
        clock.advance(self.sent[at] - clock())
        return player.play(request(self.provider, edit, self.launches[at].prompt))

    def lost(self, at, edit, *, hindered=True):
        """Tokens that it would have been served besides, with another edit or had all been answered."""
        served = self.usage(at, self.launches[at].edit).cache_read_tokens
        return self.usage(at, edit, hindered=hindered).cache_read_tokens - served


def launches(*edits):
    times = {
        "gap": st.sampled_from([0.0, 0.5, 2.0, 5.0, 60.0, 250.0, 400.0]),
        "waits": st.sampled_from([0.0, 1.0, 4.0]),
    }
    one = st.builds(Launch, **times, prompt=st.sampled_from(sorted(PROMPTS)), edit=st.sampled_from(edits))
    return st.lists(one, min_size=2, max_size=6)


BOOTS = st.sampled_from([0.0, 1.0, 3.0])
COUNTS = st.sampled_from([None, len, lambda text: len(text) // 3])


@pytest.mark.parametrize("provider", CACHES)
@given(launches("as it was"), BOOTS, COUNTS)
def test_new_sessions_break_nothing_that_the_cache_did_not_lose(provider, launches, boots, count):
    played = Played(provider, launches, boots, count)

    for at, found in enumerate(played.breaks):
        if found:
            assert (found[0].reason, found[0].observed) == (Reason.CONCURRENT, 0)
            assert played.lost(at, "as it was", hindered=False) > 0


@pytest.mark.parametrize("provider", CACHES)
@given(launches(*EDITS), BOOTS, COUNTS)
def test_an_edit_breaks_nothing_that_the_cache_did_not_lose(provider, launches, boots, count):
    played = Played(provider, launches, boots, count)

    for at, found in enumerate(played.breaks):
        if found and found[0].reason is not Reason.CONCURRENT:
            earlier = max(played.lost(at, each.edit) for each in launches[:at])
            assert 0 < found[0].lost <= 1.1 * earlier


def test_sessions_one_after_the_other_with_other_prompts_break_nothing():
    for provider in CACHES:
        assert Played(provider, [Launch(8.0, 1.0, prompt) for prompt in PROMPTS]).breaks == [()] * 4


@pytest.mark.parametrize(("provider", "believed"), [("claude", True), ("qwen", False)])
def test_a_session_beside_another_one_pays_again(provider, believed):
    """Whether vLLM tells what it reads is known once it has told of some; what both share is an estimate until then."""
    together = [Launch(8.0, 4.0, "hi"), Launch(2.0, 4.0, "Look.")]
    alone, later = (Played(provider, each) for each in (together, [*together, Launch(60.0, 4.0, "And here?")]))

    (found,) = later.breaks[1]
    truth = later.usage(2, "as it was").cache_read_tokens
    assert (found.reason, found.lost) == (Reason.CONCURRENT, pytest.approx(truth, rel=0.05))
    assert [each.lost for each in alone.breaks[1]] == [pytest.approx(truth, rel=0.05)] * believed


@pytest.mark.parametrize(
    ("provider", "edit", "line"),
    [
        ("claude", "rule 40", Line("bundles/style.md", 40)),
        ("qwen", "rule 40", Line("bundles/style.md", 40)),
        ("qwen", "first rule", Line("bundles/style.md", 1)),
    ],
)
def test_the_edit_before_a_new_session_is_named_as_the_cause(provider, edit, line):
    played = Played(
        provider, [Launch(0.0, 1.0, "hi"), Launch(60.0, 1.0, "hi again", edit), Launch(60.0, 1.0, "x", edit)]
    )

    first, (found,), last = played.breaks
    truth = played.lost(1, "as it was")
    assert (first, last) == ((), ())
    assert (found.reason, found.line, found.predicted) == (Reason.INSTRUCTIONS, line, None)
    assert 0.8 * truth <= found.lost <= 1.1 * truth


@pytest.mark.parametrize("provider", CACHES)
def test_what_others_were_served_is_what_was_lost_where_that_is_known(provider):
    texts = (("hi", "as it was"), ("hi again", "as it was"), ("Look.", "rule 40"), ("And here?", "as it was"))
    played = Played(provider, [Launch(60.0, 1.0, prompt, edit) for prompt, edit in texts])

    first, second, (found,), back = played.breaks
    assert (first, second, back) == ((), (), ())
    assert found.lost == pytest.approx(played.lost(2, "as it was"), abs=16)
    assert (found.line, found.predicted > 0) == (Line("bundles/style.md", 40), True)


@pytest.mark.parametrize("provider", CACHES)
def test_what_another_plan_left_in_the_cache_was_not_lost(provider):
    """Another permission sends the same text up to the first turn, so that the edit between was taken back."""
    edits = {"hi": "as it was", "hi again": "rule 40", "Look.": "permission"}
    played = Played(provider, [Launch(60.0, 1.0, prompt, edit) for prompt, edit in edits.items()])

    assert [len(found) for found in played.breaks] == [0, 1, 0]
    assert played.lost(2, "as it was") == 0

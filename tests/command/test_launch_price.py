"""What a launch says of a cache that holds another prefix, or has forgotten the one that it held."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from agentmux.launch.cached import Before
from agentmux.launch.launch_price import lifetime_of, still_served, what_it_costs
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.report import Scenario
from agentmux_compiler.tree import MemoryTree

USED = 1_000_000.0
BODY = "Be brief.\n" * 40
SPEC = "providers:\n  claude: {model: opus}\n  codex: {model: gpt-5.5, effort: low}\nbundles: [style]\ndelivery: flag\n"


def prefix(style=BODY, spec=SPEC, provider="claude"):
    files = {"agents.d/reviewer.yaml": spec, "bundles/style.md": style}
    compiled = compile_project(MemoryTree({path: text.encode() for path, text in files.items()}))
    return next(plan.prefix for plan in compiled.plans if plan.plan.provider == provider)


SHORTER = prefix("Be very brief.\n")
LOW = prefix(spec=SPEC.replace("opus", "opus, effort: low"))
BEGUN = Before("d", "relaunch", USED)
SESSION = Before("d", "resume", USED, 14_823)
EDITED = "`bundles/style.md` was edited (bundles/style.md:1)"
EFFORT = "another effort (agents.d/reviewer.yaml:2)"
KEEPS = "the session keeps the text it began with: the edit reaches new sessions only"
ALL = "all of its 14,823 tokens are paid again, $0.0712"
FORGOTTEN = "the last call was 8 min ago, and what nobody uses is kept for 5 min"


def said(earlier, after, minutes, known=None):
    return list(what_it_costs([(earlier, prefix() if known is None else known)], after, USED + 60 * minutes))


def test_a_new_session_is_told_both_sums_while_the_cache_lives():
    (total, change) = said(BEGUN, SHORTER, 4)

    sums = r"[\d,]+ tokens are paid again, \$0\.\d{4} \([\d,]+ if its first turn is another one\)"
    assert re.fullmatch(f"`reviewer` begins otherwise than at its last run: {sums}", total)
    assert change == EDITED


def test_after_its_lifetime_no_change_has_a_price():
    (line,) = said(BEGUN, SHORTER, 28)

    assert line == (
        "`reviewer` begins otherwise than at its last run, and the cache has forgotten that anyway: "
        "the last call was 28 min ago, and what nobody uses is kept for 5 min"
    )
    assert said(BEGUN, prefix(), 28) == []


def test_of_several_prefixes_that_the_cache_may_hold_the_one_counts_that_serves_most():
    older, last = (replace(BEGUN, used=USED + seconds) for seconds in (0, 60))

    def told(minutes, after):
        return list(what_it_costs([(last, LOW), (older, prefix())], after, USED + 60 * minutes))

    assert told(2, prefix()) == []
    assert [line.partition(":")[0] for line in told(2, SHORTER)] == [
        "`reviewer` begins otherwise than at its run 2 min ago",
        EDITED.partition(":")[0],
    ]
    assert told(5.5, prefix())[0].startswith("`reviewer` begins otherwise than at its last run: ")
    assert told(7, LOW) == []
    assert told(7, SHORTER)[0].endswith("what nobody uses is kept for 5 min")


def test_a_prefix_that_nobody_kept_is_compared_with_nothing():
    assert list(what_it_costs([(BEGUN, None)], SHORTER, USED)) == []
    assert list(what_it_costs([], SHORTER, USED)) == []


def test_what_was_stored_for_an_hour_lives_for_one():
    hour = replace(BEGUN, hour=True)

    assert "tokens are paid again" in said(hour, SHORTER, 28)[0]
    assert said(hour, SHORTER, 61)[0].endswith("the last call was 1 h 1 min ago, and what nobody uses is kept for 1 h")


def test_where_calls_may_go_on_nobody_knows_what_is_forgotten():
    (total, _) = said(replace(BEGUN, used=None), SHORTER, 28)

    assert total.endswith(", unless the cache has dropped them by now (it keeps them 5 min)")


def test_a_cache_that_goes_by_room_is_never_held_to_have_forgotten():
    spec = "providers: {qwen: {base_url: 'http://127.0.0.1:8000/v1', backend: vllm, model: qwen3}}\nbundles: [style]\n"
    local, edited = prefix(spec=spec, provider="qwen"), prefix("Be very brief.\n", spec, "qwen")

    assert (lifetime_of(local), lifetime_of(prefix())) == (None, 300)
    assert " paid again" in said(BEGUN, edited, 600, local)[0]
    assert said(SESSION, local, 600, local) == []


@pytest.mark.parametrize(
    ("earlier", "after", "minutes", "lines"),
    [
        (SESSION, prefix(), 1, []),
        (SESSION, LOW, 1, [f"the session begins otherwise than at its last run: {ALL}", EFFORT]),
        (
            SESSION,
            SHORTER,
            1,
            ["the sources are not as they were when the session was last used: nothing is paid again", EDITED, KEEPS],
        ),
        (SESSION, prefix(), 8, [f"the cache has forgotten the session: {ALL}; {FORGOTTEN}"]),
        (SESSION, LOW, 8, [f"the cache has forgotten the session: {ALL}; {FORGOTTEN}"]),
        (SESSION, SHORTER, 8, [f"the cache has forgotten the session: {ALL}; {FORGOTTEN}", EDITED, KEEPS]),
        (
            replace(SESSION, tokens=None),
            prefix(),
            8,
            [f"the cache has forgotten the session: all of it is paid again; {FORGOTTEN}"],
        ),
        (
            replace(SESSION, beside=USED + 420),
            prefix(),
            8,
            [f"the cache has forgotten the session: up to 14,823 tokens are paid again, $0.0712; {FORGOTTEN}"],
        ),
        (
            replace(SESSION, beside=USED + 60),
            prefix(),
            8,
            [f"the cache has forgotten the session: {ALL}; {FORGOTTEN}"],
        ),
    ],
)
def test_a_session_that_goes_on_is_told_its_own_size(earlier, after, minutes, lines):
    assert said(earlier, after, minutes) == lines


def test_a_session_whose_prefix_nobody_kept_can_be_forgotten_too():
    assert list(what_it_costs([(replace(SESSION, prefix=None), None)], prefix(), USED + 480)) == [
        f"the cache has forgotten the session: {ALL}; {FORGOTTEN}"
    ]


@pytest.mark.parametrize(("size", "lost"), [(100_000, 100_000 - 5_000), (10_000, 7_500)])
def test_what_stands_before_the_change_is_still_served(size, lost):
    begun = Scenario(20_000, 5_000, 15_000, 0, None, None)

    assert size - still_served(begun, size) == lost

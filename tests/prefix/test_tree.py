from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowered import PlanPrefix, PrefixSegment, ResumeRules
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.fleet import served
from agentmux_compiler.prefix.order import Order, bundle_of, ranked, reordered, section_of
from agentmux_compiler.prefix.sharing import sharing
from agentmux_compiler.prefix.strand import common, strand_of
from agentmux_compiler.prefix.tree import Identity, Node, Parting, forest, identity_of
from agentmux_compiler.segment import Text
from agentmux_compiler.tree import MemoryTree

WORDS = "It is what it is. " * 40


def text(name, content, line=1, asked_at=None):
    body = Text(content, f"{name}.src", tuple(range(line, line + content.count("\n") + 1)))
    return PrefixSegment("instructions", f"native/{name}", body, len(content.encode()), asked_at)


def opaque(name, size, *varies):
    return PrefixSegment("system", f"cli 1/{name}", None, size, varies_with=varies)


def plan(agent, *segments, **fields):
    made = PlanPrefix(
        agent=agent,
        provider="codex",
        vendor="openai",
        backend="openai",
        model="gpt-5.5",
        effort=None,
        permission="ask",
        delivery="flag",
        cwd=".",
        cli_version="1",
        argv=(),
        env=(),
        segments=segments,
        resume=ResumeRules("ignored", "ignored"),
    )
    return replace(made, **fields)


def nodes(node: Node):
    yield node
    for child in node.children:
        yield from nodes(child)


def symbols(made: PlanPrefix) -> list[object]:
    """The prompt byte by byte; those of an opaque part are of its own."""
    found: list[object] = []
    for segment in made.segments:
        if segment.text is None:
            content = (segment.name, segment.size, *(getattr(made, axis) for axis in segment.varies_with))
            found += [(content, index) for index in range(segment.size)]
        else:
            found += list(segment.text.encode())
    return found


def shared(a, b) -> int:
    pairs = zip(symbols(a), symbols(b), strict=False)
    return next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(symbols(a)), len(symbols(b))))


PARTS = st.one_of(
    st.text("aé中b\n", max_size=5).map(lambda content: text(f"t{len(content)}", content)),
    st.builds(opaque, st.sampled_from("xy"), st.integers(0, 3), st.sampled_from(["permission", "cwd"])),
)


@st.composite
def some_plans(draw):
    made = []
    for number in range(draw(st.integers(1, 7))):
        fields = {"permission": draw(st.sampled_from(["ask", "plan"])), "cwd": draw(st.sampled_from([".", "sub"]))}
        made.append(plan(f"a{number}", *draw(st.lists(PARTS, max_size=4)), **fields))
    return made


@given(some_plans())
def test_sums_of_the_tree_are_those_of_pairwise_common_prefixes(plans):
    (cache,) = forest(plans)
    for a, b in combinations(plans, 2):
        both = [node.bytes for node in nodes(cache.root) if {a.key, b.key} <= set(node.plans)]
        assert max(both, default=0) == shared(a, b) == common(strand_of(a), strand_of(b))
    whole = [symbols(each) for each in plans]
    assert cache.bytes_total == sum(map(len, whole))
    assert cache.bytes_distinct == len({tuple(each[: end + 1]) for each in whole for end in range(len(each))})


@given(some_plans(), st.randoms())
def test_a_tree_depends_on_its_plans_alone(plans, random):
    shuffled = random.sample(plans, len(plans))
    (cache,), (other,) = forest(plans), forest(shuffled)
    assert cache.root == other.root
    assert cache.root.plans == tuple(sorted(each.key for each in plans))
    assert sorted(key for node in nodes(cache.root) for key in node.ends) == sorted(each.key for each in plans)


@given(some_plans())
def test_nodes_stand_only_where_plans_end_or_branch(plans):
    (cache,) = forest(plans)
    for node in nodes(cache.root):
        assert node.ends or len(node.children) > 1
        assert all(child.bytes > node.bytes and child.tokens >= 0 for child in node.children)
        assert (node.parting is None) == (node is cache.root)


def test_tokens_are_counted_segment_by_segment():
    style, own = WORDS, "You review.\n"
    (cache,) = forest(
        [
            plan("a", opaque("base", 400), text("style", style), text("own", own)),
            plan("b", opaque("base", 400), text("style", style)),
        ]
    )
    counter = counter_for("openai", "gpt-5.5")
    base, body, rest = counter.estimate(400), counter.count(style), counter.count(own)
    assert (cache.tokens_total, cache.tokens_distinct) == (2 * (base + body) + rest, base + body + rest)
    assert (cache.root.tokens, cache.root.segments) == (base + body, ("cli 1/base", "native/style"))


def test_the_line_of_a_text_that_both_have_parts_them():
    a, b = (plan(name, text("own", f"The same.\nYou are {name}.\n", line=7)) for name in ("one", "two"))
    (cache,) = forest([a, b])
    assert cache.root.bytes == len("The same.\nYou are ")
    assert [child.parting for child in cache.root.children] == [Parting("instructions", "native/own", "own.src", 8)] * 2


def test_the_place_that_lists_another_segment_parts_plans():
    at = [Span("agents.d/a.yaml", 4), Span("agents.d/b.yaml", 9)]
    a = plan("a", text("base", "Same.\n"), text("x", "Say more.\n", asked_at=at[0]))
    b = plan("b", text("base", "Same.\n"), text("y", "Say less.\n", asked_at=at[1]))
    (cache,) = forest([a, b])
    places = [(child.parting.segment, child.parting.path, child.parting.line) for child in cache.root.children]
    assert places == [("native/x", "agents.d/a.yaml", 4), ("native/y", "agents.d/b.yaml", 9)]


def test_the_field_that_changes_a_part_of_the_cli_parts_plans():
    made = [
        plan(name, opaque("rules", 90, "permission"), permission=name, places={"permission": Span(f"{name}.yaml", 3)})
        for name in ("ask", "plan")
    ]
    (cache,) = forest(made)
    assert [child.parting for child in cache.root.children] == [
        Parting("system", "cli 1/rules", f"{name}.yaml", 3) for name in ("ask", "plan")
    ]


@pytest.mark.parametrize(
    ("backend", "vendor", "model", "keyed"),
    [
        ("openai", "openai", "gpt-5.5", True),
        ("anthropic", "anthropic", "claude-opus-5-5", True),
        ("vllm", "custom", "qwen3", True),  # nobody knows
        ("unknown", "custom", "x", True),
        ("moonshot", "moonshot", "kimi-k3", False),
    ],
)
def test_an_effort_makes_another_cache_where_it_keys_one(backend, vendor, model, keyed):
    made = [
        plan(name, text("own", "Same.\n"), backend=backend, vendor=vendor, model=model, effort=name) for name in "xy"
    ]
    assert [identity_of(each).effort for each in made] == (["x", "y"] if keyed else [None, None])
    assert len(forest(made)) == (2 if keyed else 1)


def test_an_alias_is_the_model_it_stands_for():
    made = [plan(name, vendor="anthropic", backend="anthropic", model=name) for name in ("opus", "claude-opus-5-5")]
    assert {identity_of(each) for each in made} == {Identity("anthropic", "anthropic", "claude-opus-5-5", None)}


def test_what_a_cache_serves_a_plan_of_another_ones_prefix():
    same = WORDS * 10
    made = [plan(name, text("same", same), text(name, f"{name} {WORDS}")) for name in ("a", "b", "c")]
    (cache,) = forest(made)
    once = cache.root.tokens - cache.root.tokens % 128
    assert served(cache) == 2 * once > 0
    (other,) = forest(replace(each, backend="openai-5.6", model="gpt-5.6") for each in made)
    assert served(other) == 0
    (unknown,) = forest(replace(each, backend="unknown") for each in made)
    assert served(unknown) is None


PROJECT = {
    "agents.d/a.yaml": "providers: {codex: {model: gpt-5.5}}\nsoul: You are a.\nbundles: [one, house]\n",
    "agents.d/b.yaml": "providers: {codex: {model: gpt-5.5}}\nsoul: You are b.\nbundles: [house, two]\n",
    "agents.d/c.yaml": "providers: {codex: {model: gpt-5.5}}\nsoul: You are c.\nbundles: [two, house]\n",
    "bundles/house.md": f"House. {WORDS * 8}\n",
    "bundles/one.md": "One.\n",
    "bundles/two.md": f"Two. {WORDS * 8}\n",
}


def compiled(files=PROJECT):
    tree = MemoryTree({path: content.encode() for path, content in files.items()})
    made = compile_project(tree)
    assert made.diagnostics == ()
    return tree, made.project, [each.prefix for each in made.plans]


def test_what_another_order_would_make_plans_share_is_measured_by_compiling_in_it():
    tree, project, plans = compiled()
    found = sharing(project, plans, tree)
    best = found.orders[0]
    assert (best.order.name, best.order.bundles) == ("sections and bundles", ("house", "two", "one"))
    assert best.order.sections == ("global-bundles", "bundles", "instructions", "soul", "skills-index")
    files = PROJECT | {
        "agents.d/_project.yaml": f"sections: [{', '.join(best.order.sections)}]\n",
        "agents.d/a.yaml": PROJECT["agents.d/a.yaml"].replace("[one, house]", "[house, one]"),
        "agents.d/c.yaml": PROJECT["agents.d/c.yaml"].replace("[two, house]", "[house, two]"),
    }
    _, _, then = compiled(files)
    (before,), (after,) = forest(plans), forest(then)
    (gain,) = best.gains
    assert (gain.served_before, gain.served_after) == (served(before), served(after))
    assert (gain.distinct_before, gain.distinct_after) == (before.tokens_distinct, after.tokens_distinct)
    assert best.served == served(after) - served(before) > 1000


def test_a_cache_with_breakpoints_gains_nothing_from_another_order():
    files = {path: content.replace("gpt-5.5", "gpt-5.6") for path, content in PROJECT.items()}
    tree, project, plans = compiled(files)
    assert sharing(project, plans, tree).orders == ()


def test_only_the_plans_asked_for_are_looked_at():
    tree, project, plans = compiled()
    found = sharing(project, plans, tree, lambda each: each.agent != "a")
    assert [(each.plans, each.root.plans) for each in found.caches] == [(2, ("b/codex", "c/codex"))]


def test_an_order_is_laid_over_every_list():
    _, project, _ = compiled()
    order = Order(("soul", "bundles", "instructions", "global-bundles", "skills-index"), ("two", "house"))
    changed = reordered(project, order)
    assert changed.settings.sections == order.sections
    names = [[listed.item.name for listed in agent.bundles] for agent in changed.agents]
    assert names == [["house", "one"], ["two", "house"], ["two", "house"]]
    assert reordered(project, Order()) == project
    assert ranked(project, lambda _: 0.0) == ("one", "two", "house")  # as they stand on average
    assert ranked(project, lambda name: len(name) == 3) == ("house", "one", "two")


@pytest.mark.parametrize(
    ("segment", "bundle", "section"),
    [
        ("bundles/style.md", "style", "bundles"),
        ("bundles/style@reviewer+codex.md", "style", "bundles"),
        ("bundles/house+claude.md", "house", "global-bundles"),
        ("agents/reviewer/soul.md", None, "soul"),
        ("agents/reviewer/instructions+codex.md", None, "instructions"),
        ("agents/reviewer/skills-index.md", None, "skills-index"),
        ("agents/reviewer/startup.md", None, None),
        ("header.md", None, None),
        ("native/agents/soul.md", None, None),
    ],
)
def test_what_a_segment_is_of(segment, bundle, section):
    assert (bundle_of(segment), section_of(segment, {"house"})) == (bundle, section)

from __future__ import annotations

from dataclasses import replace

import pytest

from agentmux_compiler.lowered import PlanPrefix, PrefixSegment, ResumeRules
from agentmux_compiler.prefix.backends import load_backend
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.prices import price
from agentmux_compiler.prefix.requests import marks_of
from agentmux_compiler.prefix.reuse import Block, Match, Request, after_effect, before_prompt, match, reusable, terms
from agentmux_compiler.prefix.scenarios import Billing, Caching, scenarios, standing
from agentmux_compiler.report import Scenario
from agentmux_compiler.segment import Text

HIDDEN = {"tools": "kept", "system": "kept", "messages": "lost"}
NOBODY_KNOWS = {"tools": "kept", "system": "unknown", "messages": "unknown"}
RULE = "Say what you do not know.\n"
STYLE = RULE * 300


def request(*sizes, marked=()):
    return Request(tuple(Block("messages", size, i, i in marked) for i, size in enumerate(sizes)))


def of(backend, model, **changes):
    return replace(terms(load_backend(backend), model), **changes)


@pytest.mark.parametrize(
    ("backend", "model", "shared", "served"),
    [
        ("openai", "gpt-5.5", 5000, 4992),
        ("openai", "gpt-5.5", 1151, 1024),
        ("openai", "gpt-5.5", 1023, 0),
        ("vllm", "qwen3", 5000, 4992),
        ("vllm", "qwen3", 15, 0),
        ("sglang", "qwen3", 17, 17),
        ("moonshot", "kimi-k3", 5000, 4864),
        ("xai", "grok-4.7", 300, 256),
    ],
)
def test_a_block_engine_serves_whole_steps_up_to_the_divergence(backend, model, shared, served):
    written = request(shared, 3000)
    asked = Request((written.blocks[0], Block("messages", 3000, "other")))
    assert reusable(written, asked, match(written, asked), of(backend, model)) == served


def test_a_divergence_inside_a_block_counts_for_a_block_engine_only():
    written, asked = (
        request(1000, 3000, marked=(0, 1)),
        Request((request(1000).blocks[0], Block("messages", 3000, "x"))),
    )
    found = match(written, asked, inside=2200)
    assert reusable(written, asked, found, of("openai", "gpt-5.5")) == 3200
    assert reusable(written, asked, found, of("deepseek", "deepseek-v4-pro")) == 0


def test_the_last_tokens_of_a_request_are_computed_anew():
    whole = request(160)
    assert reusable(whole, whole, Match(1), of("vllm", "qwen3")) == 144


def test_a_breakpoint_below_the_minimum_leaves_no_entry():
    written = request(500, 100, marked=(0, 1))
    rules = of("anthropic", "claude-opus-5")
    assert reusable(written, written, Match(2), rules) == 600
    assert reusable(written, written, Match(1), rules) == 0
    assert reusable(written, written, Match(2), of("anthropic", "claude-haiku-4-5")) == 0


@pytest.mark.parametrize(("blocks", "served"), [(20, 1000), (21, 0)])
def test_a_breakpoint_looks_at_twenty_positions_its_own_the_first(blocks, served):
    written = request(1000, marked=(0,))
    asked = request(1000, *[1] * (blocks - 1), marked=(blocks - 1,))
    assert reusable(written, asked, Match(1), of("anthropic", "claude-opus-5")) == served


@pytest.mark.parametrize(("age", "served"), [(300, 1000), (301, 0)])
def test_nothing_is_served_after_the_lifetime(age, served):
    written = request(1000, marked=(0,))
    assert reusable(written, written, Match(1), of("anthropic", "claude-opus-5"), age=age) == served


def test_a_lifetime_is_chosen_by_name_and_unknown_ones_never_end():
    backend = load_backend("anthropic")
    assert terms(backend, "claude-opus-5").seconds == 300
    assert terms(backend, "claude-opus-5", "1h").seconds == 3600
    assert terms(load_backend("gemini"), "gemini-3.5-flash").seconds is None
    assert terms(load_backend("openai"), "gpt-5.5").lifetime == "24h"
    assert terms(load_backend("openai"), "gpt-5.4").lifetime == "in_memory"


def test_markers_turn_a_block_backend_that_honours_them_into_a_breakpoint_one():
    assert terms(load_backend("dashscope"), "qwen3-max").kind == "blocks"
    assert terms(load_backend("dashscope"), "qwen3-max", marked=True).kind == "breakpoints"
    assert terms(load_backend("vllm"), "qwen3", marked=True).kind == "blocks"


def test_another_prompt_ends_the_agreement_where_it_stands():
    blocks = (Block("system", 100, 0), Block("messages", 50, 1, varies=True), Block("messages", 100, 2))
    assert before_prompt(Match(3), Request(blocks)) == Match(1)
    assert before_prompt(Match(0, 30), Request(blocks)) == Match(0, 30)
    assert before_prompt(Match(0, 130), Request(blocks)) == Match(0, 100)


def test_what_a_parameter_does_to_each_section():
    blocks = (Block("tools", 10, 0), Block("system", 10, 1), Block("messages", 10, 2))
    assert after_effect(Match(3), Request(blocks), HIDDEN) == Match(2)
    assert after_effect(Match(1, 5), Request(blocks), HIDDEN) == Match(1, 5)
    assert after_effect(Match(2), Request(blocks), NOBODY_KNOWS) is None
    assert after_effect(Match(1), Request(blocks), NOBODY_KNOWS) == Match(1)


def opaque(layer, name, size, **more):
    return PrefixSegment(layer, f"claude 2.1.332/{name}", None, size, **more)


def ours(layer, name, text):
    return PrefixSegment(layer, name, Text(text, name, tuple(range(1, text.count("\n") + 1))), len(text))


def claude(*, file="", flag="", **changes):
    """A plan of Claude Code with text in its system prompt, in its instruction file, or both."""
    appended = (ours("instructions", "bundles/flag.md", flag),) if flag else ()
    native = (ours("instructions", "bundles/file.md", file),) if file else ()
    segments = (
        opaque("tools", "tools", 35000),
        opaque("system", "attribution", 192),
        opaque("system", "base prompt", 4400),
        *appended,
        opaque("system", "end of system", 0, breakpoint=True),
        *native,
        opaque("conversation", "prompt", 0, varies_with=("prompt",)),
        opaque("skills", "skills of the CLI", 6238),
        opaque("environment", "date", 29, varies_with=("date",), breakpoint=True),
    )
    plan = PlanPrefix(
        agent="reviewer",
        provider="claude",
        vendor="anthropic",
        backend="anthropic",
        model="claude-opus-5",
        effort="high",
        permission="ask",
        delivery="flag" if flag else "file",
        cwd=".",
        cli_version="2.1.332",
        argv=(),
        env=(),
        segments=segments,
    )
    return replace(plan, **changes)


def asked(before, after, backend="anthropic", billing=Billing(), rules=("appended", "ignored")):  # noqa: B008
    caching = Caching(load_backend(backend), marks_of(after.segments), ResumeRules(*rules))
    return scenarios(before, after, caching, COUNTER, billing)


COUNTER = counter_for("anthropic", "claude-opus-5")
SYSTEM = COUNTER.estimate(35000) + COUNTER.estimate(4400)  # without the block that the vendor takes out
ATTRIBUTION = COUNTER.estimate(192)
TAIL = COUNTER.estimate(6238) + COUNTER.estimate(29)
FILE = COUNTER.count(STYLE)
LINE = COUNTER.count(RULE)
ADDED = COUNTER.count("Be brief.\n")


def test_a_new_session_with_another_prompt_never_finds_the_instruction_file():
    found = asked(claude(file=STYLE), claude(file="Be brief.\n" + STYLE))
    assert found["new_prompt"] == Scenario(SYSTEM, SYSTEM, 0, ADDED, None, None)
    assert found["relaunch"] == Scenario(SYSTEM + FILE + TAIL, SYSTEM, FILE + TAIL, ADDED, None, None)
    whole = SYSTEM + FILE + TAIL
    assert found["resume"] == Scenario(whole, whole, 0, FILE + ADDED, None, None)


def test_the_same_text_before_a_breakpoint_is_found_until_it_is_edited():
    caching = Caching(
        load_backend("anthropic"), marks_of(claude(flag=STYLE).segments), ResumeRules("appended", "ignored")
    )
    by_file, by_flag = (standing(plan, caching, COUNTER) for plan in (claude(file=STYLE), claude(flag=STYLE)))
    assert by_file.served["new_prompt"] == SYSTEM
    assert [segment.name for segment in by_file.anew] == ["bundles/file.md"]
    assert by_flag.served["new_prompt"] == SYSTEM + FILE
    assert by_flag.anew == ()
    edited = asked(claude(flag=STYLE), claude(flag="Be brief.\n" + STYLE))
    assert edited["new_prompt"].lost == SYSTEM + FILE
    assert edited["resume"] == Scenario(SYSTEM + FILE + TAIL, SYSTEM + FILE + TAIL, 0, 0, None, None)


def test_a_block_engine_serves_the_file_up_to_the_edit():
    marks = claude(file=STYLE)
    edited = claude(file=STYLE[: 200 * len(RULE)] + "x" + STYLE[200 * len(RULE) :])
    found = asked(marks, edited, backend="vllm")
    assert found["new_prompt"].reusable_before == (SYSTEM + FILE) // 16 * 16
    assert found["new_prompt"].reusable_after == (SYSTEM + 200 * LINE) // 16 * 16


def test_a_model_is_a_cache_of_its_own_but_an_alias_of_it_is_not():
    opus = claude(file=STYLE, model="claude-opus-5-5")
    assert asked(opus, replace(opus, model="claude-sonnet-5"))["relaunch"].reusable_after == 0
    assert asked(opus, replace(opus, model="opus"))["relaunch"].lost == 0


@pytest.mark.parametrize(
    ("backend", "after"),
    [("anthropic", 0), ("vllm", None), ("moonshot", (SYSTEM + ATTRIBUTION + FILE + TAIL) // 256 * 256), ("openai", 0)],
)
def test_an_effort_is_a_key_a_template_line_a_parameter_or_unknown(backend, after):
    plan = claude(file=STYLE)
    found = asked(plan, replace(plan, effort="low"), backend=backend)
    assert found["relaunch"].reusable_after == after
    assert (found["relaunch"].lost is None) == (after is None)


def test_money_is_write_minus_read_and_time_is_tokens_by_rate():
    billing = Billing(price("anthropic", "claude-opus-5"), "1h", prefill_rate=1000)
    found = asked(claude(flag=STYLE), claude(flag="x" + STYLE), billing=billing)["new_prompt"]
    lost = SYSTEM + FILE
    assert found.lost == lost
    assert found.usd == round(lost * (10 - 0.5) / 1e6, 6)
    assert found.prefill_seconds == lost / 1000


def test_after_the_lifetime_nothing_is_lost():
    found = asked(claude(flag=STYLE), claude(flag="x" + STYLE), billing=Billing(age=301))
    assert {name: scenario.lost for name, scenario in found.items()} == dict.fromkeys(found, 0)


@pytest.mark.parametrize("rule", ["unknown", "n/a"])
def test_what_a_resumed_session_does_may_be_unknown(rule):
    found = asked(claude(flag=STYLE), claude(flag="x" + STYLE), rules=("appended", rule))
    assert found["resume"] == Scenario(None, None, None, None, None, None)
    assert found["relaunch"].lost is not None
    assert asked(claude(flag=STYLE), claude(flag=STYLE), rules=("appended", rule))["resume"].lost == 0


def test_text_that_is_rewritten_on_resume_costs_all_that_follows():
    found = asked(claude(file=STYLE), claude(file="x" + STYLE), rules=("rewritten", "ignored"))
    assert found["resume"].reusable_after == SYSTEM
    assert found["resume"].lost == FILE + TAIL


def test_an_opaque_part_that_varies_with_what_changed_is_another():
    tools = opaque("tools", "tools", 35000, varies_with=("permission",))
    plan = claude(file=STYLE)
    plan = replace(plan, segments=(tools, *plan.segments[1:]))
    found = asked(plan, replace(plan, permission="plan"))
    assert {name: scenario.reusable_after for name, scenario in found.items()} == dict.fromkeys(found, 0)

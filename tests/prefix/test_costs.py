"""What a change costs by the plan's own backend, and when it costs nothing."""

from __future__ import annotations

import json

import pytest

from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.costs import NOTHING_STATED, Stated
from agentmux_compiler.prefix.diff import diff
from agentmux_compiler.prefix.environment import changed
from agentmux_compiler.tree import MemoryTree

RULES = "".join(f"- Rule {line}: say what you know, and no more than that.\n" for line in range(200))


def prefix(use, provider="claude", rules=RULES, **fields):
    """One agent of one bundle on one provider."""
    agent = {"providers": {provider: use}, "bundles": ["rules"], "delivery": "file", **fields}
    files = {"agents.d/a.yaml": json.dumps(agent), "bundles/rules.md": rules}
    found = compile_project(MemoryTree({path: text.encode() for path, text in files.items()}))
    assert [item.message for item in found.diagnostics if item.severity.value == "error"] == []
    (plan,) = found.plans
    return plan.prefix


def ended(text=" More."):
    return RULES.rstrip("\n") + text + "\n"


def lost(found):
    return {name: each.lost if each else None for name, each in found.scenarios.items()}


OPUS = {"model": "opus"}
LOCAL = {"model": "qwen3-coder", "base_url": "http://127.0.0.1:8000/v1", "backend": "vllm"}


def test_every_scenario_is_known_on_a_known_backend_with_its_terms():
    found = diff(prefix(OPUS), prefix(OPUS, rules=ended()))
    assert found.verdict == "broken"
    assert set(found.scenarios) == {"relaunch", "new_prompt", "resume"}
    assert found.scenarios["relaunch"].lost > 3_000
    assert found.scenarios["relaunch"].usd > 0
    assert found.ttl == "5m"  # nobody said that there is a login
    assert found.price_as_of
    assert found.certainty


@pytest.mark.parametrize(
    "use",
    [
        pytest.param({"model": "x", "base_url": "https://llm.example.com/v1"}, id="no one knows the endpoint"),
    ],
)
def test_nothing_is_said_of_a_backend_that_is_not_known(use):
    found = diff(prefix(use), prefix(use, rules=ended()))
    assert lost(found) == dict.fromkeys(("relaunch", "new_prompt", "resume"))
    assert found.verdict == "broken"
    assert (found.ttl, found.price_as_of, found.certainty) == (None, None, None)


def test_what_is_behind_all_that_is_cached_is_kept():
    """Below the minimum of a model nothing is cached, and nothing can be lost."""
    use = {"model": "claude-haiku-4-5", "flags": ["--bare"]}
    found = diff(*(prefix(use, rules=text, delivery="flag") for text in ("One.\n", "Two.\n")))
    assert found.verdict == "kept"
    assert found.first_break.segment == "bundles/rules.md"
    assert not any(lost(found).values())
    assert found.scenarios["relaunch"].reusable_before == 0


def test_on_blocks_an_edit_of_the_last_step_is_broken_all_the_same():
    assert diff(prefix(LOCAL), prefix(LOCAL, rules=ended())).verdict == "broken"


def test_an_alias_is_the_model_it_stands_for():
    alias = prefix(OPUS)
    found = diff(alias, prefix({"model": alias.resolved_model}))
    assert alias.resolved_model != alias.model
    assert [change.reason for change in found.changes] in ([], ["environment"])
    assert found.first_break is None
    assert not any(lost(found).values())


def test_another_model_is_another_key():
    found = diff(prefix(OPUS), prefix({"model": "sonnet"}))
    assert [change.reason for change in found.changes if not change.masked] == ["model"]
    assert found.scenarios["relaunch"].reusable_after == 0


def test_a_variable_of_the_environment_asks_for_another_lifetime():
    longer = {"env": {"ENABLE_PROMPT_CACHING_1H": "1"}}
    found = diff(prefix(OPUS, **longer), prefix(OPUS, rules=ended(), **longer))
    shorter = diff(prefix(OPUS), prefix(OPUS, rules=ended()))
    assert found.ttl == "1h"
    assert found.scenarios["relaunch"].usd > shorter.scenarios["relaunch"].usd


def test_another_backend_loses_all_that_was_cached():
    near = {**LOCAL, "backend": "sglang"}
    found = diff(prefix(LOCAL), prefix(near))
    assert [change.segment for change in found.changes] == ["backend"]
    assert found.first_break.layer == "key"
    again = found.scenarios["relaunch"]
    assert again.reusable_after == 0
    assert again.lost == again.reusable_before > 0


def test_seconds_are_told_at_the_rate_that_is_stated_only():
    pair = prefix(LOCAL), prefix(LOCAL, rules="- Another.\n" + RULES)
    assert diff(*pair).scenarios["relaunch"].prefill_seconds is None
    again = diff(*pair, Stated(prefill_rate=500.0)).scenarios["relaunch"]
    assert again.prefill_seconds == pytest.approx(again.lost / 500, rel=0.01)


@pytest.mark.parametrize(
    ("stated", "launches"),
    [(NOTHING_STATED, None), (Stated(launches_per_day=0.5), 0.5), (Stated(launches_per_day=40.0), 1.0)],
)
def test_a_date_comes_back_once_a_day_at_most(stated, launches):
    dated = {"delivery": "flag"}
    before, after = prefix(OPUS, **dated), prefix(OPUS, rules="Today is {{DATE}}.\n" + RULES, **dated)
    found = diff(before, after, stated)
    assert "volatile" in [change.reason for change in found.changes if not change.masked]
    usd = found.scenarios["relaunch"].usd
    assert found.usd_per_day == (None if launches is None else pytest.approx(usd * launches, rel=0.01))


def test_an_edit_does_not_come_back():
    assert diff(prefix(OPUS), prefix(OPUS, rules=ended()), Stated(launches_per_day=9.0)).usd_per_day is None


@pytest.mark.parametrize(
    ("cause", "provider"),
    [
        ("cwd", "claude"),
        ("cwd", "codex"),
        ("cwd", "gemini"),
        ("date", "claude"),
        ("date", "codex"),
        ("home", "gemini"),
        ("version", "claude"),
        ("version", "codex"),
        ("version", "gemini"),
    ],
)
def test_another_machine_or_day_is_one_change_of_the_environment(cause, provider):
    plan = prefix({}, provider)
    found = diff(plan, changed(plan, cause))
    assert {change.reason for change in found.changes} == {"cli-version" if cause == "version" else "environment"}
    assert diff(changed(plan, cause), changed(plan, cause)).verdict == "unchanged"


def test_another_version_of_the_cli_loses_all_of_it():
    plan = prefix(OPUS)
    found = diff(plan, changed(plan, "version"))
    assert found.text.bytes_kept == 0
    assert found.first_break.layer == "tools"

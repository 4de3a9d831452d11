"""What a session that goes on really sends, compiled from sources that were edited in between."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.resumed import sent
from agentmux_compiler.tree import MemoryTree

SPEC = """\
providers:
  claude: {model: claude-opus-5}
  qwen: {model: qwen3-coder-plus}
instructions: Review the diff.
bundles: [style, security]
"""
FILES = {"agents.d/reviewer.yaml": SPEC, "bundles/style.md": "Be brief.\n", "bundles/security.md": "No secrets.\n"}


def plan(provider, **edits):
    """The prefix of a plan; `edits` by the file's stem: its text."""
    files = {path: edits.get(path.rpartition("/")[2].partition(".")[0], text) for path, text in FILES.items()}
    compiled = compile_project(MemoryTree({path: text.encode() for path, text in files.items()}))
    return next(each.prefix for each in compiled.plans if each.plan.provider == provider)


@pytest.mark.parametrize("provider", ["claude", "qwen"])
def test_what_nobody_edited_is_sent_as_it_is(provider):
    now = plan(provider)

    assert sent(now, now) == now
    other = plan(provider, reviewer=SPEC.replace("plus}", "plus, effort: low}").replace("5}", "5, effort: low}"))
    assert sent(now, other) == other != now


def test_a_text_that_the_session_keeps_is_sent_again_with_what_else_is_new():
    before = plan("claude")
    after = plan("claude", style="Be very brief.\n", reviewer=SPEC.replace("5}", "5, effort: high}"))

    found = sent(before, after)

    assert found.effort == "high"
    assert [each.text for each in found.segments] == [each.text for each in before.segments]
    assert sent(found, after) == found
    assert sent(found, before).segments == before.segments


def test_a_text_that_the_cli_writes_anew_is_sent_as_it_is_now():
    after = plan("qwen", style="Be very brief.\n")

    assert sent(plan("qwen"), after) == after


def test_nobody_knows_what_a_recorded_request_goes_on_with():
    assert sent(plan("qwen"), replace(plan("qwen"), resume=None)) is None

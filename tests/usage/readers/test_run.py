"""Our own runs are read by the translator of their plan, from what their CLI wrote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentmux_launcher.accounting import account
from agentmux_launcher.manifest import Environment, LaunchPlan
from agentmux_launcher.reading import Ended, reading_of, replay
from agentmux_launcher.run_folder import RunFolder
from agentmux_launcher.usage import FRESH, Tokens
from agentmux_usage.gather import gather
from agentmux_usage.places import named_sources

FRAMES = Path(__file__).parents[2] / "launcher" / "fixtures" / "frames"
PLAN = LaunchPlan(
    agent="reviewer",
    provider="claude",
    display="Reviewer",
    executable="claude",
    controller="subprocess",
    model="sonnet",
    effort="high",
    permission="ask",
    delivery="file",
    cwd=".",
    argv=(),
    env=Environment(),
    files=(),
    startup=None,
    prompt_delivery="stdin",
    frames="claude-stream-json",
    session_id_field="session_id",
    cli_version="1",
    stdio={},
)


RUN = "20261130-120000-abcd1234"
CODEX = replace(PLAN, provider="codex", frames="codex-json", model=None, effort=None)


@pytest.fixture
def ran(tmp_path):
    """A function that makes the folder of a run out of a recording, and gives its responses."""

    def run(plan, recording):
        folder = RunFolder(tmp_path / ".agentmux" / "runs" / RUN)
        folder.plan(plan)
        folder.begin(FRESH, lasting=False)
        folder.output((FRAMES / recording).read_bytes())
        folder.end(Ended(0))
        folder.close()
        sources, strange = named_sources([tmp_path])
        notes = []
        found = [each for session in gather(sources, None, notes) for each in session.responses]
        assert (strange, notes) == ((), [])
        return found

    return run


def test_the_calls_of_a_run_are_its_responses(ran):
    (response,) = ran(PLAN, "claude/plain.jsonl")

    assert (response.provider, response.agent, response.effort) == ("claude", "reviewer", "high")
    assert (response.run_id, response.turn, response.kind, response.calls) == (RUN, 1, "main", 1)
    assert response.time == 1796040000.001
    assert response.tokens == Tokens(12, 17000, 3000, 0, 25)


@pytest.mark.parametrize("recording", ["plain", "subagent-again", "compact", "persistent", "mcp-tool"])
def test_they_are_those_of_its_account(ran, recording):
    said = (FRAMES / "claude" / f"{recording}.jsonl").read_bytes()
    calls = account(replay(said, b"", Ended(0), reading_of(PLAN, FRESH, lasting=False))).calls

    found = [each for each in ran(PLAN, f"claude/{recording}.jsonl") if each.calls]

    assert [each.tokens for each in found] == [call.tokens for call in calls]
    assert [each.message_id for each in found] == [call.message_id for call in calls]
    assert [each.thread for each in found] == [call.parent for call in calls]


def test_a_turn_whose_calls_are_not_told_is_one_response_of_unknown_calls(ran):
    (response,) = ran(CODEX, "codex/plain.jsonl")

    assert (response.provider, response.calls, response.message_id) == ("codex", None, f"{RUN}:1")
    assert response.tokens == Tokens(12, 17000, 0, None, 25, 7)


def test_a_summary_that_is_told_as_a_turn_alone_counts_too(ran):
    found = ran(PLAN, "claude/compact.jsonl")

    assert [(each.turn, each.kind, each.calls, each.tokens.input, each.after_compaction) for each in found] == [
        (1, "main", 1, 12123, False),
        (2, "side", None, 27536, False),
        (3, "main", 1, 12433, True),
    ]


def test_a_folder_that_is_not_whole_is_said_to_be_unreadable(tmp_path):
    folder = tmp_path / RUN
    folder.mkdir()
    (folder / "frames.jsonl").write_bytes(b"{}\n")
    (folder / "plan.json").write_bytes(b"{}\n")
    notes = []

    assert list(gather(named_sources([tmp_path])[0], None, notes)) == []
    assert notes == [f"1 file or folder could not be read: `{folder / 'frames.jsonl'}`"]

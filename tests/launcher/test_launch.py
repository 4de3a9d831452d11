"""What a CLI is started with: its environment, its arguments, its folder."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentmux_launcher.executable import Executable, Origin
from agentmux_launcher.launch import Launch, environment, missing
from agentmux_launcher.manifest import Environment, FromFile, Gate, LaunchPlan, Literal, Slot
from agentmux_launcher.usage import ZERO, Start

PLAN = LaunchPlan(
    agent="reviewer",
    provider="codex",
    display="Reviewer",
    executable="codex",
    controller="subprocess",
    model=None,
    effort=None,
    permission="ask",
    delivery="flag",
    cwd="sub",
    argv=(
        Literal("exec"),
        Slot("trust", ("-c", 'projects={"{}"={level="t"}}')),
        FromFile("text={}", "rules.md"),
        Slot("resume", ("resume", "{}")),
        Slot("fork", ("fork", "{}")),
        Slot("prompt", ("{}",), ("-",)),
    ),
    env=Environment(
        set={"SET": "by the plan", "AGENTMUX_AGENT_ID": "reviewer"},
        passed=("TOKEN", "ABSENT"),
        unset=("CLAUDECODE",),
        renamed={"API_KEY": "LOCAL_KEY", "OTHER": "NOT_HERE"},
    ),
    files=("rules.md",),
    startup=None,
    prompt_delivery="stdin",
    frames="codex-json",
    session_id_field="thread_id",
    cli_version="1",
    stdio={"stdin": "pipe", "stdout": "raw-pty", "stderr": "pipe"},
    gate=Gate("folder", "all", {"TRUST": "1"}, openable=True),
)
HERE = {
    "PATH": "/usr/bin",
    "TERM": "screen",
    "TOKEN": "t",
    "LOCAL_KEY": "k",
    "CLAUDECODE": "1",
    "SET": "by me",
    "AGENTMUX_RUN_ID": "outer",
}
FOUND = Executable("/managed/bin/codex", Origin.MANAGED, ("/managed/node",))


def test_the_environment_is_ours_less_an_outer_agents_and_with_the_plans():
    assert environment(PLAN, FOUND, "run-1", HERE) == {
        "PATH": "/managed/node:/usr/bin",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "TERM_PROGRAM": "agentmux",
        "AGENTMUX_RUN_ID": "run-1",
        "AGENTMUX_BLOCKID": "run-1",
        "AGENTMUX_AGENT_ID": "reviewer",
        "SET": "by the plan",
        "TOKEN": "t",
        "LOCAL_KEY": "k",
        "API_KEY": "k",
    }


def test_a_screen_has_the_terminal_that_it_is_shown_on():
    screen = replace(PLAN, stdio={"stdin": "pty", "stdout": "pty", "stderr": "pty"})

    made = environment(screen, FOUND, "run-1", HERE)
    assert (made["TERM"], made["COLORTERM"]) == ("screen", "truecolor")


def test_a_gate_is_opened_only_where_that_is_allowed(tmp_path):
    assert "TRUST" not in environment(PLAN, FOUND, "run-1", HERE)
    assert environment(PLAN, FOUND, "run-1", HERE, trusted=True)["TRUST"] == "1"
    (tmp_path / 'a "b"').mkdir()
    (tmp_path / "rules.md").write_text("", encoding="utf-8")
    launch = Launch(replace(PLAN, cwd='a "b"'), tmp_path, "/codex", {}, "run-1")

    closed, opened = (each.command(each.slots(None)).argv for each in (launch, replace(launch, trusted=True)))
    assert "-c" not in closed
    assert opened[2:4] == ["-c", f'projects={{"{tmp_path}/a \\"b\\""={{level="t"}}}}']


def test_variables_without_a_value_are_named():
    assert missing(PLAN, HERE) == ("ABSENT", "NOT_HERE")


@pytest.mark.parametrize(
    ("changes", "argv"),
    [
        ({}, ["fresh"]),
        ({"session_id": "s"}, ["resume", "s", "fresh"]),
        ({"session_id": "s", "fork": True}, ["fork", "s", "fresh"]),
    ],
)
def test_the_slots_of_a_session(tmp_path, changes, argv):
    (tmp_path / "rules.md").write_bytes("é\n".encode())
    launch = Launch(PLAN, tmp_path, "/codex", {"A": "b"}, "run-1", **changes)

    command = launch.command(launch.slots("fresh"))

    assert command.argv == ["/codex", "exec", "text=é\n", *argv]
    assert (command.cwd, command.env) == (str(tmp_path / "sub"), {"A": "b"})


def test_a_session_that_goes_on_begins_where_its_counters_stood(tmp_path):
    new = Launch(PLAN, tmp_path, "/codex", {}, "run-1")

    assert new.start == Start(resumed=False, counters=ZERO)
    assert replace(new, session_id="s", counters=None).start == Start(resumed=True, counters=None)

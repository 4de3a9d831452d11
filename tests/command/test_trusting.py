"""A gate that a file opens: asked about once, opened only where that is allowed, and never in silence."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.launch.trusting import settle
from agentmux_launcher.launch import Launch
from agentmux_launcher.manifest import Environment, Gate, LaunchPlan, UserEntry
from agentmux_launcher.person import Person

LIST = UserEntry("config.json", '{"trusted_folders": ["{cwd}"]}', "~/.copilot", "COPILOT_HOME")
OWN = UserEntry("trust/wd_{slug}", '{"root": "{cwd}", "at": {now}}', "~/.kimi", "KIMI_HOME")
GATE = Gate("folder", "skills of the folder", file=LIST)
PLAN = LaunchPlan(
    agent="reviewer",
    provider="copilot",
    display="Reviewer",
    executable="copilot",
    controller="acp",
    model=None,
    effort=None,
    permission="ask",
    delivery="file",
    cwd=".",
    argv=(),
    env=Environment(),
    files=(),
    startup=None,
    prompt_delivery="acp",
    frames="acp",
    session_id_field=None,
    cli_version="1",
    stdio={"stdin": "pipe", "stdout": "pipe", "stderr": "pipe"},
    gate=GATE,
)


@pytest.fixture
def launch(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "Project").mkdir()
    env = {"HOME": str(tmp_path / "home")}
    return Launch(PLAN, tmp_path / "Project", "copilot", env, "run-1")


class Terminal:
    """Somebody who gives the same answer to every question, and how often they were asked."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def __call__(self) -> Person:
        (reads, typed), (shown, writes) = os.pipe(), os.pipe()
        os.write(typed, self.answer)
        os.close(typed)
        terminal = self

        class Seen(Person):
            def ask(self, text: str) -> str:
                answer = super().ask(text)
                terminal.asked.append(os.read(shown, 4096).decode())
                for descriptor in (reads, shown, writes):
                    os.close(descriptor)
                return answer

        return Seen(reads, writes)


def nobody():
    return None


def gated(launch, gate, **more):
    return replace(launch, plan=replace(launch.plan, gate=gate), **more)


def files(launch):
    home = Path(launch.env["HOME"])
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def test_without_leave_nothing_is_written_and_what_is_lost_is_said(launch):
    said = settle(launch, nobody)

    assert said == [
        "unless it trusts this folder, `copilot` leaves out skills of the folder; `--trust` lets it from now on"
    ]
    assert files(launch) == {}


def test_with_leave_the_entry_is_written_and_said_once(launch):
    trusted = replace(launch, trusted=True)
    file = Path(launch.env["HOME"]) / ".copilot" / "config.json"
    file.parent.mkdir()
    file.write_bytes(b'// Managed.\n{\n  "first": "x"\n}\n')

    said = settle(trusted, nobody)

    assert said == [
        f"`copilot` trusts this folder from now on, by an entry in `{file}`; take it out there to take that back"
    ]
    expected = f'// Managed.\n{{\n  "first": "x",\n  "trusted_folders": [\n    "{launch.folder}"\n  ]\n}}\n'
    assert files(launch) == {".copilot/config.json": expected.encode(), ".agentmux/user-files.lock": b""}
    assert (settle(trusted, nobody), settle(launch, nobody)) == ([], [])
    assert file.read_bytes() == expected.encode()


def test_a_file_that_is_ours_alone_is_named_as_such(launch, tmp_path):
    moved = {**launch.env, "KIMI_HOME": str(tmp_path / "moved")}
    said = settle(gated(launch, Gate("folder", "all", file=OWN), trusted=True, env=moved), nobody)

    file = tmp_path / "moved" / "trust" / "wd_project"
    assert said == [
        f"`copilot` trusts this folder from now on, by the new file `{file}`; remove that file to take that back"
    ]
    assert json.loads(file.read_bytes())["root"] == launch.folder
    assert list(files(launch)) == [".agentmux/user-files.lock"]


def test_a_person_is_asked_and_may_say_yes(launch):
    terminal = Terminal(b"Yes\n")

    (said,) = settle(launch, terminal)

    file = Path(launch.env["HOME"]) / ".copilot" / "config.json"
    assert said.startswith("`copilot` trusts this folder from now on, by the new file ")
    asked = f"let `copilot` trust {launch.folder}? it leaves out skills of the folder otherwise; "
    assert terminal.asked == [f"{asked}yes adds an entry to {file} [y/N] "]
    assert json.loads(file.read_bytes()) == {"trusted_folders": [launch.folder]}


@pytest.mark.parametrize("answer", [b"n\n", b"\n", b"", b"yep\n"])
def test_a_person_who_says_no_is_asked_once(launch, answer):
    terminal = Terminal(answer)

    said = [settle(launch, terminal) for _ in range(2)]

    assert (
        said
        == [[f"unless it trusts this folder, `copilot` leaves out {GATE.drops}; `--trust` lets it from now on"]] * 2
    )
    assert len(terminal.asked) == 1
    assert files(launch) == {}


def test_what_is_not_there_is_not_asked_about(launch):
    gate = Gate("project-settings", "MCP servers of .kimi/mcp.json and .mcp.json", file=OWN)
    terminal = Terminal(b"n\n")
    assert (settle(gated(launch, gate), terminal), terminal.asked) == ([], [])

    (launch.project / ".mcp.json").write_text("{}", encoding="utf-8")

    (said,) = settle(gated(launch, gate), terminal)
    assert said.startswith("unless it trusts this folder, `copilot` leaves out MCP servers of .kimi/mcp.json")
    assert len(terminal.asked) == 1


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[]", "it is not an object"),
        (b'{"trusted_folders": false}', "it has something else at `trusted_folders`"),
        (b"\xff", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    ],
)
def test_a_file_that_is_not_as_expected_stays_and_the_run_goes_on(launch, content, why):
    file = Path(launch.env["HOME"]) / ".copilot" / "config.json"
    file.parent.mkdir()
    file.write_bytes(content)

    said = settle(replace(launch, trusted=True), nobody)

    assert said[0] == f"`{file}` is left as it is: {why}"
    assert said[1].startswith("unless it trusts this folder, ")
    assert file.read_bytes() == content


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("where", [".copilot", ".copilot/config.json"])
def test_a_link_is_never_followed(launch, tmp_path, where):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.json").write_bytes(b"{}")
    link = Path(launch.env["HOME"]) / where
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(elsewhere if where == ".copilot" else elsewhere / "config.json")

    said = settle(replace(launch, trusted=True), nobody)

    assert f"is left as it is: `{where}` is a link" in said[0]
    assert (elsewhere / "config.json").read_bytes() == b"{}"


def test_a_gate_that_a_launch_opens_needs_no_file(launch):
    opened = Gate("folder", "all", {"TRUST": "1"}, openable=True)

    assert settle(gated(launch, opened, trusted=True), nobody) == []
    assert settle(gated(launch, opened), nobody) == [
        "unless it trusts this folder, `copilot` leaves out all; `--trust` lets it for this run"
    ]
    plan = replace(launch.plan, gate=opened)
    assert settle(replace(launch, plan=plan, env={**launch.env, "TRUST": "1"}), nobody) == []
    assert settle(gated(launch, Gate("folder", "all")), nobody) == [
        "unless it trusts this folder, `copilot` leaves out all"
    ]
    assert settle(gated(launch, None), nobody) == []

from __future__ import annotations

import pytest

from agentmux.cli import main
from agentmux.errors import CannotRun
from agentmux.run_names import find
from agentmux_launcher.ledger import Run

LIST = "`agentmux ps --all` lists them"


def ran(run_id, project):
    plain = {"controller": "per-turn", "model": None, "effort": None, "permission": "ask", "cli_version": None}
    return Run(
        run_id,
        str(project),
        "reviewer",
        "codex",
        **plain,
        plan=None,
        prefix=None,
        folder="",
        pid=1,
        pid_started="",
    )


@pytest.fixture
def project(tmp_path):
    (tmp_path / "here" / "agents.d").mkdir(parents=True)
    return tmp_path / "here"


@pytest.fixture
def known(project):
    """Three runs, the oldest first."""
    names = (("20261130-090000-c52c8928", project), ("20261130-090001-0c52aaaa", project))
    return [*(ran(*each) for each in names), ran("20261130-090002-ffffffff", project.parent)]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("20261130-090000-c52c8928", 0),
        ("c52c8928", 0),
        ("c52c8", 0),
        ("090001", 1),
        ("20261130-090002", 2),
        ("latest", 1),
    ],
)
def test_a_run_is_named_by_any_part_of_its_id_that_no_other_has(known, project, name, found):
    assert find(name, known, str(project)) is known[found]


def test_a_whole_id_is_that_run_even_where_another_holds_it_too(project):
    known = [ran("a", project), ran("ab", project)]

    assert find("a", known, None) is known[0]


@pytest.mark.parametrize(
    ("name", "message", "remedy"),
    [
        ("c52", "`c52` is in the ids of 2 runs", f"take a longer part; {LIST}"),
        ("20261130-09", "`20261130-09` is in the ids of 3 runs", f"take a longer part; {LIST}"),
        ("c52d", "no run `c52d`", LIST),
        ("", "no run ``", LIST),
    ],
)
def test_a_name_of_no_run_or_of_several_is_refused(known, name, message, remedy):
    with pytest.raises(CannotRun) as refused:
        find(name, known, None)

    assert (refused.value.message, refused.value.remedy) == (message, remedy)


def test_nothing_is_the_latest_where_nothing_was_run(known, project):
    with pytest.raises(CannotRun) as refused:
        find("latest", known[2:], str(project))

    said = (refused.value.message, refused.value.remedy)
    assert said == ("nothing was run in this project yet", "`agentmux ps --all` lists those of all projects")


@pytest.mark.parametrize("command", ["tail", "stop"])
def test_a_command_without_a_run_says_which_there_are(capsys, monkeypatch, command):
    monkeypatch.setenv("NO_COLOR", "1")

    assert main([command]) == 2
    assert capsys.readouterr() == (
        "",
        f"error: which run?\n  = help: `agentmux {command} latest` takes the newest of this project; {LIST}\n",
    )

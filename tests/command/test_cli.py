import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentmux import __version__
from agentmux.cli import color_asked, main, split
from agentmux.command_table import COMMANDS

ROOTS = os.pathsep.join(str(Path(__file__).parents[2] / name) for name in ("compiler", "launcher"))
HEAVY = {
    "pydantic",
    "jinja2",
    "ruamel",
    "rich",
    "splintr",
    "tomlkit",
    "watchfiles",
    "anyio",
    "agentmux_compiler.pipeline",
}


@pytest.fixture
def agentmux(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        code = main(arguments)
        return (code, *capsys.readouterr())

    return run


def child(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": ROOTS, "NO_COLOR": "1"}
    return subprocess.run(arguments, capture_output=True, check=False, timeout=60, env=environment, **options)


def test_version(agentmux):
    assert agentmux("--version") == (0, f"agentmux {__version__}\n", "")


def test_help_lists_every_command(agentmux):
    code, out, err = agentmux("--help")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.split("commands:\n")[1].split("\n\n")[0].splitlines()] == list(COMMANDS)


def test_no_command_is_wrong_usage_and_shows_the_help(agentmux):
    assert agentmux() == (2, "", agentmux("--help")[1])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_its_usage(agentmux, command):
    code, out, err = agentmux(command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: agentmux {command}")
    assert COMMANDS[command].details in out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_usage_line_names_every_option(command):
    parser = argparse.ArgumentParser(add_help=False)
    COMMANDS[command].declare(parser)
    options = {option for action in parser._actions for option in action.option_strings}
    of_what_if = {
        option
        for group in parser._action_groups[2:]
        for action in group._group_actions
        for option in action.option_strings
    }
    assert set(re.findall(r"--[a-z-]+", COMMANDS[command].usage)) == options - of_what_if


def test_a_misspelt_command_gets_a_suggestion(agentmux):
    assert agentmux("biuld") == (
        2,
        "",
        "error: no command `biuld`\n  = help: did you mean `build`?\n  = note: `agentmux --help` lists them\n",
    )


def test_a_misspelt_format_gets_a_suggestion(agentmux):
    assert agentmux("build", "--format", "jsn") == (
        2,
        "",
        (
            "error: `--format` takes full, concise, json, github, sarif or markdown, not `jsn`\n"
            "  = help: did you mean `json`?\n"
        ),
    )


def test_an_unknown_option_points_to_the_help(agentmux):
    assert agentmux("build", "--chekc") == (
        2,
        "",
        "error: unrecognized arguments: --chekc\n  = note: `agentmux build --help` says what it takes\n",
    )


def test_control_characters_of_arguments_are_shown(agentmux):
    assert agentmux("\x1b]0;owned\x07\u202e")[2].startswith("error: no command `\\x1b]0;owned\\x07<U+202E>`\n")


def test_no_project(agentmux):
    assert agentmux("build") == (
        2,
        "",
        (
            "error: no project here: neither this folder nor one above holds `agents.d/`\n"
            "  = help: `agentmux init` starts one, `--project DIR` names another\n"
        ),
    )


def test_a_given_folder_that_is_no_project(agentmux):
    assert agentmux("--project", "elsewhere", "diff") == (
        2,
        "",
        "error: `elsewhere` holds no `agents.d/`\n  = help: `agentmux init` starts one\n",
    )


@pytest.mark.parametrize("value", ["sometimes", "break:", "break:x", "error:3", "break:²"])
def test_fail_on_is_checked_before_anything_is_built(agentmux, value):
    code, out, err = agentmux("build", "--fail-on", value)
    assert (code, out) == (2, "")
    assert err.startswith("error: `--fail-on` takes ")


def test_global_options_stand_before_or_after_the_command():
    assert split(["--project", "x", "--color=never", "build", "a", "--check"]) == (
        ["--project", "x", "--color=never"],
        "build",
        ["a", "--check"],
    )
    assert split(["--version"]) == (["--version"], None, [])


def test_colour_is_read_ahead():
    assert color_asked(["--color", "always", "build"]) == "always"
    assert color_asked(["build", "--color=always", "--color=never"]) == "never"
    assert color_asked(["build", "--color", "sometimes"]) == "auto"


def test_colour_of_a_refusal(agentmux):
    assert agentmux("--color=always", "biuld")[2].startswith("\x1b[1;31merror\x1b[0m")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["build", "--help"], ["explain", "AMX101"]])
def test_nothing_heavy_is_imported(arguments):
    program = (
        "import sys; from agentmux.cli import main; main(sys.argv[1:]); "
        "print(*sorted(sys.modules), sep='\\n', file=sys.stderr)"
    )
    result = child(sys.executable, "-c", program, *arguments)
    loaded = set(result.stderr.decode().split())
    assert "agentmux.cli" in loaded
    assert sorted(HEAVY & loaded) == []


def test_importing_the_package_imports_nothing_but_its_version():
    result = child(sys.executable, "-X", "importtime", "-c", "import agentmux")
    names = [line.rpartition("|")[2].strip() for line in result.stderr.decode().splitlines()]
    assert [name for name in names if name.startswith("agentmux")] == ["agentmux_compiler", "agentmux"]
    assert sorted(HEAVY & set(names)) == []


def test_runs_as_a_module():
    assert child(sys.executable, "-m", "agentmux", "--version").stdout == f"agentmux {__version__}\n".encode()

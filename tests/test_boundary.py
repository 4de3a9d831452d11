"""The arrows between the parts: the launcher knows no compiler, nothing heavy loads early, a build stays offline."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib

import pytest

HEAVY = ("jinja2", "pydantic", "pydantic_core", "rich", "ruamel", "splintr", "tomlkit", "watchfiles")
LIST_MODULES = "import sys; sys.stdout.write('\\n'.join(sorted(sys.modules)))"
NO_SOCKETS = """
import socket

def refused(*arguments, **named):
    raise AssertionError(f"a socket was asked for: {arguments} {named}")

class Refused(socket.socket):
    __init__ = refused

socket.socket = Refused
socket.create_connection = socket.getaddrinfo = socket.gethostbyname = refused
"""
PROJECT = {
    "agents.d/reviewer.yaml": "providers: {claude: {model: opus}, codex: {}, gemini: {}}\n"
    "instructions: Review the diff.\nbundles: [style]\n",
    "bundles/style.md": "Be brief.\n",
}


def imports_of(path) -> set[str]:
    """Names of all modules that a module imports, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def top(names) -> set[str]:
    return {name.partition(".")[0] for name in names}


@pytest.fixture
def environment(repository):
    """Environment for a fresh interpreter that finds this repository's packages, behind `first` folders."""

    def make(*first) -> dict[str, str]:
        folders = (*first, repository / "compiler", repository / "launcher")
        return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}

    return make


@pytest.fixture
def loaded_after(environment):
    """Top names in `sys.modules` of a fresh interpreter that ran some code."""

    def run(code: str) -> set[str]:
        command = [sys.executable, "-c", f"{code}\n{LIST_MODULES}"]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True, timeout=60)
        return {name.partition(".")[0] for name in done.stdout.splitlines()}

    return run


def test_launcher_imports_the_standard_library_itself_and_its_two_terminals(repository):
    modules = sorted((repository / "launcher").rglob("*.py"))
    allowed = {*sys.stdlib_module_names, "agentmux_launcher", "ptyprocess", "winpty"}

    strangers = {path.name: top(imports_of(path)) - allowed for path in modules}
    assert {name: found for name, found in strangers.items() if found} == {}


def test_compiler_does_not_import_the_command(repository):
    modules = sorted((repository / "compiler" / "agentmux_compiler").rglob("*.py"))

    assert [path.name for path in modules if "agentmux" in top(imports_of(path))] == []


def test_what_reports_on_usage_imports_no_command_and_nothing_below_it_imports_that(repository):
    usage = sorted((repository / "compiler" / "agentmux_usage").rglob("*.py"))
    below = [repository / "compiler" / "agentmux_compiler", repository / "launcher"]

    assert [path.name for path in usage if "agentmux" in top(imports_of(path))] == []
    modules = [path for folder in below for path in sorted(folder.rglob("*.py"))]
    assert [path.name for path in modules if "agentmux_usage" in top(imports_of(path))] == []


def test_launcher_loads_nothing_of_the_compiler(repository, loaded_after):
    names = [path.stem for path in sorted((repository / "launcher" / "agentmux_launcher").glob("[a-z]*.py"))]
    loaded = loaded_after("\n".join(f"import agentmux_launcher.{name}" for name in names))

    assert loaded & {*HEAVY, "agentmux", "agentmux_compiler"} == set()


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_command_answers_without_loading_what_it_does_not_need(option, loaded_after):
    code = f"import sys\nfrom agentmux.cli import main\ntry:\n  main([{option!r}])\nexcept SystemExit:\n  pass\nprint()"

    assert loaded_after(code) & set(HEAVY) == set()


@pytest.mark.parametrize("name", ["agentmux", "agentmux_compiler", "pydantic", "jinja2", "ruamel"])
def test_linter_refuses_the_import_in_the_launcher(repository, name):
    run = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--stdin-filename", "launcher/agentmux_launcher/new.py", "-"],
        input=f'"""New."""\n\nimport {name}.something\n\n__all__ = ["{name}"]\n'.encode(),
        cwd=repository,
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert run.returncode == 1
    assert b"TID251" in run.stdout


@pytest.mark.parametrize("command", [["build"], ["diff"], ["show", "reviewer"]])
def test_command_opens_no_socket(command, write_project, tmp_path, environment):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(NO_SOCKETS, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "agentmux", *command],
        cwd=write_project(PROJECT),
        env=environment(tmp_path / "site"),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )

    assert (run.returncode, run.stderr) == (0, "")


def test_usage_opens_no_socket(tmp_path, environment):
    transcript = tmp_path / "home" / ".claude" / "projects" / "p" / "s.jsonl"
    transcript.parent.mkdir(parents=True)
    said = '{"type": "assistant", "sessionId": "s", "timestamp": "2026-11-30T12:00:00Z", "message": {"id": "m1", %s}}'
    figures = '"model": "claude-opus-5", "usage": {"input_tokens": 9, "output_tokens": 1}'
    transcript.write_text(said % figures + "\n", encoding="utf-8")
    (tmp_path / "sitecustomize.py").write_text(NO_SOCKETS, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "agentmux", "usage", "--format", "csv"],
        cwd=tmp_path,
        env={**environment(tmp_path), "HOME": str(tmp_path / "home"), "AGENTMUX_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )

    assert (run.returncode, run.stderr, len(run.stdout.splitlines())) == (0, "", 2)


def test_socket_test_would_notice(tmp_path, environment):
    (tmp_path / "sitecustomize.py").write_text(NO_SOCKETS, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", "import socket; socket.socket()"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert run.returncode == 1
    assert "a socket was asked for" in run.stderr


def test_ci_runs_what_a_person_runs(repository):
    workflow = (repository / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    script = (repository / ".ci" / "run").read_text(encoding="utf-8")
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    asked = set(re.findall(r"\bmake ([a-z -]+)", script)) | set(re.findall(r"run: make ([a-z-]+)", workflow))

    assert {name for line in asked for name in line.split()} <= targets
    assert script.splitlines()[-1] == "make test"
    versions = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    assert re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.*)\]", workflow)[1]) == [
        line.rpartition(" ")[2] for line in versions if line.startswith("Programming Language :: Python :: 3.")
    ]

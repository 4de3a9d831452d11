from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux_launcher.executable import (
    Cli,
    Executable,
    Origin,
    cli_of,
    expanded,
    find,
    remedy,
    version_of,
    versions_of,
)
from agentmux_launcher.managed import Installation, Receipt, finish, finished, home, installed, provider_folder
from agentmux_launcher.manifest import Environment, LaunchPlan

WINDOWS = os.name == "nt"
CLI = Cli("some", "some-cli", "1.2.3", folders=("~/.some/bin", "%SOME_APP%/bin"), hint="curl some", installable=True)


def make(folder: Path, name: str, program: str) -> Path:
    """An executable that runs a Python program."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(program, encoding="utf-8")
    file = folder / (f"{name}.bat" if WINDOWS else name)
    head = f'@"{sys.executable}" "{folder / name}.py" %*\n' if WINDOWS else f"#!{sys.executable}\n{program}"
    file.write_text(head, encoding="utf-8")
    file.chmod(0o755)
    return file


def says(line: str) -> str:
    return f"print({line!r})\n"


@pytest.fixture
def environ(tmp_path):
    """An environment of its own: an empty PATH, an empty home."""
    (tmp_path / "user").mkdir()
    (tmp_path / "path").mkdir()
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "COMSPEC", "PATHEXT") if name in os.environ}
    return {
        **kept,
        "HOME": str(tmp_path / "user"),
        "PATH": str(tmp_path / "path"),
        "AGENTMUX_HOME": str(tmp_path / "managed"),
    }


def put(environ, version: str, *, receipt: bool = True) -> Installation:
    """An installation in the managed folder."""
    folder = provider_folder(environ, "some") / version
    file = make(folder / "bin", "some-cli", says(f"some-cli {version}"))
    made = Receipt("some", version, "npm", (f"some@{version}",), file.relative_to(folder).as_posix(), ("node", "bin"))
    return finish(folder, made) if receipt else Installation(folder, made)


def test_managed_comes_before_path_comes_before_the_vendors_folders(environ, tmp_path):
    assert find(CLI, environ) is None

    vendors = make(tmp_path / "user/.some/bin", "some-cli", says("1.0.0"))
    assert find(CLI, environ) == Executable(str(vendors), Origin.VENDOR)

    on_path = make(tmp_path / "path", "some-cli", says("1.1.0"))
    assert find(CLI, environ) == Executable(str(on_path), Origin.PATH)

    managed = put(environ, "1.2.3")
    folders = (str(managed.folder / "node"), str(managed.folder / "bin"))
    assert find(CLI, environ) == Executable(str(managed.executable), Origin.MANAGED, folders)


def test_an_executable_that_a_companion_brings_lies_beside_the_managed_one(environ, tmp_path):
    managed = put(environ, "1.2.3")
    adapter = replace(CLI, executable="some-adapter")
    assert find(adapter, environ) is None

    brought = make(managed.executable.parent, "some-adapter", says("1"))
    found = find(adapter, environ)
    assert (found.path.lower(), found.origin) == (str(brought).lower(), Origin.MANAGED)

    brought.unlink()
    elsewhere = make(tmp_path / "path", "some-adapter", says("2"))
    found = find(adapter, environ)
    assert (found.path.lower(), found.origin) == (str(elsewhere).lower(), Origin.PATH)


def test_of_managed_versions_the_verified_one_is_taken_else_the_newest(environ):
    for version in ("1.9.0", "1.10.0"):
        put(environ, version)
    assert installed(environ, "some", "1.2.3").receipt.version == "1.10.0"

    put(environ, "1.2.3")
    assert installed(environ, "some", "1.2.3").receipt.version == "1.2.3"


def test_a_folder_without_a_receipt_is_no_installation(environ):
    put(environ, "1.2.3", receipt=False)
    assert find(CLI, environ) is None


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"version": 3}', "\xff"])
def test_a_receipt_that_cannot_be_read_is_none(environ, text):
    made = put(environ, "1.2.3")
    (made.folder / "installed.json").write_text(text, encoding="latin-1")
    assert finished(made.folder) is None


def test_an_installation_whose_executable_is_gone_is_none(environ):
    made = put(environ, "1.2.3")
    made.executable.unlink()
    assert find(CLI, environ) is None


def test_a_receipt_says_what_its_folder_says(environ):
    put(environ, "1.2.3").folder.rename(provider_folder(environ, "some") / "9.9.9")
    assert find(CLI, environ) is None


def test_the_managed_folder_is_below_the_users_own_unless_named(tmp_path):
    assert home({"HOME": str(tmp_path)}) == tmp_path / ".agentmux"
    assert home({"HOME": str(tmp_path), "AGENTMUX_HOME": "elsewhere"}) == Path.cwd() / "elsewhere"


def test_relative_folders_of_the_path_are_not_searched(environ, tmp_path, monkeypatch):
    make(tmp_path / "here", "some-cli", says("1.2.3"))
    monkeypatch.chdir(tmp_path / "here")
    assert find(CLI, {**environ, "PATH": os.pathsep.join(["", ".", "../here"])}) is None


def test_folders_of_vendors_are_below_the_users_own_or_a_variable(environ, tmp_path):
    assert expanded("~/.some/bin", environ) == str(tmp_path / "user" / ".some/bin")
    assert expanded("%SOME_APP%/bin", {"SOME_APP": "C:/Apps"}) == "C:/Apps/bin"
    make(tmp_path / "app/bin", "some-cli", says("1.0.0"))
    assert find(CLI, {**environ, "SOME_APP": str(tmp_path / "app")}).origin is Origin.VENDOR


def test_a_cli_is_asked_with_its_own_folders_first_on_the_path(environ, tmp_path):
    program = "import os\nprint('9.' + str(os.environ['PATH'].split(os.pathsep).index(os.environ['SOUGHT'])))\n"
    file = make(tmp_path / "bin", "some-cli", program)
    executable = Executable(str(file), Origin.MANAGED, (str(tmp_path / "node"), str(tmp_path / "bin")))
    assert version_of(executable, ["--version"], {**environ, "SOUGHT": str(tmp_path / "node")}) == "9.0"


def test_versions_come_in_the_order_asked(environ, tmp_path):
    asked = [(Executable(str(make(tmp_path, f"cli-{i}", says(f"1.{i}"))), Origin.PATH), ()) for i in range(6)]
    assert versions_of(asked, environ) == ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5"]
    assert versions_of([], environ) == []


def test_what_cannot_be_started_has_no_version(environ, tmp_path):
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF not really")
    broken.chmod(0o755)
    assert version_of(Executable(str(broken), Origin.PATH), ["--version"], environ) is None


@pytest.mark.skipif(WINDOWS, reason="process groups are POSIX's")
def test_of_a_cli_that_says_more_than_a_version_the_beginning_is_read(environ, tmp_path):
    endless = "import os\nos.write(1, b'some 1.2.3\\n')\nwhile True:\n    os.write(1, b'x' * 65536)\n"
    flood = make(tmp_path, "flood", endless)

    assert version_of(Executable(str(flood), Origin.PATH), ("--version",), environ) == "1.2.3"


def test_a_cli_that_does_not_answer_is_ended_with_what_it_started(environ, tmp_path):
    note = tmp_path / "started"
    program = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    file = make(tmp_path, "some-cli", program)
    before = time.monotonic()
    assert version_of(Executable(str(file), Origin.PATH), [], environ, seconds=1.5) is None
    assert time.monotonic() - before < 20
    assert gone(int(note.read_text()))


def gone(pid: int) -> bool:
    """Whether a process ends soon; one that only waits to be reaped has ended."""
    for _ in range(100):
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
        if not state.stdout.strip() or state.stdout.startswith("Z"):
            return True
        time.sleep(0.05)
    return False


def test_how_to_get_a_cli_that_is_not_there():
    assert remedy(CLI) == "run `agentmux install some`; the vendor's own way is `curl some`"
    assert remedy(Cli("some", "some-cli", "1.2.3", hint="curl some")) == "the vendor's own way is `curl some`"
    assert remedy(Cli("some", "some-cli", "1.2.3", installable=True)) == "run `agentmux install some`"
    assert remedy(Cli("some", "some-cli", "1.2.3")) is None


def test_a_launch_plan_says_all_that_is_needed_to_find_its_cli():
    plan = LaunchPlan(
        agent="main",
        provider="some",
        display="Main",
        executable="some-cli",
        controller="subprocess",
        model=None,
        effort=None,
        permission="ask",
        delivery="flag",
        cwd=".",
        argv=(),
        env=Environment(),
        files=(),
        startup=None,
        prompt_delivery="stdin",
        frames="none",
        session_id_field=None,
        cli_version="1.2.3",
        stdio={},
        version_argv=("--version",),
        install_folders=("~/.some/bin", "%SOME_APP%/bin"),
        install_hint="curl some",
        installable=True,
    )
    assert cli_of(plan) == CLI

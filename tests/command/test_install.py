from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from agentmux.cli import main
from agentmux.commands import install as command
from agentmux_compiler.providers import load_provider
from agentmux_launcher.executable import Cli, find
from agentmux_launcher.install import carry_out
from agentmux_launcher.install_plan import NODE, CannotInstall, Package, plan
from agentmux_launcher.managed import finished, provider_folder

if TYPE_CHECKING:
    from pathlib import Path

WINDOWS = os.name == "nt"
CODEX = load_provider("codex")
VERIFIED = CODEX.package.verified

# Fills a prefix as npm would, with CLIs that say what `fakes.json` has for them, and notes how it was called.
NPM = """
import json, os, pathlib, sys
here = pathlib.Path(__file__).resolve().parent
fakes = json.loads((here / "fakes.json").read_text())
arguments = sys.argv[1:]
prefix = pathlib.Path(arguments[arguments.index("--prefix") + 1])
wanted = [each for each in arguments[3:] if not each.startswith("--")]
with (here / "npm.log").open("a") as log:
    log.write(json.dumps([os.environ["PATH"].split(os.pathsep)[0], *wanted]) + "\\n")
if fakes.get("fail"):
    print("npm error code E404")
    sys.exit(1)
def put(folder, name, line):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(f"import os\\nprint({line!r}.format(**os.environ))\\n")
    if os.name == "nt":
        (folder / f"{name}.cmd").write_text(f'@"{sys.executable}" "{folder / name}.py" %*\\n')
    else:
        (folder / name).write_text(f"#!{sys.executable}\\n" + (folder / f"{name}.py").read_text())
        (folder / name).chmod(0o755)
for each in wanted:
    name = each.rpartition("@")[0]
    if name == "node":
        put(prefix / "node_modules" / "node" / "bin", "node", each.replace("node@", "v"))
    for program, line in fakes.get(name, {}).items():
        put(prefix / "node_modules" / ".bin", program, line)
"""
# Makes an environment as `venv` would, in which it stands for pip too.
PYTHON = """
import json, os, pathlib, shutil, sys
here = pathlib.Path(__file__).resolve().parent
if sys.argv[1:] == ["--version"]:
    print("Python 3.99.1")
elif sys.argv[1:4] == ["-I", "-m", "venv"]:
    binaries = pathlib.Path(sys.argv[4]) / "bin"
    binaries.mkdir(parents=True)
    shutil.copy(__file__, binaries / "python")
    (binaries / "python").chmod(0o755)
else:
    (here / "pip.log").write_text(json.dumps(sys.argv[1:]))
    (here / "aider").write_text(f"#!{sys.executable}\\nprint('aider 0.86.2')\\n")
    (here / "aider").chmod(0o755)
"""
PIP = ["-I", "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--quiet"]
AIDER = Cli("aider", "aider", "0.86.2")


def executable(folder: Path, name: str, program: str) -> None:
    (folder / f"{name}.py").write_text(program, encoding="utf-8")
    file = folder / (f"{name}.bat" if WINDOWS else name)
    file.write_text(
        f'@"{sys.executable}" "{folder / name}.py" %*\n' if WINDOWS else f"#!{sys.executable}\n{program}",
        encoding="utf-8",
    )
    file.chmod(0o755)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with an old Node and an npm that has Codex; gives the folder of the PATH."""
    folder = tmp_path / "path"
    folder.mkdir()
    executable(folder, "npm", NPM)
    executable(folder, "node", "print('v20.20.2')\n")
    fakes(folder, {"@openai/codex": {"codex": f"codex-cli {VERIFIED}"}})
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "user"))
    monkeypatch.setenv("AGENTMUX_HOME", str(tmp_path / "user" / "managed"))
    return folder


def fakes(folder: Path, content) -> None:
    (folder / "fakes.json").write_text(json.dumps(content), encoding="utf-8")


def calls(folder: Path) -> list[list[str]]:
    """What npm was asked for, each with the folder that stood first on its PATH."""
    log = folder / "npm.log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


@pytest.fixture
def agentmux(capsys):
    def run(*arguments):
        code = main(arguments)
        return (code, *capsys.readouterr())

    return run


def bin_of(version=VERIFIED):
    name = "codex.cmd" if WINDOWS else "codex"
    return f"~/managed/shared/cli/codex/{version}/node_modules/.bin/{name}"


def test_install_puts_the_verified_version_into_the_managed_folder(agentmux, machine):
    assert agentmux("install", "codex") == (
        0,
        f"codex {VERIFIED} is installed: {bin_of()}\n",
        f"installing @openai/codex@{VERIFIED}\nasking codex for its version\n",
    )
    assert calls(machine) == [[str(machine), f"@openai/codex@{VERIFIED}"]]
    installation = finished(provider_folder(os.environ, "codex") / VERIFIED)
    assert installation.receipt.packages == (f"@openai/codex@{VERIFIED}",)
    assert find(command.cli_of(CODEX), os.environ).path == str(installation.executable)


def test_installing_again_runs_nothing(agentmux, machine):
    agentmux("install", "codex")
    assert agentmux("install", "codex-cli") == (0, f"codex {VERIFIED} was installed already: {bin_of()}\n", "")
    assert len(calls(machine)) == 1


def test_dry_run_prints_the_commands_and_runs_none(agentmux, machine, tmp_path):
    code, out, err = agentmux("install", "codex", "--dry-run")
    assert (code, err, calls(machine)) == (0, "", [])
    assert out.rstrip("\n").endswith(
        " --save-exact --no-audit --no-fund --no-update-notifier --loglevel=error " + f"@openai/codex@{VERIFIED}"
    )
    assert not (tmp_path / "user" / "managed").exists()


def test_a_node_that_is_too_old_gets_one_beside_the_cli(machine):
    fakes(machine, {"some": {"some-cli": "{PATH}\n1.2.3"}})
    cli, package = Cli("some", "some-cli", "1.2.3"), Package("npm", "some", ("more@4.5.6",), node=">=22")
    made = plan(cli, package, os.environ)
    said: list[str] = []
    installation = carry_out(made, os.environ, said.append)

    node = installation.folder / "node" / "node_modules" / "node" / "bin"
    assert said == [
        f"installing Node {NODE} for it",
        "installing some@1.2.3, more@4.5.6",
        "asking some-cli for its version",
    ]
    assert calls(machine) == [[str(machine), f"node@{NODE}"], [str(node), "some@1.2.3", "more@4.5.6"]]
    assert installation.path[0] == str(node)
    assert installation.receipt.packages == ("some@1.2.3", "more@4.5.6", f"node@{NODE}")
    assert [command.command(step).startswith("PATH=") for step in made.steps] == [False, not WINDOWS]


def test_a_node_that_is_new_enough_is_used(machine):
    executable(machine, "node", "print('v22.19.0')\n")
    made = plan(Cli("some", "some-cli", "1.2.3"), Package("npm", "some", node=">=22.19"), os.environ)
    assert [step.words for step in made.steps] == ["installing some@1.2.3"]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("codex-cli 0.15.10", "says it is 0.15.10"),
        (f"codex-cli 1{VERIFIED}", f"says it is 1{VERIFIED}"),
        ("no longer maintained", "does not say its version"),
    ],
)
def test_another_version_than_asked_for_is_not_kept(agentmux, machine, line, fault):
    fakes(machine, {"@openai/codex": {"codex": line}})
    code, out, err = agentmux("install", "codex")
    assert (code, out) == (2, "")
    assert err.splitlines()[2:] == [
        f"error: `codex` was installed as {VERIFIED}, and {fault}",
        f"  = note: {line}",
    ]
    assert not (provider_folder(os.environ, "codex") / VERIFIED).exists()


def test_the_cli_is_asked_without_the_users_home_and_keys(machine, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    fakes(machine, {"@openai/codex": {"codex": "{HOME} {OPENAI_API_KEY}"}})
    made = plan(command.cli_of(CODEX), command.package_of(CODEX), os.environ)
    with pytest.raises(CannotInstall) as caught:
        carry_out(made, os.environ, lambda _: None)
    assert caught.value.said[-1] == "KeyError: 'OPENAI_API_KEY'"
    assert "does not say its version" in caught.value.message


def test_what_npm_says_is_shown_when_it_fails(agentmux, machine):
    fakes(machine, {"fail": True})
    name = "npm.BAT" if WINDOWS else "npm"
    code, out, err = agentmux("install", "codex")
    assert (code, out) == (2, "")
    assert (
        err.lower()
        == (
            f"installing @openai/codex@{VERIFIED}\n"
            f"error: `{name}` ended with 1 while installing @openai/codex@{VERIFIED}\n"
            "  = note: npm error code e404\n"
        ).lower()
    )
    assert not (provider_folder(os.environ, "codex") / VERIFIED).exists()


def test_a_package_without_the_executable_is_not_kept(agentmux, machine):
    fakes(machine, {})
    assert agentmux("install", "codex")[2].splitlines()[-1] == "error: the package brought no `codex`"
    assert not (provider_folder(os.environ, "codex") / VERIFIED).exists()


@pytest.mark.usefixtures("machine")
def test_what_an_interrupted_installation_left_is_removed(agentmux):
    folder = provider_folder(os.environ, "codex") / VERIFIED
    (folder / "node_modules").mkdir(parents=True)
    (folder / "node_modules" / "half").write_text("")
    assert agentmux("install", "codex")[0] == 0
    assert not (folder / "node_modules" / "half").exists()


@pytest.mark.usefixtures("machine")
def test_without_npm_nothing_is_begun(agentmux, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert agentmux("install", "codex") == (
        2,
        "",
        ("error: `codex` is installed by npm, and npm is not on the PATH\n  = help: install Node, which brings npm\n"),
    )
    assert not (tmp_path / "user" / "managed").exists()


def without_package(monkeypatch, reason):
    facts = CODEX.model_copy(
        update={"package": CODEX.package.model_copy(update={"registry": "none", "not_installable": reason})}
    )
    monkeypatch.setattr(command, "load_provider", lambda _: facts)


@pytest.mark.parametrize(
    ("reason", "message"),
    [("its releases are on GitHub", "its releases are on GitHub"), (None, "neither npm nor PyPI has it")],
)
def test_what_no_registry_has_is_refused_with_the_vendors_own_command(agentmux, machine, monkeypatch, reason, message):
    without_package(monkeypatch, reason)
    assert agentmux("install", "codex") == (
        2,
        "",
        (
            f"error: agentmux cannot install `codex`: {message}\n"
            "  = help: the vendor's own way is `npm install -g @openai/codex`\n"
        ),
    )
    assert calls(machine) == []


def test_a_misspelt_provider_gets_a_suggestion(agentmux):
    code, out, err = agentmux("install", "codx")
    assert (code, out) == (2, "")
    assert err.startswith("error: no provider `codx`\n  = help: did you mean `codex`?\n")


@pytest.mark.skipif(WINDOWS, reason="the stand-in for Python is a script")
def test_a_package_of_pypi_gets_an_environment_of_a_python_that_it_runs_on(machine):
    executable(machine, "python3", PYTHON)
    made = plan(AIDER, Package("pypi", "aider-chat", ("more==1.0",), python=">=3.99,<4"), os.environ)
    installation = carry_out(made, os.environ, lambda _: None)

    assert [step.argv[0] for step in made.steps] == [str(machine / "python3"), str(made.folder / "bin" / "python")]
    assert json.loads((made.folder / "bin" / "pip.log").read_text()) == [*PIP, "aider-chat==0.86.2", "more==1.0"]
    assert installation.receipt.executable == "bin/aider"
    assert find(AIDER, os.environ).path == str(made.folder / "bin" / "aider")


@pytest.mark.usefixtures("machine")
def test_without_a_python_that_it_runs_on_nothing_is_begun():
    with pytest.raises(CannotInstall, match=r"runs on Python >=3\.99, and none was found"):
        plan(AIDER, Package("pypi", "aider-chat", python=">=3.99"), os.environ)


@pytest.mark.usefixtures("machine")
def test_this_python_is_used_where_it_will_do():
    made = plan(AIDER, Package("pypi", "aider-chat", python=">=3.11"), os.environ)
    assert made.steps[0].argv == (sys.executable, "-I", "-m", "venv", str(made.folder))


@pytest.mark.skipif(WINDOWS, reason="signals are POSIX's")
def test_an_interrupt_leaves_nothing_behind(machine, repository):
    """Ctrl-C in the middle of npm's work."""
    executable(machine, "npm", "import os, signal, time\nos.kill(os.getppid(), signal.SIGINT)\ntime.sleep(1)\n")
    roots = os.pathsep.join(str(repository / name) for name in ("compiler", "launcher"))
    done = subprocess.run(
        [sys.executable, "-m", "agentmux", "install", "codex"],
        env={**os.environ, "PYTHONPATH": roots},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 130
    assert not (provider_folder(os.environ, "codex") / VERIFIED).exists()

import json
import os
import sys

import pytest

from agentmux.cli import main
from agentmux.installed import Installed, look
from agentmux_compiler.providers import NAMES, load_provider


@pytest.fixture
def providers(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments):
        code = main(["providers", *arguments])
        return (code, *capsys.readouterr())

    return run


def install(folder, name, line, *, seconds=0):
    """A CLI that says one line to whatever it is asked."""
    program = folder / f"{name}.py"
    program.write_text(f"import time\ntime.sleep({seconds})\nprint({line!r})\n")
    if os.name == "nt":
        (folder / f"{name}.bat").write_text(f'@"{sys.executable}" "{program}"\n')
    else:
        (folder / name).write_text(f"#!{sys.executable}\n{program.read_text()}")
        (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("2.1.332 (Claude Code)", "2.1.332"),
        ("codex-cli 0.142.0-alpha.3", "0.142.0-alpha.3"),
        ("v0.52.1", "0.52.1"),
        ("no number", None),
    ],
)
def test_a_version_is_read_from_what_the_cli_says(monkeypatch, tmp_path, line, version):
    install(tmp_path, "some-cli", line)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = look("some-cli", ["--version"])
    assert found is not None
    assert (os.path.dirname(found.path), found.version) == (str(tmp_path), version)  # noqa: PTH120


def test_a_cli_that_does_not_answer_is_there_without_a_version(monkeypatch, tmp_path):
    install(tmp_path, "slow-cli", "1.2.3", seconds=30)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = look("slow-cli", ["--version"], seconds=0.2)
    assert found == Installed(found.path, None)


def test_what_is_not_on_the_path_is_not_installed(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert look("some-cli", ["--version"]) is None


def test_the_table_has_a_row_per_provider(providers, tmp_path):
    install(tmp_path, load_provider("claude").executable, "9.8.7 (Claude Code)")
    code, out, err = providers()
    heads, *rows = (line.split() for line in out.splitlines())
    assert (code, err, heads[:4]) == (0, "", ["PROVIDER", "CLI", "VERIFIED", "HERE"])
    verified = {name: load_provider(name).package.verified for name in NAMES}
    assert [row[:4] for row in rows] == [
        [name, load_provider(name).executable, verified[name], "9.8.7" if name == "claude" else "-"] for name in NAMES
    ]


def test_json_does_not_look_at_the_machine_unless_asked(providers, tmp_path):
    install(tmp_path, load_provider("claude").executable, "9.8.7 (Claude Code)")
    code, out, err = providers("--format", "json")
    value = json.loads(out)
    assert (code, err, value["format_version"]) == (0, "", 1)
    assert [item["name"] for item in value["providers"]] == list(NAMES)
    assert not any("installed" in item for item in value["providers"])

    asked = json.loads(providers("--format", "json", "--installed")[1])["providers"]
    assert {item["name"]: item["installed"] for item in asked} == {
        name: {"version": "9.8.7"} if name == "claude" else None for name in NAMES
    }


def test_json_of_one_provider_whole(providers, snapshot):
    value = json.loads(providers("--format", "json")[1])
    assert next(item for item in value["providers"] if item["name"] == "claude") == snapshot

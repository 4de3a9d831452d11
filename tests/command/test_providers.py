import json
import os
import sys
from pathlib import Path

import pytest

from agentmux.cli import main
from agentmux_compiler.providers import NAMES, load_provider


@pytest.fixture
def providers(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "user"))
    monkeypatch.delenv("AGENTMUX_HOME", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments):
        code = main(["providers", *arguments])
        return (code, *capsys.readouterr())

    return run


def install(folder, name, line):
    """A CLI that says one line to whatever it is asked."""
    program = folder / f"{name}.py"
    program.write_text(f"print({line!r})\n")
    file = folder / (f"{name}.BAT" if os.name == "nt" else name)
    head = f'@"{sys.executable}" "{program}"\n' if os.name == "nt" else f"#!{sys.executable}\n{program.read_text()}"
    file.write_text(head)
    file.chmod(0o755)
    return file


def test_the_table_has_a_row_per_provider(providers, tmp_path):
    install(tmp_path, load_provider("claude").executable, "9.8.7 (Claude Code)")
    code, out, err = providers()
    heads, *rows = (line.split() for line in out.split("\n\n")[0].splitlines())
    assert (code, err, heads[:5]) == (0, "", ["PROVIDER", "CLI", "VERIFIED", "HERE", "WHERE"])
    verified = {name: load_provider(name).package.verified for name in NAMES}
    assert [row[:4] for row in rows] == [
        [name, load_provider(name).executable, verified[name], "9.8.7" if name == "claude" else "-"] for name in NAMES
    ]
    assert Path(rows[0][4]).parent == tmp_path


def test_below_the_table_stands_what_is_missing_and_what_differs(providers, tmp_path):
    claude, codex, gemini = (load_provider(name).package for name in ("claude", "codex", "gemini"))
    install(tmp_path, "claude", f"{claude.verified} (Claude Code)")
    install(tmp_path, "codex", "codex-cli 0.1.2")
    install(tmp_path, "gemini", "who knows")
    lines = providers()[1].split("\n\n")[1].splitlines()
    assert [line for line in lines if line.startswith(("claude ", "codex ", "gemini "))] == [
        (
            f"codex 0.1.2 is older than {codex.verified}, which the catalog was verified with;"
            " `agentmux install codex` installs that one beside it"
        ),
        f"gemini does not say which version it is; the catalog was verified with {gemini.verified}",
    ]
    missing = [name for name in NAMES if name not in {"claude", "codex", "gemini"}]
    said = " ".join(line for line in lines if line.startswith("not here: "))
    assert [name for name in missing if name not in said] == []


def test_json_does_not_look_at_the_machine_unless_asked(providers, tmp_path):
    install(tmp_path, load_provider("claude").executable, "9.8.7 (Claude Code)")
    code, out, err = providers("--format", "json")
    value = json.loads(out)
    assert (code, err, sorted(value)) == (0, "", ["format_version", "providers"])
    assert [item["name"] for item in value["providers"]] == list(NAMES)


def test_json_keeps_what_this_machine_has_under_one_key(providers, tmp_path):
    file = install(tmp_path, load_provider("claude").executable, "9.8.7 (Claude Code)")
    plain, asked = (json.loads(providers("--format", "json", *more)[1]) for more in ([], ["--installed"]))
    here = {"origin": "path", "path": str(file), "standing": "newer", "version": "9.8.7"}
    assert {key: value for key, value in asked.items() if key != "installed"} == plain
    assert asked["installed"] == {name: here if name == "claude" else None for name in NAMES}


def test_a_path_in_the_users_own_folder_begins_with_a_tilde(providers, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    file = install(tmp_path, load_provider("claude").executable, "9.8.7 (Claude Code)")
    asked = json.loads(providers("--format", "json", "--installed")[1])
    assert asked["installed"]["claude"]["path"] == f"~/{file.name}"


def test_json_of_one_provider_whole(providers, snapshot):
    value = json.loads(providers("--format", "json")[1])
    assert next(item for item in value["providers"] if item["name"] == "claude") == snapshot

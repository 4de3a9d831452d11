"""The example repository: each way of guarding prefixes is green as it stands, and red after two bundles swapped.

`AGENTMUX_UPDATE_CASES=1` builds and accepts it anew, to be read before it is committed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

REPOSITORY = Path(__file__).resolve().parent.parent
EXAMPLE = REPOSITORY / "tests" / "cases" / "example-repository"
SWAP = ("  - checklist\n  - security\n", "  - security\n  - checklist\n")
BREAK = "agents.d/reviewer.yaml:14:5"
HOOK_KEYS = {"id", "name", "description", "entry", "language", "pass_filenames", "require_serial"}


def parsed(path):
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


class Clone:
    """A copy of the example in a git repository of its own, on a branch that came off `main`."""

    def __init__(self, root: Path, environment: dict[str, str]) -> None:
        self.root = root
        self.environment = environment

    def run(self, *command: str, **variables: str) -> tuple[int, str]:
        """Exit code and stdout."""
        done = subprocess.run(
            command,
            cwd=self.root,
            env={**self.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        return done.returncode, done.stdout

    def git(self, *arguments: str) -> str:
        code, out = self.run("git", *arguments)
        assert code == 0, out
        return out

    def agentmux(self, *arguments: str) -> tuple[int, str]:
        return self.run(sys.executable, "-m", "agentmux", *arguments)

    def swap(self) -> None:
        spec = self.root / "agents.d" / "reviewer.yaml"
        text = spec.read_bytes().decode()
        assert SWAP[0] in text
        spec.write_bytes(text.replace(*SWAP).encode())

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")


@pytest.fixture
def clone(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("GIT_", "GITHUB_"))]:
        monkeypatch.delenv(name)
    who = {f"GIT_{role}_{what}": "x@y" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    config = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    python = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {**os.environ, **who, **config, **python}
    ignored = shutil.ignore_patterns(".agentmux", "__pycache__")
    made = Clone(Path(shutil.copytree(EXAMPLE, tmp_path / "example", ignore=ignored)), environment)
    made.git("init", "--quiet", "--initial-branch=main")
    made.commit()
    made.git("update-ref", "refs/remotes/origin/main", "HEAD")
    made.git("checkout", "--quiet", "-b", "change")
    return made


def hooks() -> dict[str, dict[str, object]]:
    return {hook["id"]: hook for hook in parsed(REPOSITORY / ".pre-commit-hooks.yaml")}


def test_hooks_have_what_the_format_wants():
    for hook in hooks().values():
        assert set(hook) == HOOK_KEYS
        assert re.fullmatch(r"[a-z-]+", hook["id"])
        assert {type(hook[key]) for key in ("name", "description", "entry")} == {str}
        assert (hook["language"], hook["pass_filenames"], hook["require_serial"]) == ("python", False, True)
        assert shlex.split(hook["entry"])[0] == "agentmux"


def run_hooks(clone) -> dict[str, tuple[int, str]]:
    """Each hook that the example asks for, by the entry it has here."""
    asked = parsed(clone.root / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    return {hook["id"]: clone.agentmux(*shlex.split(hooks()[hook["id"]]["entry"])[1:]) for hook in asked}


def run_pytest(clone, *arguments) -> tuple[int, str]:
    return clone.run(sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", *arguments)


def run_action(clone, tmp_path, fail_on=None) -> tuple[int, str, str]:
    """The script of the action with the inputs that the example's workflow gives it."""
    steps = parsed(clone.root / ".github" / "workflows" / "agents.yml")["jobs"]["prefixes"]["steps"]
    inputs = next(step["with"] for step in steps if "/agentmux@" in step["uses"])
    assert set(inputs) <= set(parsed(REPOSITORY / "action.yml")["inputs"])
    options = [f"--{name}={value}" for name, value in (inputs | ({"fail-on": fail_on} if fail_on else {})).items()]
    summary = tmp_path / "summary.md"
    summary.unlink(missing_ok=True)
    script = str(REPOSITORY / "action" / "compare.py")
    code, out = clone.run(sys.executable, script, *options, GITHUB_BASE_REF="main", GITHUB_STEP_SUMMARY=str(summary))
    return code, out, summary.read_text(encoding="utf-8")


def test_the_example_is_what_a_build_of_it_gives(clone):
    if "AGENTMUX_UPDATE_CASES" in os.environ:
        renew(clone)
    code, out = clone.agentmux("build", "--check")
    assert (code, "No changes. 5 prefixes unchanged." in out.splitlines()) == (0, True), out
    assert clone.git("status", "--porcelain") == ""


def renew(clone) -> None:
    """Accept in the clone, and carry what changed back into the example."""
    code, out = clone.agentmux("build", "--accept", "--force")
    assert code == 0, out
    for path in set(clone.git("ls-files", "--others", "--modified", "--exclude-standard").splitlines()):
        (EXAMPLE / path).parent.mkdir(parents=True, exist_ok=True)
        if (clone.root / path).exists():
            shutil.copyfile(clone.root / path, EXAMPLE / path)
        else:
            (EXAMPLE / path).unlink()
    clone.commit()


def test_everything_is_green_as_it_stands(clone, tmp_path):
    code, out = run_pytest(clone)
    assert (code, "1 passed" in out) == (0, True), out
    assert {name: code for name, (code, _) in run_hooks(clone).items()} == {"agentmux-check": 0, "agentmux-diff": 0}
    clone.commit()
    code, out, _ = run_action(clone, tmp_path)
    assert (code, "No changes. 5 prefixes unchanged." in out.splitlines()) == (0, True), out


def test_a_swap_of_two_bundles_turns_each_red_with_the_report(clone, tmp_path):
    clone.swap()
    code, out = run_pytest(clone)
    assert (code, "1 failed" in out, f"--> {BREAK}" in out) == (1, True, True), out
    for code, out in run_hooks(clone).values():
        assert (code, f"--> {BREAK}" in out) == (1, True), out
    clone.commit()
    code, out, summary = run_action(clone, tmp_path, fail_on="break:50")
    assert code == 1
    title = "::warning title=AMX502 segment-reordered,file=agents.d/reviewer.yaml,line=14,col=5::"
    assert any(line.startswith(title) for line in out.splitlines()), out
    assert summary.count("| reviewer | ") == 2
    assert run_action(clone, tmp_path)[0] == 0, "it loses less than the 20,000 tokens of the workflow"


def test_accepting_turns_all_green_but_the_pull_request(clone, tmp_path):
    clone.swap()
    assert run_pytest(clone, "--snapshot-update")[0] == 0
    assert clone.git("status", "--porcelain").split() == [
        *("M", "agents.d/reviewer.yaml"),
        *("M", "snapshots/plans/reviewer/claude.toml"),
        *("M", "snapshots/plans/reviewer/codex.toml"),
    ]
    assert run_pytest(clone)[0] == 0
    assert {name: code for name, (code, _) in run_hooks(clone).items()} == {"agentmux-check": 0, "agentmux-diff": 0}
    clone.commit()
    assert run_action(clone, tmp_path, fail_on="break")[0] == 1


def test_its_readme_names_everything_at_its_top():
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    tops = {path.relative_to(EXAMPLE).parts[0] for path in EXAMPLE.rglob("*") if path.is_file()}
    assert sorted(name for name in tops - {".agentmux", "README.md"} if f"`{name}" not in text) == []

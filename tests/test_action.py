"""The GitHub Action: its script in scratch repositories, its manifest as text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

REPOSITORY = Path(__file__).resolve().parent.parent
SCRIPT = REPOSITORY / "action" / "compare.py"
STYLE = "# Style\n" + "Prefer short sentences, and name the thing before what is said of it.\n" * 40
PROJECT = {
    ".gitignore": ".agentmux/\n",
    "agents.d/reviewer.yaml": "providers: {claude: {}, codex: {}}\ndelivery: flag\nbundles:\n  - style\n  - rules\n",
    "bundles/style.md": STYLE,
    "bundles/rules.md": "# Rules\nBe kind.\n",
}
SWAPPED = PROJECT["agents.d/reviewer.yaml"].replace("  - style\n  - rules\n", "  - rules\n  - style\n")


@pytest.fixture
def environment(monkeypatch, tmp_path):
    """A runner's environment, with neither this machine's git settings nor the variables of a run around this one."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "GITHUB_"))]:
        monkeypatch.delenv(name)
    identity = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Somebody"), ("EMAIL", "somebody@example.org"))
    }
    return {
        **os.environ,
        **identity,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.autocrlf",
        "GIT_CONFIG_VALUE_0": "false",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }


class Repository:
    """A repository on disk, with a branch `main` and the work on `change`."""

    def __init__(self, root: Path, environment: dict[str, str]) -> None:
        self.root = root
        self.environment = environment

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env=self.environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, files: dict[str, str], message: str = "a change") -> str:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "--short=12", "HEAD")

    def compare(self, *arguments: str, **variables: str) -> tuple[int, str, str]:
        """Exit code, annotations and summary of the script."""
        summary = Path(self.environment["GITHUB_STEP_SUMMARY"])
        summary.unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, str(SCRIPT), *arguments],
            cwd=self.root,
            env={**self.environment, **variables},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.stderr == ""
        return done.returncode, done.stdout, summary.read_text(encoding="utf-8") if summary.exists() else ""


@pytest.fixture
def repository(tmp_path, environment):
    """`change` came off `main`, which has gone on since."""
    root = tmp_path / "upstream"
    root.mkdir()
    made = Repository(root, environment)
    made.git("init", "--quiet", "--initial-branch=main")
    made.commit(PROJECT)
    made.git("update-ref", "refs/remotes/origin/main", "HEAD")
    made.git("checkout", "--quiet", "-b", "change")
    return made


def test_a_change_that_breaks_nothing_passes(repository):
    base = repository.git("rev-parse", "--short=12", "HEAD")
    repository.commit({"README.md": "hello\n"})
    assert repository.compare(GITHUB_BASE_REF="main") == (
        0,
        "No changes. 2 prefixes unchanged.\n",
        "### Prompt prefixes\n\n**No changes. 2 prefixes unchanged.**\n\n",
    )
    assert repository.compare(f"--base={base}")[0] == 0


def test_accepting_a_break_in_the_same_pull_request_does_not_silence_it(repository):
    base = repository.git("rev-parse", "--short=12", "HEAD")
    (repository.root / "agents.d/reviewer.yaml").write_bytes(SWAPPED.encode())
    accepting = [sys.executable, "-m", "agentmux", "build", "--accept"]
    subprocess.run(accepting, cwd=repository.root, env=repository.environment, check=True, capture_output=True)
    repository.commit({})
    code, annotations, summary = repository.compare("--fail-on=break:100", GITHUB_BASE_REF="main")

    assert code == 1
    lines = annotations.splitlines()
    assert lines[0].startswith("::warning title=AMX502 segment-reordered,file=agents.d/reviewer.yaml,line=4,col=5::")
    assert lines[1:] == [
        f"Prefixes against `git:{base}`: 2 broken.",
        "::error title=agentmux::`fail-on: break:100` is reached; the summary of this job says by what",
    ]
    assert "| reviewer | claude | `agents.d/reviewer.yaml:4` | `bundles/rules.md` stands in another place |" in summary


def test_it_fails_only_from_as_many_tokens_on(repository):
    repository.commit({"agents.d/reviewer.yaml": SWAPPED})
    code, annotations, summary = repository.compare(GITHUB_BASE_REF="main")
    assert (code, "::error" in annotations) == (0, False)
    assert "2 broken" in summary


def test_what_others_did_on_the_branch_since_is_not_held_against_it(repository):
    repository.commit({"README.md": "hello\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit({"agents.d/reviewer.yaml": SWAPPED})
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repository.git("checkout", "--quiet", "change")
    assert repository.compare("--fail-on=break", GITHUB_BASE_REF="main")[:2] == (
        0,
        "No changes. 2 prefixes unchanged.\n",
    )


def test_nothing_that_the_repository_holds_is_imported(repository):
    trap = "raise SystemExit('the pull request ran its own code')\n"
    repository.commit({f"{name}.py": trap for name in ("agentmux", "argparse", "ruamel", "sitecustomize")})
    assert repository.compare(GITHUB_BASE_REF="main")[:2] == (0, "No changes. 2 prefixes unchanged.\n")


@pytest.mark.parametrize("ref", ["refs/heads/change", "refs/pull/1/merge"])
def test_a_checkout_of_one_commit_fetches_what_it_needs(repository, tmp_path, environment, ref):
    """As the checkout action does it: one commit, of the branch or of its merge, and no other branch."""
    repository.commit({"NOTES.md": "first\n"})
    repository.commit({"agents.d/reviewer.yaml": SWAPPED})
    repository.git("checkout", "--quiet", "main")
    repository.commit({"bundles/rules.md": "# Rules\nBe kinder.\n"})
    repository.git("checkout", "--quiet", "-b", "merged")
    repository.git("merge", "--quiet", "--no-edit", "change")
    repository.git("update-ref", "refs/pull/1/merge", "HEAD")
    (tmp_path / "shallow").mkdir()
    shallow = Repository(tmp_path / "shallow", environment)
    shallow.git("init", "--quiet")
    shallow.git("remote", "add", "origin", repository.root.as_uri())
    shallow.git("fetch", "--quiet", "--no-tags", "--depth=1", "origin", f"+{ref}:refs/remotes/checked-out")
    shallow.git("checkout", "--quiet", "--detach", "refs/remotes/checked-out")
    code, annotations, summary = shallow.compare("--fail-on=break", GITHUB_BASE_REF="main")
    assert (code, "2 broken" in annotations) == (1, True)
    assert "`bundles/rules.md` was edited" not in summary


@pytest.mark.parametrize("folder", ["agents", "odd, 100% folder"])
def test_a_project_in_a_folder_is_annotated_by_paths_of_the_repository(repository, folder):
    repository.commit({f"{folder}/{name}": text for name, text in PROJECT.items()})
    repository.commit({f"{folder}/agents.d/reviewer.yaml": SWAPPED})
    code, annotations, summary = repository.compare(f"--project={folder}", "--fail-on=break")
    escaped = folder.replace("%", "%25").replace(",", "%2C")
    assert code == 1
    assert f",file={escaped}/agents.d/reviewer.yaml,line=4," in annotations
    assert summary.startswith(f"### Prompt prefixes of `{folder}`\n\n**Prefixes against ")


def test_outside_of_a_pull_request_it_compares_with_the_commit_before(repository):
    repository.commit({"agents.d/reviewer.yaml": SWAPPED})
    assert "2 broken" in repository.compare()[1]
    repository.commit({"README.md": "hello\n"})
    assert repository.compare()[1] == "No changes. 2 prefixes unchanged.\n"


def test_a_first_commit_has_nothing_to_be_compared_with(repository):
    assert repository.compare() == (
        2,
        "::error title=agentmux::there is no commit to compare with: name one as `base`\n",
        "",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--base=nonsense"], "nonsense"),
        (["--base=HEAD", "--fail-on=sometimes"], "`--fail-on` takes"),
        (["--base=HEAD", "--project=bundles"], "holds no `agents.d/`"),
        (["--base=HEAD", "--project=nowhere"], "git cannot find the base"),
    ],
)
def test_what_cannot_run_is_an_error_of_the_job(repository, arguments, message):
    code, annotations, summary = repository.compare(*arguments)
    assert (code, summary) == (2, "")
    assert re.fullmatch(r"::error title=agentmux::.*\n", annotations)
    assert message in annotations


def test_an_error_in_the_sources_fails_the_job_at_its_line(repository):
    repository.commit({"agents.d/reviewer.yaml": SWAPPED.replace("rules", "rule")})
    code, annotations, summary = repository.compare(GITHUB_BASE_REF="main")
    assert code == 1
    assert annotations.startswith("::error title=AMX201 unknown-bundle,file=agents.d/reviewer.yaml,line=4,col=5")
    assert "- **error** AMX201 `agents.d/reviewer.yaml:4`" in summary


@pytest.fixture
def manifest():
    return YAML(typ="safe").load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))


def test_the_manifest_passes_every_input_on_and_none_into_a_shell(manifest):
    steps = manifest["runs"]["steps"]
    shells = [step for step in steps if "run" in step]
    used = set(re.findall(r"inputs\.([a-z-]+)", (REPOSITORY / "action.yml").read_text(encoding="utf-8")))
    assert used == set(manifest["inputs"])
    assert [step for step in shells if step["shell"] != "bash" or "${{" in step["run"]] == []
    for step in shells:
        named = set(re.findall(r"\$\{?([A-Z_]+)", step["run"])) - {"RUNNER_TEMP", "RUNNER_OS", "GITHUB_OUTPUT"}
        assert named == set(step["env"])


def test_the_manifest_runs_the_script_with_the_options_it_has(manifest):
    command = manifest["runs"]["steps"][-1]["run"]
    usage = subprocess.run([sys.executable, str(SCRIPT), "--help"], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"--[a-z-]+", command)) == set(re.findall(r"--[a-z-]+", usage)) - {"--help"}
    assert re.findall(r"\$SOURCE/([a-z./]+)", command) == ["action/compare.py"]
    assert manifest["inputs"]["fail-on"]["default"] in SCRIPT.read_text(encoding="utf-8")

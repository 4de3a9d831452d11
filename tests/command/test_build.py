import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentmux.cli import main

REVIEWER = """\
providers:
  claude: {model: opus, effort: high}
  codex: {effort: high}
instructions: |
  # Reviewing

  Review the diff, not the author.
bundles:
  - house-style
  - security
"""
STYLE = "# House style\n\nBe brief. One idea a line.\n"
SECURITY = "# Security\n\nNever log a secret.\n"


@pytest.fixture
def project(tmp_path):
    """A project of one agent on two providers."""
    return Project(tmp_path / "project")


class Project:
    def __init__(self, root):
        self.root = root
        self.write("agents.d/reviewer.yaml", REVIEWER)
        self.write("bundles/house-style.md", STYLE)
        self.write("bundles/security.md", SECURITY)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text.encode())

    def edit(self, path, old, new):
        text = (self.root / path).read_bytes().decode()
        assert text.count(old) == 1
        self.write(path, text.replace(old, new))

    def files(self):
        """Everything but agentmux's own state, with its bytes."""
        paths = (path for path in self.root.rglob("*") if path.is_file() and path.parent.name != ".agentmux")
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def run(project, capsys, monkeypatch):
    """The command, run in the project."""
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("NO_COLOR", "1")

    def command(*arguments):
        code = main(arguments)
        return (code, *capsys.readouterr())

    return command


def figures(text):
    """The text with `N` for its figures, which the catalog of providers and the tokenizers decide."""
    number = r"(?<![-:])\b\d[\d,]*(\.\d+)?(?= of |%| %| tokens| bytes|\)|,| in |\n)"
    return re.sub(number, "N", re.sub("[█░]+", "[bar]", text))


def test_the_first_build(run, snapshot):
    code, out, err = run("build")
    assert (code, err) == (0, "")
    assert out == snapshot


def test_a_second_build_writes_nothing(run, project):
    run("build")
    before = project.files()
    code, out, err = run("build")
    assert (code, err, project.files()) == (0, "", before)
    assert out.endswith("\n2 files unchanged\n")


def test_accepting_moves_the_baseline(run, snapshot):
    code, out, err = run("build", "--accept")
    assert (code, err) == (0, "")
    assert out == snapshot
    assert run("diff", "--fail-on", "break") == (0, "No changes. 2 prefixes unchanged.\n", "")
    assert run("build") == (0, "No changes. 2 prefixes unchanged.\n\n2 files unchanged\n", "")
    assert run("build", "--check") == (0, "No changes. 2 prefixes unchanged.\n\n2 files unchanged\n", "")


def test_swapped_bundles_are_a_break_of_every_prefix_with_the_line_that_did_it(run, project, snapshot):
    run("build", "--accept")
    project.edit("agents.d/reviewer.yaml", "  - house-style\n  - security\n", "  - security\n  - house-style\n")
    code, out, err = run("build")
    assert (code, err) == (0, "")
    assert figures(out) == snapshot
    assert run("diff", "--fail-on", "break")[0] == 1
    assert run("diff", "--fail-on", "break:1000000")[0] == 0
    assert run("diff", "--fail-on", "warning")[0] == 1
    assert run("diff")[0] == 0
    run("build", "--accept")
    assert run("diff", "--fail-on", "break")[0] == 0


def test_another_effort_is_a_break_by_key(run, project, snapshot):
    run("build", "--accept")
    project.edit("agents.d/reviewer.yaml", "{model: opus, effort: high}", "{model: opus, effort: low}")
    code, out, err = run("diff")
    assert (code, err) == (0, "")
    assert figures(out) == snapshot


def test_an_edit_is_a_note_and_no_warning(run, project):
    run("build", "--accept")
    project.edit("bundles/security.md", "Never", "Do not ever")
    code, out, err = run("diff", "--format", "concise", "--fail-on", "warning")
    assert (code, err) == (0, "")
    edit = (
        "bundles/security.md:3:1: AMX501 reviewer/{}: `bundles/security.md` was edited, N tokens paid again in a new "
    )
    assert re.sub(r"[\d,]+(?= tokens| in )|\$[\d.]+", "N", out) == (
        f"{edit.format('claude')}session (N), N in one with another prompt (N), none in one that goes on\n"
        f"{edit.format('codex')}session, none in one with another prompt, none in one that goes on\n"
        "Prefixes: 2 broken.\n"
    )


def test_all_errors_of_a_project_in_one_run_and_nothing_written(run, project, snapshot):
    project.edit("agents.d/reviewer.yaml", "- security", "- securty")
    project.edit("agents.d/reviewer.yaml", "codex:", "codx:")
    project.write("agents.d/broken.yaml", "a: [\n")
    before = project.files()
    code, out, err = run("build")
    assert (code, err, project.files()) == (1, "", before)
    assert out == snapshot
    assert run("build", "--fail-on", "never") == (0, out, "")


def test_check_writes_nothing_and_names_what_is_stale(run, project, snapshot):
    project.write("agents.d/main.yaml", "providers: {claude: {delivery: file}}\ninstructions: Be kind.\n")
    run("build", "--accept")
    project.edit("agents.d/main.yaml", "kind", "brief")
    before = project.files()
    code, out, err = run("build", "--check")
    assert (code, err, project.files()) == (1, "", before)
    assert figures(out) == snapshot
    assert run("build", "--check", "--fail-on", "never")[0] == 1


def test_a_hand_written_file_in_the_way_stays_and_can_be_adopted(run, project, snapshot):
    project.write("agents.d/main.yaml", "providers: {claude: {delivery: file}}\ninstructions: Be kind.\n")
    project.write("CLAUDE.md", "# Mine\n\nKeep me.\n")
    before = project.files()
    code, out, err = run("build")
    assert (code, err, project.files()) == (1, "", before)
    assert out == snapshot(name="build")
    code, out, err = run("adopt", "CLAUDE.md")
    assert (code, err) == (0, "")
    assert out == snapshot(name="adopt")
    assert run("build")[0] == 0
    assert "\n# Mine\n\nKeep me.\n" in (project.root / "CLAUDE.md").read_text()


def test_a_hand_edit_of_an_output_is_carried_back(run, project):
    project.write("agents.d/main.yaml", "providers: {claude: {delivery: file}}\nbundles: [house-style]\n")
    run("build")
    project.edit("CLAUDE.md", "Be brief.", "Be very brief.")
    assert run("build")[0] == 1
    assert run("adopt", "./CLAUDE.md") == (
        0,
        "adopted `CLAUDE.md` into `bundles/house-style.md`\nLook at the changes, then run `agentmux build`.\n",
        "",
    )
    assert (project.root / "bundles/house-style.md").read_text() == STYLE.replace("Be brief", "Be very brief")
    assert run("build")[0] == 0


def test_what_cannot_be_adopted(run, tmp_path):
    assert run("adopt", "absent.md") == (
        1,
        ("error[AMX609]: `absent.md` cannot be adopted: there is no such file\n --> absent.md:1:1\n"),
        "",
    )
    outside = tmp_path / "outside.md"
    assert run("adopt", str(outside)) == (2, "", f"error: `{outside}` is not in the project\n")


def test_a_narrowed_build_leaves_the_rest_alone(run, project):
    project.write("agents.d/tester.yaml", "providers: {codex: {}}\nbundles: [security]\n")
    code, out, err = run("build", "tester", "--format", "concise")
    assert (code, err) == (0, "")
    assert [path for path in project.files() if path.startswith(".agentmux/agents")] == [
        ".agentmux/agents/tester/codex/instructions.md"
    ]
    assert out.endswith("Prefixes: 1 new.\n")
    assert (
        "Accept with `agentmux build tester --provider codex --accept`."
        in run("build", "tester", "--provider", "codex")[1]
    )


def test_accepting_one_agent_accepts_nothing_for_another(run, project):
    project.write("agents.d/tester.yaml", "providers: {codex: {}}\nbundles: [security]\n")
    run("build", "--accept")
    project.edit("bundles/security.md", "Never", "Do not ever")
    before = project.files()
    code, out, err = run("build", "tester", "--accept", "--format", "concise")
    assert (code, err, project.files()) == (1, "", before)
    assert (
        "`snapshots/segments/bundles/security.md` cannot be accepted for some plans only: `reviewer/claude`, "
        "`reviewer/codex` hold its old text too"
    ) in out
    assert (
        "run `agentmux build reviewer tester --accept` to accept them together" in run("build", "tester", "--accept")[1]
    )
    assert run("build", "reviewer", "tester", "--accept")[0] == 0
    assert run("build", "--check")[0] == 0


def test_a_broken_spec_is_not_a_deleted_one(run, project):
    project.write("agents.d/main.yaml", "providers: {claude: {delivery: file}}\ninstructions: Be kind.\n")
    run("build", "--accept")
    project.write("agents.d/main.yaml", "a: [\n")
    before = project.files()
    code, out, err = run("build", "--check", "--format", "json")
    report = json.loads(out)
    assert (code, err, project.files(), report["files"]) == (1, "", before, [])
    assert {item["code"] for item in report["diagnostics"]} == {"AMX101"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["build", "reviewr"],
            "no agent `reviewr`\n  = help: did you mean `reviewer`?\n  = note: there are `reviewer`\n",
        ),
        (["diff", "--provider", "cladue"], "no provider `cladue`\n  = help: did you mean `claude`?\n"),
        (["diff", "--base", "elsewhere"], "no baseline at `elsewhere`"),
        (["diff", "--base", "git:nowhere"], "no baseline at `git:nowhere`"),
        (["build", "--watch", "--check"], "`--check` and watching exclude each other\n"),
        (["build", "--watch", "--format", "json"], "`--format` and watching exclude each other\n"),
        (["build", "--watch", "--fail-on", "never"], "`--fail-on` and watching exclude each other\n"),
        (["build", "--check", "--accept"], "`--check` and `--accept` exclude each other\n"),
    ],
)
def test_names_that_are_not_there_are_refused(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")


def test_an_alias_of_a_provider_will_do(run):
    assert run("build", "--provider", "claude-code", "--format", "concise")[1].endswith("Prefixes: 1 new.\n")


def test_another_folder_by_option(run, project, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert run("--project", "project", "build", "--format", "concise")[0] == 0
    monkeypatch.chdir(project.root / "bundles")
    assert run("build") == (0, run("--project", "..", "build")[1], "")


def test_json_of_a_build(run, snapshot):
    run("build")
    code, out, err = run("build", "--format", "json")
    value = json.loads(out)
    assert (code, err) == (0, "")
    assert [sorted(value), sorted(value["plans"][0]), value["files"], value["summary"]] == snapshot
    assert value["plans"][0]["scenarios"].keys() == {"relaunch", "new_prompt", "resume"}


def test_json_of_a_diff_by_another_revision(run, project, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    git = ["git", "-C", str(project.root), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for arguments in (["init", "--quiet"], ["add", "agents.d", "bundles"], ["commit", "--quiet", "--message", "x"]):
        subprocess.run([*git, *arguments], check=True, capture_output=True)
    project.edit("bundles/security.md", "Never", "Do not ever")
    value = json.loads(run("diff", "--base", "git:HEAD", "--format", "json")[1])
    assert (value["baseline"], value["summary"]["broken"]) == ("git:HEAD", 2)
    assert [plan["first_break"]["line"] for plan in value["plans"]] == [3, 3]


@pytest.mark.parametrize("name", ["full", "concise", "json", "github", "sarif", "markdown"])
def test_every_format_of_a_build_is_the_same_twice_and_names_no_folder_of_this_machine(run, project, name):
    first = run("build", "--format", name)
    second = run("build", "--format", name)
    assert first[0] == second[0] == 0
    assert run("build", "--format", name) == second
    assert str(project.root) not in first[1]


def test_a_build_opens_no_socket_and_one_with_nothing_to_do_imports_nothing_heavy(project):
    roots = [str(Path(__file__).parents[2] / name) for name in ("compiler", "launcher")]
    program = f"""
import sys
sys.path[:0] = {roots!r}
def no_socket(event, arguments):
    if event.startswith("socket.") and event != "socket.gethostname":
        raise RuntimeError(event)
sys.addaudithook(no_socket)
from agentmux.cli import main
codes = [main([command, *more]) for command, *more in (["build"], ["diff"], ["show", "reviewer"])]
print(codes, file=sys.stderr)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, cwd=project.root, check=True)
    assert result.stderr.decode() == "[0, 0, 0]\n"

    program = (
        f"import sys; sys.path[:0] = {roots!r}; from agentmux.cli import main; main(['build']); print(*sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, cwd=project.root, check=True)
    loaded = set(result.stdout.decode().splitlines()[-1].split())
    assert {"pydantic", "jinja2", "ruamel", "splintr", "agentmux_compiler.pipeline"} & loaded == set()

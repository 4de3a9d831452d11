"""`agentmux init` on whole repositories, byte for byte, and on the awkward ones that a folder of git cannot hold.

A case is `tests/cases/init/NAME/before`, the files that `--write` makes of it in `expected`, and what is shown without
it in `plan.txt`. `AGENTMUX_UPDATE_CASES=1` writes the latter two, to be read before they are committed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentmux.cli import main
from agentmux.commands import init
from agentmux_compiler.pipeline import BuildOptions, build
from agentmux_compiler.proposal.proposing import Request, propose
from agentmux_compiler.providers import load_provider
from agentmux_compiler.tree import DiskTree
from agentmux_compiler.writing.header import HEADER

CASES = Path(__file__).parents[1] / "cases" / "init"
NAMES = sorted(path.parent.name for path in CASES.glob("*/before"))
UPDATE = "AGENTMUX_UPDATE_CASES" in os.environ


@pytest.fixture
def agentmux(capsys, monkeypatch, tmp_path):
    """The command on a machine without any CLI; git is found all the same."""
    git = shutil.which("git")
    path = tmp_path / "path"
    path.mkdir()
    if os.name != "nt":
        (path / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(path) if os.name != "nt" else str(Path(git).parent))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "user"))
    monkeypatch.delenv("AGENTMUX_HOME", raising=False)

    def run(*arguments):
        code = main(arguments)
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def repository_of(write_project, monkeypatch):
    """Make files into a repository of git, and go there."""

    def make(files) -> Path:
        root = write_project(files)
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)
        monkeypatch.chdir(root)
        return root

    return make


def files_of(root: Path) -> dict[str, bytes]:
    """Every file by POSIX path, but git's and those that a build ignores."""
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    names = {path.relative_to(root).as_posix(): path for path in paths}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith((".git/", ".agentmux/"))}


def expect_text(path: Path, text: str) -> None:
    if UPDATE:
        path.write_bytes(text.encode())
    assert text == path.read_bytes().decode()


def expect_files(folder: Path, files: dict[str, bytes]) -> None:
    if UPDATE:
        shutil.rmtree(folder, ignore_errors=True)
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
    assert files == files_of(folder)


@pytest.mark.parametrize("case", NAMES)
def test_a_repository_becomes_a_project(case, agentmux, tmp_path, monkeypatch):
    root = Path(shutil.copytree(CASES / case / "before", tmp_path / "project"))
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    monkeypatch.chdir(root)
    before = files_of(root)

    code, out, err = agentmux("init")
    assert files_of(root) == before
    expect_text(CASES / case / "plan.txt", f"{out}{err}exit code {code}\n")

    code, out, _ = agentmux("init", "--write")
    after = files_of(root)
    changed = {name: data for name, data in after.items() if before.get(name) != data}
    assert (code, before.keys() - after.keys()) == (0, set())
    assert out.splitlines()[-1].startswith(f"{len(changed)} files written. ")
    expect_files(CASES / case / "expected", changed)

    report = build(root, BuildOptions(accept=True))
    assert [item for item in report.diagnostics if item.severity.value == "error"] == []
    assert {name: data for name, data in files_of(root).items() if name in after} == after
    assert {status.status for status in build(root, BuildOptions(check=True)).files} <= {"unchanged"}


def test_from_nothing_the_installed_clis_are_taken(agentmux, repository_of, tmp_path):
    root = repository_of({"README.md": "Hello.\n"})
    for name in ("gemini", "codex"):
        file = tmp_path / "user" / "bin" / (f"{name}.bat" if os.name == "nt" else name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
        file.chmod(0o755)
    os.environ["PATH"] += f"{os.pathsep}{tmp_path / 'user' / 'bin'}"
    assert agentmux("init", "--write")[0] == 0
    spec = (root / "agents.d/main.yaml").read_text()
    assert spec == "providers:\n  codex: {}\n  gemini: {}\ndelivery: file\nbundles:\n  - project\n"


def test_named_providers_are_taken(agentmux, repository_of):
    root = repository_of({"README.md": "Hello.\n"})
    assert agentmux("init", "--write", "--provider", "gemini-cli", "--provider", "claude")[0] == 0
    assert (root / "agents.d/main.yaml").read_text().startswith("providers:\n  claude: {}\n  gemini: {}\ndelivery")


def test_files_of_providers_that_were_not_named_stay(agentmux, repository_of):
    root = repository_of({"CLAUDE.md": "Be brief.\n", "GEMINI.md": "Be long.\n"})
    value = json.loads(agentmux("init", "--provider", "claude", "--format", "json")[1])
    assert [agent["providers"] for agent in value["agents"]] == [["claude"]]
    assert value["left"] == [{"path": "GEMINI.md", "reason": "it is for `gemini`, and others were asked for"}]
    assert files_of(root) == {"CLAUDE.md": b"Be brief.\n", "GEMINI.md": b"Be long.\n"}


def test_json_says_the_whole_proposal(agentmux, repository_of):
    root = repository_of(
        {"CLAUDE.md": "Be brief.\n", ".gitignore": ".agentmux/\n", ".gitattributes": "* text eol=lf\n"}
    )
    code, out, err = agentmux("init", "--format", "json")
    value = json.loads(out)
    files = value.pop("files")
    assert (code, err) == (0, "")
    assert value == {
        "format_version": 1,
        "agents": [
            {"name": "main", "workdir": ".", "providers": ["claude"], "bundles": ["project"], "skills": [], "mcp": []}
        ],
        "bundles": [{"name": "project", "providers": None}],
        "diagnostics": [],
        "proof": [{"path": "CLAUDE.md", "bytes": 10, "same": True, "differences": [], "diff": None, "link": False}],
        "added": [],
        "left": [],
        "secrets": [],
    }
    assert [(file["path"], file["status"], file["bytes"]) for file in files] == [
        ("bundles/project.md", "would-write", 10),
        ("agents.d/_project.yaml", "would-write", 14),
        ("agents.d/main.yaml", "would-write", 60),
    ]
    assert {file["status"] for file in json.loads(agentmux("init", "--write", "--format", "json")[1])["files"]} == {
        "written"
    }
    assert (root / "agents.d/main.yaml").stat().st_size == 60


@pytest.mark.parametrize("inside", [{"agents.d/main.yaml": "providers: {claude: {}}\n"}, {"agents.d": "a file\n"}])
def test_a_project_is_refused(agentmux, repository_of, inside):
    repository_of(inside)
    assert agentmux("init") == (
        2,
        "",
        (
            "error: `agents.d` is there already\n"
            "  = help: run `agentmux build` to compile it, or `agentmux adopt PATH` to take in one more file\n"
        ),
    )


def test_a_folder_that_is_not_there_is_refused(agentmux):
    assert agentmux("init", "--project", "nowhere") == (2, "", "error: there is no folder `nowhere`\n")


def test_header_marks_the_outputs(agentmux, repository_of):
    root = repository_of({"CLAUDE.md": "Be brief.\n"})
    out = agentmux("init", "--header")[1]
    assert "  CLAUDE.md  10 bytes  the same text, but the header line above it\n" in out
    assert agentmux("init", "--header", "--write")[0] == 0
    assert (root / "CLAUDE.md").read_text() == f"{HEADER}\n\nBe brief.\n"
    assert not (root / "agents.d/_project.yaml").exists()
    assert {status.status for status in build(root, BuildOptions()).files} == {"unchanged"}


def test_outputs_that_lost_their_sources_are_taken_in_with_their_header(agentmux, repository_of):
    root = repository_of({"CLAUDE.md": f"{HEADER}\n\nBe brief.\n"})
    assert agentmux("init", "--write")[0] == 0
    assert (root / "bundles/project.md").read_text() == "Be brief.\n"
    assert {status.status for status in build(root, BuildOptions()).files} == {"unchanged"}


def test_an_edit_before_the_first_build_is_built(agentmux, repository_of):
    """The bytes that were taken in are known as a build's own from then on."""
    root = repository_of({"CLAUDE.md": "Be brief.\n"})
    agentmux("init", "--write")
    (root / "bundles/project.md").write_bytes(b"Be very brief.\n")
    assert build(root, BuildOptions()).diagnostics == ()
    assert (root / "CLAUDE.md").read_bytes() == b"Be very brief.\n"


def test_what_git_ignores_stays(agentmux, repository_of):
    repository_of(
        {
            ".gitignore": "CLAUDE.md\n.mcp.json\n.claude/\n",
            "CLAUDE.md": "My own notes.\n",
            "AGENTS.md": "Be brief.\n",
            ".mcp.json": '{"mcpServers": {"a": {"command": "a"}}}',
            ".agents/skills/one/SKILL.md": '---\nname: one\ndescription: "One"\n---\nOne.\n',
        }
    )
    value = json.loads(agentmux("init", "--format", "json")[1])
    assert [(agent["providers"], agent["mcp"], agent["skills"]) for agent in value["agents"]] == [
        (["codex"], [], ["one"])
    ]
    assert value["left"] == [
        {"path": path, "reason": "git ignores it, and sources are committed"} for path in ("CLAUDE.md", ".mcp.json")
    ]


def test_folders_of_others_are_passed_over(agentmux, repository_of):
    names = ("node_modules/x", "sub/.git", "deep/vendor/y", ".hidden", "examples/one", "examples/two", "kept")
    repository_of({f"{name}/CLAUDE.md": "Text.\n" for name in names} | {"sub/CLAUDE.md": "Text.\n"})
    value = json.loads(agentmux("init", "--skip", "examples/*", "--format", "json")[1])
    assert [agent["workdir"] for agent in value["agents"]] == ["kept"]


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege")
def test_a_link_is_read_and_never_written_through(agentmux, repository_of):
    root = repository_of({"AGENTS.md": "Be brief.\n"})
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    (root / "GEMINI.md").symlink_to("/etc/hostname")
    code, out, _ = agentmux("init")
    assert code == 0
    assert (
        "  CLAUDE.md  10 bytes  the same bytes; it is a link now: remove the link, and a build writes the file\n"
        "  AGENTS.md  10 bytes  the same bytes\n"
    ) in out
    assert "  GEMINI.md  it is a link that leads out of the project\n" in out
    assert agentmux("init", "--write")[0] == 0
    assert (root / "CLAUDE.md").is_symlink()
    (root / "CLAUDE.md").unlink()
    assert build(root, BuildOptions()).diagnostics == ()
    assert (root / "CLAUDE.md").read_bytes() == b"Be brief.\n"


def test_hidden_characters_are_an_error_and_nothing_is_written(agentmux, repository_of):
    root = repository_of({"CLAUDE.md": "Be brief.\n\nAnd\u200b honest.\n"})
    code, out, err = agentmux("init", "--write")
    assert (code, out.splitlines()[-1]) == (1, "Nothing was written.")
    assert err.startswith("error[AMX305]: invisible character `U+200B` (zero width space)\n --> CLAUDE.md:3:4\n")
    assert sorted(files_of(root)) == ["CLAUDE.md"]


def test_text_that_codex_would_cut_is_an_error_at_its_line(agentmux, repository_of):
    root = repository_of({"AGENTS.md": "# Long\n\n" + "Seven words make a line of text.\n" * 1100})
    code, out, err = agentmux("init", "--write")
    assert (code, out.splitlines()[-1]) == (1, "Nothing was written.")
    assert err.startswith("error[AMX403]: `codex` reads 32,768 bytes of instructions")
    assert sorted(files_of(root)) == ["AGENTS.md"]


def test_what_is_not_utf8_is_an_error_at_its_place(agentmux, repository_of):
    repository_of({"CLAUDE.md": "Be brief.\n".encode("utf-16")})
    code, _, err = agentmux("init")
    assert code == 1
    assert err.startswith("error[AMX106]: byte `0xff` is not UTF-8\n --> CLAUDE.md:1:1\n")


def test_nothing_is_written_over_what_came_in_between(agentmux, repository_of, monkeypatch):
    root = repository_of({"CLAUDE.md": "Be brief.\n"})

    def meanwhile(*_):
        (root / "bundles").mkdir()
        (root / "bundles/project.md").write_bytes(b"Somebody else's.\n")
        return True

    monkeypatch.setattr(init, "_says_yes", meanwhile)
    code, out, err = agentmux("init")
    assert (code, out.splitlines()[-1]) == (1, "Not everything was written.")
    assert err.startswith("error[AMX607]: `bundles/project.md` cannot be written: it changed while")
    assert sorted(files_of(root)) == ["CLAUDE.md", "bundles/project.md"]


@pytest.mark.skipif(os.name == "nt", reason="no terminal to make")
@pytest.mark.parametrize(("answer", "written"), [(b"y\n", True), (b"\n", False), (b"no\n", False)])
def test_a_terminal_is_asked(repository_of, repository, answer, written):
    import pty  # noqa: PLC0415  not everywhere

    root = repository_of({"CLAUDE.md": "Be brief.\n"})
    ours, theirs = pty.openpty()
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(str(repository / name) for name in ("compiler", "launcher"))}
    with subprocess.Popen(
        [sys.executable, "-m", "agentmux", "init"],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=environ,
    ) as child:
        os.close(theirs)
        os.write(ours, answer)
        assert child.stderr.read() == b"Write 5 files? [y/N] "
        assert child.wait(60) == 0
    os.close(ours)
    assert (root / "agents.d").exists() is written


SECRETS = {
    "env": ("ISSUES_TOKEN", "tk_live_9f8e7d6c5b4a"),
    "shape": ("VALUE", "ghp_0123456789abcdefABCD"),
    "argument": ("--api-key", "topsecret-1"),
    "option": ("--password", "topsecret-2"),
    "header": ("Authorization", "Bearer topsecret-3"),
    "address": ("url", "https://reader:topsecret-4@db.example.com/mcp?access_token=topsecret-5&page=2"),
    "default": ("HOST", "${HOST:-topsecret-6}"),
}


def test_no_secret_is_copied_or_shown(agentmux, repository_of):
    server = {
        "command": "a",
        "args": [SECRETS["argument"][0], SECRETS["argument"][1], "--password=topsecret-2", "--verbose"],
        "env": dict([SECRETS["env"], SECRETS["shape"], SECRETS["default"], ("LEVEL", "info"), ("KEEP", "${KEEP}")]),
    }
    web = {"type": "http", "url": SECRETS["address"][1], "headers": dict([SECRETS["header"], ("X-Team", "blue")])}
    root = repository_of(
        {"CLAUDE.md": "Be brief.\n", ".mcp.json": json.dumps({"mcpServers": {"issues": server, "web": web}})}
    )
    code, out, err = agentmux("init")
    assert (code, err) == (0, "")
    assert agentmux("init", "--write")[0] == 0
    written = {name: data.decode() for name, data in files_of(root).items() if name != ".mcp.json"}
    secrets = [
        value.removeprefix("Bearer ") for _, value in SECRETS.values() if "://" not in value and "$" not in value
    ]
    secrets += [f"topsecret-{number}" for number in range(1, 7)]
    assert [secret for secret in secrets if secret in out or any(secret in text for text in written.values())] == []
    assert written["agents.d/main.yaml"].partition("mcp:\n")[2] == (
        "  issues:\n"
        "    command: a\n"
        '    args: ["--api-key", "${ISSUES_API_KEY}", "--password=${ISSUES_PASSWORD}", "--verbose"]\n'
        "    env:\n"
        '      ISSUES_TOKEN: "${ISSUES_TOKEN}"\n'
        '      VALUE: "${VALUE}"\n'
        '      HOST: "${HOST}"\n'
        "      LEVEL: info\n"
        '      KEEP: "${KEEP}"\n'
        "  web:\n"
        '    url: "https://${WEB_LOGIN}@db.example.com/mcp?access_token=${WEB_ACCESS_TOKEN}&page=2"\n'
        "    headers:\n"
        '      Authorization: "Bearer ${WEB_TOKEN}"\n'
        "      X-Team: blue\n"
    )
    assert "is ${ISSUES_TOKEN} now: set ISSUES_TOKEN before a launch\n" in out


def test_a_server_that_a_provider_cannot_be_given_stays_with_the_reason(agentmux, repository_of):
    servers = {"one": {"command": "a", "args": ["${PORT}"]}, "two": {"command": "b"}}
    repository_of({"AGENTS.md": "Be brief.\n", ".mcp.json": json.dumps({"mcpServers": servers})})
    value = json.loads(agentmux("init", "--format", "json")[1])
    assert [agent["mcp"] for agent in value["agents"]] == [["two"]]
    assert [left["path"] for left in value["left"]] == [".mcp.json one"]
    assert "cannot be passed on by `codex`" in value["left"][0]["reason"]


@pytest.mark.parametrize("text", ["[]", "{", '{"mcpServers": []}', '{"mcpServers": null}'])
def test_an_unreadable_list_of_servers_stays(agentmux, repository_of, text):
    repository_of({"CLAUDE.md": "Be brief.\n", ".mcp.json": text})
    value = json.loads(agentmux("init", "--format", "json")[1])
    assert value["left"] == [{"path": ".mcp.json", "reason": "it is no JSON object with `mcpServers`"}]


def test_errors_stand_in_the_json_too(agentmux, repository_of):
    root = repository_of({"CLAUDE.md": "Be\u200b brief.\n"})
    code, out, err = agentmux("init", "--write", "--format", "json")
    value = json.loads(out)
    assert (code, err, [(item["code"], item["path"], item["line"]) for item in value["diagnostics"]]) == (
        1,
        "",
        [("AMX305", "CLAUDE.md", 1)],
    )
    assert {file["status"] for file in value["files"]} == {"would-write"}
    assert sorted(files_of(root)) == ["CLAUDE.md"]


def test_servers_alone_come_to_a_new_main_agent(agentmux, repository_of):
    repository_of({".mcp.json": json.dumps({"mcpServers": {"one": {"command": "a"}}})})
    value = json.loads(agentmux("init", "--provider", "claude", "--format", "json")[1])
    assert value["agents"] == [
        {"name": "main", "workdir": ".", "providers": ["claude"], "bundles": ["project"], "skills": [], "mcp": ["one"]}
    ]


def test_skills_alone_come_to_an_agent_without_text(agentmux, repository_of):
    skill = '---\nname: one\ndescription: "One"\n---\nOne.\n'
    root = repository_of({".claude/skills/one/SKILL.md": skill})
    value = json.loads(agentmux("init", "--write", "--format", "json")[1])
    assert value["agents"] == [
        {"name": "main", "workdir": ".", "providers": ["claude"], "bundles": [], "skills": ["one"], "mcp": []}
    ]
    assert {status.status for status in build(root, BuildOptions()).files} == {"unchanged"}


@pytest.mark.skipif(os.name == "nt", reason="modes are a POSIX affair")
def test_a_script_of_a_skill_stays_one(agentmux, repository_of):
    place = "skills/one/scripts/go.sh"
    root = repository_of(
        {
            ".claude/skills/one/SKILL.md": "---\nname: one\ndescription: One\n---\nOne.\n",
            f".claude/{place}": "#!/bin/sh\n",
        }
    )
    (root / ".claude" / place).chmod(0o755)
    value = json.loads(agentmux("init", "--write", "--format", "json")[1])
    assert value["added"] == []
    assert (root / place).stat().st_mode & 0o777 == (root / ".claude" / place).stat().st_mode & 0o777 == 0o755
    assert {status.status for status in build(root, BuildOptions()).files} == {"unchanged"}


def test_skills_of_a_cli_that_no_file_is_for_stay(agentmux, repository_of):
    skill = '---\nname: one\ndescription: "One"\n---\nOne.\n'
    repository_of({"AGENTS.md": "Be brief.\n", ".claude/skills/one/SKILL.md": skill})
    value = json.loads(agentmux("init", "--format", "json")[1])
    assert value["left"] == [{"path": ".claude/skills/one", "reason": "it reaches `claude` by itself"}]


def test_from_nothing_a_file_that_holds_nothing_is_left_alone(agentmux, repository_of):
    root = repository_of({"CLAUDE.md": "\n"})
    value = json.loads(agentmux("init", "--write", "--format", "json")[1])
    assert [agent["providers"] for agent in value["agents"]] == [["codex", "gemini"]]
    assert value["left"] == [{"path": "CLAUDE.md", "reason": "it is empty"}]
    assert {status.path: status.status for status in build(root, BuildOptions()).files} == {
        "AGENTS.md": "written",
        "GEMINI.md": "written",
    }


def test_lines_for_git_are_added_behind_what_is_there(agentmux, repository_of):
    root = repository_of(
        {
            "CLAUDE.md": "Be brief.\n",
            ".gitignore": "dist/\r\n# end\r\n",
            ".gitattributes": "*.png binary\nCLAUDE.md   text eol=lf",
        }
    )
    agentmux("init", "--write")
    assert (root / ".gitignore").read_bytes() == b"dist/\r\n# end\r\n.agentmux/\r\n"
    assert (root / ".gitattributes").read_bytes() == (
        b"*.png binary\nCLAUDE.md   text eol=lf\n"
        b"agents.d/** text eol=lf\nbundles/** text eol=lf\nsnapshots/** text eol=lf\n"
    )


def test_agents_are_proposed_in_byte_order_of_their_folders(repository_of):
    root = repository_of({f"{name}/CLAUDE.md": f"# {name}\n\nText of {name}.\n" for name in ("b", "a", "c/d", "c")})
    catalog = [load_provider(name) for name in ("claude", "codex")]

    proposal = propose(DiskTree(root), catalog, Request())
    assert [(agent.name, agent.workdir) for agent in proposal.agents] == [
        ("a", "a"),
        ("b", "b"),
        ("c", "c"),
        ("c-d", "c/d"),
    ]


def test_a_secret_is_said_to_stand_where_it_was(agentmux, repository_of):
    servers = {"gh": {"command": "gh-mcp", "env": {"GITHUB_TOKEN": "ghp_abcdefghij0123456789"}}}
    repository_of({".mcp.json": json.dumps({"mcpServers": servers})})

    out = agentmux("init")[1]

    assert out.partition("like secrets\n")[2].splitlines()[:2] == [
        "  .mcp.json gh.env.GITHUB_TOKEN  is ${GITHUB_TOKEN} now: set GITHUB_TOKEN before a launch",
        (
            "  .mcp.json is not changed and still holds it: if it was ever committed, withdraw it, and write the "
            "variable there too"
        ),
    ]

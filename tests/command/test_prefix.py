import json
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from agentmux import branches
from agentmux.branches import Branch, folded
from agentmux.cli import main
from agentmux_compiler.prefix.tree import Node

LINE = "Say what you know.\n"
SPEC = "providers: {codex: {model: qwen3, backend: vllm}}\nsoul: You are NAME.\nbundles: [often, seldom]\n"
PROJECT = {
    "agents.d/a.yaml": SPEC.replace("NAME", "a"),
    "agents.d/b.yaml": SPEC.replace("NAME", "b").replace("often, seldom", "seldom, often"),
    "bundles/often.md": f"# Often\n\n{LINE * 100}",
    "bundles/seldom.md": f"# Seldom\n\n{LINE * 400}",
}


@pytest.fixture
def run(write_project, capsys, monkeypatch):
    """The command in a project of two agents, outside any repository."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    root = write_project(PROJECT)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root.parent))
    monkeypatch.chdir(root)

    def run(*arguments):
        code = main(["prefix", *arguments])
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def commit(run, monkeypatch):  # noqa: ARG001  it makes the project
    """Commit files in the project, which is a repository from then on; the days are those of January 2026."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    days = iter(range(1, 32))

    def git(*arguments):
        date = f"2026-01-{next(days):02}T12:00:00 +0000" if "commit" in arguments else ""
        environment = {**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
        subprocess.run(["git", *who, *arguments], env=environment, check=True, capture_output=True)

    def commit(files, message):
        for path, text in files.items():
            Path(path).write_bytes(text.encode())
        git("add", "--all")
        git("commit", "--quiet", "--message", message)

    git("init", "--quiet")
    return commit


@pytest.fixture
def history(commit):
    commit({}, "the first")
    commit({"bundles/often.md": f"# Often\n\nOne more.\n{LINE * 100}"}, "an edit")
    commit({"agents.d/a.yaml": PROJECT["agents.d/a.yaml"].replace("seldom", "absent")}, "a mistake\x1b[31m")
    commit({"agents.d/a.yaml": PROJECT["agents.d/a.yaml"]}, "its end")
    commit({"bundles/often.md": f"# Often\n\nTwo more.\n{LINE * 100}"}, "another edit")


def shorn(text):
    """Without ids of commits and what depends on the sizes of the CLI's own parts, and with single blanks."""
    text = re.sub(r"\b[0-9a-f]{9}\b", "ID", text)
    text = re.sub(r"\b[0-9][0-9,]{3,}(?![-0-9])|[0-9.]+(?= %)", "N", text)
    return re.sub(" +", " ", text)


def test_the_tree_for_people(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert shorn(out).splitlines() == [
        "openai (vllm), qwen3: 2 plans",
        " N tokens, N where what is shared counts once; started once each, they are served N from the cache",
        " N a/codex, b/codex the CLI's own text",
        " ├─ +N a/codex agents/a/soul.md, bundles/often.md and bundles/seldom.md agents.d/a.yaml:2",
        " └─ +N b/codex agents/b/soul.md, bundles/seldom.md and bundles/often.md agents.d/b.yaml:2",
        "",
        "help: another order of sections and bundles would let the caches serve N tokens more",
        " = sections: global-bundles, bundles, instructions, soul, skills-index",
        " = bundles, in every list: often, seldom",
        " = openai (vllm), qwen3: from N to N",
        " = note: measured by compiling again in that order",
        "",
        "Tokens: qwen3, the CLI's own parts at 4.1 bytes a token (within N %).",
    ]


def test_the_tree_for_programs(run):
    code, out, err = run("--format", "json")
    value = json.loads(out)
    (cache,), (order, *_) = value["caches"], value["orders"]
    tree = cache.pop("tree")
    assert (code, err, sorted(value)) == (0, "", ["caches", "format_version", "orders"])
    assert {name: cache[name] for name in ("vendor", "backend", "model", "effort", "plans")} == {
        "vendor": "openai",
        "backend": "vllm",
        "model": "qwen3",
        "effort": None,
        "plans": 2,
    }
    assert sorted(tree) == ["bytes", "children", "parting", "plans", "segments", "tokens"]
    assert [(child["plans"], child["parting"]) for child in tree["children"]] == [
        (
            [f"{name}/codex"],
            {"layer": "instructions", "segment": f"agents/{name}/soul.md", "path": f"agents.d/{name}.yaml", "line": 2},
        )
        for name in "ab"
    ]
    saved = sum(child["tokens"] for child in tree["children"]) - tree["tokens"]
    assert cache["tokens_distinct"] == saved < cache["tokens_total"]
    assert (order["name"], order["bundles"], order["served"]) == (
        "sections and bundles",
        ["often", "seldom"],
        order["caches"][0]["served_after"] - cache["served"],
    )


def test_sources_with_errors_have_no_tree(run, write_project):
    write_project({"agents.d/a.yaml": "bundles: [absent]\n"})
    code, out, err = run()
    assert (code, out) == (1, "")
    assert err.startswith("error[AMX")


def test_only_one_provider(run):
    assert run("--provider", "claude") == (0, "No plan was built.\n", "")
    assert run("--provider", "clod")[0] == 2


@pytest.mark.usefixtures("history")
def test_the_history_for_people(run):
    code, out, err = run("--history")
    assert (code, err) == (0, "")
    assert shorn(out).splitlines() == [
        "5 commits touch the sources, from 2026-01-01 to 2026-01-05",
        "LOST are tokens that one new session of each plan, with a prompt of its own, computes again.",
        "",
        "COMMIT DATE PLANS LOST COST WHAT BROKE SUBJECT",
        "ID 2026-01-05 2/2 N bundles/often.md edited another edit",
        "ID 2026-01-02 2/2 N bundles/often.md edited an edit",
        "and 2 that lost nothing",
        "",
        "WHAT BROKE MOST WHY COMMITS PLANS LOST SHARE",
        "bundles/often.md edited 2 4 N N %",
        "",
        "Lost in all, within the lifetime of what was cached:",
        " N tokens to new sessions, each with its own prompt",
        " N tokens to new sessions with the same prompt",
        " 0 tokens to sessions that go on",
        " No price is known for the model of 4 changed plans.",
        "",
        "help: another order of bundles would have lost N tokens less (N %)",
        " = bundles, in every list: seldom, often",
        " = note: measured by compiling every commit in that order: N instead of N tokens",
        " = note: to change to it now costs N tokens, once",
        "",
        "warning: 1 commit does not compile; the next that does bears the cost",
        " = ID 2026-01-03 AMX201 there is no bundle `absent` (agents.d/a.yaml:3)",
        "",
        "Tokens: qwen3, the CLI's own parts at 4.1 bytes a token (within N %).",
    ]


@pytest.mark.usefixtures("history")
def test_the_history_for_programs(run):
    code, out, err = run("--history", "HEAD~4..HEAD", "--format", "json")
    value = json.loads(out)
    assert (code, err) == (0, "")
    assert sorted(value) == [
        "before",
        "commits",
        "culprits",
        "format_version",
        "loss",
        "methods",
        "moves",
        "price_as_of",
        "range",
        "replay",
        "shallow",
        "skipped",
    ]
    assert (value["range"], value["shallow"], value["before"]["subject"]) == ("HEAD~4..HEAD", False, "the first")
    assert [(each["subject"], each["date"], each["plans"], each["changed"]) for each in value["commits"]] == [
        ("an edit", "2026-01-02", 2, 2),
        ("its end", "2026-01-04", 2, 0),
        ("another edit", "2026-01-05", 2, 2),
    ]
    assert [each["subject"] for each in value["skipped"]] == ["a mistake\x1b[31m"]
    loss = value["loss"]
    assert sorted(loss) == ["new_prompt", "relaunch", "resume", "sessions", "text", "unknown", "unpriced", "usd"]
    assert (loss["unpriced"], loss["usd"]) == (4, {"new_prompt": None, "relaunch": None, "resume": 0.0})
    assert loss["sessions"] == value["replay"]["before"]["sessions"] > value["replay"]["after"]["sessions"]
    assert (value["replay"]["bundles"], value["replay"]["sections"]) == (["seldom", "often"], [])


@pytest.mark.usefixtures("history")
def test_a_history_is_the_same_again(run):
    assert run("--history") == run("--history")


@pytest.mark.usefixtures("history")
def test_a_subject_drives_no_terminal(run):
    assert "\x1b" not in run("--history", "HEAD~2")[1]


def test_commits_that_lost_nothing(run, commit):
    commit({}, "the first")
    assert run("--history") == (
        0,
        "1 commit touches the sources, on 2026-01-01\n\nNone of them lost anything that was cached.\n",
        "",
    )
    assert run("--history", "HEAD..HEAD") == (0, "No commit of `HEAD..HEAD` touches the sources.\n", "")


@pytest.mark.usefixtures("commit")
def test_a_history_that_is_not_there(run, monkeypatch):
    said = "error: there is no history to read: there is no revision `absent`\n"
    help_ = "  = help: name a range, such as `HEAD~20..HEAD`, or a revision\n"
    assert run("--history", "absent") == (2, "", said + help_)
    monkeypatch.setenv("PATH", os.devnull)
    assert run("--history") == (2, "", "error: there is no history to read: git is not installed\n")


def test_a_project_in_no_repository(run):
    code, out, err = run("--history")
    assert (code, out) == (2, "")
    assert err.startswith("error: there is no history to read: not a git repository")


@pytest.mark.usefixtures("history")
def test_no_socket_is_opened(run, monkeypatch):
    def refused(*_):
        raise AssertionError("a socket was asked for")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refused)
    assert (run()[0], run("--history")[0]) == (0, 0)


def leaf(name, tokens, above=()):
    return Node(tokens, tokens, None, (*above, f"own/{name}"), (name,), ())


def test_a_large_tree_is_folded_where_least_is_shared():
    groups = tuple(
        Node(
            1000 + size,
            1000 + size,
            None,
            (f"group/{size}",),
            (),
            tuple(leaf(f"{size}-{number:03}", 3000) for number in range(50)),
        )
        for size in (100, 900, 200, 300)
    )
    found = folded(Node(1000, 1000, None, ("base",), (), groups))
    assert (found.added, len(found.plans), found.folded) == (1000, 200, 0)
    assert [(each.added, len(each.children), each.folded) for each in found.children] == [
        (100, 0, 50),
        (200, 4, 46),
        (300, 8, 42),
        (900, 8, 42),
    ]
    assert sum(1 for _ in every(found)) == 1 + branches.ROWS


def test_texts_that_begin_with_the_same_words_are_no_branch():
    few = Node(1003, 1003, None, ("a word",), ("short",), (leaf("x", 1500), leaf("y", 1600)))
    found = folded(Node(1000, 1000, None, ("base",), (), (few, leaf("z", 1400))))
    assert [(each.plans, each.added, each.children) for each in found.children] == [
        (("short",), 3, ()),
        (("x",), 500, ()),
        (("y",), 600, ()),
        (("z",), 400, ()),
    ]


def every(branch: Branch):
    yield branch
    for child in branch.children:
        yield from every(child)

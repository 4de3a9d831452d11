from __future__ import annotations

import os
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.diff import diff_all
from agentmux_compiler.prefix.history import run
from agentmux_compiler.prefix.history.commits import commits, read
from agentmux_compiler.prefix.history.culprits import source_name
from agentmux_compiler.prefix.history.losses import NOTHING, loss_of, step, total
from agentmux_compiler.prefix.history.rates import rates
from agentmux_compiler.prefix.history.renames import renamed
from agentmux_compiler.prefix.history.run import history
from agentmux_compiler.revisions.outcomes import Fault
from agentmux_compiler.tree import MemoryTree
from agentmux_compiler.trees.git_objects import GitError, objects

LINE = "Say what you know, and how you know it.\n"
LONG = LINE * 300
VLLM = "providers: {codex: {model: qwen3, backend: vllm}}\n"
PROJECT = {
    "agents.d/a.yaml": f"{VLLM}soul: You are a.\nbundles: [often, seldom]\n",
    "agents.d/b.yaml": f"{VLLM}soul: You are b.\nbundles: [seldom]\n",
    "bundles/often.md": f"Often.\n{LINE * 20}",
    "bundles/seldom.md": f"Seldom.\n{LONG}",
}
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def git(root, *arguments, stdin=b""):
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], input=stdin, env=ENVIRONMENT, check=True, capture_output=True
    )
    return done.stdout.decode().strip()


def commit(number, files, *, parents=None, message=None, zone="+0000"):
    """One commit of a stream for `git fast-import`; a file of None is removed. Its day is the number's in 2026."""
    text = (message or f"edit {number}").encode()
    who = f"Somebody <somebody@example.org> {1767225600 + 86400 * number} {zone}"
    lines = [
        f"commit refs/heads/main\nmark :{number + 1}\nauthor {who}\ncommitter {who}\ndata {len(text)}\n".encode() + text
    ]
    given = parents if parents is not None else [number - 1] if number else []
    lines += [f"{word} :{parent + 1}".encode() for word, parent in zip(["from", *["merge"] * 9], given, strict=False)]
    for path, content in files.items():
        data = (content or "").encode()
        lines.append(
            f"D {path}".encode() if content is None else f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data
        )
    return b"\n".join(lines) + b"\n"


def import_commits(root, stream):
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "fast-import", "--quiet", stdin=stream)
    return root


def repository(root, *edits):
    """A repository without a work tree: one commit for each set of edits."""
    return import_commits(root, b"".join(commit(number, files) for number, files in enumerate(edits)))


def plans(files):
    made = compile_project(MemoryTree({path: text.encode() for path, text in files.items() if text is not None}))
    return {plan.prefix.key: plan.prefix for plan in made.plans}


def lost(before, after, name="new_prompt"):
    """What the diff of two projects says."""
    return sum(plan.scenarios[name].lost for plan in diff_all(plans(before), list(plans(after).values()), "x").plans)


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)


def test_each_commit_costs_what_a_diff_of_its_sources_says(tmp_path):
    edits = [
        PROJECT,
        {"bundles/often.md": f"Often.\n{LINE * 21}"},
        {"bundles/seldom.md": f"Seldom, now.\n{LONG}"},
        {"agents.d/a.yaml": f"{VLLM}soul: You are a.\nbundles: [seldom, often]\n"},
    ]
    found = history(repository(tmp_path, *edits), "HEAD~3..HEAD")
    states, expected = [PROJECT], []
    for edit in edits[1:]:
        states.append(states[-1] | edit)
        expected.append({name: lost(*states[-2:], name) for name in ("relaunch", "new_prompt", "resume")})
    got = [{name: each.loss.tokens[name] for name in expected[0]} for each in found.commits]
    assert got == expected
    assert all(each["new_prompt"] > 0 for each in expected)
    assert [each.loss.sessions for each in found.commits] == [each["new_prompt"] for each in expected]
    assert [(each.commit.subject, each.commit.date, each.plans, each.changed) for each in found.commits] == [
        ("edit 1", "2026-01-02", 2, 1),
        ("edit 2", "2026-01-03", 2, 2),
        ("edit 3", "2026-01-04", 2, 1),
    ]
    assert found.before.subject == "edit 0"
    assert found.loss == total(each.loss for each in found.commits)
    assert (found.skipped, found.shallow, found.range) == ((), False, "HEAD~3..HEAD")


def test_what_broke_is_named_with_its_line_and_summed_over_commits(tmp_path):
    edits = [PROJECT, *({"bundles/often.md": f"Often.\n{LINE * count}"} for count in (21, 22))]
    found = history(repository(tmp_path, *edits))
    (first,), (second,) = (each.culprits for each in found.commits[1:])
    assert (first.segment, first.reasons, first.path, first.line) == (
        "bundles/often.md",
        ("edited",),
        "bundles/often.md",
        22,
    )
    (both,) = found.culprits
    assert (both.segment, both.commits, both.plans, both.line) == ("bundles/often.md", 2, 2, second.line)
    assert both.loss == first.loss + second.loss


def test_commits_that_touch_no_source_are_passed_over(tmp_path):
    quiet = {"README.md": "x", "snapshots/plans/a.codex": "x", "src/main.c": "x"}
    edits = [PROJECT, quiet, {"bundles/often.md": "Often.\n"}, {**quiet, "README.md": "y"}]
    found = history(repository(tmp_path, *edits))
    assert [each.commit.subject for each in found.commits] == ["edit 0", "edit 2"]
    assert (found.commits[0].new, found.commits[0].loss) == (2, NOTHING)


def test_a_first_commit_has_nothing_before_it(tmp_path):
    found = history(repository(tmp_path, PROJECT))
    assert (found.before, [(each.plans, each.new, each.changed) for each in found.commits]) == (None, [(2, 2, 0)])
    assert (found.replay, found.moves, found.culprits) == (None, (), ())


def test_only_so_many_commits_that_touch_the_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "LIMIT", 2)
    often = [{"bundles/often.md": f"Often {number}.\n"} for number in range(4)]
    edits = [PROJECT, *(each for edit in often for each in (edit, {"README.md": repr(edit)}))]
    found = history(repository(tmp_path, *edits))
    assert [each.commit.subject for each in found.commits] == ["edit 5", "edit 7"]
    assert found.before.subject in {"edit 3", "edit 4"}
    older = history(tmp_path, "HEAD~4")
    assert [each.commit.subject for each in older.commits] == ["edit 1", "edit 3"]
    assert len(history(tmp_path, "HEAD~8..HEAD").commits) == 4


def test_without_a_range_the_history_begins_where_the_sources_appear(tmp_path):
    edits = [
        {"README.md": "x"},
        {"agents.d/a.yaml": "providers: {codex: {}}\n"},
        {"agents.d/a.yaml": None},
        PROJECT,
        {"bundles/often.md": "x\n"},
    ]
    found = history(repository(tmp_path, *edits))
    assert [(each.commit.subject, each.new) for each in found.commits] == [("edit 3", 2), ("edit 4", 0)]
    whole = history(tmp_path, "HEAD~4..HEAD")
    assert [(each.commit.subject, each.new, each.removed) for each in whole.commits] == [
        ("edit 1", 1, 0),
        ("edit 2", 0, 1),
        ("edit 3", 2, 0),
        ("edit 4", 0, 0),
    ]


def test_a_merge_costs_what_its_branch_changed(tmp_path):
    stream = [
        commit(0, PROJECT),
        commit(1, {"bundles/seldom.md": f"One.\n{LONG}"}, parents=[0], message="on the branch"),
        commit(2, {"bundles/seldom.md": f"Two.\n{LONG}"}, parents=[1], message="on the branch"),
        commit(3, {"README.md": "x"}, parents=[0]),
        commit(4, {"bundles/seldom.md": f"Two.\n{LONG}"}, parents=[3, 2], message="Merge the branch\n\nWith more."),
    ]
    found = history(import_commits(tmp_path, b"".join(stream)))
    assert [each.commit.subject for each in found.commits] == ["edit 0", "Merge the branch"]
    assert found.loss.sessions == lost(PROJECT, PROJECT | {"bundles/seldom.md": f"Two.\n{LONG}"}) > 0


def test_a_bundle_under_another_name_costs_nothing(tmp_path):
    names = {"bundles/seldom.md": None, "bundles/rare.md": PROJECT["bundles/seldom.md"]}
    specs = {path: PROJECT[path].replace("seldom", "rare") for path in PROJECT if path.startswith("agents.d")}
    (found,) = history(repository(tmp_path, PROJECT, names | specs), "HEAD~1..HEAD").commits
    assert (found.changed, found.new, found.removed, found.loss.sessions, found.culprits) == (2, 0, 0, 0, ())


def test_an_agent_under_another_name_goes_on(tmp_path):
    edits = [
        {"agents.d/a.yaml": None, "agents.d/c.yaml": PROJECT["agents.d/a.yaml"].replace("[often, seldom]", "[seldom]")}
    ]
    (found,) = history(repository(tmp_path, PROJECT, *edits), "HEAD~1..HEAD").commits
    assert (found.plans, found.new, found.removed, found.changed) == (2, 0, 0, 1)
    assert found.loss.sessions > 0


def test_names_go_to_the_specs_that_have_most_in_common():
    before = {"a": b"1\n2\n3\n4\n", "b": b"5\n6\n7\n8\n", "kept": b"x"}
    assert renamed(before, {"c": b"5\n6\n7\n9\n", "d": b"1\n2\n3\n4\n", "kept": b"y"}) == {"a": "d", "b": "c"}
    assert renamed(before, {"c": b"1\n", "kept": b"x"}) == {}
    assert renamed(before, before | {"e": before["a"]}) == {}
    many = {str(number): b"%d\n" % number for number in range(100)}
    assert renamed(many, {f"n{name}": text for name, text in many.items()}) == {name: f"n{name}" for name in many}


def test_commits_that_do_not_compile_are_listed_and_the_next_one_bears_the_cost(tmp_path):
    broken = {"agents.d/a.yaml": f"{VLLM}bundles: [absent]\n", "bundles/seldom.md": f"New.\n{LONG}"}
    mended = {"agents.d/a.yaml": PROJECT["agents.d/a.yaml"]}
    found = history(repository(tmp_path, PROJECT, broken, mended), "HEAD~2..HEAD")
    (skipped,) = found.skipped
    assert skipped.commit.subject == "edit 1"
    assert skipped.fault == Fault(1, "AMX201", "there is no bundle `absent`", "agents.d/a.yaml", 2)
    (only,) = found.commits
    assert only.commit.subject == "edit 2"
    assert only.loss.sessions == lost(PROJECT, PROJECT | broken | mended) > 0


def test_a_range_before_which_nothing_compiles(tmp_path):
    broken = {"agents.d/a.yaml": "bundles: [absent]\n"}
    found = history(repository(tmp_path, broken, PROJECT), "HEAD~1..HEAD")
    assert (found.before, [each.new for each in found.commits], found.skipped) == (None, [2], ())


def test_a_shallow_clone_says_so(tmp_path):
    origin = repository(tmp_path / "origin", PROJECT, *({"bundles/often.md": f"{number}\n"} for number in range(4)))
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth", "3", origin.as_uri(), str(clone))
    for text in (None, "HEAD~2..HEAD"):
        found = history(clone, text)
        assert found.shallow
        assert [each.commit.subject for each in found.commits] == ["edit 3", "edit 4"]
        assert found.before.subject == "edit 2"


def test_a_project_below_the_top_of_its_repository(tmp_path):
    below = [
        {f"tools/agents/{path}": text for path, text in edit.items()} for edit in (PROJECT, {"bundles/often.md": "x\n"})
    ]
    repository(tmp_path, *below, {"bundles/often.md": "another\n"})
    root = tmp_path / "tools/agents"
    root.mkdir(parents=True)
    assert [each.commit.subject for each in history(root).commits] == ["edit 0", "edit 1"]


def test_a_second_look_compiles_nothing_and_finds_the_same(tmp_path, monkeypatch):
    edits = [PROJECT, {"bundles/often.md": f"Often.\n{LINE * 25}"}, {"agents.d/a.yaml": f"{VLLM}bundles: [absent]\n"}]
    first = history(repository(tmp_path, *edits), "HEAD~2..HEAD")
    monkeypatch.setattr("agentmux_compiler.prefix.history.replay.lower", None)
    monkeypatch.setattr("agentmux_compiler.revisions.outcomes.Recorded", None)
    assert history(tmp_path, "HEAD~2..HEAD") == first


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("absent", "there is no revision `absent`"),
        ("HEAD..absent", "bad revision 'HEAD..absent'"),
        ("--all", "there is no revision `--all`"),
        ("HEAD:agents.d", "there is no revision `HEAD:agents.d`"),
    ],
)
def test_no_such_range(tmp_path, text, message):
    repository(tmp_path, PROJECT)
    with pytest.raises(GitError, match=message):
        history(tmp_path, text)


def test_a_range_without_commits(tmp_path):
    found = history(repository(tmp_path, PROJECT), "HEAD..HEAD")
    assert (found.before, found.commits, found.skipped, found.loss) == (None, (), (), NOTHING)


def test_no_commit_no_repository_no_git(tmp_path, monkeypatch):
    git(tmp_path, "init", "--quiet")
    with pytest.raises(GitError, match="there is no revision `HEAD`"):
        history(tmp_path)
    shutil.rmtree(tmp_path / ".git")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(GitError, match="not a git repository"):
        history(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git is not installed"):
        history(tmp_path)


def test_a_commit_is_read_as_git_shows_it(tmp_path):
    stream = commit(0, {}, message="One\nline of two\n\nBody.", zone="-1100") + commit(
        1, {}, message="\n\nLate", zone="+1400"
    )
    import_commits(tmp_path, stream)
    with objects(tmp_path) as repository_:
        span = commits(tmp_path, repository_, "HEAD")
        found = [read(repository_, id_) for id_ in span.commits]
    shown = git(tmp_path, "log", "--format=%H %as %s").splitlines()
    assert [f"{each.id} {each.date} {each.subject}" for each in found] == shown
    assert [each.date for each in found] == ["2026-01-02", "2025-12-31"]
    assert (found[0].parent, found[1].parent, span.before) == (found[1].id, None, None)


def test_no_price_and_no_known_backend_are_counted(tmp_path):
    spec = "providers: {codex: {model: m, SERVER}}\nbundles: [often]\n"
    project = {
        "agents.d/a.yaml": spec.replace("SERVER", "backend: vllm"),
        "agents.d/b.yaml": spec.replace("SERVER", "base_url: https://nobody.example"),
        "bundles/often.md": LONG,
    }
    (found,) = history(repository(tmp_path, project, {"bundles/often.md": f"New.\n{LONG}"}), "HEAD~1..HEAD").commits
    assert (found.changed, found.loss.unknown, found.loss.unpriced) == (2, 1, 1)
    report = diff_all(plans(project), list(plans(project | {"bundles/often.md": f"New.\n{LONG}"}).values()), "x")
    known, other = report.plans
    assert found.loss.sessions == known.scenarios["new_prompt"].lost + other.text.tokens_total - other.text.tokens_kept


def test_another_model_loses_all_of_a_text_of_which_nobody_knows_more():
    spec = {"agents.d/a.yaml": "providers: {codex: {model: m, base_url: https://nobody.example}}\nsoul: Be brief.\n"}
    after = {"agents.d/a.yaml": spec["agents.d/a.yaml"].replace("model: m", "model: n")}
    (found,) = step(plans(spec), plans(after)).diffs
    assert loss_of(found).sessions == found.text.tokens_total > 0


def test_a_replay_puts_what_changes_often_behind_what_does_not(tmp_path):
    edits = [PROJECT, *({"bundles/often.md": f"Often.\n{LINE * count}"} for count in range(21, 26))]
    replay = history(repository(tmp_path, *edits)).replay
    assert replay.order.bundles == ("seldom", "often")
    assert replay.after.sessions < replay.before.sessions
    assert replay.once.sessions == lost(
        *(PROJECT | {"bundles/often.md": f"Often.\n{LINE * 25}"} | each for each in ({}, turned(PROJECT, replay.order)))
    )


def turned(project, order):
    """The specs of a project as somebody would write them in an order."""
    places = {name: place for place, name in enumerate(order.bundles)}
    changed = {}
    for path, text in project.items():
        head, found, listed = text.partition("bundles: [")
        if path.startswith("agents.d/") and found:
            names = sorted(listed.rstrip("]\n").split(", "), key=lambda name: places.get(name, len(places)))
            changed[path] = f"{head}bundles: [{', '.join(names)}]\n"
    if order.sections:
        changed["agents.d/_project.yaml"] = f"sections: [{', '.join(order.sections)}]\n"
    return changed


NAMES = ("x", "y", "z")
EDITS = st.one_of(
    st.builds(
        lambda name, count: {f"bundles/{name}.md": f"{name} {count}.\n" + LINE * count},
        st.sampled_from(NAMES),
        st.integers(1, 60),
    ),
    st.builds(
        lambda agent, soul, listed: {
            f"agents.d/{agent}.yaml": f"{VLLM}soul: You are {soul}.\nbundles: [{', '.join(listed)}]\n",
        },
        st.sampled_from("ab"),
        st.sampled_from(["kind", "exact"]),
        st.permutations(NAMES).flatmap(lambda all_: st.integers(1, 3).map(lambda count: all_[:count])),
    ),
)


@settings(max_examples=15)
@given(st.lists(EDITS, min_size=2, max_size=5))
def test_a_saving_is_what_the_same_commits_in_that_order_would_have_saved(edits):
    start = {f"bundles/{name}.md": f"{name}\n{LINE * 30}" for name in NAMES}
    start |= {f"agents.d/{agent}.yaml": f"{VLLM}soul: You are {agent}.\nbundles: [x, y, z]\n" for agent in "ab"}
    with TemporaryDirectory() as folder:
        found = history(repository(Path(folder) / "as-it-was", start, *edits), f"HEAD~{len(edits)}..HEAD")
        if found.replay is None:
            return
        assert found.replay.before == found.loss
        assert (found.loss.sessions - found.replay.after.sessions) * 100 >= found.loss.sessions > 0
        assert found.replay.after.tokens["relaunch"] <= found.loss.tokens["relaunch"]
        order = found.replay.order
        other = [each | turned(each, order) for each in (start, *edits)]
        again = history(repository(Path(folder) / "turned", *other), f"HEAD~{len(edits)}..HEAD")
        assert again.loss == found.replay.after


CLAUDE = "providers: {claude: {model: opus}}\ndelivery: file\nbundles: [often]\n"


def test_a_text_behind_the_last_breakpoint_is_moved_in_front_of_it(tmp_path):
    project = {"agents.d/a.yaml": CLAUDE, "bundles/often.md": LONG, "README.md": "x"}
    edits = [project, {"bundles/often.md": f"{LONG}More.\n"}, {"agents.d/b.yaml": "providers: {codex: {}}\nsoul: x\n"}]
    found = history(repository(tmp_path, *edits), "HEAD~2..HEAD")
    (move,) = found.moves
    assert (move.plans, move.delivery) == (("a/claude",), "file")
    states = [project, project | edits[1], project | edits[1] | edits[2]]
    flagged = [each | {"agents.d/a.yaml": CLAUDE.replace("file", "flag")} for each in states]
    for made, after, now in (
        (states, move.served_before, move.now_before),
        (flagged, move.served_after, move.now_after),
    ):
        served = [served_anew(before, later) for before, later in [*pairwise(made), (made[-1], made[-1])]]
        assert (sum(served[:-1]), served[-1]) == (after, now)
    assert move.now_after > move.now_before
    assert found.replay is None


def served_anew(before, after):
    (found,) = (plan for plan in diff_all(plans(before), list(plans(after).values()), "x").plans if plan.agent == "a")
    return found.scenarios["new_prompt"].reusable_after


def test_a_text_that_is_in_front_already_stays(tmp_path):
    project = {"agents.d/a.yaml": CLAUDE.replace("file", "flag"), "bundles/often.md": LONG}
    assert history(repository(tmp_path, project, {"bundles/often.md": f"{LONG}More.\n"})).moves == ()


def test_only_the_plans_asked_for_are_looked_at(tmp_path):
    edits = [PROJECT, {"bundles/seldom.md": f"New.\n{LONG}"}]
    found = history(repository(tmp_path, *edits), "HEAD~1..HEAD", lambda plan: plan.agent == "b")
    assert [(each.plans, each.changed) for each in found.commits] == [(1, 1)]


def test_rates_are_changes_over_tokens_of_plans_that_reuse_parts():
    before = plans(PROJECT | {"agents.d/c.yaml": CLAUDE})
    after = plans(PROJECT | {"agents.d/c.yaml": CLAUDE, "bundles/often.md": f"{LONG}x\n"})
    seen = rates([(before, after), (after, after)], ())
    assert sorted(seen.sections) == ["a/codex", "b/codex"]
    often, seldom = (seen.bundles[name] for name in ("often", "seldom"))
    assert (often.rate, seldom.rate, seldom.steps) == (0.5, 0.0, 4)
    assert seen.weight("often") == often.rate / often.size
    assert (seen.weight("seldom"), seen.weight("unheard-of")) == (0.0, 0.0)
    sections = ("bundles", "global-bundles", "soul", "instructions", "skills-index")
    assert seen.best_sections(sections) == ("global-bundles", "soul", "bundles", "instructions", "skills-index")


@pytest.mark.parametrize(
    ("segment", "name"),
    [
        ("bundles/style.md", "bundles/style.md"),
        ("bundles/style@reviewer+codex.md", "bundles/style.md"),
        ("agents/reviewer/soul+claude.md", "agents/reviewer/soul.md"),
        ("native/docs/a+b.md", "native/docs/a+b.md"),
        ("model", "model"),
    ],
)
def test_a_segment_is_named_by_its_source(segment, name):
    assert source_name(segment) == name

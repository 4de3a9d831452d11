"""The baseline: what it looks like, that it reads back, and what a damaged one says."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowered import Lowered, OutputFile, PlanPrefix, PrefixSegment
from agentmux_compiler.pipeline import BuildOptions, build
from agentmux_compiler.segment import Text
from agentmux_compiler.snapshots import Baseline, read, snapshot_files
from agentmux_compiler.tree import MemoryTree
from agentmux_compiler.writing.header import HEADER

HELP = "run `agentmux build --accept` to write it anew from the sources"
PLAN_PATH = "snapshots/plans/reviewer/claude.toml"


def own(name, text, layer="instructions"):
    lines = tuple(range(1, text.count("\n") + 1))
    return PrefixSegment(layer, name, Text(text, f"snapshots/segments/{name}", lines), len(text.encode()))


TOOLS = PrefixSegment("tools", "claude 2.1.332/tools", None, 31_188)
STYLE = own("bundles/style.md", "# Style\n\nShort.\n")
SAFETY = own("bundles/safety.md", "# Safety\n\nNo secrets.\n")

PLAN = PlanPrefix(
    agent="reviewer",
    provider="claude",
    vendor="",
    backend="",
    model="opus",
    effort="high",
    permission="ask",
    delivery="flag",
    cwd=".",
    cli_version="2.1.332",
    argv=("claude", "-p", 'say "hi" \\ \x7f', "--effort", "high"),
    env=("LOG_LEVEL",),
    segments=(TOOLS, STYLE, SAFETY),
)
FILE = """\
cli_version = "2.1.332"
model = "opus"
effort = "high"
permission = "ask"
delivery = "flag"
cwd = "."
argv = [
  "claude",
  "-p",
  "say \\"hi\\" \\\\ \\u007f",
  "--effort",
  "high",
]
env = [
  "LOG_LEVEL",
]
segments = [
  "tools (claude 2.1.332/tools)",
  "instructions bundles/style.md",
  "instructions bundles/safety.md",
]
"""


def lowered(prefix, *files):
    return Lowered(files, None, prefix, ())


def written(*plans, folder="snapshots"):
    """A tree that holds the baseline of these plans."""
    return {f"{folder}/{path}": data for path, data in snapshot_files([lowered(plan) for plan in plans]).items()}


def output(path, content, *, committed=True):
    return OutputFile(
        path, content, committed=committed, at=Span("agents.d/reviewer.yaml"), owners=("reviewer/claude",)
    )


def test_a_baseline_is_a_file_per_segment_and_a_list_per_plan():
    other = replace(PLAN, agent="tester", model=None, effort=None, argv=(), env=(), segments=(SAFETY,))
    assert snapshot_files([lowered(PLAN), lowered(other)]) == {
        "plans/reviewer/claude.toml": FILE.encode(),
        "plans/tester/claude.toml": (
            b'cli_version = "2.1.332"\npermission = "ask"\ndelivery = "flag"\ncwd = "."\n'
            b'argv = []\nenv = []\nsegments = [\n  "instructions bundles/safety.md",\n]\n'
        ),
        "segments/bundles/safety.md": b"# Safety\n\nNo secrets.\n",
        "segments/bundles/style.md": b"# Style\n\nShort.\n",
    }


def test_only_committed_outputs_that_no_segments_make_up_are_kept_whole():
    plan = replace(PLAN, segments=(TOOLS, replace(STYLE, file="CLAUDE.md")))
    kept = {
        ".claude/skills/release/SKILL.md": b"---\nname: release\n---\n\xff",
        "GEMINI.md": STYLE.text.encode(),
        "web/CLAUDE.md": f"{HEADER}\n\n# Web\n".encode(),
    }
    files = (
        output("CLAUDE.md", f"{HEADER}\n\n{STYLE.text}".encode()),
        *(output(path, content) for path, content in kept.items()),
        output(".agentmux/agents/reviewer/claude/mcp.json", b"{}\n", committed=False),
    )
    found = snapshot_files([lowered(plan, *files)])
    assert {path: data for path, data in found.items() if path.startswith("files/")} == {
        f"files/{path}": content for path, content in kept.items()
    }
    tree = MemoryTree({f"snapshots/{path}": data for path, data in found.items()})
    assert read(tree, "snapshots", [plan])[0].files == kept


def test_a_swap_is_two_swapped_lines_and_an_effort_one_line():
    before = FILE.splitlines()
    swapped = written(replace(PLAN, segments=(TOOLS, SAFETY, STYLE)))[PLAN_PATH].decode().splitlines()
    assert swapped == [*before[:18], before[19], before[18], *before[20:]]
    lower = written(replace(PLAN, effort="low"))
    assert lower[PLAN_PATH].decode() == FILE.replace('effort = "high"', 'effort = "low"')
    assert {path: data for path, data in lower.items() if path != PLAN_PATH} == {
        path: data for path, data in written(PLAN).items() if path != PLAN_PATH
    }


def test_two_texts_of_one_name_are_our_own_mistake():
    other = replace(PLAN, agent="tester", segments=(own("bundles/style.md", "other\n"),))
    with pytest.raises(
        ValueError, match=r"segment `bundles/style.md` has another text in `tester/claude` than elsewhere"
    ):
        snapshot_files([lowered(PLAN), lowered(other)])


def test_no_folder_is_an_empty_baseline():
    assert read(MemoryTree({"README.md": b"x"}), "snapshots") == (Baseline({}, {}), [])


def test_opaque_sizes_come_from_the_plans_at_hand_also_for_another_version():
    tree = MemoryTree(written(replace(PLAN, segments=(TOOLS, replace(TOOLS, name="claude 2.1.332/gone")))))
    current = replace(PLAN, segments=(PrefixSegment("tools", "claude 2.2.0/tools", None, 32_000),))
    (found,) = read(tree, "snapshots", [current])[0].plans.values()
    assert [item.size for item in found.segments] == [32_000, 1]


def test_line_ends_of_a_checkout_are_no_change():
    tree = MemoryTree({path: data.replace(b"\n", b"\r\n") for path, data in written(PLAN).items()})
    assert read(tree, "snapshots", [PLAN]) == (Baseline({PLAN.key: PLAN}, {}), [])


def test_placeholders_stay_and_are_known_again():
    text = "Today is {{DATE}}, here is {{WORKING_DIR}}, then {{DATE}} and {{ other }}.\n"
    plan = replace(PLAN, segments=(replace(own("bundles/when.md", text), volatile=("DATE", "WORKING_DIR")),))
    assert written(plan)["snapshots/segments/bundles/when.md"] == text.encode()
    assert read(MemoryTree(written(plan)), "snapshots", [plan])[0].plans == {plan.key: plan}


CONFLICT = '<<<<<<< HEAD\n  "instructions bundles/safety.md",\n=======\n>>>>>>> other\n'

DAMAGED = {
    "conflict in a plan": (
        {PLAN_PATH: FILE.replace('  "instructions bundles/style.md",\n', CONFLICT).encode()},
        Span(PLAN_PATH, 19),
        f"`{PLAN_PATH}` holds a merge conflict",
    ),
    "conflict in a segment": (
        {"snapshots/segments/bundles/style.md": f"# Style\n{CONFLICT}".encode()},
        Span("snapshots/segments/bundles/style.md", 2),
        "`snapshots/segments/bundles/style.md` holds a merge conflict",
    ),
    "cut off": (
        {PLAN_PATH: FILE[:120].encode()},
        Span(PLAN_PATH, 8),
        f"`{PLAN_PATH}` is not TOML",
    ),
    "not TOML": (
        {PLAN_PATH: FILE.replace('"ask"', "ask").encode()},
        Span(PLAN_PATH, 4, 14),
        f"`{PLAN_PATH}` is not TOML",
    ),
    "not UTF-8": (
        {PLAN_PATH: FILE.replace("opus", "\udcff").encode("utf-8", "surrogateescape")},
        Span(PLAN_PATH, 2),
        f"`{PLAN_PATH}` is not UTF-8",
    ),
    "a field is missing": (
        {PLAN_PATH: FILE.replace('cwd = "."\n', "").encode()},
        Span(PLAN_PATH),
        f"`{PLAN_PATH}` is not the list of a plan: `cwd` is missing",
    ),
    "a field of another type": (
        {PLAN_PATH: FILE.replace('cwd = "."', "cwd = 1").encode()},
        Span(PLAN_PATH),
        f"`{PLAN_PATH}` is not the list of a plan: `cwd` is no string",
    ),
    "a list of another type": (
        {PLAN_PATH: FILE.replace('  "LOG_LEVEL"', "  1").encode()},
        Span(PLAN_PATH),
        f"`{PLAN_PATH}` is not the list of a plan: `env` is no list of strings",
    ),
    "an entry without a layer": (
        {PLAN_PATH: FILE.replace("instructions bundles/style.md", "bundles/style.md").encode()},
        Span(PLAN_PATH),
        f"`{PLAN_PATH}` is not the list of a plan: `bundles/style.md` names no layer and segment",
    ),
    "a segment is missing": (
        {"snapshots/segments/bundles/safety.md": None},
        Span(PLAN_PATH, 20),
        f"`{PLAN_PATH}` lists segment `bundles/safety.md`, which is not there as UTF-8",
    ),
    "a segment is not UTF-8": (
        {"snapshots/segments/bundles/safety.md": b"\xff"},
        Span("snapshots/segments/bundles/safety.md"),
        "`snapshots/segments/bundles/safety.md` is not UTF-8",
    ),
    "a segment outside the folder": (
        {PLAN_PATH: FILE.replace("bundles/style.md", "../../../etc/passwd").encode()},
        Span(PLAN_PATH, 19),
        f"`{PLAN_PATH}` lists segment `../../../etc/passwd`, which is not there as UTF-8",
    ),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damage_is_said_with_its_place_and_the_command_that_redoes_it(case):
    changed, span, message = DAMAGED[case]
    files = {**written(PLAN, replace(PLAN, provider="codex", segments=())), **changed}
    tree = MemoryTree({path: data for path, data in files.items() if data is not None})
    baseline, found = read(tree, "snapshots", [PLAN])
    assert [(item.code, item.span, item.message, item.help) for item in found] == [("AMX509", span, message, HELP)]
    assert list(baseline.plans) == ["reviewer/codex"]


def test_a_segment_that_quotes_a_merge_conflict_is_no_damage():
    plan = replace(PLAN, segments=(own("bundles/merging.md", f"# Merging\n\n{CONFLICT}\n"),))
    edited = replace(PLAN, segments=(own("bundles/merging.md", f"# Merging\n\nAs in:\n{CONFLICT}\n"),))
    assert read(MemoryTree(written(plan)), "snapshots", [edited]) == (Baseline({plan.key: plan}, {}), [])


NAMES = st.text("abcXYZ-09", min_size=1, max_size=6)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
BODIES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=30).map(
    lambda text: text.replace("{{", "") + "\n"
)
SEGMENTS = st.lists(
    st.one_of(
        st.tuples(NAMES.map("bundles/{}.md".format), BODIES).map(lambda pair: own(*pair)),
        st.tuples(NAMES.map("bundles/ -> {}".format), BODIES).map(lambda pair: replace(own(*pair), file="CLAUDE.md")),
        NAMES.map(lambda name: PrefixSegment("tools", f"claude 1/{name} part", None, len(name))),
    ),
    max_size=6,
    unique_by=lambda item: item.name,
)
PLANS = st.builds(
    lambda segments, argv, env, model, effort, cwd: replace(
        PLAN, segments=tuple(segments), argv=tuple(argv), env=tuple(env), model=model, effort=effort, cwd=cwd
    ),
    SEGMENTS,
    st.lists(WORDS, max_size=4),
    st.lists(WORDS, max_size=3),
    st.none() | WORDS,
    st.none() | WORDS,
    WORDS,
)


@given(PLANS)
def test_a_baseline_reads_back_as_it_was_written(plan):
    assert read(MemoryTree(written(plan)), "snapshots", [plan]) == (Baseline({plan.key: plan}, {}), [])


@given(PLANS)
def test_a_plan_is_toml_of_one_line_per_item(plan):
    text = written(plan)[PLAN_PATH].decode()
    table = tomllib.loads(text)
    assert (tuple(table["argv"]), tuple(table["env"]), table["cwd"]) == (plan.argv, plan.env, plan.cwd)
    items = (plan.argv, plan.env, plan.segments)
    scalars = 6 - [plan.model, plan.effort].count(None)
    assert text.count("\n") == scalars + sum(len(each) + 2 if each else 1 for each in items)


@given(st.binary(max_size=200))
def test_no_bytes_of_a_plan_are_a_crash(data):
    baseline, found = read(MemoryTree({PLAN_PATH: data}), "snapshots")
    assert (len(baseline.plans), [item.code for item in found]) == (0, ["AMX509"])


@given(st.integers(0, len(FILE)), st.text(max_size=8))
def test_no_edit_of_a_plan_is_a_crash(place, inserted):
    data = (FILE[:place] + inserted + FILE[place:]).encode("utf-8", "surrogateescape")
    baseline, found = read(MemoryTree({**written(PLAN), PLAN_PATH: data}), "snapshots")
    assert len(baseline.plans) + len(found) >= 1


SMALL = {
    "agents.d/main.yaml": "providers: {claude: {}}\nbundles: [style]\n",
    "bundles/style.md": "Be brief.\n",
}


def test_a_foreign_file_where_a_snapshot_should_go_stays(write_project):
    root = write_project({**SMALL, "snapshots/segments/bundles/style.md": "mine\n"})
    report = build(root, BuildOptions(accept=True))
    assert [item.message for item in report.diagnostics if item.code == "AMX601"] == [
        "`snapshots/segments/bundles/style.md` was not written by agentmux and stands where snapshots should go"
    ]
    assert (root / "snapshots/segments/bundles/style.md").read_bytes() == b"mine\n"


def test_what_accepting_would_refuse_is_said_as_such_by_a_check(write_project):
    root = write_project(SMALL)
    build(root, BuildOptions(accept=True))
    (root / "snapshots/segments/notes.md").write_bytes(b"mine\n")
    checked = build(root, BuildOptions(check=True))
    accepted = build(root, BuildOptions(accept=True))
    assert [item.code for item in checked.diagnostics] == [item.code for item in accepted.diagnostics] == ["AMX601"]

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler import rules
from agentmux_compiler.adopt import Adoption, Workshop, adopt
from agentmux_compiler.assemble import render
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.emit import manifest_of, plan_writes
from agentmux_compiler.lowered import OutputFile, PlanPrefix, PrefixSegment
from agentmux_compiler.segment import Kind, Segment, Text
from agentmux_compiler.tree import DiskTree, MemoryTree
from agentmux_compiler.trees.overlay import OverlayTree
from agentmux_compiler.writing.baseline_outputs import baseline_outputs
from agentmux_compiler.writing.header import HEADER
from agentmux_compiler.writing.journal import known
from agentmux_compiler.writing.writes import apply, write_sources

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux_compiler.tree import Tree

SPEC = """\
# The main agent.
providers: {claude: {}, codex: {}}
instructions: |
  # Reviewing

  Review the diff,
    not the author.
bundles: [style, secrets]  # order is meaning
"""
STYLE = """\
---
title: House style
---
Be brief.

- One idea a line.
"""
SECRETS = "Never log a secret.\nTell {{AGENT}} first.\n"
SOURCES = {"agents.d/main.yaml": SPEC, "bundles/style.md": STYLE, "bundles/secrets.md": SECRETS}
BUILT = f"""\
{HEADER}

# Reviewing

Review the diff,
  not the author.

# House style

Be brief.

- One idea a line.

Never log a secret.
Tell Main first.
"""
AT = Span("agents.d/main.yaml", 2, 1)


def compile_outputs(tree: Tree):
    """A compiler in miniature: instructions as a literal block, bundles in a list of one line or of many."""
    outputs: list[OutputFile] = []
    for name in tree.names("agents.d"):
        spec = (tree.read(f"agents.d/{name}") or b"").decode().replace("\r\n", "\n")
        if "..." in spec and "extends:" not in spec:
            return [], [rules.NOTHING_TO_INHERIT.at(Span(f"agents.d/{name}"), "nothing to inherit")]
        workdir = re.search(r"^workdir: (.*)$", spec, re.MULTILINE)
        folder = f"{workdir[1]}/" if workdir else ""
        segments = [*instructions(f"agents.d/{name}", spec), *(bundle(tree, each) for each in listed(spec))]
        content, lines = render(segments, header=True)
        files = {"claude": "CLAUDE.md", "codex": "AGENTS.md"}
        agent = name.removesuffix(".yaml")
        outputs += [
            OutputFile(folder + file, content, True, AT, (f"{agent}/{provider}",), lines)
            for provider, file in files.items()
            if re.search(rf"\b{provider}: ", spec)
        ]
    return outputs, []


def instructions(path: str, spec: str):
    lines = spec.split("\n")
    starts = [number for number, line in enumerate(lines) if line == "instructions: |"]
    for start in starts:
        end = next(
            (at for at in range(start + 1, len(lines)) if lines[at] and not lines[at].startswith(" ")), len(lines)
        )
        text = "\n".join(line[2:] for line in lines[start + 1 : end]).rstrip("\n")
        if text.strip():
            numbers = tuple(range(start + 2, start + 3 + text.count("\n")))
            yield Segment("agents/main/instructions.md", Kind.INSTRUCTIONS, Text(text + "\n", path, numbers), AT)


def listed(spec: str) -> list[str]:
    flow = re.search(r"^bundles: \[(.*)\]", spec, re.MULTILINE)
    names = flow[1].split(", ") if flow and flow[1] else re.findall(r"^ *- (\S+)", spec, re.MULTILINE)
    return [name for name in names if name != "..."]


def bundle(tree: Tree, name: str) -> Segment:
    path = next(path for path in (f"bundles/{name}.md", f"bundles/{name}.md.j2") if tree.read(path) is not None)
    text = (tree.read(path) or b"").decode("utf-8-sig").replace("\r\n", "\n").replace("{{AGENT}}", "Main")
    numbers = list(range(1, text.count("\n") + 2))
    front = re.match(r"---\n(?:title: (.*)\n)?---\n", text)
    if front:
        text, numbers = text[front.end() :], numbers[front[0].count("\n") :]
    body = text.rstrip("\n") + "\n"
    numbers = numbers[: body.count("\n")]
    if front and front[1]:
        body, numbers = f"# {front[1]}\n\n{body}", [1, 1, *numbers]
    return Segment(f"bundles/{name}.md", Kind.BUNDLE, Text(body, path, tuple(numbers)), AT)


def project(root: Path, sources: dict[str, str] | None = None) -> Path:
    for path, text in (sources or SOURCES).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


def build(root: Path, baseline: dict[str, bytes] | None = None):
    outputs, _ = compile_outputs(DiskTree(root))
    manifest, _ = known(root)
    plan, found = plan_writes(outputs, manifest, baseline or {}, DiskTree(root))
    done = apply(root, plan, manifest_of(plan.outputs, (), "1", carried=plan.carried, folders=plan.folders))
    return [item.code for item in (*found, *done.diagnostics)]


def workshop(root: Path, baseline: dict[str, bytes] | None = None) -> Workshop:
    readers = {"CLAUDE.md": "claude", "AGENTS.md": "codex"}
    return Workshop(DiskTree(root), compile_outputs, known(root)[0], baseline or {}, readers)


def carry_out(root: Path, path: str, **options):
    """Adopt and write, and give the sources that changed with every diagnostic."""
    shop = workshop(root)
    adoption, found = adopt(path, shop, **options)
    assert write_sources(root, adoption.files, shop.tree, adoption.claimed) == []
    return {name: data.decode() for name, data in adoption.files.items()}, found


def edit(root: Path, old: str, new: str, path: str = "CLAUDE.md") -> str:
    before = (root / path).read_bytes().decode()
    assert before.count(old) == 1
    after = before.replace(old, new)
    (root / path).write_bytes(after.encode())
    return after


def test_the_miniature_builds_what_is_expected(tmp_path):
    assert build(project(tmp_path)) == []
    assert (tmp_path / "CLAUDE.md").read_bytes().decode() == BUILT


@pytest.mark.parametrize(
    ("old", "new", "source", "expected"),
    [
        ("Be brief.", "Be very brief.", "bundles/style.md", STYLE.replace("Be brief.", "Be very brief.")),
        ("- One idea a line.\n", "- One idea a line.\n- No jargon.\n", "bundles/style.md", STYLE + "- No jargon.\n"),
        ("Be brief.\n\n", "", "bundles/style.md", STYLE.replace("Be brief.\n\n", "")),
        ("Never log", "Never ever log", "bundles/secrets.md", SECRETS.replace("Never log", "Never ever log")),
        ("\nNever log", "\nFirst.\nNever log", "bundles/secrets.md", "First.\n" + SECRETS),
        ("\n\nNever log", "\n\nNew paragraph.\n\nNever log", "bundles/style.md", STYLE + "\nNew paragraph.\n"),
        ("Tell Main first.\n", "Tell Main first.\nAnd last.\n", "bundles/secrets.md", SECRETS + "And last.\n"),
        (
            "diff,\n  not",
            "diff,\n\n  and not",
            "agents.d/main.yaml",
            SPEC.replace("diff,\n    not", "diff,\n\n    and not"),
        ),
        (
            "# Reviewing\n",
            "# Reviewing\n\nSlowly.\n",
            "agents.d/main.yaml",
            SPEC.replace("  # Reviewing\n", "  # Reviewing\n\n  Slowly.\n"),
        ),
        ("# Reviewing\n\n", "", "agents.d/main.yaml", SPEC.replace("  # Reviewing\n\n", "")),
        (
            f"{HEADER}\n\n",
            f"{HEADER}\n\nIntro.\n\n",
            "agents.d/main.yaml",
            SPEC.replace("  # Rev", "  Intro.\n\n  # Rev"),
        ),
    ],
)
def test_an_edit_goes_back_to_its_source_and_the_next_build_has_no_question(tmp_path, old, new, source, expected):
    build(project(tmp_path))
    edited = edit(tmp_path, old, new)
    assert build(tmp_path) == ["AMX602"]
    changed, found = carry_out(tmp_path, "CLAUDE.md")
    assert (changed, found) == ({source: expected}, [])
    assert build(tmp_path) == []
    assert (tmp_path / "CLAUDE.md").read_bytes().decode() == edited
    assert (tmp_path / "AGENTS.md").read_bytes().decode() == edited


def test_edits_of_several_sources_go_back_together(tmp_path):
    build(project(tmp_path))
    edit(tmp_path, "Review the diff,", "Review the whole diff,")
    edit(tmp_path, "Be brief.", "Be kind.")
    edit(tmp_path, "Never log a secret.\n", "Never log a secret.\nNor a name.\n")
    changed, found = carry_out(tmp_path, "CLAUDE.md")
    assert found == []
    assert changed == {
        "agents.d/main.yaml": SPEC.replace("the diff", "the whole diff"),
        "bundles/secrets.md": SECRETS.replace("secret.\n", "secret.\nNor a name.\n"),
        "bundles/style.md": STYLE.replace("brief", "kind"),
    }
    assert build(tmp_path) == []


def test_a_source_keeps_its_line_ends_and_its_byte_order_mark(tmp_path):
    sources = {**SOURCES, "bundles/secrets.md": "\ufeff" + SECRETS.replace("\n", "\r\n")}
    build(project(tmp_path, sources))
    edit(tmp_path, "Never log a secret.\n", "Never log a key.\nNor a name.\n")
    changed, found = carry_out(tmp_path, "CLAUDE.md")
    assert found == []
    assert changed == {"bundles/secrets.md": "\ufeffNever log a key.\r\nNor a name.\r\nTell {{AGENT}} first.\r\n"}


def test_what_an_editor_did_to_line_ends_is_put_right(tmp_path):
    build(project(tmp_path))
    edited = edit(tmp_path, "Be brief.", "Be kind.")
    (tmp_path / "CLAUDE.md").write_bytes(b"\xef\xbb\xbf" + edited.rstrip("\n").replace("\n", "\r\n").encode())
    changed, found = carry_out(tmp_path, "CLAUDE.md")
    assert found == []
    assert list(changed) == ["bundles/style.md", "CLAUDE.md"]
    assert changed["CLAUDE.md"] == edited
    assert build(tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        (HEADER, "<!-- mine -->", 1, "the header is the same in every output"),
        ("# House style", "# Style", 8, "`bundles/style.md` has other text there"),
        ("Tell Main first.", "Tell Main last.", 15, "`bundles/secrets.md` has a placeholder there"),
    ],
)
def test_what_cannot_be_placed_is_said_with_its_line_and_nothing_is_written(tmp_path, old, new, line, reason):
    build(project(tmp_path))
    edit(tmp_path, old, new)
    edit(tmp_path, "Be brief.", "Be kind.")
    adoption, found = adopt("CLAUDE.md", workshop(tmp_path))
    assert adoption == Adoption()
    assert [(item.code, item.span, item.message) for item in found] == [
        ("AMX608", Span("CLAUDE.md", line), f"this edit cannot be carried back: {reason}")
    ]


def test_a_template_is_never_changed(tmp_path):
    sources = {**SOURCES, "bundles/secrets.md.j2": SECRETS}
    del sources["bundles/secrets.md"]
    build(project(tmp_path, sources))
    edit(tmp_path, "Never log a secret.", "Log nothing.")
    adoption, found = adopt("CLAUDE.md", workshop(tmp_path))
    assert adoption == Adoption()
    assert [item.message for item in found] == [
        "this edit cannot be carried back: `bundles/secrets.md.j2` is a template"
    ]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("Be brief.\n", "Be brief.\n{{AGENT}}\n", 11),
        ("- One idea a line.\n", "- One idea a line.\n\n", 14),
    ],
)
def test_an_edit_that_a_build_would_not_give_back_is_refused(tmp_path, old, new, line):
    build(project(tmp_path))
    edit(tmp_path, old, new)
    adoption, found = adopt("CLAUDE.md", workshop(tmp_path))
    assert adoption == Adoption()
    assert [(item.code, item.span) for item in found] == [("AMX608", Span("CLAUDE.md", line))]


def test_partial_places_what_can_be_placed(tmp_path):
    build(project(tmp_path))
    edit(tmp_path, "Tell Main first.", "Tell Main last.")
    edit(tmp_path, "Be brief.", "Be kind.")
    changed, found = carry_out(tmp_path, "CLAUDE.md", partial=True)
    assert changed == {"bundles/style.md": STYLE.replace("brief", "kind")}
    assert [item.code for item in found] == ["AMX608"]
    assert "last" in (tmp_path / "CLAUDE.md").read_bytes().decode()


def test_a_merge_conflict_is_not_carried_back(tmp_path):
    build(project(tmp_path))
    edit(tmp_path, "Be brief.\n", "<<<<<<< ours\nBe brief.\n=======\nBe long.\n>>>>>>> theirs\n")
    adoption, found = adopt("CLAUDE.md", workshop(tmp_path))
    assert adoption == Adoption()
    assert [item.message for item in found] == ["`CLAUDE.md` cannot be adopted: it holds a merge conflict"]


def test_sources_that_changed_since_the_build_are_not_overwritten(tmp_path):
    build(project(tmp_path))
    edit(tmp_path, "Be brief.", "Be kind.")
    (tmp_path / "bundles/style.md").write_bytes(STYLE.replace("- One", "- Only one").encode())
    adoption, found = adopt("CLAUDE.md", workshop(tmp_path))
    assert adoption == Adoption()
    assert [item.code for item in found] == ["AMX610"]


def test_a_fresh_clone_carries_an_edit_back_by_the_baseline(tmp_path):
    project(tmp_path)
    (tmp_path / "CLAUDE.md").write_bytes(BUILT.replace("brief", "kind").encode())
    assert [item.code for item in adopt("CLAUDE.md", workshop(tmp_path))[1]] == ["AMX610"]
    adoption, found = adopt("CLAUDE.md", workshop(tmp_path, {"CLAUDE.md": BUILT.encode()}))
    assert found == []
    assert adoption.files == {"bundles/style.md": STYLE.replace("brief", "kind").encode()}


def test_an_adopted_edit_stays_ours_when_a_source_changes_before_the_next_build(tmp_path):
    build(project(tmp_path))
    edit(tmp_path, "Be brief.", "Be kind.")
    carry_out(tmp_path, "CLAUDE.md")
    (tmp_path / "bundles/secrets.md").write_bytes(b"Tell nobody.\n")
    assert build(tmp_path) == []


def test_a_source_saved_in_between_is_not_overwritten(tmp_path):
    build(project(tmp_path))
    edit(tmp_path, "Be brief.", "Be kind.")
    shop = workshop(tmp_path)
    adoption, _ = adopt("CLAUDE.md", shop)
    (tmp_path / "bundles/style.md").write_bytes(b"Saved in between.\n")
    assert [item.code for item in write_sources(tmp_path, adoption.files, shop.tree)] == ["AMX607"]
    assert (tmp_path / "bundles/style.md").read_bytes() == b"Saved in between.\n"


MINE = "# Mine\n\nUse tabs.\n\n```\n${{ secrets.X }}\n```\n"


def test_a_hand_written_file_becomes_a_bundle_of_the_agent_that_writes_its_path(tmp_path):
    project(tmp_path)
    (tmp_path / "CLAUDE.md").write_bytes(MINE.encode())
    assert build(tmp_path) == ["AMX601"]
    changed, found = carry_out(tmp_path, "CLAUDE.md")
    assert found == []
    assert list(changed) == ["bundles/project.md", "agents.d/main.yaml", "CLAUDE.md"]
    assert changed["bundles/project.md"] == MINE
    assert changed["agents.d/main.yaml"] == SPEC.replace("secrets]", "secrets, project]")
    assert changed["CLAUDE.md"] == BUILT + "\n" + MINE
    assert build(tmp_path) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("bundles: []\n", "bundles: [project]\n"),
        ("bundles:\n  - style\n  # why\n", "bundles:\n  - style\n  - project\n  # why\n"),
        (
            "bundles:\n- style\n- secrets\npermission: ask\n",
            "bundles:\n- style\n- secrets\n- project\npermission: ask\n",
        ),
        ("bundles:\r\n  - style\r\n", "bundles:\r\n  - style\r\n  - project\r\n"),
        ("permission: plan", "permission: plan\nbundles: [project]\n"),
        ("extends: base\n", "extends: base\nbundles: [..., project]\n"),
    ],
)
def test_a_bundle_is_added_to_the_list_as_it_is_written(tmp_path, before, after):
    top = "providers: {claude: {}}\n"
    project(tmp_path, {**SOURCES, "agents.d/main.yaml": top + before})
    (tmp_path / "CLAUDE.md").write_bytes(MINE.encode())
    changed, found = carry_out(tmp_path, "CLAUDE.md")
    assert found == []
    newline = "\r\n" if "\r" in after else "\n"
    assert changed["agents.d/main.yaml"] == top.replace("\n", newline) + after


def test_a_list_that_no_line_can_be_added_to_is_left_alone(tmp_path):
    spec = "providers: {claude: {}}\nbundles: [\n  style,\n]\n"
    project(tmp_path, {**SOURCES, "agents.d/main.yaml": spec})
    (tmp_path / "CLAUDE.md").write_bytes(MINE.encode())
    adoption, found = adopt("CLAUDE.md", workshop(tmp_path))
    assert adoption == Adoption()
    assert [item.code for item in found] == ["AMX609"]


@pytest.mark.parametrize(
    ("path", "agent", "spec", "bundle"),
    [
        ("CLAUDE.md", "main", "providers:\n  claude: {}\ndelivery: file\nbundles: [project]\n", "project"),
        ("AGENTS.md", "main", "providers:\n  codex: {}\ndelivery: file\nbundles: [project]\n", "project"),
        (
            "apps/web/CLAUDE.md",
            "apps-web",
            "providers:\n  claude: {}\ndelivery: file\nworkdir: apps/web\nbundles: [apps-web]\n",
            "apps-web",
        ),
    ],
)
def test_a_hand_written_file_that_no_agent_writes_gets_an_agent(tmp_path, path, agent, spec, bundle):
    project(tmp_path, {path: MINE})
    changed, found = carry_out(tmp_path, path)
    assert found == []
    assert changed == {
        f"bundles/{bundle}.md": MINE,
        f"agents.d/{agent}.yaml": spec,
        path: f"{HEADER}\n\n{MINE}",
    }
    assert build(tmp_path) == []


def test_names_that_are_taken_are_left_alone(tmp_path):
    project(
        tmp_path, {"CLAUDE.md": MINE, "agents.d/main.yaml": "providers: {codex: {}}\n", "bundles/project.md": "x\n"}
    )
    changed, found = carry_out(tmp_path, "CLAUDE.md")
    assert found == []
    assert sorted(changed) == ["CLAUDE.md", "agents.d/main-2.yaml", "bundles/project-2.md"]


def test_a_second_file_with_the_same_bytes_shares_the_bundle(tmp_path):
    project(tmp_path, {"CLAUDE.md": MINE, "AGENTS.md": MINE})
    carry_out(tmp_path, "CLAUDE.md")
    changed, found = carry_out(tmp_path, "AGENTS.md")
    assert found == []
    assert sorted(changed) == ["AGENTS.md", "agents.d/main-2.yaml", "bundles/project.md"]
    assert build(tmp_path) == []


def test_a_file_that_begins_like_front_matter_keeps_it_as_text(tmp_path):
    text = "---\npaths: src\n---\n\nText.\n"
    project(tmp_path, {"CLAUDE.md": text})
    changed, found = carry_out(tmp_path, "CLAUDE.md")
    assert found == []
    assert changed["bundles/project.md"] == "---\n---\n" + text
    assert changed["CLAUDE.md"] == f"{HEADER}\n\n{text}"


def test_a_file_whose_text_a_build_would_change_is_left_alone(tmp_path):
    project(tmp_path, {"CLAUDE.md": "I am {{AGENT}}.\n"})
    adoption, found = adopt("CLAUDE.md", workshop(tmp_path))
    assert adoption == Adoption()
    assert [(item.code, item.message) for item in found] == [
        ("AMX609", "`CLAUDE.md` cannot be adopted: a build with its text as a bundle would not give the text back")
    ]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("nowhere.md", "there is no such file"),
        ("README.md", "it is none of `AGENTS.md`, `CLAUDE.md`, and no skill"),
        ("AGENTS.md", "it has no edit in it"),
        ("docs", "it holds no `SKILL.md`"),
        ("link/CLAUDE.md", "`link` is a link"),
        ("docs/CLAUDE.md", "it is no regular file"),
        ("latin/CLAUDE.md", "it is not UTF-8"),
        ("skills/notes", "it is a source already"),
    ],
)
def test_what_is_no_source_and_no_edit_is_refused(tmp_path, path, reason):
    build(project(tmp_path, {**SOURCES, "README.md": "x\n", "docs/a.md": "x\n", "skills/notes/SKILL.md": "x\n"}))
    (tmp_path / "link").symlink_to("docs", target_is_directory=True)
    (tmp_path / "docs/CLAUDE.md").symlink_to("a.md")
    (tmp_path / "latin").mkdir()
    (tmp_path / "latin/CLAUDE.md").write_bytes(b"caf\xe9\n")
    adoption, found = adopt(path, workshop(tmp_path))
    assert adoption == Adoption()
    assert [(item.code, item.message) for item in found] == [("AMX609", f"`{path}` cannot be adopted: {reason}")]


@pytest.mark.parametrize("path", [".claude/skills/notes", ".claude/skills/notes/SKILL.md"])
def test_a_skill_is_taken_in_with_all_its_files(tmp_path, path):
    project(tmp_path)
    folder = tmp_path / ".claude/skills/notes"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(b"---\nname: notes\n---\n")
    (folder / "scripts/run").write_bytes(b"\x00\xff")
    adoption, found = adopt(path, workshop(tmp_path))
    assert found == []
    assert adoption == Adoption(
        {"skills/notes/SKILL.md": b"---\nname: notes\n---\n", "skills/notes/scripts/run": b"\x00\xff"}
    )
    assert (folder / "SKILL.md").exists()


def test_a_skill_whose_name_is_taken_is_left_alone(tmp_path):
    project(tmp_path, {**SOURCES, "skills/notes/SKILL.md": "x\n", ".claude/skills/notes/SKILL.md": "y\n"})
    adoption, found = adopt(".claude/skills/notes", workshop(tmp_path))
    assert adoption == Adoption()
    assert [item.message for item in found] == [
        "`.claude/skills/notes` cannot be adopted: there is a skill `skills/notes` already"
    ]


def test_an_overlay_lists_what_either_holds():
    tree = OverlayTree(MemoryTree({"a/x": b"1", "a/y": b"2"}), {"a/y": b"3", "a/b/z": b"4"})
    assert tree.names("a") == ("b/", "x", "y")
    assert [tree.read(path) for path in ("a/x", "a/y", "a/b/z", "a/none")] == [b"1", b"3", b"4", None]


def test_the_baseline_renders_an_output_as_a_build_does(tmp_path):
    project(tmp_path)
    tree = DiskTree(tmp_path)
    segments = [*instructions("agents.d/main.yaml", SPEC), bundle(tree, "style"), bundle(tree, "secrets")]
    native = tuple(PrefixSegment("messages", item.name, item.body, 0, file="CLAUDE.md") for item in segments)
    others = (
        PrefixSegment("system", "claude 2/base", None, 9),
        PrefixSegment("messages", "web/CLAUDE.md", Text("Mine.\n", "web/CLAUDE.md", (1,)), 6),
    )
    plan = PlanPrefix(
        "main", "claude", "", "", None, None, "ask", "file", ".", "2", (), (), (others[0], *native, others[1])
    )
    assert baseline_outputs([plan, plan]) == {"CLAUDE.md": BUILT.encode()}


lines = st.lists(
    st.sampled_from(["", "One.", "- two", "  three", "# Four", "{{AGENT}}", "Be brief.", HEADER]), max_size=6
)


@given(st.integers(0, BUILT.count("\n")), st.integers(0, 4), lines)
def test_either_the_edit_comes_back_byte_for_byte_or_nothing_changes(start, count, inserted):
    built = BUILT.split("\n")[:-1]
    edited = "\n".join([*built[:start], *inserted, *built[start + count :]]) + "\n"
    sources = {path: text.encode() for path, text in SOURCES.items()}
    outputs, _ = compile_outputs(MemoryTree(sources))
    tree = MemoryTree({**sources, "CLAUDE.md": edited.encode()})
    shop = Workshop(tree, compile_outputs, manifest_of(outputs, (), "1"), {}, {"CLAUDE.md": "claude"})
    adoption, found = adopt("CLAUDE.md", shop)
    assert bool(adoption.files) != bool(found)
    after = {**tree.files, **adoption.files}
    rebuilt, _ = compile_outputs(MemoryTree(after))
    if adoption.files:
        assert after["CLAUDE.md"] == {output.path: output.content for output in rebuilt}["CLAUDE.md"]
        assert after["CLAUDE.md"].decode().rstrip("\n") == edited.rstrip("\n")
    else:
        assert rebuilt == outputs

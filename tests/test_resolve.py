"""Resolving: references found or reported, settings merged, everything with its place."""

from __future__ import annotations

import os

import pytest

from agentmux_compiler.agent import (
    Bundle,
    Delivery,
    Listed,
    Permission,
    Project,
    ResolvedAgent,
    Server,
    Settings,
    Skill,
    Use,
)
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.providers import NAMES
from agentmux_compiler.resolve import resolve
from agentmux_compiler.segment import Text
from agentmux_compiler.spec import load
from agentmux_compiler.suggest import listing
from agentmux_compiler.tree import DiskTree, MemoryTree

needs_links = pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
SKILL = "---\nname: notes\ndescription: Write release notes\n---\nBody.\n"


def resolved(files):
    tree = MemoryTree({path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()})
    specs, found = load(tree)
    project, more = resolve(specs, tree)
    return project, [*found, *more]


def agent(text, **more):
    """The files of a project with one agent `a`; `bundles__x_md` is `bundles/x.md`."""
    files = {name.replace("__", "/").replace("_md", ".md"): content for name, content in more.items()}
    return {"agents.d/a.yaml": text, **files}


def said(files):
    _, found = resolved(files)
    return [(item.code, item.span.path, item.span.line, item.span.column, item.message) for item in found]


def test_an_agent_with_everything():
    project, found = resolved(
        {
            "agents.d/base.yaml": "abstract: true\npermission: plan\ndelivery: flag\nbundles: [style]\n",
            "agents.d/code-reviewer.yaml": """\
extends: base
providers:
  claude-code: {model: opus, effort: high, permission: auto}
  codex: {flags: [--add-dir, ../docs]}
soul: {file: souls/r.md}
instructions: |
  Review.
bundles: [..., extra]
skills: [notes]
workdir: ./docs/../src
mcp:
  issues: {command: issues-mcp, env: {TOKEN: "${TOKEN}"}}
env: {LOG: "${LOG}"}
""",
            "bundles/style.md": "---\ntitle: Style\nproviders: [claude, gemini-cli]\n---\n\nBe brief.\n",
            "bundles/extra.md.j2": "{{ AGENT }}",
            "bundles/zz.md": "---\nglobal: true\norder: 1\n---\nLast.\n",
            "bundles/words.md": "---\norder: 2\nglobal: true\n---\nWords.\n",
            "bundles/README.md": "not a bundle",
            "skills/notes/SKILL.md": SKILL,
            "skills/notes/scripts/run.py": "",
            "skills/notes/.DS_Store": "",
            "souls/r.md": "Calm.\n",
        }
    )
    path = "agents.d/code-reviewer.yaml"
    style = Bundle(
        "style", Text("Be brief.\n", "bundles/style.md", (6,)), title="Style", providers=("claude", "gemini")
    )
    extra = Bundle("extra", Text("{{ AGENT }}\n", "bundles/extra.md.j2", (1,)), template=True)
    zz = Bundle("zz", Text("Last.\n", "bundles/zz.md", (5,)), is_global=True, order=1)
    words = Bundle("words", Text("Words.\n", "bundles/words.md", (5,)), is_global=True, order=2)
    notes = Skill(
        "notes",
        "skills/notes",
        "Write release notes",
        ("SKILL.md", "scripts/run.py"),
        described_at=Span("skills/notes/SKILL.md", 3, 14, 3, 33),
    )
    base = "agents.d/base.yaml"
    wide = {"permission": Span(base, 2, 13, 2, 17), "delivery": Span(base, 3, 11, 3, 15)}
    assert found == []
    assert project == Project(
        Settings(),
        (
            ResolvedAgent(
                name="code-reviewer",
                display="Code Reviewer",
                description="",
                path=path,
                uses=(
                    Use(
                        "claude",
                        Span(path, 3, 3, 3, 14),
                        model="opus",
                        effort="high",
                        permission=Permission.AUTO,
                        delivery=Delivery.FLAG,
                        places={
                            **wide,
                            "model": Span(path, 3, 24, 3, 28),
                            "effort": Span(path, 3, 38, 3, 42),
                            "permission": Span(path, 3, 56, 3, 60),
                        },
                    ),
                    Use(
                        "codex",
                        Span(path, 4, 3, 4, 8),
                        permission=Permission.PLAN,
                        delivery=Delivery.FLAG,
                        flags=("--add-dir", "../docs"),
                        places={**wide, "flags": Span(path, 4, 11, 4, 16)},
                    ),
                ),
                workdir="src",
                soul=Text("Calm.\n", "souls/r.md", (1,)),
                instructions=Text("Review.\n", path, (7,)),
                startup=None,
                bundles=(
                    Listed(zz, Span("bundles/zz.md", 2, 9, 2, 13)),
                    Listed(words, Span("bundles/words.md", 3, 9, 3, 13)),
                    Listed(style, Span(base, 4, 11, 4, 16)),
                    Listed(extra, Span(path, 8, 16, 8, 21)),
                ),
                skills=(Listed(notes, Span(path, 9, 10, 9, 15)),),
                mcp=(Server("issues", "issues-mcp", (), {"TOKEN": "${TOKEN}"}, None, {}, Span(path, 12, 3, 12, 9)),),
                env={"LOG": "${LOG}"},
                places={
                    "permission": wide["permission"],
                    "delivery": wide["delivery"],
                    "bundles": Span(path, 8, 1, 8, 8),
                    "extends": Span(path, 1, 10, 1, 14),
                    "providers": Span(path, 2, 1, 2, 10),
                    "soul": Span(path, 5, 1, 5, 5),
                    "instructions": Span(path, 6, 15, 6, 16),
                    "skills": Span(path, 9, 1, 9, 7),
                    "workdir": Span(path, 10, 10, 10, 23),
                    "mcp": Span(path, 11, 1, 11, 4),
                    "env": Span(path, 13, 1, 13, 4),
                },
            ),
        ),
        (extra, style, words, zz),
        (notes,),
    )


def test_defaults():
    project, found = resolved(agent("providers:\n  gemini:\n"))
    assert found == []
    (only,) = project.agents
    assert only.uses == (Use("gemini", Span("agents.d/a.yaml", 2, 3, 2, 9), places={}),)
    assert (only.uses[0].permission, only.uses[0].delivery, only.workdir) == (Permission.ASK, None, ".")
    assert (only.soul, only.instructions, only.startup, only.templates) == (None, None, None, ())


def test_templates_are_named_by_field():
    files = agent("providers: {claude: {}}\nsoul: {file: s.md.j2}\nstartup: Go.\n") | {"s.md.j2": "{{ AGENT }}"}
    project, _ = resolved(files)
    assert project.agents[0].templates == ("soul",)


def test_a_concrete_agent_needs_a_provider():
    project, found = resolved(agent("display: A\n") | {"agents.d/b.yaml": "providers: {}\n"})
    assert project.agents == ()
    assert [(item.code, item.span, item.message, item.help) for item in found] == [
        (
            "AMX108",
            Span("agents.d/a.yaml"),
            "agent `a` runs on no provider",
            "add `providers: {claude: {}}`, or `abstract: true` if it is only a base",
        ),
        (
            "AMX108",
            Span("agents.d/b.yaml", 1, 1, 1, 10),
            "agent `b` runs on no provider",
            "add `providers: {claude: {}}`, or `abstract: true` if it is only a base",
        ),
    ]


@pytest.mark.parametrize("text", ["providers: [claude]\n", "provider: {claude: {}}\n"])
def test_a_misspelt_provider_list_is_not_called_missing(text):
    assert len(said(agent(text))) == 1
    assert len(said({"agents.d/base.yaml": f"abstract: true\n{text}", "agents.d/a.yaml": "extends: base\n"})) == 1


def test_an_unrelated_fault_does_not_hide_that_providers_are_missing():
    assert [item[0] for item in said(agent("bundels: [x]\n"))] == ["AMX102", "AMX108"]


def test_unknown_and_repeated_providers():
    project, found = resolved(agent("providers:\n  claud: {}\n  codex-cli:\n  codex: {}\n"))
    assert [use.provider for use in project.agents[0].uses] == ["codex"]
    assert [(item.code, item.span.line, item.message, item.help, item.notes) for item in found] == [
        (
            "AMX205",
            2,
            "there is no provider `claud`",
            "did you mean `claude`?",
            (f"the providers are {listing(NAMES)}",),
        ),
        (
            "AMX207",
            4,
            "`codex` names the provider `codex` a second time",
            "keep one of them",
            ("the first stands at agents.d/a.yaml:3",),
        ),
    ]


def test_an_agent_whose_only_provider_is_unknown_has_one_report():
    project, found = resolved(agent("providers: {foo: {}}\n"))
    assert project.agents == ()
    assert [item.code for item in found] == ["AMX205"]


def test_unknown_bundles_and_skills_one_report_for_each_listing():
    files = {
        "agents.d/base.yaml": "abstract: true\nbundles: [stile]\n",
        "agents.d/a.yaml": "extends: base\nproviders: {claude: {}}\nskills: [note, half, x]\n",
        "agents.d/b.yaml": "extends: base\nproviders: {claude: {}}\nbundles: [..., stile]\n",
        "bundles/style.md": "x",
        "skills/notes/SKILL.md": SKILL,
        "skills/half/README.md": "",
    }
    _, found = resolved(files)
    assert sorted((item.span.path, item.span.line, item.code, item.message, item.help) for item in found) == [
        ("agents.d/a.yaml", 3, "AMX202", "there is no skill `half`", "write `skills/half/SKILL.md`"),
        ("agents.d/a.yaml", 3, "AMX202", "there is no skill `note`", "did you mean `notes`?"),
        ("agents.d/a.yaml", 3, "AMX202", "there is no skill `x`", None),
        ("agents.d/b.yaml", 3, "AMX201", "there is no bundle `stile`", "did you mean `style`?"),
        ("agents.d/base.yaml", 2, "AMX201", "there is no bundle `stile`", "did you mean `style`?"),
    ]


def test_what_is_listed_twice():
    text = "providers: {claude: {}}\nbundles: [x, y, x, g]\nskills: [notes, notes]\n"
    files = agent(text, bundles__x_md="x", bundles__y_md="y", bundles__g_md="---\nglobal: true\n---\ng")
    project, found = resolved({**files, "skills/notes/SKILL.md": SKILL})
    assert [each.item.name for each in project.agents[0].bundles] == ["g", "x", "y"]
    assert [(item.code, item.span.line, item.span.column, item.message, item.notes) for item in found] == [
        ("AMX207", 2, 17, "`x` is listed twice", ("the first stands at agents.d/a.yaml:2",)),
        ("AMX207", 2, 20, "`g` is listed twice", ("the first stands at bundles/g.md:2",)),
        ("AMX207", 3, 17, "`notes` is listed twice", ("the first stands at agents.d/a.yaml:3",)),
    ]


def test_unused_sources_are_warned_of():
    files = agent("providers: {claude: {}}\n", bundles__x_md="x", bundles__g_md="---\nglobal: true\n---\ng")
    assert said({**files, "skills/notes/SKILL.md": SKILL}) == [
        ("AMX210", "bundles/x.md", 1, 1, "no agent lists the bundle `x`"),
        ("AMX211", "skills/notes/SKILL.md", 1, 1, "no agent lists the skill `notes`"),
    ]


@pytest.mark.parametrize("text", ["providers: [\n", "providers: {claude: {}}\nbundels: [x]\n"])
def test_nothing_is_called_unused_while_a_spec_is_faulty(text):
    assert "AMX210" not in [item[0] for item in said(agent(text, bundles__x_md="x"))]


def test_an_abstract_spec_lists_too():
    assert said(agent("abstract: true\nbundles: [x]\n", bundles__x_md="x")) == []


def test_two_endings_name_one_bundle():
    project, found = resolved(
        agent("providers: {claude: {}}\nbundles: [x]\n") | {"bundles/x.md": "a", "bundles/x.md.j2": "b"}
    )
    assert [each.item.body.path for each in project.agents[0].bundles] == ["bundles/x.md"]
    assert [(item.code, item.span, item.message) for item in found] == [
        ("AMX213", Span("bundles/x.md.j2"), "`bundles/x.md.j2` names the same bundle as `bundles/x.md`")
    ]


@pytest.mark.parametrize(
    ("content", "code", "line", "column", "message"),
    [
        ("---\ntitel: X\n---\nx", "AMX102", 2, 1, "unknown field `titel`"),
        ("---\nglobal: yes\n---\nx", "AMX103", 2, 9, "`global` takes `true` or `false`, found the text `yes`"),
        ("---\ntitle: X\nx", "AMX114", 1, 1, "front matter is never closed"),
        ("---\nproviders: [claud]\n---\nx", "AMX205", 2, 13, "there is no provider `claud`"),
        ("---\nallow_unicode: [INVISIBLE]\n---\nx", "AMX112", 2, 17, "`INVISIBLE` names no character"),
        (b"\xff", "AMX106", 1, 1, "byte `0xff` is not UTF-8"),
        ("x\na\u200bb", "AMX305", 2, 2, "invisible character `U+200B` (zero width space)"),
        ('---\ntitle: "R\\u202e"\n---\nx', "AMX305", 2, 8, "invisible character `U+202E` (right-to-left override)"),
        ("---\ntitle: a\u202eb\n---\nx", "AMX305", 2, 9, "invisible character `U+202E` (right-to-left override)"),
    ],
)
def test_a_faulty_bundle_has_one_report_and_is_known(content, code, line, column, message):
    files = agent("providers: {claude: {}}\nbundles: [x]\n", bundles__x_md=content)
    assert said(files) == [(code, "bundles/x.md", line, column, message)]


def test_a_bundle_may_allow_what_it_needs():
    content = "---\nallow_unicode: [U+200B, RIGHT-TO-LEFT MARK]\n---\na\u200bb\u200fc\n"
    project, found = resolved(agent("providers: {claude: {}}\nbundles: [x]\n", bundles__x_md=content))
    assert found == []
    assert project.bundles[0].allow_unicode == ("U+200B", "RIGHT-TO-LEFT MARK")


def test_bundle_names():
    files = agent("providers: {claude: {}}\n", bundles__House_Style_md="x")
    assert said({**files, "bundles/.x.md": "x", "bundles/x.txt": "x", "bundles/sub/y.md": "x"}) == [
        (
            "AMX111",
            "bundles/House_Style.md",
            1,
            1,
            "bundle name `House_Style` is not lower-case letters, digits and single `-`",
        )
    ]


@pytest.mark.parametrize(
    ("content", "code", "line", "column", "message"),
    [
        ("Body.\n", "AMX209", 1, 1, "the skill has no front matter"),
        ("---\ndescription: d\n---\n", "AMX209", 2, 1, "the skill has no `name`"),
        ("---\nname: other\ndescription: d\n---\n", "AMX209", 2, 7, "`name` is `other`, and the folder is `notes`"),
        ("---\nname: [notes]\ndescription: d\n---\n", "AMX209", 2, 1, "`name` is a list, and the folder is `notes`"),
        ("---\nname: notes\n---\n", "AMX209", 2, 1, "the skill has no `description`"),
        ("---\nname: notes\ndescription: ' '\n---\n", "AMX209", 3, 14, "`description` is empty"),
        ("---\nname: notes\ndescription: 5\n---\n", "AMX209", 3, 14, "`description` takes text, found the number `5`"),
        ("---\nname: notes\ndescription: |\n  d\n---\n", "AMX209", 3, 14, "`description` has more than one line"),
        ("---\nname: notes\ndescription: a\n  b\n---\n", "AMX209", 3, 14, "`description` has more than one line"),
        ("---\nname: notes\ndescription: d\n", "AMX114", 1, 1, "front matter is never closed"),
        ("---\nname: notes\ndescription: a: b\n---\n", "AMX114", 3, 15, "a `:` where no key can stand"),
        ("\ufeff" + SKILL, "AMX209", 1, 1, "the file begins with a byte order mark"),
        (
            '---\nname: notes\ndescription: "d\\u202e"\n---\n',
            "AMX305",
            3,
            14,
            "invisible character `U+202E` (right-to-left override)",
        ),
        (SKILL + "a\u200bb\n", "AMX305", 6, 2, "invisible character `U+200B` (zero width space)"),
        (b"\xff", "AMX106", 1, 1, "byte `0xff` is not UTF-8"),
    ],
)
def test_a_skill_that_some_cli_would_drop(content, code, line, column, message):
    files = agent("providers: {claude: {}}\nskills: [notes]\n") | {"skills/notes/SKILL.md": content}
    assert said(files) == [(code, "skills/notes/SKILL.md", line, column, message)]


def test_skill_folders():
    files = agent("providers: {claude: {}}\nskills: [Notes]\n") | {
        "skills/Notes/SKILL.md": SKILL.replace("notes", "Notes", 1),
        "skills/Notes/ref.md": f"a\u202eb\n{'<' * 7} HEAD\na\n{'=' * 7}\nb\n{'>' * 7} theirs\n",
        "skills/Notes/__pycache__/x.pyc": b"\0",
        "skills/README.md": "x",
        "skills/.git/SKILL.md": "x",
    }
    project, found = resolved(files)
    assert project.skills[0].files == ("SKILL.md", "ref.md")
    assert [(item.code, item.span.path, item.span.line) for item in found] == [
        ("AMX111", "skills/Notes/SKILL.md", 1),
        ("AMX305", "skills/Notes/ref.md", 1),
        ("AMX115", "skills/Notes/ref.md", 2),
    ]


def test_other_fields_of_a_skill_are_its_own_affair():
    text = "---\nname: notes\ndescription: d\nlicense: MIT\nmetadata: {a: b}\neffort: high\nmodel: opus\n---\n"
    project, found = resolved(agent("providers: {claude: {}}\nskills: [notes]\n") | {"skills/notes/SKILL.md": text})
    assert found == []
    assert (project.skills[0].effort, project.skills[0].model) == ("high", "opus")


@pytest.mark.parametrize("workdir", ["..", "/srv", "a/../../b", "C:/x", "a\\b", "~root/../.."])
def test_a_working_directory_outside_the_project(workdir):
    project, found = resolved(agent(f"providers: {{claude: {{}}}}\nworkdir: '{workdir}'\n"))
    assert project.agents[0].workdir == "."
    assert [(item.code, item.span.line, item.span.column) for item in found] == [("AMX208", 2, 10)]


def test_other_folders():
    files = {
        "agents.d/_project.yaml": "paths: {bundles: text/b, skills: text/s}\n",
        "agents.d/a.yaml": "providers: {claude: {}}\nbundles: [x, y]\nskills: [notes]\n",
        "text/b/x.md": "x",
        "text/s/notes/SKILL.md": SKILL,
    }
    project, found = resolved(files)
    assert [bundle.name for bundle in project.bundles] == ["x"]
    assert project.skills[0].folder == "text/s/notes"
    assert [(item.code, item.notes) for item in found] == [("AMX201", ("bundles are read from `text/b/`",))]


@needs_links
def test_a_link_that_leads_back_up_ends(write_project):
    text = "providers: {claude: {}}\nskills: [notes]\n"
    root = write_project({"agents.d/a.yaml": text, "skills/notes/SKILL.md": SKILL})
    (root / "skills/notes/again").symlink_to(root / "skills/notes", target_is_directory=True)
    tree = DiskTree(root)
    specs, _ = load(tree)
    project, found = resolve(specs, tree)
    assert len(project.skills[0].files) == 13
    assert [(item.code, item.message) for item in found] == [
        ("AMX209", "the skill's folders are nested 12 deep or more")
    ]


@needs_links
def test_sources_behind_links_that_leave_the_project(write_project, tmp_path):
    root = write_project({"agents.d/a.yaml": "providers: {claude: {}}\nbundles: [x]\n", "bundles/y.md": "y"})
    outside = tmp_path / "outside.md"
    outside.write_bytes(b"secret")
    (root / "bundles/x.md").symlink_to(outside)
    (root / "agents.d/b.yaml").symlink_to(outside)
    tree = DiskTree(root)
    specs, found = load(tree)
    project, more = resolve(specs, tree)
    assert project.agents[0].bundles[0].item.body == Text("", "bundles/x.md", ())
    assert [(item.code, item.span.path) for item in [*found, *more]] == [
        ("AMX208", "agents.d/b.yaml"),
        ("AMX208", "bundles/x.md"),
    ]


def test_the_order_of_a_listing_changes_nothing():
    files = {
        "agents.d/a.yaml": "providers: {claude: {}}\nbundles: [x, y]\n",
        "agents.d/b.yaml": "providers: {claude: {}}\nbundles: [z, q]\n",
        "bundles/x.md": "x",
        "bundles/y.md": "y",
        "bundles/z.md": "---\nglobal: true\n---\nz",
    }
    backwards = dict(reversed(files.items()))
    assert resolved(files) == resolved(backwards)

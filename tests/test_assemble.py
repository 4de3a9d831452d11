from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.agent import Bundle, Listed, ResolvedAgent, Settings, Skill, Use
from agentmux_compiler.assemble import assemble, assemble_startup, render
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.providers import load_provider
from agentmux_compiler.segment import Kind, Segment, Text
from agentmux_compiler.writing.header import HEADER
from agentmux_launcher.manifest import LineRun

SPEC = "agents.d/reviewer.yaml"
CODEX = load_provider("codex")
SETTINGS = Settings()
USE = Use("codex", Span(SPEC, 3), model="gpt-5.5")


def text(content, path, first=1):
    return Text(content, path, tuple(range(first, first + content.count("\n"))))


def bundle(name, content=None, **fields):
    return Bundle(name, text(content or f"Text of {name}.\n", f"bundles/{name}.md"), **fields)


def agent(**fields):
    listed = tuple(Listed(item, Span(SPEC, 20 + i, 5)) for i, item in enumerate(fields.pop("bundles", ())))
    skills = tuple(Listed(item, Span(SPEC, 30 + i, 5)) for i, item in enumerate(fields.pop("skills", ())))
    filled = {
        "name": "reviewer", "display": "Code Reviewer", "description": "", "path": SPEC, "uses": (USE,), "workdir": ".",
        "soul": None, "instructions": None, "startup": None, "mcp": (), "env": {},
        "places": {"soul": Span(SPEC, 5), "instructions": Span(SPEC, 8), "skills": Span(SPEC, 29)},
    }  # fmt: skip
    return ResolvedAgent(**{**filled, **fields}, bundles=listed, skills=skills)


def assembled(made, *, settings=SETTINGS, use=USE, skills_index=False):
    segments, found = assemble(made, use, CODEX, settings, skills_index=skills_index)
    assert found == []
    return segments


WHOLE = agent(
    soul=text("Be calm.\n", SPEC, 6),
    instructions=text("Review the diff.\n", SPEC, 9),
    startup=text("Read CONTRIBUTING.md.\n", SPEC, 15),
    bundles=(bundle("security"), bundle("everyone", is_global=True), bundle("house-style", title="House style")),
    skills=(Skill("release-notes", "skills/release-notes", "Writes notes", ("SKILL.md",)),),
)


def test_sections_stand_in_their_order():
    segments = assembled(WHOLE, skills_index=True)

    assert [(item.name, item.kind, item.asked_at) for item in segments] == [
        ("bundles/everyone.md", Kind.GLOBAL_BUNDLE, Span(SPEC, 21, 5)),
        ("agents/reviewer/soul.md", Kind.SOUL, Span(SPEC, 5)),
        ("agents/reviewer/instructions.md", Kind.INSTRUCTIONS, Span(SPEC, 8)),
        ("bundles/security.md", Kind.BUNDLE, Span(SPEC, 20, 5)),
        ("bundles/house-style.md", Kind.BUNDLE, Span(SPEC, 22, 5)),
        ("agents/reviewer/skills-index.md", Kind.SKILLS_INDEX, Span(SPEC, 29)),
    ]
    assert segments[4].body == Text("# House style\n\nText of house-style.\n", "bundles/house-style.md", (1, 1, 1))
    assert segments[5].body == Text(
        "# Skills\n\nRead a skill's file before you do what it describes.\n\n"
        "- `release-notes`: Writes notes (`skills/release-notes/SKILL.md`)\n",
        SPEC,
        (29, 29, 29, 29, 30),
    )


def test_a_project_may_order_and_leave_out_sections():
    settings = Settings(sections=("bundles", "instructions"))

    assert [item.name for item in assembled(WHOLE, settings=settings)] == [
        "bundles/security.md",
        "bundles/house-style.md",
        "agents/reviewer/instructions.md",
    ]


def test_a_bundle_for_other_providers_is_left_out():
    made = agent(bundles=(bundle("a", providers=("claude",)), bundle("b", providers=("gemini", "codex"))))

    assert [item.name for item in assembled(made)] == ["bundles/b.md"]


def test_what_is_empty_leaves_nothing():
    made = agent(bundles=(bundle("blank", "\n \n", title="Blank"), bundle("a")))

    segments = assembled(made, skills_index=True)

    assert [item.name for item in segments] == ["bundles/a.md"]
    assert render(segments, header=False) == (
        b"Text of a.\n",
        (LineRun(1, 1, "bundles/a.md", "bundles/a.md", 1),),
    )


def test_the_startup_text_is_no_section():
    segment, found = assemble_startup(WHOLE, USE, CODEX)

    assert (segment.name, segment.kind, segment.text, found) == (
        "agents/reviewer/startup.md",
        Kind.STARTUP,
        "Read CONTRIBUTING.md.\n",
        [],
    )
    assert assemble_startup(agent(), USE, CODEX) == (None, [])


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("no variable\n", "bundles/x.md"),
        ("{{AGENT}}\n", "bundles/x@reviewer.md"),
        ("{{AGENT_SLUG}}\n", "bundles/x@reviewer.md"),
        ("{{PROVIDER}}\n", "bundles/x+codex.md"),
        ("{{MODEL}}\n", "bundles/x@reviewer+codex.md"),
        ("{{PROVIDER}} {{AGENT_ID}}\n", "bundles/x@reviewer+codex.md"),
        ("{{DATE}}\n", "bundles/x.md"),
    ],
)
def test_a_segment_is_named_after_what_its_source_uses(content, name):
    assert [item.name for item in assembled(agent(bundles=(bundle("x", content),)))] == [name]


def test_an_agents_own_text_is_named_after_the_agent_anyway():
    made = agent(soul=text("{{AGENT}} on {{PROVIDER}}\n", SPEC), instructions=text("{{AGENT}}\n", SPEC))

    assert [(item.name, item.text) for item in assembled(made)] == [
        ("agents/reviewer/soul+codex.md", "Code Reviewer on Codex\n"),
        ("agents/reviewer/instructions.md", "Code Reviewer\n"),
    ]


def test_a_template_is_a_template_only_where_the_source_says_so():
    source = "{% if true %}{{ AGENT_ID }}{% endif %}\n"
    made = agent(
        soul=text(source, "souls/x.md.j2"), instructions=text(source, SPEC), templates=("soul",),
        bundles=(bundle("a", source, template=True),),
    )  # fmt: skip

    assert [(item.name, item.text) for item in assembled(made)] == [
        ("agents/reviewer/soul.md", "reviewer\n"),
        ("agents/reviewer/instructions.md", source),
        ("bundles/a@reviewer.md", "reviewer\n"),
    ]


def test_volatile_placeholders_are_named_and_stay():
    segment = assembled(agent(bundles=(bundle("x", "{{WORKING_DIR}} {{DATE}}\n"),)))[0]

    assert (segment.text, segment.volatile, segment.stability) == (
        "{{WORKING_DIR}} {{DATE}}\n",
        ("DATE", "WORKING_DIR"),
        "volatile",
    )


def test_a_variable_that_has_no_value_is_said():
    made = agent(bundles=(bundle("x", "with {{MODEL}}\n"),))

    _, found = assemble(made, replace(USE, model=None), CODEX, Settings(), skills_index=False)

    assert [(item.code, item.span) for item in found] == [("AMX301", Span("bundles/x.md", 1, 6, 1, 15))]


def segment(name, content, lines):
    return Segment(name, Kind.BUNDLE, Text(content, f"{name}.src", lines), Span(SPEC))


def test_a_file_is_header_and_segments_with_one_empty_line_between():
    segments = (segment("a", "1\n2\n3\n", (4, 5, 9)), segment("b", "4\n", (1,)))

    assert render(segments, header=True) == (
        f"{HEADER}\n\n1\n2\n3\n\n4\n".encode(),
        (LineRun(3, 2, "a", "a.src", 4), LineRun(5, 1, "a", "a.src", 9), LineRun(7, 1, "b", "b.src", 1)),
    )
    assert render((), header=True) == (f"{HEADER}\n".encode(), ())
    assert render((), header=False) == (b"", ())


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=6), max_size=4), st.booleans())
def test_every_line_of_a_file_is_traced_to_its_source(sources, header):
    segments = tuple(
        segment(f"s{i}", "".join(f"{i}:{line}\n" for line in lines), tuple(lines)) for i, lines in enumerate(sources)
    )

    content, runs = render(segments, header=header)

    lines = content.decode().split("\n")
    traced = {
        run.line + offset: f"{run.segment[1:]}:{run.source_line + offset}"
        for run in runs
        for offset in range(run.count)
    }
    assert traced == {number: line for number, line in enumerate(lines, 1) if line[:1].isdigit()}

"""A layout as a function of the plan's words: what stands where, under which name."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agentmux_compiler.agent import Delivery
from agentmux_compiler.lowered import PrefixSegment
from agentmux_compiler.prefix.layout import opaque_parts, render_layout, unplaced
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_compiler.providers.schema_layout import Layout, Part, Variant
from agentmux_compiler.segment import Text


def part(layer, name, **facts):
    return Part(
        **{
            "layer": layer,
            "name": name,
            "bytes": None,
            "slot": None,
            "when": (),
            "unless": (),
            "varies_with": (),
            "breakpoint": False,
            **facts,
        }
    )


def laid(*parts, skills="unknown", **layout):
    """A provider of one layout, whose CLI lists skills in an order."""
    facts = {"source": "measured 1, 2026-11-30", "version": "1", "controllers": ("persistent",), "parts": parts}
    return SimpleNamespace(name="claude", layout=Layout(**{**facts, **layout}), skills=SimpleNamespace(order=skills))


PROVIDER = SimpleNamespace(
    name="claude",
    layout=Layout(
        source="measured 2.1.332, 2026-11-30",
        version="2.1.332",
        controllers=("persistent",),
        parts=(
            part("tools", "tools", bytes=31_188, varies_with=("tools",)),
            part("tools", "shell", bytes=16_000, when=("permission:bypass",)),
            part("system", "base prompt", bytes=4_400),
            part("system", "appended", slot="appended"),
            part("system", "memory", bytes=2_400, unless=("--exclude-dynamic-*",)),
            part("instructions", "files", slot="native"),
            part("environment", "git status", bytes=637, when=("native", "--exclude-dynamic-*")),
            part("skills", "heading", bytes=90, when=("skills",)),
            part("skills", "listing", slot="skills"),
        ),
    ),
)


def own(name):
    return PrefixSegment("", name, Text("x\n", name, (1,)), 2)


def names(slots, *words):
    return [(item.layer, item.name) for item in render_layout(PROVIDER, slots, frozenset(words))]


def test_slots_are_filled_in_their_layer():
    assert names({"native": (own("bundles/a.md"), own("bundles/b.md")), "appended": ()}) == [
        ("tools", "claude 2.1.332/tools"),
        ("system", "claude 2.1.332/base prompt"),
        ("system", "claude 2.1.332/memory"),
        ("instructions", "bundles/a.md"),
        ("instructions", "bundles/b.md"),
    ]


def test_a_flag_moves_parts():
    assert names({"native": (own("bundles/a.md"),)}, "--exclude-dynamic-system-prompt-sections") == [
        ("tools", "claude 2.1.332/tools"),
        ("system", "claude 2.1.332/base prompt"),
        ("instructions", "bundles/a.md"),
        ("environment", "claude 2.1.332/git status"),
    ]


@pytest.mark.parametrize(
    ("slots", "words", "added"),
    [
        ({}, ("permission:bypass",), ("tools", "claude 2.1.332/shell")),
        ({"skills": (own("skills/release.md"),)}, (), ("skills", "claude 2.1.332/heading")),
        ({"appended": (own("bundles/a.md"),)}, (), ("system", "bundles/a.md")),
    ],
)
def test_a_part_comes_with_its_word_or_its_slot(slots, words, added):
    assert (added in names(slots, *words), added in names({})) == (True, False)


def test_an_opaque_part_keeps_its_size_and_what_it_varies_with():
    first = render_layout(PROVIDER, {}, frozenset())[0]
    assert first == PrefixSegment("tools", "claude 2.1.332/tools", None, 31_188, varies_with=("tools",))
    words = frozenset({"native", "--exclude-dynamic-x"})
    assert opaque_parts(PROVIDER, words)["claude 2.1.332/git status"].size == 637


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("delivery", Delivery)
def test_every_provider_has_a_place_for_all_text_and_names_that_read_back(name, delivery):
    provider = load_provider(name)
    appends = provider.flag_delivery is not None and provider.flag_delivery.way != "directory"
    filled = ("skills", "mcp", "native", "startup", *(["appended"] if appends else []))
    slots = {slot: (own(f"bundles/{slot}.md"),) for slot in filled}
    words = frozenset({f"delivery:{delivery}", "model:opus", "permission:ask"})
    assert unplaced(provider, slots, words) == ()
    for segment in render_layout(provider, slots, words):
        assert " " not in segment.layer
        assert segment.opaque == segment.name.startswith(f"{name} ")


def test_a_slot_without_a_place_is_named():
    slots = {"startup": (own("agents/a/startup.md"),), "native": (own("bundles/a.md"),), "mcp": ()}
    assert unplaced(PROVIDER, slots, frozenset()) == ("startup",)


SKILLS = tuple(own(f"skills/{name}.md") for name in ("b", "B", "a"))
RANKED = (
    part("skills", "opening", bytes=3),
    part("skills", "one of the CLI", bytes=5, rank="aa"),
    part("skills", "skills", slot="skills", rank=""),
    part("skills", "ending", bytes=4),
)


@pytest.mark.parametrize(
    ("order", "found"),
    [
        ("casefold", ["skills/a.md", "aa", "skills/B.md", "skills/b.md"]),
        ("bytes", ["skills/B.md", "skills/a.md", "aa", "skills/b.md"]),
        ("reverse-bytes", ["skills/b.md", "aa", "skills/a.md", "skills/B.md"]),
        ("unknown", ["aa", "skills/b.md", "skills/B.md", "skills/a.md"]),
    ],
)
def test_skills_stand_among_those_of_the_cli_in_its_order(order, found):
    segments = render_layout(laid(*RANKED, skills=order), {"skills": SKILLS}, frozenset())
    listed = ["aa" if item.name == "claude 1/one of the CLI" else item.name for item in segments]
    assert listed == ["claude 1/opening", *found, "claude 1/ending"]


def test_each_item_of_a_slot_takes_bytes_besides():
    provider = laid(part("mcp", "tools", slot="mcp", each=250))
    segments = render_layout(provider, {"mcp": (own("mcp/search.json"), own("mcp/web.json"))}, frozenset())
    assert [(item.name, item.size) for item in segments] == [
        ("mcp/search.json", 2),
        ("claude 1/tools of search.json", 250),
        ("mcp/web.json", 2),
        ("claude 1/tools of web.json", 250),
    ]


def test_a_part_is_there_where_its_tool_is():
    provider = laid(part("tools", "shell", bytes=9, tool="Bash"), part("system", "prompt", bytes=5))
    assert [item.name for item in render_layout(provider, {}, frozenset({"without:Bash"}))] == ["claude 1/prompt"]


def test_the_first_variant_whose_words_hold_is_the_layout():
    other = Variant(when=("--bare",), parts=(part("system", "bare prompt", bytes=5),))
    never = Variant(when=("--bare", "permission:plan"), parts=(part("system", "no prompt", bytes=5),))
    provider = laid(part("system", "prompt", bytes=5), variants=(never, other))
    assert [item.name for item in render_layout(provider, {}, frozenset())] == ["claude 1/prompt"]
    assert [item.name for item in render_layout(provider, {}, frozenset({"--bare"}))] == ["claude 1/bare prompt"]


def test_neighbours_of_one_name_are_one_part():
    provider = laid(
        part("tools", "tool", bytes=9, varies_with=("model",)),
        part("tools", "tool", bytes=3, varies_with=("model", "cwd")),
        part("system", "tool", bytes=1),
    )
    joined, apart = render_layout(provider, {}, frozenset())
    assert (joined.size, joined.varies_with, apart.size) == (12, ("model", "cwd"), 1)


def test_a_part_holds_the_text_that_an_argument_passes():
    provider = laid(part("system", "own prompt", argument=("--system-prompt {}",)))
    segments = render_layout(provider, {"own prompt": (own("flags/a/own-prompt.md"),)}, frozenset())
    assert [(item.layer, item.name) for item in segments] == [("system", "flags/a/own-prompt.md")]


def test_a_plan_of_another_version_is_named_by_it():
    segments = render_layout(laid(part("system", "prompt", bytes=5)), {}, frozenset(), "2.0.0")
    assert [item.name for item in segments] == ["claude 2.0.0/prompt"]

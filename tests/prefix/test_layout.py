"""A layout as a function of the plan's words: what stands where, under which name."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agentmux_compiler.agent import Delivery
from agentmux_compiler.lowered import PrefixSegment
from agentmux_compiler.prefix.layout import opaque_parts, render_layout, unplaced
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_compiler.providers.schema_layout import Layout, Part
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

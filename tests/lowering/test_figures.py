from __future__ import annotations

from agentmux_compiler.lowering.figures import convention_of, own_words
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_launcher.usage import Convention


def mode(provider, name):
    found = load_provider(provider).modes[name]
    assert found is not None
    return found


def test_what_the_catalog_says_of_figures_is_what_the_launcher_reads():
    assert convention_of(mode("opencode", "acp")) == Convention(
        "measured 1.18.33, 2026-11-30",
        "last-call",
        input_includes_cached=False,
        output_includes_reasoning=False,
        field="usage",
        context="usage_update.used",
        cost="usage_update.cost",
    )


def test_what_nobody_knows_is_null_and_figures_of_no_known_kind_are_none():
    assert convention_of(mode("goose", "acp")) == Convention(
        "not measured, 2026-11-30", "none", input_includes_cached=None, output_includes_reasoning=None
    )


def test_a_mode_whose_dialect_has_a_convention_keeps_to_it():
    modes = [each for name in NAMES for key, each in load_provider(name).modes.items() if each and key != "acp"]

    assert {convention_of(each) for each in modes} == {None}
    assert {own_words(each) for each in modes} == {()}


def test_the_words_of_an_agents_own_go_into_its_plan():
    assert own_words(mode("copilot", "acp")) == ("Error:", "Info:")


def test_every_field_that_is_named_is_one_that_the_translator_looks_in():
    for name in NAMES:
        acp = load_provider(name).modes["acp"]
        known = convention_of(acp) if acp else None
        if known is not None:
            assert (known.turn == "none") == (known.field is None), name
            assert (known.field or "").startswith("agent_message_chunk.") == (known.turn == "calls"), name
            assert known.cost in {None, "usage_update.cost"}, name

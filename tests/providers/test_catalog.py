from __future__ import annotations

import os
import subprocess
import sys

import pytest
from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML

from agentmux_compiler.lowered import PrefixSegment
from agentmux_compiler.prefix.layout import render_layout, unplaced
from agentmux_compiler.providers import NAMES, REGISTRY, canonical, load_provider, parse, text_of
from agentmux_compiler.providers.schema import Provider, Sourced
from agentmux_compiler.providers.schema_layout import Part

PERMISSIONS = ("plan", "ask", "edit", "auto", "bypass")
MODELS = ("opus", "gpt-5.5", "gpt-6.2-sol", "gemini-2.5-pro", "auto")
SLOTS = ("appended", "skills", "mcp", "native", "startup")
MORE = ((), ("redirected",), ("--append-system-prompt-file",), ("redirected", "--append-system-prompt"))


def raw(name):
    return YAML(typ="safe", pure=True).load(text_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_registry_and_file_agree(name):
    provider = load_provider(name)

    assert (provider.name, provider.aliases) == (name, REGISTRY[name])


def test_every_name_and_alias_is_used_once():
    spellings = [spelling for name, aliases in REGISTRY.items() for spelling in (name, *aliases)]

    assert len(spellings) == len(set(spellings))
    assert {canonical(spelling) for spelling in spellings} == set(NAMES)
    assert canonical("nobody") is None


def test_an_unknown_provider_is_no_provider():
    with pytest.raises(KeyError):
        load_provider("nobody")


def groups(value, path=""):
    """Every mapping of a parsed file with the model it was read as."""
    for field, item in value:
        where = f"{path}.{field}" if path else field
        parts = item.values() if isinstance(item, dict) else item if isinstance(item, tuple) else (item,)
        for part in parts:
            if isinstance(part, BaseModel):
                yield where, part
                yield from groups(part, where)


@pytest.mark.parametrize("name", NAMES)
def test_every_group_of_facts_has_a_source(name):
    sourced = [group for _, group in groups(load_provider(name)) if isinstance(group, Sourced)]

    assert sourced
    assert [group for group in sourced if not any(digit.isdigit() for digit in group.source)] == []


def fields(value, path=()):
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from fields(item, (*path, key))


def without(value, path):
    if len(path) == 1:
        return {key: item for key, item in value.items() if key != path[0]}
    return {key: without(item, path[1:]) if key == path[0] else item for key, item in value.items()}


@pytest.mark.parametrize("name", NAMES)
def test_no_field_may_be_left_out_or_invented(name):
    facts = raw(name)
    free = (
        "owns",
        "voids",
        "values_for",
        "only_without",
        "instead_of",
        "extra",
        "set",
        "session_modes",
        "escapes",
        "sizes",
        "env",
        "aliases",
        "settings",
        "families",
        "environment",
        "variables",
        "authenticate",
        "formats",
        "paths",
    )
    own = ("tools", "tree", "families", "variants", "servers", "sub_agents", "skill_switches")
    optional = {("lifetimes",), ("version_faults",), ("transcripts",), ("before_launch",), ("beside",)}
    optional |= {("layout", name) for name in own}
    optional |= {("instructions", "argv"), ("flag_delivery", "environment"), ("mcp", "denied_under")}
    optional |= {("skills", name) for name in ("beyond_limit", "behind_trust")}
    optional |= {("arguments", "resume", "flag_text_rewritten_by")}
    optional |= {("arguments", "permission", "set"), ("modes", "acp", "permission", "set")}
    optional |= {("acp", name) for name in ("authenticate", "loads_at_once", "resumes")}
    paths = [path for path in fields(facts) if not set(path[:-1]) & set(free) and path not in optional]

    def accepted(value):
        try:
            Provider.model_validate(value)
        except ValidationError:
            return False
        return True

    assert accepted(facts)
    assert [path for path in paths if accepted(without(facts, path))] == []
    assert not accepted({**facts, "colour": "red"})
    assert not accepted({**facts, "skills": {**facts["skills"], "colour": "red"}})


@pytest.mark.parametrize("name", NAMES)
def test_layout_has_a_place_for_each_slot_under_every_permission(name):
    provider = load_provider(name)
    held = {
        slot: (PrefixSegment("x", f"{slot}/x", None, 1),) for slot in ("appended", "skills", "mcp", "native", "startup")
    }
    if provider.flag_delivery is None or provider.flag_delivery.way == "directory":
        del held["appended"]

    for permission in PERMISSIONS:
        for model in MODELS:
            words = frozenset({f"permission:{permission}", f"model:{model}"})
            assert unplaced(provider, held, words) == ()


@pytest.mark.parametrize("name", NAMES)
def test_an_opaque_part_stands_once_in_a_layout(name):
    provider = load_provider(name)
    for permission in PERMISSIONS:
        for model in MODELS:
            for more in (
                (),
                ("redirected",),
                ("--append-system-prompt-file",),
                ("redirected", "--append-system-prompt"),
            ):
                words = frozenset({f"permission:{permission}", f"model:{model}", *more})
                names = [segment.name for segment in render_layout(provider, {}, words)]
                assert len(names) == len(set(names)), words


def test_a_part_is_opaque_or_a_slot():
    with pytest.raises(ValidationError):
        Part(layer="system", name="both", bytes=1, slot="mcp")
    with pytest.raises(ValidationError):
        Part(layer="system", name="neither")


def test_a_provider_needs_a_mode_for_its_controller():
    facts = raw("codex")

    with pytest.raises(ValidationError):
        Provider.model_validate({**facts, "controller": "persistent"})


def test_parse_reads_what_load_provider_reads():
    assert parse(text_of("codex")) == load_provider("codex")


def test_the_registry_loads_nothing_heavy():
    script = (
        "import sys; import agentmux_compiler.providers;"
        "print([name for name in ('pydantic', 'ruamel.yaml', 'jinja2') if name in sys.modules])"
    )
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=paths)

    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", NAMES)
def test_no_part_is_named_like_the_heading_of_a_file(name):
    assert [part.name for part in load_provider(name).layout.all_parts if part.name.startswith("heading of ")] == []

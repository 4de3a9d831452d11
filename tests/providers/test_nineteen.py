"""The catalog as a whole: its nineteen providers, what their tables may hold, and the page made of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import BaseModel

from agentmux_compiler.agent import Permission, Use
from agentmux_compiler.argv import Overrides, build_argv
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowered import ArgumentParts
from agentmux_compiler.lowering.modes import permissions_of
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_compiler.providers.schema import Sourced
from agentmux_compiler.providers.table import document
from agentmux_launcher.arguments import expand

PAGE = Path(__file__).parents[2] / "docs" / "providers.md"
AT = Span("agents.d/worker.yaml", 1)
DATE = re.compile(r"20\d\d-\d\d(-\d\d)?")
PLACES = {
    "modes.prompt": {"{}"},
    "arguments.owns": {"{}"},
    "arguments.model.argv": {"{}"},
    "arguments.effort.argv": {"{}"},
    "arguments.resume.resume": {"{}"},
    "arguments.resume.fork": {"{}"},
    "arguments.add_directory": {"{}"},
    "instructions.argv": {"{}"},
    "instructions.heading": {"{path}", "{relative}"},
    "instructions.join": {"{path}", "{relative}"},
    "flag_delivery.argv": {"{}"},
    "flag_delivery.environment": {"{}", "{folder}"},
    "skills.private": {"{}", "{own}"},
    "skills.row": {"{name}", "{description}", "{location}", "{root}"},
    "mcp.argv": {"{}"},
    "mcp.pieces.command": {"{server}", "{command}"},
    "mcp.pieces.args": {"{server}", "{args}"},
    "mcp.pieces.env": {"{server}", "{name}", "{value}"},
    "mcp.pieces.forwarded": {"{server}", "{names}"},
    "mcp.pieces.url": {"{server}", "{url}"},
    "mcp.pieces.bearer": {"{server}", "{variable}"},
    "mcp.pieces.header": {"{server}", "{name}", "{value}"},
    "mcp.pieces.header_variable": {"{server}", "{name}", "{variable}"},
    "redirect.argv": {"{base_url}", "{url}"},
    "redirect.key_argv": {"{name}"},
    "trust.argv": {"{cwd}"},
    "trust.file": {"{slug}", "{digest}"},
    "trust.entry": {"{cwd}", "{now}"},
    "layout.tools.server": {"{name}"},
    "layout.parts.argument": {"{}"},
    "layout.variants.parts.argument": {"{}"},
}
OF_THE_CLI = {"flag_delivery.template", "flag_delivery.escapes"}  # names that mean something to the CLI


def test_there_are_nineteen():
    assert NAMES == (
        "claude", "codex", "gemini", "qwen", "kimi", "muxcode", "antigravity", "openclaw", "copilot", "pi", "kilo",
        "cline", "opencode", "goose", "grok", "dsh", "aider", "crush", "muse",
    )  # fmt: skip


def items(value):
    """The values of the fields of a group, each by itself."""
    for _, item in value:
        match item:
            case Mapping():
                yield from item.values()
            case tuple():
                yield from item
            case _:
                yield item


def sources(value):
    if isinstance(value, Sourced):
        yield value.source
    for item in items(value):
        if isinstance(item, BaseModel):
            yield from sources(item)


@pytest.mark.parametrize("name", NAMES)
def test_a_source_says_when_and_a_measured_one_of_which_version(name):
    said = list(sources(load_provider(name)))

    assert [source for source in said if not DATE.search(source)] == []
    assert [source for source in said if source.startswith("measured") and not re.search(r"\d\.\d", source)] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_was_not_run_has_a_reason_and_no_verified_version(name):
    provider = load_provider(name)
    run = [mode for mode in provider.modes.values() if mode is not None and mode.source.startswith("measured")]

    assert (run == []) == (provider.package.not_installable is not None) == (provider.package.verified == "unknown")
    assert (run == []) == (provider.layout.controllers == ())


def placeholders(value, path=()):
    if isinstance(value, BaseModel):
        for field, item in value:
            yield from placeholders(item, (*path, field))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from placeholders(item, path)
    elif isinstance(value, tuple):
        for item in value:
            yield from placeholders(item, path)
    elif isinstance(value, str):
        yield from ((".".join(path), found) for found in re.findall(r"\{[a-z_]*\}", value))


@pytest.mark.parametrize("name", NAMES)
def test_a_placeholder_stands_where_it_is_filled_in(name):
    found = set(placeholders(load_provider(name)))

    unknown = {(where, what) for where, what in found if what not in PLACES.get(where, ())}
    assert {where for where, _ in unknown} <= OF_THE_CLI


@pytest.mark.parametrize("name", NAMES)
def test_each_order_names_each_group_once(name):
    groups = [
        "delivery",
        "directories",
        "effort",
        "flags",
        "mcp",
        "model",
        "permission",
        "prompt",
        "redirect",
        "resume",
    ]
    provider = load_provider(name)

    assert sorted(provider.arguments.order) == groups
    for mode in provider.modes.values():
        assert mode is None or set(mode.takes) <= set(groups)


def test_the_page_is_what_the_catalog_says():
    assert PAGE.read_bytes() == document().encode()


def built(provider, permission, flags=(), controller=None, launch=None, **fields):
    facts = load_provider(provider)
    use = Use(provider, AT, permission=Permission(permission), flags=flags, controller=controller, **fields)
    overrides = Overrides(**(launch or {}))
    argv, found = build_argv(facts, use, ArgumentParts(), overrides)
    said = [f"{item.code} {item.message}" for item in found]
    return "" if said else " ".join(expand(argv, str, overrides.values)), said


GROK = "--output-format streaming-messages-json --include-partial-messages"
QWEN = "--output-format stream-json --include-partial-messages"
AGY = "--output-format stream-json --print-timeout 24h --add-dir ."


@pytest.mark.parametrize(
    ("provider", "permission", "more", "argv"),
    [
        ("qwen", "bypass", {}, f"{QWEN} --approval-mode yolo"),
        ("qwen", "ask", {}, f"{QWEN} --approval-mode default"),
        ("qwen", "edit", {"model": "qwen3-max"}, f"{QWEN} --approval-mode auto-edit -m qwen3-max"),
        ("qwen", "auto", {"launch": {"resume": "S"}}, f"{QWEN} --approval-mode auto -r S"),
        ("qwen", "plan", {"launch": {"fork": "S"}}, f"{QWEN} --approval-mode plan -r S --fork-session"),
        ("qwen", "plan", {"controller": "acp"}, "--acp --approval-mode plan"),
        ("kimi", "bypass", {"launch": {"prompt": "Go."}}, "--output-format stream-json -p Go."),
        (
            "kimi",
            "bypass",
            {"model": "kimi-k3", "flags": ("--x y",), "launch": {"prompt": "Go.", "resume": "S"}},
            "--output-format stream-json -m kimi-k3 --x y -S S -p Go.",
        ),
        ("kimi", "plan", {"controller": "acp"}, "acp"),
        ("kimi", "auto", {"controller": "terminal"}, "--yolo"),
        ("muxcode", "bypass", {}, "run -p --dangerously-skip-permissions"),
        ("muxcode", "plan", {"launch": {"resume": "S"}}, "run -p --permission-mode plan --resume S"),
        (
            "antigravity",
            "bypass",
            {"launch": {"prompt": 'Say "&".', "resume": "c1"}},
            f'{AGY} --dangerously-skip-permissions --conversation c1 -p Say "&".',
        ),
        ("antigravity", "plan", {"launch": {"prompt": "Go."}}, f"{AGY} --mode plan -p Go."),
        ("antigravity", "edit", {"launch": {"prompt": "Go."}}, f"{AGY} --mode accept-edits -p Go."),
        ("antigravity", "ask", {"launch": {"prompt": "Go."}}, f"{AGY} -p Go."),
        ("openclaw", "bypass", {}, "acp"),
        ("openclaw", "bypass", {"flags": ("--url ws://127.0.0.1:1",)}, "acp --url ws://127.0.0.1:1"),
        ("openclaw", "bypass", {"controller": "terminal", "effort": "low"}, "tui --thinking low"),
        ("copilot", "ask", {}, "--acp"),
        ("copilot", "edit", {"model": "gpt-5.5"}, "--acp --allow-tool=write --model gpt-5.5"),
        ("copilot", "bypass", {"effort": "high"}, "--acp --allow-all-tools --reasoning-effort high"),
        (
            "copilot",
            "plan",
            {"controller": "terminal", "launch": {"resume": "S"}},
            "--mode plan --resume=S",
        ),
        ("pi", "bypass", {}, ""),
        ("pi", "plan", {"controller": "terminal"}, "--tools read,grep,find,ls"),
        ("pi", "bypass", {"controller": "terminal", "launch": {"resume": "S"}}, "--session S"),
        ("kilo", "ask", {"flags": ("--x y",)}, "acp --x y"),
        ("kilo", "ask", {"controller": "terminal", "launch": {"resume": "S"}}, "-s S"),
        ("cline", "edit", {}, "--acp"),
        ("cline", "ask", {"controller": "terminal"}, "--tui --auto-approve false"),
        ("opencode", "edit", {}, "acp"),
        ("opencode", "edit", {"controller": "terminal", "launch": {"fork": "S"}}, "-s S --fork"),
        ("goose", "ask", {}, "acp"),
        ("goose", "ask", {"controller": "terminal", "launch": {"resume": "S"}}, "session --resume --id S"),
        ("grok", "ask", {"effort": "low"}, "agent --no-leader --reasoning-effort low stdio"),
        ("grok", "bypass", {"model": "grok-4.6"}, "agent --no-leader --always-approve -m grok-4.6 stdio"),
        (
            "grok",
            "auto",
            {"controller": "subprocess", "launch": {"prompt": "Go.", "resume": "S"}},
            f"{GROK} --permission-mode auto --resume S --single=Go.",
        ),
        ("dsh", "edit", {}, "--profile acp"),
        ("aider", "edit", {"model": "gpt-5.5"}, "--model gpt-5.5"),
        ("aider", "bypass", {"flags": ("--no-git",)}, "--yes-always --no-git"),
        ("crush", "bypass", {"launch": {"resume": "S"}}, "--yolo --session S"),
        ("muse", "ask", {}, "--trust-workspace"),
        ("muse", "bypass", {"launch": {"resume": "S"}}, "--trust-workspace --yolo resume S"),
    ],
)
def test_arguments(provider, permission, more, argv):
    assert built(provider, permission, **more) == (argv, [])


@pytest.mark.parametrize("name", NAMES)
def test_flags_that_no_field_owns_are_passed_once_and_ours_not_twice(name):
    """A user's flags stand in the argv once, and a flag that a field owns is left out and said."""
    provider = load_provider(name)
    owned = provider.arguments.owns
    for controller, mode in provider.modes.items():
        if mode is None or "flags" not in mode.takes:
            continue
        permission = permitted(provider, mode)
        argv, found = built(name, permission, controller=controller, flags=("--colour red",))
        assert (argv.split().count("--colour"), found) == (1, [])
        for text in owned.get("model", ()):
            _, found = built(name, permission, controller=controller, flags=(text.replace("{}", "m"),))
            assert [item[:6] for item in found] == ["AMX406"], text


def permitted(provider, mode):
    known = permissions_of(provider, mode)
    return next(name.value for name in reversed(Permission) if getattr(known, name.value) is not None)


@pytest.mark.parametrize(
    ("provider", "more", "said"),
    [
        ("kimi", {"permission": "ask"}, ["AMX401 `kimi` cannot enforce the permission `ask`"]),
        ("muxcode", {"permission": "edit"}, ["AMX401 `muxcode` cannot enforce the permission `edit`"]),
        ("openclaw", {"model": "opus"}, ["AMX410 `openclaw` takes no `model`, so `opus` is left out"]),
        ("aider", {"launch": {"resume": "S"}}, ["AMX401 `aider` cannot resume a session"]),
        ("dsh", {"launch": {"fork": "S"}}, ["AMX401 `dsh` cannot fork a session"]),
        ("copilot", {"effort": "huge"}, ["AMX404 `copilot` does not take the effort `huge`"]),
        ("grok", {"permission": "edit"}, ["AMX401 `grok` cannot enforce the permission `edit`"]),
        ("cline", {"flags": ("--x",)}, ["AMX410 `cline` takes no `flags` by the controller `acp`"]),
        (
            "antigravity",
            {"launch": {"prompt": "x" * 30_001}},
            ["AMX404 the prompt has 30,001 UTF-16 units, and an argument holds 30,000"],
        ),
    ],
)
def test_what_is_not_passed_is_said(provider, more, said):
    assert built(provider, more.pop("permission", "bypass"), **more)[1] == said

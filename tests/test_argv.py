from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.agent import Permission, Use
from agentmux_compiler.argv import Overrides, build_argv
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowered import ArgumentParts
from agentmux_compiler.lowering.flags import Spelling
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_launcher.arguments import expand, json_literal, shown
from agentmux_launcher.manifest import FromFile, Literal

AT = Span("agents.d/reviewer.yaml", 3, 3)
CLAUDE = (
    "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages "
    "--exclude-dynamic-system-prompt-sections --permission-prompt-tool stdio"
)
CLAUDE_ONCE = (
    "-p --output-format stream-json --verbose --include-partial-messages --exclude-dynamic-system-prompt-sections"
)
CODEX = "exec --json --skip-git-repo-check"
NOTHING = ArgumentParts()
GEMINI = "--output-format stream-json"


def use(provider, **fields):
    permission = Permission(fields.pop("permission", "ask"))
    return Use(provider, AT, permission=permission, **fields)


def built(asked, parts=NOTHING, **overrides):
    provider = load_provider(asked.provider)
    overrides = Overrides(**overrides)
    argv, found = build_argv(provider, asked, parts, overrides)
    return expand(argv, str, overrides.values), [f"{item.code} {item.message}" for item in found]


def line(text):
    return tuple(text.split())


@pytest.mark.parametrize(
    ("asked", "launch", "argv"),
    [
        (use("claude"), {}, f"{CLAUDE} --permission-mode default"),
        (use("claude", permission="plan"), {}, f"{CLAUDE} --permission-mode plan"),
        (use("claude", permission="edit"), {}, f"{CLAUDE} --permission-mode acceptEdits"),
        (use("claude", permission="auto"), {}, f"{CLAUDE} --permission-mode auto"),
        (use("claude", permission="bypass"), {}, f"{CLAUDE} --permission-mode bypassPermissions"),
        (
            use("claude", permission="bypass", model="sonnet", effort="medium", controller="subprocess"),
            {},
            f"{CLAUDE_ONCE} --permission-mode bypassPermissions --model sonnet --effort medium",
        ),
        (
            use("claude", model="sonnet", effort="high"),
            {},
            f"{CLAUDE} --permission-mode default --model sonnet --effort high",
        ),
        (
            use("claude", model="haiku", effort="low"),
            {},
            f"{CLAUDE} --permission-mode default --model haiku --effort low",
        ),
        (
            use("claude", model="opus", effort="max"),
            {},
            f"{CLAUDE} --permission-mode default --model opus --effort max",
        ),
        (use("claude"), {"resume": "S"}, f"{CLAUDE} --permission-mode default --resume S"),
        (use("claude"), {"fork": "S"}, f"{CLAUDE} --permission-mode default --resume S --fork-session"),
        (
            use("claude", controller="terminal"),
            {},
            "--exclude-dynamic-system-prompt-sections --permission-mode default",
        ),
        (use("codex"), {}, f"{CODEX} -s read-only -"),
        (use("codex", permission="plan"), {}, f"{CODEX} -s read-only -"),
        (use("codex", permission="edit"), {}, f"{CODEX} -s workspace-write -"),
        (use("codex", permission="auto"), {}, f"{CODEX} --approve-for-me -"),
        (
            use("codex", permission="bypass", model="gpt-5.5", effort="medium"),
            {},
            f"{CODEX} --dangerously-bypass-approvals-and-sandbox -m gpt-5.5 -c model_reasoning_effort=medium -",
        ),
        (use("codex", flags=("--add-dir /tmp",)), {}, f"{CODEX} -s read-only --add-dir /tmp -"),
        (
            use("codex", model="gpt-5.5", flags=("--add-dir", "../docs")),
            {"resume": "T"},
            f"{CODEX} -s read-only -m gpt-5.5 --add-dir ../docs resume T -",
        ),
        (use("codex"), {"fork": "T"}, f"{CODEX} -s read-only fork T -"),
        (use("codex", model="gpt-5.5"), {"model": "gpt-6-sol"}, f"{CODEX} -s read-only -m gpt-6-sol -"),
        (
            use("codex"),
            {"permission": Permission.EDIT, "effort": "low"},
            f"{CODEX} -s workspace-write -c model_reasoning_effort=low -",
        ),
    ],
)
def test_arguments(asked, launch, argv):
    assert built(asked, **launch) == (line(argv), [])


@pytest.mark.parametrize(
    ("asked", "launch", "argv"),
    [
        (use("gemini"), {}, f"{GEMINI} --approval-mode default"),
        (use("gemini", permission="plan"), {}, f"{GEMINI} --approval-mode plan"),
        (use("gemini", permission="edit"), {}, f"{GEMINI} --approval-mode auto_edit"),
        (use("gemini", permission="bypass"), {}, f"{GEMINI} --approval-mode yolo"),
        (use("gemini", flags=("--debug --policy x",)), {}, f"{GEMINI} --approval-mode default --debug --policy x"),
        (
            use("gemini", model="gemini-2.5-pro"),
            {"resume": "U"},
            f"{GEMINI} --approval-mode default -m gemini-2.5-pro -r U",
        ),
    ],
)
def test_gemini_ends_with_an_empty_prompt(asked, launch, argv):
    assert built(asked, **launch) == ((*line(argv), "-p", ""), [])


def test_groups_stand_in_the_order_of_the_provider():
    parts = ArgumentParts(
        redirect=(Literal("R"),), mcp=(Literal("M"),), delivery=(Literal("D"),), directories=(Literal("A"),)
    )

    argv, found = built(use("codex", model="gpt-5.5", effort="low", flags=("F",)), parts, resume="T")

    expected = f"{CODEX} -s read-only -m gpt-5.5 -c model_reasoning_effort=low R M D A F resume T -"
    assert (argv, found) == (line(expected), [])


LEFT_OUT = [
    ("claude", "--model opus", "model"),
    ("claude", "--model=opus", "model"),
    ("claude", "--effort max", "effort"),
    ("claude", "--permission-mode=plan", "permission"),
    ("claude", "--permission-mode", "permission"),
    ("claude", "--dangerously-skip-permissions", "permission"),
    ("codex", "-m gpt-5.4", "model"),
    ("codex", "-m=gpt-5.4", "model"),
    ("codex", "-mgpt-5.4", "model"),
    ("codex", "--model gpt-5.4", "model"),
    ("codex", "--model=gpt-5.4", "model"),
    ("codex", "-c model=gpt-5.4", "model"),
    ("codex", "-cmodel=gpt-5.4", "model"),
    ("codex", "--config=model=gpt-5.4", "model"),
    ("codex", "-c model_reasoning_effort=high", "effort"),
    ("codex", "--full-auto", "permission"),
    ("codex", "--sandbox danger-full-access", "permission"),
    ("gemini", "--yolo", "permission"),
    ("gemini", "-y", "permission"),
    ("gemini", "--approval-mode=yolo", "permission"),
]


@pytest.mark.parametrize(("provider", "flag", "field"), LEFT_OUT)
def test_a_flag_that_a_field_owns_is_left_out_and_said(provider, flag, field):
    plain, _ = built(use(provider))

    assert built(use(provider, flags=(flag,))) == (
        plain,
        [f"AMX406 `{flag}` in `flags` is left out: the field `{field}` owns it"],
    )


@pytest.mark.parametrize(
    ("provider", "flag"),
    [
        ("claude", "--resume X"),
        ("claude", "-p"),
        ("claude", "--output-format json"),
        ("codex", "-"),
        ("codex", "--json"),
        ("gemini", "-p hello"),
        ("gemini", "-r latest"),
    ],
)
def test_a_flag_that_the_launch_sets_is_left_out_and_said(provider, flag):
    plain, _ = built(use(provider))

    expected = [f"AMX406 `{flag}` in `flags` is left out: the launch sets it"]
    assert built(use(provider, flags=(flag,))) == (plain, expected)


def test_a_key_is_owned_and_its_neighbours_are_not():
    argv, found = built(
        use("codex", flags=("-c model_verbosity=low", "--config=mcp_servers.x.command=y", "-c", "tools.web=true"))
    )

    kept = "-c model_verbosity=low --config=mcp_servers.x.command=y -c tools.web=true"
    assert (argv, found) == (line(f"{CODEX} -s read-only {kept} -"), [])


def test_a_flag_that_the_mode_has_already_is_not_said_twice():
    argv, found = built(use("codex", flags=("--skip-git-repo-check", "--ephemeral")))

    assert (argv, found) == (line(f"{CODEX} -s read-only --ephemeral -"), [])


def test_delivery_and_mcp_flags_are_free_until_the_plan_uses_them():
    flags = ("--mcp-config mine.json --append-system-prompt-file mine.md",)
    ours = ArgumentParts(mcp=(Literal("--strict-mcp-config"),), delivery=(Literal("--append-system-prompt-file"),))

    assert built(use("claude", flags=flags)) == (line(f"{CLAUDE} --permission-mode default {flags[0]}"), [])
    assert built(use("claude", flags=flags), ours) == (
        line(f"{CLAUDE} --permission-mode default --strict-mcp-config --append-system-prompt-file"),
        [
            "AMX406 `--mcp-config mine.json` in `flags` is left out: the field `mcp` owns it",
            "AMX406 `--append-system-prompt-file mine.md` in `flags` is left out: the field `delivery` owns it",
        ],
    )


def test_flags_are_split_as_a_shell_would():
    argv, found = built(use("gemini", flags=("--policy 'my rules.toml'", '--debug "a b"')))

    assert argv[4:] == ("--policy", "my rules.toml", "--debug", "a b", "-p", "")
    assert found == []


def test_an_item_of_a_list_stands_as_it_is_unless_it_is_a_flag_with_its_value():
    argv, found = built(use("claude", flags=("--add-dir", "my docs", "it's", "--add-dir '../more docs'")))

    assert argv[-5:] == ("--add-dir", "my docs", "it's", "--add-dir", "../more docs")
    assert found == []


def test_flags_in_one_string_are_split_as_a_shell_would():
    assert built(use("gemini", flags="--policy 'my rules.toml' '--debug a'")) == (
        (*line(GEMINI), "--approval-mode", "default", "--policy", "my rules.toml", "--debug a", "-p", ""),
        [],
    )
    _, found = built(use("gemini", flags="--policy 'my rules.toml"))
    assert found == [
        "AMX404 `--policy 'my rules.toml` in `flags` cannot be split as a shell would: no closing quotation"
    ]


@pytest.mark.parametrize(("provider", "flags"), [("claude", ("-p", "hi")), ("claude", "-p hi"), ("gemini", "-p hi")])
def test_a_prompt_behind_a_flag_that_is_left_out_is_left_out_with_it(provider, flags):
    plain, _ = built(use(provider))

    assert built(use(provider, flags=flags)) == (
        plain,
        ["AMX406 `-p hi` in `flags` is left out: the launch sets it"],
    )


def test_an_open_quote_is_said():
    argv, found = built(use("codex", flags=("--add-dir 'docs", "--ephemeral")))

    assert argv == line(f"{CODEX} -s read-only --ephemeral -")
    assert found == ["AMX404 `--add-dir 'docs` in `flags` cannot be split as a shell would: no closing quotation"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (use("codex", model="opus"), "AMX404 `codex` does not take the model `opus`"),
        (use("claude", model="gpt-5.5"), "AMX404 `claude` does not take the model `gpt-5.5`"),
        (use("claude", effort="ultra"), "AMX404 `claude` does not take the effort `ultra`"),
        (use("gemini", effort="high"), "AMX410 `gemini` takes no `effort`, so `high` is left out"),
        (
            use("claude", model="claude-haiku-4-5", effort="high"),
            "AMX410 `claude-haiku-4-5` takes no `effort`, so `high` is left out",
        ),
        (use("gemini", permission="auto"), "AMX401 `gemini` cannot enforce the permission `auto`"),
        (use("codex", controller="persistent"), "AMX404 `codex` cannot be driven by the controller `persistent`"),
        (
            use("claude", flags=("--system-prompt X",)),
            "AMX409 `--system-prompt` in `flags` makes `--exclude-dynamic-system-prompt-sections` void",
        ),
        (
            use("claude", flags=("--system-prompt=X",)),
            "AMX409 `--system-prompt` in `flags` makes `--exclude-dynamic-system-prompt-sections` void",
        ),
    ],
)
def test_what_a_provider_cannot_do_is_said(asked, said):
    assert built(asked)[1] == [said]


def test_an_output_that_a_flag_makes_void_is_said():
    flags = ("--skip-trust",)
    written = ArgumentParts(files=frozenset({".gemini/settings.json"}))

    assert built(use("gemini", flags=flags))[1] == []
    assert built(use("gemini", flags=flags), written)[1] == [
        "AMX409 `--skip-trust` in `flags` makes `.gemini/settings.json` void"
    ]


def test_another_endpoint_may_serve_any_model():
    asked = use("codex", model="claude-sonnet-5-5", base_url="http://127.0.0.1:8000/v1")

    assert built(asked) == (line(f"{CODEX} -s read-only -m claude-sonnet-5-5 -"), [])


def test_a_session_that_cannot_be_forked_is_said():
    assert built(use("gemini"), fork="U")[1] == ["AMX401 `gemini` cannot fork a session"]


def with_argument_prompt(name):
    provider = load_provider(name)
    mode = provider.modes[provider.controller].model_copy(
        update={"prompt_delivery": "argument", "prompt": ("-p", "{}"), "prompt_absent": ()}
    )
    return provider.model_copy(update={"modes": {**provider.modes, provider.controller: mode}})


@pytest.mark.parametrize(
    ("prompt", "faults"), [("x" * 30_000, 0), ("x" * 30_001, 1), ("🎉" * 15_000, 0), ("🎉" * 15_001, 1)]
)
def test_a_prompt_that_is_an_argument_is_refused_where_windows_would_cut_it(prompt, faults):
    overrides = Overrides(prompt=prompt)
    argv, found = build_argv(with_argument_prompt("gemini"), use("gemini"), ArgumentParts(), overrides)

    assert [item.code for item in found] == ["AMX404"] * faults
    if faults:
        with pytest.raises(ValueError, match="UTF-16 units"):
            expand(argv, str, overrides.values)
    else:
        assert expand(argv, str, overrides.values)[-2:] == ("-p", prompt)


def test_a_prompt_on_stdin_may_be_long():
    assert built(use("codex"), prompt="x" * 100_000) == (line(f"{CODEX} -s read-only -"), [])


def test_prompts_and_texts_are_not_shown():
    argv, _ = build_argv(
        with_argument_prompt("gemini"), use("gemini"), ArgumentParts(delivery=(FromFile("text={}", ".agentmux/x.md"),))
    )

    assert shown(argv, {"prompt": "eighteen character", "resume": "U"})[4:] == (
        "text=<.agentmux/x.md>",
        "-r",
        "U",
        "-p",
        "<18 characters>",
    )


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_text_survives_json_and_toml(text):
    argument = FromFile("key={}", "file", json_string=True)

    value = expand((argument,), lambda _: text, {})[0].removeprefix("key=")

    assert json.loads(value) == text
    assert tomllib.loads(f"key = {value}") == {"key": text}
    assert value == json_literal(text)


TRIED = ("-m x", "--model=x", "-", "--add-dir y", "-p", "--json", "-c a=1", "--resume", "'a b'", "--ephemeral")


@pytest.mark.parametrize(("name", "tail"), [("claude", ()), ("codex", ("-",)), ("gemini", ("-p", ""))])
@given(flags=st.lists(st.sampled_from(TRIED)))
def test_user_flags_stand_between_ours_and_the_prompt(name, tail, flags):
    plain, _ = built(use(name))
    argv, _ = built(use(name, flags=tuple(flags)))
    head = plain[: len(plain) - len(tail)]

    assert argv[: len(head)] == head
    assert argv[len(argv) - len(tail) :] == tail
    assert argv.count("-") == 1 or name != "codex"


@pytest.mark.parametrize("name", NAMES)
def test_every_owned_spelling_is_readable(name):
    owns = load_provider(name).arguments.owns

    spellings = [Spelling.parse(text) for texts in owns.values() for text in texts]
    assert [each for each in spellings if not each.flag.startswith("-")] == []
    assert [each for each in spellings if each.key and not each.key.endswith("=")] == []


def test_overrides_take_the_place_of_the_spec():
    asked = use("claude", model="opus", effort="high", permission="plan")

    applied = Overrides(model="sonnet", permission=Permission.EDIT).apply(asked)
    assert applied == replace(asked, model="sonnet", permission=Permission.EDIT)


def test_a_mode_without_arguments_of_its_own_begins_with_the_first_group():
    provider = load_provider("codex")
    use = Use("codex", Span("agents.d/worker.yaml", 1), permission=Permission.EDIT, controller="terminal")

    argv, found = build_argv(provider, use, ArgumentParts())

    assert (shown(argv, {}), found) == (("-s", "workspace-write"), [])
